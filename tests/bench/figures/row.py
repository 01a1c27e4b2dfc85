# SPDX-License-Identifier: Apache-2.0
"""A row of the table, and what the rows share."""

import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from rig.build import SOURCE, Build
from rig.outcome import Failed


@dataclass
class Row:
    what: str
    opponent: str
    measured: str = ""
    goal: str = ""
    met: bool = None      # None: not measured here
    why: str = ""         # the distance and its cause, or why it was not measured
    data: dict = field(default_factory=dict)

    def verdict(self):
        said = "not measured" if self.met is None else "met" if self.met else "**missed**"
        return f"{said}: {self.why}" if self.why else said


class Bench:
    """Where things are, and how long a figure may take."""

    def __init__(self, folder, scratch, quick=False):
        self.build = Build(folder)
        self.folder = Path(folder).resolve()
        self.scratch = Path(scratch)
        self.quick = quick

    def rounds(self, full):
        return max(full // 5, 3) if self.quick else full

    def built(self, path):
        full = self.folder / path
        if not full.exists():
            raise Failed(f"{full} is not built: ninja -C {self.folder.name} bench-programs")
        return full

    @property
    def tool(self):
        return self.built("tools/topoguard/topoguard")


def output(command, timeout=300, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{Path(str(command[0])).name} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def spread(values):
    """Median, 10% and 90% of a list."""
    ordered = sorted(values)
    tenth = lambda share: ordered[round(share * (len(ordered) - 1))]  # noqa: E731
    return {"median": statistics.median(ordered), "low": tenth(0.1), "high": tenth(0.9), "samples": len(ordered)}


def shown(values, unit, digits=2):
    """"1.23 ms (1.20 to 1.40)" of spread()."""
    return f"{values['median']:.{digits}f} {unit} ({values['low']:.{digits}f} to {values['high']:.{digits}f})"


SOURCE_ROOT = SOURCE
