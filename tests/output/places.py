#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every output of every verb, at every kind of place: an output appears, replaces an unchanged
earlier result with --force, or is refused with exit code 2. Whatever happens, nothing else in the
folder changes: neither a byte nor an inode nor a time.

places.py ENTRAIN: prints the failures and their number."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FINE = (0, 1, 3)  # what a run ends with that has written its output

# Name, kind of output, arguments without the output, the option of the output, --force is known.
# {name} is an input of the sandbox.
VERBS = [
    ("correct", "folder", "correct {otf2}", "-o", True),
    ("correct overlay", "folder", "correct {otf2} --mode overlay", "-o", True),
    ("correct training", "folder", "correct {training}", "-o", True),
    ("correct files", "folder", "correct {training}/rank0.json {training}/rank1.json", "-o", True),
    ("correct spans", "folder", "correct {spans}", "-o", True),
    ("distort", "folder", "distort {otf2}", "-o", True),
    ("distort training", "folder", "distort {training}", "-o", True),
    ("distort spans", "folder", "distort {spans}", "-o", True),
    ("drop", "folder", "drop {otf2} --random 0.1", "-o", True),
    ("synth", "folder", "synth --locations 2 --events 100", "-o", True),
    ("synth training", "folder", "synth --format chrome --locations 2 --events 400", "-o", True),
    ("synth spans", "folder", "synth --format otlp --locations 2 --events 400", "-o", True),
    ("align", "folder", "align {edges}", "-o", True),
    ("net tables", "folder", "net tables", "--svg", False),
    ("report", "file", "report {otf2}", "-o", True),
    ("report training", "file", "report {training}", "-o", True),
    ("edges", "file", "edges {otf2}", "-o", True),
    ("edges training", "file", "edges {training}", "-o", True),
    ("export", "file", "export {otf2}", "-o", True),
    ("export chrome", "file", "export {otf2} --to chrome", "-o", True),
    ("export csv", "file", "export {otf2} --to csv", "-o", True),
    ("export training", "file", "export {training}", "-o", True),
    ("export spans", "file", "export {spans} --to chrome", "-o", True),
    ("merge", "file", "merge {training}", "-o", True),
    ("summarise", "file", "summarise {training}", "-o", True),
    ("fit", "file", "fit {summary}", "-o", True),
    ("apply", "folder", "apply {clocks} {training}", "-o", True),
    ("check --report", "file", "check {otf2}", "--report", False),
    ("check --bounds-csv", "file", "check {training} --bounds", "--bounds-csv", False),
    ("align --report", "file", "align {edges}", "--report", False),
    ("compare --csv", "file", "compare {otf2} {otf2}", "--csv", False),
    ("net schedule", "file", "net schedule tree:2x2", "-o", False),
    ("net simulate", "file", "net simulate tree:2x2", "--csv", False),
]


def make_inputs(entrain, folder):
    for name, flags in (("otf2", ["--locations", "2", "--events", "100"]),
                        ("training", ["--format", "chrome", "--locations", "2", "--events", "400"]),
                        ("spans", ["--format", "otlp", "--locations", "2", "--events", "400"])):
        subprocess.run([entrain, "synth", "-o", folder / name, *flags], check=True,
                       capture_output=True)
    for words in (["summarise", "training", "-o", "run.edges"],
                  ["fit", "run.edges", "-o", "run.clocks"]):
        subprocess.run([entrain, *words], cwd=folder, check=True, capture_output=True)
    (folder / "edges.csv").write_text("cause_clock,cause_time,effect_clock,effect_time\n"
                                      "a,1000,b,2000\nb,3000,a,4000\n")


def snapshot(folder):
    """Path -> kind, content, inode, time of the last change: of everything but `folder` itself."""
    found = {}
    for base, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(base, name)
            status = path.lstat()
            content = None
            if stat.S_ISREG(status.st_mode):
                content = path.read_bytes()
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            changed = None if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
            found[str(path)] = (stat.S_IFMT(status.st_mode), content, status.st_ino, changed)
    return found


class Sandbox:
    """A folder with inputs in `in` and the place of an output."""

    def __init__(self, entrain, inputs, verb):
        self.entrain = entrain
        self.name, self.kind, arguments, self.option, self.force_is_known = verb
        self.root = Path(tempfile.mkdtemp(prefix="entrain-places-"))
        shutil.copytree(inputs, self.root / "in", symlinks=True, copy_function=shutil.copy2)
        paths = {name: self.root / "in" / name for name in ("otf2", "training", "spans")}
        paths |= {"edges": self.root / "in" / "edges.csv",
                  "summary": self.root / "in" / "run.edges",
                  "clocks": self.root / "in" / "run.clocks"}
        self.arguments = [word.format(**paths) for word in arguments.split()]
        self.place = self.root / ("out.csv" if self.kind == "file" else "out")

    def inputs(self):
        return [Path(word) for word in self.arguments if word.startswith(str(self.root))]

    def run(self, place, force=False):
        command = [self.entrain, *self.arguments, self.option, str(place)]
        return subprocess.run(command + (["--force"] if force else []), capture_output=True,
                              text=True, timeout=300, stdin=subprocess.DEVNULL, cwd=self.root)


# The places: each function prepares one and returns its path, whether a run without --force is
# fine there, and whether one with it is; or None where there is no such place.

def free(box):
    return box.place, True, True


def own(box):
    outcome = box.run(box.place)
    if outcome.returncode not in FINE:
        raise RuntimeError(f"{box.name} cannot write to a free place: {outcome.stderr}")
    return box.place, False, True


def own_copied(box):
    own(box)
    copy = box.root / ("copy.csv" if box.kind == "file" else "copy")
    if box.kind == "file":
        shutil.copy2(box.place, copy)
    else:
        shutil.copytree(box.place, copy, symlinks=True)  # keeps times
    return copy, False, True


def own_with_more(box):
    own(box)
    if box.kind == "file":
        with open(box.place, "a") as file:
            file.write("\nmine")
    else:
        (box.place / ".secrets.json").write_text("{}")
    return box.place, False, False


def own_changed(box):
    own(box)
    target = box.place
    if box.kind == "folder":
        files = [p for p in sorted(box.place.rglob("*")) if p.is_file() and not p.is_symlink() and
                 p.name != ".entrain-result" and p.stat().st_size]
        target = files[-1]
    content = bytearray(target.read_bytes())
    content[-1] ^= 1
    target.write_bytes(content)
    later = target.stat().st_mtime_ns + 10**9  # some systems tell times to 4 ms only
    os.utime(target, ns=(later, later))
    return box.place, False, False


def foreign_file(box):
    box.place.write_text("[1, 2]\n")
    return box.place, False, False


def claims_a_mark(box):
    mark = "written by entrain 0.1.0 crc32 00000000\n"
    if box.kind == "file":
        box.place.write_text(mark)
    else:
        box.place.mkdir()
        (box.place / ".entrain-result").write_text(mark)
    return box.place, False, False


def foreign_folder(box):
    box.place.mkdir()
    (box.place / "package.json").write_text('{"name": "app"}')
    (box.place / ".secrets.json").write_text("{}")
    (box.place / "d.json").mkdir()
    return box.place, False, False


def foreign_archive(box):
    """Has the names of a result, and was written by somebody else."""
    shutil.copytree(box.root / "in" / "otf2", box.place)
    (box.place / ".entrain-result").unlink()
    return box.place, False, False


def empty(box):
    if box.kind == "folder":
        box.place.mkdir()
    else:
        box.place.touch()
    return box.place, False, True


def link_to_own(box):
    own(box)
    link = box.root / "link.csv"
    link.symlink_to(box.place)
    return link, False, False


def dangling_link(box):
    box.place.symlink_to("nowhere")
    return box.place, False, False


def fifo(box):
    os.mkfifo(box.place)
    return box.place, False, False


def unix_socket(box):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(box.place))
    return box.place, False, False


def device(box):
    try:
        os.mknod(box.place, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        return None  # needs privileges
    return box.place, False, False


def the_input(box):
    return (box.inputs()[0], False, False) if box.inputs() else None


def around_the_input(box):
    return (box.root / "in", False, False) if box.inputs() else None


def in_the_input(box):
    if not box.inputs() or not box.inputs()[0].is_dir():
        return None
    folder = box.inputs()[0]
    if folder.name == "otf2":
        folder /= "traces"
    return folder / box.place.name, False, False


def through_a_link_in_the_input(box):
    if not box.inputs() or not box.inputs()[0].is_dir():
        return None
    folder = box.inputs()[0]
    link = box.root / "elsewhere"
    link.symlink_to(folder / "traces" if folder.name == "otf2" else folder)
    return link / box.place.name, False, False


def hard_link_of_the_input(box):
    if not box.inputs() or box.kind == "folder":
        return None
    one = box.inputs()[0]
    if one.is_dir():
        one = next(p for p in sorted(one.rglob("*")) if p.is_file() and p.name[0] != ".")
    os.link(one, box.place)
    return box.place, False, False


PLACES = [free, own, own_copied, own_with_more, own_changed, foreign_file, claims_a_mark,
          foreign_folder, foreign_archive, empty, link_to_own, dangling_link, fifo, unix_socket,
          device, the_input, around_the_input, in_the_input, through_a_link_in_the_input,
          hard_link_of_the_input]


def problems_of(box, place, outcome, expected, before):
    """What is wrong with a run; `before`: the snapshot of the sandbox."""
    written = outcome.returncode in FINE
    if written != expected:
        yield f"exit code {outcome.returncode}: {outcome.stderr.strip()}"
    if not written and outcome.returncode != 2:
        yield f"exit code {outcome.returncode}"
    if not written and (outcome.stderr.replace("\n" + 9 * " ", " ").count("\n") != 1 or len(outcome.stderr) > 1000):
        yield f"no single sentence: {outcome.stderr!r}"
    after = snapshot(box.root)
    if written:
        clocks = str(place)[:-4] + ".clocks.csv" if box.name.startswith("edges") else None
        for found in (before, after):
            for path in list(found):
                if path == str(place) or path.startswith(f"{place}/") or path == clocks:
                    del found[path]
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            yield f"{path}: {str(before.get(path))[:80]} became {str(after.get(path))[:80]}"


def try_verb(entrain, inputs, verb):
    runs, failures = 0, []
    for prepare in PLACES:
        for force in (False, True) if verb[4] else (False,):
            box = Sandbox(entrain, inputs, verb)
            try:
                prepared = prepare(box)
                if prepared is None:
                    continue
                place, fine, fine_with_force = prepared
                before = snapshot(box.root)
                outcome = box.run(place, force)
                runs += 1
                expected = fine_with_force if force else fine
                what = f"{box.name} {'--force ' if force else ''}to {prepare.__name__}"
                failures += [f"{what}: {p}"
                             for p in problems_of(box, place, outcome, expected, before)]
            finally:
                shutil.rmtree(box.root)
    return runs, failures


def main():
    entrain = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="entrain-places-") as folder:
        make_inputs(entrain, Path(folder))
        probe = Sandbox(entrain, folder, VERBS[14])
        pages = probe.run(probe.place).returncode in FINE
        shutil.rmtree(probe.root)
        verbs = [v for v in VERBS if pages or "report" not in v[0]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda verb: try_verb(entrain, folder, verb), verbs))
    runs = sum(n for n, _ in results)
    failures = [failure for _, found in results for failure in found]
    for failure in failures:
        print(failure)
    print(f"{runs} runs of {len(verbs)} kinds of output at {len(PLACES)} kinds of place, "
          f"{len(failures)} failures" + ("" if pages else "; without pages, which need npm"))
    return 1 if failures or runs < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
