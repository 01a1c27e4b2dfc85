# SPDX-License-Identifier: Apache-2.0
"""Where the built files of one build folder are."""

import os
import subprocess
from pathlib import Path

from .outcome import Failed, Skipped, expect

SOURCE = Path(__file__).resolve().parents[3]


class Build:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.rank = self._built("tests/net/rank")
        self.mover = self._built("tests/net/mover")
        self.alone = self._built("tests/net/alone")
        self.fake_nvml = self._built("tests/fakecuda/nvml/libnvidia-ml.so.1").parent
        self.forbidden_cuda = self._built("tests/fakecuda/forbidden/cuda/libcuda.so.1").parent
        self.forbidden_nvml = self._built("tests/fakecuda/forbidden/nvml/libnvidia-ml.so.1").parent
        self.foreign_plugin = self.foreign("v11")
        self._libnccl = None

    def _built(self, path):
        full = self.folder / path
        expect(full.exists(), f"{full} is not built")
        return full

    def foreign(self, version):
        """The folder of somebody else's libnccl-net.so, of one API version: v8, v10, v11 or v12."""
        return self._built(f"tests/net/foreign/{version}/libnccl-net.so").parent

    @property
    def plugin(self):
        """The net plugin as it is shipped."""
        return self._built("plugin/net/libnccl-net-topoguard.so")

    @property
    def libnccl(self):
        """A real libnccl.so.2: tools/libnccl knows where from."""
        if self._libnccl is None:
            found = subprocess.run([SOURCE / "tools/libnccl"], capture_output=True, text=True, timeout=600)
            if found.returncode == 3:
                raise Skipped(f"no libnccl.so.2: {found.stderr.strip()}")
            if found.returncode != 0:
                raise Failed(f"tools/libnccl: {found.stderr.strip()}")
            self._libnccl = found.stdout.strip()
        return self._libnccl


def clean_environment():
    """This process's environment without anything that steers NCCL, CUDA, topoguard or the loader."""
    steering = ("NCCL_", "TOPOGUARD_", "CUDA_", "FAKECUDA_", "LD_", "MASTER_", "SLURM_", "OMPI_", "PMI", "LOCAL_RANK", "RANK")
    return {name: value for name, value in os.environ.items() if not name.startswith(steering)}
