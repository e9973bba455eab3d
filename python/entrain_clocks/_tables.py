# SPDX-License-Identifier: BSD-3-Clause
"""Tables of users: dicts of arrays, frames, structured arrays and files."""

import csv
import io
import os

import numpy as np

from ._words import shown

# Columns that say more than arrays of plain edges do: such tables go through the reader of the tool.
EDGE_COLUMNS = ("instance", "role", "rank", "sync", "clock", "begin", "end")
CLOCK_COLUMNS = ("process", "machine", "resolution_hz", "first", "last", "granule", "corrected",
                  "time", "offset", "half_width", "round_trip", "kept", "flush_begin", "flush_end",
                  "wrap_bits")
SESSION_COLUMNS = ("round_trip", "kept")
PLAIN_EDGES = ("cause_clock", "cause_time", "effect_clock", "effect_time", "min_delay", "kind")
PLAIN_CLOCKS = ("clock", "kind", "domain")


def whole(value, name, most):
    """A whole number from 0 to `most`; None counts as 0."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} is {shown(value)}; give a whole number")
    if not 0 <= value <= most:
        raise ValueError(f"{name} is {shown(value)}; give a number from 0 to {most}")
    return int(value)


def column_of(table, name):
    if not hasattr(table, "__getitem__") or isinstance(table, (str, bytes, list, tuple)):
        raise ValueError(f"a table is a dict, a frame, a structured array or the path of a file, not "
                         f"{type(table).__name__}")
    if hasattr(table, "dtype") and getattr(table.dtype, "names", None):
        return table[name] if name in table.dtype.names else None
    return table[name] if name in table else None


def is_file(table):
    return isinstance(table, (str, os.PathLike))


def needed(table, name, what):
    """A column that must be there."""
    values = column_of(table, name)
    if values is None:
        raise ValueError(f"{what} have no column {shown(name).strip(chr(39))}")
    return values


def names_of(values, name):
    """Names of clocks: a list of texts and numbers."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes; give one name per element")
    names = array.tolist()
    for one in names if array.dtype == object else ():
        if not isinstance(one, (str, int, float, bytes, type(None))) and cell(one) != "":
            raise ValueError(f"{name} has the name {shown(one)}; names are texts or numbers")
    return names


def distinct(values, name):
    """The set of the names in a column."""
    array = np.asarray(values)
    if array.dtype == object or array.ndim != 1:
        return set(names_of(array, name))
    return set(np.unique(array).tolist())


def has_any(table, columns):
    return table is not None and any(column_of(table, name) is not None for name in columns)


def cell(value):
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


def csv_of(table, columns, name):
    """A table as the tool reads it: (name, text), or (path, None) for a file."""
    if is_file(table):
        return os.fspath(table), None
    found = [(one, column_of(table, one)) for one in columns]
    found = [(one, names_of(values, one)) for one, values in found if values is not None]
    if len({len(values) for _, values in found}) > 1:
        raise ValueError(f"the columns of {name} have different lengths")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(one for one, _ in found)
    writer.writerows([cell(value) for value in row] for row in zip(*(v for _, v in found)))
    try:
        text.getvalue().encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} have a text that is no UTF-8: {error.object[error.start]!r}") from None
    return name, text.getvalue()


def names_in(edges):
    """All clocks that a table of edges names, as :func:`_clock_names` orders them."""
    names = set()
    for column in ("cause_clock", "effect_clock", "clock"):
        values = column_of(edges, column)
        if values is not None:
            names.update(n for n in names_of(values, column) if cell(n) != "")
    return in_order(names)


def in_order(names):
    """As `entrain align` orders them: numbers first, by value."""
    return sorted(names, key=lambda name: (_number_of(name) is None, _number_of(name) or 0, str(name)))


def _number_of(name):
    text = str(name)
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else None
