# SPDX-License-Identifier: Apache-2.0
"""The wrong NIC beside the right one: what stock NCCL takes, and what topoguard takes, at links shaped 1 : 36.8 (2.42 and 89.04 Gb/s
were measured over the wrong and the right NIC of real hosts)."""

import subprocess

from rig.lab import DATA, LAYOUTS, NODES, Lab
from rig.outcome import Skipped

from .data_path import in_namespaces
from .row import Row

RATIO = 36.8
SLOW, FAST = 20, 20 * RATIO  # Mbit/s: what two processes on two busy processors still fill
WRONG = {"a": "10.11.0.1", "b": "10.11.0.2"}
SHARE = 0.9


def shape(lab, name, rate, burst):
    for node in NODES:
        subprocess.run(["tc", "-n", lab.namespace(node), "qdisc", "add", "dev", name, "root", "tbf", "rate", f"{rate:.0f}mbit",
                        "burst", burst, "latency", "50ms"], check=True, timeout=60)


def links(wrong):
    def build(lab):
        lab.add_link(wrong, WRONG)
        shape(lab, wrong, SLOW, "16kb")
        lab.add_link("data0", DATA)
        shape(lab, "data0", FAST, "128kb")
    return build


# NCCL takes nothing but interfaces whose names begin with "ib" where there is one; else it deals its channels over all.
LAYOUTS["named-ib"] = [links("ib0")]
LAYOUTS["striped"] = [links("mgmt0")]


def measured(bench, layout, connections):
    common = ["--traffic", "stream", "--sizes", "64K", "--bytes", "4M", "--rounds", str(bench.rounds(5)), "--connections", str(connections)]
    with Lab(layout) as lab:
        # Fresh processes: what was enumerated stays for the life of one.
        results = {net: in_namespaces(bench, lab, ["--net", net, *common], MASTER_ADDR=lab.master) for net in ("Socket", "topoguard")}
    taken = {net: [device["name"] for device in result["nets"][0]["devices"]] for net, result in results.items()}
    speed = {net: result["rows"][0]["a"]["bytes_per_s"] for net, result in results.items()}
    return taken, speed


def row_of(bench, layout, what, connections, best):
    opponent = "what stock selection moves"
    try:
        taken, speed = measured(bench, layout, connections)
    except Skipped as reason:
        return Row(f"wrong NIC, {what}", opponent, why=str(reason))
    ratio = speed["topoguard"]["median"] / speed["Socket"]["median"]
    goal = SHARE * best
    met = ratio >= goal and taken["topoguard"] == ["data0"]
    why = "" if met else f"{ratio / best:.0%} of the possible {best:.1f}; topoguard took {', '.join(taken['topoguard'])}"
    return Row(f"wrong NIC, {what}", opponent,
               f"{ratio:.1f} times stock: {speed['topoguard']['median'] / 1e6:.1f} MB/s over {', '.join(taken['topoguard'])}, stock "
               f"{speed['Socket']['median'] / 1e6:.1f} MB/s over {', '.join(taken['Socket'])}",
               f"at least {goal:.1f} (90% of {best:.1f})", met, why,
               {"ratio": ratio, "link_ratio": RATIO, "stock": speed["Socket"], "topoguard": speed["topoguard"], "taken": taken})


def wrong_nic(bench):
    return [row_of(bench, "named-ib", "a slow Ethernet link named ib0 beside the fast one (links 1 : 36.8)", 1, RATIO),
            row_of(bench, "striped", "a slow management link beside the fast one: stock deals its channels over both", 2, RATIO / 2)]
