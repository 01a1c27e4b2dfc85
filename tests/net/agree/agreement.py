# SPDX-License-Identifier: Apache-2.0
"""Asks real NCCL and topoguard's rules about the same namespace, and compares."""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from rig.build import SOURCE, clean_environment
from rig.outcome import Failed, Skipped, expect

from namespace import Namespace

TIMEOUT = 600  # seconds for all settings of a layout
ATTEMPTS = 5


@dataclass
class Tally:
    bootstraps: int = 0
    devices: int = 0
    unseen: int = 0   # settings with which NCCL stops before its Socket transport tells
    found: int = 0    # settings with which NCCL has a bootstrap
    differences: list = field(default_factory=list)


def libnccl_of(release):
    found = subprocess.run([SOURCE / "tools/libnccl", release], capture_output=True, text=True, timeout=600)
    if found.returncode == 3:
        raise Skipped(f"no libnccl.so.2: {found.stderr.strip()}")
    expect(found.returncode == 0, f"tools/libnccl: {found.stderr.strip()}")
    return found.stdout.strip()


def release_of(libnccl):
    """By the banner that is in the file as text, as in tools/libnccl."""
    banner = re.search(rb"NCCL version (2\.\d+\.\d+)", Path(libnccl).read_bytes())
    expect(banner is not None, f"{libnccl} does not say which release it is")
    return banner.group(1).decode()


def logged_bootstrap(log):
    found = re.search(r"Bootstrap\s*: Using (\S+)<\d+>", log)
    return found.group(1) if found else None


def logged_devices(log):
    """None where NCCL wrote no such line."""
    line = re.search(r"NET/Socket\s*: Using (\[0\].*)", log)
    if line is None:
        return None
    found = re.findall(r"\[(\d+)\](\S+)<\d+>", line.group(1))
    expect([int(number) for number, _ in found] == list(range(len(found))), f"devices are not numbered in order: {line.group(0)}")
    return [device for _, device in found]


class Asked:
    """Both sides' answers in one namespace, for a list of settings. `moved`: the namespace changed meanwhile; the kernel
    tells whether a link runs up to a second late."""

    def __init__(self, build, folder, namespace, libnccl, release, settings, communicators):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self._prefix = ["ip", "netns", "exec", namespace]
        listed = self.folder / "settings.json"
        listed.write_text(json.dumps(settings))
        env = clean_environment()
        env.update({"NCCL_DEBUG": "INFO", "NCCL_CONF_FILE": "/dev/null", "NCCL_NET": "Socket", "NCCL_NET_PLUGIN": "none",
                    "NCCL_RAS_ENABLE": "0", "LD_LIBRARY_PATH": f"{build.fake_nvml}:{build.forbidden_cuda}"})
        rules = [clean_environment(), build.folder / "tests/net/agree/rules", "--release", release, "--settings", listed]
        before = self._run(*rules)
        self.real = self._run(env, build.folder / "tests/net/agree/ask", "--libnccl", libnccl, "--settings", listed,
                              "--folder", self.folder, "--communicators", communicators)
        self.rules = self._run(*rules)
        self.moved = before != self.rules
        expect(len(self.real) == len(self.rules) == len(settings), "a setting was not asked")

    def _run(self, env, *command):
        done = subprocess.run([*self._prefix, *map(str, command)], env=env, capture_output=True, text=True, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, f"{command[0]}: exit status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout.splitlines()[-1])

    def log(self, index):
        path = self.folder / f"{index}.log"
        return path.read_text(errors="replace") if path.exists() else ""


def compare(asked, settings, tally):
    for index, setting in enumerate(settings):
        log, real, rules = asked.log(index), asked.real[index], asked.rules[index]
        expect("Using" in log or "WARN" in log, f"NCCL wrote no log with {setting}: {real}")
        bootstrap, devices = logged_bootstrap(log), logged_devices(log)
        tally.bootstraps += 1
        tally.found += bootstrap is not None
        if bootstrap != rules["bootstrap"]:
            tally.differences.append(f"{setting}: bootstrap: NCCL {bootstrap}, rules {rules['bootstrap']}")
        if devices is None and "no net table" in real["error"]:
            tally.unseen += 1
            continue
        expect(devices is not None or not (real["up"] or real["socket"]), f"no line about Socket's devices with {setting}")
        tally.devices += 1
        if (devices or []) != rules["devices"]:
            tally.differences.append(f"{setting}: devices: NCCL {devices or []}, rules {rules['devices']}")


def check_layout(run, layout, release=None):
    """Fails with every setting on which the two sides differ. Without `release` the libnccl of the tests."""
    libnccl = libnccl_of(release) if release else run.build.libnccl
    tally = Tally()
    release = release or release_of(libnccl)
    # Up to 2.25 only a communicator makes the Socket transport tell.
    communicators = 0 if not layout.reaches_itself else 1 if int(release.split(".")[1]) >= 26 else len(layout.settings)
    with Namespace(layout.commands) as namespace:
        for _ in range(ATTEMPTS):
            asked = Asked(run.build, run.new_folder("asked"), namespace.name, libnccl, release, layout.settings, communicators)
            if not asked.moved:
                break
        expect(not asked.moved, "the namespace does not settle")
        compare(asked, layout.settings, tally)
    if tally.differences:
        raise Failed("\n  ".join([layout.why, *tally.differences]))
    return tally
