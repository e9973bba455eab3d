# SPDX-License-Identifier: BSD-3-Clause
"""One time base for the event traces of parallel programs.

Times are whole ticks in NumPy arrays of int64; a tick is 1 / ``resolution_hz`` seconds. Work runs in
a thread of its own: the GIL is free, Ctrl-C ends it cleanly, and ``progress``, if given, is called
about every 50 ms with ``(phase, done, total)``.

A trace is the path of an OTF2 archive, of a training run or of spans of services, or a list of the
files of one run. Options and reports have the words of the tool as texts; :class:`Presync`,
:class:`WriteMode`, :class:`ExportFormat` and :class:`Verdict` list them.

Errors: ``ValueError`` for input that cannot be used, ``OSError`` for output that cannot be written.

Example: the clock of ``b`` is 50 ticks late.

>>> import numpy as np
>>> sent = np.arange(1000, 101000, 1000)
>>> edges = {"cause_clock": ["a", "b"] * 50, "effect_clock": ["b", "a"] * 50,
...          "cause_time": sent - np.tile([0, 50], 50),
...          "effect_time": sent + 10 - np.tile([50, 0], 50)}
>>> aligned = align(edges)
>>> aligned.report["before"]["violations"], aligned.report["after"]["violations"]
(50, 0)
"""

from . import _core
from ._align import Alignment, align
from ._maps import ClockMap
from ._parts import apply, fit, summarise
from ._traces import (ArchiveMaps, Clocks, Report, Result, Stragglers, check, clock_maps, clocks, compare,
                      correct, export, merge, report, stragglers)
from ._words import KINDS, ExportFormat, Presync, Verdict, WriteMode

__all__ = ["KINDS", "Alignment", "ArchiveMaps", "ClockMap", "Clocks", "ExportFormat", "Presync", "Report",
           "Result", "Stragglers", "Verdict", "WriteMode", "align", "apply", "check", "clock_maps", "clocks",
           "compare", "correct", "export", "fit", "merge", "report", "stragglers", "summarise"]
__version__ = _core.version()
