#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Summarise, fit and apply give what correct gives, for any division of a run's files into parts.

parts_test.py ENTRAIN EXAMPLES"""

import csv
import filecmp
import gzip
import importlib.util
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path

import generated

sys.path.append(str(Path(__file__).parent.parent / "perfetto"))
import pftrace  # noqa: E402

# Not by its name, which is that of a module of Python.
SPEC = importlib.util.spec_from_file_location(
    "span_encodings", Path(__file__).parent.parent / "services" / "encodings.py")
span_encodings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(span_encodings)

TOOL, EXAMPLES = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
FINE = (0, 1, 3)


def run(*words, code=FINE):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=200)
    if done.returncode not in (code if isinstance(code, tuple) else (code,)):
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def told(*words):
    """The sentence of a refusal, on one line."""
    return " ".join(run(*words, code=2).stderr.split())


def peak_of(*words):
    """The largest resident memory of a run, kB. What wait4() tells counts this process, too."""
    with subprocess.Popen([TOOL, *map(str, words)]) as child:
        peak, status = 0, Path(f"/proc/{child.pid}/status")
        while child.poll() is None:
            lines = status.read_text().splitlines()
            peak = max([peak, *(int(line.split()[1]) for line in lines if "VmHWM" in line)])
            time.sleep(0.002)
    assert child.returncode == 0
    return peak


def random_parts(rng, files):
    """Divides files into any number of parts."""
    parts = [[] for _ in range(rng.randrange(1, len(files) + 1))]
    for file in files:
        rng.choice(parts).append(file)
    return [part for part in parts if part]


def files_of(folder):
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def table_of(documents, columns):
    """A table of spans. `columns`: the names of its times, and their texts by begin and end."""
    names, times = columns
    rows = [f"trace_id,span_id,parent_id,host,service,kind,name,{names}"]
    for document in documents:
        for resource in document["resourceSpans"]:
            host, service = (one["value"]["stringValue"]
                             for one in resource["resource"]["attributes"])
            for one in resource["scopeSpans"][0]["spans"]:
                begin, end = int(one["startTimeUnixNano"]), int(one["endTimeUnixNano"])
                rows.append(",".join([one["traceId"], one["spanId"], one["parentSpanId"], host,
                                      service, str(one["kind"]), one["name"], times(begin, end)]))
    return ("\n".join(rows) + "\n").encode()


def date_of(ns):
    return (datetime.fromtimestamp(ns // 10**9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
            + f".{ns % 10**9 // 1000:06}")


TABLES = {
    "ends": ("start_ns,end_ns", lambda begin, end: f"{begin},{end}"),
    "lengths": ("start_ns,duration_us", lambda begin, end: f"{begin},{(end - begin) // 1000}"),
    "coarse": ("start_us,duration_ns", lambda begin, end: f"{begin // 1000},{end - begin}"),
    "dates": ("start,end,duration_ms", lambda begin, end: f"{date_of(begin)},{date_of(end)},"
              f"{(end // 1000 - begin // 1000) / 1000:.3f}")}


def packed(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def encodings_of_spans():
    """Name, ending of files, and how documents are written."""
    request, framed = span_encodings.request, span_encodings.framed
    for framing in span_encodings.FRAMINGS:
        yield framing, "pb", lambda documents, framing=framing: b"".join(
            framed(request(one), framing) for one in documents)
    if shutil.which("zstd"):
        yield "messages", "pb", lambda documents: b"".join(
            framed(packed(request(one)), "fixed32") for one in documents)
    for name, columns in TABLES.items():
        yield name, "csv", lambda documents, columns=columns: table_of(documents, columns)


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.run_folder = self.folder / "run"
        self.run_folder.mkdir()

    def summarised(self, parts, name):
        summaries = []
        for number, part in enumerate(parts):
            summaries.append(self.folder / f"{name}-{number}.edges")
            run("summarise", *part, "-o", summaries[-1], "-q", code=0)
        return summaries

    def fitted(self, summaries, name, *options):
        clocks, table = self.folder / f"{name}.clocks", self.folder / f"{name}.csv"
        done = run("fit", *summaries, "-o", clocks, "--csv", table, "--json", *options)
        return clocks, table, done

    def assert_same_files(self, expected, found):
        names = [path.name for path in files_of(expected)]
        self.assertEqual(names, [path.name for path in files_of(found)])
        _, differ, missing = filecmp.cmpfiles(expected, found, names, shallow=False)
        self.assertEqual(([], []), (differ, missing))


class AnySplit(Folder):
    def check_splits(self, seed, splits, *options, label="", marks=()):
        """The copies of all parts are those of correct, and the clocks those of any other split."""
        files = files_of(self.run_folder)
        right = self.folder / f"{label}right"
        expected = run("correct", self.run_folder, "-o", right, "--json", *options, *marks)
        rng = random.Random(seed)
        tables = set()
        for split in range(splits):
            parts = random_parts(rng, files)
            summaries = self.summarised(parts, f"{label}s{split}")
            rng.shuffle(summaries)
            clocks, table, done = self.fitted(summaries, f"{label}s{split}", *options)
            self.assertEqual(expected.returncode, done.returncode)
            tables.add(table.read_text())
            # What is found in the copies is known before they are written.
            self.assertEqual(*[{key: value for key, value in report["after"].items()
                                if key != "archive"}
                               for report in (json.loads(expected.stdout),
                                              json.loads(done.stdout)["correction"])])
            together = self.folder / f"{label}together{split}"
            together.mkdir()
            for number, part in enumerate(random_parts(rng, files)):
                copy = self.folder / f"{label}copy{split}-{number}"
                run("apply", clocks, *part, "-o", copy, *marks, code=0)
                for path in files_of(copy):
                    shutil.move(path, together)
            self.assert_same_files(right, together)
        self.assertEqual(1, len(tables))

    def test_training_runs_with_numbers(self):
        generated.training(self.run_folder, 7, 40, 1)
        self.check_splits(1, 4)

    def test_training_runs_without_numbers(self):
        generated.training(self.run_folder, 5, 60, 2, numbered=False)
        self.check_splits(2, 4)

    def test_training_runs_with_bounds_and_without_amortization(self):
        generated.training(self.run_folder, 4, 30, 3)
        self.check_splits(3, 2, "--bounds", "--amortize", "off")

    def test_files_some_of_which_are_packed(self):
        generated.training(self.run_folder, 4, 30, 4)
        for path in files_of(self.run_folder)[:2]:
            subprocess.run(["gzip", path], check=True)
        self.check_splits(4, 3)

    def test_traces_of_perfetto(self):
        json_folder = self.folder / "json"
        json_folder.mkdir()
        generated.training(json_folder, 4, 30, 5)
        for style in ("sdk", "plain"):
            for path in json_folder.glob("rank*.json"):
                to = self.run_folder / (path.stem + ".pftrace")
                to.write_bytes(pftrace.encode(path, style))
            self.check_splits(5, 2, label=style)

    def test_packed_files_whose_times_are_right(self):
        for path in (EXAMPLES / "training").glob("rank*.json"):
            with gzip.open(self.run_folder / (path.name + ".gz"), "wb", 1) as file:
                file.write(path.read_bytes())
        self.check_splits(6, 2)

    def test_spans_whose_traces_lie_in_many_files(self):
        for seed in range(3):
            for path in files_of(self.run_folder):
                path.unlink()
            generated.spans(self.run_folder, 9, 6, 300, seed)
            self.check_splits(seed, 3, label=f"seed{seed}")

    def test_spans_in_any_encoding(self):
        source = self.folder / "json"
        source.mkdir()
        generated.spans(source, 4, 5, 60, 31)
        documents = {path.stem: [json.loads(line) for line in path.read_text().splitlines()]
                     for path in files_of(source)}
        for name, ending, encode in encodings_of_spans():
            with self.subTest(name):
                for path in files_of(self.run_folder):
                    path.unlink()
                for stem, own in documents.items():
                    (self.run_folder / f"{stem}.{ending}").write_bytes(encode(own))
                if name == "lengths":  # encodings may be mixed
                    shutil.copy(next(source.iterdir()), self.run_folder / "other.jsonl")
                marks = ["--mark-offsets"] if ending == "pb" else []
                self.check_splits(31, 2, label=name, marks=marks)

    def test_a_file_of_spans_may_be_cut_anywhere(self):
        lines = generated.span_lines(5, 300, 8)
        (self.run_folder / "whole.jsonl").write_text("\n".join(lines) + "\n")
        _, whole, _ = self.fitted(self.summarised([[self.run_folder / "whole.jsonl"]], "w"), "w")
        generated.spans(self.run_folder, 12, 5, 300, 8)
        pieces = [[path] for path in files_of(self.run_folder) if path.name != "whole.jsonl"]
        _, cut, _ = self.fitted(self.summarised(pieces, "p"), "p")
        self.assertEqual(whole.read_text(), cut.read_text())

    def test_examples(self):
        for name in ("training", "services"):
            shutil.rmtree(self.run_folder)
            shutil.copytree(EXAMPLES / name, self.run_folder)
            parts = [[path] for path in files_of(self.run_folder)
                     if path.suffix in (".json", ".csv")]
            clocks, _, _ = self.fitted(self.summarised(parts, name), name)
            run("apply", clocks, self.run_folder, "-o", self.folder / f"{name}-parts")
            run("correct", self.run_folder, "-o", self.folder / f"{name}-right", "-q")
            self.assert_same_files(self.folder / f"{name}-right", self.folder / f"{name}-parts")


class Pieces(Folder):
    """A file of several pieces, with few and long spans."""

    def setUp(self):
        super().setUp()
        pad = generated.attribute("pad", "x" * 30_000)
        self.documents = [json.loads(line) for line in generated.span_lines(5, 250, 9)]
        for document in self.documents:
            document["resourceSpans"][0]["resource"]["attributes"].append(pad)
        self.whole = self.run_folder / "whole.jsonl"

    def check_pieces(self, whole, cut):
        """A long file has the clocks of short ones, and is copied as correct does."""
        clocks, one, _ = self.fitted(self.summarised([[whole]], f"{whole.name}-w"), whole.name)
        _, other, _ = self.fitted(self.summarised([[path] for path in cut], f"{whole.name}-p"),
                                  f"{whole.name}-p")
        self.assertEqual(one.read_text(), other.read_text())
        run("apply", clocks, whole, "-o", self.folder / f"{whole.name}-copy")
        run("correct", whole, "-o", self.folder / f"{whole.name}-right")
        self.assert_same_files(self.folder / f"{whole.name}-right",
                               self.folder / f"{whole.name}-copy")

    def cut(self, ending, written):
        """Writes the documents in order as short files."""
        paths, size = [], len(self.documents) // 7 + 1
        for number in range(7):
            paths.append(self.folder / f"{number}.{ending}")
            own = self.documents[number * size:(number + 1) * size]
            paths[-1].write_bytes(b"".join(written(one) for one in own))
        return paths

    def test_lines_of_json(self):
        written = lambda document: json.dumps(document).encode() + b"\n"
        self.whole.write_bytes(b"".join(map(written, self.documents)))
        self.assertGreater(self.whole.stat().st_size, 1.5 * (1 << 24))
        self.check_pieces(self.whole, self.cut("jsonl", written))

    def test_protobuf(self):
        for framing in span_encodings.FRAMINGS:
            written = lambda document, framing=framing: span_encodings.framed(
                span_encodings.request(document), framing)
            whole = self.run_folder / f"{framing}.pb"
            whole.write_bytes(b"".join(map(written, self.documents)))
            self.check_pieces(whole, self.cut("pb", written))

    def test_a_damaged_line_is_named_and_a_last_one_ignored(self):
        lines = [json.dumps(document) for document in self.documents]
        last = len(lines) - 3
        self.whole.write_text("\n".join(lines[:last]) + "\n" + lines[last][:200])
        self.assertIn("truncated_files", run("check", self.whole, "--json").stdout)
        lines[last] = lines[last][:200]
        self.whole.write_text("\n".join(lines))
        self.assertIn(f"whole.jsonl:{last + 1}: this is damaged JSON",
                      told("summarise", self.whole, "-o", self.folder / "no.edges"))

    def test_memory_does_not_grow_with_the_part(self):
        text = "".join(json.dumps(document) + "\n" for document in self.documents)
        peaks = []
        for times in (1, 4):
            self.whole.write_text(text * times)
            peaks.append(peak_of("summarise", self.whole, "-o", self.folder / f"{times}.edges",
                                 "-q"))
        self.assertLess(peaks[1], 1.5 * peaks[0])


class Engines(Folder):
    def test_xargs_with_64_parts(self):
        generated.spans(self.run_folder, 64, 6, 400, 11)
        (self.folder / "copy").mkdir()
        script = """set -e
            ls run | xargs -P 4 -I{} "$0" summarise run/{} -o {}.edges -q
            "$0" fit *.edges -o run.clocks -q || [ $? -ne 2 ]
            ls run | xargs -P 4 -I{} "$0" apply run.clocks run/{} -o copy/{} -q"""
        subprocess.run(["sh", "-c", script, TOOL], cwd=self.folder, check=True, timeout=300)
        run("correct", self.run_folder, "-o", self.folder / "right", "-q")
        self.assert_same_files(self.folder / "right", self.folder / "copy")

    def test_summaries_are_a_trace_to_look_at(self):
        generated.training(self.run_folder, 4, 30, 12)
        summaries = self.summarised([[path] for path in files_of(self.run_folder)], "s")
        for verb in ("check", "clocks"):
            whole, parts = run(verb, self.run_folder, "--json"), run(verb, *summaries, "--json")
            self.assertEqual(whole.returncode, parts.returncode)
        edges = [self.folder / name for name in ("a.csv", "b.csv")]
        run("edges", self.run_folder, "-o", edges[0])
        run("edges", *summaries, "-o", edges[1])
        self.assertEqual(edges[0].read_text(), edges[1].read_text())

    def test_the_table_maps_times_as_the_copies_have_them(self):
        generated.spans(self.run_folder, 3, 4, 100, 13)
        clocks, table, _ = self.fitted(self.summarised([files_of(self.run_folder)], "s"), "s",
                                       "--bounds")
        run("apply", clocks, self.run_folder, "-o", self.folder / "copy")
        rows = {}
        for row in csv.DictReader(table.read_text().splitlines()):
            rows.setdefault(row["clock"], []).append(row)
            self.assertNotEqual("", row["bound"])

        def common(name, time):
            row = [row for row in rows[name] if int(row["since"]) <= time][-1]
            return time + int(row["offset"]) + round(float(row["drift"]) *
                                                     float(time - int(row["tick"])))
        for path in files_of(self.run_folder):
            for old, new in zip(path.read_text().splitlines(),
                                (self.folder / "copy" / path.name).read_text().splitlines()):
                old, new = (json.loads(line)["resourceSpans"][0] for line in (old, new))
                name = old["resource"]["attributes"][0]["value"]["stringValue"]
                for key in ("startTimeUnixNano", "endTimeUnixNano"):
                    before, after = (int(one["scopeSpans"][0]["spans"][0][key])
                                     for one in (old, new))
                    self.assertEqual(after, common(name, before))


class Faults(Folder):
    def setUp(self):
        super().setUp()
        generated.training(self.run_folder, 3, 20, 21)
        self.files = files_of(self.run_folder)
        self.summaries = self.summarised([[path] for path in self.files], "s")

    def fit(self, *summaries):
        sentence = told("fit", *summaries, "-o", self.folder / "no.clocks")
        self.assertFalse((self.folder / "no.clocks").exists())
        return sentence

    def apply(self, clocks, *part):
        sentence = told("apply", clocks, *part, "-o", self.folder / "no")
        self.assertFalse((self.folder / "no").exists())
        return sentence

    def test_a_part_that_was_not_summarised(self):
        clocks, _, done = self.fitted(self.summaries[:2], "c")
        self.assertIn("fitted without", self.apply(clocks, self.files[2]))
        # All ranks of a run are known by its size.
        report = run("fit", *self.summaries[:2], "-o", self.folder / "d.clocks", "--json").stdout
        self.assertIn("of 3 ranks of the run 1 is missing (2)", report)

    def test_a_part_given_twice(self):
        self.assertIn("summarised twice", self.fit(*self.summaries, self.summaries[1]))
        both = self.summarised([self.files[:2]], "both")
        self.assertIn("summarised twice", self.fit(*self.summaries, *both))

    def test_a_part_of_another_run(self):
        other = self.folder / "other"
        other.mkdir()
        generated.training(other, 5, 20, 22)
        part = self.summarised([[other / "rank004.json"]], "other")
        self.assertIn("of a run of", self.fit(*self.summaries, *part))
        same_name = self.summarised([[other / "rank001.json"]], "same")
        self.assertIn("have one name", self.fit(*self.summaries, *same_name))
        services = self.summarised([[EXAMPLES / "services" / "ascend.json"]], "spans")
        self.assertIn("of two runs", self.fit(*self.summaries, *services))
        clocks, _, _ = self.fitted(self.summaries, "c")
        self.assertIn("has changed since it was summarised",
                      self.apply(clocks, other / "rank001.json"))
        self.assertIn("fitted without", self.apply(clocks, EXAMPLES / "services" / "ascend.json"))

    def test_a_summary_that_is_cut_off_or_damaged(self):
        whole = self.summaries[0].read_bytes()
        for size in range(0, len(whole), 7):
            self.summaries[0].write_bytes(whole[:size])
            self.assertRegex(self.fit(*self.summaries), "is cut off|is no|cannot open|version")
        for at in range(whole.index(b"\n") + 1, len(whole), 5):
            damaged = bytearray(whole)
            damaged[at] ^= 4
            self.summaries[0].write_bytes(damaged)
            self.assertRegex(self.fit(*self.summaries), "is damaged|is cut off")

    def test_another_version(self):
        whole = self.summaries[0].read_bytes()
        self.summaries[0].write_bytes(whole.replace(b"summary 4 ", b"summary 2 "))
        self.assertIn("version 2, and this entrain knows version 4", self.fit(*self.summaries))

    def test_a_part_that_has_changed(self):
        clocks, _, _ = self.fitted(self.summaries, "c")
        text = self.files[1].read_text()
        self.files[1].write_text(text.replace('"dur": 2.5', '"dur": 2.6', 1))
        self.assertIn("has changed since it was summarised", self.apply(clocks, self.files[1]))

    def test_a_part_of_a_folder_that_holds_nothing_any_more(self):
        clocks, _, _ = self.fitted(self.summaries, "c")
        self.files[1].write_text("")
        self.assertIn("has changed since it was summarised", self.apply(clocks, self.run_folder))

    def test_a_perfetto_part_that_has_become_json(self):
        run("merge", self.files[0], "-o", self.folder / "rank.pftrace")
        part = self.folder / "rank.pftrace"
        clocks, _, _ = self.fitted(self.summarised([[part], self.files[1:]], "p"), "p")
        part.write_bytes(self.files[0].read_bytes())
        self.assertIn("has changed since it was summarised", self.apply(clocks, part))
        self.assertEqual([], [one.name for one in self.folder.iterdir() if "partial" in one.name])

    def test_what_is_no_summary_or_no_clocks(self):
        self.assertIn("is no summary", self.fit(*self.summaries, self.files[0]))
        self.assertIn("is no file of fitted clocks", self.apply(self.files[0], self.files[0]))
        self.assertIn("entrain apply", told("correct", *self.summaries, "-o", self.folder / "no"))

    def test_what_is_not_corrected_in_parts(self):
        run("synth", "-o", self.folder / "archive", "--locations", "2", "--events", "400")
        (self.folder / "edges.csv").write_text("cause_clock,cause_time,effect_clock,effect_time\n")
        for trace, words in ((self.folder / "archive", "mpirun"),
                             (EXAMPLES / "paraver" / "run.prv", "entrain correct"),
                             (self.folder / "edges.csv", "entrain align"),
                             (EXAMPLES / "nowhere", "No such file")):
            self.assertIn(words, told("summarise", trace, "-o", self.folder / "no.edges"))
            self.assertFalse((self.folder / "no.edges").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
