# SPDX-License-Identifier: Apache-2.0
"""What the user or the machine sets: topoguard gives way, and says so where it matters."""

import re

from rig.announced import Announced
from rig.elf import copy_without
from rig.job import expect_success
from rig.lab import Lab
from rig.outcome import expect, expect_equal
from rig.rows import row

from .lab import nodes, routes_of, run_in
from .plugin import expect_no_warnings, expect_topoguard, topoguard
from .stock import stripped_libnccl

INIT = ["init", "facts", "destroy"]


@row("nccl", "off")
def off(run):
    """TOPOGUARD_MODE=off is a job without topoguard, and topoguard does not say a word."""
    stock = run.run(INIT, name="stock")
    results = run.run(INIT, env=topoguard(run, TOPOGUARD_MODE="off"))
    expect_success(results, "Socket")
    expect_equal(routes_of(results), routes_of(stock), "the job with TOPOGUARD_MODE=off")
    expect_silence(results)


def expect_silence(results):
    for rank, result in enumerate(results):
        expect(Announced(result).silent, f"topoguard speaks on rank {rank} although it is off")


@row("nccl", "user-socket-ifname")
def user_socket_ifname(run):
    """The user's interface is used, whatever topoguard thinks of it, and the variable stays as it is."""
    results = run.run(INIT, env=topoguard(run, NCCL_SOCKET_IFNAME="=lo"))
    expect_success(results, "topoguard")
    for rank, result in enumerate(results):
        expect_equal(result.log.socket_devices, ["lo"], f"devices of rank {rank}")
        expect_equal(result.value("facts")["environment"]["NCCL_SOCKET_IFNAME"], "=lo", f"the variable on rank {rank}")
        expect("NCCL_SOCKET_IFNAME" not in Announced(result).sets, f"rank {rank} says that it sets what the user set")


@row("nccl", "user-net-socket")
def user_net_socket(run):
    """NCCL_NET=Socket keeps NCCL 2.28 from calling any net plugin: the job is as without topoguard."""
    stock = run.run(INIT, name="stock", env={"NCCL_NET": "Socket"})
    results = run.run(INIT, env=topoguard(run, NCCL_NET="Socket"))
    expect_success(results, "Socket")
    expect_equal(routes_of(results), routes_of(stock), "the job with NCCL_NET=Socket")


@row("nccl", "user-net-topoguard")
def user_net_topoguard(run):
    expect_topoguard(run.run(INIT, env=topoguard(run, NCCL_NET="topoguard")))


@row("nccl", "user-net-topoguard-off")
def user_net_topoguard_off(run):
    """Here NCCL accepts no other net, so topoguard passes through where it would decline else: the job runs."""
    results = run.run(INIT, env=topoguard(run, NCCL_NET="topoguard", TOPOGUARD_MODE="off"))
    expect_success(results, "topoguard")
    expect_silence(results)


@row("nccl", "stripped-libnccl")
def stripped(run):
    """Without a symbol table NCCL's transports are found all the same."""
    copy, env = stripped_libnccl(run)
    expect_topoguard(run.run(["init", "destroy", "init", "destroy"], libnccl=copy, env=topoguard(run, **env)), communicators=2)


@row("nccl", "native-version-missing")
def native_version_missing(run):
    """A libnccl that is newer than our tables (here: 2.28 with a topoguard that has no v11): its transports are left alone, what
    topoguard decided holds all the same, and it says which way it goes."""
    folder = plugin_without(run, "ncclNetPlugin_v11")
    with Lab("slow-management") as lab:
        results = run_in(run, lab, "job", topoguard(run, LD_LIBRARY_PATH=str(folder)))
        expect_success(results, "Socket")
        for rank, result in enumerate(results):
            expect(result.log.has(r"Loaded net plugin topoguard \(v10\)"), f"rank {rank}: NCCL did not load topoguard as v10")
            expect_equal(result.log.links, {"data0"}, f"links with channels of rank {rank}")
            expect("steering only" in (Announced(result).way or ""), f"rank {rank} says: {Announced(result).way}")


def plugin_without(run, symbol):
    """A folder with a copy of the plugin that does not export `symbol`."""
    folder = run.new_folder("plugin")
    copy_without(run.build.plugin, [symbol], folder)
    return folder


def with_foreign(run, **settings):
    return topoguard(run, LD_LIBRARY_PATH=f"{run.build.plugin.parent}:{run.build.foreign_plugin}", **settings)


@row("nccl", "foreign-plugin")
def foreign_plugin(run):
    """A libnccl-net.so in the path, that NCCL alone would load, runs under topoguard instead of being lost."""
    alone = run.run(INIT, name="alone", env={"LD_LIBRARY_PATH": str(run.build.foreign_plugin)})
    expect_success(alone, "Foreign Net")
    results = run.run(INIT, env=with_foreign(run))
    expect_success(results, "topoguard")
    for rank, result in enumerate(results):
        expect(result.log.has("NET/Foreign : initialised"), f"the foreign plugin was not used on rank {rank}")
        expect(str(run.build.foreign_plugin) in result.log.text, f"rank {rank} does not name the plugin that it runs")


@row("nccl", "foreign-plugin-again")
def foreign_plugin_again(run):
    results = run.run(["init", "destroy", "init", "destroy"], env=with_foreign(run))
    expect_success(results, "topoguard", communicators=2)
    for rank, result in enumerate(results):
        expect_equal(result.log.count("NET/Foreign : initialised"), 2, f"initialisations of the foreign plugin on rank {rank}")


@row("nccl", "foreign-plugin-off")
def foreign_plugin_off(run):
    """Off means as if topoguard were not there: NCCL alone would have loaded the foreign plugin."""
    results = run.run(INIT, env=with_foreign(run, TOPOGUARD_MODE="off"))
    for rank, result in enumerate(results):
        expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
        expect(result.log.has("NET/Foreign : initialised"), f"the foreign plugin was lost on rank {rank}")
    expect_silence(results)


@row("nccl", "foreign-plugin-base-stock")
def foreign_plugin_base_stock(run):
    """TOPOGUARD_BASE=stock asks for NCCL's own transports."""
    results = run.run(INIT, env=with_foreign(run, TOPOGUARD_BASE="stock"))
    expect_success(results, "topoguard")
    for rank, result in enumerate(results):
        expect(not result.log.has("NET/Foreign"), f"the foreign plugin was used on rank {rank}")


def run_with_config(run, path):
    return run.run(INIT, env=topoguard(run, TOPOGUARD_CONFIG=str(path)))


def expect_config_warning(results, path):
    """The job runs, and one warning names the file."""
    expect_success(results, "topoguard")
    for rank, result in enumerate(results):
        warnings = Announced(result).warnings
        expect(any(str(path) in warning.text for warning in warnings), f"no warning of rank {rank} names {path}: {warnings}")


@row("nccl", "config-missing")
def config_missing(run):
    """A file that the user names and that is not there."""
    path = run.folder / "nowhere.conf"
    expect_config_warning(run_with_config(run, path), path)


@row("nccl", "config-unreadable")
def config_unreadable(run):
    """A folder where a file is expected: cannot be read, not even by root."""
    path = run.folder / "folder.conf"
    path.mkdir()
    expect_config_warning(run_with_config(run, path), path)


@row("nccl", "config-broken")
def config_broken(run):
    """No line of it makes sense."""
    path = run.folder / "broken.conf"
    path.write_bytes(b"\x7fELF\x00\xff\xfe\nthis is no setting\nTOPOGUARD_MODE\n=enforce\n" + b"x" * 5000 + b"\n")
    expect_config_warning(run_with_config(run, path), path)


@row("nccl", "config-file")
def config_file(run):
    """A good file is obeyed, and the log says where the mode comes from."""
    path = run.folder / "good.conf"
    path.write_text("# set by the administrator\nTOPOGUARD_MODE=observe\n")
    results = run_with_config(run, path)
    expect_no_warnings(results)
    for rank, result in enumerate(results):
        expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
        expect("mode observe (from the settings file)" in (Announced(result).header or ""), f"rank {rank}: {Announced(result).header}")


@row("nccl", "misspelt-setting")
def misspelt_setting(run):
    """Warned of, with the likely name; nothing else changes."""
    results = run.run(INIT, env=topoguard(run, TOPOGUARD_MOED="off"))
    expect_success(results, "topoguard")
    for rank, result in enumerate(results):
        texts = [warning.text for warning in Announced(result).warnings]
        expect(any("TOPOGUARD_MOED" in text and "TOPOGUARD_MODE" in text for text in texts), f"warnings of rank {rank}: {texts}")


@row("nccl", "values-with-escapes")
def values_with_escapes(run):
    """What stands in a variable reaches no log and no terminal as it is: there it could rewrite lines that it has no business with."""
    escape = "\x1b[31m\x07"
    hostile = {"TOPOGUARD_BASE": f"/nonexistent/{escape}libnccl-net.so", "NCCL_IB_HCA": f"=mlx5_{escape}", f"NCCL_{escape}": "1",
               "TOPOGUARD_LOG": "debug"}
    results = run.run(["init", "destroy"], env=topoguard(run, **hostile))
    expect_success(results, "Socket")  # a base that the user names and that is not there is not replaced
    for rank, result in enumerate(results):
        said = [line for line in (result.log.text + result.stderr + result.stdout).splitlines() if "topoguard" in line]
        expect(any("nonexistent" in line for line in said), f"rank {rank} says nothing of the base that it cannot open")
        expect(not any(char in line for line in said for char in escape[0] + escape[-1]),
               f"rank {rank} wrote control characters: {[line for line in said if escape[0] in line]}")
