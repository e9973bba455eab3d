# SPDX-License-Identifier: BSD-3-Clause
"""Results of bench/accuracy as a document and charts."""

from __future__ import annotations

from typing import Any

from .accuracy_cases import Generated, generated_cases
from .accuracy_runs import CAUSAL, LINEAR, METHODS, NONE
from .stats import median
from .svg import Group, Line, curve_panels, grouped_log_bars
from .tables import table

STATED = ("checked", "corrected")  # timelines of which bounds were stated
MOST_RATIO = 1.02  # of causal + CLC to linear interpolation
LITTLE = 0.9  # above this ratio the fit is said not to help

Run = dict[str, Any]


def by_case(result: dict[str, Any]) -> dict[str, list[Run]]:
    cases: dict[str, list[Run]] = {}
    for run in result["runs"]:
        cases.setdefault(run["case"], []).append(run)
    return cases


def middle(runs: list[Run], method: str, figure: str) -> float | None:
    """Median over the seeds of a case; None where the method does not apply."""
    values = [run["methods"][method][figure] for run in runs
              if figure in run["methods"].get(method, {})]
    return median(values) if values else None


def ratio(run: Run) -> float | None:
    """rms error of causal + CLC against linear interpolation; None without clock sessions."""
    if LINEAR not in run["methods"]:
        return None
    linear, causal = run["methods"][LINEAR]["rms_us"], run["methods"][CAUSAL]["rms_us"]
    if linear == 0:
        return 1.0 if causal == 0 else float("inf")
    return causal / linear


def ratios(result: dict[str, Any]) -> list[tuple[float, Run]]:
    """All runs with clock sessions, the worst first."""
    found = [(r, run) for run in result["runs"] if (r := ratio(run)) is not None]
    return sorted(found, key=lambda one: (-one[0], one[1]["case"], one[1]["seed"]))


def session_ratio(run: Run) -> float | None:
    """rms error without any session against the same clocks with two sessions."""
    other = run.get("with_two_sessions")
    return run["methods"][CAUSAL]["rms_us"] / other["rms_us"] if other else None


def microseconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1e6:
        return f"{value / 1e6:.3g} s"
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


# ---- tables ----------------------------------------------------------------------------------


def figure_table(result: dict[str, Any], figure: str) -> list[str]:
    # Recorded traces begin long before the first session, where clocks are far apart whatever is done.
    rows = [[name, *(microseconds(middle(runs, method, figure)) for method in METHODS)]
            for name, runs in by_case(result).items() if figure != "apart_us" or runs[0]["seed"]]
    return table([f"{figure.split('_')[0]}, us", *METHODS], rows)


def edge_table(result: dict[str, Any]) -> list[str]:
    rows = []
    for name, runs in by_case(result).items():
        cells = [name, f"{median([run['edges'] for run in runs]):,.0f}"]
        for method in METHODS:
            left = [run["methods"][method]["left"] for run in runs if method in run["methods"]]
            cells.append(f"{median(left):,.0f}" if left else "-")
        rows.append(cells)
    return table(["violations left", "edges", *METHODS], rows)


def interval_table(result: dict[str, Any]) -> list[str]:
    rows = []
    for name, runs in by_case(result).items():
        cells = [name]
        for method in ("linear + CLC", CAUSAL):
            changed = middle(runs, method, "intervals_changed")
            largest = middle(runs, method, "interval_max_share")
            cells += ["-" if changed is None else f"{changed:.2%}",
                      "-" if largest is None else f"{largest:.3g}"]
        for method in ("linear + CLC", "regression", "spline", CAUSAL):
            seconds = middle(runs, method, "presync_s")
            cells.append("-" if seconds is None else f"{seconds:.3f}")
        rows.append(cells)
    return table(["trace", "linear + CLC: changed", "largest", "causal + CLC: changed", "largest",
                  "presync s: linear", "regression", "spline", "causal"], rows)


def bounds_table(result: dict[str, Any]) -> list[str]:
    rows = []
    for name, runs in by_case(result).items():
        cells = [name, f"{sum(run['bounds'][k]['beyond'] for run in runs for k in STATED):,}"
                 if all(run["bounds"][k] for run in runs for k in STATED) else "no bounds"]
        for stated in STATED:
            found = [run["bounds"][stated] for run in runs if run["bounds"][stated]]
            for figure in ("error_us", "bound_us", "outside_us"):
                cells.append(microseconds(median([one[figure] for one in found]) if found else None))
        rows.append(cells)
    return table(["bounds, us", "events beyond", "as read: error", "bound", "outside",
                  "corrected: error", "bound", "outside"], rows)


def bounds_lines(result: dict[str, Any]) -> list[str]:
    stated = [run["bounds"][k] for run in result["runs"] for k in STATED if run["bounds"][k]]
    corrected = [run["bounds"]["corrected"] for run in result["runs"] if run["bounds"]["corrected"]]
    outside = [one["outside_us"] for one in corrected if one["outside_us"] > 0]
    none = [run for run in result["runs"] if not run["bounds"]["corrected"]]
    lines = [f"Guaranteed bounds (`--bounds`) hold for {sum(one['bounded'] for one in stated):,} "
             f"events of {len(stated)} timelines, as read and as corrected; "
             f"{sum(one['beyond'] for one in stated):,} have a larger error than stated. "
             f"{len(outside)} of {len(corrected)} corrections leave what is possible somewhere"
             + (f", by at most {microseconds(max(outside))} us." if outside else ".")]
    if none:
        lines.append("No bounds: " + ", ".join(
            f"`{run['case']}` ({run['bounds']['reason']})" for run in none) + ".")
    return [*lines, ""]


def loss_ratio(lines: list[Run], line: Run) -> float | None:
    """rms error after causal + CLC against that of the complete trace."""
    complete = [one["causal_us"] for one in lines
                if (one["case"], one["seed"], one["loss"]) ==
                (line["case"], line["seed"], "complete")]
    return line["causal_us"] / complete[0] if complete and complete[0] > 0 else None


def loss_table(lines: list[Run]) -> list[str]:
    rows = []
    for line in lines:
        r = loss_ratio(lines, line)
        rows.append([line["case"], line["loss"], f"{line['lost']:,}", f"{line['edges']:,}",
                     f"{line['false_violations']:,}",
                     "-" if line["worst_us"] == 0 else f"{line['worst_us']:.3g}",
                     microseconds(line["linear_us"]), microseconds(line["causal_us"]),
                     "-" if r is None else f"{r:.2f}" if r < 100 else f"{r:.3g}"])
    return table(["trace", "loss", "records lost", "edges", "false violations", "worst us",
                  "linear us", f"{CAUSAL} us", "ratio"], rows, left=2)


def loss_lines(result: dict[str, Any]) -> list[str]:
    lines = result.get("losses", [])
    if not lines:
        return []
    return ["", "## Records lost", "",
            "Truths that lose records (`entrain drop`) and then get wrong clocks. Edges and "
            "violations are those that", "`check` tells of the truth, which has none: each is "
            "false. Errors are rms, of the communication that is left;", "the ratio is to the "
            "complete trace with the same clocks.", "", *loss_table(lines)]


def straight_lines(result: dict[str, Any]) -> list[str]:
    cases: dict[str, list[dict[str, Any]]] = {}
    for line in result.get("straight", []):
        cases.setdefault(line["case"], []).append(line)
    if not cases:
        return []
    rows = [[name, str(len(lines)), *(microseconds(median([line[key] for line in lines]))
                                      for key in ("align_us", "hulls_us"))]
            for name, lines in cases.items()]
    return ["", "## Straight clocks", "",
            "Clocks without sessions that do not wander, if nothing else is said: rms error between "
            "clocks of `align` and of", "the convex hull method (a line per pair of clocks, and a "
            "spanning tree); medians over the seeds.", "",
            *table(["trace", "seeds", "align us", "hulls us"], rows)]


def trace_table(result: dict[str, Any]) -> list[str]:
    made = {case.name: case for case in generated_cases()}
    rows = []
    for name, runs in by_case(result).items():
        run, case = runs[0], made.get(name)
        rows.append([name, "recorded" if case is None else case.pattern,
                     "-" if case is None else clocks_of(case),
                     "-" if case is None else f"{case.tail_s * 1e6:g}",
                     f"{run['locations']:,}", f"{run['events'] / 1e3:,.0f}",
                     f"{run['communication_events'] / 1e3:.3g}", f"{run['span_s']:.3g}",
                     str(len(runs))])
    return table(["trace", "program", "clocks", "tail us", "locations", "k events", "k comm.",
                  "span s", "seeds"], rows, left=3)


def clocks_of(case: Generated) -> str:
    clocks = case.clocks
    if clocks.kind == "straight":
        wander = "straight"
    else:
        wander = f"{clocks.kind} {clocks.wander_ppm:g} ppm per {clocks.period_share:g} run"
    text = f"drift {clocks.drift_ppm:g} ppm, {wander}, "
    text += "steady master, " if clocks.steady_master else ""
    text += f"{clocks.sessions} sessions" if clocks.sessions else "no session"
    return text + (f" +- {clocks.noise_s * 1e6:g} us" if clocks.sessions else
                   f", {clocks.offset_s:g} s off")


# ---- what follows ----------------------------------------------------------------------------


def verdict_lines(result: dict[str, Any]) -> list[str]:
    found = ratios(result)
    above = [(r, run) for r, run in found if r > MOST_RATIO]
    lines = []
    if found:
        worst, run = found[0]
        lines += [f"Of {len(found)} traces with clock sessions, the rms error of communication "
                  f"after causal + CLC is {sum(r < LITTLE for r, _ in found)} times below "
                  f"{LITTLE:g} of linear interpolation's, and {len(above)} times above "
                  f"{MOST_RATIO:g} of it; worst ratio {worst:.3f} (`{run['case']}`, seed "
                  f"{run['seed']}).", ""]
    if above:
        lines += ["Above, that is, farther from the truth than linear interpolation:", "",
                  *ratio_table(above), ""]
    helpless = [(r, run) for r, run in found if LITTLE <= r <= MOST_RATIO]
    if helpless:
        lines += ["Where it does not help (ratio from "
                  f"{LITTLE:g} to {MOST_RATIO:g}):", "", *ratio_table(helpless), ""]
    lines += no_session_lines(result)
    left = [run for run in result["runs"] if run["methods"][CAUSAL]["left"]]
    lines += bounds_lines(result)
    lines += [f"Violations left by causal + CLC: in {len(left)} of {len(result['runs'])} traces"
              + (": " + ", ".join(f"`{run['case']}`" for run in left) if left else "") + ".", ""]
    return lines


def ratio_table(found: list[tuple[float, Run]]) -> list[str]:
    rows = []
    for r, run in found:
        methods = run["methods"]
        rows.append([run["case"], str(run["seed"]), f"{r:.3f}",
                     *(microseconds(methods[m]["rms_us"]) for m in (LINEAR, "linear + CLC",
                                                                    "causal", CAUSAL)),
                     f"{methods[LINEAR]['left']:,}"])
    return table(["trace", "seed", "ratio", "linear us", "linear + CLC", "causal", CAUSAL,
                  "violations as read"], rows)


def no_session_lines(result: dict[str, Any]) -> list[str]:
    rows = []
    for run in result["runs"]:
        r = session_ratio(run)
        if r is not None:
            rows.append([run["case"], str(run["seed"]),
                         microseconds(run["methods"][CAUSAL]["rms_us"]),
                         microseconds(run["with_two_sessions"]["rms_us"]), f"{r:.2f}",
                         f"{run['methods'][CAUSAL]['left']:,}"])
    if not rows:
        return []
    return ["Without any session, causal + CLC, beside the same clocks with two sessions:", "",
            *table(["trace", "seed", "rms us", "with sessions us", "ratio", "violations left"],
                   rows), ""]


def as_markdown(result: dict[str, Any], name: str, charts: list[str]) -> str:
    where = result["machine"]
    lines = [f"# Accuracy, measured on {result['date']}", "",
             f"Revision {result['revision']}; {where['cpu']}, {where['cores']} cores, "
             f"{where['system']}; load {result['load_before']} before and {result['load_after']} "
             f"after; {result['seconds'] / 60:.1f} minutes.", "",
             "Errors are those of `entrain compare --truth`, after one common offset and rate is "
             "taken out; of", "communication (between the first and the last session) if nothing "
             "else is said. Medians over the", "seeds; see ../README.md.", ""]
    lines += [f"Skipped: {what}." for what in result["skipped"]]
    if not result["runs"]:
        return "\n".join([*lines, *straight_lines(result), *loss_lines(result)]) + "\n"
    lines += ["", "## What it shows", "", *verdict_lines(result)]
    lines += [f"![{chart}]({name}-{chart}.svg)" for chart in charts]
    for figure, of in (("rms_us", "communication"), ("p99_us", "communication"),
                       ("max_us", "communication"), ("rms_all_us", "all events"),
                       ("apart_us", "what all clocks have in common taken out")):
        words = {"rms": "Root mean square", "p99": "99th percentile", "max": "Largest",
                 "apart": "Root mean square"}
        lines += ["", f"## {words[figure.split('_')[0]]} error, {of}", "",
                  *figure_table(result, figure)]
    lines += ["", "## Violations", "", *edge_table(result), "", "## Intervals and time", "",
              "Share of the intervals between communication events of a location that the "
              "controlled logical clock changed by", "more than 1 %, and the largest change as a "
              "fraction; seconds of the phase `presync`.", "", *interval_table(result),
              "", "## Guaranteed bounds", "",
              "Largest error of any event against the reference clock, the largest bound stated, "
              "and how far times are", "outside of what is possible; \"as read\" are linear "
              "times. Medians over the seeds.", "", *bounds_table(result), *straight_lines(result),
              *loss_lines(result),
              "", "## Traces", "", *trace_table(result)]
    return "\n".join(lines).rstrip() + "\n"


# ---- charts ----------------------------------------------------------------------------------


def plots(result: dict[str, Any]) -> dict[str, str]:
    """Name -> SVG."""
    methods = [method for method in METHODS if method != NONE]
    groups = [Group(name, [middle(runs, method, "rms_us") for method in methods])
              for name, runs in by_case(result).items()]
    found = {}
    if groups:
        found["rms"] = grouped_log_bars("rms error of communication (median over the seeds)",
                                        "microseconds", methods, groups)
    for run in result["runs"]:
        if run["curves"]:
            panels = {method: [Line(f"location {location}", points) for location, points in
                               lines.items()] for method, lines in run["curves"].items()}
            found[run["case"]] = curve_panels(f"{run['case']}: error over time, per location",
                                              "seconds", "microseconds", panels)
    return found
