# SPDX-License-Identifier: BSD-3-Clause
"""Hard traces: dense communication, clocks that wander, many receives violated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

STRONG = ("--wander-ppm", "300", "--wander-period-s", "10")
WALK = ("--wander-ppm", "20", "--wander-kind", "walk")
WEAK = ("--wander-ppm", "1")
DENSE = ("--communication-share", "0.3", "--tail-s", "0.00002", "--iteration-s", "0.0005")
SPARSE = ("--communication-share", "0.1")


@dataclass(frozen=True)
class HardSpec:
    """A trace of `synth`, with the clocks that `distort` gives it."""

    pattern: str
    locations: int
    events: int
    synth: tuple[str, ...] = DENSE
    distort: tuple[str, ...] = STRONG
    seed: int = 1

    @property
    def name(self) -> str:
        return f"{self.pattern}-{self.locations}-{self.events}"

    def synth_options(self) -> list[str]:
        return ["--pattern", self.pattern, "--events", str(self.events), "--locations",
                str(self.locations), *self.synth, "--seed", str(self.seed)]

    def distort_options(self) -> list[str]:
        return ["--drift-ppm", "20", *self.distort, "--seed", "2"]


@dataclass(frozen=True)
class HardCase:
    """A hard trace, and what is hard about it. `make` takes the number of events."""

    about: str
    make: Callable[[int], HardSpec]
    size: float = 1.0  # events, in the middle size of a session
    easy: bool = False  # few violations: judged as the ring is

    def spec(self, events: int) -> HardSpec:
        return self.make(round(self.size * events))


MIXED = HardCase(
    "all kinds of communication, 30 % of the events, clocks that wander by 300 ppm",
    lambda events: HardSpec("mixed", 16, events, seed=3), size=43 / 24)

HARD_CASES = {
    "mixed-16": MIXED,
    "stencil-8": HardCase(
        "halos, 10 % communication, clocks that wander by 1 ppm: an easy one",
        lambda events: HardSpec("stencil2d", 8, events, SPARSE, WEAK), easy=True),
    "allreduce-64": HardCase(
        "collectives, 10 % of the events, clocks that wander by 300 ppm",
        lambda events: HardSpec("allreduce", 64, events, SPARSE)),
    "stencil-64": HardCase(
        "halos, 30 % communication, clocks that walk at random",
        lambda events: HardSpec("stencil2d", 64, events, DENSE, WALK)),
    "stencil-512": HardCase(
        "halos, 10 % communication, clocks that walk at random",
        lambda events: HardSpec("stencil2d", 512, events, SPARSE, WALK)),
}
