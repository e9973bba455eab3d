# SPDX-License-Identifier: BSD-3-Clause
"""What was aimed at, and whether the session shows it."""

from __future__ import annotations

from typing import Any

from .hard_targets import hard_targets
from .run_targets import run_targets
from .stats import median
from .summary import Session
from .target import Target, at_least, at_most

MIB = 1 << 20
WANTED_LOCATIONS = 100_000


def all_targets(session: Session) -> list[Target]:
    return [*scan_targets(session), *copy_targets(session), *memory_targets(session),
            *violation_targets(session), files_target(session), *growth_targets(session),
            *hard_targets(session), *run_targets(session)]


def scan_targets(session: Session) -> list[Target]:
    rates = {threads: session.scan_rate("main", "scan_speed", threads) for threads in (1, 2)}
    library = session.scan_rate("main", "scan_speed", 1, "otf2_reader")
    rows = [at_least(f"scan with skeleton, {threads} thr", 100,
                     rate / threads / 1e6 if rate else None, "M events/s/thr")
            for threads, rate in rates.items()]
    both = rates[1] / library if rates[1] and library else None
    rows.append(at_least("scan, 1 thr, against OTF2 callback reader", 3, both, "times"))
    return rows


def copy_targets(session: Session) -> list[Target]:
    def cost(name: str) -> float | None:
        return session.ratio("main", name, "cp")

    rewrites = [("rewrite against OTF2 read + write", "rewrite, 2 thr"),
                ("rewrite with verification against the same", "rewrite + verify, 2 thr")]
    faster = []
    for what, name in rewrites:
        ratio = session.ratio("main", name, "otf2_copy")
        faster.append(at_least(what, 3, 1 / ratio if ratio else None, "times"))
    return [
        at_most("overlay with verification", 1.0, cost("overlay + verify, 2 thr"), "x cp"),
        at_most("overlay --no-verify", 0.7, cost("overlay, 2 thr"), "x cp"),
        at_most("rewrite with verification", 2.0, cost("rewrite + verify, 2 thr"), "x cp"),
        at_most("rewrite --no-verify", 1.6, cost("rewrite, 2 thr"), "x cp"),
        *faster,
    ]


def allowed_bytes(trace: dict[str, Any]) -> int:
    return 40 * trace["communication_events"] + 1024 * trace["locations"] + 64 * MIB


def memory_targets(session: Session) -> list[Target]:
    """The worst of all corrections by one process, and the growth with other events."""
    limit = "anonymous memory / 40 B/event + 1 KiB/loc. + 64 MiB"
    rows = []
    for what, groups in ((limit, ["main", "violations"]),
                         ("the same, worst of all traces", list(session.result["groups"]))):
        worst = worst_memory(session, groups)
        rows.append(Target(what, "<= 1", worst[1] if worst else "not measured",
                           worst[0] <= 1 if worst else None))
    grown = []
    for program in ("overlay", "rewrite + verify"):
        few = session.anon_bytes("memory", f"{program}, 10 % communication")
        many = session.anon_bytes("memory", f"{program}, 1 % communication")
        if few and many:
            grown.append((many / few, program))
    rows.append(at_most("anonymous memory, 10 x the other events", 1.1,
                        max(grown)[0] if grown else None, "times"))
    return rows


def worst_memory(session: Session, groups: list[str]) -> tuple[float, str] | None:
    """Share of what is allowed, and both in words."""
    worst: tuple[float, str] | None = None
    for group in groups:
        if group not in session.result["groups"]:
            continue
        for name, contestant in session.group(group).items():
            is_correction = name.startswith(("overlay", "rewrite"))
            anon = session.anon_bytes(group, name)
            if not is_correction or anon is None or contestant["processes"] > 1:
                continue
            trace = session.trace_of(contestant)
            share = anon / allowed_bytes(trace)
            bytes_each = anon / trace["communication_events"]
            text = f"{share:.2f}, {bytes_each:.0f} B/event"
            if worst is None or share > worst[0]:
                worst = (share, text)
    return worst


def violation_targets(session: Session) -> list[Target]:
    """Half of the receives violated against none: all of a run, and the two amortizations."""
    whole = [at_most(f"{program}, 50 % violated against clean", 2,
                     session.ratio("violations", f"{program}, 50%", f"{program}, 0%"), "times")
             for program in ("overlay", "rewrite")]
    phases = ["forward", "backward"]
    half = session.phase_s("violations", "rewrite, 50%", phases)
    clean = session.phase_s("violations", "rewrite, 0%", phases)
    ratio = half / clean if half and clean else None
    return [*whole, at_most("forward + backward, 50 % violated against clean", 2,
                            ratio, "times")]


def files_target(session: Session) -> Target:
    what = f"{WANTED_LOCATIONS:,} locations, 1,024 open files"
    done = session.contestant("files", "rewrite + verify")
    if done is None or not done["runs"]:
        return Target(what, "works", "not measured", None)
    locations = session.trace_of(done)["locations"]
    walls = median(session.walls("files", "rewrite + verify"))
    return Target(what, "works", f"{locations:,} locations in {walls:.1f} s",
                  True if locations >= WANTED_LOCATIONS else None)


def growth_targets(session: Session) -> list[Target]:
    """Cost per event of a larger trace divided by that of a smaller one, the largest: what begins
    and ends a run makes small traces dearer, which is no growth."""
    lines = session.growth()
    rows = []
    for label in ("scan alone, 2 thr", "check", "overlay", "rewrite + verify"):
        rows.append(at_most(f"cost per event, trace 10 x twice: {label}", 1.2,
                            growth(lines.get(label, [])), "times"))
    phases = {k: growth(v) for k, v in lines.items() if k.startswith("phase")}
    known = {k: v for k, v in phases.items() if v is not None}
    if known:
        label = max(known, key=lambda k: known[k])
        rows.append(at_most(f"cost per event, worst phase: {label[6:]}", 1.2, known[label],
                            "times"))
    return rows


def growth(points: list[tuple[int, float]]) -> float | None:
    costs = [cost for _, cost in sorted(points)]
    pairs = [later / earlier for i, earlier in enumerate(costs) for later in costs[i + 1:]]
    return max(pairs) if pairs else None
