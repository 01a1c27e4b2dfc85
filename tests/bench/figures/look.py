# SPDX-License-Identifier: Apache-2.0
"""Collect and decide beside `ip -d -j addr`: on this host, and where there are two thousand links; and beside a
plain reading of GID tables where there are many."""

import json
import os
import shutil
import tempfile

from rig.lab import ip, remove_namespace, require_namespaces
from rig.outcome import Skipped

from .row import Row, output, shown, spread

TWICE = 2.0
VFS, GIDS = 256, 512  # an adapter's most, and a port's
LINEAR = 1.5  # times the growth of the links


def look(bench, rounds, namespace=None):
    inside = ["ip", "netns", "exec", namespace] if namespace else []
    found = json.loads(output([*inside, bench.built("tests/bench/look"), str(bench.rounds(rounds))], timeout=300))
    whole = [sum(pair) for pair in zip(found["collect_ms"], found["decide_ms"])]
    return {"links": found["links"], "ms": spread(whole), "collect_ms": spread(found["collect_ms"]), "decide_ms": spread(found["decide_ms"]),
            "ip_ms": spread(found["ip_ms"]), "cpu_ms": spread(found["cpu_ms"]), "ip_cpu_ms": spread(found["ip_cpu_ms"])}


def row_of(what, found):
    ratio = found["ms"]["median"] / found["ip_ms"]["median"]
    met = ratio <= TWICE
    return Row(f"collect + decide, {what} ({found['links']} links)", "`ip -d -j addr`",
               f"{shown(found['ms'], 'ms')}: {ratio:.2f} times the command's {shown(found['ip_ms'], 'ms')}; of CPU "
               f"{found['cpu_ms']['median']:.2f} ms, the command's {found['ip_cpu_ms']['median']:.2f} ms", "at most twice the command", met,
               "" if met else f"collect {found['collect_ms']['median']:.2f} ms, decide {found['decide_ms']['median']:.2f} ms",
               {**found, "ratio_of_medians": ratio})


def with_pairs(bench, pairs, rounds):
    name = f"topoguard-{os.getpid()}-links{pairs}"
    batch = bench.scratch / f"links{pairs}"
    batch.write_text("".join(f"link add v{i} type veth peer name w{i}\n" for i in range(pairs)))
    ip("netns", "add", name)
    try:
        output(["ip", "-n", name, "-batch", batch], timeout=300)
        output(["ip", "-n", name, "link", "set", "lo", "up"])
        return look(bench, rounds, name)
    finally:
        remove_namespace(name)


def many_gids(bench):
    """In memory, so that no disk is measured; sysfs itself takes longer per file, for both sides."""
    folder = tempfile.mkdtemp(prefix="topoguard-hcas-", dir="/dev/shm")
    try:
        found = json.loads(output([bench.built("tests/bench/look_hcas"), folder, VFS, GIDS, bench.rounds(20)], timeout=300))
    finally:
        shutil.rmtree(folder)
    ours = spread([sum(pair) for pair in zip(found["collect_ms"], found["decide_ms"])])
    plain, collect, decide = (spread(found[f"{part}_ms"]) for part in ("plain", "collect", "decide"))
    ratio = ours["median"] / plain["median"]
    met = ratio <= TWICE
    return Row(f"collect + decide, {VFS} VFs with {GIDS} GIDs each, 8 used", "open, read and close of each GID's file once",
               f"{shown(ours, 'ms', 0)}: {ratio:.2f} times the plain reading's {shown(plain, 'ms', 0)}; decide {decide['median']:.1f} ms of it",
               "at most twice the plain reading", met, "" if met else f"collect {collect['median']:.0f} ms",
               {"ms": ours, "plain_ms": plain, "collect_ms": collect, "decide_ms": decide, "ratio_of_medians": ratio})


def collect_and_decide(bench):
    rows = [row_of("this host", look(bench, 200)), many_gids(bench)]
    try:
        require_namespaces()
        small, large = with_pairs(bench, 100, 40), with_pairs(bench, 1000, 10)
    except Skipped as reason:
        return [*rows, Row("collect + decide, 1,000 veth pairs", "`ip -d -j addr`", why=str(reason))]
    rows.append(row_of("100 veth pairs", small))
    rows.append(row_of("1,000 veth pairs", large))
    growth, links = large["cpu_ms"]["median"] / small["cpu_ms"]["median"], large["links"] / small["links"]
    command = large["ip_cpu_ms"]["median"] / small["ip_cpu_ms"]["median"]
    met = growth <= LINEAR * links
    rows.append(Row("collect + decide, growth", "a host 10 times smaller", f"{growth:.1f} times the CPU time for {links:.1f} times the links (the command, its start included: {command:.1f})",
                    f"linear: at most {LINEAR * links:.0f} times", met, "" if met else "it grows faster than the links", {"growth": growth, "links": links}))
    return rows
