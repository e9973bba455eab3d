# SPDX-License-Identifier: BSD-3-Clause
"""Corrections in three steps, for runs whose files lie on several machines."""

import json
import os

from . import _core
from ._traces import Result, _named, _options, _paths
from ._words import call, shown


def summarise(part, out, *, force=False, threads=0, progress=None, max_unpacked=None):
    """Writes the new file ``out`` with what the common time follows from in some files of a run.

    Returns the report, a dict.
    """
    paths = _paths(part)
    options = _core.RunOptions(**_options("auto", threads, progress, max_unpacked))
    document = json.loads(call(_core.summarise, paths, os.fsdecode(out), force=force, options=options))
    return Result(document, f"summary of {_named(paths)}: {document['output_bytes']} bytes of "
                            f"{document['bytes']}")


def fit(summaries, out, *, table=None, presync="auto", bounds=False, force=False, threads=0, progress=None):
    """Finds the clocks of a run from the summaries of all its parts, and writes the new file ``out``.

    table: a new file of CSV with a row per straight piece of a clock, for as-of joins. bounds: prove
        how wrong each clock may be. Returns the report, a dict; its ``correction`` is that of
        :func:`correct` for all files together.
    """
    paths = _paths(summaries)
    options = _core.RunOptions(bounds=bounds, **_options(presync, threads, progress))
    document = json.loads(call(_core.fit, paths, os.fsdecode(out),
                               table="" if table is None else os.fsdecode(table), force=force,
                               options=options))
    return Result(document, f"clocks of {document['files']} files, in {shown(os.fsdecode(out))}: "
                            f"{document['correction']['verdict']}")


def apply(clocks, part, out, *, force=False, mark_offsets=False, threads=0, progress=None,
          max_unpacked=None):
    """Writes some files of a run by the clocks that :func:`fit` has written, and reads them back.

    Returns the report, a dict.
    """
    paths = _paths(part)
    options = _core.RunOptions(**_options("auto", threads, progress, max_unpacked))
    document = json.loads(call(_core.apply, os.fsdecode(clocks), paths, os.fsdecode(out), force=force,
                               mark_offsets=mark_offsets, options=options))
    return Result(document, f"copies of {_named(paths)} by {shown(os.fsdecode(clocks))}")
