#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopoguard.so in processes that never asked for it: whatever they do, they do as without it.

Usage: hazards.py LIBTOPOGUARD PLUGIN EMPTY PROBE STAND_IN LINKED_PROBE ASAN_PROBE|- STATIC_ASAN_PROBE|- (paths of what was built)"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY, PLUGIN, EMPTY, PROBE, STAND_IN, LINKED, ASAN, STATIC_ASAN = (Path(path).resolve() for path in sys.argv[1:9])
NET, ENV = "NCCL_NET_PLUGIN", "NCCL_ENV_PLUGIN"


def run(*command, **env):
    """Status, lines of standard output and standard error, in exactly this environment."""
    done = subprocess.run([str(part) for part in command], env={name: str(value) for name, value in env.items()},
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def find_library(name):
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=60).stdout
    found = re.search(rf"=> (\S*/{re.escape(name)}\S*)", listing)
    return found.group(1) if found else None


class Hazards(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="topoguard-preload-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.library = self.folder / "libtopoguard.so"
        self.library.symlink_to(LIBRARY)

    def published(self, **env):
        status, lines, errors = run(PROBE, "show", **env)
        self.assertEqual((status, errors), (0, ""))
        return dict(line.split("=", 1) for line in lines)

    def names(self):
        return {NET: f"{self.folder}/libnccl-net-topoguard.so", ENV: f"{self.folder}/libnccl-env-topoguard.so"}

    def test_names_both_plugins(self):
        self.assertEqual(self.published(LD_PRELOAD=self.library), self.names())

    def test_what_is_set_stays(self):
        names = self.names()
        self.assertEqual(self.published(LD_PRELOAD=self.library, NCCL_NET_PLUGIN="none"), {NET: "none", ENV: names[ENV]})
        self.assertEqual(self.published(LD_PRELOAD=self.library, NCCL_NET_PLUGIN="", NCCL_ENV_PLUGIN="x"), {NET: "", ENV: "x"})

    def test_off(self):
        for off in ("off", "OFF", " off\t"):
            self.assertEqual(self.published(LD_PRELOAD=self.library, TOPOGUARD_MODE=off), {})
        self.assertEqual(self.published(LD_PRELOAD=self.library, TOPOGUARD_MODE="of f"), self.names())

    def test_opened_and_closed(self):
        """As NCCL does where somebody names it as a plugin: the environment that it published must outlive it."""
        program = ("import _ctypes, ctypes, sys; library = ctypes.CDLL(sys.argv[1]); _ctypes.dlclose(library._handle); "
                   "libc = ctypes.CDLL(None); libc.getenv.restype = ctypes.c_char_p; print(libc.getenv(b'MARK').decode())")
        self.assertEqual(run(sys.executable, "-c", program, self.library, MARK="there")[:2], (0, ["there"]))

    def test_relative_path(self):
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        published = self.published(LD_PRELOAD="./libtopoguard.so")
        self.assertEqual(os.path.normpath(published[NET]), self.names()[NET])
        self.assertTrue(published[NET].startswith("/"))

    def test_more_variables_than_the_array_holds(self):
        many = {f"V{number}": "x" for number in range(17000)}
        self.assertEqual(self.published(LD_PRELOAD=self.library, **many), {})
        fewer = dict(list(many.items())[:16000])
        self.assertEqual(self.published(LD_PRELOAD=self.library, **fewer), self.names())

    def test_fork_vfork_and_spawn(self):
        self.assertEqual(run(PROBE, "forks", LD_PRELOAD=self.library), (0, [], ""))

    def test_the_program_changes_its_environment(self):
        self.assertEqual(run(PROBE, "changes", LD_PRELOAD=self.library), (0, [], ""))

    def test_shell_and_its_children(self):
        status, lines, errors = run("/bin/sh", "-c", f"{PROBE} show; exec {PROBE} show", LD_PRELOAD=self.library, PATH="/bin:/usr/bin")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(sorted(lines), sorted(2 * [f"{name}={value}" for name, value in self.names().items()]))

    def test_other_allocators(self):
        tried = 0
        for name in ("libjemalloc.so", "libtcmalloc_minimal.so", "libtcmalloc.so"):
            allocator = find_library(name)
            if allocator:
                tried += 1
                for both in (f"{allocator}:{self.library}", f"{self.library}:{allocator}"):
                    self.assertEqual(run(PROBE, "allocates", LD_PRELOAD=both), (0, [], ""), both)
        self.assertEqual(run(PROBE, "allocates", LD_PRELOAD=self.library), (0, [], ""))
        if not tried:
            self.skipTest("neither jemalloc nor tcmalloc is installed")

    def test_address_sanitizer_in_the_program(self):
        if str(STATIC_ASAN) == "-":
            self.skipTest("this compiler cannot link the sanitizer statically")
        for what in ("allocates", "changes"):
            self.assertEqual(run(STATIC_ASAN, what, LD_PRELOAD=self.library), (0, [], ""))

    def test_address_sanitizer_as_a_library(self):
        """It must come first and says so itself, of any preloaded library; behind it we are harmless."""
        if str(ASAN) == "-":
            self.skipTest("no AddressSanitizer runtime")
        linked = subprocess.run(["ldd", ASAN], capture_output=True, text=True, timeout=60).stdout
        runtime = re.search(r"=> (\S*(?:libasan|clang_rt)\S*)", linked)
        if not runtime:
            self.skipTest("the sanitizer is not a library here")
        for what in ("allocates", "changes"):
            self.assertEqual(run(ASAN, what, LD_PRELOAD=f"{runtime.group(1)}:{self.library}"), (0, [], ""))

    def test_privileged_programs_are_left_alone(self):
        """/etc/ld.so.preload reaches set-uid programs too: in a mount namespace of our own."""
        if os.geteuid() != 0:
            self.skipTest("needs root")
        etc = self.folder / "etc"
        shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True, ignore=lambda *_: ["ssl", "alternatives"])
        plain = self.folder / "plain"
        real = self.folder / "real"
        real.mkdir()
        shutil.copy(LIBRARY, real / "libtopoguard.so")
        (etc / "ld.so.preload").write_text(f"{real}/libtopoguard.so\n")
        self.folder.chmod(0o755)
        for copy, mode in ((plain, 0o755), (self.folder / "secure", 0o4755)):
            shutil.copy(PROBE, copy)
            copy.chmod(mode)
        # env -i: the unprivileged programs before it have published, too, and it would inherit that.
        nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups env -i"
        script = f"mount --bind {etc} /etc && {nobody} {plain} show && echo -- && {nobody} {self.folder}/secure show && echo end"
        status, lines, errors = run("unshare", "-m", "sh", "-c", script, PATH=os.environ["PATH"])
        if status != 0 and "unshare" in errors:
            self.skipTest(errors.strip())
        self.assertEqual(status, 0, errors)
        mark = lines.index("--")
        self.assertEqual(len(lines[:mark]), 2, lines)
        if "nosuid" in subprocess.run(["findmnt", "-no", "OPTIONS", "-T", self.folder], capture_output=True, text=True).stdout:
            self.skipTest("the scratch folder is on a nosuid file system")
        self.assertEqual(lines[mark + 1:], ["end"])

    def test_nothing_happens_in_a_process_without_nccl(self):
        """No file, no thread, no memory: the same system calls as with an empty library, but for its own name."""
        if not shutil.which("strace"):
            self.skipTest("no strace")

        def calls(library):
            log = self.folder / "strace"
            status, _, errors = run("strace", "-f", "-qq", "-o", log, "-E", f"LD_PRELOAD={library}", "/bin/true", PATH=os.environ["PATH"])
            if status != 0 and "ptrace" in errors:
                self.skipTest("ptrace is forbidden here")
            self.assertEqual(status, 0, errors)
            return [re.sub(r"^\d+ +", "", line) for line in log.read_text().splitlines()]

        def shape(lines):
            """Names of the calls after the library was mapped: what relocation, constructors and main do. The mappings of
            two different files differ in number, so only anonymous ones count there."""
            return [re.match(r"\w+", line).group(0) for line in lines if re.match(r"\w+\(", line) and "MAP_PRIVATE|MAP_DENYWRITE" not in line
                    and "MAP_PRIVATE|MAP_FIXED" not in line and not line.startswith("mprotect")]

        ours, empty = calls(self.library), calls(EMPTY)
        self.assertTrue(any(str(self.library) in line for line in ours))
        opened = [line for line in ours if re.match(r"open|access|stat|newfstatat|readlink", line) and "topoguard" in line]
        self.assertEqual(len(opened), 1, opened)
        for forbidden in ("clone", "socket", "getcwd"):
            self.assertFalse([line for line in ours if line.startswith(forbidden)])
        self.assertEqual([name for name in shape(ours) if name != "pread64"], [name for name in shape(empty) if name != "pread64"])

    def test_no_nccl_in_the_process(self):
        status, lines, errors = run(PROBE, "calls", LD_PRELOAD=self.library)
        self.assertEqual((status, lines), (0, ["5 "]))
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("no NCCL in this process", errors)

    def test_plugin_library_is_missing(self):
        """One line that says so, and the call goes through."""
        nccl = self.folder / "libnccl.so.2"
        nccl.symlink_to(STAND_IN)
        status, lines, errors = run(PROBE, "calls", nccl, LD_PRELOAD=self.library)
        self.assertEqual((status, lines), (0, ["0 stand-in"]))
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn(f"cannot use {self.folder}/libnccl-net-topoguard.so", errors)

    def test_plugin_library_of_another_version(self):
        nccl = self.folder / "libnccl.so.2"
        nccl.symlink_to(STAND_IN)
        (self.folder / "libnccl-net-topoguard.so").symlink_to(EMPTY)
        status, lines, errors = run(PROBE, "calls", nccl, LD_PRELOAD=self.library)
        self.assertEqual((status, lines), (0, ["0 stand-in"]))
        self.assertIn("another version", errors)

    def test_every_argument_arrives(self):
        (self.folder / "libnccl-net-topoguard.so").symlink_to(PLUGIN)
        without = run(LINKED)
        self.assertEqual((without[0], len(without[1])), (0, 7), without)
        self.assertNotIn("lost", "".join(without[1]))
        self.assertEqual(run(LINKED, LD_PRELOAD=self.library, TOPOGUARD_LOG="off"), without)
        self.assertEqual(run(LINKED, LD_PRELOAD=self.library, TOPOGUARD_MODE="off"), without)

    def test_off_does_not_open_the_plugin_library(self):
        nccl = self.folder / "libnccl.so.2"
        nccl.symlink_to(STAND_IN)
        self.assertEqual(run(PROBE, "calls", nccl, LD_PRELOAD=self.library, TOPOGUARD_MODE="off"), (0, ["0 stand-in"], ""))

    def test_calls_go_through_with_the_plugin_library(self):
        nccl = self.folder / "libnccl.so.2"
        nccl.symlink_to(STAND_IN)
        (self.folder / "libnccl-net-topoguard.so").symlink_to(PLUGIN)
        status, lines, _ = run(PROBE, "calls", nccl, LD_PRELOAD=self.library)
        self.assertEqual((status, lines), (0, ["0 stand-in"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
