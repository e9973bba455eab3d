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
