#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls the Python module with random objects, random bytes and given files.

Every call ends with a result, or with an exception that a user of Python expects, in one line of a
sentence's length. Exit codes: 0 fine, 3 another exception; a crash ends the process, and the last
line on standard error is its call. The same seed makes the same calls.

    PYTHONPATH=build/dev/python fuzz/python_calls.py --seed 7 --seconds 60 examples/traces/lulesh-8
"""

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import entrain_clocks

EXPECTED = (ValueError, TypeError, KeyError, IndexError, OverflowError, OSError, MemoryError)
FROM_ENTRAIN = (ValueError, OSError)  # whose texts are the module's
LONGEST = 400  # characters of a message
THREADS = 2  # more of them only take time
FOUND = 3

TEXTS = ("", "a", "0", "-1", "1.5", "nan", "\0", "\ud800", "\u202e", "x" * 3000, "\x1b[31m", ",", '"',
         "a,b\n", "..", "/", "/dev/null", "/nonexistent/x", "p2p", "timer", "wall", "begin", "auto")
NUMBERS = (0, 1, -1, 2, 7, 255, 2**31, 2**32 - 1, 2**53 + 1, 2**61, 2**62, 2**63 - 1, 2**63, 2**64,
           -2**63, 10**400, 0.0, 1.5, -0.0, 1e308, float("nan"), float("inf"), True, None)
DTYPES = ("i1", "i4", "i8", ">i8", "u4", "u8", "f4", "f8", "?", "O", "U3", "S3", "M8[ns]", "c16")
PRESYNC = ("auto", "none", "linear", "regression", "spline", "causal", "", "x", None, 3)
EDGES = ("cause_clock", "cause_time", "effect_clock", "effect_time", "min_delay", "kind", "instance",
         "role", "sync", "rank", "margin", "x", 3)
CLOCKS = ("clock", "kind", "domain", "process", "machine", "resolution_hz", "first", "last", "time",
          "offset", "half_width", "x")


def a_value(draw, depth=0):
    """Any object."""
    simple = (lambda: draw.choice(TEXTS), lambda: draw.choice(NUMBERS), lambda: an_array(draw),
              lambda: draw.randbytes(draw.randrange(20)), lambda: Path(draw.choice(TEXTS)),
              object, lambda: (n for n in (1, 2)), lambda: range(draw.randrange(5)),
              lambda: print, lambda: {1, 2}, lambda: memoryview(b"abc"), lambda: np.int64(5),
              lambda: np.ma.masked_array([1, 2], [True, False]))
    if depth > 2 or draw.random() < 0.8:
        return draw.choice(simple)()
    if draw.random() < 0.5:
        return [a_value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {draw.choice(EDGES): a_value(draw, depth + 1) for _ in range(draw.randrange(4))}


def an_array(draw):
    shape = draw.choice(((0,), (1,), (5,), (200,), (), (2, 3), (0, 4), (3, 1, 1)))
    try:
        array = np.array(np.random.RandomState(draw.getrandbits(32)).randint(
            draw.choice((1, 9, 2**40)), size=shape)).astype(draw.choice(DTYPES))
    except (ValueError, TypeError):
        return np.zeros(shape)
    how = draw.randrange(4)
    if how == 0 and array.ndim > 0:
        return array[::-1]
    if how == 1:
        array.flags.writeable = False
    return array


def a_column(draw, name, rows):
    """What a column mostly is; at times something else."""
    if draw.random() < 0.06:
        return a_value(draw)
    rows += draw.choice((0,) * 15 + (-1, 1))
    rows = max(rows, 0)
    if "clock" in str(name) or name in ("domain", "process", "machine"):
        names = draw.choice((["a", "b", "c"], [0, 1], [0, 1, 2**31], list(TEXTS)))
        return [draw.choice(names) for _ in range(rows)]
    if name == "kind" or name == "role":
        return [draw.choice(("p2p", "n_to_n", "begin", "end", "timer", "wall", "", "x", 0))
                for _ in range(rows)]
    step = draw.choice((0, 1, 1000, 10**9, 2**50))
    times = np.arange(rows, dtype=np.int64) * step + draw.choice((0, 5, 10**12, 2**60, -3))
    return draw.choice((times, times, times.tolist(), times.astype("u8"), times.astype("f8")))


def a_table(draw, needed, optional):
    rows = draw.choice((0, 1, 2, 30, 500))
    names = [name for name in needed if draw.random() < 0.97]
    names += [name for name in optional if draw.random() < 0.1]
    table = {name: a_column(draw, name, rows) for name in names}
    how = draw.randrange(12)
    if how == 0:
        return a_value(draw)
    if how == 1:
        try:
            return np.rec.fromarrays([np.asarray(one) for one in table.values()],
                                     names=[str(name) for name in table])
        except (ValueError, TypeError):
            return table
    return table


def random_file(draw, folder):
    """A file of random bytes, or of half a table."""
    path = folder / draw.choice(("a.csv", "a.jsonl", "a.json", "a.json.gz", "traces.otf2"))
    head = draw.choice((b"", b"cause_clock,cause_time,effect_clock,effect_time\n", b"[", b'{"a":',
                        b"\x1f\x8b\x08\0", b'{"traceEvents":[', b'{"resourceSpans":[', b"\xef\xbb\xbf"))
    path.write_bytes(head + draw.randbytes(draw.choice((0, 5, 300, 5000))))
    return path


class Calls:
    """Makes calls; `paths` are files and folders to call with."""

    def __init__(self, draw, paths, folder):
        self.draw, self.paths, self.folder = draw, paths, folder
        self.kinds = (self.check, self.check, self.correct, self.clock_maps, self.align, self.align,
                      self.align, self.align_files, self.maps_alone)

    def path(self):
        chance = self.draw.random()
        if self.paths and chance < 0.6:
            return self.draw.choice(self.paths)
        return random_file(self.draw, self.folder) if chance < 0.85 else a_value(self.draw)

    def options(self):
        draw = self.draw
        options = {"threads": THREADS}
        if draw.random() < 0.4:
            options["presync"] = draw.choice(PRESYNC)
        if draw.random() < 0.1:
            options["threads"] = draw.choice((-1, 1.5, "x", 2**70, None))
        if draw.random() < 0.2:
            options["progress"] = draw.choice((lambda *state: None, _raises, 5, print))
        return options

    def check(self):
        report = entrain_clocks.check(self.path(), **self.options())
        report.edges()
        report.violations()

    def correct(self):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        to = out if self.draw.random() < 0.8 else self.draw.choice(("", "\0", None, out / "x" / "y"))
        entrain_clocks.correct(self.path(), to, mode=self.draw.choice(("rewrite", "overlay", "x", None)),
                               verify=self.draw.random() < 0.7, **self.options())
        shutil.rmtree(out, ignore_errors=True)

    def clock_maps(self):
        maps = entrain_clocks.clock_maps(self.path(), amortize=self.draw.random() < 0.5,
                                         **self.options())
        for location in list(maps)[:3]:
            maps[location](a_column(self.draw, "time", 20))
            maps.bounds(location)
        maps[a_value(self.draw)]

    def align(self):
        draw = self.draw
        edges = a_table(draw, EDGES[:4], EDGES[4:])
        clocks = None if draw.random() < 0.6 else a_table(draw, CLOCKS[:1], CLOCKS[1:])
        sessions = None if draw.random() < 0.6 else a_table(
            draw, ("clock", "time", "offset", "half_width"), ("x",))
        self._use(entrain_clocks.align(edges, clocks, sessions, bounds=draw.random() < 0.3,
                                       resolution_hz=draw.choice((None, None, 1, 10**9, *NUMBERS)),
                                       **self.options()))

    def align_files(self):
        tables = [one for one in self.paths if str(one).endswith((".csv", ".jsonl"))]
        table = self.draw.choice(tables) if tables else self.path()
        self._use(entrain_clocks.align(table, None if self.draw.random() < 0.7 else self.path(),
                                       bounds=self.draw.random() < 0.3, **self.options()))

    def _use(self, aligned):
        draw = self.draw
        for clock in aligned.clocks[:3]:
            aligned[clock](a_column(draw, "time", 50))
            aligned.bounds(clock)
        aligned.apply(a_table(draw, ("where", "when"), ()), clock="where", time="when")

    def maps_alone(self):
        """Maps of good edges, called with anything."""
        sent = np.arange(1000, 2000, 10)
        aligned = entrain_clocks.align({"cause_clock": ["a", "b"] * 50, "cause_time": sent,
                                        "effect_clock": ["b", "a"] * 50, "effect_time": sent + 3},
                                       threads=1)
        aligned["a"](a_value(self.draw))
        aligned.apply({"c": a_value(self.draw), "t": a_value(self.draw)}, clock="c", time="t")


def _raises(*state):
    raise KeyError("as the callback says")


def problem_of(error):
    """What is wrong with an exception; nothing if a user expects it."""
    text = str(error)
    if not isinstance(error, EXPECTED):
        return f"{type(error).__name__}: {text}"
    if type(error) in FROM_ENTRAIN and _from_entrain(error):
        if len(text) > LONGEST:
            return f"a message of {len(text)} characters: {text}"
        if "\n" in text or any(ord(sign) < 32 or ord(sign) == 127 for sign in text):
            return f"a control character in a message: {text!r}"
        if not text.strip():
            return "an empty message"
    return ""


def _from_entrain(error):
    """Whether the module made the exception, not NumPy or Python inside it."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    return "entrain_clocks" in last.tb_frame.f_code.co_filename


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, help="ends after this number of calls")
    parser.add_argument("--seconds", type=float, default=60, help="ends after this time")
    parser.add_argument("paths", nargs="*", type=Path, help="files, and folders of files")
    options = parser.parse_args()
    paths = [path for given in options.paths
             for path in [given, *(sorted(given.iterdir()) if given.is_dir() else [])]]
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="python-calls-") as folder:
        for number in itertools.count() if options.calls is None else range(options.calls):
            if time.monotonic() >= end:
                break
            draw = random.Random(f"{options.seed}/{number}")
            calls = Calls(draw, paths, Path(folder))
            call = draw.choice(calls.kinds)
            print(f"{call.__name__}, call {number}", file=sys.stderr, flush=True)
            try:
                call()
            except Exception as error:  # every kind is judged
                wrong = problem_of(error)
                if wrong:
                    print(ascii(f"{call.__name__}, call {number}: {wrong}")[1:300], file=sys.stderr)
                    return FOUND
    return 0


if __name__ == "__main__":
    sys.exit(main())
