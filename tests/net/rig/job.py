# SPDX-License-Identifier: Apache-2.0
"""One job: several ranks of real NCCL, each a process of tests/net/rank."""

import json
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

from .build import clean_environment
from .log import Log
from .outcome import expect, expect_equal
from .processes import Process

TIMEOUT = 120  # seconds; a guard against hangs, no measure of anything


@dataclass
class RankSpec:
    """What makes one rank different from the others."""
    env: dict = field(default_factory=dict)
    namespace: str = None
    cpus: str = None     # taskset list
    device: int = 0
    host: str = None     # NCCL_HOSTID; by default each rank is a host of its own


@dataclass
class RankResult:
    status: int          # exit status, None: killed at the time limit
    log: Log
    stdout: str
    stderr: str
    steps: list          # the rank program's report

    def value(self, step, occurrence=0):
        values = [entry.get("value") for entry in self.steps if entry["step"] == step]
        expect(len(values) > occurrence, f"step {step} did not run; stderr: {self.stderr.strip()}")
        return values[occurrence]


class Job:
    """Runs in `folder` (made anew). `env` is for all ranks, on top of what the rig itself needs.

    log_to="file" keeps standard output free, so that it can be asserted to be empty; "stdout" keeps the lines of a
    libnccl that was closed and opened again (NCCL truncates its file when it is opened)."""

    def __init__(self, build, folder, steps, ranks=2, env=None, libnccl=None, log_to="file"):
        self.build = build
        self.folder = Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "exchange").mkdir(parents=True)
        self.steps = list(steps)
        self.specs = list(ranks) if not isinstance(ranks, int) else [RankSpec() for _ in range(ranks)]
        self.env = dict(env or {})
        self.libnccl = libnccl or build.libnccl
        self.log_to = log_to
        self.processes = []

    def __enter__(self):
        for rank in range(len(self.specs)):
            self.processes.append(self._start(rank))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()

    def _environment(self, rank):
        spec = self.specs[rank]
        env = clean_environment()
        env.update({
            "NCCL_HOSTID": spec.host or f"host{rank}",
            "NCCL_RUNTIME_CONNECT": "0",
            "NCCL_DEBUG": "INFO",
            "NCCL_CONF_FILE": "/dev/null",
            "FAKECUDA_TRACE": str(self.folder / f"cuda{rank}"),
            "FAKECUDA_NVML_FORBID": "topoguard",
        })
        if self.log_to == "file":
            env["NCCL_DEBUG_FILE"] = str(self.folder / f"nccl{rank}.log")
        env.update(self.env)
        env.update(spec.env)
        search = [self.build.fake_nvml, self.build.forbidden_cuda]
        env["LD_LIBRARY_PATH"] = ":".join([*map(str, search), *filter(None, [env.get("LD_LIBRARY_PATH")])])
        return env

    def _start(self, rank):
        spec = self.specs[rank]
        command = [self.build.rank, "--libnccl", self.libnccl, "--rank", rank, "--ranks", len(self.specs),
                   "--device", spec.device, "--exchange", self.folder / "exchange",
                   "--report", self.folder / f"report{rank}", *self.steps]
        return Process(command, self._environment(rank), self.folder / f"stdout{rank}", self.folder / f"stderr{rank}",
                       spec.namespace, spec.cpus)

    def wait_held(self, name, timeout=TIMEOUT):
        """Until all ranks stand at step hold:NAME, or one has ended. True: they stand."""
        deadline = time.monotonic() + timeout
        waiting = [self.folder / "exchange" / f"held.{name}.{rank}" for rank in range(len(self.specs))]
        while time.monotonic() < deadline and all(process.running for process in self.processes):
            if all(path.exists() for path in waiting):
                return True
            time.sleep(0.02)
        return False

    def release(self, name):
        (self.folder / "exchange" / f"release.{name}").touch()

    def results(self, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        statuses = [process.wait(deadline) for process in self.processes]
        return [self._result(rank, status) for rank, status in enumerate(statuses)]

    def _result(self, rank, status):
        process = self.processes[rank]
        log = self.folder / f"nccl{rank}.log"
        text = process.stdout if self.log_to == "stdout" else log.read_text(errors="replace") if log.exists() else ""
        report = self.folder / f"report{rank}"
        steps = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        return RankResult(status, Log(text), process.stdout, process.stderr, steps)


def run_job(build, folder, steps, timeout=TIMEOUT, **options):
    """Starts a job, waits for its end and returns the ranks' results, whatever they are."""
    with Job(build, folder, steps, **options) as job:
        return job.results(timeout)


def expect_success(results, net, communicators=1):
    """All ranks ended well, each init completed, and all data connections run over `net` (NCCL falls back silently)."""
    for rank, result in enumerate(results):
        expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
        expect_equal(result.log.complete, communicators, f"'Init COMPLETE' lines of rank {rank}")
        expect_equal(result.log.nets, {net}, f"nets of the channels of rank {rank}")
