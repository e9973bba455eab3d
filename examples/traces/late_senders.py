#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wait states of OTF2 archives by Scalasca's definition of a late sender: the time from the begin of
the call that receives (MPI_Recv, or the MPI_Wait of a non-blocking receive) to the begin of the call
that sends, where that comes later, but not longer than the receiving call lasts.

Usage: late_senders.py [--bounds BOUNDS.csv] ARCHIVE...   (needs python3-otf2)

Times are the stamps as stored: those of a corrected archive, or of one that holds the times of a
reader. With the bounds of `entrain correct --bounds-csv` the last but one line, that of the first
archive, says between which values its sum lies for any clocks within the bounds.
"""
import argparse
import csv
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path

import otf2


class Messages:
    """Calls that send, and calls that receive, by the channel of their messages, in its order."""

    def __init__(self):
        self.sends, self.receives = defaultdict(list), defaultdict(list)
        self._calls = defaultdict(list)  # per location: begins of the calls that are open
        self._posts = {}  # per location and request: position of the receive among all
        self._open = defaultdict(list)  # per location: receives that end with the innermost call

    def see(self, number, location, event):
        kind, own = type(event).__name__, location._ref
        if kind == "Enter":
            self._calls[own].append(event.time)
        elif kind == "Leave":
            begin = self._calls[own].pop()
            for channel, post in self._open.pop(own, []):
                self.receives[channel].append((post, begin, event.time))
        elif kind == "MpiIrecvRequest":
            self._posts[own, event.request_id] = number
        elif kind in ("MpiSend", "MpiIsend"):
            other = event.communicator.group.members[event.receiver]._ref
            channel = own, other, event.communicator._ref, event.msg_tag
            self.sends[channel].append(self._calls[own][-1])
        elif kind in ("MpiRecv", "MpiIrecv"):
            other = event.communicator.group.members[event.sender]._ref
            channel = other, own, event.communicator._ref, event.msg_tag
            post = self._posts.pop((own, event.request_id), number) if kind == "MpiIrecv" else number
            self._open[own].append((channel, post))

    def pairs(self):
        """(sender, begin of the send, receiver, begin and end of the receiving call)."""
        for channel, sends in self.sends.items():
            for send, (_, begin, end) in zip(sends, sorted(self.receives[channel])):
                yield channel[0], send, channel[1], begin, end


def read(archive):
    path = Path(archive)
    messages = Messages()
    with otf2.reader.open(str(path / "traces.otf2" if path.is_dir() else path)) as trace:
        for number, (location, event) in enumerate(trace.events):
            messages.see(number, location, event)
        return list(messages.pairs()), trace.timer_resolution


class Bounds:
    """Largest error of a location's corrected time, in ticks."""

    def __init__(self, file, resolution):
        self._rows = defaultdict(list)
        with open(file, encoding="utf-8", newline="") as text:
            for row in csv.DictReader(line for line in text if not line.startswith("#")):
                bound = float(row["bound_s"]) * resolution if row["bound_s"] else float("inf")
                self._rows[int(row["location"])].append((int(row["time_ticks"]), bound))
        for rows in self._rows.values():
            rows.sort()

    def of(self, location, time):
        rows = self._rows[location]
        at = bisect_left(rows, (time,))
        beside = rows[max(at - 1, 0):at + 1]
        return max(bound for _, bound in beside) if beside else float("inf")


def late_sender(send, begin, end):
    return max(0, min(send, end) - begin)


def report(archive, bounds_file):
    pairs, resolution = read(archive)
    waits = [late_sender(send, begin, end) for _, send, _, begin, end in pairs]
    early = sum(end < send for _, send, _, _, end in pairs)
    print(f"{Path(archive).name}: {len(pairs)} messages, {sum(w > 0 for w in waits)} late senders, "
          f"{1e3 * sum(waits) / resolution:.3f} ms of waiting; {early} received before they were sent")
    if not bounds_file:
        return
    bounds, least, most = Bounds(bounds_file, resolution), 0, 0
    for sender, send, receiver, begin, end in pairs:
        error = bounds.of(sender, send) + bounds.of(receiver, begin)
        least += late_sender(send - error, begin, end)
        most += late_sender(send + error, begin, end)
    print(f"  within the bounds of the clocks {1e3 * least / resolution:.3f} to "
          f"{1e3 * most / resolution:.3f} ms")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bounds", help="of the first archive")
    options.add_argument("archives", nargs="+")
    given = options.parse_args()
    for number, archive in enumerate(given.archives):
        report(archive, given.bounds if number == 0 else None)


if __name__ == "__main__":
    main()
