# SPDX-License-Identifier: Apache-2.0
"""Scenarios of two machines in which topoguard finds a way. Each runs on both at once; `node.n` is 1 or 2."""
import host
from node import SILENCE, expect, same


def plain(node):
    """Two rails: as stock, and nothing is set."""
    node.rails()
    node.flows(node.decide(node.rail_gids(), sets={}))
    stock = node.stock_flows()
    same(stock.devices, ["rxe0", "rxe1"], "stock's devices")
    same(node.compare(), {}, "compare of two healthy machines")


def virtual_devices(node):
    """rxe on a bridge, a dummy and a veth of its own on either machine: stock uses them all."""
    node.rails()
    host.run("ip link add br0 type bridge")
    host.run("ip link add dum0 type dummy")
    host.run("ip link add veth0 type veth peer name veth1")
    host.up("br0", "dum0", "veth0", "veth1")
    for number, netdev in enumerate(("br0", "dum0", "veth0"), 2):
        host.address(netdev, f"10.{number}.0.1/24")
        host.rxe(f"rxe{number}", netdev)
        host.wait_gid(f"rxe{number}", f"10.{number}.0.1")
    node.flows(node.decide(node.rail_gids(), sets={"NCCL_IB_HCA": "=rxe0:1,rxe1:1"}))
    stock = node.stock_fails(channels=10)
    expect({"rxe2", "rxe3", "rxe4"} & set(stock.devices), f"stock left them out: {stock.devices}")


def vlan_before_address(node):
    """The VLAN had its address before the NIC on one machine, and after it on the other: stock takes GIDs of two subnets."""
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    vlan = host.vlan("nic0", 100)
    order = [("nic0", f"10.99.0.{node.n}"), (vlan, f"10.100.0.{node.n}")]
    for netdev, address in order if node.me else reversed(order):
        host.address(netdev, address + "/24")
        host.wait_gid("rxe0", address)
    expect("subnet-mismatch" in node.compare(), "compare did not see that the GIDs are of two subnets")
    env = {"TOPOGUARD_SUBNETS": "10.99.0.0/16"}
    node.flows(node.decide({"rxe0": f"10.99.0.{node.n}"}, env), env)
    node.stock_fails()


def vlan_wanted(node):
    """The cluster's subnet is the VLAN's, and the NIC had its address first: traffic goes tagged; stock's does not."""
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    vlan = host.vlan("nic0", 100)
    host.address("nic0", f"10.99.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.99.0.{node.n}")
    host.address(vlan, f"10.100.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.100.0.{node.n}")
    env = {"TOPOGUARD_SUBNETS": "10.100.0.0/16"}
    node.flows(node.decide({"rxe0": f"10.100.0.{node.n}"}, env), env)
    stock = node.stock_flows()
    same(stock.gids["rxe0"][1], f"10.99.0.{node.n}", "stock's GID")


def vxlan_before_address(node):
    """An overlay's address is first in the NIC's table, and stock takes it: nothing comes back over it."""
    _stacked_before_address(node, "vxlan id 7 dstport 4789 group 239.1.1.1 dev nic0")


def macvlan_before_address(node):
    """A macvlan's address is first in the NIC's table, and stock takes it: nothing comes back over it."""
    _stacked_before_address(node, "macvlan mode bridge", "link nic0 ")


def _stacked_before_address(node, kind, below=""):
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    host.run(f"ip link add {below}name up0 type {kind}")
    host.up("up0")
    host.address("up0", f"10.88.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.88.0.{node.n}")
    host.address("nic0", f"10.99.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.99.0.{node.n}")
    node.flows(node.decide({"rxe0": f"10.99.0.{node.n}"}))
    stock = node.stock_fails()
    if node.me == 0:  # it sends first, and alone gets so far as to tell
        same(stock.gids["rxe0"][1], "10.88.0.1", "stock's GID")


def ipv6_only(node):
    """Stock looks for IPv4, finds none and stays at index 0, the link-local one."""
    for number, nic in enumerate(host.NICS):
        host.up(nic)
        host.address(nic, f"fd00:99:{number}::{node.n}/64")
        host.rxe(f"rxe{number}", nic)
        host.wait_gid(f"rxe{number}", f"fd00:99:{number}::{node.n}")
    wanted = {f"rxe{number}": f"fd00:99:{number}::{node.n}" for number in (0, 1)}
    node.flows(node.decide(wanted, sets={"NCCL_IB_ADDR_FAMILY": "AF_INET6"}))
    stock = node.move("stock", silence=SILENCE)
    same({index for index, _ in stock.gids.values()}, {0}, "GID indexes that stock used")


def link_local_only(node):
    """Nothing better is there: it is kept, and both ends agree."""
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    gid = f"fe80::5054:ff:fe74:{node.me << 8:x}"
    host.wait_gid("rxe0", gid)
    node.flows(node.decide({"rxe0": gid}, sets={}))
    node.stock_flows()


def port_down(node):
    """nic1 is down on both: its HCA is left out, with a finding; stock leaves it out and says nothing."""
    node.rails()
    host.run("ip link set nic1 down")
    host.wait_state("rxe1", "DOWN")
    decision = node.decide({"rxe0": f"10.99.0.{node.n}"})
    same(decision.verdicts["rxe1"], ("rejected", "port-down"), "verdict on rxe1")
    expect(("port-down", "rxe1") in decision.findings, f"findings: {list(decision.findings)}")
    node.flows(decision)
    stock = node.stock_flows()
    same(stock.devices, ["rxe0"], "stock's devices")


def user_pin_right(node):
    """The user's index is used as it is, and nothing is said."""
    node.rails()
    env = {"NCCL_IB_GID_INDEX": "1"}
    decision = node.decide(node.rail_gids(), env, sets={})
    expect(not any(code == "gid-pin-stale" for code, _ in decision.findings), f"findings: {list(decision.findings)}")
    node.flows(decision, env)
    node.stock_flows(env=env)


def address_moved(node):
    """The address went and came back behind another: index 1, pinned yesterday, is another subnet's today."""
    node.rails()
    host.run("ip addr flush dev nic0 scope global")
    host.address("nic0", f"10.98.{node.n}.1/24")
    host.wait_gid("rxe0", f"10.98.{node.n}.1")
    host.address("nic0", f"10.99.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.99.0.{node.n}")
    env = {"TOPOGUARD_SUBNETS": "10.99.0.0/16"}
    decision = node.decide(node.rail_gids(), env)
    expect(decision.gids["rxe0"][0] != 1, "the address has its old index: this scenario shows nothing")
    node.flows(decision, env)
    node.stock_fails(env={"NCCL_IB_GID_INDEX": "1"})


def _two_families(node):
    """Two rails, and on nic0 an IPv6 address in front of the IPv4 one: GID 2."""
    node.rails()
    host.run("ip addr flush dev nic0 scope global")
    for address, prefix in ((f"fd00:99::{node.n}", 64), (f"10.99.0.{node.n}", 24)):
        host.address("nic0", f"{address}/{prefix}")
        host.wait_gid("rxe0", address)
    return host.gid_table("rxe0")


def link_flap(node):
    """The kernel drops IPv6 addresses of a link that goes down, with their GIDs: what was pinned to one is gone."""
    before = _two_families(node)
    host.run("ip link set nic0 down")
    host.wait_state("rxe0", "DOWN")
    host.up("nic0")
    host.wait_state("rxe0", "ACTIVE")
    host.wait_gid("rxe0", f"10.99.0.{node.n}")
    after = host.gid_table("rxe0")
    expect(before[1][0] == f"fd00:99::{node.n}" and 1 not in after, f"GIDs before {before}, after {after}")
    node.flows(node.decide(node.rail_gids(), sets={}))
    node.stock_flows()
    node.stock_fails(env={"NCCL_IB_GID_INDEX": "1"})


def driver_again(node):
    """The second machine's driver was loaded again, and GIDs came back in the kernel's order, not in that of the addresses:
    one index is another subnet's on either machine, and who pins it has lost."""
    before = _two_families(node)
    if node.me == 1:
        host.run("rdma link delete rxe0")
        host.run("rdma link delete rxe1")
        for number in (0, 1):
            host.rxe(f"rxe{number}", f"nic{number}")
            host.wait_gid(f"rxe{number}", f"10.99.{number}.{node.n}")
        host.wait_gid("rxe0", f"fd00:99::{node.n}")
        expect(before[2][0] != host.gid_table("rxe0")[2][0], f"GIDs as before: {before}")
    node.flows(node.decide(node.rail_gids(), sets={}))
    node.stock_flows()
    node.stock_fails(env={"NCCL_IB_GID_INDEX": "2"})
