# SPDX-License-Identifier: BSD-3-Clause
"""Cases whose input is damaged: archives, tables, unfinished recordings, networks, arguments."""

import json
import os
import random
import re
from pathlib import Path

from . import mutate, records
from .context import EXITS, Case, Context, some
from .runner import WRITTEN, contents, tree

LONGEST_JSON = 1 << 21

VERDICT = [["--alltoallv", "dense"], ["--init-finalize", "on"], ["--min-coverage", "0"],
           ["--min-coverage", "100"], ["--strict-latency"],
           *[["--mu", value] for value in ("1tick", "1e-6", "0")]]
CHECK = VERDICT + [
    *[["--presync", method] for method in ("none", "none", "linear", "regression", "spline",
                                           "causal", "auto")],
    *[["--clock-domain", kind] for kind in ("location", "process", "node")],
    *[["--mu", value] for value in ("delays", "rtt")],
    ["--bounds"], ["--max-rate-ppm", "10"], ["--sessions", "mean"], ["--sessions", "weighted"],
    ["--memory", "1"], ["--threads", "1"], ["--threads", "3"], ["--verbose"], ["--json"]]
CORRECT = CHECK + [["--backward", "off"], ["--delta", "1"], ["--delta", "1000"], ["--gamma", "0.9"],
                   ["--gamma", "0.5"], ["--epsilon", "0"], ["--epsilon", "1e-6"],
                   ["--max-slope", "0.01"], ["--amortize", "off"],
                   ["--no-verify"], ["--link", "symbolic"], ["--link", "hard"]]
LINK = ("--link",)
# They do not change what is written.
NOT_CORRECT = ("--json", "--verbose")


def only(case: Case, pool: list[list[str]]) -> list[str]:
    return [word for group in case.options if group in pool for word in group]


def judge_json(context: Context, outcome) -> None:
    if "--json" in outcome.args and outcome.code in WRITTEN and len(outcome.out) < LONGEST_JSON:
        try:
            json.loads(outcome.out)
        except ValueError as error:
            context.find("not JSON", outcome, str(error))


def judge_result(context: Context, folder: str, made, verdict: list[str]) -> None:
    """What correct wrote can be read, and is judged the same by check."""
    checked = context.tool(["check", folder, *verdict])
    if checked.code == 2:
        context.find("unreadable result", made, f"check: {checked.err.strip()[:160]}")
    elif made.code == 3 and checked.code == 0 and "lie in cycles" in made.out:
        # Pairs of the input contradicted each other; those of the result may not.
        context.note("correct is more careful than check of its result: cycles in the input")
    elif checked.code != made.code and "--no-verify" not in made.args and not checked.timed_out:
        context.find("verdict", made,
                     f"correct ends with {made.code}, check of its result with {checked.code}")
    if context.library(folder + "/traces.otf2") != 0:
        judge_unreadable(context, made)


def judge_unreadable(context: Context, made) -> None:
    """otf2-print does not read a result. It may not read the input either, or by luck only: where
    the file of a location is damaged near its end, the order of all events decides."""
    events = sorted((context.place / "in" / "traces").glob("*.evt"))
    if context.library("in/traces.otf2") != 0:
        context.note("otf2-print reads neither input nor result")
    elif _has_double_stamps(context.place / "in"):
        context.note("otf2-print takes a stamp for a record")
    elif any(context.library("in/traces.otf2", path.stem) != 0 for path in events):
        context.note("otf2-print reads the input, but not all of its locations")
    else:
        context.find("unreadable result", made, "otf2-print reads the input, not the result")


def _has_double_stamps(folder: Path) -> bool:
    """Whether the OTF2 library goes astray in the input, and may find back to records or not."""
    for path in folder.rglob("*.evt"):
        tokens = records.split(path.read_bytes(), events=True)
        if len(records.without_double_stamps(tokens)) != len(tokens):
            return True
    return False


class Archives:
    """Mutated archives through info, check, correct in both modes and at times the other verbs."""
    name, weight = "archives", 52
    pool = CORRECT
    mutations, weights = list(mutate.ARCHIVE), list(mutate.ARCHIVE_WEIGHTS.values())
    bases = ("archives/mixed",) * 4 + ("archives/ring",) * 3 + ("archives/workers",) * 2 + (
        "archives/reduce",) * 2 + ("archives/overlaid",) * 2 + ("recordings/mixed",
                                                                "archives/allops")

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        bases = [base for base in self.bases if (context.seeds / base).is_dir()]
        case = Case(draw.choice(bases), mutate.draw_steps(draw, self.mutations, self.weights),
                    some(draw, self.pool, 4))
        case.more = {"rest": draw.choice(("distort", "drop", "compare", "threads", "report", ""))}
        return case

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        options = case.words()
        said = [["--json"], ["--verbose"]]
        judge_json(context, context.tool(["info", "in"] + only(case, said)))
        checked = context.tool(["check", "in"] + only(case, CHECK))
        judge_json(context, checked)
        made = {}
        for mode, folder in (("rewrite", "out"), ("overlay", "over")):
            made[mode] = context.tool(["correct", "in", "-o", folder, "--mode", mode, *options],
                                      writes=(folder,))
            judge_json(context, made[mode])
            if made[mode].code in WRITTEN:
                judge_result(context, folder, made[mode], only(case, VERDICT))
        self._compare(context, made)
        self._rest(context, case, checked)
        context.unchanged(before)

    def _compare(self, context: Context, made) -> None:
        codes = [outcome.code for outcome in made.values()]
        if not all(code in WRITTEN for code in codes):
            return
        if "events_in_flushes" in made["overlay"].out or (
                "inside a buffer flush" in made["overlay"].out):
            context.note("an overlay cannot move events inside a flush, and says so")
            return
        if codes[0] != codes[1]:
            context.find("verdict", made["rewrite"],
                         f"ends with {codes[0]}, overlay with {codes[1]}")
        compared = context.tool(["compare", "out", "over", "--tolerance", "0"])
        if compared.code != 0:
            context.find("modes differ", made["rewrite"],
                         f"compare --tolerance 0 of the results ends with {compared.code}: "
                         f"{compared.err.strip()[:160]}")

    def _rest(self, context: Context, case: Case, checked) -> None:
        rest = case.more.get("rest")
        if rest == "report":
            self._report(context, case, checked)
        elif rest == "threads" and (context.place / "out").is_dir():
            options = [word for group in case.options for word in group
                       if group[0] not in ("--threads", "--memory", *NOT_CORRECT)]
            again = context.tool(["correct", "in", "-o", "again", *options, "--threads", "3",
                                  "--memory", "1"], writes=("again",))
            if again.code in WRITTEN and contents(context.place / "again") != contents(
                    context.place / "out"):
                context.find("not repeatable", again, "other bytes than with the first run")
        elif rest == "compare":
            context.tool(["compare", "in", os.fspath(context.seeds / case.base)])
            context.tool(["compare", os.fspath(context.seeds / case.base), "in", "--csv", "t.csv"],
                         writes=("t.csv",))
        elif rest in ("distort", "drop"):
            options = ["--random", "0.1"] if rest == "drop" else ["--sessions", "3"]
            made = context.tool([rest, "in", "-o", "other", *options], writes=("other",))
            if made.code in WRITTEN and checked.code != 2:
                self._judge_other(context, made)

    def _report(self, context: Context, case: Case, checked) -> None:
        made = context.tool(["report", "in", "-o", "page.html", *only(case, CHECK)],
                            writes=("page.html",))
        judge_json(context, made)
        if ["--presync", "causal"] in case.options:
            return  # the page has the trace by the clocks as measured, check by bent ones
        if made.code in WRITTEN and checked.code in WRITTEN and made.code != checked.code:
            context.find("verdict", made, f"ends with {made.code}, check with {checked.code}")

    def _judge_other(self, context: Context, made) -> None:
        again = context.tool(["check", "other", "--presync", "none"])
        if again.code == 2:
            context.find("unreadable result", made, f"check: {again.err.strip()[:160]}")
        elif context.library("other/traces.otf2") != 0:
            judge_unreadable(context, made)


class Tables(Archives):
    """Mutated clock_samples.csv and clock_delays.csv beside an archive."""
    name, weight = "tables", 10
    pool = CORRECT + [["--presync", "regression"], ["--presync", "spline"], ["--mu", "delays"],
                      ["--sessions", "mean"], ["--sessions", "weighted"], ["--bounds"]] * 4
    mutations, weights = list(mutate.TABLES), None
    bases = ("recordings/mixed", "recordings/mixed", "recordings/ring")

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        case = super().draw(draw, number, context)
        if not any(group[0] == "--presync" for group in case.options):
            case.options.append(["--presync", draw.choice(("regression", "spline", "auto"))])
        case.more = {"rest": draw.choice(("bounds", "", ""))}
        return case

    def _rest(self, context: Context, case: Case, checked) -> None:
        if case.more.get("rest") == "bounds":
            context.tool(["check", "in", "--bounds-csv", "b.csv", *only(case, CHECK)],
                         writes=("b.csv",))


def judge_unrepaired(context: Context, before: dict[str, str], outcome) -> None:
    """A repair that fails may leave its work in the unfinished folder, for the next attempt; what
    was there stays as it was, and no archive appears."""
    after = tree(context.place / "in")
    changed = [name for name, content in before.items() if after.get(name) != content]
    if changed:
        context.find("changed input", outcome, ", ".join(changed[:5]))
    if "/traces.otf2" in after and "/traces.otf2" not in before:
        context.find("half output", outcome, "the anchor of an archive")
    if len(after) > len(before):
        context.note("work of failed repairs")


class Repairs:
    """Damaged journals and buffers of unfinished recordings."""
    name, weight = "repairs", 10

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        names = list(mutate.JOURNALS)
        return Case(draw.choice(("unfinished/p1", "unfinished/p3")), mutate.draw_steps(draw, names))

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        outcome = context.tool(["record", "--repair", "in"], allowed=(0, 2))
        if outcome.code == 2:
            if "no lib/entrain" in outcome.err or "recorder is built" in outcome.err:
                context.note("no recorder in this build")
            judge_unrepaired(context, before, outcome)
            again = context.tool(["record", "--repair", "in"], allowed=(0, 2))
            if again.code != 2:
                context.find("verdict", again, "the second attempt ends with another exit code")
        elif outcome.code == 0:
            checked = context.tool(["check", "in"])
            if checked.code == 2:
                context.find("unreadable result", outcome, f"check: {checked.err.strip()[:160]}")
            if context.library("in/traces.otf2") != 0:
                context.find("unreadable result", outcome, "otf2-print refuses it")


class Networks:
    """Topologies in DOT and JSON, and files of parameters."""
    name, weight = "networks", 10
    files = {"net/a.dot": "in/net.dot", "net/b.json": "in/net.json",
             "net/c.parameters": "in/parameters.json"}
    options = [["--method", method] for method in ("sss", "hss", "joined", "alternating",
                                                   "doubling")]
    options += [["--drift", "300ppm"], ["--tree", "given"], ["--json"], ["--preset", "ib-ndr"]]

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        return Case(draw.choice(list(self.files)), mutate.draw_steps(draw, list(mutate.NET)),
                    some(draw, self.options, 2))

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        file, options = self.files[case.base], case.words()
        bound = [word for group in case.options if group[0] not in ("--method", "--tree")
                 for word in group]
        place = ["single:4", "--parameters", file] if "parameters" in file else [file]
        if "parameters" in file:
            judge_json(context, context.tool(["net", "bound", "--parameters", file, *bound]))
        plan = "plan.csv" if len(case.steps) % 2 else "plan.json"
        judge_json(context, context.tool(["net", "schedule", *place, *options, "-o", plan],
                                          writes=(plan,)))
        judge_json(context, context.tool(["net", "simulate", *place, *options,
                                           "--synchronisations", "1"]))
        context.unchanged(before)


class Arguments:
    """Command lines that nobody would type."""
    name, weight = "arguments", 6
    verbs = (["info"], ["check"], ["correct"], ["report"], ["compare"], ["distort"], ["drop"], ["synth"],
             ["align"], ["edges"], ["export"], ["net", "bound"], ["net", "schedule"], ["net", "simulate"])
    # What takes long, writes where it likes or wants more processes is no matter of this kind.
    left_out = ("--limit", "--output", "--csv", "--bounds-csv", "--report", "--svg", "--events", "--locations",
                "--synchronisations", "--help")
    numbers = ("0", "1", "2", "0.5", "1e-6", "100", "17ns", "300ppm", "on", "off", "auto", "none")

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        verb = draw.choice(self.verbs)
        known = self._options(context, verb)
        base = draw.choice(("archives/ring", "archives/ring", "runs/synth", "spans/otlp"))
        case = Case("edges/csv" if verb == ["align"] else base, more={"verb": verb})
        for _ in range(draw.randrange(5)):
            name, values = draw.choice(known)
            words = values.split("|") if "|" in values else list(self.numbers)
            value = draw.choice(words if draw.random() < 0.6 else mutate.WORDS).replace("\0", "")
            group = [name + "=" + value] if draw.random() < 0.3 else [name, value]
            case.options.append(group if values or draw.random() < 0.05 else [name])
        if draw.random() < 0.1:
            case.options.append([draw.choice(mutate.WORDS).replace("\0", "")])
        return case

    def _options(self, context: Context, verb: list[str]) -> list[tuple[str, str]]:
        key = ("options", *verb)
        if key not in context.references:
            text = context.runner.run(context.runner.tool, [*verb, "--help-all"], {}).out
            found = re.findall(r"^ {4}(?:-\w, )?(--[\w-]+)(?: (\S+))?$", text, re.MULTILINE)
            context.references[key] = [one for one in found if one[0] not in self.left_out]
        return context.references[key]

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        before = tree(context.place / "in")
        verb = case.more["verb"]
        fixed = {"info": ["in"], "check": ["in"], "correct": ["in", "-o", "out"],
                 "report": ["in", "-o", "out"], "edges": ["in", "-o", "out"],
                 "export": ["in", "-o", "out"], "align": ["in/e.csv", "-o", "out"],
                 "compare": ["in", "in"], "distort": ["in", "-o", "out"],
                 "drop": ["in", "-o", "out"], "synth": ["-o", "out", "--events", "500"],
                 "schedule": ["single:4"], "simulate": ["single:4", "--synchronisations", "1"]}
        context.tool([*verb, *fixed.get(verb[-1], []), *case.words()], allowed=EXITS,
                     writes=("out", "out.clocks.csv"))
        context.unchanged(before)
