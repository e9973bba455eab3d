# SPDX-License-Identifier: BSD-3-Clause
"""A session as a Markdown document."""

from __future__ import annotations

from typing import Any

from .stats import median
from .summary import PHASES, Session
from .targets import all_targets


def as_markdown(session: Session, name: str, plots: list[str]) -> str:
    result = session.result
    where = result["machine"]
    lines = [
        f"# Measured on {result['date']}", "",
        f"Revision {result['revision']}; {where['cpu']}, {where['cores']} cores, "
        f"{where['memory_gb']:g} GiB,", f"{where['file_system']}, {where['system']}; load "
        f"{result['load_before']} before and {result['load_after']} after; "
        f"{result['seconds'] / 60:.0f} minutes.", "",
        "Ratios are medians of the ratios of single rounds; see ../README.md.", "",
        "## Targets", "", *target_table(session), "",
    ]
    if plots:
        lines += [*(f"![{plot}]({name}-{plot}.svg)" for plot in plots), ""]
    lines += ["## Traces", "", *trace_table(session), ""]
    lines += bandwidth_lines(session)
    for group, about in result["groups"].items():
        lines += [f"## {group}", "", about["about"][0].upper() + about["about"][1:] + ".", ""]
        if "skipped" in about:
            lines += [f"Skipped: {about['skipped']}.", ""]
            continue
        lines += [*time_table(session, group), *phase_table(session, group),
                  *memory_table(session, group), *scan_table(session, group)]
    return "\n".join(lines).rstrip() + "\n"


def table(head: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    """Markdown with columns of equal width; the first `left` ones aligned to the left."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        padded = [cell.ljust(w) if i < left else cell.rjust(w)
                  for i, (cell, w) in enumerate(zip(cells, widths))]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * w if i < left else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return [line(head), line(rule), *(line(row) for row in rows)]


def target_table(session: Session) -> list[str]:
    verdicts = {True: "yes", False: "no", None: "-"}
    return table(["target", "wanted", "measured", "met?"],
                 [[t.what, t.wanted, t.measured, verdicts[t.met]] for t in all_targets(session)],
                 left=3)


def trace_table(session: Session) -> list[str]:
    rows = []
    for name, trace in session.result["traces"].items():
        rows.append([name, f"{trace['events'] / 1e6:g}", f"{trace['locations']:,}",
                     f"{trace['communication_events'] / 1e6:.3g}", f"{trace['bytes'] / 1e6:,.0f}",
                     f"{trace['files']:,}", f"{trace['violated_share']:.2%}",
                     f"{trace['offset_noise_s'] * 1e6:.3g}" if "offset_noise_s" in trace
                     else "-"])
    return table(["trace", "M events", "locations", "M comm.", "MB", "files", "violated receives",
                  "noise us"], rows)


def bandwidth_lines(session: Session) -> list[str]:
    rows = []
    for threads in (1, 2):
        rate = session.bandwidth(threads)
        if rate is None:
            return []
        scan = session.scan_rate("main", "scan_speed", threads)
        each = session.group("main")["scan_speed"]["runs"][0]
        share = "-" if scan is None else f"{scan * each['bytes'] / each['events'] / rate:.3f}"
        rows.append([str(threads), f"{rate / 1e9:.1f}", share])
    return ["## Memory bandwidth", "", *table(
        ["threads", "GB/s copied (read + written)", "scanned bytes per copied byte"], rows), ""]


def number(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def time_table(session: Session, group: str) -> list[str]:
    rows = []
    for name in session.group(group):
        s = session.summary_of(group, name)
        if "median_s" not in s:
            continue
        each = s.get("ns_per_event")
        rows.append([name, f"{s['median_s']:.3f}", f"{s['min_s']:.3f}-{s['max_s']:.3f}",
                     f"{s['cpu_s']:.2f}", number(each, ".1f"),
                     number(s.get("per_cp")), number(s.get("per_otf2_copy"))])
    if not rows:
        return []
    return [*table(["program", "median s", "min-max s", "CPU s", "ns/event", "x cp",
                    "x otf2_copy"], rows), ""]


def phase_table(session: Session, group: str) -> list[str]:
    """Nanoseconds of each phase, by all events and by those of communication."""
    lines: list[str] = []
    for what, count in (("event", "events"), ("comm. event", "communication_events")):
        rows = []
        for name, contestant in session.group(group).items():
            phases = session.summary_of(group, name).get("phases_s")
            number_of = session.trace_of(contestant).get(count, 0)
            if phases and number_of:
                rows.append([name, *(f"{phases[p] / number_of * 1e9:.2f}" for p in PHASES)])
        if rows:
            lines += [*table([f"phase, ns/{what}", *PHASES], rows), ""]
    return lines


def memory_table(session: Session, group: str) -> list[str]:
    rows = []
    for name, contestant in session.group(group).items():
        peak: dict[str, Any] | None = session.summary_of(group, name).get("memory")
        if peak is None:
            continue
        trace = session.trace_of(contestant)
        rows.append([name, *(f"{peak[k] / 1e6:,.1f}" for k in (
            "anon_bytes", "anon_sum_bytes", "file_bytes", "shared_bytes", "spill_bytes")),
            f"{peak['anon_sum_bytes'] / trace['communication_events']:.0f}"])
    return [*table(["peak memory, MB", "anonymous", "sum", "mapped files", "shared", "spilled",
                    "B/comm. event"], rows), ""] if rows else []


def scan_table(session: Session, group: str) -> list[str]:
    rows = []
    for name, contestant in session.group(group).items():
        first = contestant["runs"][0] if contestant["runs"] else {}
        if "series" not in first or not contestant["trace"]:
            continue
        for entry in first["series"]:
            seconds = median(session.series_s(group, name, entry["name"], entry["threads"]))
            cpu = median(session.series_s(group, name, entry["name"], entry["threads"],
                                          "cpu_seconds"))
            rows.append([name, entry["name"], str(entry["threads"]),
                         f"{first['events'] / seconds / 1e6:.1f}",
                         f"{first['bytes'] / seconds / 1e9:.2f}",
                         f"{first['events'] / cpu / 1e6:.1f}" if cpu > 0 else "-"])
    head = ["in one process", "what", "threads", "M events/s", "GB/s", "per CPU s"]
    return [*table(head, rows, left=2), ""] if rows else []
