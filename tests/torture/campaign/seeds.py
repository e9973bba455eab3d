# SPDX-License-Identifier: BSD-3-Clause
"""The small inputs that get mutated: made by the tool itself, and an example of the repository."""

import gzip
import json
import os
import random
import shutil
from pathlib import Path

from . import records
from .runner import Runner

EVENT_CHUNK = 256 * 1024
LOCATIONS = 4
SAMPLES = "session,rank,parent,local_ticks,parent_ticks,master_ticks,round_trip_ticks,kept\n"
DELAYS = "child_node,parent_node,min_round_trip_ticks,min_to_parent_ticks,min_to_child_ticks\n"


class CannotMake(Exception):
    pass


def make_seeds(runner: Runner, folder: Path, examples: Path) -> None:
    """Fills `folder`: archives, recordings, unfinished, net, runs, spans and edges, each with one
    folder per seed; and long ones, for runs that are disturbed."""
    folder.mkdir(parents=True)
    _make_archives(runner, folder, examples)
    recording = folder / "recordings"
    recording.mkdir()
    for name in ("mixed", "ring"):
        shutil.copytree(folder / "archives" / name, recording / name)
        write_tables(recording / name)
    for processes in (1, 3):
        leave_unfinished(folder / "unfinished" / f"p{processes}", processes)
    _write_topologies(folder / "net")
    _make_runs(runner, folder, examples)
    _make_spans(runner, folder, examples)
    _make_edges(runner, folder)


def _distorted(runner: Runner, folder: Path, name: str, *synth: str) -> None:
    """A synthetic trace with wrong clocks, and its truth."""
    truth, to = folder / "truths" / name, folder / name
    for place in (truth, to):
        place.parent.mkdir(parents=True, exist_ok=True)
    _must(runner, ["synth", "-o", os.fspath(truth), "--seed", "7", "-q", *synth])
    _must(runner, ["distort", os.fspath(truth), "-o", os.fspath(to), "--seed", "5", "-q"])


def _packed(source: Path, to: Path) -> None:
    to.mkdir()
    for path in sorted(source.iterdir()):
        if path.suffix in (".json", ".jsonl"):
            (to / (path.name + ".gz")).write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _make_runs(runner: Runner, folder: Path, examples: Path) -> None:
    _distorted(runner, folder, "runs/synth", "--format", "chrome", "--locations", "3", "--events",
               "400")
    _packed(folder / "runs" / "synth", folder / "runs" / "packed")
    _distorted(runner, folder, "long-run", "--format", "chrome", "--locations", "8", "--events",
               "60000")
    if (examples / "training").is_dir():
        (folder / "runs" / "example").mkdir()
        for path in sorted((examples / "training").glob("*.json")):
            shutil.copy(path, folder / "runs" / "example")


def _make_spans(runner: Runner, folder: Path, examples: Path) -> None:
    _distorted(runner, folder, "spans/otlp", "--format", "otlp", "--locations", "3", "--events",
               "240")
    _packed(folder / "spans" / "otlp", folder / "spans" / "packed")
    _distorted(runner, folder, "long-spans", "--format", "otlp", "--locations", "8", "--events",
               "60000")
    (folder / "spans" / "jaeger").mkdir()
    (folder / "spans" / "jaeger" / "trace.json").write_text(json.dumps(_jaeger()))
    if (examples / "services" / "ascend.json").is_file():
        (folder / "spans" / "zipkin").mkdir()
        shutil.copy(examples / "services" / "ascend.json", folder / "spans" / "zipkin")


def _jaeger() -> dict:
    """Calls between three services, one of whose clocks is late."""
    draw, spans = random.Random(3), []
    services = ("front", "back", "store")
    for call in range(20):
        begin = 1_690_000_000_000_000 + 5000 * call
        client, server = draw.sample(range(3), 2)
        late = 3000 if server == 2 else 0
        tag = [{"key": "span.kind", "type": "string", "value": "client"}]
        spans.append({"traceID": "a", "spanID": f"{2 * call + 1:x}", "operationName": "get",
                      "startTime": begin, "duration": 900, "processID": f"p{client}", "tags": tag,
                      "references": [], "logs": [{"timestamp": begin + 5, "fields": []}]})
        spans.append({"traceID": "a", "spanID": f"{2 * call + 2:x}", "operationName": "get",
                      "startTime": begin + 200 - late, "duration": 400,
                      "processID": f"p{server}", "references": [
                          {"refType": "CHILD_OF", "traceID": "a", "spanID": f"{2 * call + 1:x}"}],
                      "tags": [{"key": "span.kind", "type": "string", "value": "server"}]})
    processes = {f"p{at}": {"serviceName": name, "tags": []} for at, name in enumerate(services)}
    return {"data": [{"traceID": "a", "spans": spans, "processes": processes}]}


def _make_edges(runner: Runner, folder: Path) -> None:
    """Tables of edges, and of events whose times are to be mapped."""
    edges, archive = folder / "edges", os.fspath(folder / "archives" / "mixed")
    for name, ending in (("csv", ".csv"), ("jsonl", ".jsonl")):
        (edges / name).mkdir(parents=True)
        _must(runner, ["edges", archive, "-o", os.fspath(edges / name / ("e" + ending)), "-q"])
        _write_events(edges / name)
    (folder / "long-edges").mkdir()
    _must(runner, ["edges", os.fspath(folder / "skewed"), "-o",
                   os.fspath(folder / "long-edges" / "e.csv"), "-q"])


def _write_events(folder: Path) -> None:
    """Events of the clocks of the edges, with cells that have to stay as they are."""
    clocks, draw = sorted(_clock_names(folder)), random.Random(2)
    lines = ["when,what,where\n"]
    lines += [f'{1000 * row},"a, ""b"" {row}",{draw.choice(clocks)}\n' for row in range(200)]
    (folder / "v.csv").write_text("".join(lines))


def _clock_names(folder: Path) -> set[str]:
    table = folder / "e.csv"
    if table.is_file():
        lines = table.read_text().splitlines()
        at = lines[0].split(",").index("cause_clock")
        return {line.split(",")[at].strip('"') for line in lines[1:60]} - {""}
    lines = (folder / "e.jsonl").read_text().splitlines()
    return {str(json.loads(line).get("cause_clock", "")) for line in lines[:60]} - {""}


def _make_archives(runner: Runner, folder: Path, examples: Path) -> None:
    archives, truths = folder / "archives", folder / "truths"
    archives.mkdir()
    truths.mkdir()
    plan = (("mixed", "mixed", 600, "0.5", "4"), ("ring", "ring", 300, "0.8", "3"),
            ("workers", "master-worker", 400, "0.5", "0"), ("reduce", "allreduce", 300, "0.5", "2"))
    for name, pattern, events, share, sessions in plan:
        truth = os.fspath(truths / name)
        _must(runner, ["synth", "-o", truth, "--pattern", pattern, "--locations", str(LOCATIONS),
                       "--events", str(events), "--communication-share", share, "--seed", "7",
                       "--locations-per-node", "2", "-q"])
        _must(runner, ["distort", truth, "-o", os.fspath(archives / name), "--seed", "5",
                       "--sessions", sessions, "--offset-s", "0.00001", "-q"])
    _must(runner, ["correct", os.fspath(archives / "mixed"), "-o", os.fspath(archives / "overlaid"),
                   "--mode", "overlay", "--link", "hard", "-q"], codes=(0, 1, 3))
    _must(runner, ["synth", "-o", os.fspath(folder / "long"), "--pattern", "stencil2d",
                   "--locations", "16", "--events", "150000", "--seed", "7", "-q"])
    _must(runner, ["distort", os.fspath(folder / "long"), "-o", os.fspath(folder / "skewed"),
                   "--seed", "7", "-q"])
    example = examples / "traces" / "allops-4"
    if example.is_dir():
        shutil.copytree(example, archives / "allops")


def _must(runner: Runner, args: list[str], codes: tuple[int, ...] = (0,)) -> None:
    outcome = runner.run(runner.tool, args, {})
    if outcome.code not in codes:
        raise CannotMake(f"{outcome.command()} ended with {outcome.code}: {outcome.err[:300]}")


def write_tables(archive: Path) -> None:
    """The recorder's tables of exchanges and delays, as if ClockOffset records came from them."""
    draw = random.Random(1)
    lines = [SAMPLES]
    for path in sorted((archive / "traces").glob("*.def"), key=lambda path: int(path.stem)):
        for session, (time, offset) in enumerate(records.clock_offsets(path.read_bytes())):
            for exchange in range(6):
                way = 2000 + draw.randrange(3000)
                local, error = time + 20_000 * exchange, draw.randrange(-way // 2, way // 2)
                at = local + offset + (error if exchange > 0 else 0)
                lines.append(f"{session},{path.stem},0,{local},{at},{at},{2 * way},"
                             f"{0 if exchange == 5 else 1}\n")
    (archive / "clock_samples.csv").write_text("".join(lines))
    (archive / "clock_delays.csv").write_text(
        DELAYS + "node0,node0,1200,600,600\nnode1,node0,5338,2056,2356\n")


def leave_unfinished(archive: Path, processes: int) -> None:
    """What a recorded program of three processes leaves when it crashes."""
    folder = archive / "unfinished"
    folder.mkdir(parents=True)
    for rank in range(processes):
        rows = [("process", rank, 3, f"host{rank % 2}", "CLOCK_MONOTONIC_RAW", 1,
                 1795328552914487870, 7487601864908, ""),
                ("comm", 0, "x", "world:0", "MPI_COMM_WORLD", "0-2", "", ""),
                ("comm", 1, "s", "self", "MPI_COMM_SELF", "", "", ""),
                ("location", rank, "Master thread"), ("region", 202, "m", "MPI_Init"),
                ("region", 519, "r", "clock session"), ("clock", 0, "s"),
                ("region", 9, "m", "MPI_Allreduce")]
        text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / f"{rank}.journal").write_text(text)
        (folder / f"{rank}.buffer").write_bytes(_buffer(rank))


def _buffer(rank: int) -> bytes:
    """A chunk of events without end marks."""
    body = bytearray(b"\x03\x42" + (1).to_bytes(8, "little") + (0).to_bytes(8, "little"))
    time = 7487601870000 + rank * 777

    def add(record: bytes) -> None:
        nonlocal time
        time += 500
        body.extend(records.stamp(time, "little") + record)

    add(b"\x0c\x01\xca")
    add(b"\x0d\x01\xca")
    for _ in range(20):
        add(b"\x0c\x01\x09")
        add(b"\x16\x00")
        add(b"\x17\x07\x0b\x00\xff\x01\x08\x01\x08")
        add(b"\x0d\x01\x09")
    body.extend(bytes(EVENT_CHUNK - len(body)))
    return bytes(body)


def _write_topologies(folder: Path) -> None:
    folder.mkdir()
    (folder / "a.dot").mkdir()
    (folder / "a.dot" / "net.dot").write_text(
        'graph net {\n  n0 -- a -- n1;  n2 -- b -- n3;\n  node [type=switch, ports=4];\n'
        '  a -- e -- b;  e -- g;\n  n4 [type=interface]; g -- n4 [delay="60ns"];\n}\n')
    topology = {"interfaces": ["a", "b", "c"],
                "switches": [{"name": "s", "ports": 8}, {"name": "t", "ports": 4}],
                "links": [["a", "s"], {"ends": ["b", "s"], "delay": "17ns"}, ["c", "t"],
                          ["s", "t"]]}
    parameters = {"preset": "myrinet-1280", "ld": "17ns", "cp": "1.28Gbps", "bl": 64, "ks": 42,
                  "kg": 20, "slot-flits": 2000}
    (folder / "b.json").mkdir()
    (folder / "b.json" / "net.json").write_text(json.dumps(topology, indent=1))
    (folder / "c.parameters").mkdir()
    (folder / "c.parameters" / "parameters.json").write_text(json.dumps(parameters, indent=1))
