# SPDX-License-Identifier: Apache-2.0
"""What topoguard itself said in a job: its block in NCCL's log, and its warnings, in the log or on stderr."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Warned:
    severity: str
    code: str
    text: str


class Announced:
    """Of one rank (job.RankResult)."""

    def __init__(self, result):
        self._log = result.log.text
        self._all = result.log.text + "\n" + result.stderr

    @property
    def header(self):
        """The line with version, release, front end and mode; None where topoguard did not speak."""
        return self._find(r"topoguard \d[^\s]* in .*")

    @property
    def way(self):
        """The line with the transport and how topoguard takes part."""
        return self._find(r"topoguard: (.*(?:under topoguard|steering only|observing).*)", 1)

    @property
    def sets(self):
        """NAME=VALUE pairs that it says it sets, or would set when it only observes."""
        line = self._find(r"topoguard: (?:would set|sets) (\w+=.*)", 1)
        return dict(pair.split("=", 1) for pair in line.split(", ")) if line else {}

    @property
    def devices(self):
        """name -> (verdict, reason)"""
        pattern = r"topoguard: (chosen|eligible|rejected) (?:netdev|hca) (\S+): ([\w-]+)"
        return {name: (verdict, reason) for verdict, name, reason in re.findall(pattern, self._log)}

    @property
    def warnings(self):
        pattern = r"topoguard (error|warning) \[([\w-]+)\]: (.*)"
        return [Warned(*found) for found in re.findall(pattern, self._all)]

    def warned(self, code):
        return [warning for warning in self.warnings if warning.code == code]

    @property
    def silent(self):
        """Not a line of it anywhere (NCCL's own lines about the plugin do not count)."""
        return self.header is None and not self.warnings and self._find(r"topoguard: ") is None

    def _find(self, pattern, group=0):
        found = re.search(pattern, self._log)
        return found.group(group).strip() if found else None
