# SPDX-License-Identifier: Apache-2.0
"""One namespace laid out by a list of ip commands, and one more that holds the far ends of its veth pairs."""

import os
import subprocess
import sys
import time

from rig.lab import PREFIX, TUN_HOLDER, cleanup, ip, remove_namespace, require_namespaces
from rig.outcome import Failed, expect

# Addresses are the layout's own: no link-local ones by themselves, none that is tentative for a while.
QUIET = ("net.ipv6.conf.default.addr_gen_mode=1", "net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0",
         "net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.default.disable_ipv6=0")


class Namespace:
    """`commands`: arguments of ip(8), one command a line. Three words stand for more:

    veth NAME [index N]      a link that has carrier; its far end is NAME in the other namespace
    tun NAME                 a tunnel that a program holds open
    far ...                  a command for the other namespace

    Everything goes away at the end, also on failure and on signals."""

    def __init__(self, commands):
        self.commands = [line.split() for line in commands.splitlines() if line.strip()]
        self.name, self.far = (f"{PREFIX}-{os.getpid()}-{part}" for part in ("near", "far"))
        self._helpers = []

    def __enter__(self):
        require_namespaces()
        cleanup()
        try:
            for name in (self.name, self.far):
                ip("netns", "add", name)
                self._run(name, ["sysctl", "-q", "-w", *QUIET])
            self._lay_out()
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
        for name in (self.name, self.far):
            remove_namespace(name)

    def _lay_out(self):
        near, far = [], []
        for words in self.commands:
            kind, *rest = words
            if kind == "veth":
                near.append(["link", "add", *rest, "type", "veth", "peer", "name", rest[0], "netns", self.far])
                near.append(["link", "set", rest[0], "up"])
                far.append(["link", "set", rest[0], "up"])
            elif kind == "tun":
                self._batch(self.name, near)
                near = []
                self._hold_tun(rest[0])
            elif kind == "far":
                far.append(rest)
            else:
                near.append(words)
        self._batch(self.name, near)
        self._batch(self.far, far)
        self._settle()

    @staticmethod
    def _batch(name, commands):
        text = "\n".join(" ".join(words) for words in commands)
        done = subprocess.run(["ip", "-n", name, "-batch", "-"], input=text, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"the namespace cannot be laid out: {done.stderr.strip()}\n{text}")

    def _run(self, name, command):
        done = subprocess.run(["ip", "netns", "exec", name, *command], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}")

    def _hold_tun(self, name):
        helper = subprocess.Popen(["ip", "netns", "exec", self.name, sys.executable, TUN_HOLDER, name],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._helpers.append(helper)
        expect(helper.stdout.readline().strip() == "ready", f"no tunnel {name}")

    def _settle(self):
        """The kernel tells carrier and the running state a moment later: until the list of links stays the same."""
        deadline, seen = time.monotonic() + 30, None
        while time.monotonic() < deadline:
            now = ip("-n", self.name, "-o", "addr", "show") + ip("-n", self.name, "-o", "link", "show")
            if now == seen and "tentative" not in now:
                return
            seen = now
            time.sleep(0.2)
        raise Failed(f"the namespace does not settle:\n{seen}")
