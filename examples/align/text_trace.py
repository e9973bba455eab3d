#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a table of edges of text traces of MPI, one file per rank. Lines begin with the name and
the begin of a call, and end with its end, in microseconds since 1970:

    MPI_Send:BEGIN:buffer:count:type:RECEIVER:TAG:communicator:END
    MPI_Recv:BEGIN:buffer:count:type:SENDER:TAG:communicator:status:END

Usage: text_trace.py rank-0.txt rank-1.txt ... > edges.csv   (.gz too; one communicator)
"""
import collections
import csv
import gzip
import sys


def lines_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        for line in file:
            words = line.strip().split(":")
            if words[0].startswith("MPI_") and "-" not in (words[1], words[-1]):
                yield words[0], int(float(words[1])), int(float(words[-1])), words


sends, receives = collections.defaultdict(list), collections.defaultdict(list)
table = csv.writer(sys.stdout)
columns = "cause_clock cause_time effect_clock effect_time kind instance role"
table.writerow(columns.split())
for rank, path in enumerate(sys.argv[1:]):
    instance = 0
    for call, begin, end, words in lines_of(path):
        if call == "MPI_Send":
            sends[rank, int(words[5]), words[6]].append(begin)
        elif call == "MPI_Recv":
            receives[int(words[5]), rank, words[6]].append(end)
        elif call in ("MPI_Barrier", "MPI_Allreduce", "MPI_Bcast"):
            instance += 1  # all ranks make the same calls in the same order
            kind = "one_to_n" if call == "MPI_Bcast" else "n_to_n"
            if kind == "n_to_n" or int(words[5]) == rank:
                table.writerow([rank, begin, "", "", kind, instance, "begin"])
            table.writerow(["", "", rank, end, kind, instance, "end"])
for channel, times in sends.items():  # messages of a channel stay in order
    for sent, received in zip(times, receives[channel]):
        table.writerow([channel[0], sent, channel[1], received, "p2p", "", ""])
