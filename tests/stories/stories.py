#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The commands of three fresh users, whose traces have a clock that is known to be wrong. Each asks
whose it is; the answer must name that clock, with its sign, and a size that is right within the bound.

    tests/stories/stories.py build/dev/bin/entrain [STORY...]

Exit codes: 0 all is well, 1 it is not.
"""

import csv
import fcntl
import gzip
import http.server
import io
import json
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
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
        expect(all(abs(row["offset_s"]) <= row["most_s"] <= row["bound_s"] for row in others),
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
        expect(verdict != "Violations: " or "entrain correct repairs" in " ".join(text.split()),
               f"the report says how to go on:\n{text}")
        expect(not re.search(r"\b0 of 0\b|^[a-z_]+(, [a-z]+)* {2,}0 {2,}", text, re.MULTILINE), f"an empty row:\n{text}")


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
    expect(not re.search("collective|receive|p2p", text), f"words of other traces:\n{text}")
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
    expect("1 other clock is right" in text or "the reference is b" in text, text)


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
    text = story.run(1, "check", "run")
    story.expect_answer(text, "Violations: ", "rank 0")
    worst = " ".join(text[text.index("Worst: "):].split())
    expect(re.match(r"Worst: rank \d device \d in nccl\w+ on stream 84, ProfilerStep#10 at ", worst),
           f"the worst edge names device, kernel, stream and step:\n{text}")
    expect("a collective ends before all have begun it" in " ".join(text.split()), text)
    text = story.run(0, "correct", "run", "-o", "fixed", "--report", "page.html")
    story.expect_answer(text, "Clean: ", "rank 0")
    page = (story.folder / "page.html").read_text()
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page,
                                re.DOTALL)[1])
    expect(data["table"]["reference"] != "rank 0", "the page holds clocks against one that moved")
    expect(data["table"]["clocks"][0]["clock"] == "rank 0", data["table"]["clocks"][0])


def training_set_clock(story):
    """The machine of rank 2 is set by 7 ms forward in the middle of a training run."""
    story.run(0, "synth", "--format", "chrome", "--locations", "4", "--events", "8000", "-o", "run")
    file = story.folder / "run" / "rank2.json"
    (story.folder / "run" / ".entrain-result").unlink()
    trace = json.loads(file.read_text())
    timed = [event for event in trace["traceEvents"] if "dur" in event]
    middle = sorted(float(event["ts"]) for event in timed)[len(timed) // 2]
    for event in trace["traceEvents"]:
        if "ts" in event and float(event["ts"]) >= middle:
            event["ts"] = round(float(event["ts"]) + 7000, 3)
    file.write_text(json.dumps(trace))
    text = story.run(1, "check", "run")
    expect("Explained: the clock of rank 2 was set by +7.000 ms at " in text, text)
    expect("\nrank 2 was set, and is fast by 7.000 ms since; 3 other clocks are right.\n" in text, text)


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
        sentence = done.stderr.replace("\n         ", " ")
        expect(done.returncode == 2 and wanted in sentence and sentence.count("\n") == 1,
               f"{words}: exit code {done.returncode}, {done.stderr}{done.stdout}")
        expect(max(map(len, done.stderr.splitlines())) <= 100, f"too wide:\n{done.stderr}")

    story.run(0, "synth", "--locations", "2", "--events", "2000", "-o", "exp")
    (story.folder / "empty.otf2").touch()
    for part in ("exp/traces.def", "exp/traces/0.evt", "exp/traces/", "exp/traces"):
        refuse("exp/traces.otf2", "check", part)
    refuse("did you mean check?", "chekc", "exp")
    refuse("did you mean --bounds?", "check", "exp", "--bouns")
    refuse("did you mean --presync?", "check", "exp", "--presnyc=none")
    refuse("did you mean --version?", "--versoin")
    refuse("entrain edges writes the table of edges", "align", "exp")
    refuse("entrain edges writes the table of edges", "align", "exp/traces.otf2")
    refuse("it is empty", "check", "empty.otf2")
    refuse("lies in the input", "correct", "exp", "-o", "exp/fixed")
    refuse("there is no folder nowhere", "correct", "exp", "-o", "nowhere/fixed")
    expect(not (story.folder / "nowhere").exists(), "no folder is made")
    # --force is advised for results of the tool, and not where it would be refused, too.
    story.run(0, "report", "exp")
    refuse("--force", "report", "exp")
    (story.folder / "page.html").write_text("mine")
    refuse("choose another name, or remove it", "report", "exp", "-o", "page.html")
    story.run(0, "correct", "exp", "-o", "there")
    refuse("--force", "correct", "exp", "-o", "there")
    (story.folder / "there" / "x").write_text("mine")
    refuse("choose another name, or remove it", "correct", "exp", "-o", "there")
    for verb in ("correct", "distort", "export", "edges", "report"):
        refuse("results are not written to standard output", verb, "exp", "-o", "-")
    expect(not (story.folder / "-").exists(), "no folder is called -")
    for name, hint in (("t.csv.gz", "is no table of spans"), ("t.html", "page for a browser"),
                       ("t.tar.xz", "packed with xz"), ("t.tar.gz", "tar xzf"),
                       ("t.zst", "name it .json.zst"), ("t.gz", "name it .json.gz")):
        (story.folder / name).write_text("x")
        refuse(hint, "check", name)
    for name in ("u.json", "u.csv"):
        (story.folder / name).write_text("[]", encoding="utf-16")
    refuse("is UTF-16", "check", "u.json")
    refuse("is UTF-16", "align", "u.csv")
    refuse("is UTF-16", "align", "u.csv", "--columns", "cause_clock=1")
    refuse("--columns: nothing is given", "align", "u.csv", "--columns", "")
    short = story.run(0, "correct", "--help")
    expect(len(short.splitlines()) <= 75, f"a short help has {len(short.splitlines())} lines")
    expect("--max-slope" in short and "Slope of the ramps" not in short, short)
    expect("Slope of the ramps" in story.run(0, "correct", "--help-all"), "--help-all has all")


def device(story):
    """The device of rank 1 is late, and no call of its host is known to wait for it."""
    trace = json.loads((EXAMPLES / "training" / "rank1.json").read_text())
    run = story.folder / "run"
    shutil.copytree(EXAMPLES / "training", run, ignore=shutil.ignore_patterns("README.md", "LICENSE"))
    for event in trace["traceEvents"]:
        if event["ph"] != "M" and (event.get("cat") in ("kernel", "gpu_memcpy") or event.get("pid") == 0):
            event["ts"] += 5000
    (run / "rank1.json").write_text(json.dumps(trace))
    text = story.run(0, "clocks", "-q", "run")
    expect("rank 1 (or only rank 1 device 1) is fast by 5.0" in text, text)
    expect(story.rows("run")["clocks"][0]["maybe_only"] == "rank 1 device 1", "--json names the device")
    # A host that moves with its device cannot be right alone: its launches would come too late.
    for event in trace["traceEvents"]:
        if event["ph"] != "M" and not (event.get("cat") in ("kernel", "gpu_memcpy") or event.get("pid") == 0):
            event["ts"] += 5000
    (run / "rank1.json").write_text(json.dumps(trace))
    text = story.run(0, "clocks", "-q", "run")
    expect("rank 1 is fast by 5.0" in text, text)


def nothing_to_say(story):
    """What `check` cannot prove, `clocks` does not call right."""
    spans = json.loads((EXAMPLES / "services" / "ascend.json").read_text())
    for span in spans:
        span["localEndpoint"] = {"serviceName": "x", "ipv4": "1.1.1.1"}
    (story.folder / "one.json").write_text(json.dumps(spans))
    check = story.run(3, "check", "-q", "one.json")
    expect(story.run(3, "clocks", "-q", "one.json") == check, "one verdict")
    document = json.loads(story.run(3, "clocks", "--json", "one.json"))
    expect((document["verdict"], document["verdict_reason"]) == ("unproven", "no_edges"), document)
    expect(document["clocks"][0]["state"] == "untied", document)
    story.run(3, "clocks", "-q", "--max-offset", "1s", "one.json")


def tables(story):
    """Tables of all sorts: which clock is the reference, late years, other units, wide names."""
    draw = random.Random(8)

    def rows(of, offset, begin=1_000_000_000, apart=500_000, count=400, step=1):
        lines = ["cause_clock,cause_time,effect_clock,effect_time"]
        for i in range(count):
            a, b = draw.sample(of, 2)
            sent = begin + i * apart
            lines.append(f"{a},{sent + offset(a, sent)},{b},"
                         f"{sent + draw.randrange(2_000, 9_000, step) + offset(b, sent)}")
        (story.folder / "e.csv").write_text("\n".join(lines) + "\n")

    # All but the first one seem to be wrong: the text says against which one.
    rows("abcd", lambda clock, _: 300_000 * (clock == "a"))
    text = story.run(0, "align", "e.csv")
    expect("; the reference is a." in text and "the clock lacks against a:" in text, text)
    # The year 2100 is as exact as today.
    rows("abcd", lambda clock, _: -300_000 * (clock == "c"), begin=4_102_444_800_000_000_000)
    report = json.loads(story.run(0, "align", "e.csv", "--bounds", "--json"))
    first = report["clocks"][0]
    expect(first["clock"] == "c" and abs(first["offset_s"] - 3e-4) <= first["bound_s"], first)
    expect(abs(first["drift_ppm"]) < 20, first)
    rows("ab", lambda *_: 0, begin=2**62 + 1, count=1)
    done = subprocess.run([story.tool, "align", "e.csv"], cwd=story.folder, capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 2 and "is too large" in done.stderr, done.stderr)
    # Microseconds of 32 bits, told in nanoseconds.
    rows("abcd", lambda clock, sent: 0 if clock != "d" else
         (sent // 1000 + 2**31) % 2**32 * 1000 - sent, begin=0, apart=20_000_000_000, step=1000)
    expect("the counter of clock d wraps at 2^32 x 1000 ticks" in " ".join(story.run(0, "align", "e.csv").split()),
           "counted on")
    # Names of 300 letters.
    rows(["a", "b" * 300, "c"], lambda clock, _: 300_000 * (clock[0] == "b"))
    text = story.run(0, "align", "e.csv")
    expect(max(map(len, text.splitlines())) <= 100, f"too wide:\n{text}")
    # A table that contradicts itself as a whole: nothing is written, and the report says so.
    rows("abc", lambda *_: draw.randrange(2_000), apart=1_000)
    lines = (story.folder / "e.csv").read_text().splitlines()
    turned = [",".join([effect, received, cause, sent])
              for cause, sent, effect, received in (line.split(",") for line in lines[1:])]
    (story.folder / "back.csv").write_text("\n".join([lines[0], *turned]) + "\n")
    for output in ("maps.csv", "maps"):
        text = story.run(3, "align", "back.csv", "-o", output)
        expect("Nothing is written" in text and not (story.folder / output).exists(), text)
    story.run(3, "align", "back.csv", "--apply", "back.csv", "--time-column", "effect_time",
              "--clock-column", "effect_clock", "-o", "mapped.csv")
    expect(not (story.folder / "mapped.csv").exists(), "nothing is mapped")
    told = json.loads(story.run(3, "align", "back.csv", "--json", "--report", "back.html"))
    expect(told["contradicts_itself"] and told["clocks"] is None, "no clock is called right")
    expect("clocks are right" not in (story.folder / "back.html").read_text(), "nor in the page")
    # Other maps that are unproven say so themselves.
    (story.folder / "two.csv").write_text(lines[0] + "\na,100,b,50\nb,120,a,70\n")
    story.run(3, "align", "two.csv", "-o", "two_maps.csv")
    maps = list(csv.DictReader((story.folder / "two_maps.csv").open()))
    expect({row["verdict"] for row in maps} == {"unproven"}, f"{maps}")
    # No rows at all, and one that stays violated.
    (story.folder / "e.csv").write_text("cause_clock,cause_time,effect_clock,effect_time\n")
    expect("violations" not in story.run(3, "align", "e.csv"), "a table without rows")
    rows(["a", "b"], lambda clock, _: 2_500_000_000_000_000_000 * (clock == "a"), count=1)
    text = story.run(1, "align", "e.csv", "--presync", "none")
    expect("1 of 1 edge still comes too early" in text and "clocks are right" not in text, text)
    # A distorted training run has no ClockOffset records.
    expect("ClockOffset" not in story.run(0, "distort", EXAMPLES / "training", "-o", "wrong"), "residual")


def packed(story):
    """gzip, zstd and standard input; single files stay single files."""
    story.run(0, "synth", "--format", "otlp", "--locations", "4", "--events", "4000", "-o", "truth")
    story.run(0, "distort", "truth", "-o", "wrong", "--offset-s", "0.01")
    lines = "".join(one.read_text() for one in sorted((story.folder / "wrong").glob("*.jsonl")))
    (story.folder / "all.jsonl").write_text(lines)
    story.run(0, "correct", "all.jsonl", "-o", "right.jsonl")
    story.run(0, "correct", "all.jsonl", "-o", "RIGHT.JSONL")
    expect((story.folder / "RIGHT.JSONL").is_file(), "a name in capitals is one of a file, too")
    right = (story.folder / "right.jsonl").read_text()
    expect(right != lines and right.count("\n") == lines.count("\n"), "the new file")
    for packer, ending in (("gzip", ".gz"), ("zstd", ".zst")):
        if shutil.which(packer) is None:
            continue
        subprocess.run([packer, "-q", "-k", "all.jsonl"], cwd=story.folder, check=True)
        story.run(0, "correct", f"all.jsonl{ending}", "-o", f"right.jsonl{ending}")
        unpacked = subprocess.run([packer, "-dc", f"right.jsonl{ending}"], cwd=story.folder, check=True,
                                  capture_output=True, text=True).stdout
        expect(unpacked == right, f"{packer}: the same times, packed the same way")
        piped = subprocess.run([story.tool, "correct", "-", "-o", f"piped.jsonl{ending}", "-q"],
                               input=(story.folder / f"all.jsonl{ending}").read_bytes(), check=False,
                               cwd=story.folder, capture_output=True)
        expect(piped.returncode == 0, piped.stderr)
        expect((story.folder / f"piped.jsonl{ending}").read_bytes()
               == (story.folder / f"right.jsonl{ending}").read_bytes(), "from standard input")
        done = subprocess.run([story.tool, "correct", f"all.jsonl{ending}", "-o", "x.jsonl"],
                              cwd=story.folder, capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and f"name it x.jsonl{ending}" in done.stderr, done.stderr)
        # A file that was cut: where it holds something, that counts, and else it says so.
        whole = (story.folder / f"all.jsonl{ending}").read_bytes()
        (story.folder / f"cut.jsonl{ending}").write_bytes(whole[:12])
        done = subprocess.run([story.tool, "check", f"cut.jsonl{ending}"], cwd=story.folder,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and "is cut off after 12 bytes" in done.stderr, done.stderr)
    done = subprocess.run([story.tool, "correct", "wrong", "-o", "folder.jsonl"], cwd=story.folder,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "folder.jsonl is the name of a file" in done.stderr, done.stderr)
    for words in (("-o", "out"), ("-o", "x.jsonl", "--mode", "overlay")):
        done = subprocess.run([story.tool, "correct", "-", *words], input=lines, cwd=story.folder,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and not (story.folder / words[1]).exists(), done.stderr)
    piped = subprocess.run([story.tool, "clocks", "-", "--json"], input=lines, text=True, check=False,
                           cwd=story.folder, capture_output=True)
    expect(json.loads(piped.stdout)["archive"] == "standard input", piped.stderr)
    # The rule of --force: an unchanged result is replaced, and nothing else.
    if hasattr(os, "getxattr"):
        try:
            os.getxattr(story.folder / "right.jsonl", "user.entrain.result")
        except OSError:
            return  # this file system keeps no attributes
    story.run(0, "correct", "all.jsonl", "-o", "right.jsonl", "--force")
    (story.folder / "right.jsonl").write_text("mine")
    story.run(2, "correct", "all.jsonl", "-o", "right.jsonl", "--force")
    expect((story.folder / "right.jsonl").read_text() == "mine", "what is no result stays")
    # Tables.
    edges = "".join(f"a,{t},b,{t - 950}\nb,{t - 500},a,{t + 510}\n" for t in range(10_000, 200_000, 2_000))
    (story.folder / "e.csv").write_text("cause_clock,cause_time,effect_clock,effect_time\n" + edges)
    story.run(0, "align", "e.csv", "-o", "maps.csv")
    maps = (story.folder / "maps.csv").read_text()
    expect(maps.startswith("clock,"), maps[:80])
    subprocess.run(["gzip", "-k", "e.csv"], cwd=story.folder, check=True)
    story.run(0, "align", "e.csv.gz", "-o", "maps2.csv")
    expect((story.folder / "maps2.csv").read_text() == maps, "a packed table")
    story.run(0, "align", "e.csv", "--apply", "e.csv.gz", "--time-column", "effect_time", "--clock-column",
              "effect_clock", "-o", "mapped.csv.gz")
    mapped = gzip.decompress((story.folder / "mapped.csv.gz").read_bytes()).decode()
    expect(mapped.count("\n") == edges.count("\n") + 1, "the mapped table, packed as it was")


def way_back(story):
    """Corrected spans go back as docs/manual/services.md says."""
    story.run(0, "synth", "--format", "otlp", "--locations", "4", "--events", "2000", "-o", "truth")
    story.run(0, "distort", "truth", "-o", "wrong", "--offset-s", "0.01")
    story.run(0, "correct", "wrong", "-o", "right", "--mark-offsets")
    lines = [line for file in sorted((story.folder / "right").glob("*.jsonl"))
             for line in file.read_text().splitlines()]
    # What the receiver otlpjsonfile takes: a request per line.
    expect(all(set(json.loads(line)) == {"resourceSpans"} for line in lines), "requests, one per line")
    expect("entrain.offset_ns" in "".join(lines), "--mark-offsets")
    got = []

    class Taker(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Content-Type"], json.loads(body)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    script = re.search(r"```sh way-back\n(.*?)```", (ROOT / "docs/manual/services.md").read_text(), re.DOTALL)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        subprocess.run(["bash", "-euc", script[1]], cwd=story.folder, check=True,
                       env=os.environ | {"OTLP": f"http://127.0.0.1:{server.server_port}"})
    finally:
        server.shutdown()
    expect({(path, kind) for path, kind, _ in got} == {("/v1/traces", "application/json")}, "requests")
    expect([body for _, _, body in got] == [json.loads(line) for line in lines], "all spans, as corrected")
    # Jaeger's page takes what it has written: only times change.
    spans = [{"traceID": "1", "spanID": f"a{i}", "operationName": "call", "startTime": 1_700_000_000_000_000 + t,
              "duration": d, "processID": p, "tags": [{"key": "span.kind", "type": "string", "value": k}],
              "references": r, "logs": []}
             for i, (t, d, p, k, r) in enumerate([
                 (0, 5000, "p1", "client", []),
                 (9000, 3000, "p2", "server",
                  [{"refType": "CHILD_OF", "traceID": "1", "spanID": "a0"}])])]
    processes = {f"p{i}": {"serviceName": f"s{i}", "tags": [
        {"key": "hostname", "type": "string", "value": f"h{i}"}]} for i in (1, 2)}
    answer = {"data": [{"traceID": "1", "spans": spans, "processes": processes}], "total": 0, "errors": None}
    (story.folder / "trace.json").write_text(json.dumps(answer))
    story.run(0, "correct", "trace.json", "-o", "right.json", "--mark-offsets")
    after = json.loads((story.folder / "right.json").read_text())
    for one, other in zip(after["data"][0]["spans"], spans):
        one["tags"] = [tag for tag in one["tags"] if tag["key"] != "entrain.offset_ns"]
        for key in ("startTime", "duration"):
            one[key] = other[key]
    expect(after == answer, f"only times and marks change: {after}")


def counts(story):
    """check, correct and the page count the same edges, and -q says the verdict alone."""
    story.run(0, "synth", "--pattern", "mixed", "--locations", "4", "--events", "20000", "-o", "truth")
    story.run(0, "distort", "truth", "-o", "exp", "--offset-s", "0.01", "--sessions", "0")
    for trace, code in (("exp", 1), (EXAMPLES / "training", 0), (EXAMPLES / "services" / "ascend.json", 1)):
        check = json.loads(story.run(code, "check", "--json", trace))
        correct = json.loads(story.run(0, "correct", "--json", trace, "-o", "fixed", "--report", "page.html"))
        page = re.search(r'<script id="data" type="application/json">(.*?)</script>',
                         (story.folder / "page.html").read_text(), re.DOTALL)[1]
        told = {check["checked_edges"], correct["before"]["checked_edges"],
                json.loads(page)["correct"]["before"]["checked_edges"]}
        expect(len(told) == 1, f"{trace}: edges: {told}")
        shutil.rmtree(story.folder / "fixed")
        (story.folder / "page.html").unlink()
        quiet = story.run(0, "correct", "-q", trace, "-o", "fixed")
        expect(quiet.startswith("Clean: ") and len(quiet.splitlines()) <= 2, quiet)
        shutil.rmtree(story.folder / "fixed")


def narrow(story):
    """A terminal of 60 columns: lines break there, and tables leave out what says least."""
    story.run(0, "synth", "--locations", "4", "--events", "4000", "-o", "truth")
    story.run(0, "distort", "truth", "-o", "exp", "--offset-s", "0.01", "--sessions", "0")
    for verb in ("check", "clocks"):
        outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        with subprocess.Popen([story.tool, verb, "exp"], cwd=story.folder, stdout=inner,
                              stderr=subprocess.DEVNULL, env=os.environ | {"NO_COLOR": "1"}) as tool:
            os.close(inner)
            shown = b""
            try:
                while piece := os.read(outer, 65536):
                    shown += piece
            except OSError:
                pass  # the end of a terminal
            tool.wait()
        os.close(outer)
        lines = shown.decode().splitlines()
        expect(max(map(len, lines)) <= 75 and len(lines[0]) <= 60, f"{verb}: {shown.decode()}")


def pictures(story):
    """The name of a file says which picture is meant."""
    story.run(0, "synth", "--locations", "2", "--events", "2000", "-o", "exp")
    for name, format_ in (("a.json", "chrome"), ("a.csv", "csv"), ("a.pftrace", "perfetto")):
        told = json.loads(story.run(0, "export", "exp", "-o", name, "--json"))
        expect(told["format"] == format_, f"{name}: {told}")
    json.loads((story.folder / "a.json").read_text())


def completion(story):
    """The shells know the words that options take."""
    subprocess.run([sys.executable, ROOT / "packaging" / "generate", story.tool, story.folder / "out"], check=True)
    script = (f"source {story.folder / 'out' / 'bash' / 'entrain'}; COMP_WORDS=(entrain check --presync ''); "
              "COMP_CWORD=3; _entrain; echo ${COMPREPLY[*]}")
    words = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    expect(set(words) == {"auto", "none", "linear", "regression", "spline", "causal"}, f"bash offers {words}")
    zsh = (story.folder / "out" / "zsh" / "_entrain").read_text()
    line = next(one for one in zsh.splitlines() if one.strip().startswith("'check')"))
    expect(re.search(r"'--presync:[^']*:\(auto none [^)]*causal\)'", line), f"zsh: {line}")
    fish = (story.folder / "out" / "fish" / "entrain.fish").read_text()
    line = next(one for one in fish.splitlines() if "from check" in one and "-l presync" in one)
    expect("auto" in line and "causal" in line, f"fish: {line}")


def late_senders(story):
    """The table of docs/manual/vampir-scalasca.md is what its commands yield."""
    try:
        subprocess.run(["/usr/bin/python3", "-c", "import otf2"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("late_senders: without python3-otf2")
        return
    page = (ROOT / "docs/manual/vampir-scalasca.md").read_text()
    script = re.search(r"```sh run\n(.*?)```", page, re.DOTALL)[1]
    (story.folder / "examples").symlink_to(EXAMPLES)
    path = f"{Path(story.tool).parent}{os.pathsep}{os.environ['PATH']}"
    told = subprocess.run(["bash", "-euc", script], cwd=story.folder, check=True, capture_output=True,
                          text=True, env=os.environ | {"PATH": path}).stdout
    found = re.findall(r"messages, (\d+) late senders, ([\d.]+) ms of waiting; (\d+) received", told)
    rows = re.findall(r"^\|.*\| (\d+) \| ([\d.]+) ms \| (\d+) \|$", page, re.MULTILINE)
    after, before, truth = ([float(figure) for figure in row] for row in found)
    for row, wanted in zip(rows, (before, after, truth)):
        expect(all(abs(float(a) - b) <= 0.02 * b for a, b in zip(row, wanted)), f"{row}, not {wanted}")
    least, most = map(float, re.search(r"clocks ([\d.]+) to ([\d.]+) ms", told).groups())
    expect(least <= truth[1] <= most, told)
    expect(all(figure in page for figure in re.search(r"clocks ([\d.]+) to ([\d.]+)", told).groups()), told)


STORIES = {f.__name__: f for f in (services, services_set_clock, one_of_two_set, training,
                                         training_set_clock, device, hpc, mistakes,
                                   nothing_to_say, tables, packed, way_back, counts, narrow, pictures,
                                   completion,
                                   late_senders)}


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
