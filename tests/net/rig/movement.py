# SPDX-License-Identifier: Apache-2.0
"""Bytes moved through NCCL's net API between the lab's nodes, and the links that carried them, by the kernel's counters."""

import json
import time
from dataclasses import dataclass

from .build import clean_environment
from .lab import NODES
from .outcome import expect_equal
from .processes import Process

BYTES_PER_CHANNEL = 200_000  # a second and a half at 1 Mbit/s
# What ARP, neighbour discovery and late TCP segments may add on a link that carries no data.
NOISE = 20_000


@dataclass
class Movement:
    devices: dict  # node -> names that the net enumerates
    carried: dict  # link -> bytes that node a sent over it, data and headers


def move(lab, build, folder, net, env, channels=2, timeout=180):
    """Moves BYTES_PER_CHANNEL per channel from node a to node b; `net` is "Socket" for the stock table or the path of a plugin."""
    (folder / "exchange").mkdir(parents=True)
    before = lab.tx_bytes("a")
    deadline = time.monotonic() + timeout
    movers = [_start(lab, build, folder, net, env, channels, rank) for rank in range(len(NODES))]
    try:
        statuses = [mover.wait(deadline) for mover in movers]
    finally:
        for mover in movers:
            mover.kill()
    expect_equal(statuses, [0, 0], f"exit statuses of the movers (stderr: {[mover.stderr.strip() for mover in movers]})")
    after = lab.tx_bytes("a")
    reports = [json.loads((folder / f"report{rank}").read_text()) for rank in range(len(NODES))]
    return Movement(
        devices={node: [device["name"] for device in reports[rank]["devices"]] for rank, node in enumerate(NODES)},
        carried={link: after[link] - before[link] for link in after})


def _start(lab, build, folder, net, env, channels, rank):
    environment = clean_environment()
    environment.update({"FAKECUDA_NVML_FORBID": "topoguard", "NCCL_CONF_FILE": "/dev/null", **env})
    search = [str(build.fake_nvml), str(build.forbidden_cuda), environment.get("LD_LIBRARY_PATH")]
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, search))
    command = [build.mover, "--libnccl", build.libnccl, "--net", net, "--rank", rank, "--channels", channels,
               "--bytes", BYTES_PER_CHANNEL, "--exchange", folder / "exchange", "--report", folder / f"report{rank}"]
    return Process(command, environment, folder / f"stdout{rank}", folder / f"stderr{rank}", lab.namespaces[rank])
