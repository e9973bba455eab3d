# SPDX-License-Identifier: BSD-3-Clause
"""One process of the campaign: draws cases, runs them, minimises and keeps what fails."""

import json
import os
import random
import shutil
import signal
import time
import traceback
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from . import mutate
from .context import Case, Context
from .ends import Kills, Signals
from .faults import Allocations, Sweep, SystemCalls
from .inputs import Archives, Arguments, Networks, Repairs, Tables
from .places import Places, Races
from .python import Python
from .runner import Finding, Runner
from .special import Specials
from .traces import EdgeTables, Runs, Spans

KINDS = (Archives, Tables, Runs, Spans, EdgeTables, Repairs, Networks, Arguments, Python, SystemCalls,
         Allocations, Sweep, Kills, Signals, Specials, Places, Races)
# The sanitizers bring an allocator of their own, and no interpreter.
NEVER_SANITIZED = ("allocations", "sweep", "Python")
BY_CHANCE = ("kills", "signals", "races")  # another run need not show the same
ROOT = Path(__file__).resolve().parents[3]  # where "again" is to be typed
KEEP_PER_SIGNATURE = 2
MINIMISE_S = 20


@dataclass
class Plan:
    """What all workers do; the same plan draws the same cases."""
    tool: Path
    sanitized: Path | None
    sanitized_share: float
    seed: int
    jobs: int
    seconds: float
    cases: int | None
    only: list[str]
    one_case: int | None
    keep: Path
    base: Path
    seeds: Path
    suppressions: Path | None
    shims: dict[str, Path | None]
    first: int = 0  # case of the campaign
    python: Path | None = None  # folder of the Python module


@dataclass
class KindCounts:
    cases: int = 0
    runs: int = 0
    sanitized_runs: int = 0
    failed_cases: int = 0
    slowest_s: float = 0.0
    exits: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    surfaces: dict[str, dict[str, int]] = field(default_factory=dict)


def is_instrumented(tool: Path) -> bool:
    return any(name in tool.read_bytes() for name in (b"__asan_init", b"__tsan_init"))


def pattern_of(kinds) -> list[int]:
    """Which kind the n-th case is of, for n below the sum of weights; then it repeats."""
    row = [index for index, kind in enumerate(kinds) for _ in range(kind.weight)]
    random.Random(11).shuffle(row)
    return row


class Worker:
    def __init__(self, plan: Plan, number: int, progress):
        self.plan, self.number, self.progress = plan, number, progress
        self.kinds = [kind() for kind in KINDS if not plan.only or kind.name in plan.only]
        self.pattern = pattern_of(self.kinds)
        self.counts = {kind.name: KindCounts() for kind in self.kinds}
        self.found: dict[str, dict] = {}
        folder = plan.base / f"w{number}"
        folder.mkdir()
        tools = [plan.tool] + ([plan.sanitized] if plan.sanitized else [])
        self.contexts = []
        for index, tool in enumerate(tools):
            runner = Runner(tool, folder / str(index), is_instrumented(tool), plan.suppressions)
            self.contexts.append(Context(runner, plan.seeds, plan.shims, plan.seed))
            self.contexts[-1].python = plan.python
        self.longest_answer_s = 0.0
        self.next = 0

    def run(self) -> dict:
        end = time.monotonic() + self.plan.seconds
        turn = self.plan.first + self.number
        self.next = turn
        while time.monotonic() < end and (self.plan.cases is None or
                                           turn < self.plan.first + self.plan.cases):
            if self.plan.one_case is not None:
                self.one(self.kinds[0], self.plan.one_case)
                break
            kind, number = self.case_at(turn)
            self.one(kind, number)
            turn += self.plan.jobs
            self.next = turn
        os.chdir("/")
        return {"counts": {name: asdict(counts) for name, counts in self.counts.items()},
                "found": self.found, "longest_answer_s": self.longest_answer_s,
                "swept": self.contexts[0].swept, "next": self.next}

    def case_at(self, turn: int):
        """The kind of the turn-th case of the campaign, and which of its kind it is."""
        round_, place = divmod(turn, len(self.pattern))
        index = self.pattern[place]
        return self.kinds[index], (round_ * self.pattern.count(index)
                                   + self.pattern[:place].count(index))

    def one(self, kind, number: int) -> None:
        plan, counts = self.plan, self.counts[kind.name]
        draw = random.Random(f"{plan.seed}/{kind.name}/{number}")
        sanitized = draw.random() < plan.sanitized_share and kind.name not in NEVER_SANITIZED
        context = self.contexts[-1 if sanitized else 0]
        case = kind.draw(draw, number, context)
        runs = context.runner.runs
        context.notes, context.exits, context.slowest_s = counts.notes, counts.exits, 0.0
        context.surfaces = counts.surfaces
        context.longest_answer_s = self.longest_answer_s
        findings = self.attempt(kind, context, case)
        self.longest_answer_s = context.longest_answer_s
        counts.cases += 1
        counts.runs += context.runner.runs - runs
        if context.runner.sanitized:
            counts.sanitized_runs += context.runner.runs - runs
        counts.slowest_s = max(counts.slowest_s, context.slowest_s)
        if findings:
            context.notes, context.exits, context.surfaces = {}, {}, {}  # repetitions do not count
            if self.keep(kind, context, case, number, findings):
                counts.failed_cases += 1
        self.progress[3 * self.number] = sum(one.cases for one in self.counts.values())
        self.progress[3 * self.number + 1] = sum(one.runs for one in self.counts.values())
        self.progress[3 * self.number + 2] = sum(one.failed_cases for one in self.counts.values())

    def attempt(self, kind, context: Context, case: Case) -> list[Finding]:
        try:
            kind.run(context, case)
        except Exception:  # a fault of the campaign itself must not end it
            context.findings.append(Finding("campaign", kind.name, traceback.format_exc(limit=-3)
                                            .strip().rsplit("\n", 1)[-1],
                                            traceback.format_exc()))
        return list(context.findings)

    def keep(self, kind, context, case, number, findings) -> bool:
        """Counts the findings and keeps new ones; false if it was a hang that does not repeat."""
        repeated = None
        if kind.name not in BY_CHANCE:
            repeated = {one.signature() for one in self.attempt(kind, context, case)}
        failed = False
        for finding in {one.signature(): one for one in findings}.values():
            signature = finding.signature()
            if finding.rule == "hang" and repeated is not None and signature not in repeated:
                continue  # the machine was busy
            failed = True
            entry = self.found.setdefault(signature, {
                "signature": signature, "rule": finding.rule, "kind": kind.name,
                "verb": finding.verb, "count": 0, "detail": finding.detail, "examples": []})
            entry["count"] += 1
            if len(entry["examples"]) < KEEP_PER_SIGNATURE:
                smaller = case
                if repeated is not None and signature in repeated:
                    smaller = self.minimise(kind, context, case, signature)
                entry["examples"].append(self.store(kind, context, smaller, number, finding,
                                                    repeated is None or signature in repeated))
        return failed

    def minimise(self, kind, context: Context, case: Case, signature: str) -> Case:
        """Leaves out mutations and options as long as the finding stays."""
        end = time.monotonic() + MINIMISE_S
        for what in ("steps", "options"):
            at = len(getattr(case, what)) - 1
            while at >= 0 and time.monotonic() < end:
                rest = getattr(case, what)[:at] + getattr(case, what)[at + 1:]
                smaller = replace(case, **{what: rest})
                if signature in {one.signature() for one in self.attempt(kind, context, smaller)}:
                    case = smaller
                at -= 1
        return case

    def store(self, kind, context, case: Case, number: int, finding: Finding,
              repeats: bool) -> dict:
        hang = finding.rule == "hang"
        findings = [finding]
        if not hang:  # the commands and the detail of the smaller case
            findings = [one for one in self.attempt(kind, context, case)
                        if one.signature() == finding.signature()] or [finding]
        name = f"{kind.name}-{number}-{findings[0].rule}".replace(" ", "_")
        folder = self.plan.keep / name
        tool = os.path.relpath(context.runner.tool, ROOT)
        again = (f"tests/torture/torture --tool {tool} --seed {self.plan.seed} "
                 f"--only '{kind.name}' --case {number}")
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        if case.base and "/" in case.base and finding.rule != "campaign":
            shutil.copytree(context.seeds / case.base, folder / "in", symlinks=True)
            mutate.apply(folder / "in", case.steps)
        text = {"finding": asdict(findings[0]), "case": asdict(case), "again": again,
                "commands": context.commands}
        (folder / "case.json").write_text(json.dumps(text, indent=1, ensure_ascii=True) + "\n")
        return {"folder": name, "again": again, "command": findings[0].command,
                "detail": findings[0].detail, "steps": case.steps, "options": case.options,
                "base": case.base, "more": case.more, "repeats": repeats}


def work(plan: Plan, number: int, progress, pipe) -> None:
    """The main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker(plan, number, progress)

    def stop(*_) -> None:
        plan.seconds = 0
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        result = worker.run()
    except KeyboardInterrupt:
        os.chdir("/")
        plan.cases = 0
        result = worker.run()
    pipe.send(result)
    pipe.close()
