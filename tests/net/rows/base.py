# SPDX-License-Identifier: Apache-2.0
"""Somebody else's net plugin under topoguard, as HPC-X and aws-ofi-nccl install one: of an older API version than NCCL's, or of its own."""

import copy
import subprocess

from rig.announced import Announced
from rig.build import SOURCE
from rig.job import expect_success
from rig.lab import Lab
from rig.movement import BYTES_PER_CHANNEL, move
from rig.outcome import Failed, Skipped, expect, expect_equal
from rig.rows import row

from .plugin import expect_no_warnings, topoguard

INIT = ["init", "destroy"]
NAME = "Foreign Net"


def on_release(run, release):
    """The same row on another NCCL."""
    found = subprocess.run([SOURCE / "tools/libnccl", release], capture_output=True, text=True, timeout=600)
    if found.returncode == 3:
        raise Skipped(f"NCCL {release} is not to be had: {found.stderr.strip()}")
    if found.returncode != 0:
        raise Failed(f"tools/libnccl: {found.stderr.strip()}")
    run.build = copy.copy(run.build)
    run.build._libnccl = found.stdout.strip()


def with_base(run, version, **settings):
    """The plugin folder first: what NCCL alone would load is the second."""
    return topoguard(run, LD_LIBRARY_PATH=f"{run.build.plugin.parent}:{run.build.foreign(version)}", **settings)


def expect_base(results, version, net="topoguard"):
    expect_success(results, net)
    for rank, result in enumerate(results):
        expect(result.log.has(rf"NET/Foreign : initialised by net API {version}"), f"rank {rank} did not use the {version} plugin")
        expect("under topoguard" in (Announced(result).way or ""), f"rank {rank} says how it takes part: {Announced(result).way}")
        # NCCL looks for a tuner in the net plugin's library; topoguard stands before it.
        expect(result.log.has("TUNER/Foreign : initialised"), f"rank {rank} lost the plugin's tuner")
    expect_no_warnings(results)


def wraps(run, version, release):
    """A communicator whose channels run over that plugin, and checked bytes through it."""
    on_release(run, release)
    expect_base(run.run(INIT, env=with_base(run, version)), version)
    with Lab("healthy") as lab:
        library_path = with_base(run, version)["LD_LIBRARY_PATH"]
        moved = move(lab, run.build, run.new_folder("move"), run.build.plugin, {"LD_LIBRARY_PATH": library_path, "MASTER_ADDR": lab.master})
        expect_equal(moved.devices, {"a": ["data0"], "b": ["data0"]}, "devices of the plugin")
        expect(moved.carried["data0"] >= 2 * BYTES_PER_CHANNEL, f"data0 carried {moved.carried['data0']} bytes only")


for _version, _release in (("v8", "2.28.9"), ("v10", "2.28.9"), ("v11", "2.28.9"), ("v8", "2.30.7"), ("v10", "2.30.7"), ("v12", "2.30.7")):
    row("nccl", f"base-{_version}-{_release}")(lambda run, version=_version, release=_release: wraps(run, version, release))


@row("nccl", "base-alone")
def alone(run):
    """What the rows above compare with: NCCL's own compatibility layer runs the same plugin, and finds its tuner."""
    results = run.run(INIT, env={"LD_LIBRARY_PATH": str(run.build.foreign("v8"))})
    expect_success(results, NAME)
    for rank, result in enumerate(results):
        expect(result.log.has("TUNER/Foreign : initialised"), f"NCCL alone does not find the plugin's tuner on rank {rank}")


@row("nccl", "base-by-nccl-net")
def by_nccl_net(run):
    """NCCL_NET="AWS Libfabric" and the like: NCCL compares the name before it calls us, and the job goes on as without topoguard."""
    for asked in (NAME, NAME.upper()):
        results = run.run(INIT, name="asked", env=with_base(run, "v8", NCCL_NET=asked))
        expect_base(results, "v8", net=asked)


@row("nccl", "base-when-off")
def when_off(run):
    """Off and observing, the job has what it would have without topoguard: the plugin in its place, and its tuner."""
    for mode in ("off", "observe"):
        results = run.run(INIT, name=mode, env=with_base(run, "v8", TOPOGUARD_MODE=mode))
        expect_success(results, "topoguard")
        for rank, result in enumerate(results):
            expect(result.log.has("NET/Foreign : initialised by net API v8"), f"mode {mode}: rank {rank} did not use the plugin")
            expect(result.log.has("TUNER/Foreign : initialised"), f"mode {mode}: rank {rank} lost the plugin's tuner")


@row("nccl", "base-by-nccl-net-missing")
def by_nccl_net_missing(run):
    """No plugin brings that network: NCCL ends the job, as it would alone; topoguard says why."""
    alone = run.run(INIT, name="alone", env={"NCCL_NET": "AWS Libfabric"})
    ours = run.run(INIT, name="ours", env=topoguard(run, NCCL_NET="AWS Libfabric"))
    expect_equal([result.status for result in ours], [result.status for result in alone], "exit statuses")
    for rank, result in enumerate(ours):
        expect(result.status != 0, f"rank {rank} came up without the network that the user asked for")
        expect(Announced(result).warned("base-network-missing"), f"rank {rank} does not say what is missing")


@row("nccl", "base-fails")
def fails(run):
    """The plugin's init() fails: NCCL's own transports, as NCCL alone would go on. (2.28.9 alone calls a NULL finalize() after a failed
    init() of a plugin older than v11, and dies; under topoguard it lives.)"""
    settings = {"FOREIGN_FAILS": "1"}
    expect_success(run.run(INIT, name="alone", env={"LD_LIBRARY_PATH": str(run.build.foreign("v11")), **settings}), "Socket")
    for version in ("v11", "v8"):
        expect_success(run.run(INIT, name=version, env=with_base(run, version, **settings)), "topoguard")
