# SPDX-License-Identifier: Apache-2.0
"""The net plugin in real jobs."""


def topoguard(run, **settings):
    """The environment of a job that names topoguard, and nothing else."""
    return {"NCCL_NET_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(run.build.plugin.parent), **settings}
