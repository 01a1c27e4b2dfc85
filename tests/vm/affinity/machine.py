# SPDX-License-Identifier: Apache-2.0
"""The test machine as the affinity rows need it."""
import subprocess
from pathlib import Path

BUILD, NCCL = "/mnt/build", "/mnt/nccl"
GPUS = ("0000:24:00.0", "0000:44:00.0")
# NCCL at its smallest: an emulated machine takes a second for what it would do with 64 channels of 4 MiB.
SMALL = {"NCCL_MIN_NCHANNELS": "1", "NCCL_MAX_NCHANNELS": "1", "NCCL_BUFFSIZE": "65536", "NCCL_RAS_ENABLE": "0", "NCCL_RUNTIME_CONNECT": "0",
         "NCCL_DEBUG": "INFO"}
CGROUPS = Path("/sys/fs/cgroup")


def prepare():
    # Stand-ins become NVIDIA 3D controllers for whoever reads sysfs; their place and NUMA node stay the kernel's own.
    for gpu in GPUS:
        for name, value in (("vendor", "0x10de"), ("class", "0x030200")):
            faked = Path(f"/run/{gpu}-{name}")
            faked.write_text(value + "\n")
            subprocess.run(["mount", "--bind", faked, f"/sys/bus/pci/devices/{gpu}/{name}"], check=True)
    for number, nic in enumerate(("nic0", "nic1")):
        subprocess.run(["ip", "addr", "add", f"10.99.{number}.1/24", "dev", nic], check=True)
        subprocess.run(["ip", "link", "set", nic, "up"], check=True)
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", CGROUPS], check=True)
    (CGROUPS / "cgroup.subtree_control").write_text("+cpuset")


def in_cpuset(cpus, command):
    """The command, to be run in a cgroup (v2) whose cpuset is `cpus`."""
    group = CGROUPS / f"cpus-{cpus}"
    group.mkdir(exist_ok=True)
    (group / "cpuset.cpus").write_text(cpus)
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command]
