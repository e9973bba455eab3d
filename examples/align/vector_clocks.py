#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a table of edges of logs with vector clocks, as ShiViz and GoVector know them. A line is

    TIME HOST {"HOST": EVENTS, ...} text

Where the clock of a host first knows an event of another one, that event happened before.

Usage: cat *.log | vector_clocks.py > edges.csv   (lines of a host in order)
"""
import json
import re
import sys

when, known, effects = {}, {}, []
for line in sys.stdin:
    found = re.match(r"(\S+) (\S+) (\{.*?\})", line)
    if found:
        time, host, clock = found[1], found[2], json.loads(found[3])
        when[host, clock[host]] = time
        for other, event in clock.items():
            if other != host and event > known.get((host, other), 0):
                effects.append((other, event, host, time))
                known[host, other] = event

print("cause_clock,cause_time,effect_clock,effect_time")
for other, event, host, time in effects:
    if (other, event) in when:
        print(other, when[other, event], host, time, sep=",")
