# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the workers' counts, and the table made of them."""

import platform


def merged(parts: list[dict], setting: dict) -> dict:
    kinds: dict[str, dict] = {}
    found: dict[str, dict] = {}
    for part in parts:
        for name, counts in part["counts"].items():
            _add(kinds.setdefault(name, {}), counts)
        for signature, entry in part["found"].items():
            if signature in found:
                found[signature]["count"] += entry["count"]
                found[signature]["examples"] += entry["examples"]
            else:
                found[signature] = entry
    surfaces: dict[str, dict] = {}
    swept: dict[str, dict] = {}
    for counts in kinds.values():
        _add(surfaces, counts.pop("surfaces", {}))
    for part in parts:
        for name, one in part.get("swept", {}).items():
            known = swept.setdefault(name, {"done": 0, "most": 0})
            known["done"] += one["done"]
            known["most"] = max(known["most"], one["most"])
    total: dict = {}
    for counts in kinds.values():
        _add(total, {key: value for key, value in counts.items() if not isinstance(value, dict)})
    return {**setting, "machine": platform.processor() or platform.machine(), "total": total,
            "kinds": kinds, "surfaces": surfaces, "swept": swept,
            "next": min((part.get("next", 0) for part in parts), default=0),
            "longest_answer_s": max((part["longest_answer_s"] for part in parts), default=0.0),
            "findings": sorted(found.values(), key=lambda entry: -entry["count"])}


def _add(into: dict, counts: dict) -> None:
    for key, value in counts.items():
        if isinstance(value, dict):
            _add(into.setdefault(key, {}), value)
        elif key.startswith("slowest"):
            into[key] = max(into.get(key, 0.0), value)
        else:
            into[key] = into.get(key, 0) + value


def as_markdown(result: dict) -> str:
    total = result["total"]
    lines = ["# Torture", "",
             f"`make torture` of {result['date']}: {result['version']}, seed {result['seed']}, "
             f"{result['seconds']:,.0f} s, {result['jobs']} processes. "
             f"Cases {result.get('first', 0):,} to {result.get('next', 0):,} (--first {result.get('next', 0)} "
             f"goes on). {total['runs']:,} runs of the tool, {total['sanitized_runs']:,} of them under the "
             "address and undefined-behaviour sanitizers.", "",
             "| kind | cases | runs | sanitized | failed cases | slowest run |",
             "|---|---:|---:|---:|---:|---:|"]
    for name, counts in [*result["kinds"].items(), ("all", total)]:
        lines.append(f"| {name} | {counts['cases']:,} | {counts['runs']:,} | "
                     f"{counts['sanitized_runs']:,} | {counts['failed_cases']:,} | "
                     f"{counts['slowest_s']:.2f} s |")
    lines += ["", f"An interrupted run ended {result['longest_answer_s']:.2f} s after its signal "
              "at the latest.", ""]
    lines += _surfaces(result.get("surfaces", {})) + _swept(result.get("swept", {}))
    notes = [(f"{name}: {note}", count) for name, counts in result["kinds"].items()
             for note, count in counts["notes"].items()]
    if notes:
        lines += ["Counted, but no failure:", "", "| what | times |", "|---|---:|"]
        lines += [f"| {note} | {count:,} |" for note, count in sorted(notes)] + [""]
    if result["findings"]:
        lines += ["## Failures", "", "| rule | verb | times | first example |",
                  "|---|---|---:|---|"]
        lines += [f"| {entry['rule']} | {entry['verb']} | {entry['count']:,} | "
                  f"{_cell(entry['detail'])} |" for entry in result["findings"]] + [""]
    return "\n".join(lines)


def _surfaces(surfaces: dict) -> list[str]:
    """What was run how often, and how it ended."""
    if not surfaces:
        return []
    codes = sorted({code for counts in surfaces.values() for code in counts}, key=_code_order)
    lines = ["## Surfaces", "", "| run | input | runs | " +
             " | ".join(f"exit {code}" for code in codes) + " |",
             "|---|---|" + "---:|" * (1 + len(codes))]
    for name, counts in sorted(surfaces.items()):
        lines.append(f"| {name} | {sum(counts.values()):,} | " +
                     " | ".join(f"{counts.get(code, 0):,}" for code in codes) + " |")
    return [*lines, ""]


def _code_order(code: str) -> tuple[int, int]:
    return (0, abs(int(code))) if code.lstrip("-").isdigit() else (1, 0)


def _swept(swept: dict) -> list[str]:
    """Of how many calls each one failed."""
    if not swept:
        return []
    ways = sorted({name.split(" | ")[1] for name in swept})
    rows: dict[str, dict] = {}
    for name, one in swept.items():
        for row in (name.split(" | ")[0], "all"):
            _add(rows.setdefault(row, {}).setdefault(name.split(" | ")[1], {}), one)
    lines = ["## Sweep", "", "Each k-th call failed in a run of its own: how many of them, of how many.",
             "", "| scenario | " + " | ".join(ways) + " |", "|---|" + "---:|" * len(ways)]
    for name in sorted(rows, key=lambda row: (row == "all", row)):
        cells = [rows[name].get(way, {"done": 0, "most": 0}) for way in ways]
        lines.append(f"| {name} | " + " | ".join(
            f"{cell['done']:,} of {cell['most']:,}" for cell in cells) + " |")
    return [*lines, ""]


def _cell(text: str) -> str:
    first = text.split("\n", 1)[0][:160]
    return "".join(c if c.isprintable() else "?" for c in first).replace("|", "\\|")
