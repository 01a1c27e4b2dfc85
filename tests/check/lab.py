# SPDX-License-Identifier: Apache-2.0
"""Three hosts in namespaces of their own, with two routers between them: a and b hang on r1, c on r2.

    a  10.61.1.1 --- 10.61.1.254 \\
                                  r1  10.61.9.1 --- 10.61.9.2  r2 --- 10.61.3.254 --- 10.61.3.1  c
    b  10.61.2.1 --- 10.61.2.254 /

Everything goes away at the end, also on failure and on signals."""

import json
import os
import subprocess
import time

from rig.lab import PREFIX, cleanup, ip, remove_namespace, require_namespaces
from rig.outcome import Skipped, expect
from rig.processes import Process

HOSTS = {"a": "10.61.1.1", "b": "10.61.2.1", "c": "10.61.3.1"}
HOSTS6 = {"a": "fd61:1::1", "b": "fd61:2::1", "c": "fd61:3::1"}
ROUTERS = ("r1", "r2")
UPLINK = {"a": "r1", "b": "r1", "c": "r2"}
# New connections to net.ipv4.ip_local_port_range as it is by default, where NCCL listens; not the answers to others.
TO_EPHEMERAL = "tcp dport 32768-60999 tcp flags & (syn | ack) == syn"


class Lab:
    """`family` 4 or 6; `middle`: MTU of the link between the routers."""

    def __init__(self, family=4, middle=1500):
        self.family, self.middle = family, middle

    def namespace(self, node):
        return f"{PREFIX}-{os.getpid()}-{node}"

    def __enter__(self):
        require_namespaces()
        cleanup()
        try:
            for node in (*HOSTS, *ROUTERS):
                ip("netns", "add", self.namespace(node))
                self.run(node, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1",
                         "net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0")
                self.ip(node, "link", "set", "lo", "up")
            self._lay_out()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def _remove(self):
        for node in (*HOSTS, *ROUTERS):
            remove_namespace(self.namespace(node))

    def ip(self, node, *arguments):
        return ip("-n", self.namespace(node), *arguments)

    def run(self, node, *command, text=None):
        done = subprocess.run(["ip", "netns", "exec", self.namespace(node), *command], input=text, capture_output=True, text=True,
                              timeout=60)
        expect(done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    @property
    def addresses(self):
        return HOSTS if self.family == 4 else HOSTS6

    def _address(self, node, device, short):
        self.ip(node, "addr", "add", short, "dev", device)
        self.ip(node, "link", "set", device, "up")

    def _lay_out(self):
        v4 = self.family == 4
        for number, (host, router) in enumerate(UPLINK.items(), 1):
            self.ip(host, "link", "add", "eth0", "type", "veth", "peer", "name", f"to-{host}", "netns", self.namespace(router))
            net, length = (f"10.61.{number}.", 24) if v4 else (f"fd61:{number}::", 64)
            gateway = f"{net}{254 if v4 else 'fe'}"
            self._address(router, f"to-{host}", f"{gateway}/{length}")
            self._address(host, "eth0", f"{net}1/{length}")
            self.ip(host, "route", "add", "default", "via", gateway)
        self.ip("r1", "link", "add", "middle", "type", "veth", "peer", "name", "middle", "netns", self.namespace("r2"))
        near, far = ("10.61.9.1", "10.61.9.2") if v4 else ("fd61:9::1", "fd61:9::2")
        for router, own, other in (("r1", near, far), ("r2", far, near)):
            self._address(router, "middle", f"{own}/{24 if v4 else 64}")
            self.ip(router, "link", "set", "middle", "mtu", str(self.middle))
        for router, gateway in (("r1", far), ("r2", near)):
            self.ip(router, "route", "add", "default", "via", gateway)
        self._settle()
        for host, address in self.addresses.items():  # a first packet resolves every neighbour on the way
            if host != "a":
                self.run("a", "python3", "-c", f"import socket; socket.socket({'socket.AF_INET' if v4 else 'socket.AF_INET6'}, "
                         f"socket.SOCK_DGRAM).sendto(b'', ('{address}', 9))")

    def _settle(self):
        """The kernel tells that a link runs up to a second late."""
        deadline = time.monotonic() + 30
        while any(link["operstate"] != "UP" for node in (*HOSTS, *ROUTERS)
                  for link in json.loads(self.ip(node, "-j", "link", "show")) if link["ifname"] != "lo"):
            expect(time.monotonic() < deadline, "links of the lab do not come up")
            time.sleep(0.05)

    def firewall(self, node, rules):
        """nftables rules in the node's hook named by each key: {"input": "ip saddr ... drop"}."""
        text = "table inet lab {\n"
        for hook, rule in rules.items():
            text += f"chain {hook} {{ type filter hook {hook} priority 0\n{rule}\n}}\n"
        done = subprocess.run(["ip", "netns", "exec", self.namespace(node), "nft", "-f", "-"], input=text + "}\n",
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Skipped(f"no nftables here: {done.stderr.strip().splitlines()[0]}")

    def start(self, folder, node, command, env, tag=""):
        """A process on that host, whose name is "node-a" there."""
        as_host = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', f"node-{node}", *map(str, command)]
        name = folder / f"{node}{tag}"
        return Process(as_host, env, name.with_suffix(".out"), name.with_suffix(".err"), namespace=self.namespace(node))
