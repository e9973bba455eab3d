# SPDX-License-Identifier: BSD-3-Clause
"""Cases whose input is damaged and no archive: training runs, spans, tables of edges."""

import json
import os
import random
from pathlib import Path

from . import mutate
from .context import Case, Context, some
from .inputs import CHECK, CORRECT, VERDICT, judge_json, only
from .runner import WRITTEN, contents, tree

LARGEST_PICTURE = 1 << 24  # bytes of JSON that are read for a look at it
SAID = [["--json"], ["--verbose"]]
# Sessions of clocks and MPI mean nothing to these formats.
FOREIGN = ("--sessions", "--init-finalize", "--alltoallv", "--link")


def _fitting(pool: list[list[str]]) -> list[list[str]]:
    return [group for group in pool if group[0] not in FOREIGN]


class Recordings:
    """Mutated JSON through info, check, correct, and one other verb."""
    mutations, weights = list(mutate.RECORDINGS), list(mutate.RECORDINGS_WEIGHTS.values())
    bases: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("rewrite",)
    more_options: list[list[str]] = []
    rests = ("distort", "report", "page", "edges", "perfetto", "chrome", "csv", "truth", "threads",
             "both", "one by one", "")

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        bases = [base for base in self.bases if (context.seeds / base).is_dir()]
        pool = _fitting(CORRECT) + self.more_options
        case = Case(draw.choice(bases), mutate.draw_steps(draw, self.mutations, self.weights),
                    some(draw, pool, 3))
        case.more = {"rest": draw.choice(self.rests)}
        return case

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        judge_json(context, context.tool(["info", "in"] + only(case, SAID)))
        checked = context.tool(["check", "in"] + only(case, CHECK))
        judge_json(context, checked)
        for mode, folder in zip(self.modes, ("out", "over")):
            made = context.tool(["correct", "in", "-o", folder, "--mode", mode, *case.words()],
                                writes=(folder,))
            judge_json(context, made)
            if made.code in WRITTEN:
                self._judge_result(context, folder, made, mode, only(case, VERDICT))
        self._rest(context, case, checked)
        context.unchanged(before)

    def _judge_result(self, context: Context, folder: str, made, mode, verdict: list[str]) -> None:
        """What was written is read, and judged the same. Times of an overlay are the input's."""
        names = {path.name for path in (context.place / "in").iterdir()} | {".entrain-result"}
        if mode == "rewrite" and not set(os.listdir(folder)) <= names:
            context.find("half output", made, "files that the input does not have")
        checked = context.tool(["check", folder, *verdict, "--presync", "none"])
        if checked.code == 2:
            context.find("unreadable result", made, f"check: {checked.err.strip()[:160]}")
        elif mode == "rewrite" and checked.code != made.code and not checked.timed_out:
            if "--no-verify" in made.args:
                return
            if made.code == 3 and checked.code == 0 and "lie in cycles" in made.out:
                context.note("correct is more careful than check of its result: cycles")
                return
            context.find("verdict", made, f"correct ends with {made.code}, check of its result with "
                                          f"{checked.code}")

    def _rest(self, context: Context, case: Case, checked) -> None:
        rest, options = case.more.get("rest"), only(case, _fitting(CHECK))
        if rest == "distort":
            made = context.tool(["distort", "in", "-o", "other", "--seed", "3"], writes=("other",))
            if made.code in WRITTEN and context.tool(["check", "other"]).code == 2:
                context.find("unreadable result", made, "check refuses it")
        elif rest == "report":
            context.tool(["report", "in", "-o", "page.html", *options], writes=("page.html",))
            _judge_page(context)
        elif rest == "page":
            context.tool(["check", "in", "--report", "page.html", *options], writes=("page.html",))
            _judge_page(context)
        elif rest == "edges":
            self._edges(context, options)
        elif rest in ("perfetto", "chrome", "csv", "both"):
            self._export(context, rest)
        elif rest == "truth":
            truth = os.fspath(context.seeds / "truths" / case.base)
            if os.path.isdir(truth):
                context.tool(["compare", "in", "out" if os.path.isdir("out") else truth, "--truth",
                              truth, "--csv", "t.csv"], writes=("t.csv",))
        elif rest == "threads" and os.path.isdir("out"):
            self._again(context, case)
        elif rest == "one by one":
            files = sorted(os.path.join("in", name) for name in os.listdir("in"))
            context.tool(["check", *files[:8]])

    def _edges(self, context: Context, options: list[str]) -> None:
        name = "e.jsonl" if "--verbose" in options else "e.csv"
        made = context.tool(["edges", "in", "-o", name, *options], writes=(name, "e.clocks.csv"))
        if made.code in WRITTEN:
            aligned = context.tool(["align", name])
            if aligned.code == 2 and "no edges" not in aligned.err:
                context.find("unreadable result", made, f"align: {aligned.err.strip()[:160]}")

    def _export(self, context: Context, rest: str) -> None:
        both = ["--both"] if rest == "both" else []
        to = "perfetto" if both else rest
        made = context.tool(["export", "in", "--to", to, "-o", "x.out", *both],
                            writes=("x.out", "x.clocks.csv", "x.out.clocks.csv"))
        file = context.place / "x.out"
        if made.code in WRITTEN and to == "chrome" and file.stat().st_size < LARGEST_PICTURE:
            try:
                json.loads(file.read_bytes())
            except ValueError as error:
                context.find("unreadable result", made, f"no JSON: {error}")

    def _again(self, context: Context, case: Case) -> None:
        """The same with other threads."""
        options = [word for group in case.options for word in group
                   if group[0] not in ("--threads", "--memory", "--json", "--verbose")]
        again = context.tool(["correct", "in", "-o", "again", *options, "--threads", "3"],
                             writes=("again",))
        if again.code in WRITTEN and contents(context.place / "again") != contents(
                context.place / "out"):
            context.find("not repeatable", again, "other bytes than with the first run")


def _judge_page(context: Context) -> None:
    """A page ends as it should, and has no element that names of the trace brought."""
    page = context.place / "page.html"
    if page.is_file() and not page.read_bytes().rstrip().endswith(b"</html>"):
        context.find("half output", None, "a page without its end")


class Runs(Recordings):
    """Training runs: Chrome JSON as the PyTorch profiler writes it, plain and packed."""
    name, weight = "training runs", 18
    bases = ("runs/synth", "runs/synth", "runs/example", "runs/packed")
    modes = ("rewrite", "overlay")


class Spans(Recordings):
    """Spans of services as OTLP, Jaeger and Zipkin write them, plain and packed."""
    name, weight = "spans", 18
    bases = ("spans/otlp", "spans/otlp", "spans/jaeger", "spans/zipkin", "spans/packed")
    more_options = [["--mark-offsets"]] * 3


class EdgeTables:
    """Mutated tables of edges, of clocks, and of events, through align."""
    name, weight = "edge tables", 12
    options = _fitting(CHECK) + [["--bounds"], ["--resolution", "1000"], ["--resolution", "1"],
                                 ["--report", "page.html"]]
    columns = (["--time-column", "when", "--clock-column", "where"],) * 5 + (
        ["--time-column", "where", "--clock-column", "where"],
        ["--time-column", "when", "--clock-column", "none"], ["--time-column", "when"])

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        steps = mutate.draw_steps(draw, list(mutate.EDGES), list(mutate.EDGES_WEIGHTS.values()))
        case = Case(draw.choice(("edges/csv", "edges/csv", "edges/jsonl")), steps,
                    some(draw, self.options, 3))
        case.more = {"clocks": draw.random() < 0.2, "columns": draw.choice(self.columns)}
        return case

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        table = "in/e.csv" if case.base.endswith("csv") else "in/e.jsonl"
        clocks = ["--clocks", "in/e.clocks.csv"] if case.more["clocks"] else []
        writes = ("page.html",)
        judge_json(context, context.tool(["align", table, *clocks, *case.words()], writes=writes))
        for name in writes:
            Path(name).unlink(missing_ok=True)
        made = context.tool(["align", table, *clocks, "-o", "out", "--apply", "in/v.csv",
                             *case.more["columns"], *case.words()], writes=("out", *writes))
        if made.code in WRITTEN:
            self._judge_result(context, made)
        context.unchanged(before)

    def _judge_result(self, context: Context, made) -> None:
        out = context.place / "out"
        try:
            json.loads((out / "report.json").read_bytes())
            written = (out / "v.csv").read_bytes()
        except (OSError, ValueError) as error:
            context.find("unreadable result", made, f"{error}")
            return
        given = (context.place / "in" / "v.csv").read_bytes()
        if not (out / "maps.csv").is_file():
            context.find("half output", made, "no maps.csv")
        if _shape(written) != _shape(given):
            context.find("differs", made, "the table of --apply has other lines or line ends")


def _shape(table: bytes) -> tuple:
    """What mapping the times of a table does not change."""
    return table.count(b"\n"), table.count(b"\r"), table.count(b",")
