# SPDX-License-Identifier: Apache-2.0
"""What one release of NCCL is, and what topoguard does in it: on its file, in one process, and in two namespaces."""

import json
import re
import subprocess

from rig.announced import Announced
from rig.build import clean_environment
from rig.elf import copy_without
from rig.job import RankSpec, run_job
from rig.lab import Lab
from rig.movement import BYTES_PER_CHANNEL, NOISE, move
from rig.outcome import expect, expect_equal

DECOY, DATA = "mgmt0", "data0"  # of the lab's layout: the first works, slowly; the second is right


def examine(build, release, folder, facts):
    """Fills `facts` step by step, so that a failure leaves what is known by then. Raises rig.outcome.Failed."""
    facts.update(file_facts(build.libnccl))
    facts.update(found_tables(build, folder))
    facts.update(looked_up(build, folder))
    with Lab("slow-management") as lab:
        facts.update(communicator(build, lab, folder / "job", facts))
        facts.update(as_unknown(build, lab, folder, facts))
        facts.update(moved_bytes(build, lab, folder, facts))


def in_words(facts):
    return (f"net API v{facts['net_api']}, {facts['way']} ({facts['tables']}; stripped: {facts['tables_stripped']}), "
            f"env plugin {'v' + str(facts['env_api']) if facts['env_plugin'] else 'no'}, communicator of two ranks "
            f"{facts['communicator']}, bootstrap {facts['bootstrap']}, moved by stock {facts['stock_bytes']}, by topoguard {facts['bytes']}")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True, timeout=300).stdout


def file_facts(libnccl):
    """Of the file as it is shipped: nothing of it is run."""
    symbols = readelf("--symbols", libnccl)
    runtime = set(re.findall(r" FUNC +\w+ +\w+ +\d+ (cuda[A-Z]\w+)", symbols))
    glibc = re.findall(r"Name: GLIBC_([0-9.]+)", readelf("--version-info", libnccl))
    banner = subprocess.run(["grep", "-aoEm1", r"NCCL version [0-9.]+[+]cuda[0-9.]+", libnccl], capture_output=True, text=True)
    return {"build": banner.stdout.strip().rpartition(" ")[2],
            "symtab": ".symtab" in readelf("--section-headers", libnccl),
            "cuda_functions": len(runtime),
            "glibc": max(glibc, key=lambda text: tuple(map(int, text.split(".")))) if glibc else None}


def found_tables(build, folder):
    """NCCL's own transports, by the file's symbol table, and in a copy without one: the same places, or not at all."""
    folder.mkdir(exist_ok=True)
    stripped = folder / "libnccl.so.2"
    subprocess.run(["strip", "--strip-unneeded", "-o", stripped, build.libnccl], check=True, timeout=300)
    probe = build._built("tests/matrix/matrix_probe")
    plain, bare = (json.loads(run_probe(probe, path)) for path in (build.libnccl, stripped))
    stripped.unlink()
    if plain["api"] == 0:
        expect_equal((plain["ib"], plain["socket"]), (None, None), "tables of a release that topoguard does not know")
        return {"net_api": None, "tables": "not looked for", "tables_stripped": "not looked for"}
    expect_equal(plain["how"], "symbol table", f"how the tables are found ({plain['problem']})")
    expect_equal(bare["how"], "memory search", f"how they are found in a stripped copy ({bare['problem']})")
    for which in ("ib", "socket"):
        expect(plain[which] is not None, f"no {which} table")
        expect_equal(bare[which], plain[which], f"place of the {which} table in a stripped copy")
    return {"net_api": plain["api"], "tables": plain["how"], "tables_stripped": bare["how"], "gin_proxy": plain["gin"]}


def run_probe(probe, path):
    done = subprocess.run([probe, path], env=clean_environment(), capture_output=True, text=True, timeout=120)
    expect_equal(done.returncode, 0, f"exit status of the probe (stderr: {done.stderr.strip()})")
    return done.stdout


def looked_up(build, folder):
    """The plugin symbols that NCCL asks for, newest first: one rank with plugins that have none of them, and the
    dynamic linker's own record (LD_DEBUG=symbols)."""
    where = folder / "symbols"
    where.mkdir()
    empty = build._built("tests/matrix/libnccl-net-empty.so").parent
    env = {"NCCL_NET_PLUGIN": "empty", "NCCL_ENV_PLUGIN": "empty", "LD_LIBRARY_PATH": str(empty),
           "LD_DEBUG": "symbols", "LD_DEBUG_OUTPUT": str(where / "ld")}
    results = run_job(build, folder / "symbols-job", ["init", "destroy"], ranks=1, env=env)
    expect_equal(results[0].status, 0, f"exit status of one rank with empty plugins (stderr: {results[0].stderr.strip()})")
    text = "".join(path.read_text(errors="replace") for path in sorted(where.iterdir()))
    asked = {}
    for kind, version in re.findall(r"symbol=nccl(\w+)Plugin_v(\d+);", text):
        versions = asked.setdefault(kind, [])
        if int(version) not in versions:
            versions.append(int(version))
    expect("Net" in asked, "NCCL asked for no net plugin symbol")
    expect(asked["Net"] == sorted(asked["Net"], reverse=True), f"net plugin symbols are asked for in the order {asked['Net']}")
    return {"net_symbols": asked["Net"], "env_symbols": asked.get("Env", [])}


def as_unknown(build, lab, folder, facts):
    """A topoguard that is older than this NCCL, made by hiding its newest table: it only steers, and nothing breaks."""
    if facts["net_api"] is None or facts["net_api"] < 7:  # 2.18 finds no other table of ours
        return {}
    # Both: 2.26 and 2.27 read a NULL pointer where a plugin has CollNet v10 and no net v10 (getNcclCollNet_v10).
    newest = [f"nccl{kind}Plugin_v{facts['net_api']}" for kind in ("Net", "CollNet")]
    hidden = copy_without(build.plugin, newest, folder / "older")
    env = plugin_environment(hidden, folder / "older-installed", MASTER_ADDR=lab.master)
    ranks = [RankSpec(namespace=namespace) for namespace in lab.namespaces]
    for rank, result in enumerate(run_job(build, folder / "older-job", ["init", "destroy"], ranks=ranks, env=env)):
        expect_equal(result.status, 0, f"exit status of rank {rank} under an older topoguard (stderr: {result.stderr.strip()})")
        expect_equal(result.log.nets, {"Socket"}, f"nets of the channels of rank {rank} under an older topoguard")
        expect_equal(result.log.socket_devices, [DATA], f"net devices of rank {rank} under an older topoguard")
        said = Announced(result)
        expect("steering only" in (said.way or ""), f"rank {rank} under an older topoguard says how it takes part: {said.way}")
        expect(said.warned("steering-alone"), f"rank {rank} does not warn that it only steers")
    return {"unknown": "steering only"}


def plugin_environment(plugin, folder, **settings):
    """The library as an installation has it: one file, two names."""
    folder.mkdir(exist_ok=True)
    for kind in ("net", "env"):
        (folder / f"libnccl-{kind}-topoguard.so").symlink_to(plugin)
    return {"NCCL_NET_PLUGIN": "topoguard", "NCCL_ENV_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(folder), **settings}


def communicator(build, lab, folder, facts):
    """Two ranks, a decoy first: over topoguard, on the link that it decided on."""
    env = plugin_environment(build.plugin, folder.parent / "installed", MASTER_ADDR=lab.master)
    ranks = [RankSpec(namespace=namespace) for namespace in lab.namespaces]
    results = run_job(build, folder, ["init", "destroy"], ranks=ranks, env=env)
    row = {}
    for rank, result in enumerate(results):
        missing = re.findall(r"UNIMPLEMENTED (\w+)", result.stderr)
        expect_equal(missing, [], f"CUDA functions that tests/fakecuda lacks, rank {rank}")
        expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
        expect_equal(result.log.complete, 1, f"'Init COMPLETE' lines of rank {rank}")
        said = Announced(result)
        wrapped = "under topoguard" in (said.way or "")
        expect(wrapped or "steering only" in (said.way or ""), f"rank {rank} says how it takes part: {said.way}")
        net_symbol = facts["net_symbols"][0]
        expect_equal(wrapped, facts["net_api"] == net_symbol, f"wrapped ({said.way}), with net API v{net_symbol}, on rank {rank}")
        expect_equal(result.log.nets, {"topoguard"} if wrapped else {"Socket"}, f"nets of the channels of rank {rank}")
        expect_equal(result.log.socket_devices, [DATA], f"net devices of rank {rank}")
        chosen = [name for name, (verdict, _) in said.devices.items() if verdict == "chosen"]
        expect_equal(chosen, [DATA], f"devices chosen on rank {rank}")
        env_plugin = bool(facts["env_symbols"])
        # Without it, NCCL picks its bootstrap before topoguard is loaded.
        expect_equal(result.log.bootstrap[0], DATA if env_plugin else DECOY, f"bootstrap interface of rank {rank}")
        expect_equal(bool(said.warned("bootstrap-not-covered")), False if env_plugin else said_so(said), f"warning of rank {rank}")
        # env-unknown: the rig sets variables that old releases do not have, and topoguard is right to say so.
        others = [warning for warning in said.warnings if not warning.code.startswith(("bootstrap-", "env-unknown"))]
        expect_equal(others, [], f"topoguard's warnings on rank {rank}")
        row = {"communicator": "yes", "way": "wrapped" if wrapped else "steering only", "bootstrap": result.log.bootstrap[0],
               "env_plugin": env_plugin, "env_api": max(facts["env_symbols"], default=None), "devices": result.log.socket_devices}
    return row


def said_so(said):
    """A slow but working bootstrap is no fault: whether it is worth a line is src/decide's question, not this test's."""
    return bool(said.warned("bootstrap-not-covered"))


def moved_bytes(build, lab, folder, facts):
    """Through NCCL's net API, each byte checked: by the stock table over both links, under topoguard over the right one."""
    stock = move(lab, build, folder / "stock", "Socket", {})
    for link in (DECOY, DATA):
        expect(stock.carried[link] >= BYTES_PER_CHANNEL, f"stock: {link} carried {stock.carried[link]} bytes only")
    if facts["way"] != "wrapped":
        return {"stock_bytes": "verified", "bytes": "-"}
    ours = move(lab, build, folder / "ours", build.plugin, {"MASTER_ADDR": lab.master})
    expect_equal(ours.devices, {"a": [DATA], "b": [DATA]}, "devices under topoguard")
    expect(ours.carried[DATA] >= 2 * BYTES_PER_CHANNEL, f"{DATA} carried {ours.carried[DATA]} bytes only")
    expect(ours.carried[DECOY] <= NOISE, f"{DECOY} carried {ours.carried[DECOY]} bytes")
    return {"stock_bytes": "verified", "bytes": "verified"}
