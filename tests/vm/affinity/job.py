# SPDX-License-Identifier: Apache-2.0
"""One rank on real NCCL, told what to do in steps, that reports the CPU masks of its threads.

usage: job.py --libnccl FILE --fakecuda FILE --libcuda FILE|none [--rank N --ranks N --exchange FOLDER] STEP...

  worker          start an idle thread, as a data loader has
  pinned:CPU      start an idle thread that pins itself to one CPU
  forbid          from now on the kernel refuses sched_setaffinity (a seccomp filter)
  device:N        cudaSetDevice
  init            ncclCommInitRank; init-config: ncclCommInitRankConfig
  thread-init     ncclCommInitRank in a thread, which then stays

After each init one line of JSON on stdout: the mask of each thread by what it is ("main", "worker", "pinned", "caller"), and
of all others, NCCL's own, under "nccl". Each is what sched_getaffinity and /proc say; the program fails where they differ.
"""
import argparse
import ctypes
import json
import os
import struct
import sys
import threading
import time
from pathlib import Path


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


# ncclConfig_t as NCCL 2.18 has it: size, magic, version, blocking, cgaClusterSize, minCTAs, maxCTAs, netName, splitShare.
UNSET = -2**31
CONFIG = struct.pack("@NIIiiiiPi4x", 48, 0xcafebeef, 21800, 1, UNSET, UNSET, UNSET, 0, UNSET)

# Classic BPF (kernel: seccomp_filter.rst), x86-64: sched_setaffinity, system call 203, fails with EPERM.
FILTER = [(0x20, 0, 0, 0), (0x15, 0, 1, 203), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def check(call, result):
    if result != 0:
        sys.exit(f"{call} returned {result}")


def forbid():
    libc = ctypes.CDLL(None, use_errno=True)
    rows = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in FILTER))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(FILTER), ctypes.addressof(rows)))
    check("prctl", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check("prctl", libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0))
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except PermissionError:
        return
    sys.exit("the seccomp filter does not work")


def mask(thread):
    status = Path(f"/proc/self/task/{thread}/status").read_text()
    said = next(line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list:"))
    listed = set()
    for part in said.split(","):
        first, _, last = part.partition("-")
        listed |= set(range(int(first), int(last or first) + 1))
    if listed != os.sched_getaffinity(thread):
        sys.exit(f"thread {thread}: /proc says {said}, sched_getaffinity {os.sched_getaffinity(thread)}")
    return said


class Job:
    def __init__(self, arguments):
        self.arguments = arguments
        self.threads = {os.getpid(): "main"}
        self.communicators = 0
        if arguments.libcuda != "none":
            ctypes.CDLL(arguments.libcuda)
        self.nccl = ctypes.CDLL(arguments.libnccl)
        fake = ctypes.CDLL(arguments.fakecuda)
        if fake.fakecuda_install() < 1:
            sys.exit("libnccl's CUDA runtime was not redirected")
        fake.fakecuda_function.restype = ctypes.c_void_p
        self.set_device = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(fake.fakecuda_function(b"cudaSetDevice"))
        self.device = 0
        check("cudaSetDevice", self.set_device(self.device))

    def idle_thread(self, what, first):
        """Starts a thread that does `first` and then nothing; returns when that is done."""
        done = threading.Event()

        def body():
            self.threads[threading.get_native_id()] = what
            try:
                first()
            except BaseException as error:  # would end this thread alone, and the main thread would wait for ever
                print(error, file=sys.stderr, flush=True)
                os._exit(1)
            done.set()
            threading.Event().wait()
        threading.Thread(target=body, daemon=True).start()
        done.wait()

    def unique_id(self):
        unique = UniqueId()
        path = Path(self.arguments.exchange) / f"id{self.communicators}" if self.arguments.ranks > 1 else None
        if self.arguments.rank == 0:
            check("ncclGetUniqueId", self.nccl.ncclGetUniqueId(ctypes.byref(unique)))
            if path:
                path.with_suffix(".new").write_bytes(bytes(unique))
                path.with_suffix(".new").rename(path)
            return unique
        while not path.exists():
            time.sleep(0.05)
        return UniqueId.from_buffer_copy(path.read_bytes())

    def init(self, config=None):
        check("cudaSetDevice", self.set_device(self.device))  # the runtime's device is each thread's own
        place = (ctypes.c_int(self.arguments.ranks), self.unique_id(), ctypes.c_int(self.arguments.rank))
        communicator = ctypes.c_void_p()
        if config:
            check("ncclCommInitRankConfig", self.nccl.ncclCommInitRankConfig(ctypes.byref(communicator), *place, config))
        else:
            check("ncclCommInitRank", self.nccl.ncclCommInitRank(ctypes.byref(communicator), *place))
        self.communicators += 1

    def report(self):
        masks = {}
        for thread in map(int, os.listdir("/proc/self/task")):
            masks.setdefault(self.threads.get(thread, "nccl"), set()).add(mask(thread))
        print(json.dumps({what: ",".join(sorted(found)) for what, found in masks.items()}), flush=True)

    def step(self, step):
        name, _, argument = step.partition(":")
        if name == "worker":
            self.idle_thread("worker", lambda: None)
        elif name == "pinned":
            self.idle_thread("pinned", lambda: os.sched_setaffinity(0, {int(argument)}))
        elif name == "forbid":
            forbid()
        elif name == "device":
            self.device = int(argument)
        elif name == "thread-init":
            self.idle_thread("caller", self.init)
            self.report()
        elif name in ("init", "init-config"):
            self.init(ctypes.create_string_buffer(CONFIG, len(CONFIG)) if name == "init-config" else None)
            self.report()
        else:
            sys.exit(f"unknown step {step}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--libnccl", "--fakecuda", "--libcuda"):
        parser.add_argument(name, required=True)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--exchange")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    job = Job(arguments)
    for step in arguments.steps:
        job.step(step)
    sys.stdout.flush()
    os._exit(0)  # idle threads never end, and destroying communicators is other tests' business


main()
