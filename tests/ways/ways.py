# SPDX-License-Identifier: Apache-2.0
"""Every way in to a job on real NCCL, in the lab whose decoys all come first; no row sets NCCL_SOCKET_IFNAME where topoguard is to decide.
MASTER_ADDR lies on the data link, as a launcher would have it. Stock beside it does not come up."""

import copy
import stat
import subprocess
from pathlib import Path

from rig import rows as _rows
from rig.announced import Announced
from rig.build import SOURCE
from rig.job import Job, RankSpec, expect_success
from rig.lab import Lab
from rig.log import Log
from rig.outcome import Skipped, expect, expect_equal
from rig.rows import row

if "ways" not in _rows.SUITES:
    _rows.SUITES = (*_rows.SUITES, "ways")

HERE = Path(__file__).resolve().parent
ATTEMPTS = 10
HANG = 15  # seconds after which a job that is expected to hang is ended


class Stage:
    """The libraries as an installation has them: in one folder, two names for the plugin library."""

    def __init__(self, run, image=False):
        self.folder = run.new_folder("stage")
        self.folder.mkdir(parents=True)
        plugin = run.build.plugin
        self._link("libnccl-net-topoguard.so", plugin)
        self._link("libnccl-env-topoguard.so", plugin)
        self._link("libtopoguard.so", run.build._built("plugin/preload/libtopoguard.so"))
        if image:
            self._link("libnccl-net.so", plugin)
            self._link("libnccl-env.so", plugin)

    def _link(self, name, target):
        (self.folder / name).symlink_to(target)

    @property
    def preload(self):
        return {"LD_PRELOAD": str(self.folder / "libtopoguard.so")}

    @property
    def plugins(self):
        return {"NCCL_NET_PLUGIN": "topoguard", "NCCL_ENV_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(self.folder)}


def nodes(lab, envs=({}, {})):
    return [RankSpec(namespace=namespace, env=env) for namespace, env in zip(lab.namespaces, envs)]


def program(run, path):
    """The same build with another rank program."""
    build = copy.copy(run.build)
    build.rank = Path(path)
    return build


def linked(run):
    return program(run, run.build._built("tests/ways/linked_rank")), {"LD_LIBRARY_PATH": str(Path(run.build.libnccl).parent)}


def start(run, lab, build, env, name, envs=({}, {}), timeout=120, steps=("init", "destroy")):
    with Job(build, run.new_folder(name), steps, ranks=nodes(lab, envs), env={"MASTER_ADDR": lab.master, **env}) as job:
        return job.results(timeout)


def expect_data_link(results, net="topoguard"):
    """Bootstrap and every channel."""
    expect_success(results, net)
    for rank, result in enumerate(results):
        expect(result.log.bootstrap is not None, f"rank {rank} has no bootstrap line")
        expect_equal(result.log.bootstrap[0], "data0", f"bootstrap interface of rank {rank}")
        expect_equal(result.log.links, {"data0"}, f"links with channels of rank {rank}")


def expect_stock_never_up(run, lab, build=None, env=None):
    results = start(run, lab, build or run.build, env or {}, "stock", timeout=HANG)
    expect(not all(result.log.complete for result in results), "stock came up: the layout is not as wrong as the row needs it")


def every_time(run, build, env, stock_env=None, entered=None):
    """`entered`: how the log says that topoguard was entered first: "LD_PRELOAD" proves that the call was interposed."""
    with Lab("all") as lab:
        expect_stock_never_up(run, lab, build, stock_env)
        for attempt in range(ATTEMPTS):
            results = start(run, lab, build, env, f"attempt-{attempt}")
            expect_data_link(results)
            for rank, result in enumerate(results):
                said = Announced(result)
                expect_equal(said.warned("bootstrap-not-covered"), [], f"warnings of rank {rank}")
                expect(entered is None or f"entered by {entered}" in said.header,
                       f"rank {rank} was not entered by {entered}: {said.header}")


@row("ways", "ways-env-and-net")
def env_and_net(run):
    every_time(run, run.build, Stage(run).plugins, entered="the env plugin")


@row("ways", "ways-preload-linked")
def preload_linked(run):
    build, env = linked(run)
    every_time(run, build, {**env, **Stage(run).preload}, env, entered="LD_PRELOAD")


@row("ways", "ways-preload-dlopened")
def preload_dlopened(run):
    """dlopen and dlsym pass by the preload library: its constructor has named the plugins."""
    every_time(run, run.build, Stage(run).preload, entered="the env plugin")


@row("ways", "ways-preload-local")
def preload_local(run):
    """A library opened RTLD_LOCAL that links NCCL, as Python opens PyTorch: RTLD_NEXT is NULL there."""
    env = {"LD_LIBRARY_PATH": str(Path(run.build.libnccl).parent),
           "WAYS_LIBRARY": str(run.build._built("tests/ways/libways_linked.so"))}
    build = program(run, run.build._built("tests/ways/local_rank"))
    every_time(run, build, {**env, **Stage(run).preload}, env, entered="LD_PRELOAD")


@row("ways", "ways-exec")
def exec_(run):
    stage = Stage(run)
    topoguard = run.build._built("tools/topoguard/topoguard")
    wrapper = stage.folder / "rank"
    wrapper.write_text(f'#!/bin/sh\nexec {topoguard} exec --libraries {stage.folder} -- {run.build.rank} "$@"\n')
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    build = program(run, wrapper)
    with Lab("all") as lab:
        expect_stock_never_up(run, lab)
        for attempt in range(ATTEMPTS):
            expect_data_link(start(run, lab, build, {}, f"attempt-{attempt}"))


@row("ways", "ways-image")
def image(run):
    """Links named libnccl-net.so and libnccl-env.so in the search path, and not one variable; off still means off."""
    stage = Stage(run, image=True)
    search = {"LD_LIBRARY_PATH": str(stage.folder)}  # stands for a default folder of an image
    every_time(run, run.build, search)
    with Lab("slow-management") as lab:
        stock = start(run, lab, run.build, {}, "stock")
        off = start(run, lab, run.build, {**search, "TOPOGUARD_MODE": "off"}, "off")
        for mine, plain in zip(off, stock):
            expect_equal(mine.log.bootstrap, plain.log.bootstrap, "bootstrap with TOPOGUARD_MODE=off")
            expect_equal(mine.log.links, plain.log.links, "links with TOPOGUARD_MODE=off")
            expect(Announced(mine).silent, "topoguard spoke with TOPOGUARD_MODE=off")


@row("ways", "ways-nccl-conf")
def nccl_conf(run):
    """Both plugins named in nccl.conf, nothing in the environment."""
    stage = Stage(run)
    conf = stage.folder / "nccl.conf"
    conf.write_text(f"NCCL_NET_PLUGIN={stage.folder}/libnccl-net-topoguard.so\n"
                    f"NCCL_ENV_PLUGIN={stage.folder}/libnccl-env-topoguard.so\n")
    every_time(run, run.build, {"NCCL_CONF_FILE": str(conf)})


@row("ways", "ways-env-alone")
def env_alone(run):
    """The env plugin alone steers bootstrap and data; the transport stays NCCL's own, though our SONAME is libnccl-net.so."""
    stage = Stage(run)
    with Lab("all") as lab:
        env = {"NCCL_ENV_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(stage.folder)}
        expect_data_link(start(run, lab, run.build, env, "env-alone"), net="Socket")


@row("ways", "ways-one-node-without")
def one_node_without(run):
    """A healthy pair of nodes, topoguard on one of them only: the job comes up, whichever it is."""
    stage = Stage(run)
    build, env = linked(run)
    with Lab("healthy") as lab:
        for name, envs in (("first", (stage.preload, {})), ("second", ({}, stage.preload))):
            results = start(run, lab, build, env, name, envs)
            for rank, result in enumerate(results):
                expect_equal(result.status, 0, f"{name}: exit status of rank {rank} (stderr: {result.stderr.strip()})")
                expect_equal(result.log.complete, 1, f"{name}: 'Init COMPLETE' lines of rank {rank}")


def _fnv(text):
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{value:08x}"


def published_elsewhere(**variables):
    """What topoguard on another host would have put into the environment (src/steer/provenance.h)."""
    identity = "11111111-2222-3333-4444-555555555555+4026531840+" + ".".join(_fnv(value) for value in variables.values())
    return {**variables, "TOPOGUARD_APPLIED": identity + ":" + ",".join(variables)}


@row("ways", "ways-exported")
def exported(run):
    """Variables that topoguard published on a host with other names are computed anew; the same ones of the user's are not touched."""
    stage = Stage(run)
    foreign = published_elsewhere(NCCL_SOCKET_IFNAME="=ens77f0")
    build, env = linked(run)
    with Lab("all") as lab:
        expect_data_link(start(run, lab, run.build, {**stage.plugins, **foreign}, "plugins"))
        expect_data_link(start(run, lab, build, {**env, **stage.preload, **foreign}, "preload"))
    with Lab("slow-management") as lab:
        for name, way_build, way in (("plugins", run.build, stage.plugins), ("preload", build, {**env, **stage.preload})):
            results = start(run, lab, way_build, {**way, "NCCL_SOCKET_IFNAME": "mgmt0"}, f"user-{name}")
            for rank, result in enumerate(results):
                expect_equal(result.status, 0, f"exit status of rank {rank} (stderr: {result.stderr.strip()})")
                expect_equal(result.log.bootstrap[0], "mgmt0", f"bootstrap interface of rank {rank}")


@row("ways", "ways-announcement")
def announcement(run):
    """Rank 0 has no topoguard and announces what rank 1 cannot reach: rank 1 says so before NCCL waits."""
    stage = Stage(run)
    build, env = linked(run)
    cases = [("bridge", {}, "rank0-own-address", "br-lab"),
             ("healthy", {"NCCL_SOCKET_IFNAME": "lo"}, "rank0-loopback", "127.0.0.1")]
    for layout, rank0, code, name in cases:
        with Lab(layout) as lab:
            results = start(run, lab, build, env, code, (rank0, stage.preload), timeout=HANG)
            warned = Announced(results[1]).warned(code)
            expect_equal(len(warned), 1, f"{code} on rank 1 (stderr: {results[1].stderr.strip()})")
            expect(name in warned[0].text, f"{code} does not name {name}: {warned[0].text}")
    with Lab("healthy") as lab:
        results = start(run, lab, build, env, "right", ({}, stage.preload))
        for rank, result in enumerate(results):
            expect_equal(result.status, 0, f"exit status of rank {rank}")
            expect_equal(Announced(result).warnings, [], f"warnings of rank {rank}")




@row("ways", "ways-container-network")
def container_network(run):
    """Two containers on a bridge: inside each there is lo and one eth0, a veth whose peer is elsewhere, and that eth0 is right. Nothing
    is set, whichever way topoguard comes in."""
    stage = Stage(run)
    build, env = linked(run)
    addresses = {"a-pod": "172.18.0.2", "b-pod": "172.18.0.3"}
    with Lab("healthy") as lab:
        lab.on("a", "link", "add", "docker0", "type", "bridge")
        lab.on("a", "addr", "add", "172.18.0.1/16", "dev", "docker0")
        lab.on("a", "link", "set", "docker0", "up")
        for pod, address in addresses.items():
            port = f"p-{pod}"
            lab.on("a", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", lab.namespace(pod))
            lab.on("a", "link", "set", port, "master", "docker0", "up")
            lab.on(pod, "addr", "add", f"{address}/16", "dev", "eth0")
            lab.on(pod, "link", "set", "eth0", "up")
            lab.on(pod, "route", "add", "default", "via", "172.18.0.1")
        for name, way_build, way in (("plugins", run.build, stage.plugins), ("preload", build, {**env, **stage.preload})):
            pods = [RankSpec(namespace=lab.namespace(pod)) for pod in addresses]
            with Job(way_build, run.new_folder(name), ["init", "facts", "destroy"], ranks=pods,
                     env={"MASTER_ADDR": addresses["a-pod"], **way}) as job:
                results = job.results()
            expect_success(results, "topoguard")
            for rank, result in enumerate(results):
                expect_equal(result.log.bootstrap[0], "eth0", f"bootstrap interface of rank {rank}")
                expect_equal(result.log.links, {"eth0"}, f"links with channels of rank {rank}")
                expect_equal(Announced(result).sets, {}, f"what rank {rank} says that it sets")
                expect_equal(Announced(result).warnings, [], f"warnings of rank {rank}")


def run_exec(run, stage, arguments, command, **env):
    """What `topoguard exec` did: exit status, lines of standard output, standard error; the environment is exactly `env`."""
    topoguard = run.build._built("tools/topoguard/topoguard")
    done = subprocess.run([topoguard, "exec", *arguments, "--libraries", stage.folder, "--", *command],
                          env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


@row("ways", "ways-exec-command")
def exec_command(run):
    """The command is the process: its status and its signals, 126 and 127 as shells have them; its arguments are not looked at."""
    stage = Stage(run)
    for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("exit 3", 3)):
        expect_equal(run_exec(run, stage, [], ["sh", "-c", script])[0], status, f"status of {script}")
    expect_equal(run_exec(run, stage, [], ["/nonexistent/command"])[0], 127, "status of a command that is not there")
    expect_equal(run_exec(run, stage, [], [str(stage.folder)])[0], 126, "status of a folder as command")
    status, _, errors = run_exec(run, stage, ["--no-such-option"], ["true"])
    expect_equal((status, errors.count("\n")), (3, 1), "an unknown option")
    status, lines, errors = run_exec(run, stage, [], ["sh", "-c", 'printf "%s\\n" "$@"', "sh", "--gpu", "x", "-v", "--", ""])
    expect_equal((status, lines, errors), (0, ["--gpu", "x", "-v", "--", ""], ""), "arguments of the command")


@row("ways", "ways-exec-environment")
def exec_environment(run):
    """Plugins by path, the user's own values untouched, LD_PRELOAD prepended to, off means off."""
    stage = Stage(run)

    def seen(arguments=(), **env):
        status, lines, errors = run_exec(run, stage, list(arguments), ["env"], **env)
        expect_equal((status, errors), (0, ""), "env under topoguard exec")
        return dict(line.split("=", 1) for line in lines)
    plain = seen()
    for kind in ("net", "env"):
        expect_equal(plain[f"NCCL_{kind.upper()}_PLUGIN"], f"{stage.folder}/libnccl-{kind}-topoguard.so", f"the {kind} plugin")
    expect("LD_PRELOAD" not in plain, "LD_PRELOAD is set without --preload")
    mine = seen(NCCL_NET_PLUGIN="none", NCCL_SOCKET_IFNAME="mine0", NCCL_IB_HCA="^mlx5_9")
    for name, value in (("NCCL_NET_PLUGIN", "none"), ("NCCL_SOCKET_IFNAME", "mine0"), ("NCCL_IB_HCA", "^mlx5_9")):
        expect_equal(mine[name], value, f"the user's {name}")
    library = f"{stage.folder}/libtopoguard.so"
    expect_equal(seen(["--preload"])["LD_PRELOAD"], library, "LD_PRELOAD")
    expect_equal(seen(["--preload"], LD_PRELOAD=library)["LD_PRELOAD"], library, "LD_PRELOAD that has it already")
    off = seen(["--preload"], TOPOGUARD_MODE="off", NCCL_DEBUG="WARN")
    expect_equal(off, {"PATH": "/usr/bin:/bin", "TOPOGUARD_MODE": "off", "NCCL_DEBUG": "WARN"}, "the environment with TOPOGUARD_MODE=off")
    stale = seen(**published_elsewhere(NCCL_IB_HCA="=mlx5_77:1"))
    expect("NCCL_IB_HCA" not in stale, "what topoguard published on another host is still set")


@row("ways", "ways-podman")
def podman(run):
    """Real containers on a bridge network, by the links of an image and by LD_PRELOAD: their eth0 is a veth, and right."""
    libnccl = Path(run.build.libnccl).resolve()
    linked_build, _ = linked(run)
    for name, build in (("image", run.build), ("preload", linked_build)):
        scratch = run.new_folder(name)
        (scratch / "shared" / "exchange").mkdir(parents=True)
        stage = Stage(run, image=name == "image")
        search = [run.build.fake_nvml, run.build.forbidden_cuda, libnccl.parent, *([stage.folder] if name == "image" else [])]
        env = {"NCCL_DEBUG": "INFO", "NCCL_RUNTIME_CONNECT": "0", "NCCL_CONF_FILE": "/dev/null", "MASTER_ADDR": "10.89.7.10",
               "NCCL_DEBUG_FILE": f"{scratch}/shared/%h.log", "LD_LIBRARY_PATH": ":".join(map(str, search)),
               **(stage.preload if name == "preload" else {})}
        (scratch / "env").write_text("".join(f"{key}={value}\n" for key, value in env.items()))
        folders = ":".join(map(str, [run.build.folder, libnccl.parent, stage.folder]))
        done = subprocess.run([HERE / "container", scratch, folders, build.rank, "--libnccl", libnccl, "--rank", "@RANK@", "--ranks", "2",
                               "--exchange", scratch / "shared/exchange", "--report", scratch / "shared/report@RANK@", "init", "destroy"],
                              capture_output=True, text=True, timeout=240)
        if done.returncode == 77:
            raise Skipped(done.stdout.strip())
        said = "".join((scratch / f"err{rank}").read_text() for rank in (0, 1) if (scratch / f"err{rank}").exists())
        expect_equal(done.returncode, 0, f"{name}: exit status (stderr: {done.stderr.strip()} {said.strip()})")
        for rank in (0, 1):
            log = Log((scratch / f"shared/ways{rank}.log").read_text(errors="replace"))
            expect_equal(log.complete, 1, f"{name}: 'Init COMPLETE' lines of rank {rank}")
            expect_equal(log.nets, {"topoguard"}, f"{name}: nets of the channels of rank {rank}")
            expect_equal(log.bootstrap[0], "eth0", f"{name}: bootstrap interface of rank {rank}")
            expect_equal(log.links, {"eth0"}, f"{name}: links with channels of rank {rank}")
            expect(not log.has(r"topoguard: sets \w+="), f"{name}: rank {rank} sets something where nothing is wrong")


def other_release(run, release):
    found = subprocess.run([SOURCE / "tools/libnccl", release], capture_output=True, text=True, timeout=300)
    if found.returncode != 0:
        raise Skipped(f"NCCL {release} is not to be had: {found.stderr.strip()}")
    build = copy.copy(run.build)
    build._libnccl = found.stdout.strip()
    return build


def preload_on(run, release):
    """2.18 to 2.20 and 2.27.3 take no path in NCCL_NET_PLUGIN: the loaded library is found by its SONAME; 2.30 has the second env API."""
    build = other_release(run, release)
    build.rank = run.build._built("tests/ways/linked_rank")
    env = {"LD_LIBRARY_PATH": str(Path(build.libnccl).parent)}
    with Lab("all") as lab:
        expect_stock_never_up(run, lab, build, env)
        results = start(run, lab, build, {**env, **Stage(run).preload}, "preload")
        expect_data_link(results)
        for rank, result in enumerate(results):
            expect("entered by LD_PRELOAD" in Announced(result).header, f"rank {rank} was not entered by LD_PRELOAD")
            expect(f"in NCCL {release}" in Announced(result).header, f"rank {rank} runs another release")


for _release in ("2.20.5", "2.27.3", "2.30.7"):
    row("ways", f"ways-preload-{_release}")(lambda run, release=_release: preload_on(run, release))
