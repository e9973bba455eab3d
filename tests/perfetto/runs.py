#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Training runs as Perfetto traces: the tool says of them what it says of the same run in JSON, and
a correction changes times only.

    runs.py TOOL EXAMPLES
"""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pftrace  # noqa: E402

TOOL, EXAMPLES = None, None
STYLES = ("sdk", "plain", "groups", "stages")
RANKS = range(4)


def run(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def table(*arguments):
    """The verdict, the clocks and the edges."""
    code, out, err = run("check", "--json", "--threads", "1", *arguments)
    report = json.loads(out)
    others = ("archive", "events", "warnings", "notes", "threads", "seconds", "timing", "skipped",
              "unmatched")
    return code, {key: report[key] for key in report if key not in others}


def decoded(file):
    schema = pathlib.Path(__file__).parent
    done = subprocess.run(["protoc", "--decode", "Trace", f"-I{schema}", "trace.proto"],
                          input=file.read_bytes(), capture_output=True, check=True)
    return done.stdout.decode()


def without_times(text):
    return re.sub(r"(timestamp|duration|duration_us): \d+", r"\1", text)


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="entrain-perfetto-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def encoded(self, rank, style, **where):
        return pftrace.encode(EXAMPLES / "training" / f"rank{rank}.json", style, **where)

    def put(self, name, data):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path


class Runs(Base):
    def run_of(self, style):
        """A folder with a file per rank."""
        for rank in RANKS:
            self.put(f"{style}/rank{rank}.pftrace", self.encoded(rank, style))
        return self.folder / style

    def json_run(self):
        folder = self.folder / "json"
        folder.mkdir()
        for rank in RANKS:
            shutil.copy(EXAMPLES / "training" / f"rank{rank}.json", folder)
        return folder

    def one_file(self, style):
        """All ranks in one file, each on its machine."""
        parts = [self.encoded(rank, style, sequence=rank + 1, machine=10 + rank,
                              first_uuid=1000 * rank + 1) for rank in RANKS]
        return self.put(f"{style}.pftrace", b"".join(parts))

    def distorted(self, path, output):
        code, _, err = run("distort", path, "-o", self.folder / output, "--seed", "7")
        self.assertEqual(code, 0, err)
        return self.folder / output

    def corrected(self, path, output):
        code, _, err = run("correct", path, "-o", self.folder / output)
        self.assertEqual(code, 0, err)
        return self.folder / output

    def test_tables_are_those_of_json(self):
        code, truth = table(self.json_run())
        self.assertEqual((code, truth["checked_edges"]), (0, 128))
        for style in STYLES:
            with self.subTest(style):
                self.assertEqual(table(self.run_of(style)), (code, truth))

    def test_distorted_runs_are_corrected_as_json_is(self):
        code, truth = table(self.distorted(self.json_run(), "json-wrong"))
        self.assertEqual(code, 1)
        for style in STYLES:
            with self.subTest(style):
                original = self.run_of(style)
                wrong = self.distorted(original, f"{style}-wrong")
                self.assertEqual(table(wrong), (code, truth))
                right = self.corrected(wrong, f"{style}-right")
                self.assertEqual(table(right)[0], 0)
                code_of_compare, out, err = run("compare", right, original, "--json")
                self.assertEqual(code_of_compare, 0, err)
                apart = json.loads(out)
                # All clocks may be off by the same.
                means = [one["mean_s"] for one in apart["locations"]]
                self.assertLess(max(means) - min(means), 10e-6)

    def test_only_times_differ(self):
        if shutil.which("protoc") is None:
            self.skipTest("there is no protoc (Debian: protobuf-compiler)")
        for style in STYLES:
            wrong = self.distorted(self.run_of(style), f"{style}-wrong")
            right = self.corrected(wrong, f"{style}-right")
            for rank in RANKS:
                with self.subTest(style, rank=rank):
                    before, after = wrong / f"rank{rank}.pftrace", right / f"rank{rank}.pftrace"
                    old, new = decoded(before), decoded(after)
                    self.assertEqual(without_times(old), without_times(new))
                    if rank != 1:  # the reference stays
                        self.assertNotEqual(old, new)

    def test_machines_of_one_file_are_clocks(self):
        for style in STYLES:
            with self.subTest(style):
                file = self.one_file(style)
                code, truth = table(file)
                self.assertEqual((code, truth["checked_edges"]), (0, 128))
                wrong = self.distorted(file, f"{style}-wrong.pftrace")
                self.assertEqual(table(wrong)[0], 1)
                right = self.corrected(wrong, f"{style}-right.pftrace")
                self.assertEqual(table(right)[0], 0)

    def test_packed_files_stay_packed(self):
        folder = self.folder / "packed"
        for rank in RANKS:
            self.put(f"packed/rank{rank}.pftrace.gz", gzip.compress(self.encoded(rank, "groups")))
        wrong = self.distorted(folder, "wrong")
        right = self.corrected(wrong, "right")
        self.assertEqual(table(right)[0], 0)
        self.assertEqual((right / "rank0.pftrace.gz").read_bytes()[:2], b"\x1f\x8b")

    def test_packets_that_are_packed_inside(self):
        wrong = self.distorted(self.run_of("sdk"), "wrong")
        right = self.corrected(wrong, "right")
        zstd = lambda data: subprocess.run(["zstd", "-q"], input=data, capture_output=True, check=True).stdout
        unzstd = lambda data: subprocess.run(["zstd", "-qd"], input=data, capture_output=True, check=True).stdout
        ways = [("deflate", 50, zlib.compress, zlib.decompress)]
        ways += [("zstd", 133, zstd, unzstd)] if shutil.which("zstd") else []
        for name, field, pack, unpack in ways:
            with self.subTest(name):
                for rank in RANKS:
                    data = (wrong / f"rank{rank}.pftrace").read_bytes()
                    self.put(f"{name}/rank{rank}.pftrace", pftrace.packed(data, 300, pack, field))
                self.assertEqual(table(self.folder / name), table(wrong))
                copy = self.corrected(self.folder / name, f"{name}-right")
                for rank in RANKS:
                    file = f"rank{rank}.pftrace"
                    self.assertEqual(pftrace.unpacked((copy / file).read_bytes(), unpack),
                                     (right / file).read_bytes())
                merged = [self.folder / f"{name}{k}.json" for k in range(2)]
                for source, output in zip((wrong, self.folder / name), merged):
                    code, _, err = run("merge", source, "-o", output)
                    self.assertEqual(code, 0, err)
                self.assertEqual(merged[0].read_bytes(), merged[1].read_bytes())

    def test_flows_tie_machines_without_devices(self):
        # A second after its send by the other clock, and before it: the clock of machine 2 is late.
        state = pftrace.number(13, 1)
        out = pftrace.packet(pftrace.number(10, 1), state)
        for k in range(20):
            for machine, field, at in ((1, 47, 2_000_000_000 + k * 10**9), (2, 48, 10**9 + k * 10**9)):
                event = pftrace.number(9, 1) + pftrace.number(11, 7)
                out += pftrace.packet(pftrace.number(98, machine), pftrace.number(8, at),
                                      pftrace.text(11, event + pftrace.fixed(field, k + 1)))
                end = pftrace.number(9, 2) + pftrace.number(11, 7)
                out += pftrace.packet(pftrace.number(98, machine), pftrace.number(8, at + 1000),
                                      pftrace.text(11, end))
        file = self.put("flows.pftrace", out)
        code, found = table(file)
        self.assertEqual((code, found["violations"]), (1, 20))
        self.assertEqual(table(self.corrected(file, "right.pftrace"))[0], 0)

    def test_all_verbs_read_them(self):
        folder = self.run_of("sdk")
        for verb in (["info"], ["check"], ["clocks"], ["edges", "-o", self.folder / "edges.csv"], ["report", "-o", self.folder / "page"],
                     ["export", "-o", self.folder / "picture.pftrace"]):
            with self.subTest(verb[0]):
                code, _, err = run(verb[0], folder, *verb[1:])
                self.assertEqual(code, 0, err)
        self.assertIn("Perfetto", run("info", folder)[1])

    def test_a_file_of_any_name_and_standard_input_are_read(self):
        file = self.put("trace", self.encoded(0, "sdk"))
        self.assertIn("Perfetto", run("info", file)[1])
        with open(file, "rb") as data:
            done = subprocess.run([TOOL, "info", "-"], stdin=data, capture_output=True, check=False)
        self.assertIn(b"Perfetto", done.stdout)

    def test_a_cut_file_is_used_up_to_there(self):
        whole = self.encoded(0, "plain")
        file = self.put("cut/rank0.pftrace", whole[:len(whole) * 3 // 4])
        self.put("cut/rank1.pftrace", self.encoded(1, "plain"))
        code, out, err = run("check", file.parent)
        self.assertIn(code, (0, 3), err)
        self.assertIn("rank0.pftrace", out + err)


class Hostile(Base):
    """Inputs made to break readers: a sentence and exit code 2, or a result."""

    def refused(self, data, sentence):
        file = self.put("hostile.pftrace", data)
        for verb in (["check"], ["correct", "-o", self.folder / "copy.pftrace"]):
            code, out, err = run(verb[0], file, *verb[1:])
            self.assertEqual(code, 2, out + err)
            self.assertIn(sentence, " ".join(err.split()))  # lines are broken to be read
        self.assertFalse((self.folder / "copy.pftrace").exists())

    def read(self, data):
        file = self.put("hostile.pftrace", data)
        code, out, err = run("check", file)
        self.assertIn(code, (0, 1, 3), out + err)

    def event(self, at, *fields):
        return pftrace.packet(pftrace.number(8, at), pftrace.text(11, b"".join(fields)))

    def test_lengths_and_fields(self):
        good = self.encoded(0, "plain")
        self.refused(good + b"\x0f", "no packet can begin at byte")
        self.refused(good + pftrace.packet(b"\x0f"), "is damaged")
        self.refused(good + b"\x0a\xff\xff\xff\xff\x7f", "more than 268435456 bytes")
        self.refused(b"\x0a\x05hello", "is no Chrome trace")
        self.read(good + b"\x0a\xff\xff\x03")  # cut
        self.read(good + b"\x0a\x00" * 1000)
        self.read(good + b"\x12\x03abc\x18\x01")  # of a later version
        self.read(good + pftrace.packet(pftrace.text(999, "later"), pftrace.fixed(998, 1)))

    def test_times_near_the_ends_of_numbers(self):
        good = self.encoded(0, "plain")
        instant = pftrace.number(9, 3)
        for at in (2**63 - 1, 2**63, 2**64 - 1, 2**62 + 1):
            self.read(good + self.event(at, instant))  # single times far from all others are set aside
        begin, end = pftrace.number(9, 1), pftrace.number(9, 2)
        self.read(self.event(2**63 + 5, begin) + self.event(2**63 - 5, end))  # all of its times

    def test_circles_of_parents_and_of_names(self):
        good = self.encoded(0, "plain")
        circle = b"".join(
            pftrace.packet(pftrace.text(60, pftrace.number(1, 50 + k) + pftrace.number(5, 50 + (k + 1) % 3)))
            for k in range(3))
        unknown = self.event(1694128201429782000, pftrace.number(9, 3), pftrace.number(11, 50),
                             pftrace.number(3, 77), pftrace.number(10, 2**64 - 1),
                             pftrace.text(4, pftrace.number(1, 5) + pftrace.number(17, 5)))
        self.read(good + circle + unknown)

    def test_deep_annotations(self):
        note = pftrace.number(4, 1)
        for _ in range(20000):
            note = pftrace.text(12, note)
        event = self.event(1694128201429782000, pftrace.number(9, 3), pftrace.text(22, "kernel"),
                           pftrace.text(4, pftrace.text(10, "a") + note))
        self.read(self.encoded(0, "plain") + event)

    def test_many_sequences(self):
        names = pftrace.text(12, pftrace.text(2, pftrace.number(1, 1) + pftrace.text(2, "n" * 100)))
        with open(self.folder / "many.pftrace", "wb") as file:
            for block in range(8):
                file.write(b"".join(
                    pftrace.packet(pftrace.number(10, 100_000 * block + k + 1), pftrace.number(13, 1),
                                   names) for k in range(100_000)))
        code, out, err = run("check", self.folder / "many.pftrace")
        self.assertEqual(code, 2, out + err)
        self.assertIn("more than 1073741824 bytes", err)

    def test_long_names_that_many_refer_to(self):
        names = pftrace.text(12, pftrace.text(3, pftrace.number(1, 1) + pftrace.text(2, "n" * 10**6)))
        note = pftrace.text(4, pftrace.number(1, 1) + pftrace.number(4, 1))
        event = pftrace.text(11, pftrace.number(9, 3) + pftrace.text(22, "kernel") + note * 5000)
        self.read(self.encoded(0, "plain") + pftrace.packet(
            pftrace.number(10, 9), pftrace.number(13, 1), names,
            pftrace.number(8, 1694128201429782000), event))

    def test_small_packed_ones_after_a_large_one(self):
        zeros = pftrace.packet(pftrace.text(999, bytes(2**20)))
        small = pftrace.packet(pftrace.text(50, zlib.compress(pftrace.packet(pftrace.text(999, b"")))))
        self.read(self.encoded(0, "plain") + pftrace.packet(pftrace.text(50, zlib.compress(zeros * 90, 9)))
                  + small * 20_000)

    def test_many_readings_of_clocks(self):
        good = self.encoded(0, "plain")
        clocks = pftrace.text(1, b"") * 2**21
        pairs = pftrace.text(1, pftrace.text(2, pftrace.text(1, b"") * 9)) * 2**19
        file = self.put("readings.pftrace",
                        good + pftrace.packet(pftrace.text(6, clocks)) + pftrace.packet(pftrace.text(107, pairs)))
        for verb in (["check"], ["distort", "-o", self.folder / "copy.pftrace", "--seed", "1"]):
            code, _, err = run(verb[0], file, *verb[1:])
            self.assertIn(code, (0, 1, 3), err)
        self.assertEqual(len((self.folder / "copy.pftrace").read_bytes()), len(file.read_bytes()))

    def test_damaged_packets_that_are_packed_inside(self):
        good = self.encoded(0, "plain")
        whole = pftrace.packed(good)
        self.refused(pftrace.packet(pftrace.text(50, b"abc")), "zlib stream is damaged")
        self.refused(pftrace.packet(pftrace.text(133, b"abc")), "zstd stream is damaged")
        self.refused(pftrace.packet(pftrace.text(50, zlib.compress(good)[:-9])), "zlib stream is damaged")
        self.refused(pftrace.packet(pftrace.text(50, zlib.compress(good[:-9]))), "at byte 0 is damaged")
        self.refused(pftrace.packed(whole), "at byte 0 is damaged")
        self.refused(pftrace.packet(pftrace.text(50, zlib.compress(good) + b"more")), "zlib stream is damaged")
        self.read(good + pftrace.packet(pftrace.text(50, b"")) + pftrace.packet(pftrace.number(50, 7)))
        self.read(whole[:-9])  # cut

    def test_bombs_inside_of_packets(self):
        zeros = pftrace.packet(pftrace.text(999, bytes(2**20)))
        bomb = zlib.compressobj(9)
        data = b"".join(bomb.compress(zeros * 16) for _ in range(20)) + bomb.flush()  # 320 MiB
        bomb = pftrace.packet(pftrace.text(50, data))
        self.refused(bomb, "more than 268435456 bytes")
        data = zlib.compress(zeros * 200, 9)
        self.refused(pftrace.packet(pftrace.text(50, data)) * 3, "allow more with --max-unpacked")


if __name__ == "__main__":
    TOOL, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
