# SPDX-License-Identifier: Apache-2.0
"""The net plugin in real jobs: communicators come and go in every way that programs know, and run over topoguard each time."""

import subprocess

from rig.announced import Announced
from rig.build import clean_environment
from rig.job import RankSpec, expect_success
from rig.outcome import expect, expect_equal
from rig.rows import row

from .stock import ONLY_NET, TWO_GPUS, one_cpu_each, reloaded

CHANNEL_LINES = 4  # per rank and communicator of two ranks on one net device: two channels, send and receive


def topoguard(run, **settings):
    """The environment of a job that names topoguard, and nothing else."""
    return {"NCCL_NET_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(run.build.plugin.parent), **settings}


def expect_no_warnings(results):
    for rank, result in enumerate(results):
        expect_equal(Announced(result).warnings, [], f"topoguard's warnings on rank {rank}")


def expect_topoguard(results, communicators=1, connected=None):
    """Every communicator runs over topoguard, which says so once and warns of nothing."""
    expect_success(results, "topoguard", communicators)
    for rank, result in enumerate(results):
        expect_equal(len(result.log.channels), CHANNEL_LINES * (connected or communicators), f"channel lines of rank {rank}")
        expect_equal(result.log.count(r"topoguard \S+ in NCCL "), 1, f"topoguard's header lines of rank {rank}")
        expect_equal(result.log.count(r"Using network topoguard"), communicators, f"'Using network' lines of rank {rank}")
    expect_no_warnings(results)


@row("nccl", "init")
def init(run):
    """It says which topoguard runs in which NCCL, what it decided and why; standard output stays empty."""
    results = run.run(["init", "destroy"], env=topoguard(run))
    expect_topoguard(results)
    for rank, result in enumerate(results):
        said = Announced(result)
        expect(str(run.build.libnccl) in said.header, f"rank {rank}: the header does not name {run.build.libnccl}: {said.header}")
        expect("under topoguard" in (said.way or ""), f"rank {rank} does not say how it takes part: {said.way}")
        chosen = [name for name, (verdict, _) in said.devices.items() if verdict == "chosen"]
        expect_equal(chosen, result.log.socket_devices, f"devices chosen on rank {rank}")
        expect_equal(result.stdout, "", "standard output")
        expect_equal(result.stderr, "", "stderr")


@row("nccl", "init-20-times")
def init_20_times(run):
    for attempt in range(20):
        results = run.run(["init", "destroy"], name=f"attempt-{attempt}", env=topoguard(run))
        expect_topoguard(results)


@row("nccl", "init-config")
def init_config(run):
    expect_topoguard(run.run(["init-config", "destroy"], env=topoguard(run)))


@row("nccl", "destroy-and-again")
def destroy_and_again(run):
    """NCCL 2.28 forgets the plugin's name when the last communicator goes; the next one must run over topoguard all the same."""
    steps = ["init", "destroy", "init", "allreduce", "abort", "init-config", "destroy"]
    expect_topoguard(run.run(steps, env=topoguard(run)), communicators=3)


@row("nccl", "reload")
def reload(run):
    """libnccl closed and opened at another address: nothing of the old one is called."""
    results = reloaded(run, topoguard(run))
    expect_success(results, "topoguard", communicators=2)
    expect_no_warnings(results)


@row("nccl", "split")
def split(run):
    """Children with and without the parent's resources; the one that shares them connects nothing of its own."""
    results = run.run(["init", "split", "split-share", "destroy-all"], env=topoguard(run))
    stock = run.run(["init", "split", "split-share", "destroy-all"], name="stock")
    expect_success(stock, "Socket", communicators=3)
    expect_success(results, "topoguard", communicators=3)
    for rank, result in enumerate(results):
        expect_equal(len(result.log.channels), len(stock[rank].log.channels), f"channel lines of rank {rank}")
    expect_no_warnings(results)


@row("nccl", "threads")
def threads(run):
    expect_topoguard(run.run(["threads:4", "destroy-all"], env=topoguard(run)), communicators=4)


@row("nccl", "two-gpus-one-process")
def two_gpus_one_process(run):
    results = run.run(["all:2", "destroy-all"], ranks=1, env=topoguard(run, **TWO_GPUS, **ONLY_NET))
    expect_success(results, "topoguard", communicators=2)
    expect_equal(results[0].log.count(r"topoguard \S+ in NCCL "), 1, "topoguard's header lines")
    expect_no_warnings(results)


@row("nccl", "one-host")
def one_host(run):
    """Two ranks of one host with different visible GPUs and CPUs decide the same about devices: NCCL fuses their lists by number."""
    ranks = [RankSpec(env={"CUDA_VISIBLE_DEVICES": str(index), "LOCAL_RANK": str(index)}, cpus=cpus, host="same")
             for index, cpus in enumerate(one_cpu_each())]
    results = run.run(["init", "destroy"], ranks=ranks, env=topoguard(run, **TWO_GPUS, **ONLY_NET))
    expect_success(results, "topoguard")
    first, second = (Announced(result) for result in results)
    expect(first.devices, "rank 0 lists no device")
    expect_equal(second.devices, first.devices, "devices as rank 1 has them")
    expect_equal(results[1].log.socket_devices, results[0].log.socket_devices, "net devices of rank 1")


@row("nccl", "one-rank-without")
def one_rank_without(run):
    """Half of the hosts have topoguard: both halves run, and talk to each other."""
    results = run.run(["init", "destroy"], ranks=[RankSpec(env=topoguard(run)), RankSpec()])
    expect_success(results[:1], "topoguard")
    expect_success(results[1:], "Socket")


@row("nccl", "without-nccl")
def without_nccl(run):
    """A program that loads the plugin and calls every table's init() with a logger of its own: no CUDA, no NVML, no crash."""
    env = clean_environment()
    env["LD_LIBRARY_PATH"] = f"{run.build.forbidden_nvml}:{run.build.forbidden_cuda}"
    done = subprocess.run([run.build.alone, run.build.plugin], env=env, capture_output=True, text=True, timeout=120)
    expect_equal(done.returncode, 0, f"exit status (stderr: {done.stderr.strip()})")
    expect_equal(done.stdout.split(), [f"v{version}" for version in range(6, 13)], "tables that were called")


@row("nccl", "leaves-no-trace")
def leaves_no_trace(run):
    """No thread, no open file, no variable and no output more than stock has, where nothing had to be changed."""
    steps = ["init", "facts", "destroy", "facts"]
    quiet = {"NCCL_RAS_ENABLE": "0"}  # its own thread opens and closes sockets whenever it likes
    stock = run.run(steps, name="stock", env=quiet)
    ours = run.run(steps, name="topoguard", env=topoguard(run, **quiet))
    expect_success(stock, "Socket")
    expect_topoguard(ours)
    for rank, (own, plain) in enumerate(zip(ours, stock)):
        for occurrence in range(2):
            with_us, without = own.value("facts", occurrence), plain.value("facts", occurrence)
            for fact in ("threads", "mask"):
                expect_equal(with_us[fact], without[fact], f"{fact} of rank {rank}")
            expect_equal(open_files(with_us), open_files(without), f"open files of rank {rank}")
        added = set(own.value("facts")["environment"]) - set(plain.value("facts")["environment"])
        expect_equal(added, {"NCCL_NET_PLUGIN"}, f"variables that rank {rank} has and stock has not")
        expect_equal(own.stdout, "", "standard output")


def open_files(facts):
    """Names without what differs from run to run: the scratch folder and NCCL's random names."""
    return sorted("nccl-shm" if "/dev/shm/nccl-" in name else name.rsplit("/", 1)[-1] for name in facts["fds"])
