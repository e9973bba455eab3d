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

class Clocks:
    names: list[str]
    kinds: list[str]
    domains: list[str]
    resolution_hz: int
    session_clock: _Numbers
    session_time: _Times
    session_offset: _Times
    session_half_width: NDArray[np.float64]

def check(path: str, presync: str, bounds: bool, threads: int,
          progress: _Progress) -> tuple[str, tuple[Any, ...]]: ...
def edges(path: str, presync: str, threads: int, progress: _Progress) -> tuple[Any, ...]: ...
def correct(path: str, output: str, presync: str, mode: str, force: bool, verify: bool,
            threads: int, progress: _Progress) -> str: ...
def clock_maps(path: str, presync: str, amortize: bool, threads: int,
               progress: _Progress) -> tuple[list[int], list[ClockMap], int]: ...
def align(clocks: Clocks, cause_clock: _Numbers, cause_time: _Times, effect_clock: _Numbers,
          effect_time: _Times, min_delay: _Times, kind: NDArray[np.uint8], presync: str, bounds: bool,
          threads: int, progress: _Progress) -> tuple[list[ClockMap], str, tuple[Any, ...]]: ...
def align_tables(edges: _Table, clocks: list[_Table], resolution_hz: int, presync: str, bounds: bool,
                 threads: int,
                 progress: _Progress) -> tuple[list[str], list[ClockMap], str, tuple[Any, ...]]: ...
def version() -> str: ...
