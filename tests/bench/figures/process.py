# SPDX-License-Identifier: Apache-2.0
"""What a process of a job pays: its first communicator, its memory, the library's load, each data call."""

import json
import re
import shutil
import subprocess
import sys

from rig.job import expect_success, run_job

from .row import SOURCE_ROOT, Row, output, spread

KINDS = ("stock", "topoguard", "stock again")
MOST_INIT, MOST_MEMORY, MOST_CALL = 10, 3 * 1024, 30


def communicator(bench):
    """Init and memory, of both ranks, in jobs that follow each other in turn."""
    wrapped = {"NCCL_NET_PLUGIN": "topoguard", "LD_LIBRARY_PATH": str(bench.build.plugin.parent)}
    seconds, memory = {kind: [] for kind in KINDS}, {kind: [] for kind in KINDS}
    for number in range(bench.rounds(60)):
        for kind in KINDS[number % 3:] + KINDS[:number % 3]:
            env = {"NCCL_DEBUG": "INFO" if number == 0 else "WARN", **(wrapped if kind == "topoguard" else {})}
            results = run_job(bench.build, bench.scratch / "job", ["init", "facts", "destroy"], env=env)
            if number == 0:
                expect_success(results, "topoguard" if kind == "topoguard" else "Socket")
                continue  # the files are in memory now
            seconds[kind].append(max(step["seconds"] * 1e3 for result in results for step in result.steps if step["step"] == "init"))
            memory[kind] += [result.value("facts")["resident_kib"] for result in results]
    return [init_row(seconds), memory_row(memory)]


def init_row(times):
    """NCCL's own start varies by more than what is sought: what counts is each round's difference from its two stock jobs."""
    found = {kind: spread(values) for kind, values in times.items()}
    rounds = list(zip(*(times[kind] for kind in KINDS)))
    more = spread([ours - (stock + again) / 2 for stock, ours, again in rounds])
    control = spread([stock - again for stock, _, again in rounds])["median"]
    met = more["median"] <= MOST_INIT
    return Row("first communicator, 2 ranks of the real NCCL", "the same without topoguard",
               f"{more['median']:+.1f} ms ({more['low']:+.0f} to {more['high']:+.0f} in single rounds; stock {found['stock']['median']:.0f} ms); "
               f"stock against stock {control:+.1f} ms", f"at most {MOST_INIT} ms more per process", met,
               "" if met else f"stock differs from itself by {abs(control):.1f} ms in this run",
               {"ms": found, "more_ms": more, "control_ms": control})


def memory_row(kib):
    found = {kind: spread(values) for kind, values in kib.items()}
    more = found["topoguard"]["median"] - found["stock"]["median"]
    return Row("memory of a rank (RSS)", "the same without topoguard",
               f"{more / 1024:+.2f} MiB ({found['topoguard']['median'] / 1024:.1f} MiB; stock {found['stock']['median'] / 1024:.1f}, again "
               f"{found['stock again']['median'] / 1024:.1f})",
               "at most 3 MiB more", more <= MOST_MEMORY, "" if more <= MOST_MEMORY else f"{(more - MOST_MEMORY) / 1024:.2f} MiB too many",
               {"kib": found, "more_kib": more})


def start_cost(bench, library, rounds):
    """Per quantile the us of /bin/true with nothing, an empty library and this one preloaded. On busy processors the median of such
    small differences is noise; the tenth of the rounds that was disturbed least shows the cost."""
    empty = bench.built("tests/unit/preload/libpreload_empty.so")
    done = subprocess.run([bench.built("tests/unit/preload/preload_cost"), empty, library, str(rounds)], capture_output=True, text=True,
                          timeout=300, check=False)
    found = re.findall(r"(median|tenth) us: none ([\d.]+), empty library ([\d.]+), libtopoguard.so ([\d.]+)", done.stdout)
    return {name: dict(zip(("none", "empty", "ours"), map(float, times))) for name, *times in found}


def preload(bench):
    us = start_cost(bench, bench.built("plugin/preload/libtopoguard.so"), bench.rounds(2500))
    more = {name: (times["ours"] - times["empty"], times["ours"] - times["none"]) for name, times in us.items()}
    met = more["tenth"][0] <= 20 and more["tenth"][1] <= 60
    rows = [Row("LD_PRELOAD on /bin/true", "an empty one-symbol library; no library",
                f"{more['tenth'][0]:+.1f} us against the empty one, {more['tenth'][1]:+.1f} us against none ({us['tenth']['none']:.0f} us), in the least "
                f"disturbed tenth of the rounds; medians {more['median'][0]:+.1f} and {more['median'][1]:+.1f} ({us['median']['none']:.0f} us)",
                "at most 20 and 60 us", met, "", {"us": us})]
    us = start_cost(bench, bench.build.plugin, bench.rounds(400))
    more = us["tenth"]["ours"] - us["tenth"]["empty"]
    rows.append(Row("load of the plugin library (dlopen with all symbols bound)", "an empty one-symbol library", f"{more / 1e3:+.2f} ms",
                    "at most 10 ms, with the communicator's init", more <= MOST_INIT * 1e3, "", {"us": us}))
    return rows


def calls(bench):
    if shutil.which("valgrind") is None:
        return [Row("instructions of a data call", "the stock function itself", why="valgrind is not installed")]
    done = subprocess.run([sys.executable, SOURCE_ROOT / "tests/bench/instructions", "--build", bench.folder], capture_output=True, text=True,
                          timeout=590, check=False)
    if done.returncode == 1:
        return [Row("instructions of a data call", "the stock function itself", why=done.stderr.strip()[-200:])]
    found = json.loads(done.stdout)
    rows = []
    for name, what, most in (("off", "by default", 0), ("on", "with counters on (TOPOGUARD_STALL_WARN_S)", MOST_CALL)):
        extra = found[name]["extra_instructions"]
        worst = max(extra, key=extra.get)
        met = extra[worst] <= most
        rows.append(Row(f"instructions of a data call, {what} (callgrind)", "the stock function itself",
                        ", ".join(f"{call.replace('_', ' ')} {count:+.0f}" for call, count in extra.items()) +
                        ("; slots stock's own" if found[name]["slots"] == "stock" else ""),
                        "none" if most == 0 else f"at most {most}", met, "" if met else f"{worst.replace('_', ' ')} takes {extra[worst] - most:.0f} too many",
                        found[name]))
    return rows


def files(bench, release):
    """The plugin file as it is shipped: of tools/release where that was given, else stripped here."""
    if release:
        plugin = release / "lib/libnccl-net-topoguard.so"
    else:
        plugin = bench.scratch / "stripped.so"
        output(["strip", "-o", plugin, bench.build.plugin])
    size = plugin.stat().st_size / 2**20
    needed = re.findall(r"NEEDED.*\[(.*)\]", output(["readelf", "-dW", plugin]))
    foreign = [name for name in needed if not re.match(r"(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so", name)]
    met = size <= 4 and not (foreign and release)
    why = "" if not foreign else f"needs {', '.join(foreign)}" + ("" if release else "; a release (tools/release) links them statically")
    return [Row("plugin file", "-", f"{size:.2f} MiB, {'of a release' if release else 'stripped'}", "at most 4 MiB, self-contained", met, why,
                {"mib": size, "needed": needed})]
