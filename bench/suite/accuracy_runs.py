# SPDX-License-Identifier: BSD-3-Clause
"""Corrects a trace by every method and compares the results with the truth."""

from __future__ import annotations

import csv
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from .accuracy_cases import LOSSES, Clocks, Generated, Loss, Recorded
from .measuring import run_quietly

NONE, LINEAR, CAUSAL = "none", "linear", "causal + CLC"
# Method -> options of `correct`. Without any: what a reader sees, which needs no correction.
METHODS: dict[str, list[str]] = {
    NONE: [],
    LINEAR: [],
    "linear + CLC": ["--presync", "linear"],
    "regression": ["--presync", "regression", "--amortize", "off"],
    "spline": ["--presync", "spline", "--amortize", "off"],
    "causal": ["--presync", "causal", "--amortize", "off"],
    CAUSAL: ["--presync", "causal"],
}
NEED_SESSIONS = (LINEAR, "linear + CLC", "regression", "spline")
SETS = {"communication": "", "all": "_all"}
FIGURES = ("rms", "p99", "max")
PLOTTED_METHODS = ("linear + CLC", CAUSAL)
POINTS = 120  # per location, of errors over time
# Exit codes of runs that end with a verdict, which may also be that too little was checked.
UNPROVEN_TOO = (0, 1, 3)
GRID = 200  # times at which errors of different locations are compared

Curves = dict[str, list[tuple[float, float]]]  # location -> (seconds, microseconds)


class Bench:
    """Where the tool is and where traces go."""

    def __init__(self, build: Path, data: Path) -> None:
        self.entrain = str(build / "bin" / "entrain")
        self.bounds_held = str(build / "bench" / "bounds_held")
        self.data = data

    def run(self, *words: Any, fine: tuple[int, ...] = (0,)) -> dict[str, Any]:
        text = run_quietly([self.entrain, *(str(word) for word in words), "--json", "-q"], fine)
        return json.loads(text)

    def fresh(self, name: str) -> Path:
        folder = self.data / name
        if folder.exists():
            shutil.rmtree(folder)
        return folder

    # ---- traces ------------------------------------------------------------------------------

    def recorded(self, case: Recorded) -> dict[str, Any]:
        return self.measure(case.name, 0, case.trace, case.truth, case.plotted)

    def generated(self, case: Generated, seed: int) -> dict[str, Any]:
        truth, skewed = self.fresh("truth"), self.fresh("skewed")
        span_s = self.simulate(case, seed, truth)
        self.distort(case.clocks, seed, span_s, truth, skewed)
        result = self.measure(case.name, seed, skewed, truth, case.plotted and seed == 1)
        result["span_s"] = span_s
        if case.clocks.sessions == 0:
            twin = replace(case.clocks, sessions=2)
            self.distort(twin, seed, span_s, truth, self.fresh("skewed"))
            with_two = self.method(CAUSAL, skewed, truth)
            result["with_two_sessions"] = {"rms_us": with_two["rms_us"]}
        shutil.rmtree(truth)
        shutil.rmtree(skewed)
        return result

    def simulate(self, case: Generated, seed: int, output: Path) -> float:
        """Writes the truth of a generated trace; returns its span in seconds."""
        self.run("synth", "-o", output, "--seed", seed, *case.program_options())
        return self.run("info", output)["span_s"]

    def distort(self, clocks: Clocks, seed: int, span_s: float, truth: Path,
                output: Path) -> None:
        self.run("distort", truth, "-o", output, "--seed", seed, *clocks.options(span_s))

    # ---- records lost ------------------------------------------------------------------------

    def losses_of_recorded(self, case: Recorded) -> list[dict[str, Any]]:
        return self.losses(case.name, 1, case.truth, Clocks())

    def losses_of_generated(self, case: Generated, seed: int) -> list[dict[str, Any]]:
        truth = self.fresh("truth")
        self.simulate(case, seed, truth)
        found = self.losses(case.name, seed, truth, case.clocks)
        shutil.rmtree(truth)
        return found

    def losses(self, name: str, seed: int, truth: Path, clocks: Clocks) -> list[dict[str, Any]]:
        """A line per loss. Records are lost before clocks get wrong, so that the truth that is
        compared with has lost the same ones."""
        span_s = self.run("info", truth)["span_s"]
        lines = []
        for loss in LOSSES:
            skewed, lossy = self.fresh("skewed"), truth
            lost = {"communication": 0, "lost": 0}
            if loss.options:
                lossy = self.fresh("lossy")
                lost = self.lose(loss, seed, truth, lossy)
            self.distort(clocks, seed, span_s, lossy, skewed)
            lines.append({"case": name, "seed": seed, "loss": loss.name, **lost,
                          **self.incomplete(lossy, skewed)})
        shutil.rmtree(self.data / "lossy")
        shutil.rmtree(self.data / "skewed")
        return lines

    def lose(self, loss: Loss, seed: int, truth: Path, output: Path) -> dict[str, int]:
        report = self.run("drop", truth, "-o", output, "--seed", seed, *loss.options)
        return {"communication": sum(kind["records"] for kind in report["kinds"].values()),
                "lost": report["lost"]}

    def incomplete(self, truth: Path, skewed: Path) -> dict[str, Any]:
        """Violations that are told of a truth, which has none, and errors after a correction."""
        check = self.run("check", truth, "--presync", "none", fine=UNPROVEN_TOO)
        worst = [edge["worst_s"] for edge in check["edges"].values() if edge["worst_s"] is not None]
        read, _ = self.compare("--raw", skewed, skewed, "--truth", truth)
        return {"edges": sum(edge["count"] for edge in check["edges"].values()),
                "false_violations": check["violations"],
                "worst_us": min([0.0, *worst]) * 1e6,
                "linear_us": errors(read["b_error"])["rms_us"],
                "causal_us": self.method(CAUSAL, skewed, truth)["rms_us"]}

    # ---- methods -----------------------------------------------------------------------------

    def measure(self, name: str, seed: int, trace: Path, truth: Path, plotted: bool
                ) -> dict[str, Any]:
        """Everything about one trace; keys of "methods" are those of METHODS."""
        info = self.run("info", trace)
        sessions = info["locations_with_clock_offsets"] > 0
        read, lines = self.compare("--raw", trace, trace, "--truth", truth)
        check = self.run("check", trace, "--presync", "linear" if sessions else "none",
                         fine=UNPROVEN_TOO)
        result: dict[str, Any] = {
            "case": name, "seed": seed, "locations": info["locations"], "events": info["events"],
            "communication_events": info["communication_events"], "span_s": info["span_s"],
            "sessions": sessions, "edges": sum(k["count"] for k in check["edges"].values()),
            "methods": {}, "curves": {}}
        for method in METHODS:
            if method in NEED_SESSIONS and not sessions:
                continue
            if method == NONE:
                found = {**errors(read["a_error"]), "apart_us": apart(lines["a_error_s"]),
                         "left": check["violations"] if not sessions else self.violations(trace)}
            elif method == LINEAR:
                found = {**errors(read["b_error"]), "apart_us": apart(lines["b_error_s"]),
                         "left": check["violations"]}
            else:
                curve = result["curves"] if plotted and method in PLOTTED_METHODS else None
                found = self.method(method, trace, truth, curve)
            result["methods"][method] = found
        result["bounds"] = json.loads(run_quietly(
            [self.bounds_held, str(trace), str(truth), str(self.fresh("corrected"))]))
        return result

    def compare(self, *words: Any) -> tuple[dict[str, Any], dict[str, Curves]]:
        """The report, and the errors over time of A and of B."""
        points = self.data / "errors.csv"
        points.unlink(missing_ok=True)
        report = self.run("compare", *words, "--csv", points, "--points", POINTS)
        return report, read_points(points)

    def violations(self, trace: Path) -> int:
        return self.run("check", trace, "--presync", "none", fine=UNPROVEN_TOO)["violations"]

    def method(self, method: str, trace: Path, truth: Path,
               curves: dict[str, Any] | None = None) -> dict[str, Any]:
        output = self.fresh("corrected")
        report = self.run("correct", trace, "-o", output, *METHODS[method], fine=UNPROVEN_TOO)
        compared, lines = self.compare(trace, output, "--truth", truth)
        if curves is not None:
            curves.setdefault(LINEAR, lines["a_error_s"])
            curves[method] = lines["b_error_s"]
        shutil.rmtree(output)
        return {**errors(compared["b_error"]), "apart_us": apart(lines["b_error_s"]),
                "presync": report["before"]["presync"],
                "before": report["before"]["violations"], "left": report["after"]["violations"],
                "intervals_changed": changed_share(report["interval_change"]["histogram"]),
                "interval_max_share": report["interval_change"]["max_share"],
                "presync_s": report["phases_s"]["presync"],
                "told": report["before"]["presync_reason"]}


def errors(error: dict[str, Any]) -> dict[str, float]:
    """rms, p99 and largest error in microseconds: of communication, and of all events ("_all")."""
    return {f"{figure}{suffix}_us": error[which][f"{figure}_s"] * 1e6
            for which, suffix in SETS.items() for figure in FIGURES}


def changed_share(histogram: list[dict[str, Any]]) -> float:
    """Share of the intervals between communication events that changed by more than 1 %."""
    total = sum(one["intervals"] for one in histogram)
    small = sum(one["intervals"] for one in histogram
                if one["up_to_share"] is not None and one["up_to_share"] <= 0.01)
    return (total - small) / total if total else 0.0


def apart(curves: Curves) -> float:
    """How far clocks are from each other, whatever they have in common: rms distance of their
    errors from the mean over all of them at the same time, over the inner 90 % of the run."""
    inner = [points for points in curves.values() if len(points) > 1]
    if not inner:
        return 0.0
    first, last = min(p[0][0] for p in inner), max(p[-1][0] for p in inner)
    times = [first + (last - first) * (0.05 + 0.9 * i / (GRID - 1)) for i in range(GRID)]
    columns = [along(points, times) for points in inner]
    total = 0.0
    for values in zip(*columns):
        mean = sum(values) / len(values)
        total += sum((value - mean) ** 2 for value in values)
    return math.sqrt(total / (len(times) * len(columns)))


def along(points: list[tuple[float, float]], times: list[float]) -> list[float]:
    """Straight between points, which are in order of time, as are the times."""
    values, i = [], 0
    for time in times:
        while i + 2 < len(points) and points[i + 1][0] < time:
            i += 1
        (t0, e0), (t1, e1) = points[i], points[i + 1]
        share = min(max((time - t0) / (t1 - t0), 0.0), 1.0) if t1 > t0 else 0.0
        values.append(e0 + (e1 - e0) * share)
    return values


def read_points(path: Path) -> dict[str, Curves]:
    """Error column -> location -> (seconds, microseconds)."""
    found: dict[str, Curves] = {"a_error_s": {}, "b_error_s": {}}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            for column, lines in found.items():
                point = (float(row["time_s"]), round(float(row[column]) * 1e6, 4))
                lines.setdefault(row["location"], []).append(point)
    return found
