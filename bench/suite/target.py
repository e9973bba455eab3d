# SPDX-License-Identifier: BSD-3-Clause
"""A row of the table of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Target:
    """One row: `met` is None if the session does not tell."""

    what: str
    wanted: str
    measured: str
    met: bool | None

    def as_json(self) -> dict[str, Any]:
        return vars(self)


def at_most(what: str, limit: float, value: float | None, unit: str) -> Target:
    return bounded(what, f"<= {limit:g}", value, unit, value is not None and value <= limit)


def at_least(what: str, limit: float, value: float | None, unit: str) -> Target:
    return bounded(what, f">= {limit:g}", value, unit, value is not None and value >= limit)


def bounded(what: str, wanted: str, value: float | None, unit: str, met: bool) -> Target:
    if value is None:
        return Target(what, wanted, "not measured", None)
    return Target(what, wanted, f"{value:.2f} {unit}", met)
