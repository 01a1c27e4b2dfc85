# SPDX-License-Identifier: Apache-2.0
"""Builds the examples' images with podman and runs jobs in them. Started by tests/examples/images in private namespaces."""
import argparse
import shutil
import sys
import traceback
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "container"))

from podman import Podman  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
BASE = "topoguard-test"  # the name that tests/container/podman.py runs
NETWORK, SUBNET = "topoguard", "10.89.78.0/24"
RIG = "libelf.so.1", "libz.so.1"  # what the rank program needs and a bare Debian lacks


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def build(podman, arguments, dockerfile, tag):
    """In a folder with the example, the tarball and the settings beside it, as docs/deploy.md says."""
    folder = podman.work / tag
    folder.mkdir()
    tarball, = (path for path in Path(arguments.packages).glob("topoguard-*-linux-x86_64.tar.gz"))
    shutil.copy(tarball, folder)
    shutil.copy(SOURCE / "examples/topoguard.conf", folder)
    shutil.copy(SOURCE / "examples" / dockerfile, folder / "Dockerfile")
    # chroot isolation and the host's network: no bridge is needed to unpack a file.
    podman("build", "--isolation", "chroot", "--network", "host", "--build-arg", f"BASE=localhost/{BASE}", "--tag", tag, folder)


def run(podman, image, name, volumes, env, *command):
    first, *words = podman.run_arguments(name, NETWORK, volumes, env, command)
    # NCCL takes 34 MB of shared memory a rank for its proxies; containers have 64 MB by default.
    return podman(first, "--shm-size", "1g", *[image if word == BASE else word for word in words])


def rig(podman, arguments):
    """What the two ranks need, which is no part of an image."""
    folder = podman.work / "rig"
    if not folder.exists():
        folder.mkdir()
        for name in RIG:
            shutil.copy(Path("/usr/lib/x86_64-linux-gnu") / name, folder)
    return {arguments.build: "/build:ro", Path(arguments.nccl).resolve().parent: "/libnccl:ro", SOURCE / "tests": "/source/tests:ro",
            folder: "/rig:ro"}


def job(*env):
    return ["/source/tests/release/job", "/tmp/job", "/libnccl/libnccl.so.2", "/build", "LD_LIBRARY_PATH=/build/tests/fakecuda/nvml:/rig", *env]


def image_needs_no_variable(podman, arguments):
    build(podman, arguments, "Dockerfile", "with-topoguard")
    out = run(podman, "with-topoguard", "job", rig(podman, arguments), {}, *job())
    expect("topoguard" in out, out)
    print("   " + out.strip().splitlines()[-1])


def command_works_in_it(podman, _arguments):
    out = run(podman, "with-topoguard", "doctor", {}, {}, "sh", "-c", "/opt/topoguard/bin/topoguard doctor; [ $? -le 2 ]")
    expect("lo" in out, out)


def pod_with_a_carrier(podman, arguments):
    """The init container and the container of kubernetes.yaml, by podman: an emptyDir is a folder, the variables are the YAML's."""
    build(podman, arguments, "Dockerfile.carrier", "topoguard-carrier")
    spec = yaml.safe_load((SOURCE / "examples/kubernetes.yaml").read_text())["spec"]
    (carrier,), (pod,) = spec["initContainers"], spec["containers"]
    volume = podman.work / "emptydir"
    volume.mkdir()
    run(podman, carrier["image"], "init", {volume: carrier["volumeMounts"][0]["mountPath"]}, {}, *carrier.get("command", []))
    mount = pod["volumeMounts"][0]
    variables = [f"{entry['name']}={entry['value']}" for entry in pod["env"]]
    expect("TOPOGUARD_MODE=observe" in variables, f"{variables}")
    volumes = {**rig(podman, arguments), volume: mount["mountPath"] + (":ro" if mount.get("readOnly") else "")}
    # As the YAML has it, topoguard observes: NCCL's own transport, and topoguard's block in the log.
    out = run(podman, BASE, "pod", volumes, {}, "sh", "-c", '"$@" >/dev/null; cat /tmp/job/nccl0 /tmp/job/nccl1', "sh", *job(*variables))
    expect("mode observe" in out and out.count("Init COMPLETE") == 2 and "via NET/topoguard" not in out, f"the pod's job: {out[-1500:]}")
    run(podman, BASE, "pod-enforce", volumes, {}, *job(*variables, "TOPOGUARD_MODE=enforce"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--packages", "--build", "--nccl", "--root", "--work", "--cgroup"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    podman = Podman(arguments.work, arguments.cgroup)
    try:
        podman("import", arguments.root, BASE)
        podman("network", "create", "--disable-dns", "--subnet", SUBNET, NETWORK)
        podman(*podman.run_arguments("try", NETWORK, {}, {}, ["true"]))
    except (RuntimeError, OSError) as error:
        print(f"SKIP: podman cannot run a container here: {error}")
        return 77
    failed = 0
    for row in (image_needs_no_variable, command_works_in_it, pod_with_a_carrier):
        try:
            row(podman, arguments)
            print(f"ok {row.__name__}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL {row.__name__} {error}", flush=True)
            if not isinstance(error, (AssertionError, RuntimeError)):
                traceback.print_exc()
    podman("rm", "--all", "--force")
    podman("network", "rm", "--force", NETWORK)
    podman("rmi", "--all", "--force")
    return 1 if failed else 0


sys.exit(main())
