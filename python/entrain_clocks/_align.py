# SPDX-License-Identifier: BSD-3-Clause
"""Clock maps from edges of any origin."""

import json
import os

import numpy as np

from . import _core
from ._maps import NO_BOUNDS, ClockMap, bounds_of, ticks
from ._tables import (CLOCK_COLUMNS, EDGE_COLUMNS, PLAIN_CLOCKS, PLAIN_EDGES, SESSION_COLUMNS, cell,
                      column_of, csv_of, distinct, has_any, in_order, is_file, names_in, names_of, needed,
                      whole)
from ._words import KINDS, call, shown


class Alignment:
    """The result of :func:`align`.

    ``maps``: by name of the clock, a :class:`ClockMap`. ``report``: a dict, as the tool prints it.
    """

    def __init__(self, names, maps, report, bounds):
        self.clocks = list(names)
        self.maps = {name: ClockMap(m) for name, m in zip(self.clocks, maps)}
        self.report = report
        by_id = bounds_of(bounds)
        ids = _report_ids(self.clocks)
        self._bounds = {name: by_id[i] for name, i in zip(self.clocks, ids) if i in by_id}

    def __getitem__(self, clock):
        return self.maps[clock]

    def __repr__(self):
        before = self.report["before"]["violations"]
        return (f"<alignment of {len(self.clocks)} clocks: {self.report['verdict']}; before, {before} "
                f"edges were violated>")

    def bounds(self, clock):
        """As :meth:`ArchiveMaps.bounds`; empty unless ``align(..., bounds=True)``."""
        return self._bounds.get(clock, NO_BOUNDS)

    def apply(self, table, *, clock, time):
        """Times of a table: int64 of shape (rows,) from its columns ``clock`` and ``time``."""
        names = np.asarray(needed(table, clock, "the rows"))
        stamps = ticks(needed(table, time, "the rows"), time)
        result = np.empty_like(stamps)
        kinds, number = np.unique(names, return_inverse=True)
        order = np.argsort(number, kind="stable")
        ends = np.cumsum(np.bincount(number, minlength=len(kinds)))
        for name, here in zip(kinds.tolist(), np.split(order, ends[:-1])):
            if name not in self.maps:
                raise ValueError(f"there is no clock {shown(name)}")
            result[here] = self.maps[name](stamps[here])
        return result


def _report_ids(names):
    """The numbers by which reports name clocks: their names if these are numbers."""
    texts = [str(name) for name in names]
    plain = all(t.isascii() and t.isdigit() and str(int(t)) == t for t in texts)
    return [int(t) for t in texts] if plain else list(range(len(texts)))


def _align_tables(edges, clocks, sessions, options, **layout):
    if clocks is None and sessions is not None and not is_file(edges):
        clocks = {"clock": names_in(edges)}
    tables = [csv_of(table, PLAIN_CLOCKS + CLOCK_COLUMNS, name)
              for table, name in ((clocks, "the clocks"), (sessions, "the sessions"))
              if table is not None]
    if not tables and is_file(edges):
        beside = os.path.splitext(os.fspath(edges))[0] + ".clocks.csv"
        tables = [(beside, None)] if os.path.exists(beside) else []
    names, maps, report, columns = call(
        _core.align_tables, csv_of(edges, PLAIN_EDGES + EDGE_COLUMNS, "the edges"), tables, options,
        **layout)
    # Names of tables keep their types: 7 is found as 7.
    known = {} if is_file(edges) else {str(cell(name)): cell(name) for name in names_in(edges)}
    if clocks is not None and not is_file(clocks):
        known.update((str(n), n) for n in names_of(needed(clocks, "clock", "the clocks"), "clock"))
    return Alignment([known.get(name, name) for name in names], maps, json.loads(report), columns)


def _clock_names(table, causes, effects):
    if table is not None:
        names = names_of(needed(table, "clock", "the clocks"), "clock")
        known = set()
        for name in names:
            if name in known:
                raise ValueError(f"clock {shown(name)} is described twice")
            known.add(name)
        return names
    return in_order(distinct(causes, "cause_clock") | distinct(effects, "effect_clock"))


def _numbers(values, place):
    """The clocks of edges as positions."""
    array = np.asarray(values)
    if array.dtype == object:  # names of several types have no order
        names, inverse = array.tolist(), slice(None)
    else:
        names, inverse = np.unique(array, return_inverse=True)
        names = names.tolist()
    unknown = [name for name in names if name not in place]
    if unknown:
        raise ValueError(f"clock {shown(unknown[0])} is not in the table of clocks")
    return np.array([place[n] for n in names], dtype=np.uint32)[inverse]


def _kinds(values):
    """Words for kinds of edges as positions in KINDS; words of the user's own count as p2p."""
    if values is None:
        return np.empty(0, dtype=np.uint8)
    names, inverse = np.unique(np.asarray(values).astype(str), return_inverse=True)
    known = [KINDS.index(name) if name in KINDS else 0 for name in names.tolist()]
    return np.array(known, dtype=np.uint8)[inverse]


def _clock_tables(names, clocks, sessions, place):
    """Clocks in the order of their names, and their sessions, as tables."""
    tables = [csv_of({"clock": names} if clocks is None else clocks, PLAIN_CLOCKS, "the clocks")]
    if sessions is not None:
        for column in ("time", "offset"):
            ticks(needed(sessions, column, "the sessions"), column)
        _numbers(needed(sessions, "clock", "the sessions"), place)
        tables.append(csv_of(sessions, ("clock", "time", "offset", "half_width"), "the sessions"))
    return tables


def align(edges, clocks=None, sessions=None, *, resolution_hz=None, unit="", columns="", presync="auto",
          bounds=False, threads=0, progress=None):
    """Finds clock maps from happened-before edges of any origin.

    edges: a dict, pandas frame or structured array with the columns ``cause_clock``,
        ``cause_time``, ``effect_clock``, ``effect_time``, optional ``min_delay`` and ``kind`` (of
        ``KINDS``); all of shape (edges,). Clocks have any name; times are whole ticks >= 0. Arrays of
        int64 are not copied. Or the path of a file of CSV or JSON lines, which may be packed.
    clocks: a table or file with ``clock``, optional ``kind`` ("timer" or "wall") and ``domain``:
        clocks of one domain are one clock. Without it the clocks are those of the edges, or of the
        file ``X.clocks.csv`` beside ``X.csv``.
    sessions: measurements: a table or file with ``clock``, ``time``, ``offset``, ``half_width``.
    resolution_hz: ticks per second; None: as the clocks say, else 10^9.
    unit, columns: of a file: the unit of its numbers ("us"), the names of its columns
        ("cause_clock=src,effect_clock=3").

    All columns of `entrain align` are understood: instances of collectives, ``sync`` ends, exchanges,
    flushes (docs/manual/align.md). Tables with such columns cost some 10 us per row, files 0.5 us.

    Returns an :class:`Alignment`; from files, names of clocks are texts.
    """
    resolution_hz = whole(resolution_hz, "resolution_hz", 2**63 - 1)
    options = _core.RunOptions(presync=presync, bounds=bounds, progress=progress,
                               threads=whole(threads, "threads", 65_536))
    layout = {"unit": unit, "columns": columns}
    if (any(layout.values()) or any(is_file(table) for table in (edges, clocks, sessions))
            or has_any(edges, EDGE_COLUMNS) or has_any(clocks, CLOCK_COLUMNS)
            or has_any(sessions, SESSION_COLUMNS)):
        return _align_tables(edges, clocks, sessions, options, resolution_hz=resolution_hz, **layout)
    ends = ("cause_clock", "cause_time", "effect_clock", "effect_time")
    for name in ends:
        if column_of(edges, name) is None:
            raise ValueError(f"the edges have no column {name}")
    causes, effects = column_of(edges, "cause_clock"), column_of(edges, "effect_clock")
    names = _clock_names(clocks, causes, effects)
    place = {name: i for i, name in enumerate(names)}
    delays = column_of(edges, "min_delay")
    core = _core.Edges()
    core.cause_clock = _numbers(causes, place)
    core.cause_time = ticks(column_of(edges, "cause_time"), "cause_time")
    core.effect_clock = _numbers(effects, place)
    core.effect_time = ticks(column_of(edges, "effect_time"), "effect_time")
    if delays is not None:
        core.min_delay = ticks(delays, "min_delay")
    core.kind = _kinds(column_of(edges, "kind"))
    maps, report, proved = call(_core.align, _clock_tables(names, clocks, sessions, place), core, options,
                                resolution_hz)
    return Alignment(names, maps, json.loads(report), proved)
