# SPDX-License-Identifier: Apache-2.0
"""What `topoguard check` must find between three hosts, and what must not disturb it."""

import struct
import sys
import time
from pathlib import Path

from rig.outcome import Skipped, expect, expect_equal

from job import Check, Outcome
from lab import HOSTS, TO_EPHEMERAL, Lab

ROWS = {}
STRANGER = Path(__file__).with_name("stranger.py")
FOUND_WITHIN = 10  # seconds that the check itself may take; the test gives the processes longer to start


def row(name, **lab):
    def register(function):
        ROWS[name] = (function, lab)
        return function
    return register


def expect_in_time(outcome):
    expect(outcome.document["seconds"] <= FOUND_WITHIN, f"the check took {outcome.document['seconds']} s")
    print(f"{outcome.document['seconds']:.1f} s")


def expect_healthy(outcome, mtu=1500):
    outcome.expect_codes()
    outcome.expect_statuses(0)
    connections = outcome.document["connections"]
    expect_equal(len(connections), 6, "connections")
    for connection in connections:
        expect_equal((connection["tcp"], connection["path_mtu"]), ("ok", {"state": "full", "wanted": mtu, "bytes": mtu}), connection)


@row("healthy")
def healthy(check):
    outcome = check.run()
    expect_healthy(outcome)
    outcome.expect_only_rank_0_speaks()
    for host in outcome.document["hosts"]:
        expect_equal(host["addresses"][0]["address"], HOSTS[host["host"][-1]], "address")
        if host["rank"] > 0:
            expect(abs(host["clock"]["offset_seconds"]) <= host["clock"]["uncertainty_seconds"] + 0.005, f"one clock differs: {host}")
    expect_in_time(outcome)
    text = Outcome({"a": check.start("a", 1, tag="-late", launcher={"RANK": "0", "WORLD_SIZE": "1"})})
    expect_equal(text.status["a"], 0, "status of one host alone")
    expect("one host alone" in text.out["a"], text.out["a"])


@row("ipv6", family=6)
def ipv6(check):
    expect_healthy(check.run())


@row("dropped-port")
def dropped_port(check):
    """A firewall that lets the launcher's ports through and drops NCCL's, one way."""
    check.lab.firewall("b", {"input": f"ip saddr {HOSTS['a']} {TO_EPHEMERAL} drop"})
    outcome = check.run()
    outcome.expect_codes("connect-silent")
    finding = outcome.the_finding("connect-silent")
    expect_equal(finding["device"], "node-a eth0", "device")
    for part in (f"node-a eth0 {HOSTS['a']} to node-b eth0 {HOSTS['b']}", "no answer"):
        expect(part in finding["message"], finding["message"])
    expect("both ways" not in finding["message"], finding["message"])
    expect_equal(outcome.connection("a", "b")["tcp"], "silent", "a to b")
    expect_equal(outcome.connection("b", "a")["tcp"], "ok", "b to a")
    outcome.expect_statuses(2)
    outcome.expect_only_rank_0_speaks()
    expect_in_time(outcome)


@row("refused-port")
def refused_port(check):
    check.lab.firewall("c", {"input": f"{TO_EPHEMERAL} reject with tcp reset"})
    outcome = check.run()
    found = outcome.findings("connect-refused")
    outcome.expect_codes("connect-refused")
    expect_equal(len(found), 2, "findings")
    expect(all(f"node-c eth0 {HOSTS['c']}" in finding["message"] for finding in found), found)
    outcome.expect_statuses(2)


@row("no-route")
def no_route(check):
    """A router that says that there is no way on."""
    check.lab.ip("r1", "route", "add", "unreachable", "10.61.3.0/24")
    outcome = check.run("--timeout", "6", nodes="ab")
    finding = outcome.the_finding("rank-missing")
    expect("rank 2" in finding["message"], finding["message"])
    check.lab.ip("r1", "route", "del", "unreachable", "10.61.3.0/24")
    check.lab.ip("r1", "route", "add", "unreachable", "10.61.2.0/24", "metric", "1")
    check.lab.ip("r1", "route", "del", "10.61.2.0/24")
    alone = check.run("--timeout", "4", nodes="b")
    expect_equal(alone.status["b"], 2, "status")
    expect("10.61.1.1" in alone.err["b"], alone.err["b"])


@row("black-hole", middle=1400)
def black_hole(check):
    """A smaller MTU in the middle, and nobody may say so."""
    for router in ("r1", "r2"):
        check.lab.firewall(router, {"output": "icmp type destination-unreachable drop"})
    outcome = check.run()
    found = outcome.findings("path-mtu-black-hole")
    outcome.expect_codes("path-mtu-black-hole")
    expect_equal(len(found), 2, f"{found}")
    for finding, peer in zip(sorted(found, key=lambda one: one["message"]), "ab"):
        for part in (f"node-{peer} eth0 {HOSTS[peer]}", f"node-c eth0 {HOSTS['c']}", "over 1400 bytes", "send 1500", "both ways"):
            expect(part in finding["message"], f"{part}: {finding['message']}")
    for source, target in ("ac", "ca", "bc", "cb"):
        expect_equal(outcome.connection(source, target)["path_mtu"], {"state": "black-hole", "wanted": 1500, "bytes": 1400},
                     f"{source} to {target}")
    expect_equal(outcome.connection("a", "b")["path_mtu"]["state"], "full", "a to b")
    outcome.expect_statuses(2)
    expect_in_time(outcome)


@row("small-mtu", middle=1337)
def small_mtu(check):
    """The same, and the routers say so: TCP copes."""
    outcome = check.run()
    outcome.expect_codes("path-mtu-small")
    for source, target, router in (("a", "c", "10.61.1.254"), ("c", "b", "10.61.3.254")):
        connection = outcome.connection(source, target)
        expect_equal(connection["tcp"], "ok", f"{source} to {target}")
        expect_equal(connection["path_mtu"], {"state": "told", "wanted": 1500, "bytes": 1337, "told_by": router}, f"{source} to {target}")
    outcome.expect_statuses(1)


@row("skewed-clock")
def skewed_clock(check):
    ahead = check.run(before={"b": ["faketime", "--exclude-monotonic", "-f", "+90s"]})
    ahead.expect_codes("clock-skew")
    finding = ahead.the_finding("clock-skew")
    expect_equal(finding["device"], "node-b", "device")
    expect("ahead of that of node-a" in finding["message"], finding["message"])
    clock = next(host for host in ahead.document["hosts"] if host["host"] == "node-b")["clock"]
    expect(abs(clock["offset_seconds"] - 90) <= clock["uncertainty_seconds"] + 0.1, f"{clock}")
    ahead.expect_statuses(1)
    expect_in_time(ahead)
    behind = check.run(before={"c": ["faketime", "--exclude-monotonic", "-f", "-3s"]})
    expect("3.0 s behind that of node-a" in behind.the_finding("clock-skew")["message"], behind.findings())


@row("missing-peer")
def missing_peer(check):
    outcome = check.run(nodes="ab")
    outcome.expect_codes("rank-missing")
    expect("rank 2 did not come" in outcome.the_finding("rank-missing")["message"], outcome.findings())
    expect_equal(outcome.document["missing_ranks"], [2], "missing ranks")
    outcome.expect_statuses(2, "ab")
    expect_equal(outcome.connection("a", "b")["tcp"], "ok", "those that came are tried")
    expect_in_time(outcome)
    named = Outcome({node: check.start(node, "ab".index(node), "--hosts", ",".join(HOSTS.values()), "--rank", "ab".index(node),
                                       launcher={}) for node in "ab"})
    expect(f"rank 2 ({HOSTS['c']}) did not come" in named.the_finding("rank-missing")["message"], named.findings())


@row("missing-rank-0")
def missing_rank_0(check):
    started = time.monotonic()
    outcome = check.run(nodes="bc")
    for node in "bc":
        expect_equal(outcome.status[node], 2, f"status of {node}")
        expect_equal(outcome.err[node].count("\n"), 1, "lines of error")
        for part in ("rank 0 at 10.61.1.1, port 29501 (from MASTER_ADDR)", f"as rank {'abc'.index(node)} of 3", "Remedy:"):
            expect(part in outcome.err[node], f"{part}: {outcome.err[node]}")
        expect_equal(outcome.out[node], "", f"stdout of {node}")
    print(f"{time.monotonic() - started:.1f} s")


@row("strangers")
def strangers(check):
    """Whoever talks to the port, the check is as healthy as without."""
    kinds = ["http", "noise", "silent", "half", "huge", "not-json", "deep", "wrong-type", "out-of-turn"]
    options = ("--timeout", "40")
    first = check.start("a", 0, *options)
    guests = [check.lab.start(check.folder, "b", [sys.executable, STRANGER, HOSTS["a"], "29501", kind], check_env(), f"-{kind}")
              for kind in kinds]
    deadline = time.monotonic() + 30
    while any("sent" not in guest.stdout for guest in guests):
        expect(time.monotonic() < deadline and first.running, f"a stranger was not heard: {first.stderr}")
        time.sleep(0.1)
    outcome = Outcome({"a": first, **{node: check.start(node, "abc".index(node), *options) for node in "bc"}})
    expect_healthy(outcome)
    outcome.expect_only_rank_0_speaks()
    expect(outcome.document["strangers"] >= 2, f"{outcome.document['strangers']} strangers were counted")
    for guest in guests:
        guest.wait(time.monotonic() + 30)
        expect(guest.stdout.split()[1:] in ([], [""]), f"a stranger was answered: {guest.stdout}")


def check_env():
    from rig.build import clean_environment
    return clean_environment()


@row("other-version")
def other_version(check):
    """A release with another protocol is told from garbage, by both sides."""
    options = ("--timeout", "20")
    first = check.start("a", 0, *options)
    other = check.lab.start(check.folder, "c", [sys.executable, STRANGER, HOSTS["a"], "29501", "other-version"], check_env(), "-other")
    outcome = Outcome({"a": first, "b": check.start("b", 1, *options)})
    finding = outcome.the_finding("check-version-mismatch")
    for part in (HOSTS["c"], "version 7", "version 1"):
        expect(part in finding["message"], finding["message"])
    outcome.the_finding("rank-missing")
    outcome.expect_statuses(2, "ab")
    other.wait(time.monotonic() + 30)
    back = bytes.fromhex(other.stdout.split()[-1])
    expect_equal((back[:4], struct.unpack("!H", back[4:6])[0]), (b"TGCK", 1), "what the other one is told")


@row("other-job")
def other_job(check):
    outcome = Outcome({node: check.start(node, "abc".index(node), "--job", "other" if node == "c" else "this") for node in "abc"})
    message = outcome.the_finding("rank-missing")["message"]
    expect("rank 2" in message and HOSTS["c"] in message and "not of other" in message, message)
    expect("this is the check of this, and not of other" in outcome.err["c"], outcome.err["c"])
    outcome.expect_statuses(2)


@row("twice")
def twice(check):
    """Two processes that claim one rank."""
    processes = {"a": check.start("a", 0, "--timeout", "20")}
    processes["b"] = check.start("b", 1, "--timeout", "20")
    time.sleep(1)
    processes["c"] = check.start("c", 1, "--timeout", "20")
    outcome = Outcome(processes)
    expect("both are rank 1" in outcome.the_finding("check-conflict")["message"], outcome.findings())
    outcome.expect_statuses(2)


@row("srun")
def srun(check):
    """Two tasks a host, as srun starts them: one of each takes part."""
    def environment(node, local):
        index = "abc".index(node)
        return {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(2 * index + local), "SLURM_NTASKS": "6",
                "SLURM_LOCALID": str(local), "SLURM_NODEID": str(index), "SLURM_STEP_NUM_NODES": "3", "SLURM_NNODES": "4",
                "SLURM_STEP_NODELIST": "10.61.[1-3].1", "SLURM_LAUNCH_NODE_IPADDR": "10.61.77.1"}
    processes = {f"{node}{local or ''}": check.start(node, "abc".index(node) + local, launcher=environment(node, local), tag=str(local))
                 for node in "abc" for local in (0, 1)}
    outcome = Outcome(processes)
    expect_healthy(outcome)
    outcome.expect_only_rank_0_speaks()
    outcome.expect_statuses(0, list(processes))


@row("one-host-twice")
def one_host_twice(check):
    """Ranks that a launcher puts on one host without saying so are tried once."""
    outcome = Outcome({"a": check.start("a", 0), "b": check.start("b", 1), "b2": check.start("b", 2, tag="2")})
    outcome.expect_codes("ranks-share-host")
    expect_equal(len(outcome.document["connections"]), 2, "connections")
    outcome.expect_statuses(0, ["a", "b", "b2"])


@row("fingerprints")
def fingerprints(check):
    """Decisions that differ, by the user's variable on one host."""
    outcome = check.run(env={"c": {"NCCL_IB_TIMEOUT": "22"}})
    outcome.expect_codes("env-mismatch")
    expect("NCCL_IB_TIMEOUT" in outcome.the_finding("env-mismatch")["message"], outcome.findings())
    outcome.expect_statuses(1)


@row("port-taken")
def port_taken(check):
    taken = check.lab.start(check.folder, "a", [sys.executable, "-c", "import socket, time\ns = socket.create_server(('', 29501))\n"
                            "print('here', flush=True)\ntime.sleep(60)"], check_env(), "-server")
    while "here" not in taken.stdout:
        expect(taken.running, taken.stderr)
        time.sleep(0.05)
    outcome = check.run(nodes="a")
    taken.kill()
    expect_equal(outcome.status["a"], 2, "status")
    expect("cannot listen on port 29501" in outcome.err["a"] and "--port" in outcome.err["a"], outcome.err["a"])


def run(name, topoguard, folder):
    function, options = ROWS[name]
    if name == "skewed-clock" and not any(Path(path).exists() for path in ("/usr/bin/faketime", "/bin/faketime")):
        raise Skipped("faketime is not installed: tools/deps test")
    with Lab(**options) as lab:
        function(Check(lab, topoguard, folder))
