# SPDX-License-Identifier: BSD-3-Clause
"""What a case works with: a folder of its own, runs of the tool that are judged, and findings."""

import os
import random
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from . import mutate
from .runner import WRITTEN, Finding, Outcome, Runner, judge, tree

EXITS = (0, 1, 2, 3)
# What stands beside every output and is nobody's but the user's.
BESIDE = {"beside.json": "[1]\n", "beside/package.json": "{}\n", "beside/.secrets.json": "{}\n",
          ".out.keep": "a\n", "out.partial": "b\n"}
# What is in a folder of seeds, for the table of results.
INPUTS = {"archives": "OTF2", "recordings": "OTF2 with clock tables", "skewed": "OTF2",
          "runs": "training run", "long-run": "training run", "spans": "spans",
          "long-spans": "spans", "edges": "table of edges", "long-edges": "table of edges",
          "unfinished": "unfinished recording", "net": "network", "": "nothing"}


@dataclass
class Case:
    """One experiment. Steps and groups of options can be left out one by one to minimise it."""
    base: str  # seed, relative to the folder of seeds; "" for none
    steps: list[mutate.Step] = field(default_factory=list)
    options: list[list[str]] = field(default_factory=list)
    more: dict = field(default_factory=dict)

    def words(self) -> list[str]:
        return [word for group in self.options for word in group]


class Context:
    def __init__(self, runner: Runner, seeds: Path, shims: dict[str, Path | None],
                 seed: int = 1):
        self.runner, self.seeds, self.shims, self.seed = runner, seeds, shims, seed
        self.place = runner.folder / "run"
        self.findings: list[Finding] = []
        self.commands: list[str] = []
        self.notes: dict[str, int] = {}
        self.slowest_s = 0.0
        self.longest_answer_s = 0.0
        self.references: dict = {}
        self.exits: dict[str, int] = {}
        self.surfaces: dict[str, dict[str, int]] = {}
        self.swept: dict[str, dict[str, int]] = {}
        self.python: Path | None = None  # folder of the Python module
        self.input = ""
        self.beside: dict[str, str] = {}

    # ---- before the runs ----

    def lay(self, case: Case) -> None:
        """A fresh folder with the case's input as `in`; it becomes the working folder."""
        self.clear()
        self.input = case.base
        if case.base:
            shutil.copytree(self.seeds / case.base, self.place / "in", symlinks=True)
            mutate.apply(self.place / "in", case.steps)

    def clear(self) -> None:
        os.chdir(self.runner.folder)
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        os.chdir(self.place)
        self.findings, self.commands = [], []
        (self.place / "beside").mkdir()
        for name, text in BESIDE.items():
            (self.place / name).write_text(text)
        self.beside = self.look_beside()

    def look_beside(self) -> dict[str, str]:
        """What the user has beside the output: bytes, or nothing."""
        return {name: _bytes_of(self.place / name) for name in BESIDE}

    def names(self) -> set[str]:
        """What runs and the campaign made in the folder of the case."""
        return set(os.listdir(self.place)) - {name.split("/", 1)[0] for name in BESIDE}

    def note(self, what: str) -> None:
        self.notes[what] = self.notes.get(what, 0) + 1

    # ---- runs ----

    def tool(self, args: list[str], writes: tuple[str, ...] = (), allowed: tuple[int, ...] = EXITS,
             more: dict[str, str] | None = None, act=None, lenient: bool = False) -> Outcome:
        """Runs the tool and judges it; `writes` are the names that it may leave behind if it ends
        well. `lenient`: what a fault may excuse, a lost message and a folder that could not be
        removed, is not judged here."""
        before = set(os.listdir("."))
        outcome = self.runner.tool_run(args, more, act)
        self.commands.append(outcome.command())
        self.slowest_s = max(self.slowest_s, outcome.seconds)
        self.count(outcome)
        for rule, detail in judge(outcome, allowed, lenient):
            self.find(rule, outcome, detail)
        if self.look_beside() != self.beside:
            self.find("destroyed", outcome, "something beside the output")
            self.beside = self.look_beside()
        may_stay = set(writes) if outcome.code in WRITTEN else set()
        left = set(os.listdir(".")) - before - may_stay
        if not lenient:
            self.judge_left(outcome, left)
        return outcome

    def count(self, outcome: Outcome) -> None:
        key = "hang" if outcome.timed_out else str(outcome.code)
        self.exits[key] = self.exits.get(key, 0) + 1
        counts = self.surfaces.setdefault(surface_of(outcome.args[1:], self.input), {})
        counts[key] = counts.get(key, 0) + 1

    def judge_left(self, outcome: Outcome, left: set[str]) -> None:
        for name in sorted(left):
            hidden = name.startswith(".") or ".partial" in name
            if not outcome.timed_out:  # killed by the campaign
                self.find("leftover" if hidden else "half output", outcome, name)
            remove(self.place / name)
        for name in os.listdir(self.runner.temporary):
            if not outcome.timed_out:
                self.find("leftover", outcome, "in TMPDIR: " + name)
            remove(self.runner.temporary / name)

    def library(self, anchor: str, location: str = "") -> int:
        """Exit code of otf2-print --silent, for one location or all."""
        only = ["-L", location] if location else []
        outcome = self.runner.run("otf2-print", ["--silent", *only, anchor], {})
        self.commands.append(outcome.command())
        return -9 if outcome.timed_out else outcome.code

    def find(self, rule: str, outcome: Outcome | None, detail: str) -> None:
        args = outcome.args[1:] if outcome else ["?"]
        verb = args[0] if args and not args[0].startswith("-") else "tool"
        verb = "Python" if verb.endswith("python_calls.py") else verb
        if verb == "net" and len(args) > 1:
            verb = "net " + args[1]
        if "overlay" in args:
            verb += " overlay"
        self.findings.append(Finding(rule, verb, detail, outcome.command() if outcome else ""))

    def unchanged(self, before: dict[str, str], folder: str = "in") -> None:
        after = tree(self.place / folder)
        if after != before:
            names = sorted(name for name in set(before) | set(after)
                           if before.get(name) != after.get(name))
            self.findings.append(Finding("changed input", "any", ", ".join(names[:5]),
                                         "; ".join(self.commands)))


def _bytes_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("latin-1")
    except OSError as error:
        return f"gone: {error.strerror}"


def surface_of(args: list[str], base: str) -> str:
    """What a run used, in a few words: the verb, the options that lead elsewhere, and the input."""
    verb = args[0] if args else ""
    if verb.endswith("python_calls.py"):
        words = ["Python module"]
    elif base.startswith("unfinished") and verb == "in":
        words = ["entrain-record-repair"]
    else:
        words = [verb if re.fullmatch(r"[a-z]+", verb) else "tool"]
    if verb == "net" and len(args) > 1:
        words.append(args[1])
    for option in ("--mode", "--to", "--format"):
        at = args.index(option) + 1 if option in args else len(args)
        if at < len(args) and re.fullmatch(r"[a-z0-9]+", args[at]):
            words.append(f"{option} {args[at]}")
    words += [name for name in ("--apply", "--bounds", "--bounds-csv", "--report", "--mark-offsets",
                                "--truth", "--csv", "--both", "--repair") if name in args]
    if verb == "align" and "-o" not in args:
        words.append("without -o")
    if verb == "edges" and any(name.endswith(".jsonl") for name in args):
        words.append("JSON lines")
    top, _, rest = base.partition("/")
    kind = INPUTS.get(top, top)
    return f"{' '.join(words)} | {kind}{', ' + rest if top in ('spans', 'edges', 'runs') else ''}"


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def some(draw: random.Random, pool: list[list[str]], most: int) -> list[list[str]]:
    """Up to `most` groups of options, each option once."""
    chosen: dict[str, list[str]] = {}
    for group in draw.choices(pool, k=draw.randrange(most + 1)):
        chosen.setdefault(group[0], group)
    return list(chosen.values())
