#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtopoguard.so exports the seven functions and nothing else, needs libc alone, and has one constructor. Usage: exports.py FILE"""

import re
import subprocess
import sys

WANTED = {"ncclGetUniqueId", "ncclCommInitRank", "ncclCommInitRankConfig", "ncclCommInitRankScalable", "ncclCommInitAll",
          "ncclCommSplit", "ncclCommShrink"}


def main(path):
    def tool(*command):
        return subprocess.run([*command, path], check=True, capture_output=True, text=True, timeout=60).stdout
    exported = set(re.findall(r" [A-Z] (\w+)", tool("nm", "-D", "--defined-only")))
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-d")))
    constructors = re.search(r"\(INIT_ARRAYSZ\)\s+(\d+)", tool("readelf", "-d"))
    problems = []
    if exported != WANTED:
        problems.append(f"exports {sorted(exported ^ WANTED)} too many or too few")
    if not needed <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}:
        problems.append(f"needs {sorted(needed)}")
    if not constructors or int(constructors.group(1)) != 8:
        problems.append("has not exactly one constructor")
    for problem in problems:
        print(f"{path} {problem}")
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
