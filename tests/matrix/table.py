# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/compatibility.md and README.md, out of results.json."""

BEGIN = "<!-- compatibility: written by tests/matrix/run --table -->\n"
END = "<!-- end of compatibility -->"


def write(source, rows, check):
    """Writes both documents, or with `check` only says which one is behind. Returns the exit status."""
    behind = [name for name, lines in (("docs/compatibility.md", full(rows)), ("README.md", short(rows)))
              if not fill(source / name, lines, check)]
    for name in behind:
        print(f"{name}: its table is behind tests/matrix/results.json, or the marks around it are gone; "
              "tests/matrix/run --table writes it")
    return 1 if behind else 0


def fill(path, lines, check):
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        return False
    new = "\n" + "\n".join(lines) + "\n\n"
    if not check:
        path.write_text(before + begin + new + end + after, encoding="utf-8")
    return not check or old == new


def yes(value):
    return "yes" if value else "no"


def works(row):
    return "failed" not in row


def net(row):
    """"wrapped (v11)", or "steering only", or what went wrong."""
    if not works(row):
        return "failed: " + row["failed"].splitlines()[0].replace("|", "/")
    return f"wrapped (v{row['net_api']})" if row["way"] == "wrapped" else row["way"]


def full(rows):
    lines = ["| release | build | needs glibc | `.symtab` | tables found, stripped | transports | env plugin | two ranks | bytes moved and verified |",
             "|---|---|---|---|---|---|---|---|---|"]
    for release, row in rows.items():
        cells = [release, row.get("build", ""), row.get("glibc", ""), yes(row.get("symtab")),
                 f"{row.get('tables', '')}, {row.get('tables_stripped', '')}", net(row)]
        cells += [f"v{row['env_api']}" if row["env_plugin"] else "no", row["communicator"],
                  "stock and topoguard" if row["bytes"] == "verified" else "stock"] if works(row) else ["", "", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def series(release):
    return ".".join(release.partition("+")[0].split(".")[:2])


def short(rows):
    groups = {}
    for release, row in rows.items():
        facts = (net(row), row.get("env_plugin"), row.get("communicator")) if works(row) else (net(row), None, None)
        groups.setdefault((series(release), facts), []).append(release)
    lines = ["| NCCL | releases run | its transports | env plugin | two ranks came up |", "|---|---|---|---|---|"]
    for (name, (transports, env_plugin, ranks)), releases in groups.items():
        lines.append(f"| {name} | {', '.join(releases)} | {transports} | {yes(env_plugin)} | {ranks or 'no'} |")
    return lines
