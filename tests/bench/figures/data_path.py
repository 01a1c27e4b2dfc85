# SPDX-License-Identifier: Apache-2.0
"""Bytes through the real libnccl's Socket transport, called directly and through topoguard's table."""

import json
import os
import subprocess
import sys

from rig.build import clean_environment
from rig.lab import Lab
from rig.outcome import Failed, Skipped

from .row import SOURCE_ROOT, Row, output

PORT = 29650


def environment(bench, **more):
    """Of `topoguard bench` on a machine without a GPU: the CUDA runtime inside libnccl is redirected."""
    env = clean_environment()
    search = f"{bench.build.fake_nvml}:{bench.build.forbidden_cuda}"
    env.update({"LD_PRELOAD": str(bench.built("tests/fakecuda/libfakecuda-preload.so")), "LD_LIBRARY_PATH": search,
                "NCCL_CONF_FILE": "/dev/null", "TOPOGUARD_LOG": "off", **more})
    return env


def command(bench, *arguments):
    return [bench.tool, "bench", "--libnccl", bench.build.libnccl, "--plugin", bench.build.plugin, "--json", *arguments]


def in_namespaces(bench, lab, arguments, **variables):
    """Both ends of one benchmark, an end in each node. The document of the end that measures."""
    env = environment(bench, **variables)
    # Set inside the namespace: `ip` itself is no place for a preloaded library.
    inside = [f"{name}={value}" for name, value in env.items() if name.startswith(("LD_", "NCCL_", "TOPOGUARD_", "MASTER_"))]
    def at(node, *more):
        return ["ip", "netns", "exec", lab.namespace(node), "env", *inside, *command(bench, *arguments, *more)]
    plain = clean_environment()
    with subprocess.Popen([str(part) for part in at("a", "--listen", f"{lab.master}:{PORT}")], env=plain,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as other:
        try:
            return json.loads(output(at("b", "--connect", f"{lab.master}:{PORT}"), timeout=240, env=plain))
        except Failed as error:
            other.kill()
            raise Failed(f"{error} (the other end: {other.stderr.read().strip()[-300:]})") from error
        finally:
            other.kill()


def kinds(bench):
    return (("8 B ping-pong", ["--traffic", "ping-pong", "--sizes", "8", "--round-trips", "300", "--rounds", str(bench.rounds(60))]),
            ("64 KiB and 4 MiB streams", ["--traffic", "stream", "--sizes", "64K,4M", "--bytes", "16M", "--rounds", str(bench.rounds(60))]))


def row_of(where, entry, same, transport="Socket"):
    ping = entry["traffic"] == "ping-pong"
    size = {8: "8 B", 65536: "64 KiB", 4194304: "4 MiB"}[entry["size"]]
    ratio, control = entry["time_b_over_a"], entry["time_a_over_a"]
    def level(side):
        return (f"{entry[side]['latency_us']['median']:.1f} us" if ping else f"{entry[side]['bytes_per_s']['median'] / 1e6:.0f} MB/s")
    # The pointers are the proof; the times show that nothing else of topoguard gets in the way.
    met = same and ratio["median"] <= control["high"]
    why = "" if met else ("the slots differ" if not same else
                          f"the median is {ratio['median'] - control['median']:+.3f} from the control's")
    return Row(f"data path, {where}, {size} {entry['traffic']}", f"the stock {transport} table called directly",
               f"time {ratio['median']:.3f} of stock's ({ratio['low']:.3f} to {ratio['high']:.3f}); {level('b')}, stock {level('a')}",
               f"within stock against stock: {control['median']:.3f} ({control['low']:.3f} to {control['high']:.3f}); slots stock's own",
               met, why, {"time_over_stock": ratio, "stock_over_stock": control, "same_functions": same, "rounds": ratio["samples"]})


def loopback(bench):
    rows = []
    for _, arguments in kinds(bench):
        result = json.loads(output(command(bench, "--ab", "Socket,topoguard", *arguments), timeout=240,
                                   env=environment(bench, NCCL_SOCKET_IFNAME="lo")))
        rows += [row_of("loopback", entry, result["same_functions"]) for entry in result["rows"]]
    return rows


def namespaces(bench):
    rows = []
    try:
        with Lab("healthy") as lab:
            for _, arguments in kinds(bench):
                result = in_namespaces(bench, lab, ["--ab", "Socket,topoguard", *arguments], MASTER_ADDR=lab.master)
                rows += [row_of("two namespaces", entry, result["same_functions"]) for entry in result["rows"]]
    except Skipped as reason:
        return [Row("data path, two namespaces", "the stock Socket table called directly", why=str(reason))]
    return rows


def soft_roce(bench):
    """NCCL's IB transport in an emulated machine: slow, but its own code."""
    what, opponent = "data path, Soft-RoCE in an emulated machine", "the stock IB table called directly"
    done = subprocess.run([sys.executable, SOURCE_ROOT / "tests/vm/run", "--build", bench.folder, "--timeout", "150", "tests/vm/scripts/bench-ib",
                           "--rounds", str(bench.rounds(5))],
                          capture_output=True, text=True, timeout=200, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode == 77:
        return [Row(what, opponent, why="no emulated machine here (tests/vm)")]
    if done.returncode == 125:
        return [Row(what, opponent, why="the emulated machine was too slow: no end within 150 s")]
    lines = done.stdout.replace("\r", "").partition("BENCH\n")[2]
    if done.returncode != 0 or not lines:
        raise Failed(f"tests/vm/run ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}")
    result, _ = json.JSONDecoder().raw_decode(lines)
    rows = [row_of("Soft-RoCE in an emulated machine", entry, result["same_functions"], "IB") for entry in result["rows"]]
    return [row for row in rows if "64 KiB ping-pong" not in row.what and "8 B stream" not in row.what]
