#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of messages in situations whose truth is known: kinds x sizes x seeds.

    table_situations.py ENTRAIN [--seeds N] [--sizes a,b] [--kinds a,b] [--jobs N] [--keep DIR]

Runs `align` on each table, and prints rows as services/situations.py does. Exit code 1 if
any verdict is wrong or any right clock moved.
"""
import bisect
import collections
import csv
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "services"))
import situations  # noqa: E402

SECOND, MS, US = 10**9, 10**6, 1000
BEGIN = 1_763_000_000 * SECOND


class Table:
    """Messages between three to six clocks, both ways. Times are ns of the true time since 1970."""

    def __init__(self, draw, size):
        self.draw = draw
        self.clocks = [f"host{i}" for i in range(draw.randint(3, 6))]
        self.judged = {}  # wrong clocks: most events that may stay wrong
        self.within = 100 * US  # error of a wrong clock that messages cannot show
        self.resolution = 2  # a right clock may move by so much
        self.shown = {}  # clock: its reading at a true time; default: the true time
        self.times = lambda t: str(t)
        self.header = "cause_clock,cause_time,effect_clock,effect_time"
        self.wild = {}  # (edge, is effect): what is written in place of the time
        self.edges, now = [], BEGIN + draw.randrange(SECOND)
        gap = draw.choice((MS // 10, MS, 10 * MS))
        for _ in range(size):
            now += 1 + int(draw.expovariate(1 / gap))
            cause, effect = draw.sample(self.clocks, 2)
            self.edges.append((cause, now, effect, now + 5 * US + int(draw.expovariate(1 / (10 * US)))))
        self.first, self.last = self.edges[0][1], max(edge[3] for edge in self.edges)

    def reading(self, clock, t):
        return self.shown.get(clock, lambda t: t)(t)

    def wrong(self, shown, most=0):
        """Makes one more clock a wrong one; the others stay right."""
        clock = self.draw.choice([clock for clock in self.clocks if clock not in self.judged])
        self.shown[clock], self.judged[clock] = shown, most

    def inner(self):
        """A time well inside the run."""
        return self.first + int((self.last - self.first) * self.draw.uniform(0.2, 0.8))

    def write(self, path):
        with open(path, "w", newline="\n") as out:
            print(self.header, file=out)
            for i, (cause, sent, effect, received) in enumerate(self.edges):
                at = self.wild.get((i, False), self.times(self.reading(cause, sent)))
                to = self.wild.get((i, True), self.times(self.reading(effect, received)))
                print(f"{cause},{at},{effect},{to}", file=out)


def size_of_step(draw):
    return draw.choice((-1, 1)) * int(10 ** draw.uniform(5.7, 10))  # 0.5 ms to 10 s


def right_clocks(table):
    del table


def an_offset(table):
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by)


def a_drift(table):
    rate = table.draw.choice((-1, 1)) * table.draw.uniform(20, 200)
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by + int((t - table.first) * rate / 1e6))


def set_forward(table):
    at, by = table.inner(), abs(size_of_step(table.draw))
    table.wrong(lambda t: t + by * (t >= at))


def set_back(table):
    at, by = table.inner(), abs(size_of_step(table.draw))
    table.wrong(lambda t: t - by * (t >= at), 10**9)  # times that it showed twice stay wrong
    table.verdicts = ("clean", "unproven")


def set_back_to_before_all(table):
    at, by = table.inner(), table.last - table.first + abs(size_of_step(table.draw))
    table.wrong(lambda t: t - by * (t >= at), 10**9)
    table.verdicts = ("clean", "unproven")


def set_three_times(table):
    steps = [(table.inner(), abs(size_of_step(table.draw))) for _ in range(3)]
    # Stamps between two steps that follow each other at once may stay wrong.
    table.wrong(lambda t: t + sum(by for at, by in steps if t >= at), 6)


def beside_right_ones(table):
    """Most clocks are right though two are not."""
    while len(table.clocks) < 5:
        table.__init__(table.draw, len(table.edges))
    table.verdicts = ("clean", "unproven")


def set_at(table, at, by):
    """Makes one more clock one that was set. Times that it showed twice stay wrong."""
    table.wrong(lambda t: t + by * (t >= at))
    clock = list(table.judged)[-1]
    table.judged[clock] = 4 + sum(by < 0 and abs(t - at) <= -by for own in table.edges
                                  for c, t in (own[:2], own[2:]) if c == clock)


def slewed(table):
    """By 500 ppm, for a third of the run."""
    begin = table.first + int((table.last - table.first) * table.draw.uniform(0.1, 0.5))
    rate, length = table.draw.choice((-1, 1)) * 500, (table.last - table.first) // 3
    table.wrong(lambda t: t - int(min(max(t - begin, 0), length) * rate / 1e6))


def two_set_at_once(table):
    beside_right_ones(table)
    at = table.inner()
    for _ in range(2):
        set_at(table, at + table.draw.randrange(MS), size_of_step(table.draw))


def fast_beside_one_that_was_set(table):
    beside_right_ones(table)
    rate = table.draw.choice((-1, 1)) * table.draw.uniform(1000, 2000)
    table.wrong(lambda t: t + int((t - table.first) * rate / 1e6))
    set_at(table, table.inner(), size_of_step(table.draw))


def off_and_set_twice(table):
    """Its parts agree with each other, and are more than the other clocks."""
    off, by = size_of_step(table.draw), abs(size_of_step(table.draw))
    first = table.first + int((table.last - table.first) * table.draw.uniform(0.2, 0.4))
    second = table.first + int((table.last - table.first) * table.draw.uniform(0.6, 0.8))
    table.wrong(lambda t: t + off + by * (first <= t < second), 10**9)
    table.verdicts = ("clean", "unproven")


def wrong_pairs(table):
    for _ in range(max(1, len(table.edges) // 200)):
        i = table.draw.randrange(len(table.edges))
        cause, sent, effect, received = table.edges[i]
        table.edges[i] = (cause, sent, effect, received - table.draw.randrange(MS, SECOND))
    table.verdicts = ("clean", "unproven")


def whole_us(table):
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by)
    table.resolution = US
    table.header = "src,send_us,dst,recv_us"
    table.times = lambda t: str(t // US)


def seconds_with_decimals(table):
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by)
    table.times = lambda t: f"{t // SECOND}.{t % SECOND:09}"


def iso_8601(table):
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by)
    epoch = datetime.datetime(1970, 1, 1)
    table.times = lambda t: (f"{epoch + datetime.timedelta(seconds=t // SECOND):%Y-%m-%dT%H:%M:%S}"
                             f".{t % SECOND:09}Z")


def in_2050(table):
    """Beyond 2^61 ns."""
    by, later = size_of_step(table.draw), 800_000_000 * SECOND
    for clock in table.clocks:
        table.shown[clock] = lambda t: t + later
    table.wrong(lambda t: t + later + by)


def a_clock_since_boot(table):
    rate, by = table.draw.uniform(-50, 50), table.draw.randrange(SECOND, 10**5 * SECOND)
    table.wrong(lambda t: by + (t - table.first) + int((t - table.first) * rate / 1e6))


def floating_point(table):
    """Times that went through a double; messages are faster than its digits."""
    by = size_of_step(table.draw)
    table.wrong(lambda t: t + by)
    unit, name = table.draw.choice(((SECOND, "time"), (MS, "ms"), (US, "us")))
    table.header = f"src,send_{name},dst,recv_{name}"
    table.resolution = 500
    table.edges = [(a, sent, b, sent + 20 + int(table.draw.expovariate(1 / 100)))
                   for a, sent, b, _ in table.edges]
    form = table.draw.choice((repr, lambda x: f"{x:.{len(str(SECOND // unit)) - 1}f}"))
    if unit == SECOND:
        form = table.draw.choice((repr, lambda x: f"{x:.9f}"))
    table.times = lambda t: form(t / unit)


def a_counter(table, ticks):
    """A counter of 32 bits that wraps one to six times. Messages are so far apart as this needs."""
    period, draw = 2**32 * ticks, table.draw
    gap, now, edges = period * draw.uniform(1.2, 6) / len(table.edges), table.first, []
    for cause, sent, effect, received in table.edges:
        now += 1 + int(draw.expovariate(1 / gap))
        edges.append((cause, now, effect, now + received - sent))
    table.edges, table.last = edges, max(edge[3] for edge in edges)
    start, rate = draw.randrange(period), draw.uniform(-20, 20)
    table.counted = lambda t: start + (t - table.first) + int((t - table.first) * rate / 1e6)
    table.wrong(lambda t: table.counted(t) // ticks * ticks % period)
    table.period, table.verdicts = period, ("clean", "unproven")


def a_counter_of_ns(table):
    a_counter(table, 1)


def a_counter_of_us(table):
    a_counter(table, US)
    table.within += 2 * US


def a_clock_of_whole_ms(table):
    clock = table.draw.choice(table.clocks)
    table.shown[clock] = lambda t: t // MS * MS


def a_wrong_clock_beside_one_of_whole_ms(table):
    a_clock_of_whole_ms(table)
    coarse = next(iter(table.shown))
    while True:
        table.judged.clear()
        by = size_of_step(table.draw)
        before = dict(table.shown)
        table.wrong(lambda t: t + by)
        if coarse not in table.judged:
            break
        table.shown = before


def no_times(table, written, share=0.03):
    """A clock that is wrong, and stamps that are no times: of one clock, or of all."""
    table.wrong(lambda t, by=size_of_step(table.draw): t + by)
    only = table.draw.choice((None, table.draw.choice(table.clocks)))
    ends = [(i, is_effect) for i, edge in enumerate(table.edges) for is_effect in (False, True)
            if only in (None, edge[2 if is_effect else 0])]
    for end in table.draw.sample(ends, max(1, int(share * len(ends)))):
        table.wild[end] = written()
    table.verdicts = ("clean", "unproven")


def zeros(table):
    no_times(table, lambda: 0)


def many_zeros(table):
    no_times(table, lambda: 0, 0.2)


def garbage_far_away(table):
    no_times(table, lambda: table.draw.randrange(2**62))


def negative_without_sign(table):
    no_times(table, lambda: 2**64 - 1 - table.draw.randrange(SECOND))


def since_boot(table):
    """All clocks count from their boots."""
    for clock in table.clocks:
        table.shown[clock] = lambda t, up=table.draw.randrange(100 * SECOND, 10**6 * SECOND): t - BEGIN + up
    table.judged = {clock: 0 for clock in table.clocks}


def zeros_since_boot(table):
    since_boot(table)
    ends = [(i, is_effect) for i in range(len(table.edges)) for is_effect in (False, True)]
    for end in table.draw.sample(ends, max(1, len(ends) // 30)):
        table.wild[end] = 0
    table.verdicts = ("clean", "unproven")


def another_unit(table):
    factor = table.draw.choice((US, MS))
    by = size_of_step(table.draw)
    table.wrong(lambda t: (t + by) // factor, 10**9)  # it stays as it is
    table.verdicts = ("unproven",)


def another_unit_since_boot(table):
    since_boot(table)
    clock = table.draw.choice(table.clocks)
    table.shown[clock] = lambda t, shown=table.shown[clock]: shown(t) // US
    table.judged[clock] = 10**9
    table.verdicts = ("unproven",)


def set_from_1970(table):
    at, by = table.inner(), BEGIN - table.draw.randrange(100 * SECOND)
    table.wrong(lambda t: t - by * (t < at), 10**9)  # no map knows so far a step: a part stays as it is
    table.verdicts = ("unproven",)


KINDS = {f.__name__: f for f in (
    zeros, many_zeros, garbage_far_away, negative_without_sign, zeros_since_boot, another_unit,
    another_unit_since_boot, set_from_1970,
    right_clocks, an_offset, a_drift, set_forward, set_back, set_back_to_before_all,
    set_three_times, slewed, two_set_at_once, fast_beside_one_that_was_set, off_and_set_twice, wrong_pairs, whole_us,
    seconds_with_decimals, iso_8601, in_2050, a_clock_since_boot, floating_point,
    a_counter_of_ns, a_counter_of_us, a_clock_of_whole_ms, a_wrong_clock_beside_one_of_whole_ms)}


def corrected(rows, stamp):
    """The common time of a stamp by rows (tick, offset) of maps.csv."""
    at = min(max(bisect.bisect_right(rows, (stamp, 2**62)) - 1, 0), max(len(rows) - 2, 0))
    (a, x), (b, y) = rows[at], rows[min(at + 1, len(rows) - 1)]
    return stamp + (x if a == b else x + (y - x) * (stamp - a) // (b - a))


def maps_of(path):
    maps = collections.defaultdict(list)
    with open(path) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            maps[row["clock"]].append((int(row["tick"]), int(row["offset"])))
    return maps


def outcome(entrain, folder, kind, size, seed):
    table = Table(random.Random(f"{kind} {size} {seed}"), size)
    table.verdicts = ("clean",)
    KINDS[kind](table)
    name = f"{kind}-{size}-{seed}"
    path, out = os.path.join(folder, name + ".csv"), os.path.join(folder, "out-" + name)
    table.write(path)
    align = subprocess.run([entrain, "align", "--json", path, "-o", out], capture_output=True, text=True)
    result = {"kind": kind, "name": name + ".csv", "wrong_clean": False, "moved": False, "right": True,
              "unproven": False, "crash": align.returncode not in (0, 1, 3)}
    if result["crash"]:
        result["right"], result["why"] = False, align.stderr[-300:]
        return result
    report, maps = json.loads(align.stdout), {}
    verdict = report["verdict"]
    if os.path.exists(out):  # else nothing is written, as if no clock moved
        maps = maps_of(os.path.join(out, "maps.csv"))
        shutil.rmtree(out)
    moves = collections.defaultdict(list)
    for i, (cause, sent, effect, received) in enumerate(table.edges):
        for clock, t, is_effect in ((cause, sent, False), (effect, received, True)):
            if (i, is_effect) in table.wild:
                continue
            stamp = table.reading(clock, t)
            if "also in maps.csv" in str(report["notes"]) and clock in table.judged:
                first = min(table.counted(e) for own in table.edges for c, e in (own[:2], own[2:]) if c == clock)
                stamp = table.counted(t) - first // table.period * table.period
            time = corrected(maps.get(clock, [(0, 0)]), stamp)
            moves[clock].append((time - t, time - stamp))
    common = sorted(error for clock, own in moves.items() if clock not in table.judged for error, _ in own)
    if not common:  # all clocks are judged
        common = sorted(error for own in moves.values() for error, _ in own)
    common = common[len(common) // 2]
    moved = [clock for clock, own in moves.items() if clock not in table.judged and
             max(abs(by) for _, by in own) > table.resolution + (MS if clock in table.shown else 0)]
    wrong = [clock for clock, most in table.judged.items() if
             sum(abs(error - common) > table.within for error, _ in moves[clock]) > most]
    result["unproven"] = verdict == "unproven"
    result["wrong_clean"] = verdict == "clean" and bool(wrong)
    result["moved"] = bool(moved)
    result["right"] = not wrong and not moved and verdict in table.verdicts
    if not result["right"]:
        result["why"] = f"{verdict}, moved {moved}, wrong {wrong}"
    return result


if __name__ == "__main__":
    situations.main(KINDS, outcome, "60,300,2000")
