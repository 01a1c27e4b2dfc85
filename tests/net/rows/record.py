# SPDX-License-Identifier: Apache-2.0
"""What topoguard writes in real jobs: the path log, the file of events, the counters; and nothing from the data path."""

import json
import re
import time
from collections import Counter

from rig import exposition
from rig.build import clean_environment
from rig.job import expect_success
from rig.outcome import Failed, expect, expect_equal
from rig.processes import Process
from rig.rows import row

from .plugin import CHANNEL_LINES, expect_no_warnings, topoguard

STEPS = ["init", "destroy"]
CONNECTION = re.compile(r"topoguard: connection (\d+), (sending|receiving): (\S+) on (\S+) \(([^)]*)\) (?:to|from) (\S+).*?, after .*")
SIDES = {"send": "sending", "recv": "receiving"}


def events_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def recorded(run, name, steps=None, **settings):
    """A job of two ranks that share one log file; its results, the events by process, and each process's counters."""
    folder = run.new_folder(f"{name}-files")
    folder.mkdir()
    env = topoguard(run, TOPOGUARD_LOG_FILE=str(folder / "events-%h"), TOPOGUARD_METRICS=str(folder / "topoguard-%p.prom"), **settings)
    results = run.run(steps or STEPS, name=name, env=env)
    logs = list(folder.glob("events-*"))
    expect_equal(len(logs), 1, "log files of this host")
    events = {}
    for event in events_of(logs[0]):
        events.setdefault(event["pid"], []).append(event)
    try:
        counters = {pid: exposition.parse((folder / f"topoguard-{pid}.prom").read_text()) for pid in events}
    except AssertionError as problem:
        raise Failed(str(problem)) from None
    return results, events, counters


def lines_of(result):
    return sorted(match.groups() for match in CONNECTION.finditer(result.log.text))


@row("nccl", "record-paths")
def paths(run):
    """TOPOGUARD_LOG=paths has a line for each connection, the file holds the same, and the counters count them."""
    results, events, counters = recorded(run, "paths", TOPOGUARD_LOG="paths")
    expect_success(results, "topoguard")
    expect_no_warnings(results)
    expect_equal(len(events), 2, "processes in the log file")
    by_lines = sorted(lines_of(result) for result in results)
    by_events = sorted(sorted((str(event["connection"]), SIDES[event["side"]], event["transport"], event["device"], event["local"],
                               event.get("peer", "a")) for event in own if event["event"] == "connected")
                       for own in events.values())
    expect_equal(by_lines, by_events, "connections in NCCL's log, against those of the file")
    for pid, own in events.items():
        kinds = Counter(event["event"] for event in own)
        expect_equal(own[0]["event"], "start", f"the first event of {pid}")
        expect_equal(own[0]["decision"]["transport"], "Socket", f"the decision of {pid}")
        for kind in ("connected", "closed"):
            expect_equal(kinds[kind], CHANNEL_LINES, f"'{kind}' events of {pid}")
        for kind in ("start", "communicator-opened", "communicator-closed"):
            expect_equal(kinds[kind], 1, f"'{kind}' events of {pid}")
        expect_equal({event["memory"] for event in own if event["event"] == "memory"}, {"host"}, f"memory of {pid}")
        metrics = counters[pid]
        expect_equal(sum(metrics.values("topoguard_connections_total")), CHANNEL_LINES, "connections counted")
        expect_equal(sum(metrics.values("topoguard_connections_total", side="send")), CHANNEL_LINES / 2, "of them sending")
        expect_equal(sum(metrics.values("topoguard_connect_seconds_count")), CHANNEL_LINES, "connect times counted")
        expect_equal(sum(metrics.values("topoguard_connections_open")), 0, "connections still open")
        expect_equal(sum(metrics.values("topoguard_communicators_open")), 0, "communicators still open")
        expect_equal(sum(metrics.values("topoguard_communicators_total")), 1, "communicators counted")
        devices = own[0]["decision"]["devices"]
        expect_equal(len(metrics.values("topoguard_device_state")), len(devices), "devices")


@row("nccl", "record-summary")
def summary(run):
    """By default no connection is named in NCCL's log; the file has them all the same, and further communicators one line."""
    results, events, _ = recorded(run, "summary", steps=["init", "destroy", "init", "destroy"])
    expect_success(results, "topoguard", communicators=2)
    for result in results:
        expect_equal(lines_of(result), [], "connection lines")
        expect_equal(result.log.count("topoguard: further communicator"), 1, "lines about the second communicator")
    for own in events.values():
        expect_equal(sum(event["event"] == "connected" for event in own), 2 * CHANNEL_LINES, "connections in the file")


@row("nccl", "record-debug")
def debug(run):
    """TOPOGUARD_LOG=debug has the rules; a subject keeps them to what it names."""
    results, _, _ = recorded(run, "debug", TOPOGUARD_LOG="debug,interface")
    expect_success(results, "topoguard")
    for result in results:
        expect(result.log.count("topoguard: rule ") > 0, "no rule is named")
        expect(result.log.count("topoguard: interface ") > 0, "no interface is described")
        expect_equal(lines_of(result), [], "connection lines, which are another subject")


@row("nccl", "record-off")
def off(run):
    """TOPOGUARD_LOG=off silences NCCL's log and leaves the files alone; TOPOGUARD_MODE=off leaves nothing at all."""
    results, events, _ = recorded(run, "silent", TOPOGUARD_LOG="off")
    expect_success(results, "topoguard")
    for result in results:
        expect_equal(result.log.count("topoguard: "), 0, "lines of topoguard")
    expect_equal(len(events), 2, "processes in the log file")
    folder = run.new_folder("off-files")
    folder.mkdir()
    run.run(STEPS, name="off", env=topoguard(run, TOPOGUARD_MODE="off", TOPOGUARD_LOG_FILE=str(folder / "log"),
                                             TOPOGUARD_METRICS=str(folder / "metrics")))
    expect_equal(list(folder.iterdir()), [], "files with TOPOGUARD_MODE=off")


def moved_events(run, size):
    """Kinds of events of two movers that send `size` bytes over one channel."""
    folder = run.new_folder(f"mover-{size}")
    (folder / "exchange").mkdir(parents=True)
    env = clean_environment()
    env.update({"FAKECUDA_NVML_FORBID": "topoguard", "NCCL_CONF_FILE": "/dev/null", "TOPOGUARD_LOG_FILE": str(folder / "log"),
                "TOPOGUARD_METRICS": str(folder / "topoguard-%p.prom"), "TOPOGUARD_LOG": "debug",
                "LD_LIBRARY_PATH": f"{run.build.fake_nvml}:{run.build.forbidden_cuda}"})
    movers = [Process([run.build.mover, "--libnccl", run.build.libnccl, "--net", run.build.plugin, "--rank", rank, "--channels", 1,
                       "--bytes", size, "--exchange", folder / "exchange", "--report", folder / f"report{rank}"], env,
                      folder / f"stdout{rank}", folder / f"stderr{rank}", None) for rank in range(2)]
    try:
        deadline = time.monotonic() + 180
        expect_equal([mover.wait(deadline) for mover in movers], [0, 0], f"the movers' ends ({[mover.stderr for mover in movers]})")
    finally:
        for mover in movers:
            mover.kill()
    return Counter(event["event"] for event in events_of(folder / "log"))


@row("nccl", "record-data-path")
def data_path(run):
    """A hundred times the data leaves not one event more: nothing is written from isend, irecv, iflush or test."""
    few = moved_events(run, 64 * 1024)
    many = moved_events(run, 100 * 64 * 1024)
    expect(few["connected"] == 2, f"events of the movers: {dict(few)}")
    expect_equal(many, few, "events with a hundred times the data")


@row("nccl", "record-trouble")
def trouble(run):
    """Files that cannot be written cost one warning each, and nothing else."""
    env = topoguard(run, TOPOGUARD_LOG_FILE="/proc/topoguard/log", TOPOGUARD_METRICS="/dev/null")
    results = run.run(STEPS, env=env)
    expect_success(results, "topoguard")
    for code in ("log-file", "metrics-file"):
        expect_equal(sum(result.log.count(rf"topoguard warning \[{code}\]") for result in results), 2, f"warnings {code}")
