# SPDX-License-Identifier: BSD-3-Clause
"""The words of options and reports, and those of errors."""

import re
from enum import Enum

KINDS = ("p2p", "one_to_n", "n_to_one", "n_to_n", "scan", "thread", "rma", "init_finalize")


class Word(str, Enum):
    """A word of the tool, which equals its text and can replace it."""

    __str__ = str.__str__


class Presync(Word):
    """How stored stamps become times before violations are removed; in reports, how they did."""

    AUTO = "auto"
    NONE = "none"
    LINEAR = "linear"
    REGRESSION = "regression"
    SPLINE = "spline"
    CAUSAL = "causal"


class WriteMode(Word):
    """The form of a corrected archive: self-contained, or clock maps and links to the original."""

    REWRITE = "rewrite"
    OVERLAY = "overlay"


class ExportFormat(Word):
    """What :func:`export` writes."""

    PERFETTO = "perfetto"
    CHROME = "chrome"
    CSV = "csv"


class Verdict(Word):
    """``report["verdict"]``: the result of a check."""

    VIOLATIONS = "violations"
    CLEAN = "clean"
    UNPROVEN = "unproven"


_FLAGS = {"force": "force=True", "mark-offsets": "mark_offsets=True", "raw": "raw_a=True"}
_VALUES = {"presync": {one.value for one in Presync}, "mode": {one.value for one in WriteMode}}
_OTHERS = {"columns", "unit", "max-unpacked", "around"}


def _in_python(option):
    """An option of the tool, with the word behind it, as an argument of a function."""
    name, gap, value = option.groups(default="")
    if name in _FLAGS:
        return _FLAGS[name] + gap + value
    if value in _VALUES.get(name, ()):
        return f'{name}="{value}"'
    known = name in _VALUES or name in _OTHERS
    return (name.replace("-", "_") if known else f"the tool's option {name}") + gap + value


def call(function, *arguments, **options):
    """Calls a function of the core; its errors name arguments, not options of the tool."""
    try:
        return function(*arguments, **options)
    except (OSError, ValueError) as error:
        text = re.sub(r"(?<![\w-])--([a-z][a-z-]*)(?:([ =])([a-z]+))?", _in_python, str(error))
        raise type(error)(text) from None


def shown(value):
    """A value in a sentence: short, and on one line."""
    try:
        text = repr(value)
    except ValueError:  # a number of thousands of digits
        text = type(value).__name__
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= 60 else text[:57] + "..."
