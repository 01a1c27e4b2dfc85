# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces joined by veth pairs: two "nodes" on one machine, with the wrong interfaces that real hosts have.

Decoys are created before the links that work, so that they come first in ifindex order, which is NCCL's order. Every
namespace name carries this process's id: `with` removes them also on failure and on signals, and cleanup() removes what a killed
process left. Interfaces are created inside the namespaces and go with them.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from .outcome import Skipped, expect

NODES = ("a", "b")
PREFIX = "topoguard"
TUN_HOLDER = Path(__file__).with_name("tun_holder.py")

DATA = {"a": "10.22.0.1", "b": "10.22.0.2"}  # the link that is right in every layout


def ip(*arguments, check=True):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=60)
    if check and done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def require_namespaces():
    """Raises Skipped where this machine cannot have the lab at all."""
    if os.geteuid() != 0:
        raise Skipped("network namespaces need root")
    name = f"{PREFIX}-{os.getpid()}-probe"
    try:
        ip("netns", "add", name)
        ip("-n", name, "link", "add", "probe0", "type", "veth", "peer", "name", "probe1")
    except (RuntimeError, FileNotFoundError) as error:
        raise Skipped(f"no network namespaces with veth links here: {error}") from error
    finally:
        ip("netns", "del", name, check=False)


def cleanup():
    """Removes the namespaces of lab processes that are gone. Returns their names."""
    removed = []
    for line in ip("netns", "list").splitlines():
        found = re.match(rf"{PREFIX}-(\d+)-\S+", line)
        if found and not Path(f"/proc/{found.group(1)}").exists():
            remove_namespace(found.group(0))
            removed.append(found.group(0))
    return removed


def remove_namespace(name):
    """With every process in it: one that stays would keep the links alive."""
    for pid in ip("netns", "pids", name, check=False).split():
        try:
            os.kill(int(pid), 9)
        except ProcessLookupError:
            pass
    ip("netns", "del", name, check=False)


class Lab:
    def __init__(self, layout):
        self.layout = LAYOUTS[layout]
        self._helpers = []

    def namespace(self, node):
        return f"{PREFIX}-{os.getpid()}-{node}"

    @property
    def namespaces(self):
        return [self.namespace(node) for node in NODES]

    @property
    def master(self):
        """What a launcher would put into MASTER_ADDR: node a on the data link."""
        return DATA["a"]

    def __enter__(self):
        require_namespaces()
        cleanup()
        try:
            for node in ("a", "b", "a-pod", "b-pod"):
                ip("netns", "add", self.namespace(node))
                self.on(node, "link", "set", "lo", "up")
            for part in self.layout:
                part(self)
            self._settle()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def _remove(self):
        for helper in self._helpers:
            helper.kill()
            helper.wait()
        for node in ("a", "b", "a-pod", "b-pod"):
            remove_namespace(self.namespace(node))

    def on(self, node, *arguments):
        return ip("-n", self.namespace(node), *arguments)

    def _settle(self):
        """Until the links run and no address is tentative: IPv6 duplicate detection takes a second or two on fresh links."""
        deadline = time.monotonic() + 30
        while any(self._linking(node) for node in NODES):
            expect(time.monotonic() < deadline, "links of the lab do not come up")
            time.sleep(0.05)
        while any(self.on(node, "-6", "addr", "show", "tentative").strip() for node in NODES):
            expect(time.monotonic() < deadline, "IPv6 addresses of the lab stay tentative")
            time.sleep(0.1)

    def _linking(self, node):
        """Whether a cable between the nodes is up and not yet running: the kernel tells so up to a second later, and NCCL passes by."""
        links = json.loads(self.on(node, "-j", "link", "show", "type", "veth"))
        return any(link.get("operstate") != "UP" and "UP" in link["flags"] and "link_netnsid" in link for link in links)

    def tx_bytes(self, node):
        """Bytes sent so far by each interface."""
        links = json.loads(self.on(node, "-s", "-j", "link", "show"))
        return {link["ifname"]: link["stats64"]["tx"]["bytes"] for link in links}

    # Parts of layouts: each adds one interface to both nodes.

    def add_link(self, name, addresses, rate=None):
        """A veth pair between the nodes; with `rate` (tc notation) slow, but working."""
        self.on("a", "link", "add", name, "type", "veth", "peer", "name", name, "netns", self.namespace("b"))
        for node in NODES:
            self.on(node, "addr", "add", f"{addresses[node]}/24", "dev", name)
            self.on(node, "link", "set", name, "up")
            if rate:
                subprocess.run(["tc", "-n", self.namespace(node), "qdisc", "add", "dev", name, "root", "tbf", "rate", rate,
                                "burst", "32kbit", "latency", "400ms"], check=True, timeout=60)

    def add_bridge(self, name, addresses):
        """A container bridge with one pod on it: without a port that is up it would have no carrier and NCCL would skip it."""
        port = f"{name}-p"
        for node in NODES:
            self.on(node, "link", "add", name, "type", "bridge")
            self.on(node, "addr", "add", f"{addresses[node]}/24", "dev", name)
            self.add_pod_veth(node, port)
            self.on(node, "link", "set", port, "master", name)
            self.on(node, "link", "set", name, "up")

    def add_pod_veth(self, node, name):
        """The host's end of a pod's link: it has a link-local IPv6 address only, and stock NCCL takes even that."""
        self.on(node, "link", "add", name, "type", "veth", "peer", "name", name, "netns", self.namespace(f"{node}-pod"))
        self.on(f"{node}-pod", "link", "set", name, "up")
        self.on(node, "link", "set", name, "up")

    def add_tun(self, name, addresses):
        """A VPN tunnel whose daemon swallows every packet."""
        for node in NODES:
            helper = subprocess.Popen(["ip", "netns", "exec", self.namespace(node), sys.executable, TUN_HOLDER, name],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                      start_new_session=True)
            self._helpers.append(helper)
            expect(helper.stdout.readline().strip() == "ready", f"no tunnel {name} on node {node}")
            self.on(node, "addr", "add", f"{addresses[node]}/24", "dev", name)
            self.on(node, "link", "set", name, "up")

    def add_vxlan(self, name, addresses):
        for node in NODES:
            self.on(node, "link", "add", name, "type", "vxlan", "id", "1", "dstport", "8472", "local", DATA[node], "nolearning")
            self.on(node, "addr", "add", f"{addresses[node]}/32", "dev", name)
            self.on(node, "link", "set", name, "up")


def _data(lab):
    lab.add_link("data0", DATA)


def _slow_management(lab):
    lab.add_link("mgmt0", {"a": "10.11.0.1", "b": "10.11.0.2"}, rate="1mbit")


def _bridge(lab):
    lab.add_bridge("br-lab", {"a": "172.31.0.1", "b": "172.31.0.1"})


def _tun(lab):
    lab.add_tun("tun0", {"a": "10.8.0.1", "b": "10.8.0.2"})


def _kubernetes(lab):
    lab.add_bridge("cni0", {"a": "10.42.0.1", "b": "10.42.1.1"})
    lab.add_vxlan("flannel.1", {"a": "10.42.0.0", "b": "10.42.1.0"})
    for node in NODES:
        lab.add_pod_veth(node, "cali0")


LAYOUTS = {
    "healthy": [_data],
    "slow-management": [_slow_management, _data],
    "bridge": [_bridge, _data],
    "tun": [_tun, _data],
    "all": [_bridge, _kubernetes, _tun, _slow_management, _data],
}
