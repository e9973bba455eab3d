# SPDX-License-Identifier: BSD-3-Clause
"""Medians, and how sure they are."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

RESAMPLES = 1000
CONFIDENCE = 0.95


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def paired_ratio(values: Sequence[float], floor: Sequence[float]) -> list[float]:
    """Ratios round by round: what slowed the machine down in a round slowed both down."""
    if len(values) != len(floor):
        raise ValueError(f"{len(values)} runs against {len(floor)}: not of the same rounds")
    return [value / below for value, below in zip(values, floor)]


def bootstrap_change(before: Sequence[float], after: Sequence[float], seed: int = 1
                     ) -> tuple[float, float, float]:
    """median(after) / median(before), and its percentile bootstrap interval (95 %).

    Both samples are drawn anew with replacement, independently; the seed makes it repeatable.
    """
    draw = random.Random(seed)
    ratios = sorted(
        median(draw.choices(after, k=len(after))) / median(draw.choices(before, k=len(before)))
        for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    low = ratios[int(tail * (RESAMPLES - 1))]
    high = ratios[int((1 - tail) * (RESAMPLES - 1))]
    return median(after) / median(before), low, high
