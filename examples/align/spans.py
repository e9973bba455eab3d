#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a table of edges of the spans of distributed services: CSV with the columns SpanID,
ParentID, PodName, StartTimeUnixNano and EndTimeUnixNano. A span begins after its parent and mostly
ends before it. Two hosts of which that cannot hold (a client that did not wait) lose these ends.

Usage: spans.py FILE.csv... > edges.csv   (.gz too)
"""
import collections
import csv
import gzip
import sys

spans = {}
for path in sys.argv[1:]:
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        for row in csv.DictReader(file):
            times = int(row["StartTimeUnixNano"]), int(row["EndTimeUnixNano"])
            spans[row["TraceID"], row["SpanID"]] = (row["ParentID"], row["PodName"], *times)

starts, ends = collections.defaultdict(list), collections.defaultdict(list)
for (trace, _), (parent, host, start, end) in spans.items():
    if (trace, parent) in spans:
        _, client, client_start, client_end = spans[trace, parent]
        if client != host:
            starts[client, host].append((client_start, start))
            ends[host, client].append((end, client_end))

table = csv.writer(sys.stdout)
table.writerow(["cause_clock", "cause_time", "effect_clock", "effect_time", "kind"])
left_out = 0
for (client, host), pairs in starts.items():
    # By the begins the host is at least this late, by the ends at most.
    least = max(cause - effect for cause, effect in pairs)
    most = min(effect - cause for cause, effect in ends[host, client])
    for cause, effect in pairs:
        table.writerow([client, cause, host, effect, "start"])
    if least > most:
        left_out += len(pairs)
        continue
    for cause, effect in ends[host, client]:
        table.writerow([host, cause, client, effect, "end"])
print(f"{left_out} ends left out, which contradict begins", file=sys.stderr)
