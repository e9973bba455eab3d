# SPDX-License-Identifier: BSD-3-Clause
"""The traces whose correction is compared with the truth: recorded ones, and generated ones that
cover every axis once or more without being all combinations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LATENCY_S = 1.5e-6
LIGHT_S, HEAVY_S = 3e-7, 2e-5  # mean of what comes on top of the latency
SPARSE, MEDIUM, DENSE = 0.01, 0.08, 0.25  # share of the events that take part in communication
# Communication events per process and iteration, about: what a run of a wanted length needs.
EVENTS_PER_ITERATION = {"ring": 6.0, "stencil2d": 7.8, "allreduce": 1.7, "master-worker": 3.5,
                        "mixed": 6.2, "pipeline": 1.75}


@dataclass(frozen=True)
class Clocks:
    """How wrong they are: options of `entrain distort`."""

    kind: str = "cycle"  # of the wander; "straight": none
    drift_ppm: float = 20
    wander_ppm: float = 5
    period_share: float = 1  # wander period as a share of the run
    sessions: int = 2
    noise_s: float = 1e-6
    offset_s: float = 5e-3
    steady_master: bool = False

    def options(self, span_s: float) -> list[str]:
        wander = 0.0 if self.kind == "straight" else self.wander_ppm
        kind = "walk" if self.kind == "walk" else "cycle"
        return ["--drift-ppm", f"{self.drift_ppm:g}", "--wander-ppm", f"{wander:g}",
                "--wander-kind", kind, "--wander-period-s", f"{span_s * self.period_share:.9f}",
                "--sessions", str(self.sessions), "--offset-noise-s", f"{self.noise_s:g}",
                "--offset-s", f"{self.offset_s:g}",
                "--master", "steady" if self.steady_master else "wander"]


@dataclass(frozen=True)
class Generated:
    """A trace of `entrain synth` with the clocks of `entrain distort`."""

    name: str
    pattern: str
    clocks: Clocks = Clocks()
    locations: int = 8
    share: float = MEDIUM
    tail_s: float = LIGHT_S
    span_s: float = 60  # about
    events: int = 200_000
    seeds: tuple[int, ...] = (1, 2)
    plotted: bool = False
    back_latency_s: float | None = None  # of messages to lower numbers; None: no difference
    back_tail_s: float | None = None
    imbalance: float | None = None  # 0: in lockstep, so that receivers wait for messages

    def program_options(self) -> list[str]:
        iterations = (self.events * self.share /
                      (EVENTS_PER_ITERATION[self.pattern] * self.locations))
        back = []
        if self.back_latency_s is not None:
            back += ["--back-latency-s", f"{self.back_latency_s:g}"]
        if self.back_tail_s is not None:
            back += ["--back-tail-s", f"{self.back_tail_s:g}"]
        if self.imbalance is not None:
            back += ["--imbalance", f"{self.imbalance:g}"]
        return back + ["--pattern", self.pattern, "--locations", str(self.locations),
                "--events", str(self.events), "--communication-share", f"{self.share:g}",
                "--latency-s", f"{LATENCY_S:g}", "--tail-s", f"{self.tail_s:g}",
                "--iteration-s", f"{self.span_s / iterations:.9f}"]


@dataclass(frozen=True)
class Recorded:
    """A trace beside its truth."""

    name: str
    trace: Path
    truth: Path
    plotted: bool = False


@dataclass(frozen=True)
class Loss:
    """Records that a trace loses: options of `entrain drop`; none for the complete trace."""

    name: str
    options: tuple[str, ...] = ()


LOSSES = (Loss("complete"), Loss("random 0.1 %", ("--random", "0.1%")),
          Loss("random 1 %", ("--random", "1%")),
          Loss("windows 10 % on a third", ("--windows", "10%:0.3333")))
# Traces of which records are lost; of recorded ones the truth gets the clocks of a generated one.
LOSSY = ("lulesh-8", "amg-8", "ring-dense", "stencil", "mixed")


def generated_cases() -> list[Generated]:
    straight, walk = Clocks("straight"), Clocks("walk", period_share=0.3)
    walk_100 = Clocks("walk", 100, 100, 0.3)
    fast = Clocks("cycle", period_share=0.03, wander_ppm=20)
    good = Clocks("cycle", 1, 0.4)
    none = Clocks("cycle", 100, 5, sessions=0, offset_s=10)
    cases = [
        # Tails and density, with clocks that leave lines some 10 us off.
        Generated("ring-dense", "ring", share=DENSE, plotted=True, seeds=(1, 2, 3)),
        Generated("ring-dense-tails", "ring", share=DENSE, tail_s=HEAVY_S),
        Generated("ring-sparse", "ring", share=SPARSE),
        Generated("ring-sparse-tails", "ring", share=SPARSE, tail_s=HEAVY_S),
        # Patterns.
        Generated("stencil", "stencil2d", seeds=(1, 2, 3)),
        Generated("allreduce", "allreduce"),
        Generated("master-worker", "master-worker"),
        Generated("master-worker-tails", "master-worker", share=SPARSE, tail_s=HEAVY_S),
        Generated("mixed", "mixed", seeds=(1, 2, 3)),
        # Locations.
        Generated("stencil-64", "stencil2d", locations=64, events=300_000),
        Generated("ring-64-tails", "ring", locations=64, events=300_000, tail_s=HEAVY_S),
        Generated("mixed-64", "mixed", locations=64, events=300_000),
        Generated("allreduce-512", "allreduce", locations=512, events=500_000, seeds=(1,)),
        Generated("stencil-512", "stencil2d", locations=512, events=500_000, share=DENSE,
                  seeds=(1,)),
        # Kinds of clocks.
        Generated("ring-straight", "ring", straight),
        Generated("mixed-straight", "mixed", straight),
        Generated("ring-walk", "ring", walk, share=DENSE),
        Generated("stencil-walk", "stencil2d", walk),
        Generated("mixed-64-walk", "mixed", walk, locations=64, events=300_000),
        Generated("ring-fast", "ring", fast),
        Generated("stencil-fast-tails", "stencil2d", fast, tail_s=HEAVY_S),
        Generated("ring-20ms", "ring", Clocks(wander_ppm=1000, period_share=0.1), span_s=0.2),
        # Sizes of errors.
        Generated("ring-1ppm", "ring", Clocks("cycle", 1, 1)),
        Generated("allreduce-1ppm-walk", "allreduce", Clocks("walk", 1, 1, 0.3)),
        Generated("ring-100ppm", "ring", Clocks("cycle", 100, 100)),
        Generated("mixed-100ppm", "mixed", Clocks("cycle", 100, 100)),
        Generated("stencil-100ppm-walk", "stencil2d", walk_100),
        # Sessions on the way. What they measure is the master's time, so that one does not wander.
        Generated("ring-13-sessions", "ring", Clocks(sessions=13, steady_master=True)),
        Generated("stencil-13-sessions-walk", "stencil2d",
                  Clocks("walk", period_share=0.3, sessions=13, steady_master=True), plotted=True),
        Generated("mixed-61-sessions-fast", "mixed",
                  Clocks("cycle", period_share=0.1, sessions=61, steady_master=True)),
        Generated("stencil-noisy-sessions", "stencil2d",
                  Clocks(sessions=5, noise_s=2e-5, steady_master=True)),
        # No session at all, clocks up to 10 s and 100 ppm off.
        Generated("ring-dense-no-session", "ring", none, share=DENSE),
        Generated("stencil-64-dense-no-session", "stencil2d", none, locations=64, events=500_000,
                  share=DENSE),
        Generated("allreduce-no-session", "allreduce", none),
        Generated("allreduce-64-no-session", "allreduce", none, locations=64, events=300_000),
        Generated("allreduce-256-no-session", "allreduce", none, locations=256, events=500_000,
                  seeds=(1,)),
        Generated("mixed-no-session", "mixed", none),
        Generated("ring-sparse-no-session", "ring", none, share=SPARSE),
        Generated("stencil-64-no-session", "stencil2d", none, locations=64, events=300_000),
        # Latencies that differ by direction, in programs whose receivers wait: the middle of what
        # is possible is not the truth. Clocks that lines correct to 2 us, and worse ones.
        Generated("ring-back-5us", "ring", good, share=DENSE, back_latency_s=5e-6, imbalance=0),
        Generated("ring-back-20us", "ring", good, share=DENSE, back_latency_s=2e-5, imbalance=0),
        Generated("ring-back-50us", "ring", good, share=DENSE, back_latency_s=5e-5, imbalance=0),
        Generated("stencil-back-20us", "stencil2d", good, back_latency_s=2e-5, imbalance=0),
        Generated("ring-back-tails", "ring", good, share=DENSE, back_tail_s=HEAVY_S, imbalance=0),
        Generated("workers-back-50us", "master-worker", good, back_latency_s=5e-5),
        Generated("ring-back-50us-5ppm", "ring", share=DENSE, back_latency_s=5e-5, imbalance=0),
        Generated("stencil-back-50us-5ppm", "stencil2d", back_latency_s=5e-5, imbalance=0),
        Generated("ring-back-50us-no-session", "ring", none, share=DENSE, back_latency_s=5e-5,
                  imbalance=0),
        # Messages that go one way only bound a clock on one side.
        Generated("pipeline", "pipeline"),
        Generated("pipeline-tails", "pipeline", tail_s=HEAVY_S),
        Generated("pipeline-good", "pipeline", good),
    ]
    return cases


QUICK = ("ring-dense", "stencil-walk", "ring-fast", "stencil-13-sessions-walk",
         "ring-dense-no-session")
PLOTTED = ("lulesh-8",)


def recorded_cases(folders: list[Path]) -> list[Recorded]:
    """Every trace of these folders with a truth beside it; the first folder that has a name wins."""
    found: dict[str, Recorded] = {}
    for folder in folders:
        for truth in sorted(folder.glob("*.truth")) if folder.is_dir() else []:
            trace = truth.with_suffix("")
            if trace.is_dir() and trace.name not in found:
                found[trace.name] = Recorded(trace.name, trace, truth, trace.name in PLOTTED)
    return list(found.values())
