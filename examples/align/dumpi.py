#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a table of edges of the texts that dumpi2ascii prints, one per rank, in order of rank. Times
are seconds; blocking messages and barriers only.

Usage: dumpi.py rank-0.txt rank-1.txt ... > edges.csv
"""
import collections
import re
import sys

sends, receives = collections.defaultdict(list), collections.defaultdict(list)
print("cause_clock,cause_time,effect_clock,effect_time,kind,instance,role")
for rank, path in enumerate(sys.argv[1:]):
    begin, values, barrier = "", {}, 0
    for line in open(path):
        call = re.match(r"(MPI_\w+) (entering|returning) at walltime ([\d.]+)", line)
        value = re.match(r"int (\w+)=(\d+)", line)
        if value:
            values[value[1]] = int(value[2])
        elif call and call[2] == "entering":
            begin, values = call[3], {}
        elif call and call[1] == "MPI_Send":
            sends[rank, values["dest"], values["tag"]].append(begin)
        elif call and call[1] == "MPI_Recv":
            receives[values["source"], rank, values["tag"]].append(call[3])
        elif call and call[1] == "MPI_Barrier":
            barrier += 1
            print(rank, begin, "", "", "n_to_n", barrier, "begin", sep=",")
            print("", "", rank, call[3], "n_to_n", barrier, "end", sep=",")
for channel, times in sends.items():  # messages of a channel stay in order
    for sent, received in zip(times, receives[channel]):
        print(channel[0], sent, channel[1], received, "p2p", "", "", sep=",")
