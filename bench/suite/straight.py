# SPDX-License-Identifier: BSD-3-Clause
"""Straight clocks without sessions: `align` beside the convex hull method of other tools, which takes a
straight line per pair of clocks from the two hulls of its messages, and a spanning tree of these."""

from __future__ import annotations

import bisect
import csv
import math
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from .accuracy_cases import HEAVY_S, LIGHT_S, Clocks, Generated

Point = tuple[float, float]
Stamps = dict[str, list[int]]
CLOCKS = Clocks("straight", sessions=0)
CASES = [Generated(f"{pattern}{name}", pattern, CLOCKS, tail_s=tail)
         for pattern in ("ring", "stencil2d", "allreduce", "master-worker", "mixed")
         for tail, name in ((LIGHT_S, ""), (HEAVY_S, "-tails"))]
BASE = 10**12  # ticks at the begin of a run
GRID = 100  # times at which clocks are compared


def simulate(seed: int, wander_us: float, edges: Path) -> tuple[Stamps, Stamps]:
    """Writes 400,000 messages of 16 clocks, under way for 20 us plus 50 us on average; returns true
    and shown times."""
    draw = random.Random(seed)
    offset = [0.0] + [draw.uniform(-5e6, 5e6) for _ in range(15)]
    rate = [0.0] + [draw.uniform(-20e-6, 20e-6) for _ in range(15)]
    phase = [draw.uniform(0, 2 * math.pi) for _ in range(16)]

    def shown(c: int, t: float) -> int:
        swing = wander_us * 1e3 * math.sin(2 * math.pi * t / 20e9 + phase[c]) if c else 0
        return int(t + offset[c] + rate[c] * t + swing) + BASE

    times = sorted(draw.uniform(0, 60e9) for _ in range(400_000))
    with edges.open("w") as table:
        table.write("cause_clock,cause_time,effect_clock,effect_time\n")
        for t in times:
            a = draw.randrange(16)
            b = (a + draw.choice((1, 15, 4, 12))) % 16
            u = t + 20e3 + draw.expovariate(1 / 50e3)
            table.write(f"c{a:02d},{shown(a, t)},c{b:02d},{shown(b, u)}\n")
    grid = [60e9 * i / GRID for i in range(5, 96)]
    return ({f"c{c:02d}": [int(t) + BASE for t in grid] for c in range(16)},
            {f"c{c:02d}": [shown(c, t) for t in grid] for c in range(16)})


def stamps(edges: Path) -> Stamps:
    """All times of a table of edges, by clock, in order."""
    found: Stamps = defaultdict(list)
    with edges.open() as table:
        for row in csv.DictReader(table):
            for end in ("cause", "effect"):
                if row[f"{end}_clock"]:
                    found[row[f"{end}_clock"]].append(int(row[f"{end}_time"]))
    return {clock: sorted(times) for clock, times in found.items()}


def at(knots: list[Point], x: float) -> float:
    """Linear interpolation; the first and last pieces extend."""
    if len(knots) == 1:
        return knots[0][1]
    i = min(max(bisect.bisect_right(knots, (x, math.inf)) - 1, 0), len(knots) - 2)
    (a, y), (b, z) = knots[i], knots[i + 1]
    return y + (z - y) * (x - a) / (b - a)


def rms_us(maps: dict[str, list[Point]], true: Stamps, shown: Stamps) -> float:
    """Error between clocks: at every time, the mean of all is taken out."""
    errors = {clock: sorted({(t, at(maps.get(clock, [(0, 0)]), s) + s - t)
                             for t, s in zip(times, shown[clock])})
              for clock, times in true.items()}
    first = max(times[0] for times in true.values())
    last = min(times[-1] for times in true.values())
    total = 0.0
    for i in range(GRID):
        now = [at(curve, first + (last - first) * i / (GRID - 1)) for curve in errors.values()]
        mean = sum(now) / len(now)
        total += sum((e - mean) ** 2 for e in now) / len(now)
    return math.sqrt(total / GRID) / 1e3


def read_maps(path: Path) -> dict[str, list[Point]]:
    maps: dict[str, list[Point]] = defaultdict(list)
    with path.open() as table:
        for row in csv.DictReader(table):
            maps[row["clock"]].append((int(row["tick"]), int(row["offset"])))
    return maps


# ---- the hulls -----------------------------------------------------------------------------------


def hull(points: list[Point], sign: int) -> list[Point]:
    """Lower hull (sign 1) or upper one (-1)."""
    kept: list[Point] = []
    for x, y in sorted(points, key=lambda p: (p[0], sign * p[1])):
        if kept and kept[-1][0] == x:
            continue
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if sign * ((c - a) * (y - b) - (x - a) * (d - b)) > 0:
                break
            kept.pop()
        kept.append((x, y))
    return kept


def bisector(floor: list[Point], ceiling: list[Point]) -> tuple[float, float, float] | None:
    """Slack in the rate, rate and offset of the mean of the steepest and the flattest line between."""
    floor, ceiling = hull(floor, -1), hull(ceiling, 1)
    lines = []
    for sign, begins, ends in ((1, floor, ceiling), (-1, ceiling, floor)):
        rates = [(sign * (d - b) / (c - a), a, b) for a, b in begins for c, d in ends if c > a]
        if not rates:
            return None
        least, a, b = min(rates)
        lines.append((sign * least, b - sign * least * a))
    (up, up_offset), (down, down_offset) = lines
    if up <= down:
        return None
    x = (down_offset - up_offset) / (up - down)
    rate = (up + down) / 2
    return up - down, rate, up * x + up_offset - rate * x


def hull_maps(edges: Path) -> dict[str, list[Point]]:
    """Maps of the hull method; pairs between which no line fits do not count."""
    pairs: dict[tuple[str, str], tuple[list[Point], list[Point]]] = defaultdict(lambda: ([], []))
    calls: dict[str, tuple[list, list]] = defaultdict(lambda: ([], []))

    def add(a: str, t: int, b: str, u: int) -> None:
        if a < b:  # the lower clock shows t_b + offset, at least t - u
            pairs[a, b][0].append((u - BASE, t - u))
        elif b < a:
            pairs[b, a][1].append((t - BASE, u - t))

    with edges.open() as table:
        for row in csv.DictReader(table):
            if row.get("role"):
                end = "cause" if row["cause_clock"] else "effect"
                calls[row["instance"]][row["role"] == "end"].append(
                    (row[f"{end}_clock"], int(row[f"{end}_time"])))
            else:
                add(row["cause_clock"], int(row["cause_time"]), row["effect_clock"],
                    int(row["effect_time"]))
    for begins, ends in calls.values():
        for a, t in begins:
            for b, u in ends:
                add(a, t, b, u)
    return spanning_tree(pairs)


def spanning_tree(pairs: dict[tuple[str, str], tuple[list[Point], list[Point]]]
                  ) -> dict[str, list[Point]]:
    """Maps to the first clock along the pairs of the least slack."""
    lines = [(*line, *pair) for pair, sides in pairs.items() if (line := bisector(*sides))]
    # Time of the first clock of a group, since BASE: a + b * (time since BASE).
    groups = {clock: {clock: (0.0, 1.0)} for pair in pairs for clock in pair}
    for _, rate, offset, low, high in sorted(lines):
        into, joined = groups[low], groups[high]
        if into is joined:
            continue
        (a, b), (c, d) = into[low], joined[high]
        gain = b * (1 + rate) / d  # first clock of `joined` -> `high` -> `low` -> first clock of `into`
        for clock, (e, f) in joined.items():
            into[clock] = (a + b * offset + gain * (e - c), gain * f)
            groups[clock] = into
    return {clock: [(BASE + x, maps[clock][0] + (maps[clock][1] - 1) * x) for x in (0.0, 60e9)]
            for clock, maps in groups.items()}


def measure(bench: Any) -> list[dict[str, Any]]:
    """A line per trace: errors of both methods."""
    lines = []
    edges = bench.data / "straight.csv"

    def keep(name: str, seed: int, true: Stamps, shown: Stamps) -> None:
        output = bench.fresh("aligned")
        bench.run("align", edges, "-o", output, fine=(0, 1, 3))
        lines.append({"case": name, "seed": seed,
                      "align_us": rms_us(read_maps(output / "maps.csv"), true, shown),
                      "hulls_us": rms_us(hull_maps(edges), true, shown)})

    for wander_us in (0.0, 50.0):
        for seed in range(7, 17):
            edges.with_suffix(".clocks.csv").unlink(missing_ok=True)
            keep(f"torus of 16, {wander_us:g} us of wander", seed, *simulate(seed, wander_us, edges))
    for case in CASES:
        for seed in case.seeds:
            truth, skewed = bench.fresh("truth"), bench.fresh("skewed")
            bench.distort(case.clocks, seed, bench.simulate(case, seed, truth), truth, skewed)
            bench.run("edges", truth, "-o", bench.data / "true.csv", "--force")
            edges.unlink(missing_ok=True)
            edges.with_suffix(".clocks.csv").unlink(missing_ok=True)
            bench.run("edges", skewed, "-o", edges, "--force", fine=(0, 1, 3))
            keep(case.name, seed, stamps(bench.data / "true.csv"), stamps(edges))
    return lines
