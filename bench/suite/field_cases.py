# SPDX-License-Identifier: BSD-3-Clause
"""Traces of real machines, with what is known of them, and what the tool makes of them."""

from __future__ import annotations

import bisect
import csv
import gzip
import json
import math
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from .measuring import CannotRun, run_quietly

SPANS = Path(__file__).resolve().parents[2] / "examples" / "align" / "spans.py"
POINTS = "1000000"  # per location, more than any of these traces has
VERDICTS = (0, 1, 3)


@dataclass
class Row:
    """A figure, and what it is wanted to be at most; `wanted` None: only told."""

    data: str
    what: str
    value: float
    unit: str
    wanted: float | None = None

    @property
    def reached(self) -> bool | None:
        return None if self.wanted is None else self.value <= self.wanted


class Curve:
    """Straight between points (x, y), whole numbers; goes on straight outside."""

    def __init__(self, points: list[tuple[int, int]]) -> None:
        self.points = sorted(set(points))
        self.keys = [x for x, _ in self.points]

    def __call__(self, x: int) -> float:
        if len(self.points) == 1:
            return float(self.points[0][1])
        i = min(max(bisect.bisect_right(self.keys, x), 1), len(self.points) - 1)
        (a, u), (b, v) = self.points[i - 1], self.points[i]
        return u + (v - u) * (x - a) / (b - a)


@dataclass
class Window:
    """A line of --bounds-csv: a stamp with its offset as used, and the possible ones."""

    local: int
    offset: int
    least: int | None
    most: int | None

    @property
    def width(self) -> float:
        return math.inf if self.least is None or self.most is None else self.most - self.least


class Field:
    """Where the tool, the traces and the scratch folder are."""

    def __init__(self, build: Path, shared: Path, data: Path) -> None:
        self.entrain = str(build / "bin" / "entrain")
        self.shared, self.data = shared, data

    def trace(self, name: str) -> Path | None:
        for folder in ("field", "traces"):
            if (path := self.shared / folder / name).exists():
                return path
        return None

    def run(self, *words: Any) -> dict[str, Any]:
        text = run_quietly([self.entrain, *(str(word) for word in words), "--json", "-q"], VERDICTS)
        return json.loads(text)

    def fresh(self, name: str) -> Path:
        path = self.data / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return path

    def windows(self, *words: Any) -> dict[int, list[Window]]:
        """The windows of every location, from --bounds-csv."""
        file = self.fresh("bounds.csv")
        self.run(*words, "--bounds-csv", file)
        found: dict[int, list[Window]] = {}
        with file.open(newline="") as lines:
            for line in csv.DictReader(lines):
                least, most = line["least_offset_ticks"], line["most_offset_ticks"]
                found.setdefault(int(line["location"]), []).append(
                    Window(int(line["local_ticks"]), int(line["offset_ticks"]),
                           int(least) if least else None, int(most) if most else None))
        return found


def shown_by_reference(windows: list[Window]) -> Curve:
    """Stamps of the reference clock -> times as corrected."""
    return Curve([(w.local, w.local + w.offset) for w in windows])


def held(windows: dict[int, list[Window]], reference: int,
         truth: Callable[[int, int], float]) -> tuple[int, int, dict[int, list[float]]]:
    """How many windows contain the truth, of how many; and the errors of the times as corrected.
    `truth`: (location, stamp) -> stamp of the reference at that moment. In ticks."""
    shown = shown_by_reference(windows[reference])
    inside = 0
    count = 0
    errors: dict[int, list[float]] = {}
    for location, lines in windows.items():
        for window in lines:
            time = shown(round(truth(location, window.local))) - window.local
            errors.setdefault(location, []).append(window.offset - time)
            if window.least is None or window.most is None:
                continue
            count += 1
            inside += window.least - 2 <= time <= window.most + 2
    return inside, count, errors


def largest_bound(field: Field, trace: Path, *options: str) -> float:
    """In microseconds."""
    bounds = field.run("check", trace, "--bounds", *options)["bounds"]
    if bounds["worst"] is None:
        raise CannotRun(f"{trace}: nothing is bounded")
    return bounds["worst"]["bound_s"] * 1e6


def rms(values: list[float]) -> float:
    return math.sqrt(sum(v * v for v in values) / len(values)) if values else 0.0


# ---- the traces ------------------------------------------------------------------------------

def sst(field: Field, trace: Path) -> list[Row]:
    return [Row("sst-10", "largest bound", largest_bound(field, trace), "us", 1000),
            Row("sst-10", "the same with --max-mean-rate-ppm 20",
                largest_bound(field, trace, "--max-mean-rate-ppm", "20"), "us", 100)]


def ping_pong(field: Field, trace: Path) -> list[Row]:
    return [Row("ping-pong", "largest bound", largest_bound(field, trace), "us", 100)]


def sst_without_sessions(field: Field, trace: Path) -> list[Row]:
    """Against the lines through the sessions of the same run."""
    known = field.trace("sst-10")
    if known is None:
        return []
    hz = field.run("info", known)["resolution_hz"]
    lines = {location: Curve([(w.local, w.offset) for w in rows])
             for location, rows in field.windows("check", known, "--presync", "linear").items()}
    out = field.fresh("corrected")
    windows = field.windows("correct", trace, "-o", out)
    reference = 0

    def truth(location: int, stamp: int) -> float:
        # In whole numbers as far as possible: stamps have more digits than a double.
        return stamp + round(lines[location](stamp))

    inside, count, errors = held(windows, reference, truth)
    us = 1e6 / hz
    talking, all_of_it = 0.0, 0.0
    for location, values in errors.items():
        tight = 3 * min(window.width for window in windows[location])
        for window, error in zip(windows[location], values):
            all_of_it = max(all_of_it, abs(error) * us)
            # Messages are in the last part of the run only.
            if window.width <= tight:
                talking = max(talking, abs(error) * us)
    return [Row("sst-10-nosessions", "largest error where messages are", talking, "us", 5),
            Row("sst-10-nosessions", "largest error of the whole run", all_of_it, "us", 60),
            Row("sst-10-nosessions", f"windows without the sessions' line, of {count}",
                count - inside, "", 0)]


def clock_differences(folder: Path) -> dict[int, tuple[float, float, int, int]]:
    """What the tracer of sweep3d-4 measured: rank -> difference to rank 0 at begin and end, us, and
    the stamps of these."""
    found = {}
    for path in folder.glob("pmpi-trace-rank-*.txt.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        begin, end = (float(re.search(rf"# {word} clockdiff: (\S+)", text)[1])
                      for word in ("Init", "Finalize"))
        stamps = [int(s) for s in re.findall(r"(\d{16})\.0", text)]
        rank = int(path.name.split("-")[-1].split(".")[0])
        found[rank] = (begin, end, stamps[0], stamps[-1])
    return found


def sweep3d(field: Field, folder: Path) -> list[Row]:
    measured = clock_differences(folder)
    lines = {rank: (begin, (end - begin) / (last - first), first)
             for rank, (begin, end, first, last) in measured.items()}
    archive = folder / "otf2"
    out = field.fresh("corrected")
    windows = field.windows("correct", archive, "-o", out)

    def truth(location: int, stamp: int) -> float:
        offset, rate, first = lines[location]
        return stamp + offset + rate * (stamp - first)

    inside, count, errors = held(windows, 0, truth)
    rows = [Row("sweep3d-4", f"rms error of rank {rank} against the tracer's line",
                rms(errors[rank]), "us", 20) for rank in sorted(errors) if rank != 0]
    after = field.run("check", out)["violations"]
    rows.append(Row("sweep3d-4", f"windows without the tracer's line, of {count}", count - inside,
                    "", 0))
    rows.append(Row("sweep3d-4", "violations after correct", after, "", 0))
    return rows


def nezha(field: Field, folder: Path) -> list[Row]:
    """Every file by itself, and all of them as one run."""
    files = sorted(folder.glob("*.csv.gz"))
    moves: dict[bool, float] = {True: 0, False: 0}
    violations = 0
    for chosen in [[file] for file in files] + [files]:
        edges, out = field.fresh("edges.csv"), field.fresh("aligned")
        edges.write_text(run_quietly([sys.executable, str(SPANS), *map(str, chosen)]))
        violations += field.run("align", edges, "-o", out)["after"]["violations"]
        with (out / "maps.csv").open(newline="") as lines:
            for line in csv.DictReader(lines):
                wrong = line["clock"].startswith("adservice")
                moves[wrong] = max(moves[wrong], abs(int(line["offset"])) / 1e3)
    return [Row("spans/nezha", "largest move of a clock that is right", moves[False], "us", 50),
            Row("spans/nezha", "largest move of adservice, which is wrong", moves[True], "us"),
            Row("spans/nezha", "violations after align", violations, "", 0)]


CASES: dict[str, Callable[[Field, Path], list[Row]]] = {
    "sst-10": sst,
    "sst-10-nosessions": sst_without_sessions,
    "ping-pong": ping_pong,
    "sweep3d-4": sweep3d,
    "spans/nezha": nezha,
}
