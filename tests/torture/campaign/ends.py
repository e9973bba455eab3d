# SPDX-License-Identifier: BSD-3-Clause
"""Cases that end before their time: SIGKILL, SIGINT and SIGTERM at any moment."""

import os
import random
import signal
import time

from .context import Case, Context, remove
from .runner import SANITIZED_FACTOR, WRITTEN, contents, tree

ANSWER_S = 0.5  # an interrupted run has ended by then
MARGIN_S = 2.0  # for machines that have other things to do
ARCHIVES = {
    "rewrite": ["correct", "in", "-o", "out"],
    "rewrite on disk": ["correct", "in", "-o", "out", "--memory", "1"],
    "overlay": ["correct", "in", "-o", "out", "--mode", "overlay", "--link", "symbolic"],
    "distort": ["distort", "in", "-o", "out"],
    "drop": ["drop", "in", "-o", "out", "--random", "0.1"],
    "check": ["check", "in", "--bounds"],
    "report": ["report", "in", "-o", "out"],
    "edges": ["edges", "in", "-o", "out"],
    "perfetto": ["export", "in", "-o", "out"],
}
RECORDINGS = {
    "rewrite": ["correct", "in", "-o", "out"],
    "distort": ["distort", "in", "-o", "out"],
    "report": ["report", "in", "-o", "out"],
    "edges": ["edges", "in", "-o", "out"],
    "chrome": ["export", "in", "--to", "chrome", "-o", "out"],
}
RUNS = {
    **{name: ("skewed", args) for name, args in ARCHIVES.items()},
    **{f"{name} of a training run": ("long-run", args) for name, args in RECORDINGS.items()},
    **{f"{name} of spans": ("long-spans", args) for name, args in RECORDINGS.items()},
    "overlay of a training run": ("long-run", ["correct", "in", "-o", "out", "--mode", "overlay"]),
    "align": ("long-edges", ["align", "in/e.csv", "-o", "out", "--bounds"]),
}
WRITES = ("out", "out.clocks.csv")


class Ends:
    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        name = list(RUNS)[number % len(RUNS)]
        return Case(RUNS[name][0], more={"run": name, "share": draw.random(),
                                         "again": draw.random() < 0.3})

    def _lay(self, context: Context, name: str) -> dict[str, str]:
        """The input is large, so it is not copied but linked as a folder of the seeds."""
        context.clear()
        context.input = RUNS[name][0]
        os.symlink(context.seeds / context.input, context.place / "in")
        return self._input(context)

    def _input(self, context: Context) -> dict[str, str]:
        return tree(context.seeds / context.input)

    def _reference(self, context: Context, name: str) -> dict:
        key = ("ends", name)
        if key not in context.references:
            self._lay(context, name)
            outcome = context.tool(RUNS[name][1], writes=WRITES)
            context.references[key] = {"code": outcome.code, "seconds": outcome.seconds,
                                       "written": self._written(context)}
        return context.references[key]

    def _written(self, context: Context):
        out = context.place / "out"
        if out.is_dir():
            return contents(out)
        return out.read_bytes() if out.is_file() else None

    def _judge_output(self, context, outcome, reference, what) -> bool:
        """True if the output is complete."""
        written = self._written(context)
        if written is not None and written != reference["written"]:
            context.find("half output", outcome, what)
        return written is not None


class Kills(Ends):
    """kill -9: no half archive, the input is as it was, and the next run is fine."""
    name, weight = "kills", 6

    def run(self, context: Context, case: Case) -> None:
        name = case.more["run"]
        reference = self._reference(context, name)
        before = self._lay(context, name)
        delay = case.more["share"] * reference["seconds"] * 1.1
        what = f"killed after {delay:.3f} s of {reference['seconds']:.3f} s ({name})"

        def act(pid, wait):
            if not wait(delay):
                os.killpg(pid, signal.SIGKILL)

        outcome = context.tool(RUNS[name][1], WRITES, (0, 1, 3, -signal.SIGKILL), act=act,
                               more=context.runner.without_leaks(), lenient=True)
        self._judge_output(context, outcome, reference, what)
        any_output = any((context.place / name).exists() for name in WRITES)
        if outcome.code in WRITTEN:
            context.note("ended before the signal")
        if any(name.startswith(".out") for name in context.names()):
            context.note("hidden folders of killed runs")
        for left in os.listdir(context.runner.temporary):
            context.note("files of killed runs in TMPDIR")
            remove(context.runner.temporary / left)
        if case.more["again"]:
            again = context.tool(RUNS[name][1] + (["--force"] if any_output else []), WRITES)
            if again.code != reference["code"]:
                context.find("next run", again, f"ends with {again.code}: {again.err[:99]}; {what}")
            self._judge_output(context, again, reference, "the next run: " + what)
        if self._input(context) != before:
            context.find("changed input", outcome, what)


class Signals(Ends):
    """SIGINT and SIGTERM: the run ends at once, with 130, and leaves nothing."""
    name, weight = "signals", 6

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        case = super().draw(draw, number, context)
        case.more["signal"] = int(draw.choice((signal.SIGINT, signal.SIGTERM)))
        return case

    def run(self, context: Context, case: Case) -> None:
        name, number = case.more["run"], case.more["signal"]
        reference = self._reference(context, name)
        before = self._lay(context, name)
        delay = case.more["share"] * reference["seconds"] * 1.1
        answer = {}

        def act(pid, wait):
            if not wait(delay):
                os.kill(pid, number)
                began = time.monotonic()
                wait(context.runner.limit_s)
                answer["seconds"] = time.monotonic() - began

        codes = (reference["code"], 130, -number)
        outcome = context.tool(RUNS[name][1], WRITES, codes, act=act)
        what = f"{signal.Signals(number).name} after {delay:.3f} s of {reference['seconds']:.3f} s"
        if outcome.code == -number and delay > self._start_seconds(context):
            context.find("died of the signal", outcome, what)
        if "seconds" not in answer:
            context.note("ended before the signal")
        else:
            context.longest_answer_s = max(context.longest_answer_s, answer["seconds"])
            factor = SANITIZED_FACTOR if context.runner.sanitized else 1
            if answer["seconds"] > (ANSWER_S + MARGIN_S) * factor:
                context.find("slow to end", outcome, f"{answer['seconds']:.1f} s; {what}")
        if self._judge_output(context, outcome, reference, what) and outcome.code == -number:
            context.find("half output", outcome, what)
        if self._input(context) != before:
            context.find("changed input", outcome, what)

    def _start_seconds(self, context: Context) -> float:
        """How long the program may take until its handler is there: all of a short run, thrice."""
        if "start" not in context.references:
            context.references["start"] = 0.1 + 3 * max(
                context.runner.run(context.runner.tool, ["--version"], {}).seconds
                for _ in range(3))
        return context.references["start"]
