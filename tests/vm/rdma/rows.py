# SPDX-License-Identifier: Apache-2.0
"""Scenarios of two machines. Each runs on both at once; `node.n` is 1 or 2."""
import host
from node import expect, same


def plain(node):
    """Two rails: as stock, and nothing is set."""
    node.rails()
    node.flows(node.decide(node.rail_gids(), sets={}))
    stock = node.move("stock")
    expect(stock.right, f"stock did not move: {stock.warnings()}")
    same(stock.devices, ["rxe0", "rxe1"], "stock's devices")
    same(node.compare(), {}, "compare of two healthy machines")


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
    node.stock_fails(channels=1)


def vxlan_before_address(node):
    """An overlay's address is first in the NIC's table, and stock takes it: nothing comes back over it."""
    host.up("nic0")
    host.rxe("rxe0", "nic0")
    host.run("ip link add up0 type vxlan id 7 dstport 4789 group 239.1.1.1 dev nic0")
    host.up("up0")
    host.address("up0", f"10.88.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.88.0.{node.n}")
    host.address("nic0", f"10.99.0.{node.n}/24")
    host.wait_gid("rxe0", f"10.99.0.{node.n}")
    node.flows(node.decide({"rxe0": f"10.99.0.{node.n}"}))
    node.stock_fails(channels=1)


def ipv6_only(node):
    """Stock looks for IPv4, finds none and stays at index 0, the link-local one."""
    for number, nic in enumerate(host.NICS):
        host.up(nic)
        host.address(nic, f"fd00:99:{number}::{node.n}/64")
        host.rxe(f"rxe{number}", nic)
        host.wait_gid(f"rxe{number}", f"fd00:99:{number}::{node.n}")
    node.flows(node.decide({f"rxe{number}": f"fd00:99:{number}::{node.n}" for number in (0, 1)}, sets={"NCCL_IB_ADDR_FAMILY": "AF_INET6"}))
    stock = node.move("stock", timeout=25)
    same({index for index, _ in stock.gids.values()}, {0}, "GID indexes that stock used")


def rdma_gone(node):
    """The second machine lost its RDMA devices: one decides IB, the other Socket, and compare says it."""
    node.rails()
    if node.me == 1:
        for device in ("rxe0", "rxe1"):
            host.run(f"rdma link delete {device}")
    found = node.compare()
    expect("transport-mismatch" in found, f"compare: {found}")
    expect("vm-b" in found["transport-mismatch"], f"compare does not name the machine: {found['transport-mismatch']}")


ROWS = {name: row for name, row in list(globals().items()) if callable(row) and getattr(row, "__module__", "") == __name__ and not name.startswith("_")}
