#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A merged trace holds what the files of its ranks hold, at corrected times: slices with all
arguments, arrows, counters, instants and names, in both formats.

merge_test.py ENTRAIN EXAMPLES [FOLDER...]: runs the tests, or compares for the runs in these folders
what goes in with what comes out."""

import gzip
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tables

TOOL, EXAMPLES = sys.argv[1], Path(sys.argv[2])
FINE = (0, 1, 3)


def run(*words, code=FINE):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=110)
    if done.returncode not in (code if isinstance(code, tuple) else (code,)):
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def merged(inputs, output, *options):
    return json.loads(run("merge", *inputs, "-o", output, "--json", *options).stdout)


def rank_files(folder):
    """In order of rank, as far as names tell."""
    def number(path):
        digits = "".join(c if c.isdigit() else " " for c in path.name).split()
        return int(digits[0])
    return sorted(folder.glob("*.json*"), key=number)


def compare(folder, scratch):
    """Merges a run in both formats. Returns what differs, and the counts."""
    run("correct", folder, "-o", scratch / "right")
    expected = tables.of_files(rank_files(scratch / "right"))
    report = merged([folder], scratch / "run.pftrace")
    other = merged([folder], scratch / "run.json")
    perfetto, tracks, attributes = tables.of_perfetto(scratch / "run.pftrace")
    chrome, _ = tables.of_json(scratch / "run.json")
    found = [f"pftrace {one}" for one in tables.differences(expected, perfetto)]
    found += [f"json {one}" for one in tables.differences(expected, chrome)]
    if perfetto.added != chrome.added:
        found.append("added arrows differ between the formats")
    for number, ends in perfetto.added.items():
        if set(ends) != {"s", "f"} or ends["s"][1] == ends["f"][1]:
            found.append(f"added arrow {number}: {ends}")
    counts = {"slices": sum(perfetto.slices.values()), "arrow_ends": sum(perfetto.arrows.values()),
              "counters": sum(perfetto.counters.values()),
              "instants": sum(perfetto.instants.values()),
              "added_arrows": len(perfetto.added)}
    for key, count in counts.items():
        told = report[key] + (report["unfinished"] if key == "slices" else 0)
        if told != count:
            found.append(f"the report tells {told} {key}, there are {count}")
    for key in ("slices", "unfinished", "instants", "counters", "arrow_ends", "metadata",
                "arguments", "added_arrows", "processes", "unusual"):
        if report[key] != other[key]:
            found.append(f"{key}: {report[key]} in pftrace, {other[key]} in JSON")
    counts["arguments"] = report["arguments"]
    counts["tracks"] = len(tracks)
    if attributes.get("entrain.verdict") != report["correction"]["verdict"]:
        found.append(f"verdict: {attributes.get('entrain.verdict')}")
    return found, counts


def event(phase, name, ts, pid=1, tid=1, **more):
    return {"ph": phase, "cat": more.pop("cat", "cpu_op"), "name": name, "pid": pid, "tid": tid,
            "ts": ts, **more}


class Merge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def put(self, name, events, **members):
        path = self.folder / "in" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(dict(members, traceEvents=events), ensure_ascii=True))
        return path

    def expect_same(self, folder):
        found, counts = compare(folder, self.folder)
        self.assertEqual(found, [])
        return counts

    def only_rank(self, events, **members):
        """The tables of the merged trace of a file with these events, after a check of both."""
        self.put("rank0.json", events, **members)
        self.expect_same(self.folder / "in")
        return tables.of_perfetto(self.folder / "run.pftrace")

    def test_a_corrected_run_keeps_everything(self):
        run("distort", EXAMPLES / "training", "-o", self.folder / "skewed", "--drift-ppm", "50",
            "--offset-s", "5")
        counts = self.expect_same(self.folder / "skewed")
        self.assertGreater(counts["slices"], 100)
        self.assertGreater(counts["arrow_ends"], 0)
        self.assertGreater(counts["added_arrows"], 10)

    def test_many_ranks(self):
        run("synth", "-o", self.folder / "truth", "--format", "chrome", "--locations", "64",
            "--locations-per-node", "8", "--devices", "2", "--events", "40000")
        run("distort", self.folder / "truth", "-o", self.folder / "skewed", "--drift-ppm", "50")
        counts = self.expect_same(self.folder / "skewed")
        self.assertGreater(counts["added_arrows"], 1000)

    def test_every_kind_of_event(self):
        deep = [[[1, -2.5, "x"], []], {"a": {}, "b": [None, True]}, 2 ** 63, 2 ** 70]
        found, tracks, attributes = self.only_rank([
            event("M", "process_name", 0, args={"name": "python3 \u00e4 \"q\""}),
            event("M", "process_labels", 0, args={"labels": "CPU"}),
            event("M", "process_sort_index", 0, args={"sort_index": 7}),
            event("M", "thread_name", 0, args={"name": "main"}),
            event("M", "thread_sort_index", 0, args={"sort_index": -3}),
            event("M", "num_cpus", 0, args={"number": 8}),
            event("M", "process_name", 0, pid=5, args={"name": "of no event"}),
            event("X", "outer", 100, dur=50, args={"deep": deep, "n\n": None, "e": 1e300}),
            event("X", "inner", 100, dur=50), event("X", "point", 150, dur=0),
            event("X", "other", "120.5", dur="60.25", tts=5, cname="good"),
            event("B", "call", 200, args={"a": 1}), event("B", "inside", 210),
            event("E", "inside", 215, args={"b": 2}), event("E", "call", 240, args={"c": [1]}),
            event("b", "io", 300, id="0x1", args={"x": 1}), event("n", "io", 305, id="0x1"),
            event("b", "io", 302, id="0x2"), event("e", "io", 320, id="0x1", args={"y": 2}),
            event("e", "io", 330, id="0x2"),
            event("S", "old", 340, id=9), event("F", "old", 350, id=9),
            event("C", "memory", 100, args={"used": 5, "free": 2.5}),
            event("C", "memory", 110, args={"used": 6, "free": 1}),
            event("C", "named", 110, id="k", args={"v": 3}), event("C", "none", 110, args={}),
            event("i", "mark", 111, s="t"), event("I", "of process", 112, s="p"),
            event("i", "of all", 113, s="g", args={"why": "x"}),
            event("s", "ac2g", 100, cat="ac2g", id=77), event("f", "ac2g", 200, cat="ac2g", id=77, bp="e"),
            event("s", "fwd", 130, cat="bwd", id=78), event("t", "fwd", 135, cat="bwd", id=78),
            event("f", "fwd", 137, cat="bwd", id=78, args={"own": 1}),
            event("E", "nothing", 400, tid=3), event("N", "object", 410, id=4),
            event("X", "kernel", 420, pid=0, tid=0, dur=3),
            event("X", "spans", 430, pid="Spans", tid="PyTorch Profiler", dur=3),
            event("X", "far", 440, pid=2 ** 40, tid=-5, dur=3),
            event("B", "never ends", 500, tid=4)], deviceProperties=[{"id": 0}], trace_id="abc")
        self.assertEqual(attributes["rank 0.trace_id"], "abc")
        self.assertEqual(attributes["rank 0.deviceProperties"], '[{"id": 0}]')
        self.assertEqual(attributes["rank 0.num_cpus (pid 1, tid 1)"], '{"number": 8}')
        first = next(t for t in tracks.values() if t["process"] and t["process"][1] == 1)
        self.assertEqual(first["process"][3], 7)
        self.assertIn("rank 0: of no event", [t["name"] for t in tracks.values()])
        # Perfetto takes 0 for idle, and knows 31 bits.
        self.assertTrue(all(0 < t["process"][1] < 2 ** 31 for t in tracks.values() if t["process"]))
        self.assertTrue(all(0 < t["thread"][2] < 2 ** 31 for t in tracks.values() if t["thread"]))

    def test_the_tables_tell_small_changes(self):
        events = [event("X", "a", 100, dur=50, args={"x": [1, {"y": 2}]}),
                  event("s", "ac2g", 100, cat="ac2g", id=1), event("C", "c", 5, args={"v": 1}),
                  event("i", "mark", 7), event("M", "thread_name", 0, args={"name": "main"})]
        merged([self.put("rank0.json", events)], self.folder / "run.pftrace")
        merged([self.put("rank0.json", events)], self.folder / "run.json")
        for place, key, value in ((0, "dur", 50.001), (0, "name", "b"), (0, "tid", 2),
                                  (0, "args", {"x": [1, {"y": 3}]}), (1, "id", 2), (1, "ph", "f"),
                                  (2, "args", {"v": 2}), (3, "ts", 8), (4, "args", {"name": "m"})):
            changed = [dict(one, **({key: value} if i == place else {})) for i, one in enumerate(events)]
            expected = tables.of_files([self.put("rank0.json", changed)])
            for found in (tables.of_perfetto(self.folder / "run.pftrace")[0],
                          tables.of_json(self.folder / "run.json")[0]):
                self.assertNotEqual(tables.differences(expected, found), [], (place, key))

    def test_slices_that_overlap_get_tracks_of_their_own(self):
        self.only_rank([event("X", f"e{i}", 10 * i, dur=25) for i in range(1, 30)])
        report = merged([self.folder / "in"], self.folder / "again.pftrace")
        self.assertEqual(report["overlapping"], 2)
        many = [event("X", f"e{i}", i, dur=1000 + i) for i in range(1, 200)]
        self.put("rank0.json", many)
        report = merged([self.folder / "in"], self.folder / "many.pftrace")
        self.assertEqual((report["overlapping"], report["slices"]), (63, 199))
        self.assertEqual(report["unusual"], {"slices_on_too_many_others": 199 - 64})

    def test_equal_numbers_of_processes_stay_apart(self):
        for rank in range(2):
            self.put(f"rank{rank}.json", [event("X", "a", 100, pid=7, dur=5),
                                          event("s", "ac2g", 100, pid=7, cat="ac2g", id=1)],
                     distributedInfo={"rank": rank, "world_size": 2})
        self.expect_same(self.folder / "in")
        _, tracks, _ = tables.of_perfetto(self.folder / "run.pftrace")
        machines = sorted(t["machine"] for t in tracks.values() if t["process"])
        self.assertEqual(machines, [1, 2])
        flows = {flow for _, part in tables.fields((self.folder / "run.pftrace").read_bytes())
                 for number, one in tables.fields(part) if number == 11
                 for field, flow in tables.fields(one) if field == 47}
        self.assertEqual(len(flows), 2)

    def test_packed_by_name(self):
        for name in ("run.pftrace.gz", "run.json.gz"):
            merged([EXAMPLES / "training"], self.folder / name)
            plain = self.folder / name.removesuffix(".gz")
            merged([EXAMPLES / "training"], plain)
            read = tables.of_json if "json" in name else tables.of_perfetto
            self.assertEqual(tables.differences(read(self.folder / name)[0], read(plain)[0]), [])
            self.assertLess((self.folder / name).stat().st_size, plain.stat().st_size)

    def test_threads_do_not_change_a_byte(self):
        for name in ("run.pftrace", "run.json"):
            texts = []
            for threads in (1, 3):
                run("merge", EXAMPLES / "training", "-o", self.folder / name, "--threads", threads,
                    "--force")
                texts.append((self.folder / name).read_bytes())
            self.assertEqual(texts[0], texts[1])

    def test_cut_and_strange_files(self):
        whole = (EXAMPLES / "training" / "rank0.json").read_text()
        (self.folder / "in").mkdir()
        for size in (1000, 5000, len(whole) - 10):
            (self.folder / "in" / "rank0.json").write_text(whole[:size])
            self.assertEqual(merged([self.folder / "in"], self.folder / "x.pftrace", "--force")["ranks"], 1)
        self.put("rank0.json", [event("X", "huge", 5, dur=1, args={"text": "x" * 5_000_000,
                                                                   "deep": json.loads("[" * 300 + "]" * 300)})])
        self.expect_same(self.folder / "in")

    def test_refusals(self):
        output = self.folder / "run.pftrace"
        output.write_text("mine")
        self.assertIn("exists", run("merge", EXAMPLES / "training", "-o", output, code=2).stderr)
        run("merge", EXAMPLES / "training", "-o", output, "--force", code=2)
        self.assertEqual(output.read_text(), "mine")
        output.unlink()
        for _ in range(2):
            run("merge", EXAMPLES / "training", "-o", output, "--force")
        inside = self.put("rank0.json", [event("X", "a", 5, dur=1)]).parent / "run.pftrace"
        run("merge", self.folder / "in", "-o", inside, code=2)
        self.assertEqual(sorted(p.name for p in inside.parent.iterdir()), ["rank0.json"])
        told = run("merge", EXAMPLES / "services", "-o", self.folder / "s.pftrace", code=2).stderr
        self.assertIn("entrain export", told)
        (self.folder / "in" / "rank0.json").write_bytes(b'{"traceEvents":[{"ph":"X","name":"\xff"}]}')
        run("merge", self.folder / "in", "-o", self.folder / "b.pftrace", code=2)
        self.assertEqual([p.name for p in self.folder.glob(".*")], [])


if __name__ == "__main__":
    if len(sys.argv) > 3:
        for one in sys.argv[3:]:
            with tempfile.TemporaryDirectory() as scratch:
                print(one, *compare(Path(one), Path(scratch)), sep="\n  ")
    else:
        unittest.main(argv=sys.argv[:1], verbosity=1)
