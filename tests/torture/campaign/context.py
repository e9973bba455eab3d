# SPDX-License-Identifier: BSD-3-Clause
"""What a case works with: a folder of its own, runs of the tool that are judged, and findings."""

import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from . import mutate
from .runner import WRITTEN, Finding, Outcome, Runner, judge, tree

EXITS = (0, 1, 2, 3)


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

    # ---- before the runs ----

    def lay(self, case: Case) -> None:
        """A fresh folder with the case's input as `in`; it becomes the working folder."""
        self.clear()
        if case.base:
            shutil.copytree(self.seeds / case.base, self.place / "in", symlinks=True)
            mutate.apply(self.place / "in", case.steps)

    def clear(self) -> None:
        os.chdir(self.runner.folder)
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        os.chdir(self.place)
        self.findings, self.commands = [], []

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
        key = "hang" if outcome.timed_out else str(outcome.code)
        self.exits[key] = self.exits.get(key, 0) + 1
        for rule, detail in judge(outcome, allowed, lenient):
            self.find(rule, outcome, detail)
        may_stay = set(writes) if outcome.code in WRITTEN else set()
        left = set(os.listdir(".")) - before - may_stay
        if not lenient:
            self.judge_left(outcome, left)
        return outcome

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
