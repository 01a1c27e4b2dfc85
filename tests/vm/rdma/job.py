# SPDX-License-Identifier: Apache-2.0
"""topoguard's command and jobs on this machine: what was decided, and what NCCL's IB transport did."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import host

BUILD, NCCL = Path("/mnt/build"), Path("/mnt/nccl")
PLUGIN = BUILD / "plugin/net/libnccl-net-topoguard.so"
BYTES = 200_000  # per channel
# What the stock transport does with its log; retries end after a second instead of never (rxe takes 7 as endless).
SETTINGS = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,ENV", "NCCL_IB_RETRY_CNT": "5", "NCCL_IB_TIMEOUT": "18"}


def environment(env):
    base = {name: value for name, value in os.environ.items() if not name.startswith(("NCCL_", "TOPOGUARD_", "LD_"))}
    return {**base, "LD_LIBRARY_PATH": str(NCCL), **env}


def topoguard(*words, env=None, text=None):
    """(status, standard output) of topoguard's command."""
    done = subprocess.run([BUILD / "tools/topoguard/topoguard", *words], env=environment(env or {}), input=text, capture_output=True,
                          text=True, timeout=120)
    if done.returncode > 2:
        raise RuntimeError(f"topoguard {' '.join(words)} returned {done.returncode}: {done.stderr.strip()}")
    return done.returncode, done.stdout


class Decision:
    def __init__(self, env=None):
        self.json = json.loads(topoguard("decide", "--json", env=env)[1])
        self.transport = self.json["transport"]
        self.hcas = {hca["name"]: hca for hca in (self.json.get("ib") or {}).get("hcas", [])}
        # A pinned index may lead to an empty entry: then there is no GID.
        self.gids = {name: (hca.get("gid_index"), host.text(hca["gid"]) if "gid" in hca else None) for name, hca in self.hcas.items()}
        self.env = {name: value for name, value in self.json["env"].items() if name.startswith("NCCL_IB")}
        self.verdicts = {device["name"]: (device["verdict"], device["reason"]) for device in self.json["devices"]}
        self.findings = {(finding["code"], finding.get("device", "")): finding["message"] for finding in self.json["findings"]}


@dataclass
class Run:
    status: object  # exit status of this machine's end, "timeout" where it had to be ended
    peer_status: object
    devices: list  # as the net enumerates them
    gids: dict  # device -> (index, GID) that the transport used, where this machine sent
    packets: dict  # device -> RDMA packets by the device's own counters
    log: str = field(repr=False)
    seconds: float = 0  # from this end's start to its end

    @property
    def right(self):
        return self.status == 0 and self.peer_status == 0

    def warnings(self):
        return re.findall(r"NCCL WARN (.*)", self.log)


def used_gids(log):
    names = {int(number): name for number, name in re.findall(r"NET/IB: \[(\d+)\] (\S+?):uverbs", log)}
    found = {}
    for number, index, subnet, interface in re.findall(r"IbDev (\d+) Port \d+ qpn \d+ mtu \d+ GID (\d+) \(([0-9A-F]+)/([0-9A-F]+)\)", log):
        # Printed as two host-order numbers of bytes that are in network order.
        raw = b"".join(int(half, 16).to_bytes(8, "little") for half in (subnet, interface))
        found[names[int(number)]] = (int(index), host.text(":".join(raw.hex()[at:at + 4] for at in range(0, 32, 4))))
    return found


class Silence:
    """Whether a mover that has its devices has neither logged nor received anything for some seconds."""

    def __init__(self, log, seconds):
        self.log, self.seconds = log, seconds
        self.last, self.since = None, None

    def __bool__(self):
        if self.seconds is None:
            return False
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        now = (len(text), host.packets("rcvd_pkts"))
        if now != self.last or "Made virtual device" not in text:
            self.last, self.since = now, time.monotonic()
        return time.monotonic() - self.since > self.seconds


def move(peer, me, net, channels, env=None, timeout=60, silence=None, builtin="IB"):
    """One mover on each machine, bytes in both directions over `channels` connections, dealt over the devices in turn; ended
    after `timeout` seconds, or earlier where nothing has happened for `silence` seconds. Stock is NCCL's own `builtin` here."""
    folder = Path(tempfile.mkdtemp())
    exchange = folder / "exchange"
    exchange.mkdir()
    command = [BUILD / "tests/net/mover", "--libnccl", NCCL / "libnccl.so.2", "--net", PLUGIN if net == "topoguard" else builtin, "--rank", me,
               "--both-ways", "--channels", channels, "--bytes", BYTES, "--exchange", exchange, "--report", folder / "report"]
    before = host.packets()
    peer.meet("move " + net)
    started = time.monotonic()
    with open(folder / "log", "wb") as log:
        mover = subprocess.Popen([str(word) for word in command], env=environment({**SETTINGS, "NCCL_DEBUG_FILE": f"{folder}/nccl", **(env or {})}), stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=subprocess.STDOUT)
    try:
        status, peer_status, ended = _carry(peer, mover, exchange, timeout, Silence(folder / "nccl", silence))
    finally:
        mover.kill()
        mover.wait()
    after = host.packets()
    # NCCL writes a file of its own line by line; of standard output a killed process leaves nothing.
    log = "".join((folder / name).read_text(errors="replace") for name in ("nccl", "log") if (folder / name).exists())
    report = folder / "report"
    devices = json.loads(report.read_text())["devices"] if report.exists() and report.stat().st_size else []
    names = [device["name"] for device in devices] or re.findall(r"Made virtual device \[\d+\] name=(\S+)", log)
    shutil.rmtree(folder)
    return Run(status, peer_status, names, used_gids(log), {name: after[name] - before.get(name, 0) for name in after}, log,
               ended - started)


def _carry(peer, mover, exchange, timeout, silence):
    """Carries the files of the exchange folder until both movers have ended. One that waits for another that has failed is ended.
    Returns both statuses and when this machine's ended."""
    deadline = time.monotonic() + timeout
    sent, status, peer_status, at_end = set(), None, None, None
    while status is None or peer_status is None:
        _send_new(peer, exchange, sent)
        if status is None:
            ended = mover.poll()
            if ended is None and (time.monotonic() > deadline or silence):
                mover.kill()
                ended = "timeout"
            if ended is not None:
                status, at_end = ended, time.monotonic()
                _send_new(peer, exchange, sent)  # what it put there at last
                peer.send("ended", status)
                deadline += 30
        if peer_status is not None:
            time.sleep(0.02)  # it has nothing more to say about this, and may have ended the row
            continue
        message = peer.poll(0.02)
        if message is None:
            if status is not None and time.monotonic() > deadline:
                raise TimeoutError("the other machine's mover did not end")
            continue
        what, value = message
        if what == "file":
            sent.add(value[0])
            (exchange / (value[0] + ".new")).write_bytes(base64.b64decode(value[1]))
            (exchange / (value[0] + ".new")).rename(exchange / value[0])
        elif what == "ended":
            peer_status = value
            if value != 0:
                deadline = min(deadline, time.monotonic() + 5)
        else:
            raise RuntimeError(f"moving, and the other machine is at {what!r}")
    return status, peer_status, at_end


def _send_new(peer, exchange, sent):
    for file in exchange.iterdir():
        if file.name not in sent and not file.name.endswith(".new"):
            sent.add(file.name)
            peer.send("file", [file.name, base64.b64encode(file.read_bytes()).decode()])
