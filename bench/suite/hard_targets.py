# SPDX-License-Identifier: BSD-3-Clause
"""What was aimed at on hard traces: rows of the table of targets, each with the worst trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .hard_cases import HARD_CASES
from .summary import PHASES, Session
from .target import Target

OVERLAY, REWRITE = "overlay + verify, 2 thr", "rewrite + verify, 2 thr"
FEW_CLOCKS = 64
LARGE_PHASE = 0.05  # share of the time from which on a phase is judged by itself


def hard_targets(session: Session) -> list[Target]:
    hard = [name for name, case in HARD_CASES.items() if not case.easy]
    easy = [name for name, case in HARD_CASES.items() if case.easy]
    rows = []
    for what, cases, name, limits in (
            ("hard traces: overlay with verification", hard, OVERLAY, (0.75, 6)),
            ("hard traces: rewrite with verification", hard, REWRITE, (1.1, 9)),
            ("easy stencil: overlay with verification", easy, OVERLAY, (None, 2)),
            ("easy stencil: rewrite with verification", easy, REWRITE, (None, 3))):
        for floor, limit in zip(("otf2_copy", "cp"), limits):
            if limit is not None:
                rows.append(worst_at_most(
                    what, limit, f"x {floor}", cases,
                    lambda case, name=name, floor=floor: session.ratio(f"hard-{case}", name, floor)
                ))
    few, many = [], []
    for case in HARD_CASES:
        (few if HARD_CASES[case].spec(1).locations <= FEW_CLOCKS else many).append(case)
    for what, cases, limit in ((f"fit against the rest, <= {FEW_CLOCKS} clocks", few, 0.15),
                               ("fit against the rest, 512 clocks", many, 0.5)):
        rows.append(worst_at_most(what, limit, "times", cases,
                                  lambda case: fit_share(session, f"hard-{case}")))
    return [*rows, speedup_target(session), *process_targets(session)]


def worst_at_most(what: str, limit: float, unit: str, cases: Iterable[str],
                  value_of: Callable[[str], float | None]) -> Target:
    """The largest value of any case; not measured if none is."""
    values = [(value, case) for case in cases if (value := value_of(case)) is not None]
    if not values:
        return Target(what, f"<= {limit:g}", "not measured", None)
    value, case = max(values)
    return Target(what, f"<= {limit:g}", f"{value:.2f} {unit}, {case}", value <= limit)


def fit_share(session: Session, group: str) -> float | None:
    fit = session.phase_s(group, OVERLAY, ["presync"])
    rest = session.phase_s(group, OVERLAY, [phase for phase in PHASES if phase != "presync"])
    return fit / rest if fit is not None and rest else None


def large_phases(session: Session, group: str, name: str) -> list[str]:
    whole = session.phase_s(group, name, PHASES)
    if not whole:
        return []
    return [p for p in PHASES if (session.phase_s(group, name, [p]) or 0) >= LARGE_PHASE * whole]


def speedup_target(session: Session) -> Target:
    """The phase that gains least from a second thread."""
    gains = []
    for case in HARD_CASES:
        group, one_thread = f"hard-{case}", "overlay + verify, 1 thr"
        for phase in large_phases(session, group, one_thread):
            one = session.phase_s(group, one_thread, [phase])
            two = session.phase_s(group, OVERLAY, [phase])
            if one and two:
                gains.append((one / two, f"{phase} of {case}"))
    what = "2 threads against 1, worst large phase"
    if not gains:
        return Target(what, ">= 1.7", "not measured", None)
    gain, where = min(gains)
    return Target(what, ">= 1.7", f"{gain:.2f} times, {where}", gain >= 1.7)


def process_targets(session: Session) -> list[Target]:
    """MPI processes of one thread against one process of two."""
    group, totals, phases = "hard-processes", {}, {}
    for name in session.group(group):
        presync, _, how = name.partition(", ")
        alone = f"{presync}, 2 thr"
        if not how.endswith(" proc"):
            continue
        totals[name] = session.ratio(group, name, alone)
        for phase in large_phases(session, group, alone):
            one = session.phase_s(group, alone, [phase])
            several = session.phase_s(group, name, [phase])
            if one and several:
                phases[f"{phase} of {name}"] = several / one
    return [worst_at_most("processes against threads, whole run", 1.3, "times", totals,
                          totals.__getitem__),
            worst_at_most("processes against threads, worst large phase", 2, "times", phases,
                          phases.__getitem__)]
