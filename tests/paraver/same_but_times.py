#!/usr/bin/env python3
"""Compares two traces of Paraver byte by byte, but for times.

usage: same_but_times.py A.prv B.prv

Reads both as text, and knows only which numbers of a line are times. Fails unless the header without its end, all
other lines, and the records of each thread in their order are the same; B must be in order of time if A is, and must
end where its header says if A does.
"""

import gzip
import sys
from pathlib import Path

TIMES = {"1": (5, 6), "2": (5,), "3": (5, 6, 11, 12)}


def text_of(path):
    data = Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def facts_of(text):
    lines = text.decode("latin-1").split("\n")
    date, _, rest = lines[0].partition("):")
    end, _, more = rest.partition(":")
    others, threads, times, last = [], {}, [], 0
    for line in lines[1:]:
        fields = line.split(":")
        places = TIMES.get(fields[0])
        if places is None or len(fields) <= places[-1] or not all(fields[p].isdigit() for p in places):
            others.append(line)
            continue
        numbers = [int(fields[p]) for p in places]
        times.append(numbers[0])
        last = max(last, *numbers)
        for place in places:
            fields[place] = "T"
        threads.setdefault(tuple(fields[2:5]), []).append(":".join(fields))
    return {
        "header": (date, more, "".join(sign for sign in end if not sign.isdigit())),
        "other lines": others,
        "records": threads,
        "order of time": times == sorted(times),
        "distance of the end": int("".join(sign for sign in end if sign.isdigit())) - last,
    }


def main():
    a, b = facts_of(text_of(sys.argv[1])), facts_of(text_of(sys.argv[2]))
    wrong = [name for name in a if a[name] != b[name]]
    if wrong:
        sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
