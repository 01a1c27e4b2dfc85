# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Prometheus' text form, version 0.0.4, as node_exporter's textfile collector takes it.

Stricter than the format: HELP and TYPE once and before the samples of each family, families not mixed, no sample twice, no
timestamps, counters end with _total, histograms have all their parts, the text ends with a line end."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|\Z)')
PARTS = ("_bucket", "_sum", "_count")


class Metrics:
    def __init__(self):
        self.types = {}
        self.samples = []  # (name, labels, value)

    def values(self, name, **labels):
        return [value for found, own, value in self.samples if found == name and labels.items() <= own.items()]

    def label_values(self, label):
        return {labels.get(label) for _, labels, _ in self.samples}


def need(condition, text):
    if not condition:
        raise AssertionError(f"metrics: {text}")


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        need(found, f"labels {text!r}")
        name, value, comma = found.groups()
        need(name not in labels, f"label {name} twice in {text!r}")
        need(comma == "" or found.end() < len(text), f"comma at the end of {text!r}")
        labels[name] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value)
        at = found.end()
    return labels


def family_of(name, types):
    if name in types:
        return name
    return next((name[:-len(part)] for part in PARTS if name.endswith(part) and types.get(name[:-len(part)]) == "histogram"), None)


def parse(text):
    """AssertionError where the text is not in order."""
    metrics, helped, seen, current, done = Metrics(), set(), set(), None, set()
    need(text.endswith("\n"), "no line end at the end")
    for line in text[:-1].split("\n"):
        comment = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)\Z", line)
        if comment:
            kind, name, rest = comment.groups()
            if kind == "HELP":
                need(name not in helped, f"HELP twice for {name}")
                helped.add(name)
            else:
                need(name in helped and name not in metrics.types, f"TYPE of {name} without HELP, or twice")
                need(rest in ("counter", "gauge", "histogram"), f"type {rest}")
                need((rest == "counter") == name.endswith("_total"), f"{name} is a {rest}")
                metrics.types[name] = rest
            continue
        found = SAMPLE.match(line)
        need(found, f"line {line!r}")
        name, labels, value = found.group(1), labels_of(found.group(2) or ""), float(found.group(3))
        family = family_of(name, metrics.types)
        need(family, f"{name} has no TYPE")
        if family != current:
            need(family not in done, f"the samples of {family} are not together")
            done.add(family)
            current = family
        key = (name, tuple(sorted(labels.items())))
        need(key not in seen, f"{line!r} twice")
        seen.add(key)
        metrics.samples.append((name, labels, value))
    for name, kind in metrics.types.items():
        if kind == "histogram":
            check_histogram(metrics, name)
    return metrics


def check_histogram(metrics, name):
    for _, labels, count in [sample for sample in metrics.samples if sample[0] == f"{name}_count"]:
        buckets = [(float(own["le"]), value) for found, own, value in metrics.samples
                   if found == f"{name}_bucket" and labels.items() <= own.items()]
        need(buckets == sorted(buckets) and [value for _, value in buckets] == sorted(value for _, value in buckets),
             f"buckets of {name} are not cumulative")
        need(buckets and buckets[-1] == (float("inf"), count), f"the last bucket of {name} is not its count")
        need(len(metrics.values(f"{name}_sum", **labels)) == 1, f"{name} has no sum")
