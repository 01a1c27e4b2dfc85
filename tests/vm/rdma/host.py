# SPDX-License-Identifier: Apache-2.0
"""This machine's netdevs and Soft-RoCE devices, as a scenario wants them."""
import ipaddress
import json
import subprocess
import time
from pathlib import Path

NICS = ("nic0", "nic1")
KEPT = {"lo", "mgmt0", *NICS}
INFINIBAND = Path("/sys/class/infiniband")


def run(command, check=True):
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def modules():
    subprocess.run(["modprobe", "-a", "rdma_rxe", "8021q", "macvlan", "vxlan", "dummy", "bridge", "veth"], check=True)
    # rxe takes every address for one on the link, and Linux answers everyone who asks: two subnets on one cable would
    # reach each other. Behind a real switch they are apart; answering one's own subnet only does the same.
    run("sysctl -q net.ipv4.conf.all.arp_ignore=2 net.ipv4.conf.all.arp_announce=2")


def clear():
    """Back to NICs without addresses, down, MTU 1500, and nothing else."""
    for device in INFINIBAND.iterdir():
        run(f"rdma link delete {device.name}")
    for link in json.loads(run("ip -j link")):
        if link["ifname"] not in KEPT:
            run(f"ip link delete {link['ifname']}", check=False)  # a peer may have gone with its other end
    for nic in NICS:
        run(f"ip addr flush dev {nic}")
        run(f"ip link set {nic} down mtu 1500")


def up(*names):
    for name in names:
        run(f"ip link set {name} up")


def address(netdev, *addresses):
    for one in addresses:
        # No duplicate address detection: the address is there at once.
        run(f"ip addr add {one} dev {netdev}" + (" nodad" if ":" in one else ""))


def vlan(netdev, number):
    run(f"ip link add link {netdev} name {netdev}.{number} type vlan id {number}")
    up(f"{netdev}.{number}")
    return f"{netdev}.{number}"


def rxe(name, netdev):
    run(f"rdma link add {name} type rxe netdev {netdev}")


def gid_table(device):
    """{index: (GID as the kernel writes an address, netdev)}."""
    port = INFINIBAND / device / "ports/1"
    table = {}
    for file in (port / "gids").iterdir():
        gid = ipaddress.ip_address(file.read_text().strip())
        if int(gid) == 0:
            continue
        try:
            ndev = (port / "gid_attrs/ndevs" / file.name).read_text().strip()
        except OSError:
            ndev = ""
        table[int(file.name)] = (text(gid), ndev)
    return table


def text(gid):
    """One spelling for a GID: an IPv4 address where it is mapped from one."""
    gid = ipaddress.ip_address(gid)
    return str(gid.ipv4_mapped or gid) if gid.version == 6 else str(gid)


def wait_gid(device, gid, timeout=20):
    """The kernel fills the table in a work queue of its own. Returns the GID's index."""
    deadline = time.monotonic() + timeout
    while True:
        table = gid_table(device)
        for index, (held, _) in sorted(table.items()):
            if held == text(gid):
                return index
        if time.monotonic() > deadline:
            raise TimeoutError(f"{device} never had {gid}: {table}")
        time.sleep(0.05)


def wait_state(device, wanted, timeout=20):
    deadline = time.monotonic() + timeout
    while wanted not in (seen := (INFINIBAND / device / "ports/1/state").read_text()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{device} is {seen.strip()}, never {wanted}")
        time.sleep(0.05)


def packets(*counters):
    """{device: RDMA packets}, sent and received, or by the counters named."""
    counts = {}
    for device in INFINIBAND.iterdir():
        folder = device / "ports/1/hw_counters"
        counts[device.name] = sum(int((folder / name).read_text()) for name in counters or ("sent_pkts", "rcvd_pkts"))
    return counts
