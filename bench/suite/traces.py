# SPDX-License-Identifier: BSD-3-Clause
"""Makes the traces that are measured, each with a known share of violated receives."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hard_cases import HardSpec
from .measuring import CannotRun, run_quietly, say
from .run_specs import Made, RunSpec

SEED = 1
ITERATION_S = 2e-5
IMBALANCE = 0.1
# Noise of the recorded offsets that violates about half of the receives: a message arrives too
# early in one direction between any two processes, and can do so in one of the two only.
HALF_FROM = 0.48
LEAST_NOISE_S, MOST_NOISE_S = 1e-7, 1e-1
MOST_CORRECTIONS = 8


@dataclass(frozen=True)
class TraceSpec:
    """A trace of a ring of processes: see bench/README.md."""

    events: int
    locations: int = 8
    share: float = 0.01  # of the receives that come before their send
    communication: float = 0.1  # share of the events that take part in communication

    @property
    def name(self) -> str:
        return f"{self.events}-{self.locations}-{self.share:g}-{self.communication:g}"

    def short_events(self) -> int:
        """Enough for all kinds of iterations of the ring: there are 16."""
        communicating = max(50_000, 130 * self.locations)
        return min(self.events, math.ceil(communicating / self.communication))


Spec = TraceSpec | HardSpec | RunSpec


def most_bytes(spec: Spec) -> int:
    """Disk space for the files of a trace."""
    return getattr(spec, "event_bytes", 16) * spec.events + 3 * 4096 * spec.locations


class TraceMaker:
    """Generates traces, or takes those that an earlier session left."""

    def __init__(self, entrain: Path, data: Path, fresh: bool) -> None:
        self.entrain = str(entrain)
        self.data = data
        self.fresh = fresh

    def make(self, spec: Spec) -> dict[str, Any]:
        """What is known about the trace; "folder" and "anchor" say where it is."""
        folder = self.data / spec.name
        about_file = folder / "about.json"
        if self.fresh or not about_file.is_file():
            self.generate(spec, folder)
        about = json.loads(about_file.read_text())
        about["folder"] = str(folder / "archive")
        about["anchor"] = str(folder / "archive" / "traces.otf2")
        return about

    def remove(self, specs: list[Spec]) -> None:
        for spec in specs:
            shutil.rmtree(self.data / spec.name, ignore_errors=True)

    def generate(self, spec: Spec, folder: Path) -> None:
        need = 2 * most_bytes(spec)
        free = shutil.disk_usage(self.data).free
        if free < need:
            raise CannotRun(f"{self.data} has {free / 1e9:.1f} GB left, {need / 1e9:.1f} needed")
        say(f"generating trace {spec.name}")
        shutil.rmtree(folder, ignore_errors=True)
        partial = self.data / (spec.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        if isinstance(spec, TraceSpec):
            made = self.make_ring(spec, partial)
        elif isinstance(spec, HardSpec):
            made = self.made_of(spec.name, spec.synth_options(), spec.distort_options(), partial)
        else:
            made = spec.make(self, partial)
        shutil.rmtree(partial / "truth", ignore_errors=True)
        files = [f for f in (partial / "archive").rglob("*") if f.is_file()]
        program, check = made.program, made.check
        definitions = partial / "archive" / "traces.def"
        about = {
            "events": check["events"], "locations": check["locations"],
            "communication_events": program["communication_events"],
            "messages": program["messages"], "collectives": program["collectives"],
            "bytes": sum(f.stat().st_size for f in files), "files": len(files),
            "event_bytes": program["event_bytes"],
            "global_definition_bytes": definitions.stat().st_size if definitions.exists() else 0,
            "span_s": program["span_s"], "violated_share": made.share,
            "edges": {kind: {"count": edge["count"], "violations": edge["violations"]}
                      for kind, edge in check["edges"].items() if edge["count"]},
            **made.options,
        }
        (partial / "about.json").write_text(json.dumps(about, indent=1) + "\n")
        partial.rename(folder)

    def made_of(self, name: str, synth: list[str], clocks: list[str], folder: Path,
                lose: Callable[[Path], Path] = lambda truth: truth) -> Made:
        """The archive of `synth` without the records that it loses, with the clocks of `distort`."""
        program = self.simulate(synth, folder / "truth")
        self.distort(lose(folder / "truth"), folder / "archive", clocks)
        share, check = self.share_of(folder / "archive")
        if not check["violations"]:
            raise CannotRun(f"{name}: nothing is violated, so it is no hard trace")
        return Made(program, check, share, {"synth": synth, "distort": clocks})

    def made_as_is(self, name: str, archive: Path, options: dict[str, Any]) -> Made:
        """An archive that `synth` has not made."""
        share, check = self.share_of(archive)
        if not check["violations"]:
            raise CannotRun(f"{name}: nothing is violated, so there is nothing to correct")
        program = {"communication_events": check["communication_events"],
                   "messages": check["edges"]["p2p"]["count"],
                   "collectives": check["coverage"]["collective_calls"],
                   "event_bytes": sum(f.stat().st_size for f in archive.glob("traces/*.evt")),
                   "span_s": 0}
        return Made(program, check, share, options)

    def make_ring(self, spec: TraceSpec, folder: Path) -> Made:
        noise = self.calibrate(spec, folder)
        synth = self.synth_options(spec.events, spec)
        program = self.simulate(synth, folder / "truth")
        clocks = noisy(noise)
        self.distort(folder / "truth", folder / "archive", clocks)
        share, check = self.share_of(folder / "archive")
        # Of many locations a short trace tells little: the whole one is asked again.
        for _ in range(MOST_CORRECTIONS):
            if not 0 < spec.share < HALF_FROM or abs(share - spec.share) <= tolerance(spec.share):
                break
            noise *= math.sqrt(spec.share / share) if share > 0 else 2
            clocks = noisy(noise)
            self.distort(folder / "truth", folder / "archive", clocks)
            share, check = self.share_of(folder / "archive")
        if (spec.share == 0) != (share == 0) or abs(share - spec.share) > tolerance(spec.share):
            raise CannotRun(f"{spec.name}: {share:.4f} of the receives are violated, wanted were "
                            f"{spec.share:g}")
        return Made(program, check, share, {"wanted_share": spec.share, "offset_noise_s": noise,
                                            "synth": synth, "distort": clocks})

    def calibrate(self, spec: TraceSpec, folder: Path) -> float:
        """Noise of the clock offsets that gives the share, found on a short trace.

        The errors of the clocks are straight lines, the same for every length of the trace, so
        their effect is the same too.
        """
        if spec.share == 0:
            return 0.0
        self.simulate(self.synth_options(spec.short_events(), spec), folder / "short")

        def share(noise: float) -> float:
            self.distort(folder / "short", folder / "skewed", noisy(noise))
            return self.share_of(folder / "skewed")[0]

        if spec.share >= HALF_FROM:
            low, noise = LEAST_NOISE_S, 1e-4
            while share(noise) < HALF_FROM + 0.005:
                low, noise = noise, noise * 2
                if noise > MOST_NOISE_S:
                    raise CannotRun(f"{spec.name}: no clocks violate half of the receives")
        else:
            low, high = LEAST_NOISE_S, 1e-3
            for _ in range(16):
                noise = math.sqrt(low * high)
                found = share(noise)
                if abs(found - spec.share) <= 0.03 * spec.share:
                    break
                low, high = (noise, high) if found < spec.share else (low, noise)
        shutil.rmtree(folder / "short")
        shutil.rmtree(folder / "skewed")
        return noise

    def synth_options(self, events: int, spec: TraceSpec) -> list[str]:
        return ["--pattern", "ring", "--events", str(events), "--locations", str(spec.locations),
                "--communication-share", f"{spec.communication:g}", "--iteration-s",
                f"{ITERATION_S:g}", "--imbalance", f"{IMBALANCE:g}", "--seed", str(SEED)]

    def simulate(self, synth: list[str], folder: Path) -> dict[str, Any]:
        return json.loads(run_quietly([self.entrain, "synth", "-o", str(folder), "--json", "-q",
                                       *synth]))

    def distort(self, source: Path, folder: Path, clocks: list[str]) -> None:
        run_quietly([self.entrain, "distort", str(source), "-o", str(folder), "--force", "-q",
                     *clocks])

    def share_of(self, folder: Path) -> tuple[float, dict[str, Any]]:
        check = json.loads(run_quietly([self.entrain, "check", str(folder), "--json", "-q"],
                                       (0, 1)))
        p2p = check["edges"]["p2p"]
        return p2p["violations"] / max(p2p["count"], 1), check


def noisy(noise: float) -> list[str]:
    """Clocks that straight lines describe, measured with this error, in seconds."""
    return ["--wander-ppm", "0", "--offset-noise-s", f"{noise:.9g}", "--seed", str(SEED)]


def tolerance(share: float) -> float:
    return 0.02 if share >= HALF_FROM else 0.3 * share
