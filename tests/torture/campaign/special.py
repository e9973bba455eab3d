# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which something else lies where a file is expected: FIFOs, devices, loops, 1 TB."""

import os
import random
import socket
from pathlib import Path

from . import mutate
from .context import Case, Context, remove
from .inputs import judge_unrepaired
from .runner import tree

TERABYTE = 1 << 40


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def _folder(path: Path) -> None:
    path.mkdir()


def _link(target: str):
    return lambda path: os.symlink(target, path)


def _fifo_link(path: Path) -> None:
    os.mkfifo(str(path) + ".fifo")
    os.symlink(path.name + ".fifo", path)


def _terabyte(path: Path) -> None:
    mutate.sparse_file(path, TERABYTE)


def _unreadable(path: Path) -> None:
    path.write_bytes(b"\x03\x42OTF2")
    path.chmod(0)


KINDS = {"FIFO": _fifo, "socket": _socket, "folder": _folder, "zero": _link("/dev/zero"),
         "null": _link("/dev/null"), "full": _link("/dev/full"), "random": _link("/dev/urandom"),
         "terabyte": _terabyte, "link to a FIFO": _fifo_link, "terminal": _link("/dev/tty"),
         "loop": lambda path: os.symlink(path.name, path), "dangling": _link("nowhere"),
         "parent": _link(".."), "proc": _link("/proc/self/mem"), "stdin": _link("/dev/stdin"),
         "empty": lambda path: path.write_bytes(b""), "missing": lambda path: None,
         "unreadable": _unreadable, "through a file": _link("/etc/passwd/x")}
PLACES = {
    "recordings/mixed": ("traces.otf2", "traces.def", "traces", "traces/1.evt", "traces/1.def",
                         "traces/0.evt", "clock_samples.csv", "clock_delays.csv", "traces.marker",
                         "traces/1.snap", "traces/0.snap"),
    "unfinished/p3": ("unfinished", "unfinished/0.journal", "unfinished/1.journal",
                      "unfinished/0.buffer", "unfinished/2.buffer", "traces.otf2", "traces",
                      "traces/0.evt", "traces.def", "clock_samples.csv"),
    "net/a.dot": ("net.dot",), "net/b.json": ("net.json",),
    "net/c.parameters": ("parameters.json",),
    "archives/ring": ("../out", "../t.csv", "../out/x"),
    "runs/synth": ("rank0.json", "rank1.json", "rank7.json", "perfetto_manifest.json", "../out",
                   "../page.html", "../out/x"),
    "runs/packed": ("rank0.json.gz",),
    "spans/otlp": ("host0.jsonl", "host2.jsonl", "x.json", "../out"),
    "edges/csv": ("e.csv", "e.clocks.csv", "v.csv", "../out", "../page.html"),
    "edges/jsonl": ("e.jsonl",),
}
RUNS = {
    "recordings/mixed": (["info", "in"], ["check", "in", "--presync", "regression"],
                         ["check", "in", "--mu", "delays"], ["correct", "in", "-o", "out"],
                         ["correct", "in", "-o", "out", "--mode", "overlay"],
                         ["distort", "in", "-o", "out"], ["drop", "in", "-o", "out", "--tail",
                                                                   "0.5"],
                         ["compare", "in", "in"], ["check", "in/traces.otf2"]),
    "unfinished/p3": (["record", "--repair", "in"],),
    "net/a.dot": (["net", "schedule", "in/net.dot"], ["net", "simulate", "in/net.dot"]),
    "net/b.json": (["net", "schedule", "in/net.json"],),
    "net/c.parameters": (["net", "bound", "--parameters", "in/parameters.json"],),
    "archives/ring": (["correct", "in", "-o", "out"], ["correct", "in", "-o", "out", "--force"],
                      ["distort", "in", "-o", "out", "--force"], ["compare", "in", "in", "--csv",
                                                                  "t.csv"],
                      ["check", "in", "--bounds-csv", "t.csv"], ["correct", "in", "-o", "out/x"],
                      ["edges", "in", "-o", "out"], ["export", "in", "-o", "out", "--force"],
                      ["report", "in", "-o", "out", "--force"]),
    "runs/synth": (["info", "in"], ["check", "in"], ["check", "in/rank0.json", "in/rank1.json"],
                   ["correct", "in", "-o", "out"], ["correct", "in", "-o", "out", "--force"],
                   ["correct", "in", "-o", "out", "--mode", "overlay"],
                   ["distort", "in", "-o", "out"], ["correct", "in", "-o", "out/x"],
                   ["report", "in", "-o", "page.html", "--force"]),
    "runs/packed": (["check", "in"], ["correct", "in", "-o", "out"]),
    "spans/otlp": (["check", "in"], ["correct", "in", "-o", "out"],
                   ["export", "in", "--to", "chrome", "-o", "out", "--force"]),
    "edges/csv": (["align", "in/e.csv"], ["align", "in/e.csv", "--clocks", "in/e.clocks.csv", "-o",
                                          "out"],
                  ["align", "in/e.csv", "-o", "out", "--force", "--apply", "in/v.csv",
                   "--time-column", "when", "--clock-column", "where"],
                  ["align", "in/e.csv", "--report", "page.html"]),
    "edges/jsonl": (["align", "in/e.jsonl", "--bounds"],),
}
WRITES = ("out", "t.csv", "page.html", "out.clocks.csv")


def _look(path: Path):
    """What lies there: its kind, number and size, or where it leads."""
    try:
        status = path.lstat()
    except OSError:
        return None
    target = os.readlink(path) if path.is_symlink() else ""
    inside = sorted(os.listdir(path)) if path.is_dir() and not path.is_symlink() else []
    return status.st_mode, status.st_ino, status.st_size if not inside else 0, target, inside


def combinations() -> list[tuple[str, str, str, list[str]]]:
    return [(base, place, kind, run) for base, places in PLACES.items() for place in places
            for kind in KINDS for run in RUNS[base]]


class Specials:
    """All combinations in a shuffled order that is the same for all seeds."""
    name, weight = "special files", 6

    def __init__(self) -> None:
        self.all = combinations()
        random.Random(7).shuffle(self.all)

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        base, place, kind, run = self.all[number % len(self.all)]
        return Case(base, more={"place": place, "kind": kind, "run": run})

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        path = Path(os.path.normpath(context.place / "in" / case.more["place"]))
        if path.parent.is_dir():
            remove(path)
            KINDS[case.more["kind"]](path)
        before = tree(context.place / "in")
        there = _look(path)
        outcome = context.tool(case.more["run"], writes=WRITES)
        # Where nothing lies the run may write; below a folder that lies there, too.
        is_free = there is None or case.more["kind"] == "missing" or (
            case.more["kind"] in ("folder", "empty") and (
                "--force" in case.more["run"] or "out/x" in case.more["run"]))
        if not is_free and case.more["place"].startswith("../") and _look(path) != there:
            context.find("destroyed", outcome, "what lay in place of the output")
        for finding in context.findings:
            finding.detail += f" ({case.more['kind']} for {case.more['place']})"
        if case.base != "unfinished/p3":
            context.unchanged(before)
        elif outcome.code == 2:
            judge_unrepaired(context, before, outcome)
