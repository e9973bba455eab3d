# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a session."""

from __future__ import annotations

from .stats import median, paired_ratio
from .summary import Session
from .svg import Bar, Line, bar_chart, line_chart


def all_plots(session: Session) -> dict[str, str]:
    """Name -> SVG; those of which nothing was measured are left out."""
    plots = {"ratios": ratio_plot(session), "growth": growth_plot(session),
             "locations": locations_plot(session), "speedup": speedup_plot(session),
             "violations": violations_plot(session)}
    return {name: text for name, text in plots.items() if text}


def ratio_plot(session: Session) -> str:
    bars = []
    for name, contestant in session.group("main").items():
        if not contestant["trace"] or name in ("cp", "scan_speed"):
            continue
        ratios = paired_ratio(session.walls("main", name), session.walls("main", "cp"))
        bars.append(Bar(name, median(ratios), min(ratios), max(ratios)))
    if not bars:
        return ""
    events = session.events_of("main", "cp") / 1e6
    return bar_chart(f"Time against cp -r of the same archive, {events:g} million events",
                     "time / time of cp -r in the same round (median, smallest to largest)",
                     sorted(bars, key=lambda bar: bar.value), {1.0: "cp -r"})


def growth_plot(session: Session) -> str:
    lines = [Line(label, list(points)) for label, points in session.growth().items()]
    if not lines:
        return ""
    return line_chart("Cost per event as the trace grows", "events in the trace",
                      "nanoseconds per event (median)", lines, log_y=True)


def locations_plot(session: Session) -> str:
    lines: dict[str, Line] = {}
    for name, contestant in session.group("locations").items():
        program = name.rsplit(", ", 1)[0]
        if program == "scan_speed":
            continue
        trace = session.trace_of(contestant)
        cost = median(session.walls("locations", name)) / trace["events"] * 1e9
        lines.setdefault(program, Line(program, [])).points.append((trace["locations"], cost))
    if not lines:
        return ""
    return line_chart("Cost per event on more and more locations", "locations in the trace",
                      "nanoseconds per event (median)", list(lines.values()), log_y=True)


def speedup_plot(session: Session) -> str:
    lines = []
    for program in ("check", "overlay", "rewrite", "overlay + verify", "rewrite + verify"):
        one, two = (session.walls("main", f"{program}, {n} thr") for n in (1, 2))
        if one and two:
            lines.append(Line(f"{program}, threads", [(1, 1), (2, median(paired_ratio(one, two)))]))
    for mode in ("overlay", "rewrite"):
        alone = session.walls("processes", f"{mode}, no mpirun")
        points = []
        for name, contestant in session.group("processes").items():
            if name.startswith(f"{mode}, ") and name.endswith(" proc"):
                ratio = median(paired_ratio(alone, session.walls("processes", name)))
                points.append((contestant["processes"], ratio))
        if points:
            lines.append(Line(f"{mode}, MPI processes", sorted(points)))
    if not lines:
        return ""
    cores = session.result["machine"]["cores"]
    return line_chart(f"Speed-up over one thread ({cores} cores)", "threads or MPI processes",
                      "times as fast as one thread without mpirun", lines)


def violations_plot(session: Session) -> str:
    bars = []
    for name, contestant in session.group("violations").items():
        if not contestant["runs"] or "phases_s" not in contestant["runs"][0]:
            continue
        events = session.events_of("violations", name)
        costs = [(run["phases_s"]["forward"] + run["phases_s"]["backward"]) / events * 1e9
                 for run in contestant["runs"]]
        bars.append(Bar(name, median(costs), min(costs), max(costs)))
    if not bars:
        return ""
    return bar_chart("Forward + backward amortization, by share of violated receives",
                     "nanoseconds per event of the trace (median, smallest to largest)", bars, {})
