#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a table of collectives of what NCCL's Inspector plugin writes, a file per process, with
NCCL_INSPECTOR_DUMP_VERBOSE=1 (also RCCL's). A host has one clock, in microseconds: none of its ranks
ends a collective before all others have begun it. Of broadcasts and reductions the root is not
recorded, so they tell nothing here.

Usage: nccl_inspector.py *.log > collectives.csv
"""
import collections
import json
import sys

ALL_TO_ALL = ("AllReduce", "AllGather", "ReduceScatter", "AlltoAll")
# (communicator, operation, its number) -> host -> (last begin, first end)
calls = collections.defaultdict(dict)
for path in sys.argv[1:]:
    for line in open(path):
        try:
            record = json.loads(line)
        except ValueError:
            continue  # cut off while NCCL wrote
        call = record.get("coll_perf", {}) if isinstance(record, dict) else {}
        trace = call.get("event_trace_ts", {})
        ends = [event.get("kernel_stop_ts", 0) for event in trace.get("kernel_events", [])]
        if call.get("coll") not in ALL_TO_ALL or not ends or 0 in ends:
            continue  # 0: was not seen
        host = record["metadata"]["hostname"]
        members = calls[record["header"]["id"], call["coll"], call["coll_sn"]]
        begin, end = members.get(host, (0, max(ends)))
        members[host] = max(begin, trace["coll_start_ts"]), min(end, max(ends))
print("clock,begin,end,instance,kind,sync")
for (communicator, name, number), members in calls.items():
    for host, (begin, end) in members.items():
        print(host, begin, end, f"{communicator}/{name}/{number}", "n_to_n", "true", sep=",")
