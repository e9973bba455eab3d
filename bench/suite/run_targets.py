# SPDX-License-Identifier: BSD-3-Clause
"""What was aimed at on runs in JSON, archives that lost records or are recorded, and proofs."""

from __future__ import annotations

from .stats import median
from .summary import Session
from .target import Target, at_least, at_most


def run_targets(session: Session) -> list[Target]:
    few, many = bounds_names(session)
    return [
        at_least("spans: check, 1 thr", 500, rate(session, "spans", "check, 1 thr"), "MB/s"),
        at_most("spans: correct against json_pass, 1 thr", 3,
                session.ratio("spans", "rewrite + verify, 1 thr", "json_pass"), "times"),
        at_least("training run: correct, 1 thr", 450,
                 rate(session, "training", "rewrite + verify, 1 thr"), "MB/s"),
        at_most("recorded: overlay with verification, 1 thr", 0.75,
                session.ratio("recorded", "overlay + verify, 1 thr", "otf2_copy"), "x otf2_copy"),
        at_most("recorded: rewrite with verification, 1 thr", 1.1,
                session.ratio("recorded", "rewrite + verify, 1 thr", "otf2_copy"), "x otf2_copy"),
        at_most("records lost: check against the complete trace", 1.3,
                session.ratio("lossy", "check, lost", "check, complete"), "times"),
        at_most("records lost: overlay against the complete trace", 1.3,
                session.ratio("lossy", "overlay + verify, lost", "overlay + verify, complete"),
                "times"),
        at_most("align --bounds, 4 x the clocks", 5, session.ratio("bounds", many, few), "times"),
        at_most("small: 2 threads against 1, beside busy processes", 1,
                session.ratio("small", "overlay, 2 thr, beside", "overlay, 1 thr, beside"),
                "times"),
        *(at_most(f"small: {processes} processes against 1 of two threads", 1.3,
                  session.ratio("small", f"overlay, {processes} proc", "overlay, 2 thr"), "times")
          for processes in (2, 4)),
    ]


def rate(session: Session, group: str, name: str) -> float | None:
    """Megabytes of a trace per second."""
    walls = session.walls(group, name)
    if not walls:
        return None
    return session.trace_of(session.group(group)[name])["bytes"] / 1e6 / median(walls)


def bounds_names(session: Session) -> tuple[str, str]:
    """Programs of the group "bounds": with few and with many clocks."""
    names = [name for name in session.group("bounds") if name.startswith("align --bounds")]
    names.sort(key=lambda name: int(name.split()[2]))
    return (names[0], names[-1]) if names else ("", "")
