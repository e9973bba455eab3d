#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Projects a correction onto many nodes, from constants that bench/run measured.

projection.py RESULTS.json [--hard HARD.json] [--update docs/scaling.md]

Prints Markdown tables, or puts them between the marks in a document. Formulas and assumptions are
explained in docs/scaling.md. Exit codes: 0 fine, 2 the results lack something.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import flow  # noqa: E402
from suite.summary import Session  # noqa: E402
from suite.tables import table  # noqa: E402

EVENTS = 10**12
LOCATIONS = 10**5
NODES = (16, 128, 1024)
MEMBERS = (4, 16, 64, 256, 1024, 4096)  # of the simulation
BEGIN, END = "<!-- projection: begin -->", "<!-- projection: end -->"
MOST_NODE_NUMBERS = 2**32 - 1  # NodeIndex has 32 bits


@dataclass
class Constant:
    value: float
    unit: str
    about: str
    origin: str  # measured, counted (from the source), assumed


def constants_of(session: Session) -> dict[str, Constant]:
    """What the formulas need; KeyError or TypeError if the results lack it."""
    trace = session.trace_of(session.group("main")["cp"])
    widest = max(session.result["traces"].values(), key=lambda t: t["locations"])
    events = trace["events"]
    members = 2  # one process alone works otherwise

    def cost(phase: str) -> float:
        seconds = session.phase_s("processes", f"overlay, {members} proc", [phase])
        return seconds * members / events * 1e9

    def measured(value: float, unit: str, about: str) -> Constant:
        return Constant(value, unit, about, "measured")

    def counted(value: float, unit: str, about: str) -> Constant:
        return Constant(value, unit, about, "counted")

    def assumed(value: float, unit: str, about: str) -> Constant:
        return Constant(value, unit, about, "assumed")

    verified = session.group("main")["rewrite + verify, 2 thr"]["runs"][0]
    anon = session.anon_bytes("main", "rewrite, 1 thr")
    return {
        "b": measured(trace["event_bytes"] / events, "B", "event file per event"),
        "c": measured(trace["communication_events"] / events, "", "communication events per event"),
        "s": measured(trace["messages"] / events, "", "messages per event"),
        "k": measured(trace["collectives"] * trace["locations"] / events, "",
                      "calls of collectives per event"),
        "d": measured(widest["global_definition_bytes"] / widest["locations"], "B",
                      "global definitions per location"),
        "scan": measured(session.scan_rate("main", "scan_speed", 1), "1/s",
                         "events scanned per thread"),
        "match": measured(cost("match"), "ns", "match per event, one of two processes"),
        "forward": measured(cost("forward"), "ns", "forward per event, one of two processes"),
        "backward": measured(cost("backward"), "ns", "backward per event, one of two processes"),
        "m": measured(anon / trace["communication_events"], "B",
                      "peak anonymous memory per communication event"),
        "g": measured(verified["passes"], "", "passes with different gamma"),
        "event": counted(16, "B", "skeleton per communication event"),
        "send": counted(8, "B", "parcel per message to another member"),
        "call": counted(56, "B", "parcel per call of a collective"),
        "update": counted(8, "B", "parcel per time of passes, beside 8 for each of them"),
        "ghost": counted(120, "B", "memory per node of another member"),
        "location": counted(600, "B", "memory per location at every member"),
        "refine": assumed(4, "", "rounds of refinement"),
        "threads": assumed(32, "", "threads of a node that scan and write"),
        "io": assumed(200e9, "B/s", "file system, all nodes together"),
        "io_node": assumed(10e9, "B/s", "file system, one node"),
        "net": assumed(10e9, "B/s", "network, one node"),
        "latency": assumed(5e-6, "s", "time per parcel on its way"),
        "parcel": assumed(0.5e-6, "s", "work per parcel of the data-flow, at both ends"),
        "files": assumed(20e3, "1/s", "files created or opened by all nodes together"),
    }


def crossing_share(nodes: int) -> float:
    """Messages between members: a 3-D stencil, its ranks numbered row by row, cut into blocks."""
    block, side = LOCATIONS / nodes, LOCATIONS ** (1 / 3)
    return sum(min(1.0, distance / block) for distance in (1, side, side * side)) / 3


def project(k: dict[str, float], nodes: int) -> list[tuple[str, str]]:
    """(quantity, value) for one number of nodes; per node unless it says otherwise."""
    events = EVENTS / nodes
    elsewhere = (nodes - 1) / nodes
    crossing = crossing_share(nodes)
    input_bytes = events * k["b"]
    communication = events * k["c"]
    messages = events * k["s"] * crossing
    calls = events * k["k"] * elsewhere
    ghosts = messages + 2 * calls
    match_bytes = k["send"] * messages + k["call"] * calls + 4 * ghosts
    update = k["update"] + 8 * k["g"]
    told = sum(len(stage) for stage in flow.stages(nodes))  # per member and collective
    collectives = calls / max(1.0, LOCATIONS / nodes)
    relays = 4 * (2 * calls + collectives * (3 + 2 * told))
    forward_bytes = (relays + (1 + 8 * k["g"]) * ghosts +
                     update * (messages + flow.NEWS * told * collectives))
    backward_bytes = 8 * ghosts + k["refine"] * (8 + 2) * ghosts
    exchanges = 7 + 2 + 1 + 3 * k["refine"]
    parcels = exchanges * (nodes - 1)
    memory = max(k["m"], k["event"]) * communication + k["ghost"] * ghosts
    replicated = (k["location"] + k["d"]) * LOCATIONS
    bandwidth = min(k["io"] / nodes, k["io_node"])
    compute = events * (k["match"] + k["forward"] + k["backward"]) / 1e9
    traffic = (match_bytes + forward_bytes + backward_bytes) / k["net"] + parcels * k["latency"]
    files = 2 * LOCATIONS / k["files"]
    scan = max(input_bytes / bandwidth, events / (k["scan"] * k["threads"]))
    fits = communication + ghosts <= MOST_NODE_NUMBERS
    return [
        ("events", amount(events)),
        ("event files, bytes", size(input_bytes)),
        ("read by overlay, verified or not", size(input_bytes)),
        ("read and written: rewrite / with verify",
         f"{size(3 * input_bytes)} / {size(6 * input_bytes)}"),
        ("global definitions read, all nodes", size(k["d"] * LOCATIONS * nodes)),
        ("skeleton", size(k["event"] * communication)),
        ("messages to other members", f"{crossing:.1%}"),
        ("nodes and ghosts, of 2^32 - 1", f"{(communication + ghosts) / MOST_NODE_NUMBERS:.2f}"),
        ("fits into 32-bit node numbers", "yes" if fits else "no"),
        ("parcels of matching", size(match_bytes)),
        ("parcels of forward amortization", size(forward_bytes)),
        ("parcels of backward and refinement", size(backward_bytes)),
        ("exchanges", amount(exchanges)),
        ("parcels at most", amount(parcels)),
        ("counts per exchange, all nodes", amount(nodes * nodes)),
        ("memory: corrector and ghosts", size(memory)),
        ("memory: replicated definitions", size(replicated)),
        ("time of files: create, open", seconds(files)),
        ("time of scan", seconds(scan)),
        ("time of match, forward, backward", seconds(compute)),
        ("time of parcels", seconds(traffic)),
        ("time of writing (rewrite)", seconds(2 * input_bytes / bandwidth)),
        ("overlay, no verify", seconds(files + scan + compute + traffic)),
        ("rewrite, no verify", seconds(files + scan + compute + traffic +
                                       2 * input_bytes / bandwidth)),
    ]


@dataclass
class HardPasses:
    """Passes on a hard trace, which go through the graph together."""

    passes: int
    node_s: float  # evaluation of a node in all of them


def hard_passes(session: Session) -> HardPasses:
    """KeyError or TypeError if the results lack it."""
    group, name, threads = "hard-processes", "linear, 2 thr", 2
    contestant = session.group(group)[name]
    trace = session.trace_of(contestant)
    seconds = session.phase_s(group, name, ["forward"]) * threads
    return HardPasses(contestant["runs"][0]["passes"], seconds / trace["communication_events"])


def data_flow(k: dict[str, float], hard: HardPasses | None) -> list[str]:
    """Table of simulated passes of forward amortization over ever more members."""
    def costs(node_s: float, lanes: int) -> flow.Costs:
        return flow.Costs(node_s=node_s, parcel_s=k["parcel"], latency_s=k["latency"],
                          bytes_per_s=k["net"], lanes=lanes)
    runs = [costs(k["forward"] / k["c"] * 1e-9, 1)]
    if hard is not None:
        runs.append(costs(hard.node_s, hard.passes))
    rows = []
    for members in MEMBERS:
        row = [f"{members:,}"]
        for cost in runs:
            outcome = flow.simulate(members, LOCATIONS, cost)
            row += [f"{outcome.efficiency:.1%}", f"{outcome.idle:.1%}", size(outcome.bytes)]
        rows.append([*row, f"{outcome.parcels:.0f}"])
    of_run = ["efficiency", "idle", "bytes"]
    names = of_run if hard is None else [*of_run, "hard trace: efficiency", *of_run[1:]]
    return table(["members", *names, "parcels"], rows)


def about_passes(k: dict[str, float], hard: HardPasses | None) -> str:
    """What the table of data_flow() shows."""
    text = (f"Simulated passes of forward amortization on {LOCATIONS:,} locations: a single one, "
            f"{k['forward'] / k['c']:.0f} ns per node")
    if hard is not None:
        text += (f"; and {hard.passes} together on a hard trace, {hard.node_s * 1e9:.0f} ns per "
                 "node for all of them")
    return text + ". Parcels and bytes are per member and iteration of the program."


def size(value: float) -> str:
    for power, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= power:
            return f"{value / power:.3g} {name}"
    return f"{value:.0f} B"


def amount(value: float) -> str:
    return f"{value:,.0f}" if value < 1e6 else f"{value:.3g}"


def seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"


def tables(session: Session, hard: HardPasses | None = None) -> str:
    constants = constants_of(session)
    values = {name: constant.value for name, constant in constants.items()}
    columns = [project(values, nodes) for nodes in NODES]
    rows = [[columns[0][i][0], *(column[i][1] for column in columns)]
            for i in range(len(columns[0]))]
    of = session.result
    lines = [f"{EVENTS:.0e} events on {LOCATIONS:,} locations; per node, one process each; "
             f"constants of {of['date']}, {of['revision']}.", "",
             *table(["", *(f"{nodes:,} nodes" for nodes in NODES)], rows), "",
             *table(["constant", "meaning", "from", "value"],
                    [[name, c.about, c.origin, f"{c.value:.4g} {c.unit}".strip()]
                     for name, c in constants.items()], left=3), "",
             about_passes(values, hard), "", *data_flow(values, hard)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("results", type=Path, help="JSON of bench/run, with its group main")
    parser.add_argument("--hard", type=Path, metavar="RESULTS",
                        help="JSON of bench/run, with its group hard-processes: simulates passes "
                        "over that trace, too")
    parser.add_argument("--update", type=Path, metavar="DOCUMENT",
                        help="replace what stands between the marks there")
    options = parser.parse_args()
    hard = None
    if options.hard is not None:
        hard = hard_passes(Session(json.loads(options.hard.read_text())))
    text = tables(Session(json.loads(options.results.read_text())), hard)
    if options.update is None:
        print(text, end="")
        return 0
    document = options.update.read_text()
    begin, end = document.index(BEGIN) + len(BEGIN), document.index(END)
    options.update.write_text(document[:begin] + "\n\n" + text + "\n" + document[end:])
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, KeyError, TypeError, ValueError) as error:
        print(f"bench/projection.py: {type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(2)
