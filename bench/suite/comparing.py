# SPDX-License-Identifier: BSD-3-Clause
"""Compares two sessions of bench/run, measured on one machine with two builds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .measuring import CannotRun
from .session import SCHEMA
from .stats import bootstrap_change, paired_ratio
from .summary import Session

SLACK_BYTES = 4 << 20  # of memory: allocators and threads are not repeatable to the byte
SAME_SHARE = 0.02  # traces whose bytes or violations differ by more are different traces


@dataclass
class Rules:
    """What is tolerated; see bench/README.md."""

    tolerance: float = 0.05
    memory_tolerance: float = 0.05
    noise: float = 0.25  # widest interval of a change, from its middle, that still tells anything
    least_runs: int = 5


@dataclass
class Verdict:
    what: str
    change: float  # B / A
    low: float  # interval
    high: float
    verdict: str  # "same", "better", "worse", "unclear"


def load_session(path: Path) -> Session:
    try:
        result = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CannotRun(f"{path}: {error}") from error
    if not isinstance(result, dict) or result.get("schema") != SCHEMA:
        raise CannotRun(f"{path} is not a result of bench/run ({SCHEMA})")
    return Session(result)


def compare(before: Session, after: Session, rules: Rules) -> list[Verdict]:
    """All verdicts; CannotRun if the two cannot be compared."""
    refuse_differences(before.result, after.result)
    verdicts = []
    for group in before.result["groups"]:
        for name, contestant in before.group(group).items():
            verdicts += compare_contestant(before, after, group, name, contestant, rules)
    if not verdicts:
        raise CannotRun("there is nothing to compare")
    return verdicts


def refuse_differences(before: dict[str, Any], after: dict[str, Any]) -> None:
    for key in ("cpu", "cores", "memory_gb", "file_system"):
        refuse_unless_equal(f"machine ({key})", before["machine"][key], after["machine"][key])
    measured = [{name: (sorted(group.get("contestants", {})), group.get("skipped", ""))
                 for name, group in result["groups"].items()} for result in (before, after)]
    refuse_unless_equal("groups", sorted(measured[0]), sorted(measured[1]))
    for name, of_group in measured[0].items():
        refuse_unless_equal(f"contestants of {name}", of_group, measured[1][name])
    refuse_unless_equal("traces", sorted(before["traces"]), sorted(after["traces"]))
    for name, trace in before["traces"].items():
        other = after["traces"][name]
        for key in ("events", "locations"):
            refuse_unless_equal(f"{key} of trace {name}", trace[key], other[key])
        if abs(other["bytes"] / trace["bytes"] - 1) > SAME_SHARE:
            raise CannotRun(f"trace {name} differs: {trace['bytes']} and {other['bytes']} bytes")
        if abs(other["violated_share"] - trace["violated_share"]) > SAME_SHARE:
            raise CannotRun(f"trace {name} differs: {trace['violated_share']:.3f} and "
                            f"{other['violated_share']:.3f} of the receives violated")


def refuse_unless_equal(what: str, before: object, after: object) -> None:
    if before != after:
        raise CannotRun(f"{what} differ: {before} and {after}")


def compare_contestant(before: Session, after: Session, group: str, name: str,
                       contestant: dict[str, Any], rules: Rules) -> list[Verdict]:
    """Time against the floor of the group, and memory. The floors themselves are not judged."""
    verdicts = []
    judged = before.result["groups"][group]["judged"]
    if judged and contestant["runs"] and contestant["trace"] and not is_floor(name):
        if is_scan(contestant):
            verdicts += compare_scans(before, after, group, name, rules)
        else:
            floor = before.floor(group, name, "otf2_copy") or before.floor(group, name, "cp")
            if floor is None:
                raise CannotRun(f"{group}: nothing to compare {name} with")
            ratios = [paired_ratio(session.walls(group, name), session.walls(group, floor))
                      for session in (before, after)]
            verdicts.append(judge(f"{group}: {name} / {floor}", ratios[0], ratios[1], rules))
    old, new = before.anon_bytes(group, name), after.anon_bytes(group, name)
    if (old is None) != (new is None):
        raise CannotRun(f"{group}: memory of {name} was measured once only")
    if old and new and not is_floor(name):
        too_much = new > old * (1 + rules.memory_tolerance) + SLACK_BYTES
        better = new < old * (1 - rules.memory_tolerance) - SLACK_BYTES
        verdicts.append(Verdict(f"{group}: {name}, anonymous memory", new / old, new / old,
                                new / old,
                                "worse" if too_much else "better" if better else "same"))
    return verdicts


def compare_scans(before: Session, after: Session, group: str, name: str, rules: Rules
                  ) -> list[Verdict]:
    """The scan alone, against the OTF2 library's reader in the same process."""
    series = sorted({entry["threads"] for entry in before.group(group)[name]["runs"][0]["series"]
                     if entry["name"] == "scan"})
    verdicts = []
    for threads in series:
        ratios = [paired_ratio(session.series_s(group, name, "scan", threads),
                               session.series_s(group, name, "otf2_reader", 1))
                  for session in (before, after)]
        verdicts.append(judge(f"{group}: {name}, {threads} thr / otf2_reader", ratios[0],
                              ratios[1], rules))
    return verdicts


def judge(what: str, before: list[float], after: list[float], rules: Rules) -> Verdict:
    for runs in (before, after):
        if len(runs) < rules.least_runs:
            raise CannotRun(f"{what}: {len(runs)} runs, {rules.least_runs} are needed")
    change, low, high = bootstrap_change(before, after)
    verdict = "same"
    if change > 1 + rules.tolerance and low > 1:
        verdict = "worse"
    elif (high - low) / 2 > rules.noise:
        verdict = "unclear"
    elif change < 1 - rules.tolerance and high < 1:
        verdict = "better"
    return Verdict(what, change, low, high, verdict)


def is_floor(name: str) -> bool:
    return name.split(",")[0] in ("cp", "otf2_copy")


def is_scan(contestant: dict[str, Any]) -> bool:
    return "series" in contestant["runs"][0]
