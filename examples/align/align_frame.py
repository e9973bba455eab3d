#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Aligns the clocks of a pandas frame of messages, and adds their common times to it.

Usage: align_frame.py edges.csv > aligned.csv   (needs pandas)
"""
import sys

import pandas

import entrain_clocks

edges = pandas.read_csv(sys.argv[1], dtype={"cause_clock": str, "effect_clock": str})
edges = edges.dropna(subset=["cause_clock", "effect_clock"])  # single edges only
edges = edges.astype({"cause_time": "int64", "effect_time": "int64"})
aligned = entrain_clocks.align(edges, bounds=True)
for end in ("cause", "effect"):
    edges[f"{end}_common"] = aligned.apply(edges, clock=f"{end}_clock", time=f"{end}_time")
edges["delay"] = edges["effect_common"] - edges["cause_common"]
edges.to_csv(sys.stdout, index=False)
print(aligned.report["before"]["violations"], "violations before,",
      aligned.report["after"]["violations"], "after", file=sys.stderr)
