# SPDX-License-Identifier: BSD-3-Clause
"""Traces beside those of `synth --format otf2`: runs in JSON, archives that lost records, archives
that are recorded, and tables of edges."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .hard_cases import WEAK, HardSpec
from .measuring import CannotRun, run_quietly

if TYPE_CHECKING:
    from .traces import TraceMaker

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "conjugate_gradients.c"


@dataclass
class Made:
    """A trace, and how it came to be."""

    program: dict[str, Any]  # what `synth` says
    check: dict[str, Any]  # what `check` says
    share: float  # of the receives that are violated
    options: dict[str, Any]


@dataclass(frozen=True)
class JsonSpec:
    """A run of `synth` in JSON, with the clocks that `distort` gives it: a training run (`format`
    chrome) or spans of services (otlp)."""

    format: str
    events: int
    locations: int = 8
    seeds = ("1", "2")  # of `synth`, of `distort`
    event_bytes = 240  # at most

    @property
    def name(self) -> str:
        kind = {"chrome": "training", "otlp": "spans"}[self.format]
        return f"{kind}-{self.locations}-{self.events}"

    def make(self, maker: TraceMaker, folder: Path) -> Made:
        synth = ["--format", self.format, "--events", str(self.events), "--seed", self.seeds[0]]
        if self.format == "chrome":  # hosts of services have no option
            synth += ["--locations", str(self.locations)]
        return maker.made_of(self.name, synth, ["--drift-ppm", "20", *WEAK, "--seed", self.seeds[1]],
                             folder)


@dataclass(frozen=True)
class LossySpec:
    """An archive of `synth` that lost this share of its records before it got its clocks."""

    whole: HardSpec
    share: float = 0.001
    event_bytes = 16

    @property
    def name(self) -> str:
        return f"{self.whole.name}-lost-{self.share:g}"

    @property
    def events(self) -> int:
        return self.whole.events

    @property
    def locations(self) -> int:
        return self.whole.locations

    def make(self, maker: TraceMaker, folder: Path) -> Made:
        def lose(truth: Path) -> Path:
            lossy = folder / "lossy"
            run_quietly([maker.entrain, "drop", str(truth), "-o", str(lossy), "-q", "--random",
                         f"{self.share:g}", "--seed", "1"])
            return lossy
        made = maker.made_of(self.name, self.whole.synth_options(), self.whole.distort_options(),
                             folder, lose)
        shutil.rmtree(folder / "lossy")
        return made


@dataclass(frozen=True)
class RecordedSpec:
    """An archive of `entrain record`: a solver of conjugate gradients (bench/programs) with a
    process per virtual node. The clocks of the nodes wander by 300 ppm."""

    iterations: int
    locations: int = 8
    event_bytes = 16
    events_per_iteration = 180  # and process, some

    @property
    def name(self) -> str:
        return f"recorded-{self.locations}-{self.iterations}"

    @property
    def events(self) -> int:
        return self.iterations * self.locations * self.events_per_iteration

    def make(self, maker: TraceMaker, folder: Path) -> Made:
        program = folder / "program"
        run_quietly(["mpicc", "-O2", str(PROGRAM), "-o", str(program)])
        nodes = {"ENTRAIN_VIRTUAL_NODES": str(self.locations), "ENTRAIN_VIRTUAL_WANDER_PPM": "300",
                 "ENTRAIN_VIRTUAL_WANDER_PERIOD": "10", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        command = [maker.entrain, "record", "-o", str(folder / "archive"), "--", "mpirun",
                   "--oversubscribe", "-n", str(self.locations), str(program),
                   str(self.iterations)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, env={**os.environ, **nodes})
        program.unlink()
        if done.returncode != 0:
            raise CannotRun(f"{self.name}: {done.stderr.strip()}")
        return maker.made_as_is(self.name, folder / "archive", {"iterations": self.iterations})


@dataclass(frozen=True)
class TableSpec:
    """A table for `align`: a ring of clocks, each with messages to and from its neighbours."""

    locations: int
    rounds: int = 4  # messages per pair of neighbours and direction
    event_bytes = 64

    @property
    def name(self) -> str:
        return f"table-{self.locations}"

    @property
    def events(self) -> int:
        return 4 * self.rounds * self.locations  # a message has two ends

    def make(self, maker: TraceMaker, folder: Path) -> Made:
        draw = random.Random(1)
        offsets = [draw.randrange(10**6) for _ in range(self.locations)]
        (folder / "archive").mkdir()
        with (folder / "archive" / "edges.csv").open("w") as table:
            table.write("cause_clock,cause_time,effect_clock,effect_time\n")
            for number in range(2 * self.rounds):
                for one in range(self.locations):
                    pair = [one, (one + 1) % self.locations]
                    cause, effect = pair if number % 2 == 0 else reversed(pair)
                    sent = 10**9 + 10**6 * number + draw.randrange(10**5)
                    table.write(f"c{cause},{sent + offsets[cause]},c{effect},"
                                f"{sent + 2000 + draw.randrange(3000) + offsets[effect]}\n")
        about = {"communication_events": self.events, "messages": self.events // 2,
                 "collectives": 0, "event_bytes": (folder / "archive" / "edges.csv").stat().st_size,
                 "span_s": 0}
        check = {"events": self.events, "locations": self.locations, "edges": {}}
        return Made(about, check, 0.0, {"rounds": self.rounds})


RunSpec = JsonSpec | LossySpec | RecordedSpec | TableSpec


def why_nothing_is_recorded() -> str:
    """What recording lacks; "" if it works."""
    missing = [name for name in ("mpicc", "mpirun") if shutil.which(name) is None]
    return f"{missing[0]} is not installed" if missing else ""
