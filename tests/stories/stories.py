#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of three fresh users, whose traces have a clock that is known to be wrong. Each asks
whose it is; the answer must name that clock, with its sign, and a size that is right within the bound.

    tests/stories/stories.py build/dev/bin/entrain [STORY...]

Exit codes: 0 all is well, 1 it is not.
"""

import csv
import io
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


class Failed(Exception):
    """What was expected, and what came."""


def expect(is_true, text):
    if not is_true:
        raise Failed(text)


class Story:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def run(self, code, *words):
        done = subprocess.run([self.tool, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        expect(done.returncode == code,
               f"{' '.join(map(str, words))}: exit code {done.returncode}, not {code}\n"
               f"{done.stdout}{done.stderr}")
        return done.stdout

    def rows(self, *words):
        return json.loads(self.run(0, "clocks", "--json", *words))

    def expect_wrong(self, trace, clock, offset_s, right):
        """The table of clocks names one clock, and calls all others right."""
        table = self.rows(trace)
        first, others = table["clocks"][0], table["clocks"][1:]
        expect(first["clock"] == clock, f"{clock} is wrong, not {first}")
        expect(first["state"] == ("slow" if offset_s > 0 else "fast"), f"the state of {first}")
        expect(first["bound_s"] > 0 and abs(first["offset_s"] - offset_s) <= first["bound_s"],
               f"{clock} lacks {offset_s} s, and not as {first} says")
        expect([row["state"] for row in others] == ["right"] * right, f"the others: {others}")
        expect(all(row["offset_s"] == 0 and row["most_s"] <= row["bound_s"] for row in others),
               f"the others: {others}")
        expect(table["reference"] in [row["clock"] for row in others], table["reference"])
        return first

    def expect_answer(self, text, verdict, clock):
        """A report for people: verdict, culprit, at most a screen."""
        lines = text.splitlines()
        expect(len(lines) <= 25, f"{len(lines)} lines:\n{text}")
        expect(max(map(len, lines)) <= 100, f"too wide:\n{text}")
        expect(lines[0].startswith(verdict), f"the verdict comes first:\n{text}")
        expect(f"\n{clock} is " in text, f"{clock} is not named:\n{text}")
        expect("Worst: " in text, text)
        expect(not re.search(r"\b0 of 0\b", text), f"an empty count:\n{text}")


def services(story):
    """An operator: host17 is 8.45 ms slow."""
    story.run(0, "synth", "--format", "otlp", "--locations", "20", "--events", "40000", "-o", "spans")
    file = story.folder / "spans" / "host17.jsonl"
    (story.folder / "spans" / ".entrain-result").unlink()
    file.write_text(re.sub(r'("(?:start|end)TimeUnixNano":"?)(\d+)',
                           lambda m: m[1] + str(int(m[2]) - 8_450_000), file.read_text()))
    story.expect_wrong("spans", "host17", 8.45e-3, 19)
    text = story.run(1, "check", "spans")
    story.expect_answer(text, "Violations: ", "host17")
    expect("collective" not in text, f"spans have no collectives:\n{text}")
    expect("host17 is slow by 8." in text, text)
    expect(re.search(r"trace [0-9a-f]+ +span [0-9a-f]+", text.replace("\n", " ")),
           f"the worst edge names trace and span:\n{text}")
    # For monitoring.
    story.run(1, "clocks", "spans", "--max-offset", "1ms", "-q")
    story.run(0, "clocks", "spans", "--max-offset", "1s", "-q")
    names = [row["clock"] for row in story.rows("spans", "--sort", "name")["clocks"]]
    expect(names == [f"host{i}" for i in range(20)], f"natural order: {names}")
    table = list(csv.DictReader(io.StringIO(story.run(0, "clocks", "spans", "--csv"))))
    expect(table[0]["clock"] == "host17" and float(table[0]["offset_s"]) > 8e-3, table[0])
    # And back.
    story.expect_answer(story.run(0, "correct", "spans", "-o", "fixed"), "Clean: ", "host17")
    expect(len(story.run(0, "check", "-q", "fixed").splitlines()) <= 2, "-q says the verdict alone")
    report = json.loads(story.run(0, "correct", "spans", "-o", "again", "--json"))
    expect(report["clocks"][0]["clock"] == "host17", "correct --json has the table")
    check = json.loads(story.run(1, "check", "spans", "--json"))
    expect(check["clocks"][0]["clock"] == "host17", "check --json has the table")
    after = story.rows("fixed")
    expect({row["state"] for row in after["clocks"]} == {"right"}, f"after: {after}")


def services_set_clock(story):
    """The clock of host7 is set while it runs, by 12.7 ms forward."""
    story.run(0, "synth", "--format", "otlp", "--locations", "12", "--events", "40000", "-o", "spans")
    file = story.folder / "spans" / "host7.jsonl"
    (story.folder / "spans" / ".entrain-result").unlink()
    text = file.read_text()
    times = [int(t) for t in re.findall(r'TimeUnixNano":"?(\d+)', text)]
    middle = (min(times) + max(times)) // 2
    file.write_text(re.sub(
        r'("(?:start|end)TimeUnixNano":"?)(\d+)',
        lambda m: m[1] + str(int(m[2]) + 12_700_000 * (int(m[2]) >= middle)), text))
    first, *others = story.rows("spans")["clocks"]
    expect(first["clock"] == "host7" and first["state"] == "stepped", f"{first}")
    expect(abs(first["offset_s"] + 12.7e-3) < 1e-3, f"{first}")
    expect(abs(first["since_s"] - middle / 1e9) < 0.05 * (max(times) - min(times)) / 1e9, f"{first}")
    expect({row["state"] for row in others} == {"right"}, f"{others}")


def one_of_two_set(story):
    """One of two clocks is set by 5 ms, and not the other."""
    draw = random.Random(5)
    rows = ["cause_clock,cause_time,effect_clock,effect_time"]
    for i in range(1000):
        send = 1_000_000_000 + i * 500_000
        receive = send + draw.randrange(2_000, 9_000)
        ahead = 5_000_000 if i >= 500 else 0
        rows.append(f"a,{send + ahead},b,{receive}" if i % 2 == 0 else f"b,{send},a,{receive + ahead}")
    (story.folder / "edges.csv").write_text("\n".join(rows) + "\n")
    text = story.run(0, "align", "edges.csv", "-o", "aligned")
    expect("\na was set, and is fast by 5.00" in text, text)
    expect("1 other clock is right" in text, text)


def training(story):
    """An ML engineer: the machine of rank 0 is 5.25 ms ahead, and no bounds are asked for (the
    reference must be a rank that did not move)."""
    run = story.folder / "run"
    shutil.copytree(EXAMPLES / "training", run)
    for extra in ("README.md", "LICENSE"):
        (run / extra).unlink()
    trace = json.loads((run / "rank0.json").read_text())
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"] += 5250
    (run / "rank0.json").write_text(json.dumps(trace))
    story.expect_wrong("run", "rank 0", -5.25e-3, 3)
    story.expect_answer(story.run(1, "check", "run"), "Violations: ", "rank 0")
    text = story.run(0, "correct", "run", "-o", "fixed", "--report", "page.html")
    story.expect_answer(text, "Clean: ", "rank 0")
    page = (story.folder / "page.html").read_text()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page,
                                re.DOTALL)[1])
    expect(data["table"]["reference"] != "rank 0", "the page holds clocks against one that moved")
    expect(data["table"]["clocks"][0]["clock"] == "rank 0", data["table"]["clocks"][0])


def hpc(story):
    """An HPC engineer: an archive of whose processes all but one are off."""
    story.run(0, "synth", "--pattern", "stencil2d", "--locations", "6", "--events", "20000", "-o",
              "truth")
    story.run(0, "distort", "truth", "-o", "exp", "--offset-s", "0.01", "--drift-ppm", "0",
              "--wander-ppm", "0", "--sessions", "0", "--seed", "3")
    differences = json.loads(story.run(0, "compare", "truth", "exp", "--json"))["locations"]
    table = story.rows("exp")
    expect(story.run(0, "clocks", "-q", "exp") == story.run(0, "clocks", "-q", "--sort", "edges", "exp"),
           "the order of rows changes the verdict")
    offsets = {row["clock"]: row for row in table["clocks"]}
    reference = int(table["reference"].split()[-1])
    for one in differences:
        lacks = differences[reference]["mean_s"] - one["mean_s"]
        row = offsets[f"MPI Rank {one['id']}"]
        expect(abs(row["offset_s"] - lacks) <= row["bound_s"] + 1e-9, f"{lacks} s, not {row}")
        wanted = "right" if lacks == 0 else "slow" if lacks > 0 else "fast"
        expect(row["state"] == wanted, f"{lacks} s, not {row}")
    # What stands beside the archive is there in the new experiment, too.
    (story.folder / "exp" / "scorep.cfg").write_text("SCOREP_ENABLE_TRACING=true\n")
    (story.folder / "exp" / "profile.cubex").write_bytes(bytes(range(256)))
    text = story.run(0, "correct", "exp", "-o", "fixed")
    for name in ("scorep.cfg", "profile.cubex"):
        expect((story.folder / "fixed" / name).read_bytes()
               == (story.folder / "exp" / name).read_bytes(), f"{name} is in the new experiment")
    expect(len(text.splitlines()) <= 25 and text.startswith("Clean: "), text)
    expect("in MPI_" in text, f"the worst edge names calls:\n{text}")
    expect("otf2-print" in text.splitlines()[-1], f"the last line says how to go on:\n{text}")


def mistakes(story):
    """Hands that slip get the right hint, and exit code 2."""
    def refuse(wanted, *words):
        done = subprocess.run([story.tool, *map(str, words)], cwd=story.folder, capture_output=True,
                              text=True, check=False)
        expect(done.returncode == 2 and wanted in done.stderr and done.stderr.count("\n") == 1,
               f"{words}: exit code {done.returncode}, {done.stderr}{done.stdout}")

    story.run(0, "synth", "--locations", "2", "--events", "2000", "-o", "exp")
    for part in ("exp/traces.def", "exp/traces/0.evt", "exp/traces/", "exp/traces"):
        refuse("exp/traces.otf2", "check", part)
    refuse("did you mean check?", "chekc", "exp")
    refuse("did you mean --bounds?", "check", "exp", "--bouns")
    refuse("did you mean --presync?", "check", "exp", "--presnyc=none")
    refuse("lies in the input", "correct", "exp", "-o", "exp/fixed")
    refuse("there is no folder nowhere", "correct", "exp", "-o", "nowhere/fixed")
    expect(not (story.folder / "nowhere").exists(), "no folder is made")
    (story.folder / "page.html").write_text("mine")
    refuse("--force", "report", "exp", "-o", "page.html")
    (story.folder / "there").mkdir()
    (story.folder / "there" / "x").write_text("mine")
    refuse("--force", "correct", "exp", "-o", "there")
    for name, hint in (("t.csv.gz", "packed table"), ("t.html", "page for a browser"),
                       ("t.tar.xz", "packed with xz"), ("t.json.zst", "zstd -d"),
                       ("t.tar.gz", "tar xzf")):
        (story.folder / name).write_text("x")
        refuse(hint, "check", name)
    run = story.folder / "run"
    shutil.copytree(EXAMPLES / "training", run)
    (run / "rank3.json").rename(run / "rank3.json.zst")
    refuse("rank3.json.zst", "check", "run")
    short = story.run(0, "correct", "--help")
    expect(len(short.splitlines()) <= 75, f"a short help has {len(short.splitlines())} lines")
    expect("--max-slope" in short and "Slope of the ramps" not in short, short)
    expect("Slope of the ramps" in story.run(0, "correct", "--help-all"), "--help-all has all")


STORIES = {f.__name__: f for f in (services, services_set_clock, one_of_two_set, training, hpc, mistakes)}


def main():
    tool = str(Path(sys.argv[1]).resolve())
    failed = False
    for name in sys.argv[2:] or STORIES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                STORIES[name](Story(tool, Path(folder)))
                print(f"{name}: ok")
            except Failed as error:
                failed = True
                print(f"{name}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
