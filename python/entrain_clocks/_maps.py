# SPDX-License-Identifier: BSD-3-Clause
"""Clock maps, and what is proved of them."""

import numpy as np

BOUND = np.dtype([("tick", "i8"), ("time", "i8"), ("earliest", "i8"), ("latest", "i8"),
                  ("bound", "i8"), ("bounded", "?")])
NO_BOUNDS = np.empty(0, dtype=BOUND)


def ticks(values, name):
    """Whole ticks as a contiguous array of int64 with one axis; copies only what is none."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} axes; give one number per element")
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"{name} has the type {array.dtype}; times are whole ticks (int64)")
    if array.dtype == np.uint64 and array.size > 0 and int(array.max()) >= 2**63:
        raise ValueError(f"{name} has a time of 2^63 or more")
    return np.ascontiguousarray(array, dtype=np.int64)


class ClockMap:
    """A piecewise-linear function from the stamps of a clock to common time, both in ticks."""

    def __init__(self, core):
        self._core = core

    def __call__(self, stamps):
        """Times of ``stamps``: an int, or an array of shape (n,) of whole ticks >= 0."""
        if np.ndim(stamps) == 0:
            return int(self(np.array([stamps]))[0])
        return self._core.apply(ticks(stamps, "stamps"))

    @property
    def knots(self):
        """(ticks, offsets): two int64 arrays of shape (k,). Fewer than two knots: the identity."""
        return self._core.knots()

    def __repr__(self):
        ticks_of, offsets = self.knots
        if len(offsets) < 2:
            return "<clock map: the identity>"
        return (f"<clock map of {len(offsets)} knots: adds {offsets.min()} to {offsets.max()} ticks, "
                f"stamps {ticks_of[0]} to {ticks_of[-1]}>")

    def __eq__(self, other):
        return isinstance(other, ClockMap) and self._core == other._core

    __hash__ = None


def bounds_of(columns):
    """Per location, in their order, an array of BOUND."""
    location, *values = columns
    result = {}
    # Rows of a location stand together.
    firsts = np.flatnonzero(np.diff(location, prepend=location[:1] - 1))
    for first, end in zip(firsts, [*firsts[1:], len(location)]):
        rows = np.empty(end - first, dtype=BOUND)
        for name, column in zip(BOUND.names, values):
            rows[name] = column[first:end]
        result[int(location[first])] = rows
    return result
