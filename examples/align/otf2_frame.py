#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads an OTF2 archive with python-otf2 into a table with corrected times, as users of Pipit know
it: one row per Enter and Leave, "Timestamp (ns)", "Event Type", "Name" and "Process". No archive is
written. To correct a trace that Pipit has read, map its times in the same way.

Usage: otf2_frame.py traces.otf2 > events.csv   (needs python3-otf2)
"""
import csv
import sys

import numpy as np
import otf2

import entrain_clocks

archive = sys.argv[1]
maps = entrain_clocks.clock_maps(archive)
rows = []
with otf2.reader.open(archive) as trace:
    for location, event in trace.events:
        kind = type(event).__name__
        if kind in ("Enter", "Leave"):
            rows.append((location._ref, event.time, kind, event.region.name))
locations = np.array([row[0] for row in rows])
times = np.array([row[1] for row in rows], dtype=np.int64)
for location in np.unique(locations):
    here = locations == location
    times[here] = maps[int(location)](times[here])
nanoseconds = (times - times.min()) * (1_000_000_000 / maps.resolution_hz)

table = csv.writer(sys.stdout)
table.writerow(["Timestamp (ns)", "Event Type", "Name", "Process"])
for i in np.argsort(times, kind="stable"):
    location, _, kind, name = rows[i]
    table.writerow([round(nanoseconds[i]), kind, name, location])
