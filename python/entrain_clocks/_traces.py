# SPDX-License-Identifier: BSD-3-Clause
"""What the tool does with traces."""

import json
import os
from collections.abc import Mapping

import numpy as np

from . import _core
from ._maps import NO_BOUNDS, ClockMap, bounds_of
from ._words import call, shown

_EDGE = np.dtype([("cause_clock", "u4"), ("cause_time", "i8"), ("effect_clock", "u4"),
                  ("effect_time", "i8"), ("kind", "u1"), ("margin", "i8"), ("instance", "i8")])


def _paths(path):
    """The paths of a trace: one, or those of the files of one run."""
    return [os.fsdecode(one) for one in path] if isinstance(path, (list, tuple)) else [os.fsdecode(path)]


def _options(presync="auto", threads=0, progress=None, max_unpacked=None):
    return {"presync": presync, "threads": threads, "progress": progress,
            "max_unpacked": max_unpacked or 0}


class Result(dict):
    """A report as the tool prints it with ``--json``."""

    def __init__(self, document, line):
        super().__init__(document)
        self._line = line

    def __repr__(self):
        return f"<{self._line}>"


class Report(Result):
    """The report of a check, and the edges behind it."""

    def __init__(self, paths, options, document):
        super().__init__(document, f"check of {_named(paths)}: {document['verdict']}, "
                                   f"{document['violations']} of {document['checked_edges']} edges "
                                   f"violated")
        self._paths, self._options, self._read = paths, options, None

    def _edges(self):
        if self._read is None:
            self._read = call(_core.edges, self._paths, _core.RunOptions(**self._options))
        return self._read

    @property
    def locations(self):
        """OTF2 location ids, or names of ranks and hosts; the clocks of ``edges()`` are positions in
        this list."""
        return list(self._edges()[0])

    @property
    def processes(self):
        """Names of the processes, as ``violations()`` counts them."""
        return list(dict.fromkeys(self._edges()[1]))

    def edges(self):
        """All messages, and per end of a collective the edge from the last begin that it waits for.

        A structured array of shape (edges,): ``cause_clock``, ``cause_time``, ``effect_clock``,
        ``effect_time`` (stored ticks), ``kind`` (position in ``KINDS``), ``margin`` (ticks; negative:
        violated), ``instance`` (number of the collective; -1: a message).
        """
        columns = self._edges()[2:]
        array = np.empty(len(columns[0]), dtype=_EDGE)
        for name, column in zip(_EDGE.names, columns):
            array[name] = column
        return array

    def violations(self):
        """Violated edges of ``edges()``, int64 of shape (processes, processes): [cause, effect]."""
        names = {name: i for i, name in enumerate(self.processes)}
        process = np.array([names[name] for name in self._edges()[1]], dtype=np.int64)
        bad = self.edges()
        bad = bad[bad["margin"] < 0]
        matrix = np.zeros((len(names), len(names)), dtype=np.int64)
        np.add.at(matrix, (process[bad["cause_clock"]], process[bad["effect_clock"]]), 1)
        return matrix


class ArchiveMaps(Mapping):
    """The clock maps of a trace: ``maps[clock](stamps)``.

    Clocks are OTF2 location ids; in training runs and spans they are names of ranks and hosts.
    """

    def __init__(self, paths, options, core):
        locations, maps, self.resolution_hz = core
        self._paths, self._options, self._bounds = paths, options, None
        self._maps = {one: ClockMap(m) for one, m in zip(locations, maps)}

    def __getitem__(self, location):
        return self._maps[location]

    def __iter__(self):
        return iter(self._maps)

    def __len__(self):
        return len(self._maps)

    def __repr__(self):
        return f"<clock maps of {_named(self._paths)}: {len(self)} clocks>"

    def bounds(self, location):
        """How wrong the measured times of a location may be, per slice of the run.

        A structured array of shape (windows,): ``tick`` (a stamp), its ``time``, the ``earliest``
        and ``latest`` time possible, ``bound`` (largest error) in ticks, ``bounded``.
        """
        if self._bounds is None:
            options = _core.RunOptions(bounds=True, **self._options)
            self._bounds = bounds_of(call(_core.check, self._paths, options)[1])
        if isinstance(location, str):
            location = list(self._maps).index(location)
        return self._bounds.get(location, NO_BOUNDS)


class Clocks(dict):
    """A table of clocks, a dict of arrays, with the ``verdict`` of a check and the ``reference``."""

    def __init__(self, paths, document):
        rows = document["clocks"]
        super().__init__((name, _column(name, [row[name] for row in rows])) for name in _COLUMNS)
        self.verdict, self.reference = document["verdict"], document["reference"]
        self._paths = paths

    def __repr__(self):
        wrong = [i for i, state in enumerate(self["state"]) if state not in ("right", "untied")]
        told = [f"{self['clock'][i]} {self['state'][i]} by {abs(self['offset_s'][i]):.3g} s"
                for i in wrong[:3]]
        more = [f"{len(wrong) - 3} more"] if len(wrong) > 3 else []
        said = ", ".join(told + more) if wrong else "no clock is known to be wrong"
        return f"<{len(self['clock'])} clocks of {_named(self._paths)}: {self.verdict}; {said}>"


class Stragglers(dict):
    """A table of ranks, a dict of arrays, with the whole ``report`` as ``entrain stragglers --json``."""

    def __init__(self, paths, document):
        rows, seconds = document["ranks"], ("wait_s", "alone_s", "longest_s", "likely_wait_s")
        kinds = {"rank": str, **dict.fromkeys(("collectives", "last"), np.int64),
                 **dict.fromkeys(seconds[:3], float), **dict.fromkeys(("ties", "likely"), np.int64),
                 seconds[3]: float}
        super().__init__((name, np.array([row[name] for row in rows], dtype=kind))
                         for name, kind in kinds.items())
        self.verdict, self.report, self._paths = document["verdict"], document, paths

    def __repr__(self):
        late = ", ".join(self.report["stragglers"][:3]) or "no rank"
        said = "no last arrival is proved" if self.verdict == "unproven" else f"{late} stands out"
        return f"<{self.report['collectives']} collectives of {_named(self._paths)}: {said}>"


_COLUMNS = ("clock", "machine", "state", "offset_s", "most_s", "drift_ppm", "bound_s", "worst_bound_s",
            "since_s", "edges", "violations", "worst_s", "worst_with", "maybe_only")
_TEXTS = ("clock", "machine", "state", "worst_with", "maybe_only")
_COUNTS = ("edges", "violations")


def _column(name, values):
    if name in _TEXTS:
        return np.array([value or "" for value in values], dtype=str)
    if name in _COUNTS:
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _named(paths):
    return shown(paths[0]) if len(paths) == 1 else f"{shown(paths[0])} and {len(paths) - 1} more"


def check(path, *, presync="auto", threads=0, progress=None, max_unpacked=None):
    """Finds violations in a trace, and changes nothing. Returns a :class:`Report`.

    presync: one of :class:`Presync`. threads: 0: all cores. max_unpacked: the most bytes that a packed
        file may hold; None: a limit that follows from its size.
    """
    paths, options = _paths(path), _options(presync, threads, progress, max_unpacked)
    text, _ = call(_core.check, paths, _core.RunOptions(**options))
    return Report(paths, options, json.loads(text))


def correct(path, out, *, presync="auto", mode="rewrite", force=False, verify=True, mark_offsets=False,
            threads=0, progress=None, max_unpacked=None):
    """Writes a corrected copy of a trace into the new folder ``out``. Returns the report, a dict.

    A single file of JSON becomes a file where ``out`` ends in .json, .jsonl or .ndjson (and .gz or .zst
    as the input is packed).

    mode: one of :class:`WriteMode`. force: replace an unchanged earlier result. verify: read the
        result back and check it. mark_offsets: spans get an attribute with the offset.
    """
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    document = json.loads(call(_core.correct, paths, os.fsdecode(out), mode=mode, force=force,
                               verify=verify, mark_offsets=mark_offsets, options=options))
    before = document["before"]["violations"] if document["before"] else 0
    verdict = document["verdict"] or "not verified"
    return Result(document, f"correction of {_named(paths)}: {verdict}; before, {before} edges were "
                            f"violated")


def report(path, out, *, presync="auto", force=False, threads=0, progress=None, max_unpacked=None):
    """Writes a page for a browser to the new file ``out``, with bounds; corrects nothing.

    Returns the report of the correction that :func:`correct` would make, a dict.
    """
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    document = json.loads(call(_core.report, paths, os.fsdecode(out), force, options))
    return Result(document, f"page of {_named(paths)}: {document['before']['verdict']}, in "
                            f"{shown(os.fsdecode(out))}")


def clock_maps(path, *, presync="auto", amortize=True, threads=0, progress=None, max_unpacked=None):
    """The maps of a correction of a trace, without writing. Returns :class:`ArchiveMaps`.

    amortize: False: the presync alone.
    """
    paths, options = _paths(path), _options(presync, threads, progress, max_unpacked)
    core = call(_core.clock_maps, paths, amortize=amortize, options=_core.RunOptions(**options))
    return ArchiveMaps(paths, options, core)


def clocks(path, *, presync="auto", threads=0, progress=None, max_unpacked=None):
    """Whose clock is wrong, by how much, and how certain that is.

    Returns :class:`Clocks`, a dict of arrays of shape (clocks,), the wrong ones first:
    ``pandas.DataFrame(clocks(path))``. ``clock``, ``machine``, ``state`` ("right", "slow", "fast",
    "stepped", "bent", "untied"), ``worst_with``, ``maybe_only`` are texts. ``offset_s`` and ``drift_ppm``
    are what the clock lacks: positive for a slow one; ``most_s`` is the largest size of the offset.
    ``bound_s``, ``worst_bound_s``: median and largest error that the offset can have. ``since_s``: when
    it was set. ``edges``, ``violations``, ``worst_s``: the evidence. ``maybe_only``: those of several
    clocks in one, as the device of a rank, that alone may be wrong. NaN and "" where nothing is known.
    """
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    return Clocks(paths, json.loads(call(_core.clocks, paths, options)))


def stragglers(path, *, presync="auto", threads=0, progress=None, max_unpacked=None):
    """Who comes late to collectives, by corrected times, and how long the others wait.

    Returns :class:`Stragglers`, a dict of arrays of shape (ranks,), those that cause most waits first:
    ``rank``, ``collectives`` (in which others may wait for it), ``last`` (proved by the bounds of the
    clocks), ``wait_s`` (summed over all who wait), ``alone_s`` (only this one was missing),
    ``longest_s``, ``ties`` (it may have been last), ``likely`` and ``likely_wait_s`` (last by its time,
    without a proof). presync: ``"none"`` takes the times as recorded, and proves nothing.
    """
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    return Stragglers(paths, json.loads(call(_core.stragglers, paths, options)))


def compare(a, b, truth=None, *, raw_a=False, threads=0, progress=None):
    """Compares the times of two versions of one trace, event for event.

    truth: a third version, with correct times; then the report has the errors of both. raw_a: the
        stamps of ``a`` count as stored, without its ClockOffset records.

    Returns the report, a dict. Times are in seconds; differences are b - a.
    """
    options = _core.RunOptions(threads=threads, progress=progress)
    truth = None if truth is None else os.fsdecode(truth)
    document = json.loads(call(_core.compare, os.fsdecode(a), os.fsdecode(b), truth=truth, raw_a=raw_a,
                               options=options))
    return Result(document, f"comparison of {shown(os.fsdecode(a))} and {shown(os.fsdecode(b))}: times "
                            f"differ by up to {document['all']['max_s']:.3g} s")


def export(path, out, *, format="perfetto", from_s=None, to_s=None, around=None, window_s=0.01,
           both=False, corrected=False, force=False, presync="auto", threads=0, progress=None, max_unpacked=None):
    """Writes the new file ``out`` for a viewer of traces, or a table of edges (``"csv"``).

    format: one of :class:`ExportFormat`. from_s, to_s: the part that is written, seconds since the
        first event. around: only ``window_s`` seconds around that many of the worst edges. both:
        also the times that :func:`correct` would write; corrected: these alone.

    Returns the report, a dict.
    """
    selection = _core.ExportOptions()
    selection.from_s, selection.to_s, selection.around = from_s, to_s, around
    selection.window_s, selection.both, selection.force = window_s, both, force
    selection.corrected = corrected
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    document = json.loads(call(_core.export_trace, paths, os.fsdecode(out), format=format,
                               selection=selection, options=options))
    return Result(document, f"export of {_named(paths)} as {document['format']}: {document['bytes']} bytes")


def merge(path, out, *, force=False, presync="auto", threads=0, progress=None, max_unpacked=None):
    """Writes the new file ``out`` that holds all ranks of a training run, by corrected times, with
    everything in their files: JSON if its name ends in ``.json``, else a Perfetto trace, packed if
    ``.gz`` or ``.zst`` follows.

    Returns the report, a dict.
    """
    paths = _paths(path)
    options = _core.RunOptions(**_options(presync, threads, progress, max_unpacked))
    document = json.loads(call(_core.merge, paths, os.fsdecode(out), force=force, options=options))
    return Result(document, f"merge of {_named(paths)}: {document['slices']} slices of "
                            f"{document['ranks']} ranks")
