#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plots how far the clocks of an archive are apart, and within which bounds that is certain.

Usage: plot_offsets.py ARCHIVE PICTURE.png   (needs matplotlib)
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import entrain_clocks

archive, picture = sys.argv[1:]
maps = entrain_clocks.clock_maps(archive)
us = 1e6 / maps.resolution_hz
figure, axes = plt.subplots(figsize=(9, 5))
for location, clock_map in maps.items():
    bounds = maps.bounds(location)
    if len(bounds) == 0:
        continue
    ticks = bounds["tick"]
    seconds = (ticks - ticks[0]) / maps.resolution_hz
    offset = clock_map(ticks) - ticks
    (line,) = axes.plot(seconds, (offset - offset[0]) * us, label=f"location {location}")
    good = bounds["bounded"]
    low = (bounds["earliest"] - ticks - offset[0]) * us
    high = (bounds["latest"] - ticks - offset[0]) * us
    axes.fill_between(seconds, np.where(good, low, np.nan), np.where(good, high, np.nan),
                      color=line.get_color(), alpha=0.15)
axes.set_xlabel("time on the clock [s]")
axes.set_ylabel("change of its offset [us]")
axes.legend(fontsize="small")
figure.savefig(picture, dpi=120)
