# SPDX-License-Identifier: BSD-3-Clause
"""Types of the part that is C++; use entrain_clocks itself."""
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

_Progress = Optional[Callable[[str, int, int], Any]]
_Table = tuple[str, Optional[str]]
_Times = NDArray[np.int64]
_Numbers = NDArray[np.uint32]

class ClockMap:
    def apply(self, stamps: _Times) -> _Times: ...
    def knots(self) -> tuple[_Times, _Times]: ...

class Edges:
    cause_clock: _Numbers
    cause_time: _Times
    effect_clock: _Numbers
    effect_time: _Times
    min_delay: _Times
    kind: NDArray[np.uint8]

class RunOptions:
    def __init__(self, *, presync: str = "auto", bounds: bool = False, threads: int = 0,
                 progress: _Progress = None, max_unpacked: int = 0) -> None: ...

class ExportOptions:
    from_s: Optional[float]
    to_s: Optional[float]
    around: Optional[int]
    window_s: float
    both: bool
    force: bool

def check(path: list[str], options: RunOptions) -> tuple[str, tuple[Any, ...]]: ...
def edges(path: list[str], options: RunOptions) -> tuple[Any, ...]: ...
def correct(path: list[str], output: str, *, mode: str, force: bool, verify: bool,
            mark_offsets: bool, options: RunOptions) -> str: ...
def report(path: list[str], output: str, force: bool, options: RunOptions) -> str: ...
def clock_maps(path: list[str], *, amortize: bool,
               options: RunOptions) -> tuple[list[int] | list[str], list[ClockMap], int]: ...
def clocks(path: list[str], options: RunOptions) -> str: ...
def stragglers(path: list[str], options: RunOptions) -> str: ...
def compare(a: str, b: str, *, truth: Optional[str], raw_a: bool, options: RunOptions) -> str: ...
def export_trace(path: list[str], output: str, *, format: str, selection: ExportOptions,
                 options: RunOptions) -> str: ...
def align(clocks: list[_Table], edges: Edges, options: RunOptions,
          resolution_hz: int) -> tuple[list[ClockMap], str, tuple[Any, ...]]: ...
def align_tables(edges: _Table, clocks: list[_Table], options: RunOptions, *,
                 resolution_hz: int, unit: str, columns: str
                 ) -> tuple[list[str], list[ClockMap], str, tuple[Any, ...]]: ...
def version() -> str: ...
