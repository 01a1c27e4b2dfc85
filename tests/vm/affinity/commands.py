# SPDX-License-Identifier: Apache-2.0
"""Affinity by the two ways in that act before NCCL: `topoguard exec`, and the preload library in a program linked with NCCL."""
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from machine import BUILD, NCCL, SMALL
from table import NODE0, NODE1

TOPOGUARD = f"{BUILD}/tools/topoguard/topoguard"


def run(command, env):
    return subprocess.run(command, env={"PATH": os.environ["PATH"], **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)


def exec_(arguments, env, mask, node=None, says="bind-process"):
    """`topoguard exec`: CPUs and memory policy of the command, as the kernel and numactl tell them in the command."""
    script = "grep Cpus_allowed_list /proc/self/status; numactl --show"
    ended = run([TOPOGUARD, "exec", "--verbose", "--libraries", f"{BUILD}/plugin/net", *arguments, "--", "sh", "-c", script], env)
    seen = f"stdout {ended.stdout!r} stderr {ended.stderr!r}"
    found = re.search(r"Cpus_allowed_list:\s*(\S+)", ended.stdout)
    if ended.returncode != 0 or not found or found.group(1) != mask:
        return f"wanted CPUs {mask}: status {ended.returncode} {seen}"
    # A kernel that has it gets MPOL_PREFERRED_MANY, with "preferred: NODE" at the end.
    many = re.search(r"policy: preferred-many\n.*^preferred: (\S+)", ended.stdout, re.S | re.M)
    one = re.search(r"policy: preferred\npreferred node: (\S+)", ended.stdout)
    preferred = (many or one).group(1) if many or one else None
    if preferred != (str(node) if node is not None else None) or (node is None and "policy: default\n" not in ended.stdout):
        return f"wanted memory preferably from node {node}: {seen}"
    return "" if says in ended.stderr else f"wanted to hear {says}: {seen}"


def preload(gpu, env, mask, says):
    """A program linked with NCCL, one communicator of one rank; the communicator's size is known here, unlike in a net plugin."""
    with tempfile.TemporaryDirectory() as folder:
        for library in ("plugin/net/libnccl-net-topoguard.so", "plugin/preload/libtopoguard.so"):  # as an installation has them
            (Path(folder) / Path(library).name).symlink_to(f"{BUILD}/{library}")
        log = Path(folder) / "nccl.log"
        ended = run([f"{BUILD}/tests/ways/linked_rank", "--rank", "0", "--ranks", "1", "--exchange", folder, "--report", f"{folder}/report",
                     "init", "facts"],
                    {**SMALL, "LD_LIBRARY_PATH": f"{NCCL}:{folder}:{BUILD}/tests/fakecuda/nvml", "FAKECUDA_BUSIDS": gpu,
                     "LD_PRELOAD": f"{folder}/libtopoguard.so:{BUILD}/tests/vm/libcuda.so.1",
                     "NCCL_DEBUG_FILE": str(log), **env})
        text = log.read_text(errors="replace") if log.exists() else ""
        steps = {step["step"]: step for step in map(json.loads, (Path(folder) / "report").read_text().splitlines())} \
            if (Path(folder) / "report").exists() else {}
    said = re.findall(r"topoguard: (affinity: .*)", text)
    seen = f"status {ended.returncode}, said {said}, stderr {ended.stderr[-400:]!r}"
    if ended.returncode != 0 or "facts" not in steps:
        return seen
    found = steps["facts"]["value"]["mask"]
    if found != mask:
        return f"wanted CPUs {mask}, found {found}: {seen}"
    return "" if said and all(says in line for line in said) else f"wanted to hear {says}: {seen}"


TWO = {"LOCAL_WORLD_SIZE": "2"}
CHECKS = {
    "exec-named": lambda: exec_(["--gpu", NODE1], {}, "2-3"),
    "exec-local-rank": lambda: exec_([], {**TWO, "LOCAL_RANK": "1"}, "2-3"),
    "exec-only-rank": lambda: exec_([], {"LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}, "0-3", says="only-rank"),
    "exec-memory": lambda: exec_(["--gpu", NODE1], {"TOPOGUARD_MEMBIND": "preferred"}, "2-3", node=1),
    "preload-node1": lambda: preload(NODE1, {**TWO, "LOCAL_RANK": "1"}, "2-3", "already-bound"),
    "preload-only-rank": lambda: preload(NODE0, {}, "0-3", "only-rank"),
}
