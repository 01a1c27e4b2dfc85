# SPDX-License-Identifier: Apache-2.0
"""The rows: named tests, each a function of a Row, that is, a build and a scratch folder."""

import shutil
import subprocess
import tempfile
import traceback
from pathlib import Path

from .build import Build
from .job import Job, run_job
from .outcome import Failed, Skipped

SUITES = ("rig", "lab", "nccl")
_rows = {}


def row(suite, name):
    """Registers a function as row NAME of a suite; its docstring says what a user may expect."""
    assert suite in SUITES and name not in _rows

    def register(function):
        _rows[name] = (suite, function)
        return function
    return register


def names(suite):
    return [name for name, (own, _) in _rows.items() if own == suite]


class Row:
    def __init__(self, build, folder):
        self.build = build
        self.folder = Path(folder)
        self._jobs = 0

    def new_folder(self, name):
        self._jobs += 1
        return self.folder / f"{self._jobs}-{name}"

    def job(self, steps, name="job", **options):
        """A started job, for `with`."""
        return Job(self.build, self.new_folder(name), steps, **options)

    def run(self, steps, name="job", **options):
        return run_job(self.build, self.new_folder(name), steps, **options)


def run_row(build_folder, name):
    """Returns the exit status that meson understands, after saying why. The scratch folder stays after a failure."""
    suite, function = _rows[name]
    folder = Path(tempfile.mkdtemp(prefix=f"topoguard-{suite}-{name}-"))
    try:
        function(Row(Build(build_folder), folder))
    except Skipped as reason:
        print(f"SKIP: {reason}")
        status = 77
    except Failed as reason:
        print(f"FAILED: {reason}\nlogs: {folder}")
        return 1
    except (OSError, RuntimeError, subprocess.SubprocessError):
        traceback.print_exc()
        print(f"logs: {folder}")
        return 1
    except SystemExit:
        print(f"interrupted; logs: {folder}")
        raise
    else:
        status = 0
    shutil.rmtree(folder)
    return status
