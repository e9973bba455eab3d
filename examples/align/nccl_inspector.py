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
calls = collections.defaultdict(dict)  # (communicator, number) -> host -> (last begin, first end)
for path in sys.argv[1:]:
    for line in open(path):
        record = json.loads(line)
        call = record.get("coll_perf", {})
        trace = call.get("event_trace_ts", {})
        ends = [event["kernel_stop_ts"] for event in trace.get("kernel_events", [])]
        if call.get("coll") not in ALL_TO_ALL or not ends or 0 in ends:
            continue  # 0: was not seen
        host = record["metadata"]["hostname"]
        members = calls[record["header"]["id"], call["coll_sn"]]
        begin, end = members.get(host, (0, max(ends)))
        members[host] = max(begin, trace["coll_start_ts"]), min(end, max(ends))
print("clock,begin,end,instance,kind,sync")
for (communicator, number), members in calls.items():
    for host, (begin, end) in members.items():
        print(host, begin, end, f"{communicator}/{number}", "n_to_n", "true", sep=",")
