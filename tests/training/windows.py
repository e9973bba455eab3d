#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cuts random windows of time from training runs, loses kernels, makes clocks wrong, corrects them,
and holds what the tool says against the truth:

* the verdict of `correct` is that of `check` of what it wrote, unless it says that pairs did not
  settle;
* kernels in one pair belong to one collective, or to one message.

    tests/training/windows.py build/release/bin/entrain --windows 100 --data FOLDER

Exit codes: 0 all is well, 1 it is not, 2 it could not be tried.
"""

import argparse
import collections
import csv
import gzip
import json
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST_CALLS = 3  # of some rank in a window that is tried

# How clocks are wrong: options of one distortion after the other.
DAYS = ["--per", "process", "--offset-s", "259200"]
DEVICES = ["--per", "location", "--offset-s", "0.0004"]
KINDS = {"wall": [[]], "uptime": [DAYS], "devices": [[], DEVICES], "uptime, devices": [DAYS, DEVICES],
         "steps": [["--steps", "1", "--step-s", "0.001"]]}
LARGEST_CLEAN_S = 1  # between ranks that are said to be right


def is_call(event: dict) -> bool:
    return (event.get("ph") == "X" and event.get("cat") == "kernel"
            and event["name"].startswith("nccl"))


def end_of(event: dict) -> Decimal:
    return Decimal(str(event["ts"])) + Decimal(str(event.get("dur", 0)))


@dataclass
class Rank:
    """A file of a run. `truth` says of each of its calls, in order of time, what it is part of."""
    facts: dict
    events: list
    truth: dict = field(default_factory=dict)


def name_calls(rank: Rank, own: int) -> None:
    """Calls with numbers by these; others by their place, as whole runs have all of them."""
    messages: collections.Counter = collections.Counter()
    calls = sorted((e for e in rank.events if is_call(e)), key=lambda e: Decimal(str(e["ts"])))
    for place, event in enumerate(calls):
        arguments = event["args"]
        if "Src Rank" in arguments or "Dst Rank" in arguments:
            way = (arguments.get("Src Rank", own), arguments.get("Dst Rank", own))
            messages[way] += 1
            event["truth"] = ("message", *way, messages[way])
        elif "Comms Id" in arguments:
            event["truth"] = (arguments["Comms Id"], arguments["Seq"])
        else:
            event["truth"] = ("call", place)


def load(folder: Path) -> list[Rank]:
    ranks = []
    for path in sorted(folder.iterdir()):
        if not path.name.endswith((".json", ".json.gz")):
            continue
        opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
        with opened as file:
            facts = json.load(file, parse_float=Decimal)
        ranks.append(Rank(facts, facts.pop("traceEvents")))
        name_calls(ranks[-1], facts["distributedInfo"]["rank"])
    return ranks


def forget_numbers(ranks: list[Rank], steps: bool) -> None:
    """Takes what makes pairing easy: the numbers of calls, and of steps."""
    for rank in ranks:
        for event in rank.events:
            for key in ("Comms Id", "Seq"):
                event.get("args", {}).pop(key, None)
        if steps:
            rank.events = [e for e in rank.events
                           if not str(e.get("name", "")).startswith("ProfilerStep#")]


@dataclass(frozen=True)
class Case:
    source: str
    window: int
    lost: float      # share of the calls; 1 or more: so many calls of one rank
    offset_s: float

    @property
    def kind(self) -> str:
        return random.Random(f"{self.source} {self.window} kind").choice(list(KINDS))


class Trial:
    """A case in a folder of its own."""

    def __init__(self, tool: Path, case: Case, ranks: list[Rank], folder: Path) -> None:
        self.tool, self.case, self.ranks, self.folder = tool, case, ranks, folder
        self.random = random.Random(f"{case.source} {case.window} {case.lost}")
        self.wrong: list[str] = []
        self.kept = self.paired = 0

    def call(self, *arguments: str) -> dict:
        done = subprocess.run([self.tool, *map(str, arguments), "--json", "--threads", "1"],
                              capture_output=True, text=True, check=False, timeout=300)
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(f"{self.case}: {arguments}: {done.stderr.strip() or done.stdout[-500:]}, exit code {done.returncode}")
        return json.loads(done.stdout)

    @cached_property
    def times(self) -> list[Decimal]:
        return [Decimal(str(e["ts"])) for rank in self.ranks for e in rank.events
                if "ts" in e and e.get("ph") != "M"]

    def has_few_calls(self) -> bool:
        return self.case.window % 4 == 3

    @cached_property
    def step(self) -> int:
        """How far calls are from each other on average, us."""
        length = int(max(self.times) - min(self.times))
        return max(1, length // sum(map(is_call, self.ranks[0].events)))

    def window(self) -> tuple[Decimal, Decimal]:
        """Some of the time of the run, or of each fourth one some calls."""
        first, length = min(self.times), int(max(self.times) - min(self.times))
        begin, end = sorted(self.random.randrange(length) for _ in range(2))
        if self.has_few_calls():
            end = begin + self.random.randrange(3, 12) * self.step
        return first + begin, first + end

    def jitter(self) -> Decimal:
        """In odd cases each rank has a window of its own, us; of few calls some steps later."""
        if self.has_few_calls():
            return Decimal(self.random.randrange(4) * self.step)
        return Decimal(self.random.randrange(-4000, 4001) if self.case.window % 2 else 0)

    def is_lost(self, rank: int, place: int, chosen: tuple[int, set[int]]) -> bool:
        if self.case.lost >= 1:
            return rank == chosen[0] and place in chosen[1]
        return self.random.random() < self.case.lost

    def cut(self) -> None:
        (self.folder / "cut").mkdir()
        whole = self.case.window == 0
        window = self.window()
        calls = sum(is_call(e) for e in self.ranks[0].events)
        chosen = (self.random.randrange(len(self.ranks)),
                  set(self.random.sample(range(calls), min(calls, int(self.case.lost)))))
        for number, rank in enumerate(self.ranks):
            kept, truth, place = [], [], 0
            begin, end = (time + self.jitter() for time in window)
            for event in rank.events:
                call = is_call(event)
                if call:
                    place += 1
                    if self.is_lost(number, place - 1, chosen):
                        continue
                # A kernel in which the profiler begins or ends is not recorded.
                inside = whole or "ts" not in event or event.get("ph") == "M" or (
                    begin <= Decimal(str(event["ts"])) and end_of(event) <= end)
                if inside:
                    kept.append({k: v for k, v in event.items() if k != "truth"})
                    truth += [event["truth"]] if call else []
            (self.folder / "cut" / f"rank{number}.json").write_text(
                json.dumps({**rank.facts, "traceEvents": kept}, default=float_text))
            rank.truth[self.case] = truth

    def distort(self) -> None:
        steps = KINDS[self.case.kind]
        folders = ["cut", *(f"wrong{n}" for n in range(1, len(steps))), "wrong"]
        for before, after, options in zip(folders, folders[1:], steps, strict=False):
            seed = self.random.randrange(1 << 30)
            offset = [] if "--offset-s" in options else ["--offset-s", self.case.offset_s]
            self.call("distort", self.folder / before, "-o", self.folder / after, "--seed", seed,
                      *offset, *options)

    def agree(self) -> None:
        said = self.call("correct", self.folder / "wrong", "-o", self.folder / "right")
        found = self.call("check", self.folder / "right")
        self.verdict, again = said["verdict"], found["verdict"]
        if said["verdict_reason"] == "unsettled_pairs":
            self.verdict = "unsettled"  # which check cannot know
            return
        if said["verdict_reason"] == "contradictory_edges" and again == "clean":
            return  # nor which calls the correction set aside
        if self.verdict != again:
            self.wrong.append(f"correct says {self.verdict}, check says {again}")
        edges = said["after"]["checked_edges"], found["checked_edges"]
        if self.verdict == again and edges[0] != edges[1]:
            self.wrong.append(f"correct checked {edges[0]} edges, check {edges[1]}")

    def hold_clean(self) -> None:
        """Ranks that are said to be right, and wait for each other, are not seconds apart."""
        if self.verdict != "clean":
            return
        errors = {}
        for number in range(len(self.ranks)):
            ends = []
            for which in ("cut", "right"):
                text = (self.folder / which / f"rank{number}.json").read_text()
                document = json.loads(text, parse_float=Decimal)
                base = Decimal(document.get("baseTimeNanoseconds", 0)) / 1000
                ends.append([end_of(e) + base for e in document["traceEvents"] if is_call(e)])
            errors[number] = sorted(b - a for a, b in zip(*ends, strict=True))
        self.call("edges", self.folder / "right", "-o", self.folder / "right.csv", "--force")
        members = collections.defaultdict(set)
        with (self.folder / "right.csv").open() as file:
            for row in csv.DictReader(file):
                if row["kind"] == "n_to_n" and row["role"] == "end":
                    members[row["instance"]].add(rank_of(row["effect_clock"]))
        for ranks in {frozenset(ranks) for ranks in members.values()}:
            own = [errors[rank][len(errors[rank]) // 2] for rank in ranks]
            if max(own) - min(own) > LARGEST_CLEAN_S * 1_000_000:
                self.wrong.append(f"clean, although ranks {sorted(ranks)} are seconds apart")

    def names(self, which: str) -> dict:
        """What the call of a rank at a time is part of."""
        names = collections.defaultdict(set)
        for number, rank in enumerate(self.ranks):
            text = (self.folder / which / f"rank{number}.json").read_text()
            document = json.loads(text, parse_float=Decimal)
            base = document.get("baseTimeNanoseconds", 0)
            calls = [e for e in document["traceEvents"] if is_call(e)]
            self.kept += len(calls)
            for event, name in zip(calls, rank.truth[self.case], strict=True):
                for time in (Decimal(str(event["ts"])), end_of(event)):
                    names[number, int(time * 1000) + base].add(name)
        return names

    def hold_pairs(self, which: str) -> None:
        names = self.names(which)
        self.call("edges", self.folder / which, "-o", self.folder / "edges.csv", "--force")
        instances = collections.defaultdict(list)
        with (self.folder / "edges.csv").open() as file:
            for row in csv.DictReader(file):
                places = [(rank_of(row[f"{end}_clock"]), int(row[f"{end}_time"]))
                          for end in ("cause", "effect") if row[f"{end}_clock"]]
                if not row["instance"] and places[0][0] == places[1][0]:
                    continue  # a launch and its kernel
                ends = [names[place] for place in places]
                if row["instance"]:
                    instances[row["instance"]] += ends
                    self.paired += row["role"] == "end"
                else:
                    self.paired += 2
                    instances["message", len(instances)] = ends
        for instance in instances.values():
            if not set.intersection(*instance):
                self.wrong.append(f"a wrong pair in {which}: {instance}")

    def run(self) -> "Trial":
        self.cut()
        if all(len(rank.truth[self.case]) < LEAST_CALLS for rank in self.ranks):
            self.verdict = "empty"
            return self
        self.distort()
        self.agree()
        self.hold_clean()
        self.hold_pairs("wrong")
        return self


def rank_of(clock: str) -> int:
    """Of a host, such as "3", or of a device, such as "rank 3 device 1"."""
    return int(clock.split(" device")[0].split()[-1])


def float_text(value: Decimal) -> float:
    return float(value) if value != int(value) else int(value)


def generate(tool: Path, folder: Path) -> dict[str, list[Rank]]:
    """Runs with true clocks, with numbers and without."""
    runs = {}
    for name, events, step, imbalance, devices in (
            ("short", 6000, 0.001, 0.2, 1), ("long", 6000, 0.03, 0.2, 1), ("even", 6000, 0.03, 0, 1),
            ("quick", 6000, 0.002, 0, 1), ("several devices", 10000, 0.003, 0.2, 3)):
        subprocess.run([tool, "synth", "-o", folder / name, "--format", "chrome", "--locations",
                        "4", "--locations-per-node", "2", "--events", str(events), "--imbalance",
                        str(imbalance), "--iteration-s", str(step), "--devices", str(devices), "-q"],
                       check=True,
                       stdout=subprocess.DEVNULL)
        runs[f"{name}, numbered"] = load(folder / name)
        for bare in (False, True):
            run = load(folder / name)
            forget_numbers(run, steps=bare)
            runs[f"{name}, {'bare' if bare else 'with steps'}"] = run
    return runs


def tell(done: list[Trial]) -> int:
    wrong = [trial for trial in done if trial.wrong]
    groups = collections.defaultdict(list)
    for trial in done:
        groups[trial.case.source, trial.case.lost].append(trial)
    print(f"{'run':24} {'lost':>6} {'windows':>8} {'wrong':>6} {'calls':>8} {'paired':>7}  verdicts")
    for (source, lost), trials in groups.items():
        kept = sum(t.kept for t in trials)
        share = f"{sum(t.paired for t in trials) / kept:.1%}" if kept else "-"
        verdicts = collections.Counter(t.verdict for t in trials)
        print(f"{source:24} {lost:6g} {len(trials):8} {sum(bool(t.wrong) for t in trials):6} "
              f"{kept:8} {share:>7}  {', '.join(f'{n} {v}' for v, n in sorted(verdicts.items()))}")
    for trial in wrong[:20]:
        print(trial.case, trial.case.kind, *trial.wrong[:3], sep="\n  ")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tool", type=Path, help="the program entrain")
    parser.add_argument("--data", type=Path, action="append", default=[],
                        help="folder of a run whose clocks are one, beside examples/training and "
                        "generated runs; may be repeated")
    parser.add_argument("--windows", type=int, default=10, help="per run and loss (default: 10)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (default: 0, "
                        "the whole run)")
    parser.add_argument("--lost", type=float, action="append", default=[],
                        help="share of the calls that are lost, or their number, of one rank; may "
                        "be repeated (default: 0)")
    parser.add_argument("--offset-s", type=float, default=0.01,
                        help="how wrong clocks are, seconds (default: 0.01)")
    parser.add_argument("--only", default="", help="runs whose name holds this")
    parser.add_argument("--jobs", type=int, default=2, help="side by side (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        runs = {folder.name: load(folder) for folder in [ROOT / "examples" / "training",
                                                         *options.data]}
        runs |= generate(options.tool, Path(scratch))
        cases = [Case(source, window, lost, options.offset_s)
                 for source in runs if options.only in source for lost in options.lost or [0.0]
                 for window in range(options.first, options.first + options.windows)]

        def one(case: Case) -> Trial:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                return Trial(options.tool, case, runs[case.source], Path(folder)).run()

        with ThreadPoolExecutor(options.jobs) as pool:
            return tell(list(pool.map(one, cases)))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"windows.py: {error}", file=sys.stderr)
        sys.exit(2)
