# SPDX-License-Identifier: BSD-3-Clause
"""Runs the groups and keeps everything that was measured."""

from __future__ import annotations

import datetime
import os
import platform
import random
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .cases import GROUPS, Group, Programs, Sizes
from .measuring import Contestant, measure_memory, measure_time, say, warm
from .traces import Spec, TraceMaker, most_bytes

SCHEMA = "entrain.bench/2"
PROJECT = Path(__file__).resolve().parents[2]


def run_session(programs: Programs, sizes: Sizes, names: list[str], maker: TraceMaker,
                keep_traces: bool) -> dict[str, Any]:
    """Measures the groups of these names, one after the other."""
    groups = [GROUPS[name](programs, sizes) for name in names]
    result: dict[str, Any] = {
        "schema": SCHEMA, "date": datetime.date.today().isoformat(), "revision": revision(),
        "machine": machine(programs.data), "load_before": load(), "sizes": asdict(sizes),
        "traces": {}, "groups": {},
    }
    begin = datetime.datetime.now()
    for number, group in enumerate(groups):
        if group.skipped:
            say(f"{group.name}: skipped, {group.skipped}")
            result["groups"][group.name] = {"about": group.about, "skipped": group.skipped}
            continue
        for spec in group.specs:
            about = maker.make(spec)
            result["traces"][spec.name] = {k: v for k, v in about.items()
                                           if k not in ("folder", "anchor")}
        result["groups"][group.name] = measure_group(group, programs.data)
        if not keep_traces:
            later = [spec for other in groups[number + 1:] for spec in other.specs]
            maker.remove([spec for spec in group.specs if spec not in later])
    result["load_after"] = load()
    result["seconds"] = round((datetime.datetime.now() - begin).total_seconds(), 1)
    return result


def measure_group(group: Group, data: Path) -> dict[str, Any]:
    """All rounds of a group: every contestant once per round, in a new random order."""
    target = data / "target"
    timed = [c for c in group.contestants if c.timed]
    watched = [c for c in group.contestants if c.memory and not c.both]
    entries = {c.name: describe(c) for c in group.contestants}
    shuffled = random.Random(1)
    load_before = load()
    for round_number in range(1, group.runs + 1):
        for spec in group.specs if timed else []:
            warm(data / spec.name / "archive")
        for place, contestant in enumerate(shuffled.sample(timed, len(timed))):
            if contestant.both:
                run, peak = measure_memory(contestant, target)
                entries[contestant.name]["memory"].append(peak)
            else:
                run = measure_time(contestant, target)
            entries[contestant.name]["runs"].append({"place": place, **run})
            say(f"{group.name} {round_number}/{group.runs}  {contestant.name:28} "
                f"{run['wall_s']:9.3f} s")
    for _ in range(max(1, group.runs // 5)):
        for contestant in shuffled.sample(watched, len(watched)):
            _, peak = measure_memory(contestant, target)
            entries[contestant.name]["memory"].append(peak)
            say(f"{group.name} memory  {contestant.name:28} {peak['anon_bytes'] / 1e6:9.1f} MB")
    return {"about": group.about, "judged": group.judged, "load_before": load_before,
            "load_after": load(), "contestants": entries}


def describe(contestant: Contestant) -> dict[str, Any]:
    return {"trace": contestant.trace, "threads": contestant.threads,
            "processes": contestant.processes, "most_open_files": contestant.most_open_files,
            "runs": [], "memory": []}


def need_bytes(names: list[str], programs: Programs, sizes: Sizes) -> int:
    """Disk space for all traces of a session at once, a truth and a target."""
    specs: set[Spec] = set()
    for name in names:
        specs.update(GROUPS[name](programs, sizes).specs)
    weights = [most_bytes(spec) for spec in specs]
    return sum(weights) + 2 * max(weights, default=0)


def load() -> float:
    return round(os.getloadavg()[0], 2)


def revision() -> str:
    described = subprocess.run(["git", "-C", str(PROJECT), "describe", "--always", "--dirty"],
                               capture_output=True, text=True, check=False)
    return described.stdout.strip() or "unknown"


def machine(data: Path) -> dict[str, Any]:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    kind = subprocess.run(["stat", "-f", "-c", "%T", str(data)], capture_output=True, text=True,
                          check=False).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)),
            "memory_gb": round(memory / 2**30, 1), "file_system": kind,
            "system": f"{platform.system()} {platform.release()}"}
