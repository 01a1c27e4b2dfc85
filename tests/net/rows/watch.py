# SPDX-License-Identifier: Apache-2.0
"""Connections that do not come up, stock NCCL beside topoguard: who says what, on which side, after how many seconds.

The lab's management link carries the bootstrap, and the data link is a black hole in one direction: node DROPS swallows every SYN that
comes in by data0. So rank 0 of node a can be reached, and node b's listeners cannot."""

import contextlib
import re
import subprocess
import time

from rig.announced import Announced
from rig.build import SOURCE
from rig.job import RankSpec, expect_success
from rig.lab import DATA, Lab
from rig.outcome import Skipped, expect, expect_equal
from rig.rows import row

from .lab import HANG, nodes
from .plugin import expect_no_warnings, topoguard

WARN = 2       # TOPOGUARD_CONNECT_WARN_S of these rows
FETCHED = ("2.20.5", "2.27.3", "2.30.7")
RELEASES = ("2.18.3", "2.20.5", "2.21.5", "2.22.3", "2.24.3", "2.26.5", "2.27.3", "2.28.9", "2.29.7", "2.30.7")
QUIET = 8      # seconds that stock is given to say something: twice the time after which topoguard has ended it or spoken
PATIENCE = 60  # seconds that a loaded machine may take for a line that is due after WARN


def run_nft(namespace, script):
    return subprocess.run(["ip", "netns", "exec", namespace, "nft", script], capture_output=True, text=True, timeout=60)


@contextlib.contextmanager
def black_hole(lab, node):
    """Whoever connects to `node` by the data link waits for ever; it can itself connect to others."""
    namespace = lab.namespace(node)
    try:
        done = run_nft(namespace, 'table inet hole { chain in { type filter hook input priority 0; '
                                  'iifname "data0" tcp flags & (syn|ack) == syn drop; }; }')
    except FileNotFoundError as error:
        raise Skipped("nft is not installed (package nftables)") from error
    if done.returncode != 0:
        raise Skipped(f"the kernel has no nftables here: {done.stderr.strip()}")
    yield lambda: run_nft(namespace, "delete table inet hole")


def watching(run, lab, **settings):
    return topoguard(run, MASTER_ADDR=lab.master, TOPOGUARD_CONNECT_WARN_S=str(WARN), **settings)


def said(job, rank, pattern):
    """Lines so far of a rank of a running job that match, in its log and on stderr."""
    log = job.folder / f"nccl{rank}.log"
    text = (log.read_text(errors="replace") if log.exists() else "") + job.processes[rank].stderr
    return re.findall(pattern, text)


WAITING = r"topoguard warning \[connection-waiting\]: (.*)"


def wait_said(job, rank, pattern=WAITING):
    """The first such line, and after how many seconds of the job it came."""
    began = time.monotonic()
    while time.monotonic() < began + PATIENCE:
        lines = said(job, rank, pattern)
        if lines:
            return lines[0], time.monotonic() - began
        expect(job.processes[rank].running, f"rank {rank} ended without a line: {job.processes[rank].stderr.strip()}")
        time.sleep(0.1)
    expect(False, f"rank {rank} said nothing in {PATIENCE} s")


def stock_waits(run, lab, ranks=None, name="stock", then=None, seconds=QUIET, **env):
    """Stock beside it: every rank that has a channel over the network has set it up (`then` is done), and `seconds` later none has
    ended and none has a warning. Returns the lines that speak of a failed attempt to connect, by rank."""
    ranks = ranks or nodes(lab)
    with run.job(["init"], name=name, ranks=ranks, env={"MASTER_ADDR": lab.master, **env}) as job:
        for rank in range(len(ranks)):
            wait_said(job, rank, r"via NET/Socket/|via SHM|via P2P")
        if then:
            then(job)
        living = [process for process in job.processes if process.running]
        time.sleep(seconds)
        expect(all(process.running for process in living), "a rank of stock has ended by itself")
        for rank in range(len(ranks)):
            expect_equal(said(job, rank, r"NCCL WARN (.*)"), [], f"warnings of stock's rank {rank}")
        retries = {rank: lines for rank in range(len(ranks)) if (lines := said(job, rank, r"NCCL INFO (.*retry.*)"))}
    print(f"stock: {len(living)} ranks hang, {seconds} s after their channels were set up there is no warning"
          + "".join(f"; rank {rank}: {lines[-1]}" for rank, lines in retries.items()), flush=True)
    return retries


def stock_runs(run, lab, **options):
    """Stock beside it: the job comes up, and nothing is said of what topoguard warns of."""
    results = run.run(["init", "destroy"], name="stock", **{"ranks": nodes(lab), "env": {"MASTER_ADDR": lab.master}, **options})
    expect_success(results, "Socket")
    for rank, result in enumerate(results):
        expect_equal(result.log.lines(r"NCCL WARN"), [], f"warnings of stock's rank {rank}")
    print("stock: comes up, no warning", flush=True)
    return results


def show(who, line, after):
    print(f"{who}, seen {after:.1f} s after the start: {line}", flush=True)


def expect_sender_line(line, address):
    for part in (f"not up after {WARN} s", f"to {address}:", "over Socket on data0", "Likely, in this order: (1) a firewall",
                 f"nc -vz {address} "):
        expect(part in line, f"{part!r} is not in: {line}")


def expect_receiver_line(line, address):
    for part in ("from a peer that should connect", f"to {address}:", "over Socket on data0", "(1) the rank that should connect"):
        expect(part in line, f"{part!r} is not in: {line}")


@row("lab", "watch-black-hole")
def watch_black_hole(run):
    """A firewall swallows what comes to one node: stock hangs without a word, topoguard names both ends, on both sides. Once the
    firewall lets them pass, the job goes on, and that is said."""
    with Lab("slow-management") as lab, black_hole(lab, "b") as open_it:
        stock_waits(run, lab)
        with run.job(["init", "destroy"], ranks=nodes(lab), env=watching(run, lab)) as job:
            line, after = wait_said(job, 0)
            show("rank 0, which connects", line, after)
            expect_sender_line(line, DATA["b"])
            expect("the peer has NCCL 2." in line, f"the peer's own trailer is not in: {line}")
            line, after = wait_said(job, 1)
            show("rank 1, which listens", line, after)
            expect_receiver_line(line, DATA["b"])
            expect_equal(open_it().returncode, 0, "status of nft")
            results = job.results()
        expect_success(results, "topoguard")
        for rank, result in enumerate(results):
            late = result.log.lines(r"that waited (is|are) up after all")
            expect_equal(len(late), 1, f"lines of rank {rank} that it came up after all")
            print(f"rank {rank}: {late[0]}", flush=True)


@row("lab", "watch-time-limit")
def watch_time_limit(run):
    """TOPOGUARD_CONNECT_TIMEOUT_S: the same hang ends with an error of ncclCommInitRank on both ranks."""
    with Lab("slow-management") as lab, black_hole(lab, "b"):
        stock_waits(run, lab)
        env = watching(run, lab, TOPOGUARD_CONNECT_TIMEOUT_S="4")
        began = time.monotonic()
        results = run.run(["init"], ranks=nodes(lab), env=env)
        print(f"both ranks ended after {time.monotonic() - began:.1f} s", flush=True)
        lines = []
        for rank, result in enumerate(results):
            expect_equal(result.status, 1, f"exit status of rank {rank}")
            ended = re.search(r"ncclCommInitRank returned (\d+)", result.stderr)
            expect(ended is not None, f"stderr of rank {rank}: {result.stderr}")
            expect(ended.group(1) in ("2", "6"), f"rank {rank} ended with NCCL result {ended.group(1)}, not a system or remote error")
            print(f"rank {rank}: {ended.group()}", flush=True)
            lines += [(rank, warning) for warning in Announced(result).warned("connection-timeout")]
        expect(lines, "no rank says that it ended a connection")
        for rank, warning in lines:
            expect_equal(warning.severity, "error", "severity")
            expect("TOPOGUARD_CONNECT_TIMEOUT_S=4" in warning.text, warning.text)
            print(f"rank {rank}: {warning.text}", flush=True)


@row("lab", "watch-dead-peer")
def watch_dead_peer(run):
    """The peer is killed while the other waits for it: the lines go on, and the limit ends it. Stock notices nothing."""
    with Lab("slow-management") as lab, black_hole(lab, "b"):
        stock_waits(run, lab, then=lambda job: job.processes[1].kill())
        with run.job(["init"], ranks=nodes(lab), env=watching(run, lab, TOPOGUARD_CONNECT_TIMEOUT_S="12")) as job:
            wait_said(job, 0)
            job.processes[1].kill()
            results = job.results()
        expect_equal(results[0].status, 1, "exit status of rank 0")
        waited = Announced(results[0]).warned("connection-waiting")
        expect(len(waited) >= 2, f"rank 0 explained its wait {len(waited)} times")
        for warning in waited:
            expect("the rank there has ended or hangs" in warning.text, warning.text)
        times = [int(re.search(r"not up after (\d+) s", warning.text).group(1)) for warning in waited]
        expect(all(later >= 2 * earlier - 1 for earlier, later in zip(times, times[1:])), f"lines after {times} s: not doubling")
        print(f"rank 0 explained it after {times} s, then: {results[0].stderr.strip()}", flush=True)


@row("lab", "watch-peer-without")
def watch_peer_without(run):
    """One rank has no topoguard: a healthy job runs without a warning; a hang is explained by the one that has it."""
    with Lab("healthy") as lab:
        specs = nodes(lab)
        specs[0].env = topoguard(run)
        results = run.run(["init", "destroy"], name="healthy", ranks=specs, env={"MASTER_ADDR": lab.master})
        expect_equal([result.status for result in results], [0, 0], "exit status")
        expect_equal([results[0].log.nets, results[1].log.nets], [{"topoguard"}, {"Socket"}], "nets of the channels")
        expect_no_warnings(results)
    with Lab("slow-management") as lab, black_hole(lab, "a"):
        stock_waits(run, lab, name="stock-hang")
        specs = nodes(lab)
        specs[0].env = watching(run, lab)
        specs[1].env = {"NCCL_SOCKET_IFNAME": "=data0"}  # nobody sees to it there
        with run.job(["init"], name="hang", ranks=specs, env={"MASTER_ADDR": lab.master}) as job:
            line, after = wait_said(job, 0)
            show("rank 0", line, after)
            expect_receiver_line(line, DATA["a"])
            expect_equal(said(job, 1, r"topoguard (?:warning|error)"), [], "what rank 1 says")


@row("lab", "watch-other-settings")
def watch_other_settings(run):
    """NCCL_* variables that differ between the ranks: each end says so once, and the job runs."""
    with Lab("healthy") as lab:
        specs = nodes(lab)
        specs[1].env = {"NCCL_SOCKET_NTHREADS": "2", "NCCL_NSOCKS_PERTHREAD": "2"}
        stock_runs(run, lab, ranks=specs)
        results = run.run(["init", "destroy"], ranks=specs, env=topoguard(run, MASTER_ADDR=lab.master))
        expect_success(results, "topoguard")
        for rank, result in enumerate(results):
            warnings = Announced(result).warnings
            expect_equal([warning.code for warning in warnings], ["env-mismatch"], f"warnings of rank {rank}")
            expect(DATA["ba"[rank]] in warnings[0].text, f"rank {rank} does not name its peer: {warnings[0].text}")
            print(f"rank {rank}: {warnings[0].text}", flush=True)


@row("lab", "watch-other-mtu")
def watch_other_mtu(run):
    """A smaller MTU at one end."""
    with Lab("healthy") as lab:
        lab.on("b", "link", "set", "data0", "mtu", "1400")
        stock_runs(run, lab)
        results = run.run(["init", "destroy"], ranks=nodes(lab), env=topoguard(run, MASTER_ADDR=lab.master))
        expect_success(results, "topoguard")
        for rank, result in enumerate(results):
            expect_equal([warning.code for warning in Announced(result).warnings], ["mtu-mismatch"], f"warnings of rank {rank}")
            print(f"rank {rank}: {Announced(result).warnings[0].text}", flush=True)


@row("lab", "watch-two-families")
def watch_two_families(run):
    """One end has IPv4 and the other IPv6, and both hosts have both: sockets connect to whatever the other has, and the only warning
    is that of the variable which made it so. Without the variable's end having IPv4 there is no route, which is another row's."""
    with Lab("healthy") as lab:
        for number, node in enumerate("ab"):
            lab.on(node, "addr", "add", f"fd00:22::{number + 1}/64", "dev", "data0", "nodad")
        specs = nodes(lab)
        specs[1].env = {"NCCL_SOCKET_FAMILY": "AF_INET6"}
        stock_runs(run, lab, ranks=specs)
        results = run.run(["init", "destroy"], ranks=specs, env=topoguard(run, MASTER_ADDR=lab.master, TOPOGUARD_LOG="paths,connection"))
        expect_success(results, "topoguard")
        expect(results[0].log.has(r"connection \d+, sending.* to fd00:22::2"), "rank 0 does not connect to an IPv6 address")
        expect(results[1].log.has(r"connection \d+, sending.* to " + re.escape(DATA["a"])), "rank 1 does not connect to an IPv4 address")
        for rank, result in enumerate(results):
            expect_equal({warning.code for warning in Announced(result).warnings}, {"env-mismatch"}, f"warnings of rank {rank}")


@row("lab", "watch-no-route")
def watch_no_route(run):
    """The kernel refuses the way to the peer's data address: one error that says so, and the job ends instead of retrying."""
    with Lab("slow-management") as lab:
        lab.on("a", "route", "add", "unreachable", f"{DATA['b']}/32")
        stock_waits(run, lab)
        with run.job(["init"], ranks=nodes(lab), env=watching(run, lab, TOPOGUARD_CONNECT_TIMEOUT_S="8")) as job:
            _, after = wait_said(job, 0, r"topoguard error \[peer-unreachable\]: (.*)")
            results = job.results()
        print(f"topoguard: rank 0 says so {after:.1f} s after the start", flush=True)
        expect_equal(results[1].status, 1, "exit status of rank 1, which waits for rank 0 until its limit")
        expect_equal(results[0].status, 1, "exit status of rank 0")
        errors = Announced(results[0]).warned("peer-unreachable")
        expect(errors and errors[0].severity == "error", f"rank 0 names no missing route: {Announced(results[0]).warnings}")
        for part in ("data0 here", DATA["b"], "no route", f"ip route get {DATA['b']}"):
            expect(part in errors[0].text, f"{part!r} is not in: {errors[0].text}")
        print(f"rank 0: {errors[0].text}", flush=True)


@row("lab", "watch-ring-of-three")
def watch_ring_of_three(run):
    """Rank 0 alone on node a: what it sends to rank 1 is swallowed, everything else of the ring comes up. Both ends of that one
    connection say so, and rank 2 waits for nothing over the network."""
    with Lab("slow-management") as lab, black_hole(lab, "b"):
        a, b = lab.namespaces
        specs = [RankSpec(namespace=a), RankSpec(namespace=b), RankSpec(namespace=b)]
        # One ring in one direction: no trees, one channel.
        one_way = {"NCCL_ALGO": "Ring", "NCCL_MAX_NCHANNELS": "1"}
        # Stock's first channel takes the management link: only a second one meets the hole.
        stock_waits(run, lab, ranks=specs, NCCL_ALGO="Ring")
        env = watching(run, lab, **one_way)
        with run.job(["init"], ranks=specs, env=env) as job:
            line, after = wait_said(job, 0)
            show("rank 0, which connects", line, after)
            expect_sender_line(line, DATA["b"])
            line, after = wait_said(job, 1)
            show("rank 1, which listens", line, after)
            expect_receiver_line(line, DATA["b"])
            lines = [part for part in said(job, 2, WAITING) if "to 10.22" in part and "from a peer" not in part]
            expect_equal(lines, [], "connections that rank 2 cannot make")


@row("lab", "watch-trailer-releases")
def watch_trailer_releases(run):
    """What a peer writes into its handle arrives through NCCL's own exchange, in releases whose handles travel in different ways."""
    with Lab("healthy") as lab:
        seen = []
        for release in RELEASES:
            # Three are fetched, those that other rows use too; the rest counts where it is already here.
            offline = [] if release in FETCHED else ["--offline"]
            found = subprocess.run([SOURCE / "tools/libnccl", *offline, release], capture_output=True, text=True, timeout=300)
            if found.returncode != 0:
                print(f"NCCL {release} is not to be had here: {found.stderr.strip()}", flush=True)
                continue
            results = run.run(["init", "destroy"], name=release, ranks=nodes(lab), libnccl=found.stdout.strip(),
                              env=topoguard(run, MASTER_ADDR=lab.master, TOPOGUARD_LOG="paths,connection"))
            expect_success(results, "topoguard")
            for rank, result in enumerate(results):
                sending = result.log.lines(r"topoguard: connection \d+, sending")
                expect(sending, f"NCCL {release}: rank {rank} reports no connection that sends")
                for line in sending:
                    expect(f"to {DATA['ba'[rank]]} (NCCL {release}, TCP, MTU 1500, 10 Gb/s)" in line,
                           f"NCCL {release}, rank {rank}: no trailer in: {line}")
            seen.append(release)
            print(f"NCCL {release}: {sending[0].partition('topoguard: ')[2]}", flush=True)
        if not seen:
            raise Skipped("no other release of NCCL is to be had")


def stock_demands_ib(run, lab):
    """What stock has for it, NCCL_NET=IB, fails for a rank that is alone as well, and names no cause."""
    results = run.run(["init"], name="stock-ib", ranks=nodes(lab)[:1], env={"MASTER_ADDR": lab.master, "NCCL_NET": "IB"})
    expect_equal(results[0].status, 1, "exit status of a rank alone with NCCL_NET=IB")
    said_of_it = results[0].log.lines(r"NCCL WARN")
    expect_equal(len(said_of_it), 1, f"warnings of stock with NCCL_NET=IB: {said_of_it}")
    print(f"stock with NCCL_NET=IB, a rank alone: {said_of_it[0]}", flush=True)


@row("lab", "watch-require-ib")
def watch_require_ib(run):
    """TOPOGUARD_REQUIRE=IB on hosts without RDMA: a communicator of one rank is not affected; one of two hosts fails with the reason."""
    with Lab("healthy") as lab:
        stock_runs(run, lab)
        stock_demands_ib(run, lab)
        env = topoguard(run, MASTER_ADDR=lab.master, TOPOGUARD_REQUIRE="IB")
        alone = run.run(["init", "destroy"], name="alone", ranks=nodes(lab)[:1], env=env)
        expect_equal([alone[0].status, alone[0].log.complete], [0, 1], "exit status and 'Init COMPLETE' lines of the rank that is alone")
        expect(not alone[0].log.has("is refused"), "the rank that is alone speaks of a refused connection")
        results = run.run(["init"], name="two", ranks=nodes(lab), env=env)
        for rank, result in enumerate(results):
            expect_equal(result.status, 1, f"exit status of rank {rank}")
            refused = [warning for warning in Announced(result).warned("require-ib-unmet") if "is refused" in warning.text]
            expect_equal(len(refused), 1, f"refusals of rank {rank}")
            expect("TOPOGUARD_REQUIRE=IB" in refused[0].text, refused[0].text)
            print(f"rank {rank}: {refused[0].text}", flush=True)


@row("lab", "watch-off")
def watch_off(run):
    """Observed, nothing is written into the handle and nothing is ended; off, nothing is said at all."""
    with Lab("slow-management") as lab, black_hole(lab, "b"):
        env = watching(run, lab, TOPOGUARD_MODE="off", TOPOGUARD_CONNECT_TIMEOUT_S="2")
        results = run.run(["init"], name="off", ranks=nodes(lab), env=env, timeout=HANG)
        for rank, result in enumerate(results):
            expect(Announced(result).silent, f"rank {rank} speaks although topoguard is off")
            expect_equal(result.status, None, f"exit status of rank {rank}")
