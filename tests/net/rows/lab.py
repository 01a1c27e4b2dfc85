# SPDX-License-Identifier: Apache-2.0
"""The two-namespace lab: hosts with wrong interfaces first in line, stock NCCL beside topoguard. No row sets NCCL_SOCKET_IFNAME; MASTER_ADDR
lies on the data link, as a launcher would have it."""

import re
import signal
import subprocess
import sys


from rig.announced import Announced
from rig.build import SOURCE
from rig.job import RankSpec, expect_success
from rig.lab import Lab, require_namespaces
from rig.movement import BYTES_PER_CHANNEL, NOISE, move
from rig.outcome import expect, expect_equal
from rig.rows import row

from .plugin import expect_topoguard, topoguard

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


@row("lab", "lab-healthy")
def healthy(run):
    """A host where stock is right stays stock: topoguard carries the same channels and sets nothing."""
    with Lab("healthy") as lab:
        results = run.run(["init", "facts", "destroy"], ranks=nodes(lab), env=topoguard(run, MASTER_ADDR=lab.master))
        expect_topoguard(results)
        for rank, result in enumerate(results):
            expect_equal(result.log.socket_devices, ["data0"], f"devices of rank {rank}")
            expect_equal(Announced(result).sets, {}, f"what rank {rank} says that it sets")
            expect("NCCL_SOCKET_IFNAME" not in result.value("facts")["environment"], f"rank {rank} has NCCL_SOCKET_IFNAME")


@row("lab", "lab-a-data-link")
def data_link(run):
    """(a) A slow but working management link first: every channel and every byte goes over the data link."""
    with Lab("slow-management") as lab:
        stock = run_in(run, lab, "stock", {})
        expect_success(stock, "Socket")
        expect_off_is_stock(run, lab, stock)
        results = run_in(run, lab, "topoguard", topoguard(run))
        expect_success(results, "topoguard")
        for rank, result in enumerate(results):
            expect_equal(result.log.socket_devices, ["data0"], f"devices of rank {rank}")
            expect_equal(result.log.links, {"data0"}, f"links with channels of rank {rank}")
            expect_equal(Announced(result).devices["data0"][0], "chosen", f"verdict on data0 of rank {rank}")
            expect(Announced(result).devices["mgmt0"][0] != "chosen", f"rank {rank} chose mgmt0")
        moved = move(lab, run.build, run.new_folder("move"), run.build.plugin, topoguard(run, MASTER_ADDR=lab.master))
        expect_equal(moved.devices, {"a": ["data0"], "b": ["data0"]}, "devices under topoguard")
        expect(moved.carried["data0"] >= 2 * BYTES_PER_CHANNEL, f"data0 carried {moved.carried['data0']} bytes only")
        expect(moved.carried["mgmt0"] < NOISE, f"mgmt0 carried {moved.carried['mgmt0']} bytes")


def bootstrap_not_covered(run, layout, interface):
    with Lab(layout) as lab:
        stock = run_in(run, lab, "stock", {}, timeout=HANG)
        expect_never_up(stock)
        off = run_in(run, lab, "off", topoguard(run, TOPOGUARD_MODE="off"), timeout=HANG)
        expect_never_up(off)
        expect_bootstrap(off, interface)
        results = run_in(run, lab, "topoguard", topoguard(run), timeout=HANG)
        for rank, result in enumerate(results):
            warned = Announced(result).warned("bootstrap-not-covered")
            expect_equal(len(warned), 1, f"warnings of bootstrap-not-covered on rank {rank}")
            expect(interface in warned[0].text, f"rank {rank} does not name {interface}: {warned[0].text}")


@row("lab", "lab-b-bridge")
def bridge(run):
    """(b) The net plugin cannot repair a bootstrap that NCCL has chosen before: it says which interface that is and what to do."""
    bootstrap_not_covered(run, "bridge", "br-lab")


@row("lab", "lab-b-tun")
def tun(run):
    bootstrap_not_covered(run, "tun", "tun0")


@row("lab", "lab-c-observe")
def observe(run):
    """(c) Decides and logs; the job is stock's."""
    with Lab("slow-management") as lab:
        stock = run_in(run, lab, "stock", {})
        expect_success(stock, "Socket")
        results = run.run(["init", "facts", "destroy"], name="observe", ranks=nodes(lab),
                          env=topoguard(run, MASTER_ADDR=lab.master, TOPOGUARD_MODE="observe"))
        for rank, result in enumerate(results):
            expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
            expect_equal(result.log.complete, 1, f"'Init COMPLETE' lines of rank {rank}")
            expect_equal(result.log.socket_devices, stock[rank].log.socket_devices, f"devices of rank {rank}")
            expect_equal(result.log.links, stock[rank].log.links, f"links with channels of rank {rank}")
            said = Announced(result)
            expect("mode observe" in (said.header or ""), f"rank {rank}: {said.header}")
            expect_equal(said.sets, {"NCCL_SOCKET_IFNAME": "=data0"}, f"what rank {rank} says that it would set")
            expect("NCCL_SOCKET_IFNAME" not in result.value("facts")["environment"], f"rank {rank} has NCCL_SOCKET_IFNAME")


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
