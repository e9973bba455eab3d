# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which the machine fails: at one system call or allocation, or from one on (faults.c)."""

import errno
import math
import os
import random
import struct
from dataclasses import dataclass, replace
from pathlib import Path

from .context import Case, Context, remove
from .runner import WRITTEN, contents, tree

NO_SECCOMP = 99  # exit code of faults.c
COMPLAINT = 200  # at least as many allocations as a complaint of an option takes
GOLDEN = 0.6180339887498949  # steps of this share of a range visit it evenly
# System calls of x86-64: rename and remove in all forms, and write.
REMOVES = {82, 84, 87, 263, 264, 316}
WRITES = {1, 18, 20}


@dataclass(frozen=True)
class Scenario:
    name: str
    args: tuple[str, ...]
    writes: tuple[str, ...] = ()
    base: str = "recordings/mixed"
    in_place: bool = False  # changes its input
    program: str = ""  # relative to the tool; "": the tool


SCENARIOS = (
    Scenario("info", ("info", "in", "--json")),
    Scenario("check", ("check", "in", "--presync", "regression")),
    Scenario("bounds", ("check", "in", "--bounds-csv", "t.csv"), ("t.csv",)),
    Scenario("page", ("report", "in", "-o", "page.html"), ("page.html",)),
    Scenario("rewrite", ("correct", "in", "-o", "out", "--threads", "1"), ("out",)),
    Scenario("rewrite and spill", ("correct", "in", "-o", "out", "--memory", "1", "--threads", "2"),
             ("out",)),
    Scenario("overlay", ("correct", "in", "-o", "out", "--mode", "overlay"), ("out",)),
    Scenario("overlay of an overlay", ("correct", "in", "-o", "out", "--mode", "overlay", "--link",
                                       "hard"), ("out",), "archives/overlaid"),
    Scenario("distort", ("distort", "in", "-o", "out"), ("out",)),
    Scenario("drop", ("drop", "in", "-o", "out", "--random", "0.1"), ("out",)),
    Scenario("synth", ("synth", "-o", "out", "--locations", "2", "--events", "200"), ("out",)),
    Scenario("compare", ("compare", "in", "in", "--csv", "t.csv"), ("t.csv",)),
    Scenario("repair", ("in",), (), "unfinished/p3", True, "../lib/entrain/entrain-record-repair"),
    Scenario("schedule", ("net", "schedule", "in/net.dot", "-o", "plan.csv"), ("plan.csv",),
             "net/a.dot"),
    Scenario("correct and page", ("correct", "in", "-o", "out", "--report", "page.html"),
             ("out", "page.html")),
    Scenario("edges", ("edges", "in", "-o", "e.csv"), ("e.csv", "e.clocks.csv")),
    Scenario("edges as lines", ("edges", "in", "-o", "e.jsonl"), ("e.jsonl", "e.clocks.csv")),
    Scenario("perfetto", ("export", "in", "-o", "x.pftrace"), ("x.pftrace",)),
    Scenario("perfetto, both", ("export", "in", "--both", "-o", "x.pftrace"), ("x.pftrace",)),
    Scenario("chrome", ("export", "in", "--to", "chrome", "-o", "x.json"), ("x.json",)),
    Scenario("csv", ("export", "in", "--to", "csv", "-o", "x.csv"), ("x.csv", "x.clocks.csv")),
    Scenario("clock tables", ("correct", "in", "-o", "out", "--presync", "spline", "--mu", "delays"),
             ("out",)),
    *(Scenario(f"{name}, {base}", args, writes, base)
      for base in ("runs/synth", "runs/packed", "spans/otlp", "spans/jaeger", "spans/zipkin",
                   "spans/packed")
      for name, args, writes in (
          ("info", ("info", "in", "--json"), ()),
          ("correct", ("correct", "in", "-o", "out", "--threads", "1"), ("out",)))),
    *(Scenario(f"{name}, {base}", args, writes, base) for base in ("runs/synth", "spans/otlp")
      for name, args, writes in (
          ("check", ("check", "in", "--bounds"), ()),
          ("threads", ("correct", "in", "-o", "out", "--threads", "3"), ("out",)),
          ("distort", ("distort", "in", "-o", "out"), ("out",)),
          ("page", ("report", "in", "-o", "page.html"), ("page.html",)),
          ("edges", ("edges", "in", "-o", "e.csv"), ("e.csv", "e.clocks.csv")),
          ("perfetto", ("export", "in", "-o", "x.pftrace"), ("x.pftrace",)),
          ("chrome", ("export", "in", "--to", "chrome", "-o", "x.json"), ("x.json",)),
          ("compare", ("compare", "in", "in", "--csv", "t.csv"), ("t.csv",)))),
    Scenario("overlay of a training run", ("correct", "in", "-o", "out", "--mode", "overlay"),
             ("out",), "runs/synth"),
    Scenario("marked spans", ("correct", "in", "-o", "out", "--mark-offsets"), ("out",),
             "spans/otlp"),
    Scenario("synth chrome", ("synth", "-o", "out", "--format", "chrome", "--locations", "2",
                              "--events", "200"), ("out",), ""),
    Scenario("synth otlp", ("synth", "-o", "out", "--format", "otlp", "--locations", "2", "--events",
                            "60"), ("out",), ""),
    Scenario("align", ("align", "in/e.csv", "--json"), (), "edges/csv"),
    Scenario("align lines", ("align", "in/e.jsonl", "--bounds"), (), "edges/jsonl"),
    Scenario("align and apply", ("align", "in/e.csv", "-o", "out", "--bounds", "--apply", "in/v.csv",
                                 "--time-column", "when", "--clock-column", "where"), ("out",),
             "edges/csv"),
    Scenario("align and page", ("align", "in/e.jsonl", "--report", "page.html"), ("page.html",),
             "edges/jsonl"),
)


class Faults:
    """What system calls and allocations have in common."""
    name, weight, letter = "", 0, ""

    def errors(self) -> tuple[tuple[int, int], ...]:
        """Pairs: errno, and 1 if all later ones fail, too."""
        raise NotImplementedError

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        if not self.usable(context):
            return Case("")
        scenario = SCENARIOS[number % len(SCENARIOS)]
        turn = number // len(SCENARIOS)
        errors = self.errors()
        error, later = errors[turn % len(errors)]
        phase = random.Random(f"{context.seed}/{scenario.name}/{error}").random()
        share = (turn // len(errors) * GOLDEN + phase) % 1.0
        return Case(scenario.base, more={"scenario": scenario.name, "error": error, "from": later,
                                         "share": share})

    def usable(self, context: Context) -> bool:
        if context.shims.get(self.letter) is None:
            context.note("no C compiler: nothing was made to fail")
            return False
        if context.references.get("no seccomp") and self.letter == "c":
            return False
        return True

    def run(self, context: Context, case: Case) -> None:
        if not case.more:
            return
        scenario = next(one for one in SCENARIOS if one.name == case.more["scenario"])
        program = Path(context.runner.tool).resolve().parent / scenario.program
        if scenario.program and not program.is_file():
            context.note("no recorder in this build")
            return
        if not (context.seeds / scenario.base).is_dir():
            return
        reference = self._reference(context, scenario, case)
        if reference is None:
            return
        at = int(case.more["share"] * reference["count"]) + 1
        self._fail(context, scenario, case, reference, at)

    def _start(self, context, scenario, case, at, error=0, later=0, lenient=True):
        context.lay(case)
        counts = context.runner.folder / "counts"
        counts.unlink(missing_ok=True)
        setting = f"{self.letter}:{at}:{error}:{later}:{counts}"
        more = {"LD_PRELOAD": os.fspath(context.shims[self.letter]), "TORTURE_FAULT": setting}
        usual = context.runner.tool
        more |= context.runner.without_leaks()  # that search blocks all signals: see faults.c
        if scenario.program:
            context.runner.tool = os.path.normpath(
                os.path.join(os.path.dirname(os.path.realpath(usual)), scenario.program))
        try:
            outcome = context.tool(list(scenario.args), scenario.writes, more=more,
                                   allowed=(0, 1, 2, 3, NO_SECCOMP), lenient=lenient)
        finally:
            context.runner.tool = usual
        numbers = struct.unpack("QQQ", counts.read_bytes()) if counts.exists() else (0, 0, 0)
        return outcome, numbers

    def _reference(self, context: Context, scenario: Scenario, case: Case):
        """The run without a fault: its exit code, what it writes, how many calls it makes."""
        key = (self.letter, scenario.name)
        if key not in context.references:
            outcome, (count, _, _) = self._start(context, scenario, case, 0)
            if outcome.code == NO_SECCOMP:
                context.references["no seccomp"] = True
                context.note("no seccomp: no system call was made to fail")
                return None
            if count == 0 or context.findings or outcome.code not in WRITTEN:
                context.find("cannot be faulted", outcome, f"{count} calls, ends with "
                             f"{outcome.code}: {outcome.err[:100]}")
                return None
            context.references[key] = {"code": outcome.code, "count": count,
                                       "written": self._written(context, scenario)}
        return context.references[key]

    def _written(self, context: Context, scenario: Scenario) -> dict:
        names = ("in",) if scenario.in_place else scenario.writes
        found = {}
        for name in names:
            path = context.place / name
            if path.is_dir():
                found[name] = contents(path)
                if scenario.in_place:  # the number of a trace is made of the time
                    found[name].pop("traces.otf2", None)
            elif path.exists():
                found[name] = path.read_bytes()
        return found

    def _fail(self, context, scenario, case, reference, at) -> None:
        error, later = case.more["error"], case.more["from"]
        outcome, (_, failed, number) = self._start(context, scenario, case, at, error, later)
        if not failed:
            context.note("runs in which nothing was made to fail")
        before = None if scenario.in_place else tree(context.seeds / case.base)
        if before is not None and case.base:
            context.unchanged(before)
        what = f"{self._name(number, error)} at {at}{' and later' if later else ''}"
        self._judge(context, scenario, reference, outcome, number, bool(later), what)

    def _name(self, number: int, error: int) -> str:
        how = errno.errorcode.get(error, "short") if self.letter == "c" else "no memory"
        return f"{how}, system call {number}" if self.letter == "c" else how

    def _judge(self, context, scenario, reference, outcome, number, later, what) -> None:
        for finding in context.findings:
            finding.detail += f" ({what}; {scenario.name})"
        if outcome.timed_out or outcome.code < 0:
            self._judge_left(context, scenario, outcome, number, later, what)
            return
        if outcome.code == 2 and not outcome.err.strip() and number not in WRITES and not (
                later and self.letter == "c"):
            context.find("empty message", outcome, f"{what}; {scenario.name}")
        if outcome.code in WRITTEN:
            if outcome.code != reference["code"]:
                context.find("verdict", outcome, f"ends with {outcome.code}, without fault with "
                             f"{reference['code']} ({what}; {scenario.name})")
            elif self._written(context, scenario) != reference["written"]:
                context.find("differs", outcome, f"wrote something else ({what}; {scenario.name})")
        elif outcome.code == 2 and scenario.writes:
            written = self._written(context, scenario)
            missing = set(reference["written"]) - set(written)
            if written and missing <= {"page.html"} and all(
                    reference["written"][name] == one for name, one in written.items()):
                context.note("exit code 2 although the result is complete")
            elif written and not (later and self.letter == "c") and number not in REMOVES:
                context.find("half output", outcome, f"{what}; {scenario.name}")
        self._judge_left(context, scenario, outcome, number, later, what)

    def _judge_left(self, context, scenario, outcome, number, later, what) -> None:
        left = context.names() - {"in"} - set(scenario.writes)
        temporary = os.listdir(context.runner.temporary)
        excused = self.letter == "c" and (later or number in REMOVES) or outcome.timed_out
        for name in sorted(left) + temporary:
            if not excused:
                context.find("leftover", outcome, f"{name} ({what}; {scenario.name})")
        for name in temporary:
            remove(context.runner.temporary / name)


class SystemCalls(Faults):
    """A system call fails, or reads or writes less than asked for."""
    name, weight, letter = "system calls", 10, "c"

    def errors(self):
        return ((errno.EIO, 0), (errno.ENOSPC, 0), (0, 0), (errno.EINTR, 0), (errno.ENOMEM, 0),
                (errno.EACCES, 0), (errno.EIO, 1), (errno.EMFILE, 0), (errno.EAGAIN, 0),
                (errno.ENOSPC, 1))


class Allocations(Faults):
    """An allocation fails, or all from one on."""
    name, weight, letter = "allocations", 10, "m"

    def errors(self):
        return ((errno.ENOMEM, 0), (errno.ENOMEM, 1))

    def usable(self, context: Context) -> bool:
        # The sanitizers bring an allocator of their own.
        return not context.runner.sanitized and super().usable(context)


class Sweep(Faults):
    """Every scenario with every call failing once: the first, second, third, ... of each, in an order
    that is spread over all of them at any time. A case is one scenario, one way to fail and one k, so
    that a later campaign goes on where an earlier one ended (--first)."""
    name, weight = "sweep", 60
    modes = (("m", errno.ENOMEM, 0), ("c", errno.EIO, 0), ("c", 0, 0), ("c", errno.ENOMEM, 0),
             ("m", errno.ENOMEM, 1), ("c", errno.ENOSPC, 1))

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        turn, place = divmod(number, len(SCENARIOS) * len(self.modes))
        way, scenario = divmod(place, len(SCENARIOS))
        letter, error, later = self.modes[way]
        return Case(SCENARIOS[scenario].base,
                    more={"scenario": SCENARIOS[scenario].name, "letter": letter, "error": error,
                          "from": later, "turn": turn})

    def run(self, context: Context, case: Case) -> None:
        self.letter = case.more["letter"]
        scenario = next(one for one in SCENARIOS if one.name == case.more["scenario"])
        program = Path(context.runner.tool).resolve().parent / scenario.program
        base = context.seeds / scenario.base
        if not self.usable(context) or not base.is_dir() or (
                scenario.program and not program.is_file()):
            return
        reference = self._reference(context, scenario, case)
        if reference is None:
            return
        skipped = self._start_up(context, scenario, case)
        count, turn = reference["count"] - skipped, case.more["turn"]
        if turn < count:
            name = f"{scenario.name} | {self._mode_name(case)}"
            swept = context.swept.setdefault(name, {"done": 0, "most": 0})
            swept["done"] += 1
            swept["most"] = max(count, swept["most"])
            self._fail(context, scenario, case, reference, skipped + nth_of_all(turn, count))

    def _start_up(self, context: Context, scenario: Scenario, case: Case) -> int:
        """How many allocations a verb makes until it knows its options. They are the same for each of
        its runs, so only the first run of a verb lets them fail."""
        verb = scenario.args[0]
        first = next(one for one in SCENARIOS if one.args[0] == verb)
        if self.letter != "m" or first is scenario:
            return 0
        key = ("start-up", verb)
        if key not in context.references:
            unknown = replace(scenario, args=(verb, "--no-such-option"), writes=())
            _, (count, _, _) = self._start(context, unknown, case, 0)
            context.references[key] = max(0, count - COMPLAINT)
        return context.references[key]

    def _mode_name(self, case: Case) -> str:
        error = errno.errorcode.get(case.more["error"], "short")
        what = "allocations" if self.letter == "m" else "system calls, " + error
        return what + (", and all later ones" if case.more["from"] else "")


def nth_of_all(turn: int, count: int) -> int:
    """A number from 1 to `count`, each once for the turns below `count`, evenly spread at any time."""
    step = max(1, round(count * GOLDEN))
    while math.gcd(step, count) != 1:
        step += 1
    return turn * step % count + 1
