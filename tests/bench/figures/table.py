# SPDX-License-Identifier: Apache-2.0
"""The table in docs/performance.md and the document beside it."""

import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path

from .row import SOURCE_ROOT

BEGIN = "<!-- figures: written by tests/bench/run -->\n"
END = "<!-- end of figures -->"


def machine():
    """What kind of machine it is; not which."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    virtual = "hypervisor" in text
    return f"{os.cpu_count()} processors ({model.group(1).strip() if model else 'unknown'}{', virtual' if virtual else ''}), Linux {platform.release().split('-')[0]}"


def commit():
    done = subprocess.run(["git", "-C", SOURCE_ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def document(rows, load, options, version, nccl):
    return {"schema": "topoguard.performance/1", "date": datetime.date.today().isoformat(), "topoguard": version, "commit": commit(), "nccl": nccl,
            "machine": machine(), "load_before": load[0], "load_after": load[1], "build": options,
            "rows": [{"what": row.what, "opponent": row.opponent, "measured": row.measured, "goal": row.goal, "met": row.met, "why": row.why,
                      **row.data} for row in rows]}


def markdown(rows, result):
    busy = result["load_before"] > os.cpu_count() * 0.75  # what is measured raises the other
    lines = [f"Measured on {result['date']} with topoguard {result['topoguard']} ({result['build']}) and NCCL {result['nccl']}, on {result['machine']}. "
             f"Load average {result['load_before']:.1f} before, {result['load_after']:.1f} after"
             + (": **the processors were shared with other work**, which widens every spread and slows small things most." if busy else "."), "",
             "| what | against | measured | goal | |", "|---|---|---|---|---|"]
    lines += [f"| {row.what} | {row.opponent} | {row.measured or '-'} | {row.goal or '-'} | {row.verdict()} |" for row in rows]
    return "\n".join(lines) + "\n"


def write(rows, result, page):
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: the marks around the table are gone")
    page.write_text(before + begin + "\n" + markdown(rows, result) + "\n" + end + after, encoding="utf-8")
    page.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
