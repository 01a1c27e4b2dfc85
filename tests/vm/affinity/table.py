# SPDX-License-Identifier: Apache-2.0
"""Every row of the affinity policy (docs/rules.md) on a machine with CPUs 0 and 1 on node 0, 2 and 3 on node 1.

A row is one job. `masks`: after each communicator, what each kind of thread may use. "nccl" are NCCL's own threads; where that is
missing they are not looked at: NCCL places some of them on the GPU's CPUs by itself. `says`: the reason in topoguard's line about
each communicator, None where it must say nothing.
"""
from dataclasses import dataclass, field

NODE0, NODE1 = "0000:24:00.0", "0000:44:00.0"  # GPUs' bus ids
ALL, ON_0, ON_1 = "0-3", "0-1", "2-3"
TWO_RANKS = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}


@dataclass
class Row:
    name: str
    says: list
    masks: list
    steps: tuple = ("worker", "init")
    gpus: tuple = (NODE0,)
    env: dict = field(default_factory=dict)
    launcher: dict = field(default_factory=lambda: TWO_RANKS)
    taskset: str = None
    cpuset: str = None    # of a cgroup
    context: bool = True  # a CUDA context is current


def unbound(mask):
    return {"main": mask, "worker": mask}


def whole(mask):
    return {**unbound(mask), "nccl": mask}


def left(name, reason, **options):
    """A row that changes nothing."""
    return Row(name, [reason], [unbound(options.pop("mask", ALL))], **options)


def affinity(mode):
    return {"TOPOGUARD_AFFINITY": mode}


ROWS = [
    # auto binds: process, helpers and NCCL's threads; each API; each node.
    Row("auto-node0", ["bind-process"], [whole(ON_0)]),
    Row("auto-node1-config", ["bind-process"], [whole(ON_1)], gpus=(NODE1,), steps=("worker", "init-config")),
    Row("auto-second-device", ["bind-process"], [whole(ON_1)], gpus=(NODE0, NODE1), steps=("worker", "device:1", "init")),
    Row("auto-from-a-thread", ["bind-process"], [{**whole(ON_1), "caller": ON_1}], gpus=(NODE1,), steps=("worker", "thread-init")),
    Row("auto-again", ["bind-process", "already-bound"], [whole(ON_0)] * 2, steps=("worker", "init", "init-config")),
    Row("pinned-kept", ["bind-process"], [{**whole(ON_0), "pinned": "3"}], steps=("worker", "pinned:3", "init")),
    Row("openmp-false", ["bind-process"], [whole(ON_0)], env={"OMP_PROC_BIND": "false"}),
    # auto leaves alone.
    left("taskset", "mask-narrowed", taskset="0-2", mask="0-2"),
    left("cgroup-cpuset", "mask-narrowed", cpuset="1-3", mask="1-3"),
    left("omp-proc-bind", "openmp-bound", env={"OMP_PROC_BIND": "close"}),
    left("gomp-cpu-affinity", "openmp-bound", env={"GOMP_CPU_AFFINITY": "0-3"}),
    left("kmp-affinity", "openmp-bound", env={"KMP_AFFINITY": "granularity=fine,compact"}),
    left("only-rank", "only-rank", launcher={"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}),
    left("ranks-unknown", "ranks-unknown", launcher={}),
    left("no-context", "gpu-unknown", context=False),
    left("no-such-gpu", "numa-unknown", gpus=("0000:99:00.0",)),
    Row("two-nodes", ["bind-process", "undone"], [whole(ON_0), unbound(ALL)], gpus=(NODE0, NODE1),
        steps=("worker", "init", "device:1", "init")),
    # Never empty, never an error.
    left("empty", "affinity-empty", taskset="2-3", mask=ON_1, env=affinity("process")),
    left("forbidden", "not-permitted", steps=("worker", "forbid", "init")),
    # The modes.
    Row("process-narrowed", ["bind-process"], [whole("2")], gpus=(NODE1,), taskset="0-2", env=affinity("process")),
    Row("process-cpuset", ["bind-process"], [whole("1")], cpuset="1-3", env=affinity("process")),
    Row("process-only-rank", ["bind-process"], [whole(ON_1)], gpus=(NODE1,), launcher={}, env=affinity("process")),
    Row("process-both-nodes", ["bind-process", "nothing-to-narrow"], [whole(ON_0), unbound(ALL)], gpus=(NODE0, NODE1),
        steps=("worker", "init", "device:1", "init"), env=affinity("process")),
    left("process-already-there", "nothing-to-narrow", taskset=ON_0, mask=ON_0, env=affinity("process")),
    Row("thread", ["bind-thread"], [{**unbound(ALL), "caller": ON_1}], gpus=(NODE1,),
        steps=("worker", "thread-init"), env=affinity("thread")),
    left("affinity-off", "switched off", env=affinity("off")),
    left("observe", "observe", env={"TOPOGUARD_MODE": "observe"}),
    left("mode-off", None, env={"TOPOGUARD_MODE": "off"}),
]
