# SPDX-License-Identifier: Apache-2.0
"""The two-namespace lab: hosts with wrong interfaces first in line, stock NCCL beside topoguard. No row sets NCCL_SOCKET_IFNAME; MASTER_ADDR
lies on the data link, as a launcher would have it."""

import re
import signal
import subprocess
import sys


from rig.build import SOURCE
from rig.job import RankSpec, expect_success
from rig.lab import Lab, require_namespaces
from rig.movement import BYTES_PER_CHANNEL, NOISE, move
from rig.outcome import expect, expect_equal
from rig.rows import row

from .plugin import topoguard

HANG = 15  # seconds after which a job that is expected to hang is ended


def nodes(lab):
    return [RankSpec(namespace=namespace) for namespace in lab.namespaces]


def run_in(run, lab, name, env, timeout=None):
    options = {"timeout": timeout} if timeout else {}
    return run.run(["init", "destroy"], name=name, ranks=nodes(lab), env={"MASTER_ADDR": lab.master, **env}, **options)


def routes_of(results):
    """All that says how a job is connected: must be the same where topoguard is off and where it is not there."""
    return [(result.status, result.log.bootstrap, result.log.socket_devices, sorted(map(str, result.log.channels)))
            for result in results]


def expect_off_is_stock(run, lab, stock, timeout=None):
    off = run_in(run, lab, "off", topoguard(run, TOPOGUARD_MODE="off"), timeout)
    expect_equal(routes_of(off), routes_of(stock), "the job with TOPOGUARD_MODE=off")


def expect_bootstrap(results, interface):
    for rank, result in enumerate(results):
        expect(result.log.bootstrap is not None, f"rank {rank} has no bootstrap line")
        expect_equal(result.log.bootstrap[0], interface, f"bootstrap interface of rank {rank}")


def expect_never_up(results):
    """At least one rank neither succeeds nor ends by itself within the time that the row gives."""
    expect(any(result.status != 0 for result in results), "stock came up: the layout is not as wrong as the row needs it")
    expect(not all(result.log.complete for result in results), "stock completed its init on all ranks")


@row("lab", "lab-stock-healthy")
def stock_healthy(run):
    with Lab("healthy") as lab:
        results = run_in(run, lab, "stock", {})
        expect_success(results, "Socket")
        for result in results:
            expect_equal(result.log.links, {"data0"}, "links with channels")


@row("lab", "lab-stock-slow-management")
def stock_slow_management(run):
    """Stock stripes channels over the slow management link and the data link; bytes follow."""
    with Lab("slow-management") as lab:
        results = run_in(run, lab, "stock", {})
        expect_success(results, "Socket")
        for result in results:
            expect_equal(result.log.links, {"mgmt0", "data0"}, "links with channels")
        expect_bootstrap(results, "mgmt0")
        moved = move(lab, run.build, run.new_folder("move"), "Socket", {})
        expect_equal(moved.devices, {"a": ["mgmt0", "data0"], "b": ["mgmt0", "data0"]}, "devices of stock Socket")
        for link in ("mgmt0", "data0"):
            expect(moved.carried[link] >= BYTES_PER_CHANNEL, f"{link} carried {moved.carried[link]} bytes only")


def stock_never_comes_up(run, layout, bootstrap):
    with Lab(layout) as lab:
        results = run_in(run, lab, "stock", {}, timeout=HANG)
        expect_never_up(results)
        expect_bootstrap(results, bootstrap)


@row("lab", "lab-stock-bridge")
def stock_bridge(run):
    """A container bridge with one address on both nodes, first in line: each node bootstraps on itself."""
    stock_never_comes_up(run, "bridge", "br-lab")


@row("lab", "lab-stock-tun")
def stock_tun(run):
    """A VPN tunnel first in line, that leads nowhere."""
    stock_never_comes_up(run, "tun", "tun0")


@row("lab", "lab-stock-all")
def stock_all(run):
    """Everything that a Kubernetes node has, the data link last."""
    stock_never_comes_up(run, "all", "br-lab")


@row("lab", "lab-tears-itself-down")
def tears_itself_down(run):
    """A lab that is interrupted removes itself; one that is killed is removed by the next cleanup."""
    require_namespaces()
    for number, leaves in ((signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGKILL, True)):
        child = subprocess.Popen([sys.executable, SOURCE / "tests/net/lab", "tun"], stdout=subprocess.PIPE, text=True,
                                 start_new_session=True)
        while not child.stdout.readline().startswith("MASTER_ADDR"):
            expect(child.poll() is None, "the lab ended by itself")
        child.send_signal(number)
        child.wait(60)
        expect_equal(bool(namespaces_of(child.pid)), leaves, f"namespaces are left after {number.name}")
    subprocess.run([sys.executable, SOURCE / "tests/net/lab", "cleanup"], check=True, timeout=60, capture_output=True)
    expect_equal(namespaces_of(child.pid), [], "namespaces left after the cleanup")


def namespaces_of(pid):
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True, timeout=60).stdout
    return re.findall(rf"^\S+-{pid}-\S+", listed, re.MULTILINE)
