# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which something of the user's lies where an output goes, before the run or meanwhile.

What is there stays as it is, and the run is refused, unless it is an earlier result of the tool that
nobody changed, and --force is given."""

import os
import random
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from .context import Case, Context
from .runner import WRITTEN, tree


@dataclass(frozen=True)
class Writer:
    """A run that writes, and the name of what it writes."""
    name: str
    base: str
    args: tuple[str, ...]
    out: str = "out"
    beside: tuple[str, ...] = ()  # other files that it writes
    long: str = ""  # a larger input of this kind
    has_force: bool = True


WRITERS = (
    Writer("correct", "archives/ring", ("correct", "in", "-o", "out"), long="skewed"),
    Writer("overlay", "archives/ring", ("correct", "in", "-o", "out", "--mode", "overlay"),
           long="skewed"),
    Writer("distort", "archives/ring", ("distort", "in", "-o", "out"), long="skewed"),
    Writer("drop", "archives/ring", ("drop", "in", "-o", "out", "--random", "0.1"), long="skewed"),
    Writer("synth", "", ("synth", "-o", "out", "--locations", "2", "--events", "200")),
    Writer("synth chrome", "", ("synth", "-o", "out", "--format", "chrome", "--locations", "2",
                                "--events", "400")),
    Writer("synth otlp", "", ("synth", "-o", "out", "--format", "otlp", "--locations", "2",
                              "--events", "100")),
    Writer("correct run", "runs/synth", ("correct", "in", "-o", "out"), long="long-run"),
    Writer("overlay of a run", "runs/synth", ("correct", "in", "-o", "out", "--mode", "overlay")),
    Writer("distort run", "runs/synth", ("distort", "in", "-o", "out"), long="long-run"),
    Writer("correct spans", "spans/otlp", ("correct", "in", "-o", "out"), long="long-spans"),
    Writer("distort spans", "spans/otlp", ("distort", "in", "-o", "out"), long="long-spans"),
    Writer("align", "edges/csv", ("align", "in/e.csv", "-o", "out", "--apply", "in/v.csv",
                                  "--time-column", "when", "--clock-column", "where")),
    Writer("align long", "long-edges", ("align", "in/e.csv", "-o", "out"), long="long-edges"),
    Writer("report", "archives/ring", ("report", "in", "-o", "page.html"), "page.html",
           long="skewed"),
    Writer("report run", "runs/synth", ("report", "in", "-o", "page.html"), "page.html",
           long="long-run"),
    Writer("edges", "archives/ring", ("edges", "in", "-o", "e.csv"), "e.csv", ("e.clocks.csv",),
           long="skewed"),
    Writer("edges, the clocks", "archives/ring", ("edges", "in", "-o", "e.csv"), "e.clocks.csv",
           ("e.csv",)),
    Writer("edges of spans", "spans/otlp", ("edges", "in", "-o", "e.jsonl"), "e.jsonl",
           ("e.clocks.csv",)),
    Writer("perfetto", "archives/ring", ("export", "in", "-o", "x.pftrace"), "x.pftrace",
           long="skewed"),
    Writer("chrome", "runs/synth", ("export", "in", "--to", "chrome", "-o", "x.json"), "x.json",
           long="long-run"),
    Writer("csv", "spans/otlp", ("export", "in", "--to", "csv", "-o", "x.csv"), "x.csv",
           ("x.clocks.csv",)),
    Writer("check --report", "archives/ring", ("check", "in", "--report", "page.html"), "page.html",
           has_force=False),
    Writer("bounds", "archives/ring", ("check", "in", "--bounds-csv", "b.csv"), "b.csv",
           has_force=False),
    Writer("compare", "archives/ring", ("compare", "in", "in", "--csv", "t.csv"), "t.csv",
           has_force=False),
    Writer("plan", "net/a.dot", ("net", "schedule", "in/net.dot", "-o", "plan.csv"), "plan.csv",
           has_force=False),
)


def _json_folder(path: Path, context: Context) -> None:
    path.mkdir()
    for name in ("package.json", ".secrets.json", "settings.json", "rank0.json", "report.json"):
        (path / name).write_text('{"name": "mine"}\n')


def _json_in_folder(path: Path, context: Context) -> None:
    (path / "d.json").mkdir(parents=True)
    (path / "d.json" / "precious").write_text("precious\n")


def _mixed_folder(path: Path, context: Context) -> None:
    (path / "traces").mkdir(parents=True)
    (path / "traces.otf2").write_bytes(b"mine")
    (path / "thesis.tex").write_text("precious\n")


def _foreign_run(path: Path, context: Context) -> None:
    shutil.copytree(context.seeds / "runs" / "synth", path)
    for file in path.iterdir():
        file.write_bytes(file.read_bytes() + b"\n")


def _foreign_archive(path: Path, context: Context) -> None:
    """As another tracer writes it: an archive without anything of the tool's."""
    foreign = context.seeds / "archives" / "allops"
    if foreign.is_dir():
        shutil.copytree(foreign, path)
    else:
        _mixed_folder(path, context)


def _linked(path: Path, context: Context) -> None:
    os.symlink("beside/package.json", path)


def _linked_folder(path: Path, context: Context) -> None:
    os.symlink("beside", path)


def _hard_link(path: Path, context: Context) -> None:
    os.link(context.place / "beside.json", path)


def _socket(path: Path, context: Context) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


FOREIGN = {
    "text": lambda path, context: path.write_text("precious\n"),
    "page": lambda path, context: path.write_text("<!DOCTYPE html><html>mine</html>\n"),
    "table": lambda path, context: path.write_text("cause_clock,cause_time\n1,2\n"),
    "JSON": lambda path, context: path.write_text('{"schema": 1, "traceEvents": []}\n'),
    "folder of JSON": _json_folder, "JSON as a folder": _json_in_folder, "mixed": _mixed_folder,
    "training run": _foreign_run, "archive": _foreign_archive, "link": _linked,
    "link to a folder": _linked_folder, "hard link": _hard_link, "socket": _socket,
    "dangling link": lambda path, context: os.symlink("nowhere", path),
    "FIFO": lambda path, context: os.mkfifo(path),
    "null": lambda path, context: os.symlink("/dev/null", path),
    "standard output": lambda path, context: os.symlink("/dev/stdout", path),
}
# Earlier results: as they were, or changed by the user since.
CHANGES = ("none", "more", "less", "other bytes", "longer")
EMPTY = {"empty file": lambda path, context: path.write_bytes(b""),
         "empty folder": lambda path, context: path.mkdir()}
# The input itself, or a part of it, is the output.
INPUTS = ("the input", "in the input", "the folder of both", "files one by one")


def _user_changes(path: Path, how: str, draw: random.Random) -> bool:
    """What a user does to a result; false if there is nothing to do it to."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*")
                                                 if one.is_file() and not one.is_symlink())
    if not files:
        return False
    if how == "more":
        if not path.is_dir():
            return False
        (path / draw.choice(("notes.json", ".hidden", "traces.txt"))).write_text("precious\n")
    elif how == "less":
        if not path.is_dir() or len(files) < 2:
            return False
        draw.choice(files).unlink()
    else:
        file = draw.choice(files)
        data = bytearray(file.read_bytes())
        if how == "longer" or not data:
            data += b"\n"
        else:
            data[draw.randrange(len(data))] ^= 1
        file.unlink()  # the input may share the file
        file.write_bytes(data)
    return True


def combinations() -> list[tuple[int, str, bool]]:
    things = [*FOREIGN, *EMPTY, *(f"result, {change}" for change in CHANGES), *INPUTS]
    return [(writer, thing, force) for writer in range(len(WRITERS)) for thing in things
            for force in (False, True) if WRITERS[writer].has_force or not force]


class Places:
    """All combinations of a run, what lies in its place, and --force, in a shuffled order."""
    name, weight = "output places", 10

    def __init__(self) -> None:
        self.all = combinations()
        random.Random(9).shuffle(self.all)

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        writer, thing, force = self.all[number % len(self.all)]
        return Case(WRITERS[writer].base, more={"writer": writer, "thing": thing, "force": force,
                                                "change": draw.getrandbits(32)})

    def run(self, context: Context, case: Case) -> None:
        context.lay(case)
        writer, thing = WRITERS[case.more["writer"]], case.more["thing"]
        args = self._lay_thing(context, case, writer, thing)
        if args is None:
            return
        before = tree(context.place)
        outcome = context.tool(args + (["--force"] if case.more["force"] else []),
                               writes=(writer.out, *writer.beside))
        own = thing == "result, none" and case.more["force"]
        # Nothing can be lost that is not there any more: --force may replace it.
        less = thing == "result, less" and case.more["force"]
        nothing = thing in EMPTY and case.more["force"]
        what = f"{thing} in place of {writer.out}" + (", --force" if case.more["force"] else "")
        written = (writer.out, *writer.beside) if own or less or nothing else ()
        after = tree(context.place)
        lost = [name for name, was in before.items()
                if after.get(name) != was and name.split("/")[1] not in written]
        if lost:
            context.find("destroyed", outcome, f"{what}: {', '.join(lost[:4])}")
        elif own and outcome.code not in WRITTEN:
            context.find("own result", outcome, f"is not replaced: {outcome.err.strip()[:160]}")
        elif not own and not less and not nothing and outcome.code != 2:
            context.find("not refused", outcome, f"{what}: exit code {outcome.code}")

    def _lay_thing(self, context: Context, case: Case, writer: Writer, thing: str):
        """Lays it, and returns the words of the run; nothing if there is no such case."""
        path, args = context.place / writer.out, list(writer.args)
        if thing in FOREIGN or thing in EMPTY:
            (FOREIGN | EMPTY)[thing](path, context)
        elif thing in INPUTS:
            return _into_input(context, writer, thing)
        else:
            made = context.tool(args, writes=(writer.out, *writer.beside))
            if made.code not in WRITTEN or not path.exists():
                context.note("no result to replace")
                return None
            change = thing.removeprefix("result, ")
            if change != "none" and not _user_changes(path, change,
                                                      random.Random(case.more["change"])):
                return None
        return args


def _into_input(context: Context, writer: Writer, thing: str):
    """The run with a part of its input as output."""
    files = sorted(one for one in (context.place / "in").rglob("*") if one.is_file()) \
        if writer.base else []
    if not files or "-o" not in writer.args:
        return None
    args = list(writer.args)
    at = args.index("-o") + 1
    if thing == "the input":
        args[at] = "in" if "in" in args else args[1]
    elif thing == "in the input":
        args[at] = os.path.relpath(files[0], context.place)
    elif thing == "the folder of both":
        args[at] = "."
    else:
        if not writer.base.startswith(("runs", "spans")):
            return None
        place = args.index("in")
        args[place:place + 1] = [os.path.relpath(one, context.place) for one in files[:2]]
        args[args.index("-o") + 1] = "in"
    return args


class Races:
    """A file or folder of the output's name appears while the run is at work."""
    name, weight = "races", 3

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        writers = [at for at, writer in enumerate(WRITERS) if writer.long]
        return Case(WRITERS[writers[number % len(writers)]].long,
                    more={"writer": writers[number % len(writers)], "share": draw.random() ** 0.5,
                          "folder": draw.random() < 0.4})

    def run(self, context: Context, case: Case) -> None:
        writer = WRITERS[case.more["writer"]]
        seconds = self._seconds(context, case, writer)
        self._lay(context, case)
        path = context.place / writer.out
        laid = []

        def act(pid, wait):
            wait(case.more["share"] * seconds)
            try:
                if case.more["folder"]:
                    path.mkdir()
                    (path / "precious").write_text("precious\n")
                else:
                    with open(path, "x", encoding="utf-8") as file:
                        file.write("precious\n")
                laid.append(True)
            except OSError:
                context.note("came too late")  # the result was there

        outcome = context.tool(list(writer.args), (writer.out, *writer.beside), act=act,
                               lenient=True)
        if not laid:
            return
        file = path / "precious" if case.more["folder"] else path
        try:
            kept = file.read_text(encoding="utf-8") == "precious\n"
        except (OSError, UnicodeDecodeError):
            kept = False
        if not kept:
            context.find("destroyed", outcome, f"what appeared as {writer.out} meanwhile")
        elif case.more["folder"] and set(os.listdir(path)) != {"precious"}:
            context.find("destroyed", outcome, f"more is in the folder {writer.out} now")

    def _lay(self, context: Context, case: Case) -> None:
        context.clear()
        context.input = case.base
        os.symlink(context.seeds / case.base, context.place / "in")

    def _seconds(self, context: Context, case: Case, writer: Writer) -> float:
        key = ("race", writer.name)
        if key not in context.references:
            self._lay(context, case)
            context.references[key] = context.tool(list(writer.args),
                                                   (writer.out, *writer.beside)).seconds
        return context.references[key]
