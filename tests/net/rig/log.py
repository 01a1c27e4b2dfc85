# SPDX-License-Identifier: Apache-2.0
"""What NCCL's own log (NCCL_DEBUG=INFO) says. Line formats: NCCL 2.18 to 2.32."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Channel:
    number: int
    direction: str  # "send" or "receive"
    net: str        # "Socket", "topoguard", "AWS Libfabric", ...
    device: int     # index of the net device
    gdr: bool


class Log:
    def __init__(self, text):
        self.text = text

    def count(self, pattern):
        return len(re.findall(pattern, self.text, re.MULTILINE))

    def has(self, pattern):
        return re.search(pattern, self.text, re.MULTILINE) is not None

    def lines(self, pattern):
        return [line for line in self.text.splitlines() if re.search(pattern, line)]

    @property
    def complete(self):
        """How many communicators reached the end of init."""
        return self.count(r"Init COMPLETE")

    @property
    def bootstrap(self):
        """(interface, address) of NCCL's bootstrap."""
        found = re.search(r"Bootstrap\s*: Using (\S+?):(\S+?)<\d+>", self.text)
        return found.groups() if found else None

    @property
    def socket_devices(self):
        """Interfaces of NCCL's Socket transport, in its order."""
        line = re.search(r"NET/Socket\s*: Using (\[0\].*)", self.text)
        return re.findall(r"\[\d+\](\S+?):\S+", line.group(1)) if line else []

    @property
    def channels(self):
        pattern = r"Channel (\d+)/\d+ : \d+\[\w+\] -> \d+\[\w+\] \[(send|receive)\] via NET/(.+?)/(\d+)(/GDRDMA)?"
        return [Channel(int(number), direction, net, int(device), gdr != "")
                for number, direction, net, device, gdr in re.findall(pattern, self.text)]

    @property
    def nets(self):
        return {channel.net for channel in self.channels}

    @property
    def links(self):
        """Interfaces that carry channels, by the Socket transport's device list (the stock one under topoguard, too)."""
        devices = self.socket_devices
        return {devices[channel.device] for channel in self.channels if channel.device < len(devices)}
