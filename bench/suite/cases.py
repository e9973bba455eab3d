# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: groups of programs that run in turns and may be compared with each other."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .hard_cases import HARD_CASES, MIXED, SPARSE, HardSpec
from .measuring import TARGET, Contestant
from .run_specs import JsonSpec, LossySpec, RecordedSpec, TableSpec, why_nothing_is_recorded
from .traces import Spec, TraceSpec

SHARES = (0.0, 0.01, 0.5)
PROCESSES = (1, 2, 4)
EACH_WORKS = {"ENTRAIN_PROCESSES": "all"}  # else one process of a machine works
SMALL_EVENTS = 130_000
BESIDE = str(Path(__file__).resolve().parents[1] / "beside")
OPEN_FILES = 1024


@dataclass
class Sizes:
    """How large everything is."""

    base: int = 24_000_000
    locations: tuple[int, ...] = (8, 64, 512, 4096)
    many_locations: int = 100_000
    runs: int = 11
    runs_of_hard: int = 7  # of the groups "hard-..."
    runs_of_many: int = 3  # of the group "files": hundreds of thousands of files each

    @property
    def small(self) -> int:
        return self.base // 10

    @property
    def large(self) -> int:
        return self.base * 10


QUICK = Sizes(base=480_000, locations=(8, 64), many_locations=1_200, runs=3, runs_of_hard=3,
              runs_of_many=1)


@dataclass
class Group:
    """Contestants that take turns."""

    name: str
    about: str
    runs: int
    contestants: list[Contestant] = field(default_factory=list)
    specs: list[Spec] = field(default_factory=list)
    skipped: str = ""  # why nothing is measured
    judged: bool = True  # False: too few runs for bench/gate to judge its times

    def trace(self, spec: Spec) -> str:
        if spec not in self.specs:
            self.specs.append(spec)
        return spec.name


@dataclass
class Programs:
    """Paths of what is measured."""

    entrain: Path
    otf2_copy: Path
    scan_speed: Path
    stream_copy: Path
    data: Path

    def anchor(self, spec: Spec) -> str:
        archive = self.data / spec.name / "archive"
        if isinstance(spec, TableSpec):
            return str(archive / "edges.csv")
        return str(archive if isinstance(spec, JsonSpec) else archive / "traces.otf2")

    def cp(self, group: Group, spec: Spec, name: str = "cp") -> None:
        group.contestants.append(Contestant(
            name, ["cp", "-r", "--reflink=never", str(self.data / spec.name / "archive"), TARGET],
            trace=group.trace(spec), memory=False))

    def copy(self, group: Group, spec: Spec, name: str = "otf2_copy") -> None:
        group.contestants.append(Contestant(
            name, [str(self.otf2_copy), self.anchor(spec), TARGET], trace=group.trace(spec)))

    def json_pass(self, group: Group, spec: Spec) -> None:
        group.contestants.append(Contestant(
            "json_pass", [str(self.otf2_copy.parent / "json_pass"), self.anchor(spec)],
            trace=group.trace(spec), memory=False))

    def check(self, group: Group, spec: Spec, name: str, threads: int = 2) -> None:
        group.contestants.append(Contestant(
            name, [str(self.entrain), "check", self.anchor(spec), "--json", "-q", "--threads",
                   str(threads)],
            trace=group.trace(spec), exit_codes=(0, 1), report="check", threads=threads))

    def correct(self, group: Group, spec: Spec, name: str, mode: str, verify: bool = False,
                threads: int = 2, **more: object) -> Contestant:
        command = [str(self.entrain), "correct", self.anchor(spec), "-o", TARGET, "--mode", mode,
                   "--json", "-q", "--threads", str(threads)]
        contestant = Contestant(name, command + ([] if verify else ["--no-verify"]),
                                trace=group.trace(spec), report="correct", threads=threads, **more)
        group.contestants.append(contestant)
        return contestant

    def align(self, group: Group, spec: TableSpec, name: str, *options: str) -> None:
        group.contestants.append(Contestant(
            name, [str(self.entrain), "align", self.anchor(spec), "-o", TARGET, "-q", "--threads",
                   "1", *options],
            trace=group.trace(spec)))

    def scan(self, group: Group, spec: Spec, name: str = "scan_speed") -> None:
        group.contestants.append(Contestant(
            name, [str(self.scan_speed), self.anchor(spec), "--threads", "1,2", "--json"],
            trace=group.trace(spec), report="scan", memory=False))


def main_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("main", "every program on one trace, with one and two threads", sizes.runs)
    spec = TraceSpec(sizes.base)
    programs.cp(group, spec)
    programs.copy(group, spec)
    programs.scan(group, spec)
    group.contestants.append(Contestant(
        "stream_copy", [str(programs.stream_copy), "--threads", "1,2", "--rounds", "3", "--json"],
        report="stream", memory=False))
    for threads in (2, 1):
        programs.check(group, spec, f"check, {threads} thr", threads)
        for mode in ("overlay", "rewrite"):
            programs.correct(group, spec, f"{mode}, {threads} thr", mode, threads=threads)
            programs.correct(group, spec, f"{mode} + verify, {threads} thr", mode, verify=True,
                             threads=threads)
    return group


def violations_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("violations", "the same trace with none, few and half of the receives violated",
                  sizes.runs)
    programs.cp(group, TraceSpec(sizes.base))
    for share in SHARES:
        spec = TraceSpec(sizes.base, share=share)
        programs.check(group, spec, f"check, {share:.0%}")
        programs.correct(group, spec, f"overlay, {share:.0%}", "overlay")
        programs.correct(group, spec, f"rewrite, {share:.0%}", "rewrite")
    return group


def locations_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("locations", "the same number of events on more and more locations", sizes.runs)
    for locations in sizes.locations:
        spec = TraceSpec(sizes.base, locations=locations)
        programs.cp(group, spec, f"cp, {locations} loc")
        programs.scan(group, spec, f"scan_speed, {locations} loc")
        programs.check(group, spec, f"check, {locations} loc")
        programs.correct(group, spec, f"overlay, {locations} loc", "overlay")
        programs.correct(group, spec, f"rewrite, {locations} loc", "rewrite")
    return group


def growth_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("growth", "ten times and a hundred times the events, on 8 locations", sizes.runs)
    for events in (sizes.small, sizes.base, sizes.large):
        spec, label = TraceSpec(events), count_text(events)
        programs.cp(group, spec, f"cp, {label}")
        programs.copy(group, spec, f"otf2_copy, {label}")
        programs.scan(group, spec, f"scan_speed, {label}")
        programs.check(group, spec, f"check, {label}")
        programs.correct(group, spec, f"overlay, {label}", "overlay")
        programs.correct(group, spec, f"rewrite + verify, {label}", "rewrite", verify=True)
    return group


def large_group(programs: Programs, sizes: Sizes) -> Group:
    locations = max(sizes.locations)
    group = Group("large", "the largest trace on the most locations, and half violated",
                  sizes.runs)
    for spec, label in ((TraceSpec(sizes.large, locations=locations), f"{locations} loc"),
                        (TraceSpec(sizes.large, share=0.5), "50%")):
        programs.cp(group, spec, f"cp, {label}")
        programs.scan(group, spec, f"scan_speed, {label}")
        programs.check(group, spec, f"check, {label}")
        programs.correct(group, spec, f"overlay, {label}", "overlay")
        programs.correct(group, spec, f"rewrite, {label}", "rewrite")
    return group


def hard_group(case: str, programs: Programs, sizes: Sizes) -> Group:
    group = Group(f"hard-{case}", HARD_CASES[case].about, sizes.runs_of_hard)
    spec = HARD_CASES[case].spec(sizes.base)
    programs.cp(group, spec)
    programs.copy(group, spec)
    programs.check(group, spec, "check, 2 thr")
    for threads in (2, 1):
        programs.correct(group, spec, f"overlay + verify, {threads} thr", "overlay", verify=True,
                         threads=threads)
    programs.correct(group, spec, "rewrite + verify, 2 thr", "rewrite", verify=True)
    return group


def json_group(kind: str, about: str, programs: Programs, sizes: Sizes) -> Group:
    group = Group(kind, f"{about}, with one and two threads", sizes.runs_of_hard)
    spec = JsonSpec("chrome" if kind == "training" else "otlp", sizes.small * 2)
    programs.cp(group, spec)
    programs.json_pass(group, spec)
    for threads in (2, 1):
        programs.check(group, spec, f"check, {threads} thr", threads)
        programs.correct(group, spec, f"rewrite + verify, {threads} thr", "rewrite", verify=True,
                         threads=threads)
    return group


def lossy_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("lossy", "the trace of hard-mixed-16 at half its size, complete and without one "
                  "in a thousand of its records", sizes.runs_of_hard)
    whole = MIXED.spec(sizes.base // 2)
    for spec, label in ((whole, "complete"), (LossySpec(whole), "lost")):
        programs.cp(group, spec, f"cp, {label}")
        programs.copy(group, spec, f"otf2_copy, {label}")
        programs.check(group, spec, f"check, {label}", 1)
        programs.correct(group, spec, f"overlay + verify, {label}", "overlay", verify=True,
                         threads=1)
    return group


def recorded_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("recorded", "a solver of conjugate gradients as `entrain record` writes it, with "
                  "a clock per process", sizes.runs_of_hard)
    group.skipped = why_nothing_is_recorded()
    spec = RecordedSpec(max(sizes.small // 1440, 100))
    programs.cp(group, spec)
    programs.copy(group, spec)
    programs.check(group, spec, "check, 1 thr", 1)
    programs.correct(group, spec, "overlay + verify, 1 thr", "overlay", verify=True, threads=1)
    programs.correct(group, spec, "rewrite + verify, 1 thr", "rewrite", verify=True, threads=1)
    return group


def bounds_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("bounds", "tables of a ring of clocks, with four times as many clocks: proofs of "
                  "bounds", sizes.runs_of_hard)
    for clocks in (sizes.base // 2400, sizes.base // 600):
        spec = TableSpec(clocks)
        programs.cp(group, spec, f"cp, {clocks} clocks")
        programs.align(group, spec, f"align, {clocks} clocks")
        programs.align(group, spec, f"align --bounds, {clocks} clocks", "--bounds")
    return group


def small_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("small", f"overlays of a trace of {count_text(SMALL_EVENTS)} events, alone and "
                  "beside one busy process per core, and by MPI processes", sizes.runs)
    spec = HardSpec("stencil2d", 8, SMALL_EVENTS, SPARSE)
    programs.cp(group, spec)
    programs.copy(group, spec)
    for threads in (2, 1):
        for where, wrapper in (("", []), (", beside", [BESIDE])):
            contestant = programs.correct(group, spec, f"overlay, {threads} thr{where}", "overlay",
                                          verify=True, threads=threads)
            contestant.command = [*wrapper, *contestant.command]
            contestant.memory = not wrapper  # that of the wrapper is seen only
    launcher, environment, why_not = find_launcher(programs.entrain)
    for processes in () if why_not else PROCESSES[1:]:
        contestant = programs.correct(group, spec, f"overlay, {processes} proc", "overlay",
                                      verify=True, processes=processes, environment=environment)
        contestant.command = [*launcher, "-n", str(processes), *contestant.command]
    return group


def hard_processes_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("hard-processes", "the trace of hard-mixed-16, overlay with verification: one "
                  "process of two threads, and MPI processes of one", sizes.runs_of_hard)
    launcher, environment, why_not = find_launcher(programs.entrain)
    if why_not:
        group.skipped = why_not
        return group
    spec = MIXED.spec(sizes.base)
    programs.cp(group, spec)
    for presync, options in (("auto", []), ("linear", ["--presync", "linear"])):
        alone = programs.correct(group, spec, f"{presync}, 2 thr", "overlay", verify=True)
        alone.command += options
        for processes in PROCESSES[1:]:
            contestant = programs.correct(group, spec, f"{presync}, {processes} proc", "overlay",
                                          verify=True, threads=1, processes=processes,
                                          environment=environment | EACH_WORKS)
            contestant.command = [*launcher, "-n", str(processes), *contestant.command, *options]
    return group


def processes_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("processes", "several MPI processes of one thread each", sizes.runs)
    launcher, environment, why_not = find_launcher(programs.entrain)
    if why_not:
        group.skipped = why_not
        return group
    spec = TraceSpec(sizes.base)
    programs.cp(group, spec)
    for mode in ("overlay", "rewrite"):
        programs.correct(group, spec, f"{mode}, no mpirun", mode, threads=1)
        for processes in PROCESSES:
            contestant = programs.correct(group, spec, f"{mode}, {processes} proc", mode,
                                          threads=1, processes=processes,
                                          environment=environment | EACH_WORKS)
            contestant.command = [*launcher, "-n", str(processes), *contestant.command]
    return group


def memory_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("memory", "ten times the events around the same number of communication events; "
                  "only memory is measured", 1)
    for spec, label in ((TraceSpec(sizes.base), "10 % communication"),
                        (TraceSpec(sizes.large, communication=0.01), "1 % communication")):
        programs.check(group, spec, f"check, {label}")
        programs.correct(group, spec, f"overlay, {label}", "overlay")
        programs.correct(group, spec, f"rewrite + verify, {label}", "rewrite", verify=True)
    for contestant in group.contestants:
        contestant.timed = False
    return group


def files_group(programs: Programs, sizes: Sizes) -> Group:
    group = Group("files", f"very many locations, with a soft limit of {OPEN_FILES} open files",
                  sizes.runs_of_many, judged=False)
    spec = TraceSpec(160 * sizes.many_locations, locations=sizes.many_locations, communication=0.2)
    programs.cp(group, spec)
    programs.check(group, spec, "check")
    programs.correct(group, spec, "overlay", "overlay")
    programs.correct(group, spec, "rewrite + verify", "rewrite", verify=True)
    for contestant in group.contestants:
        contestant.most_open_files = OPEN_FILES
        contestant.both = contestant.memory
    return group


GROUPS = {
    "main": main_group, "violations": violations_group, "locations": locations_group,
    "growth": growth_group, "large": large_group, "processes": processes_group,
    **{f"hard-{case}": partial(hard_group, case) for case in HARD_CASES},
    "hard-processes": hard_processes_group, "small": small_group,
    "training": partial(json_group, "training", "a training run of 8 ranks in JSON"),
    "spans": partial(json_group, "spans", "spans of services on 8 hosts in JSON"),
    "lossy": lossy_group, "recorded": recorded_group, "bounds": bounds_group,
    "memory": memory_group, "files": files_group,
}


def find_launcher(entrain: Path) -> tuple[list[str], dict[str, str], str]:
    """Words that start MPI processes, their environment, or why that is not possible."""
    if shutil.which("mpirun") is None:
        return [], {}, "mpirun is not installed"
    linked = subprocess.run(["ldd", str(entrain)], capture_output=True, text=True, check=False)
    if "libmpi" not in linked.stdout:
        return [], {}, "entrain was built without MPI"
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" not in version.stdout:
        return ["mpirun"], {}, ""
    environment = {}
    if os.geteuid() == 0:
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return ["mpirun", "--oversubscribe", "--bind-to", "none"], environment, ""


def count_text(events: int) -> str:
    """24000000 as 24M."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if events >= unit:
            return f"{events / unit:g}{name}"
    return str(events)
