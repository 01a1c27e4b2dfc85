# SPDX-License-Identifier: Apache-2.0
"""The rig itself, on stock NCCL: what these show must hold before any row with topoguard means anything."""

import os
import signal
import subprocess
import sys

from rig.build import clean_environment
from rig.job import RankSpec, expect_success
from rig.outcome import Skipped, expect, expect_equal
from rig.rows import row


@row("rig", "stock-init")
def stock_init(run):
    """Two ranks of real NCCL as two hosts, over its own Socket transport; nothing on standard output."""
    results = run.run(["init", "destroy"])
    expect_success(results, "Socket")
    for result in results:
        expect_equal(result.stdout, "", "standard output")


@row("rig", "stock-init-config")
def stock_init_config(run):
    expect_success(run.run(["init-config", "destroy"]), "Socket")


@row("rig", "stock-abort-after-allreduce")
def stock_abort(run):
    """Kernels are no-ops in the rig: a collective starts and never ends, abort gets out of it."""
    expect_success(run.run(["init", "allreduce", "abort", "init", "abort"]), "Socket", communicators=2)


@row("rig", "stock-split")
def stock_split(run):
    results = run.run(["init", "split", "split-share", "destroy-all"])
    expect_success(results, "Socket", communicators=3)


@row("rig", "stock-threads")
def stock_threads(run):
    expect_success(run.run(["threads:4", "destroy-all"]), "Socket", communicators=4)


@row("rig", "stock-reload")
def stock_reload(run):
    """libnccl closed and opened at another address, as frameworks do that load and unload it."""
    expect_success(reloaded(run, {}), "Socket", communicators=2)


def reloaded(run, env):
    results = run.run(["init", "destroy", "reload", "init", "destroy"], env=env, log_to="stdout")
    if all("still mapped after dlclose" in result.stderr for result in results):
        raise Skipped(f"{run.build.libnccl} stays in memory after dlclose, so no program can open it elsewhere")
    for result in results:
        moved = result.value("reload")
        expect(moved and moved["before"] != moved["after"], f"libnccl was not opened at another address: {result.stderr.strip()}")
    return results


TWO_GPUS = {"FAKECUDA_BUSIDS": "0000:a0:00.0,0000:b0:00.0"}
ONLY_NET = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}


@row("rig", "stock-two-gpus-one-process")
def stock_two_gpus(run):
    results = run.run(["all:2", "destroy-all"], ranks=1, env={**TWO_GPUS, **ONLY_NET})
    expect_success(results, "Socket", communicators=2)


@row("rig", "stock-one-host")
def stock_one_host(run):
    """Two ranks of one host, each with its own visible GPU and CPU."""
    ranks = [RankSpec(env={"CUDA_VISIBLE_DEVICES": str(index)}, cpus=cpus, host="same")
             for index, cpus in enumerate(one_cpu_each())]
    results = run.run(["init", "facts", "destroy"], ranks=ranks, env={**TWO_GPUS, **ONLY_NET})
    expect_success(results, "Socket")
    expect_equal([result.value("facts")["mask"] for result in results], one_cpu_each(), "CPU masks")
    for index, bus in enumerate(["a0000", "b0000"]):
        expect(results[index].log.has(rf"busId {bus} .* Init COMPLETE"), f"rank {index} is not on GPU {bus}")


def one_cpu_each():
    cpus = sorted(os.sched_getaffinity(0))
    return [str(cpus[0]), str(cpus[-1])]


@row("rig", "stock-stripped")
def stock_stripped(run):
    """A stripped libnccl still runs in the rig (its unstripped twin says where the CUDA runtime is)."""
    copy, env = stripped_libnccl(run)
    expect_success(run.run(["init", "destroy"], libnccl=copy, env=env), "Socket")


def stripped_libnccl(run):
    """A copy without .symtab, as some distributions install it, and what the redirect needs to know about it."""
    copy = run.folder / "libnccl.so.2"
    subprocess.run(["strip", "--strip-unneeded", "-o", copy, run.build.libnccl], check=True, timeout=300)
    return copy, {"FAKECUDA_SYMBOLS": str(run.build.libnccl)}


@row("rig", "preload")
def preload(run):
    """A program that knows nothing of the rig: Python opens libnccl by ctypes, the preloaded redirect does the rest."""
    program = ("import ctypes, sys; nccl = ctypes.CDLL(sys.argv[1]); comm = ctypes.c_void_p(); "
               "sys.exit(nccl.ncclCommInitAll(ctypes.byref(comm), 1, None) or nccl.ncclCommDestroy(comm))")
    env = clean_environment()
    env["LD_LIBRARY_PATH"] = f"{run.build.fake_nvml}:{run.build.forbidden_cuda}"
    command = [sys.executable, "-c", program, run.build.libnccl]
    with_redirect = {**env, "LD_PRELOAD": str(run.build.folder / "tests/fakecuda/libfakecuda-preload.so")}
    done = subprocess.run(command, env=with_redirect, capture_output=True, text=True, timeout=120)
    expect_equal((done.returncode, done.stderr), (0, ""), "exit status and stderr with the redirect")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    expect(done.returncode != 0, "the same program works without the redirect: is there a real GPU?")


@row("rig", "forbidden-libraries-abort")
def forbidden_libraries_abort(run):
    """The libraries that prove what topoguard never calls do end a program that calls them."""
    calls = [(run.build.forbidden_cuda / "libcuda.so.1", "cuInit"), (run.build.forbidden_nvml / "libnvidia-ml.so.1", "nvmlInit_v2"),
             (run.build.fake_nvml / "libnvidia-ml.so.1", "nvmlInit_v2")]
    # libffi makes the call for ctypes, so that is the caller that the fake NVML sees.
    env = {**clean_environment(), "FAKECUDA_NVML_FORBID": "libffi"}
    for library, function in calls:
        program = f"import ctypes; ctypes.CDLL({str(library)!r}).{function}(0)"
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
        expect_equal(done.returncode, -signal.SIGABRT, f"exit status of {function} in {library}")
        expect(f"forbidden: {function}" in done.stderr, f"{library} does not say what was called: {done.stderr}")
