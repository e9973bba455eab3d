# SPDX-License-Identifier: BSD-3-Clause
"""One time base for the event traces of parallel programs.

Times are whole ticks in NumPy arrays of int64; a tick is 1 / ``resolution_hz`` seconds. Work runs in
a thread of its own: the GIL is free, Ctrl-C ends it cleanly, and ``progress``, if given, is called
about every 50 ms with ``(phase, done, total)``.

A trace is the path of an OTF2 archive, or of files of a training run or of spans of services. Options and reports have the words of the tool as texts;
:class:`Presync`, :class:`WriteMode`, :class:`ExportFormat` and :class:`Verdict` list them.

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

import io as _io
import json as _json
import os as _os
from collections.abc import Mapping as _Mapping
from csv import writer as _writer
from enum import Enum as _Enum

import numpy as _np

from . import _core

__all__ = ["Alignment", "ArchiveMaps", "ClockMap", "ExportFormat", "Presync", "Report", "Verdict",
           "WriteMode", "align", "check", "clock_maps", "clocks",
           "compare", "correct", "export"]
__version__ = _core.version()

_KINDS = ["p2p", "one_to_n", "n_to_one", "n_to_n", "scan", "thread", "rma", "init_finalize"]
_EDGE = _np.dtype([("cause_clock", "u4"), ("cause_time", "i8"), ("effect_clock", "u4"),
                   ("effect_time", "i8"), ("kind", "u1"), ("margin", "i8")])
_BOUND = _np.dtype([("tick", "i8"), ("time", "i8"), ("earliest", "i8"), ("latest", "i8"),
                    ("bound", "i8"), ("bounded", "?")])


class _Word(str, _Enum):
    """A word of the tool, which equals its text and can replace it."""

    __str__ = str.__str__


class Presync(_Word):
    """How stored stamps become the times to start from; in reports, how they did."""

    AUTO = "auto"
    NONE = "none"
    LINEAR = "linear"
    REGRESSION = "regression"
    SPLINE = "spline"
    CAUSAL = "causal"


class WriteMode(_Word):
    """The form of a corrected archive: self-contained, or clock maps and links to the original."""

    REWRITE = "rewrite"
    OVERLAY = "overlay"


class ExportFormat(_Word):
    """What :func:`export` writes."""

    PERFETTO = "perfetto"
    CHROME = "chrome"
    CSV = "csv"


class Verdict(_Word):
    """``report["verdict"]``: the result of a check."""

    VIOLATIONS = "violations"
    CLEAN = "clean"
    UNPROVEN = "unproven"


def _ticks(values, name):
    """Whole ticks as a contiguous array of int64 with one axis; copies only what is none."""
    array = _np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes; give one number per element")
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"{name} has the type {array.dtype}; times are whole ticks (int64)")
    if array.dtype == _np.uint64 and array.size > 0 and int(array.max()) >= 2**63:
        raise ValueError(f"{name} has a time of 2^63 or more")
    return _np.ascontiguousarray(array, dtype=_np.int64)


def _shown(value):
    """A value in a sentence: short, and on one line."""
    try:
        text = repr(value)
    except ValueError:  # a number of thousands of digits
        text = type(value).__name__
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= 60 else text[:57] + "..."


class ClockMap:
    """A piecewise-linear function from the stamps of a clock to common time, both in ticks."""

    def __init__(self, core):
        self._core = core

    def __call__(self, stamps):
        """Times of ``stamps``: an int, or an array of shape (n,) of whole ticks >= 0."""
        if _np.ndim(stamps) == 0:
            return int(self(_np.array([stamps]))[0])
        return self._core.apply(_ticks(stamps, "stamps"))

    @property
    def knots(self):
        """(ticks, offsets): two int64 arrays of shape (k,). Fewer than two knots: the identity."""
        return self._core.knots()

    def __eq__(self, other):
        return isinstance(other, ClockMap) and self._core == other._core

    __hash__ = None


def _bounds(columns):
    """Per location, in their order, an array of _BOUND."""
    location, *values = columns
    result = {}
    # Rows of a location stand together.
    firsts = _np.flatnonzero(_np.diff(location, prepend=location[:1] - 1))
    for first, end in zip(firsts, [*firsts[1:], len(location)]):
        rows = _np.empty(end - first, dtype=_BOUND)
        for name, column in zip(_BOUND.names, values):
            rows[name] = column[first:end]
        result[int(location[first])] = rows
    return result


class ArchiveMaps(_Mapping):
    """The clock maps of a trace: ``maps[clock](stamps)``.

    Clocks are OTF2 location ids; in training runs and spans they are names of ranks and hosts.
    """

    def __init__(self, path, options, core):
        locations, maps, self.resolution_hz = core
        self._path, self._options, self._bounds = path, options, None
        self._maps = {one: ClockMap(m) for one, m in zip(locations, maps)}

    def __getitem__(self, location):
        return self._maps[location]

    def __iter__(self):
        return iter(self._maps)

    def __len__(self):
        return len(self._maps)

    def __repr__(self):
        return f"<clock maps of {_shown(self._path)}: {len(self)} clocks>"

    def bounds(self, location):
        """How wrong the measured times of a location may be, per slice of the run.

        A structured array of shape (windows,): ``tick`` (a stamp), its ``time``, the ``earliest``
        and ``latest`` time possible, ``bound`` (largest error) in ticks, ``bounded``.
        """
        if self._bounds is None:
            text, columns = _core.check(self._path, _core.RunOptions(bounds=True, **self._options))
            self._bounds = _bounds(columns)
        if isinstance(location, str):
            location = list(self._maps).index(location)
        return self._bounds.get(location, _np.empty(0, dtype=_BOUND))


class Report(dict):
    """The report of a check as the tool prints it with ``--json``, and the edges behind it."""

    def __init__(self, path, options, document):
        super().__init__(document)
        self._path, self._options, self._read = path, options, None

    def __repr__(self):
        return (f"<check of {_shown(self._path)}: {self['verdict']}, {self['violations']} of "
                f"{self['checked_edges']} edges violated>")

    def _edges(self):
        if self._read is None:
            self._read = _core.edges(self._path, _core.RunOptions(**self._options))
        return self._read

    @property
    def locations(self):
        """OTF2 location ids; the clocks of ``edges()`` are positions in this list."""
        return [int(name) for name in self._edges()[0]]

    @property
    def processes(self):
        """Names of the processes, as ``violations()`` counts them."""
        return list(dict.fromkeys(self._edges()[1]))

    def edges(self):
        """All single edges, a structured array of shape (edges,).

        Fields: ``cause_clock``, ``cause_time``, ``effect_clock``, ``effect_time`` (stored ticks),
        ``kind`` (position in ``KINDS``), ``margin`` (ticks; negative: violated).
        """
        columns = self._edges()[2:]
        array = _np.empty(len(columns[0]), dtype=_EDGE)
        for name, column in zip(_EDGE.names, columns):
            array[name] = column
        return array

    def violations(self):
        """Violated single edges, int64 of shape (processes, processes): [cause, effect]."""
        names = {name: i for i, name in enumerate(self.processes)}
        process = _np.array([names[name] for name in self._edges()[1]], dtype=_np.int64)
        bad = self.edges()
        bad = bad[bad["margin"] < 0]
        matrix = _np.zeros((len(names), len(names)), dtype=_np.int64)
        _np.add.at(matrix, (process[bad["cause_clock"]], process[bad["effect_clock"]]), 1)
        return matrix


KINDS = tuple(_KINDS)


def check(path, *, presync="auto", threads=0, progress=None):
    """Finds violations in a trace, and changes nothing. Returns a :class:`Report`.

    presync: one of :class:`Presync`. threads: 0: all cores.
    """
    options = {"presync": presync, "threads": threads, "progress": progress}
    text, _ = _core.check(_os.fsdecode(path), _core.RunOptions(**options))
    return Report(_os.fsdecode(path), options, _json.loads(text))


def correct(path, out, *, presync="auto", mode="rewrite", force=False, verify=True, threads=0,
            progress=None):
    """Writes a corrected copy of a trace into the new folder ``out``. Returns the report, a dict.

    mode: one of :class:`WriteMode`. force: replace an unchanged earlier result. verify: read the
        result back and check it.
    """
    options = _core.RunOptions(presync=presync, threads=threads, progress=progress)
    return _json.loads(_core.correct(_os.fsdecode(path), _os.fsdecode(out), mode=mode, force=force,
                                     verify=verify, options=options))


def clock_maps(path, *, presync="auto", amortize=True, threads=0, progress=None):
    """The maps of a correction of a trace, without writing. Returns :class:`ArchiveMaps`.

    amortize: False: the presync alone.
    """
    options = {"presync": presync, "threads": threads, "progress": progress}
    core = _core.clock_maps(_os.fsdecode(path), amortize=amortize,
                            options=_core.RunOptions(**options))
    return ArchiveMaps(_os.fsdecode(path), options, core)


_CLOCK_TEXTS = ("clock", "machine", "state", "worst_with")
_CLOCK_COUNTS = ("edges", "violations")


def clocks(path, *, presync="auto", threads=0, progress=None):
    """Whose clock is wrong, by how much, and how certain that is.

    Returns a table, a dict of arrays of shape (clocks,), the wrong ones first:
    ``pandas.DataFrame(clocks(path))``. ``clock``, ``machine``, ``state`` ("right", "slow", "fast",
    "stepped", "bent", "untied"), ``worst_with`` are texts. ``offset_s`` and ``drift_ppm`` are what the
    clock lacks: positive for a slow one; ``most_s`` is the largest size of the offset. ``bound_s``,
    ``worst_bound_s``: median and largest error that the offset can have. ``since_s``: when it was set.
    ``edges``, ``violations``, ``worst_s``: the evidence. NaN and "" where nothing is known.
    """
    options = _core.RunOptions(presync=presync, threads=threads, progress=progress)
    rows = _json.loads(_core.clocks(_os.fsdecode(path), options))["clocks"]
    return {name: _clock_column(name, [row[name] for row in rows]) for name in _CLOCK_COLUMNS_SHOWN}


_CLOCK_COLUMNS_SHOWN = ("clock", "machine", "state", "offset_s", "most_s", "drift_ppm", "bound_s",
                        "worst_bound_s", "since_s", "edges", "violations", "worst_s", "worst_with")


def _clock_column(name, values):
    if name in _CLOCK_TEXTS:
        return _np.array([value or "" for value in values], dtype=str)
    if name in _CLOCK_COUNTS:
        return _np.array(values, dtype=_np.int64)
    return _np.array([_np.nan if value is None else value for value in values], dtype=float)


def compare(a, b, truth=None, *, raw_a=False, threads=0, progress=None):
    """Compares the times of two versions of one trace, event for event.

    truth: a third version, with correct times; then the report has the errors of both. raw_a: the
        stamps of ``a`` count as stored, without its ClockOffset records.

    Returns the report, a dict. Times are in seconds; differences are b - a.
    """
    options = _core.RunOptions(threads=threads, progress=progress)
    truth = None if truth is None else _os.fsdecode(truth)
    return _json.loads(_core.compare(_os.fsdecode(a), _os.fsdecode(b), truth=truth, raw_a=raw_a,
                                     options=options))


def export(path, out, *, format="perfetto", from_s=None, to_s=None, around=None, window_s=0.01,
           both=False, force=False, presync="auto", threads=0, progress=None):
    """Writes the new file ``out`` for a viewer of traces, or a table of edges (``"csv"``).

    format: one of :class:`ExportFormat`. from_s, to_s: the part that is written, seconds since the
        first event. around: only ``window_s`` seconds around that many of the worst edges. both:
        also the times that :func:`correct` would write.

    Returns the report, a dict.
    """
    selection = _core.ExportOptions()
    selection.from_s, selection.to_s, selection.around = from_s, to_s, around
    selection.window_s, selection.both, selection.force = window_s, both, force
    options = _core.RunOptions(presync=presync, threads=threads, progress=progress)
    return _json.loads(_core.export_trace(_os.fsdecode(path), _os.fsdecode(out), format=format,
                                          selection=selection, options=options))


class Alignment:
    """The result of :func:`align`.

    ``maps``: by name of the clock, a :class:`ClockMap`. ``report``: a dict, as the tool prints it.
    """

    def __init__(self, names, maps, report, bounds):
        self.clocks = list(names)
        self.maps = {name: ClockMap(m) for name, m in zip(self.clocks, maps)}
        self.report = report
        by_id = _bounds(bounds)
        ids = _report_ids(self.clocks)
        self._bounds = {name: by_id[i] for name, i in zip(self.clocks, ids) if i in by_id}

    def __getitem__(self, clock):
        return self.maps[clock]

    def __repr__(self):
        return f"<alignment of {len(self.clocks)} clocks: {self.report['verdict']}>"

    def bounds(self, clock):
        """As :meth:`ArchiveMaps.bounds`; empty unless ``align(..., bounds=True)``."""
        return self._bounds.get(clock, _np.empty(0, dtype=_BOUND))

    def apply(self, table, *, clock, time):
        """Times of a table: int64 of shape (rows,) from its columns ``clock`` and ``time``."""
        names = _np.asarray(_needed(table, clock, "the rows"))
        stamps = _ticks(_needed(table, time, "the rows"), time)
        result = _np.empty_like(stamps)
        kinds, number = _np.unique(names, return_inverse=True)
        order = _np.argsort(number, kind="stable")
        ends = _np.cumsum(_np.bincount(number, minlength=len(kinds)))
        for name, here in zip(kinds.tolist(), _np.split(order, ends[:-1])):
            if name not in self.maps:
                raise ValueError(f"there is no clock {_shown(name)}")
            result[here] = self.maps[name](stamps[here])
        return result


def _report_ids(names):
    """The numbers by which reports name clocks: their names if these are numbers."""
    texts = [str(name) for name in names]
    plain = all(t.isascii() and t.isdigit() and str(int(t)) == t for t in texts)
    return [int(t) for t in texts] if plain else list(range(len(texts)))


def _whole(value, name, most):
    """A whole number from 0 to `most`; None counts as 0."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, _np.integer)):
        raise ValueError(f"{name} is {_shown(value)}; give a whole number")
    if not 0 <= value <= most:
        raise ValueError(f"{name} is {_shown(value)}; give a number from 0 to {most}")
    return int(value)


def _column(table, name):
    if not hasattr(table, "__getitem__") or isinstance(table, (str, bytes, list, tuple)):
        raise ValueError(f"a table is a dict, a frame, a structured array or the path of a file, not "
                         f"{type(table).__name__}")
    if hasattr(table, "dtype") and getattr(table.dtype, "names", None):
        return table[name] if name in table.dtype.names else None
    return table[name] if name in table else None


# Columns that say more than arrays of plain edges do: such tables go through the reader of the tool.
_EDGE_COLUMNS = ("instance", "role", "rank", "sync", "clock", "begin", "end")
_CLOCK_COLUMNS = ("process", "machine", "resolution_hz", "first", "last", "granule", "corrected",
                  "time", "offset", "half_width", "round_trip", "kept", "flush_begin", "flush_end")
_SESSION_COLUMNS = ("round_trip", "kept")
_PLAIN_EDGES = ("cause_clock", "cause_time", "effect_clock", "effect_time", "min_delay", "kind")
_PLAIN_CLOCKS = ("clock", "kind", "domain")


def _is_file(table):
    return isinstance(table, (str, _os.PathLike))


def _needed(table, name, what):
    """A column that must be there."""
    values = _column(table, name)
    if values is None:
        raise ValueError(f"{what} have no column {_shown(name).strip(chr(39))}")
    return values


def _names(values, name):
    """Names of clocks: a list of texts and numbers."""
    array = _np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes; give one name per element")
    names = array.tolist()
    for one in names if array.dtype == object else ():
        if not isinstance(one, (str, int, float, bytes, type(None))) and _cell(one) != "":
            raise ValueError(f"{name} has the name {_shown(one)}; names are texts or numbers")
    return names


def _distinct(values, name):
    """The set of the names in a column."""
    array = _np.asarray(values)
    if array.dtype == object or array.ndim != 1:
        return set(_names(array, name))
    return set(_np.unique(array).tolist())


def _has_any(table, columns):
    return table is not None and any(_column(table, name) is not None for name in columns)


def _cell(value):
    """A cell of CSV. Missing ones are None, NaN or pandas.NA."""
    if value is None or type(value).__name__ == "NAType":
        return ""
    if isinstance(value, float):
        if value != value:
            return ""
        # A column of whole numbers of which some are missing is one of floats in pandas.
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
    return value


def _csv(table, columns, name):
    """A table as the tool reads it: (name, text), or (path, None) for a file."""
    if _is_file(table):
        return _os.fspath(table), None
    found = [(one, _column(table, one)) for one in columns]
    found = [(one, _names(values, one)) for one, values in found if values is not None]
    if len({len(values) for _, values in found}) > 1:
        raise ValueError(f"the columns of {name} have different lengths")
    text = _io.StringIO()
    writer = _writer(text, lineterminator="\n")
    writer.writerow(one for one, _ in found)
    writer.writerows([_cell(value) for value in row] for row in zip(*(v for _, v in found)))
    try:
        text.getvalue().encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} have a text that is no UTF-8: {error.object[error.start]!r}") from None
    return name, text.getvalue()


def _names_in(edges):
    """All clocks that a table of edges names, as :func:`_clock_names` orders them."""
    names = set()
    for column in ("cause_clock", "effect_clock", "clock"):
        values = _column(edges, column)
        if values is not None:
            names.update(n for n in _names(values, column) if _cell(n) != "")
    return _in_order(names)


def _align_tables(edges, clocks, sessions, resolution_hz, options):
    if clocks is None and sessions is not None and not _is_file(edges):
        clocks = {"clock": _names_in(edges)}
    tables = [_csv(table, _PLAIN_CLOCKS + _CLOCK_COLUMNS, name)
              for table, name in ((clocks, "the clocks"), (sessions, "the sessions"))
              if table is not None]
    if not tables and _is_file(edges):
        beside = _os.path.splitext(_os.fspath(edges))[0] + ".clocks.csv"
        tables = [(beside, None)] if _os.path.exists(beside) else []
    names, maps, report, columns = _core.align_tables(
        _csv(edges, _PLAIN_EDGES + _EDGE_COLUMNS, "the edges"), tables, resolution_hz or 0, options)
    # Names of tables keep their types: 7 is found as 7.
    known = {} if _is_file(edges) else {str(_cell(name)): _cell(name) for name in _names_in(edges)}
    if clocks is not None and not _is_file(clocks):
        known.update((str(n), n) for n in _names(_needed(clocks, "clock", "the clocks"), "clock"))
    return Alignment([known.get(name, name) for name in names], maps, _json.loads(report), columns)


def _clock_names(table, causes, effects):
    if table is not None:
        names = _names(_needed(table, "clock", "the clocks"), "clock")
        known = set()
        for name in names:
            if name in known:
                raise ValueError(f"clock {_shown(name)} is described twice")
            known.add(name)
        return names
    return _in_order(_distinct(causes, "cause_clock") | _distinct(effects, "effect_clock"))


def _in_order(names):
    """As `entrain align` orders them: numbers first, by value."""
    return sorted(names, key=lambda name: (_number_of(name) is None, _number_of(name) or 0, str(name)))


def _number_of(name):
    text = str(name)
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else None


def _numbers(values, place):
    """The clocks of edges as positions."""
    array = _np.asarray(values)
    if array.dtype == object:  # names of several types have no order
        names, inverse = array.tolist(), slice(None)
    else:
        names, inverse = _np.unique(array, return_inverse=True)
        names = names.tolist()
    unknown = [name for name in names if name not in place]
    if unknown:
        raise ValueError(f"clock {_shown(unknown[0])} is not in the table of clocks")
    return _np.array([place[n] for n in names], dtype=_np.uint32)[inverse]


def _kinds(values):
    """Words for kinds of edges as positions in KINDS; words of the user's own count as p2p."""
    if values is None:
        return _np.empty(0, dtype=_np.uint8)
    names, inverse = _np.unique(_np.asarray(values).astype(str), return_inverse=True)
    known = [_KINDS.index(name) if name in _KINDS else 0 for name in names.tolist()]
    return _np.array(known, dtype=_np.uint8)[inverse]


def _core_clocks(names, table, sessions, resolution_hz):
    clocks = _core.Clocks()
    texts = [str(name) for name in names]
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the name of clock {_shown(text)} is no UTF-8") from None
    clocks.names = texts
    clocks.resolution_hz = resolution_hz
    if table is not None:
        place = {name: i for i, name in enumerate(names)}
        order = [place[name] for name in _names(_column(table, "clock"), "clock")]
        for column, member in (("kind", "kinds"), ("domain", "domains")):
            values = _column(table, column)
            if values is None:
                continue
            texts = [""] * len(names)
            for i, value in zip(order, _np.asarray(values).tolist()):
                texts[i] = "" if value is None else str(value)
            setattr(clocks, member, texts)
    if sessions is not None:
        place = {name: i for i, name in enumerate(names)}
        time = _ticks(_needed(sessions, "time", "the sessions"), "time")
        order = _np.argsort(time, kind="stable")
        width = _column(sessions, "half_width")
        width = _np.zeros(len(time)) if width is None else _np.asarray(width, dtype=float)
        clock = _np.asarray(_needed(sessions, "clock", "the sessions"))
        offset = _ticks(_needed(sessions, "offset", "the sessions"), "offset")
        if not len(clock) == len(time) == len(offset) == len(width):
            raise ValueError("the columns of the sessions have different lengths")
        clocks.session_clock = _numbers(clock, place)[order]
        clocks.session_time = time[order]
        clocks.session_offset = offset[order]
        clocks.session_half_width = width[order]
    return clocks


def align(edges, clocks=None, sessions=None, *, resolution_hz=None, presync="auto", bounds=False,
          threads=0, progress=None):
    """Finds clock maps from happened-before edges of any origin.

    edges: a dict, pandas frame or structured array with the columns ``cause_clock``,
        ``cause_time``, ``effect_clock``, ``effect_time``, optional ``min_delay`` and ``kind`` (of
        ``KINDS``); all of shape (edges,). Clocks have any name; times are whole ticks >= 0. Arrays of int64 are not copied.
        Or the path of a file of CSV or JSON lines.
    clocks: a table or file with ``clock``, optional ``kind`` ("timer" or "wall") and ``domain``:
        clocks of one domain are one clock. Without it the clocks are those of the edges, or of the
        file ``X.clocks.csv`` beside ``X.csv``.
    sessions: measurements: a table or file with ``clock``, ``time``, ``offset``, ``half_width``.
    resolution_hz: ticks per second; None: as the clocks say, else 10^9.

    All columns of `entrain align` are understood: instances of collectives, ``sync`` ends, exchanges,
    flushes (docs/manual/align.md). Tables with such columns cost some 10 us per row, files 0.5 us.

    Returns an :class:`Alignment`; from files, names of clocks are texts.
    """
    resolution_hz = _whole(resolution_hz, "resolution_hz", 2**63 - 1)
    options = _core.RunOptions(presync=presync, bounds=bounds, progress=progress,
                               threads=_whole(threads, "threads", 65_536))
    if (any(_is_file(table) for table in (edges, clocks, sessions))
            or _has_any(edges, _EDGE_COLUMNS) or _has_any(clocks, _CLOCK_COLUMNS)
            or _has_any(sessions, _SESSION_COLUMNS)):
        return _align_tables(edges, clocks, sessions, resolution_hz, options)
    ends = ("cause_clock", "cause_time", "effect_clock", "effect_time")
    for name in ends:
        if _column(edges, name) is None:
            raise ValueError(f"the edges have no column {name}")
    causes, effects = _column(edges, "cause_clock"), _column(edges, "effect_clock")
    names = _clock_names(clocks, causes, effects)
    place = {name: i for i, name in enumerate(names)}
    delays = _column(edges, "min_delay")
    core_clocks = _core_clocks(names, clocks, sessions, resolution_hz or 1_000_000_000)
    core = _core.Edges()
    core.cause_clock = _numbers(causes, place)
    core.cause_time = _ticks(_column(edges, "cause_time"), "cause_time")
    core.effect_clock = _numbers(effects, place)
    core.effect_time = _ticks(_column(edges, "effect_time"), "effect_time")
    if delays is not None:
        core.min_delay = _ticks(delays, "min_delay")
    core.kind = _kinds(_column(edges, "kind"))
    maps, report, columns = _core.align(core_clocks, core, options)
    return Alignment(names, maps, _json.loads(report), columns)
