# SPDX-License-Identifier: Apache-2.0
"""`topoguard check` on the hosts of a lab, and what came out."""

import json
import time
from pathlib import Path

from rig.build import clean_environment
from rig.outcome import expect, expect_equal

TIMEOUT = 60  # seconds until a process counts as hanging


class Outcome:
    def __init__(self, processes):
        deadline = time.monotonic() + TIMEOUT
        self.status = {name: process.wait(deadline) for name, process in processes.items()}
        self.out = {name: process.stdout for name, process in processes.items()}
        self.err = {name: process.stderr for name, process in processes.items()}
        self.document = json.loads(self.out["a"]) if self.out.get("a", "").startswith("{") else None

    def findings(self, code=None):
        expect(self.document is not None, f"no document from rank 0: {self.out} {self.err}")
        return [finding for finding in self.document["findings"] if code in (None, finding["code"])]

    def the_finding(self, code):
        found = self.findings(code)
        expect_equal(len(found), 1, f"findings of {code} among {self.document['findings']}")
        expect(len(found[0]["remedy"]) > 10, f"no remedy: {found[0]}")
        return found[0]

    def connection(self, source, target):
        found = [one for one in self.document["connections"]
                 if one["from"]["host"] == f"node-{source}" and one["to"]["host"] == f"node-{target}"]
        expect_equal(len(found), 1, f"connections from {source} to {target}")
        return found[0]

    def expect_statuses(self, wanted, names="abc"):
        expect_equal({name: self.status[name] for name in names}, dict.fromkeys(names, wanted),
                     f"exit statuses (stderr: {self.err})")

    def expect_only_rank_0_speaks(self):
        for name in self.out:
            expect_equal(self.err[name], "", f"stderr of {name}")
            if name != "a":
                expect_equal(self.out[name], "", f"stdout of {name}")

    def expect_codes(self, *codes):
        expect_equal(sorted({finding["code"] for finding in self.findings()}), sorted(codes), "codes of the findings")


class Check:
    def __init__(self, lab, topoguard, folder):
        self.lab, self.topoguard, self.folder = lab, topoguard, Path(folder)

    def start(self, node, rank, *options, ranks=3, env=None, before=(), tag="", launcher=None):
        """As torchrun's environment has it, unless `launcher` is another environment."""
        settings = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": self.lab.addresses["a"], "MASTER_PORT": "29500"}
        if launcher is not None:
            settings = launcher
        command = [*before, self.topoguard, "check", *(["--json"] if rank == 0 else []), *options]
        return self.lab.start(self.folder, node, command, {**clean_environment(), **settings, **(env or {})}, tag)

    def run(self, *options, nodes="abc", ranks=3, env=None, before=None):
        """`env` and `before` (a program that runs it) by node."""
        processes = {node: self.start(node, "abc".index(node), *options, ranks=ranks, env=(env or {}).get(node),
                                      before=(before or {}).get(node, ())) for node in nodes}
        return Outcome(processes)
