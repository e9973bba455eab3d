# SPDX-License-Identifier: BSD-3-Clause
"""What follows from the runs of a session: medians, ratios, costs per event."""

from __future__ import annotations

from typing import Any

from .stats import median, paired_ratio

PHASES = ["scan", "match", "presync", "forward", "backward", "write", "verify"]
FLOORS = ["cp", "otf2_copy", "json_pass"]


class Session:
    """A result of bench/run, with what can be asked of it. None means: not measured."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result

    def group(self, name: str) -> dict[str, dict[str, Any]]:
        """Contestants of a group; none if it was not measured."""
        return self.result["groups"].get(name, {}).get("contestants", {})

    def contestant(self, group: str, name: str) -> dict[str, Any] | None:
        return self.group(group).get(name)

    def trace_of(self, contestant: dict[str, Any]) -> dict[str, Any]:
        return self.result["traces"].get(contestant["trace"], {})

    def walls(self, group: str, name: str) -> list[float]:
        found = self.contestant(group, name)
        return [run["wall_s"] for run in found["runs"]] if found else []

    def floor(self, group: str, name: str, kind: str) -> str | None:
        """The contestant of this kind ("cp") with the same trace, else one of the same size."""
        trace = self.group(group)[name]["trace"]
        candidates = [n for n in self.group(group) if n == kind or n.startswith(kind + ", ")]
        same = [n for n in candidates if self.group(group)[n]["trace"] == trace]
        alike = [n for n in candidates if self.like(self.group(group)[n]["trace"], trace)]
        return (same or alike or [None])[0]

    def like(self, trace: str, other: str) -> bool:
        traces = self.result["traces"]
        if trace not in traces or other not in traces:
            return False
        return all(traces[trace][k] == traces[other][k] for k in ("events", "locations"))

    def ratio(self, group: str, name: str, floor: str) -> float | None:
        """Median over the rounds of a contestant's time divided by another one's."""
        values, below = self.walls(group, name), self.walls(group, floor)
        if not values or not below:
            return None
        return median(paired_ratio(values, below))

    def phase_s(self, group: str, name: str, phases: list[str]) -> float | None:
        """Median of the sum of some phases."""
        found = self.contestant(group, name)
        if found is None or not found["runs"] or "phases_s" not in found["runs"][0]:
            return None
        return median([sum(run["phases_s"].get(p, 0.0) for p in phases) for run in found["runs"]])

    def series_s(self, group: str, name: str, series: str, threads: int,
                 clock: str = "seconds") -> list[float]:
        """All seconds ("cpu_seconds": of all threads) of one thing that scan_speed measured."""
        found = self.contestant(group, name)
        seconds: list[float] = []
        for run in found["runs"] if found else []:
            for entry in run["series"]:
                if entry["name"] == series and entry["threads"] == threads:
                    seconds += entry[clock]
        return seconds

    def scan_rate(self, group: str, name: str, threads: int, series: str = "scan") -> float | None:
        """Events per second."""
        seconds = self.series_s(group, name, series, threads)
        if not seconds:
            return None
        return self.group(group)[name]["runs"][0]["events"] / median(seconds)

    def bandwidth(self, threads: int) -> float | None:
        """Bytes per second of a copy in memory, read and written bytes counted."""
        seconds = self.series_s("main", "stream_copy", "copy", threads)
        if not seconds:
            return None
        return self.group("main")["stream_copy"]["runs"][0]["bytes"] / median(seconds)

    def anon_bytes(self, group: str, name: str) -> int | None:
        """Peak of anonymous memory, of all processes together."""
        found = self.contestant(group, name)
        if found is None or not found["memory"]:
            return None
        return max(peak["anon_sum_bytes"] for peak in found["memory"])

    def events_of(self, group: str, name: str) -> int:
        return self.trace_of(self.group(group)[name]).get("events", 0)

    def growth(self) -> dict[str, list[tuple[int, float]]]:
        """Per program or phase: (events, nanoseconds per event), by events."""
        lines: dict[str, list[tuple[int, float]]] = {}

        def add(label: str, events: int, seconds: float | None) -> None:
            if seconds is not None and seconds > 0 and events > 0:
                lines.setdefault(label, []).append((events, seconds / events * 1e9))

        for name in self.group("growth"):
            program, events = name.rsplit(", ", 1)[0], self.events_of("growth", name)
            if program == "scan_speed":
                for threads in (1, 2):
                    seconds = self.series_s("growth", name, "scan", threads)
                    add(f"scan alone, {threads} thr", events, median(seconds) if seconds else None)
                continue
            walls = self.walls("growth", name)
            add(program, events, median(walls) if walls else None)
            if program == "overlay":
                for phase in ("scan", "match", "forward", "backward"):
                    add(f"phase {phase}", events, self.phase_s("growth", name, [phase]))
            if program == "rewrite + verify":
                for phase in ("write", "verify"):
                    add(f"phase {phase}", events, self.phase_s("growth", name, [phase]))
        return {label: sorted(points) for label, points in lines.items()}

    def summarise(self) -> dict[str, Any]:
        """Medians and ratios of every contestant, by group."""
        return {group: {name: self.summary_of(group, name) for name in self.group(group)}
                for group in self.result["groups"]}

    def summary_of(self, group: str, name: str) -> dict[str, Any]:
        found = self.group(group)[name]
        summary: dict[str, Any] = {}
        walls = self.walls(group, name)
        if walls:
            summary = {"median_s": median(walls), "min_s": min(walls), "max_s": max(walls),
                       "cpu_s": median([r["user_s"] + r["system_s"] for r in found["runs"]])}
            events = self.events_of(group, name)
            if events:
                summary["ns_per_event"] = summary["median_s"] / events * 1e9
            for kind in FLOORS:
                floor = self.floor(group, name, kind)
                if floor is not None and floor != name and found["trace"]:
                    summary[f"per_{kind}"] = self.ratio(group, name, floor)
            if "phases_s" in found["runs"][0]:
                summary["phases_s"] = {p: self.phase_s(group, name, [p]) for p in PHASES}
        if found["memory"]:
            summary["memory"] = {key: max(peak[key] for peak in found["memory"])
                                 for key in found["memory"][0] if key != "samples"}
        return summary
