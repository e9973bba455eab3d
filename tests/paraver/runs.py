#!/usr/bin/env python3
"""Traces of Paraver with known clocks: verdicts, corrections back to the truth, copies that differ in times only,
and damaged files.

usage: runs.py TOOL
"""

import gzip
import json
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
TOOL = None
KINDS = {
    "nodes": [],
    "many": ["--nodes", "5", "--tasks", "17", "--steps", "90", "--seed", "3"],
    "gzip": ["--gzip", "--us", "--seed", "5"],
    "tasks": ["--no-nodes", "--seed", "7"],
}


def run(*arguments, data=None):
    done = subprocess.run([TOOL, *map(str, arguments)], input=data, capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="entrain-paraver-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, *options):
        subprocess.run([sys.executable, HERE / "traces.py", self.folder, *options], check=True)
        return self.folder / "true", self.folder / "wrong"

    def tool(self, *arguments, code=0, data=None):
        result = run(*arguments, data=data)
        self.assertEqual(result[0], code, result)
        return result[1]

    def report(self, *arguments, code=0):
        return json.loads(self.tool(*arguments, "--json", code=code))

    def expect_same(self, one, other):
        name = next(path.name for path in one.iterdir() if ".prv" in path.name)
        done = subprocess.run([sys.executable, HERE / "same_but_times.py", one / name, other / name],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        for labels in ("run.pcf", "run.row"):
            self.assertEqual((one / labels).read_bytes(), (other / labels).read_bytes())


class Corrections(Base):
    """The largest distance of two clocks of a correction, but for a constant, is far below their offsets."""

    def spread(self, one, other):
        locations = self.report("compare", one, other)["locations"]
        means = [location["mean_s"] * 1e9 for location in locations]
        return max(means) - min(means)

    def test_come_back_to_the_truth(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                true, wrong = self.make(*options)
                out = self.folder / "out"
                self.tool("check", true)
                self.tool("check", wrong, code=1)
                self.tool("correct", wrong, "-o", out)
                self.tool("check", out)
                self.expect_same(wrong, out)
                self.expect_same(true, out)
                self.assertGreater(self.spread(wrong, true), 300_000)
                self.assertLess(self.spread(out, true), 3000)
                for folder in (true, wrong, out):
                    shutil.rmtree(folder)

    def test_undo_a_distortion(self):
        true, _ = self.make("--seed", "9")
        skewed, out = self.folder / "skewed", self.folder / "out"
        self.tool("distort", true, "-o", skewed, "--offset-s", "0.001", "--drift-ppm", "20")
        self.expect_same(true, skewed)
        self.tool("check", skewed, code=1)
        self.tool("correct", skewed, "-o", out)
        self.expect_same(true, out)
        self.assertLess(self.spread(out, true), 3000)

    def test_keep_a_trace_without_violations(self):
        true, _ = self.make()
        self.tool("correct", true / "run.prv", "-o", self.folder / "out")
        self.assertEqual((true / "run.prv").read_bytes(), (self.folder / "out" / "run.prv").read_bytes())

    def test_sort_outside_of_memory(self):
        """More than the memory for sorting."""
        text = ["#Paraver (x):2110001_ns:2(1,1):1:2(1:1,1:2)"]
        text += [f"1:1:1:{task}:1:{time}:{time + 9}:{'7' * 400}" for time in range(0, 1_500_000, 10) for task in (1, 2)]
        text += ["3:1:1:1:1:2000000:2000001:2:1:2:1:1900000:1900001:1:1",
                 "3:2:1:2:1:2001000:2001001:1:1:1:1:2100000:2110001:1:1"]
        wrong = self.folder / "wrong"
        wrong.mkdir()
        (wrong / "run.prv").write_text("\n".join(text) + "\n")
        for labels in ("run.pcf", "run.row"):
            (wrong / labels).write_text("")
        self.tool("correct", wrong, "-o", self.folder / "out")
        self.expect_same(wrong, self.folder / "out")
        self.assertEqual(sorted(path.name for path in (self.folder / "out").iterdir()),
                         [".entrain-result", "run.pcf", "run.prv", "run.row"])


class Verbs(Base):
    def test_serve_a_trace(self):
        true, wrong = self.make()
        info = self.report("info", wrong)
        self.assertEqual(info["format"], "Paraver")
        edges = self.report("check", wrong, code=1)
        self.assertEqual({clock["clock"] for clock in self.report("clocks", wrong)["clocks"]},
                         {"host1", "host2", "host3"})
        self.tool("export", wrong, "-o", self.folder / "run.json")
        names = {event.get("name") for event in json.loads((self.folder / "run.json").read_text())["traceEvents"]}
        self.assertLessEqual({"Running", "MPI_Send", "MPI_Allreduce", "MPI_Barrier"}, names)
        self.tool("edges", wrong, "-o", self.folder / "e.csv")
        aligned = self.report("align", self.folder / "e.csv")
        self.assertEqual(aligned["before"]["violations"], edges["violations"])
        self.tool("report", wrong, "-o", self.folder / "page.html", code=1)
        late = self.report("stragglers", true)
        self.assertGreater(late["collectives"], 5)
        piped = run("check", "-", data=(wrong / "run.prv").read_bytes())
        self.assertEqual(piped[0], 1)

    def test_want_a_folder_for_copies(self):
        _, wrong = self.make()
        for output in ("out.prv", "out.json"):
            code, _, err = run("correct", wrong / "run.prv", "-o", self.folder / output)
            self.assertEqual(code, 2)
            self.assertIn("into a folder", err.replace("\n         ", " "))
            self.assertFalse((self.folder / output).exists())
        code, _, err = run("correct", "-", "-o", self.folder / "out.json", data=(wrong / "run.prv").read_bytes())
        self.assertEqual(code, 2)
        self.assertIn("name its file", err)
        code, _, err = run("correct", "-", "-o", self.folder / "out", data=(wrong / "run.prv").read_bytes())
        self.assertIn("together with its labels", err)
        code, _, err = run("check", wrong, self.folder / "true")
        self.assertEqual(code, 2)
        self.assertIn("give one of them", err.replace("\n         ", " "))


    def test_files_that_hold_nothing_may_stand_beside_a_trace(self):
        true, _ = self.make()
        for name, text in (("a.json", ""), ("a.json", "{}"), ("a.json", "[]"), ("a.json", '{"traceEvents": []}'),
                           ("a.json", '{"resourceSpans": []}'), ("a.json", '{"note": 1}'), ("a.pb", "")):
            with self.subTest(name + text):
                (true / name).write_text(text)
                self.assertIn("Paraver", self.tool("info", true))
                (true / name).unlink()
        (true / "spans.json").write_text('[{"traceId": "1", "id": "2", "timestamp": 1, "duration": 1, "name": "x"}]')
        code, _, err = run("check", true)
        self.assertEqual(code, 2)
        self.assertIn("no files of one run", err.replace("\n         ", " "))
        empty = self.folder / "empty"
        empty.mkdir()
        for name in ("a.csv", "a.pb", "a.prv"):
            (empty / name).touch()
        code, _, err = run("check", empty)
        self.assertIn("is empty", err)


class Hostile(Base):
    def test_files_end_in_a_sentence_or_a_verdict(self):
        _, wrong = self.make("--steps", "6")
        text = (wrong / "run.prv").read_bytes()
        rng = random.Random(4)
        cases = [text[:rng.randrange(len(text))] for _ in range(25)]
        for _ in range(60):
            damaged = bytearray(text)
            for _ in range(rng.randrange(1, 6)):
                damaged[rng.randrange(rng.choice((80, len(text))))] = rng.choice(b"0123456789:,()c#\n\r\x00\xff-")
            cases.append(bytes(damaged))
        cases += [text.replace(b":1:", b":18446744073709551616:", 50), text.replace(b"\n", b""), text * 2,
                  gzip.compress(text)[:-200], gzip.compress(text) + b"x"]
        for case in cases:
            (wrong / "run.prv").write_bytes(case)
            for verb in (["check", wrong], ["correct", wrong, "-o", self.folder / "out", "--force"]):
                code, _, err = run(*verb)
                self.assertIn(code, (0, 1, 2, 3), err)
                if code == 2:
                    self.assertTrue(err.startswith("entrain: "), err)
        self.assertFalse([path for path in self.folder.iterdir() if path.name.startswith(".")])

    def test_a_packed_file_of_endless_text_is_refused(self):
        (self.folder / "run.prv.gz").write_bytes(gzip.compress(b"#Paraver (x):5:0:1:1(1:0)\n" + b"# \n" * 120_000_000, 9))
        code, _, err = run("check", self.folder / "run.prv.gz")
        self.assertEqual(code, 2)
        self.assertIn("--max-unpacked", err)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
