# SPDX-License-Identifier: Apache-2.0
"""What holds in real containers on a bridge network. Started by tests/container/run in private namespaces; a line per row."""
import argparse
import json
import re
import sys
import traceback
from pathlib import Path

from podman import Podman, TIMEOUT

NETWORK, SUBNET = "topoguard", "10.89.77.0/24"
TOOL = "/build/tools/topoguard/topoguard"


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def volumes(arguments, exchange):
    return {arguments.build: "/build:ro", Path(arguments.nccl).resolve().parent: "/nccl:ro", exchange: "/exchange"}


def eth0_is_right(podman, arguments):
    """eth0 is a veth whose peer is in another namespace, and the container's only way out: chosen, and nothing is set."""
    exchange = podman.work / "look"
    exchange.mkdir()
    podman(*podman.run_arguments("look", NETWORK, volumes(arguments, exchange), {}, [
        "sh", "-ec", f"{TOOL} snapshot | tee /exchange/snapshot | {TOOL} decide --json --snapshot - > /exchange/decision || [ $? -eq 1 ]"]))
    snapshot, decision = (json.loads((exchange / name).read_text()) for name in ("snapshot", "decision"))
    eth0 = next(link for link in snapshot["links"] if link["ifname"] == "eth0")
    expect(eth0.get("linkinfo", {}).get("info_kind") == "veth" and "link_netnsid" in eth0, f"eth0 is no veth of a container: {eth0}")
    expect(snapshot["system"].get("container") == "podman", f"the container is taken for {snapshot['system'].get('container')}")
    verdicts = {device["name"]: (device["verdict"], device["reason"]) for device in decision["devices"]}
    expect(verdicts["eth0"][0] == "chosen", f"verdicts {verdicts}")
    expect(decision["socket"]["ifnames"] == ["eth0"], f"socket {decision['socket']}")
    expect(not decision["env"], f"NCCL alone takes eth0, yet topoguard would set {decision['env']}")
    # Other hosts may be unable to reach a bridge's address: that much is said (NVIDIA/nccl#367), and nothing else.
    expect({finding["code"] for finding in decision["findings"]} == {"virtual-only"}, f"findings {decision['findings']}")


def two_ranks(podman, arguments):
    """A job of two containers: real NCCL, bootstrap and data through the plugin over eth0."""
    exchange = podman.work / "job"
    exchange.mkdir()
    processes = []
    for rank in (0, 1):
        env = {"LD_LIBRARY_PATH": "/build/plugin/net:/build/tests/fakecuda/nvml", "NCCL_NET_PLUGIN": "topoguard", "NCCL_DEBUG": "INFO",
               "NCCL_DEBUG_FILE": f"/exchange/nccl{rank}", "NCCL_RUNTIME_CONNECT": "0", "NCCL_HOSTID": f"container{rank}"}
        command = ["/build/tests/net/rank", "--libnccl", "/nccl/libnccl.so.2", "--rank", rank, "--ranks", 2, "--exchange", "/exchange",
                   "--report", f"/exchange/report{rank}", "init", "destroy"]
        processes.append(podman.start(*podman.run_arguments(f"rank{rank}", NETWORK, volumes(arguments, exchange), env, command)))
    addresses = set()
    for rank, process in enumerate(processes):
        out, err = process.communicate(timeout=TIMEOUT)
        log = (exchange / f"nccl{rank}").read_text(errors="replace") if (exchange / f"nccl{rank}").exists() else ""
        expect(process.returncode == 0, f"rank {rank}: status {process.returncode}, {out[-800:]} {err[-800:]} {log[-1500:]}")
        bootstrap = re.search(r"Bootstrap\s*: Using (\S+?):(\S+?)<", log)
        expect(bootstrap and bootstrap.group(1) == "eth0", f"rank {rank}: bootstrap {bootstrap and bootstrap.group(0)}")
        addresses.add(bootstrap.group(2))
        expect(re.search(r"via NET/topoguard/", log) and not re.search(r"via NET/(?!topoguard/)", log), f"rank {rank}: data not by the plugin")
        expect(re.search(r"NET/Socket : Using \[0\]eth0:\S+\s*$", log, re.M), f"rank {rank}: data not over eth0 alone")
        warned = set(re.findall(r"topoguard (?:error|warning) \[([\w-]+)\]", log + err))
        expect(warned <= {"virtual-only"}, f"rank {rank}: {warned}")
    expect(len(addresses) == 2, f"both ranks have {addresses}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--build", "--nccl", "--root", "--work", "--cgroup"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    podman = Podman(arguments.work, arguments.cgroup)
    try:
        podman("import", arguments.root, "topoguard-test")
        podman("network", "create", "--disable-dns", "--subnet", SUBNET, NETWORK)
        podman(*podman.run_arguments("try", NETWORK, {}, {}, ["true"]))
    except (RuntimeError, OSError) as error:
        print(f"SKIP: podman cannot run a container on a bridge network here: {error}")
        return 77
    failed = 0
    for row in (eth0_is_right, two_ranks):
        try:
            row(podman, arguments)
            print(f"ok {row.__name__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL {row.__name__} {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
    podman("rm", "--all", "--force")
    podman("network", "rm", "--force", NETWORK)
    podman("rmi", "--all", "--force")
    return 1 if failed else 0


sys.exit(main())
