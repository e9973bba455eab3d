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

sys.path.append(str(Path(__file__).parent.parent / "perfetto"))
import pftrace

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

    def put(self, name, events, /, **members):
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
            event("X", "endless", 435, tid=9, dur=-1, args={"a": 1}),
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

    def test_members_beside_arguments_are_kept(self):
        events = [
            event("X", "x", 10, dur=2, id=555111), event("X", "y", 20, dur=2, id2={"local": "LOCAL"}, scope="SCOPE"),
            event("B", "b", 30, id="BEGIN", x="BEGUN"),
            event("E", "RENAMED", 35, y="ENDED", args={"z": "ARGUMENT"}),
            event("b", "io", 40, id="ASYNC"), event("e", "io", 45, id="ASYNC", y="PASSED"),
            event("C", "c", 10, cat="COUNTED", args={"a": 1}, color="COLOUR"),
            event("s", "q", 100, cat="q", id="AR", scope="FROM"), event("f", "q", 101, cat="q", id="AR", scope="FROM"),
            event("M", "process_name", 0, args={"name": "P", "more": "FURTHER"}),
            event("M", "thread_name", 0, args={"name": "T"}, x="BESIDE"),
            event("M", "process_labels", 0, args={"labels": "LABEL1"}),
            event("M", "process_labels", 0, args={"labels": "LABEL2"}),
            event("b", "c", 200, cat="a b", id=1), event("e", "c", 201, cat="a b", id=1),
            event("b", "b c", 210, cat="a", id=1), event("e", "b c", 211, cat="a", id=1)]
        _, tracks, _ = self.only_rank(events)
        self.assertIn("b c", [track["name"] for track in tracks.values()])
        for name in ("run.pftrace", "run.json"):
            text = (self.folder / name).read_bytes().decode(errors="replace")
            for word in ("LOCAL SCOPE BEGIN BEGUN RENAMED ENDED ARGUMENT ASYNC PASSED COUNTED COLOUR FROM "
                         "FURTHER BESIDE LABEL1 LABEL2").split():
                self.assertIn(word, text, name)
        self.assertEqual(len({key for key, _ in tables.fields((self.folder / "run.pftrace").read_bytes())}), 1)

    def test_odd_values_are_kept_as_json(self):
        odd = ({"a": 1}, ["x"], None, 5, True, "a\"b\\")
        events = [event("X", "plain", 10, dur=1), event("X", "n", 20, dur="-x")]
        for value in odd:
            events += [dict(event("X", "n", 20, dur=1), **{key: value}) for key in ("name", "cat", "ph")]
            events += [event("f", "n", 20, id=1, bp=value), event("i", "n", 20, s=value)]
        merged([self.put("rank0.json", events)], self.folder / "run.json")
        merged([self.folder / "in"], self.folder / "run.pftrace")
        found = json.loads((self.folder / "run.json").read_text())["traceEvents"]
        for key in ("name", "cat", "bp", "s", "ph"):
            for value in odd:
                self.assertTrue(any(one.get(key) == value for one in found if key in one), (key, value))

    def put_packets(self, *packets):
        """A trace with a process and a thread; packets are given by time and fields."""
        number, text, packet = pftrace.number, pftrace.text, pftrace.packet
        path = self.folder / "packets.pftrace"
        path.write_bytes(packet(number(10, 1), number(13, 1))
                         + packet(number(10, 1), text(60, number(1, 4) + text(2, "TRACK OF PROCESS")
                                                      + text(3, number(1, 7))))
                         + packet(number(10, 1), text(60, number(1, 5) + text(4, number(1, 7) + number(2, 8))))
                         + b"".join(packet(number(10, 1), number(13, 2), *one) for one in packets))
        return path

    def test_parts_of_perfetto_traces(self):
        number, text, fixed, t = pftrace.number, pftrace.text, pftrace.fixed, 1_700_000_000_000_000_000

        def record(time, kind, track, *fields):
            return number(8, time), text(11, number(9, kind) + number(11, track) + b"".join(fields))

        path = self.put_packets(
            record(0, 3, 5, text(23, "zero")),
            record(t, 2, 5), record(t, 1, 5, text(23, "a")), record(t + 1000, 2, 5),
            (text(60, number(1, 9) + text(2, "bytes") + text(8, number(4, 1000) + number(5, 1))),),
            record(t, 4, 9, number(30, 5)), record(t + 10, 4, 9, number(30, 5)), record(t + 20, 4, 9, number(30, -3)),
            (text(60, number(1, 10) + text(10, "real") + text(8, b"")),),
            record(t, 4, 10, fixed(44, 0x7FF8000000000000)), record(t, 4, 10, fixed(44, 0x7FF0000000000000)),
            record(t + 5, 4, 10, fixed(44, 0x3FE0000000000000), number(34, 1),
                   number(31, 9), number(12, 42)),
            (text(126, text(1, text(1, 'a"key') + text(3, 'a"value')) + text(1, text(1, "n") + number(2, -4))),),
            record(t + 2000, 1, 5, text(23, "open")))
        reports = [merged([path], self.folder / name) for name in ("run.json", "run.pftrace")]
        for report in reports:
            self.assertEqual(report["unusual"], {"counters_without_numbers": 2, "events_without_a_time": 1,
                                                 "lost_ends_without_a_begin": 1, "lost_fields_of_events": 1})
            self.assertEqual((report["slices"], report["unfinished"], report["counters"]), (1, 1, 5))
        found = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(found["ranks"], [{"name": "rank 0", 'a"key': 'a"value', "n": -4}])
        self.assertEqual([one["args"]["value"] for one in found["traceEvents"]
                          if one.get("name") in ("bytes", "real") and one["ph"] == "C"],
                         [5000, 10000, 7000, None, None, 49000, 0.5])
        self.assertEqual([one.get("ts") for one in found["traceEvents"] if one.get("name") == "zero"], ["0"])
        self.assertIn("rank 0: TRACK OF PROCESS", [one["args"]["name"] for one in found["traceEvents"]
                                                    if one.get("name") == "process_name"])
        counters = tables.of_perfetto(self.folder / "run.pftrace")[0].counters
        self.assertEqual(sorted(row[4] for row in counters), [0.5, 5000, 7000, 10000, 49000])

    def test_flows_of_perfetto_traces_start_and_end(self):
        number, text, fixed, t = pftrace.number, pftrace.text, pftrace.fixed, 1_700_000_000_000_000_000

        def slice_at(time, *flows):
            begin = number(9, 1) + number(11, 5) + text(23, "a") + b"".join(fixed(*flow) for flow in flows)
            return (number(8, time), text(11, begin)), (number(8, time + 5), text(11, number(9, 2) + number(11, 5)))

        path = self.put_packets(*slice_at(t, (47, 1), (47, 2)), *slice_at(t + 10, (47, 1), (47, 3)),
                                *slice_at(t + 20, (47, 2)), *slice_at(t + 30, (47, 2)),
                                *slice_at(t + 40, (48, 3)), *slice_at(t + 50, (47, 3)))
        merged([path], self.folder / "run.json")
        parts = [(one["rank_id"], one["ph"], one.get("bp"))
                 for one in json.loads((self.folder / "run.json").read_text())["traceEvents"] if "rank_id" in one]
        self.assertEqual(sorted(parts, key=lambda part: part[0]),
                         [(1, "s", None), (1, "f", "e"), (2, "s", None), (2, "t", None), (2, "f", "e"),
                          (3, "s", None), (3, "f", "e"), (3, "s", None)])

    def put_ranks(self, *ranks):
        for rank, events in enumerate(ranks):
            self.put(f"rank{rank}.json", events, distributedInfo={"rank": rank, "world_size": len(ranks)})
        return self.folder / "in"

    def test_numbers_of_all_processes_stay_apart(self):
        rank = [event("b", "io", 10, id2={"global": "0x1"}), event("e", "io", 15, id2={"global": "0x1"}),
                event("b", "io", 20, id2={"local": "0x2"}), event("e", "io", 25, id2={"local": "0x2"})]
        merged([self.put_ranks(rank, rank)], self.folder / "run.json")
        found = json.loads((self.folder / "run.json").read_text())["traceEvents"]
        self.assertEqual({one["id2"].get("global") for one in found if "id2" in one}, {"0.0x1", "1.0x1", None})

    def test_request_times_of_markers_are_corrected(self):
        start = 1_700_000_000_000_000

        def rank(own, shift):
            events = []
            for i in range(30):
                at = start + i * 1000 + shift
                events.append(event("X", "w", at, dur=10))
                events.append(event("c", "clock_sync", at + (100 if own else 75),
                                    args=dict({"sync_id": f"s{i}"}, **({"issue_ts": at + 50} if own else {}))))
            return events

        folder = self.put_ranks(rank(True, 0), rank(False, 500_000))
        for i, name in enumerate(("run.json", "run.pftrace")):
            merged([folder], self.folder / name)
            text = (self.folder / name).read_bytes()
            self.assertEqual(text.count(b"issue_ts"), (30, 1)[i])
        run("correct", folder, "-o", self.folder / "right")
        right = json.loads((self.folder / "right" / "rank0.json").read_text(), parse_float=tables.Text)
        whole = json.loads((self.folder / "run.json").read_text(), parse_float=tables.Text)
        issued = [[tables.ns(str(one["args"]["issue_ts"])) for one in trace["traceEvents"]
                   if "issue_ts" in one.get("args", {})] for trace in (right, whole)]
        self.assertEqual(issued[0], [one + whole["baseTimeNanoseconds"] for one in issued[1]])
        self.assertIn(str(issued[0][3] // 1000).encode(), b"".join(
            str(value).encode() for value in self.note_values(self.folder / "run.pftrace", "issue_ts")))

    @staticmethod
    def note_values(path, name):
        found, number = [], None
        for _, part in tables.fields(path.read_bytes()):
            for key, one in tables.fields(part):
                if key == 12:
                    number = next((dict(tables.fields(entry))[1] for table, entry in tables.fields(one)
                                   if table == 3 and dict(tables.fields(entry))[2] == name.encode()), number)
                for field, note in tables.fields(one) if key == 11 else ():
                    if field == 4 and dict(tables.fields(note)).get(1) == number:
                        found.append(tables.note_value(list(tables.fields(note))))
        return found

    def test_arrows_of_kernels_at_one_time(self):
        start = 1_700_000_000_000_000

        def call(stream, begin, end, group, number):
            return event("X", "ncclDevKernel_AllReduce_Sum_f32", begin, cat="kernel", pid=0, tid=stream, dur=end - begin,
                         args={"Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100,
                               "Group size": 2, "dtype": "Float", "Process Group Name": group,
                               "Process Group Ranks": "[0, 1]", "Comms Id": group, "Seq": number,
                               "stream": stream, "device": 0})

        def rank(first, second, last):
            return [call(*one) for i in range(20) for at in (start + i * 1000,)
                    for one in ((7, at + first, at + 100, "A", i), (9, at + second, at + last, "B", i))]

        for first, last in ((1, 101), (1, 100), (0, 101), (0, 100)):
            folder = self.put_ranks(rank(0, first, last), rank(30, 60, last))
            is_told = first > 0 or last > 100  # else kernels of one rank begin and end alike
            for name in ("run.json", "run.pftrace"):
                report = merged([folder], self.folder / name, "--force")
                self.assertEqual(report["unusual"].get("arrows_left_out", 0) > 0, not is_told, (first, last))
                self.assertEqual(report["added_arrows"] > 0, is_told, (first, last))
            arrows = {}
            for one in json.loads((self.folder / "run.json").read_text())["traceEvents"]:
                if one.get("cat") == "entrain" and one["ph"] in "sf":
                    arrows.setdefault(one["id"], set()).add(one["tid"])
            self.assertTrue(all(len(threads) == 1 for threads in arrows.values()), arrows)

    def test_members_occur_once(self):
        for window in range(2):
            self.put(f"w{window}.json", [event("X", f"w{window}", 10 + 1000000 * window, dur=5),
                                         event("s", "q", 10 + 1000000 * window, id=window)],
                     distributedInfo={"rank": 0, "world_size": 1}, name=window)

        def once(pairs):
            self.assertEqual(len(pairs), len(dict(pairs)), pairs)
            return dict(pairs)

        merged([self.folder / "in"], self.folder / "run.json")
        merged([self.folder / "run.json"], self.folder / "again.json")
        for name in ("run.json", "again.json"):
            found = json.loads((self.folder / name).read_text(), object_pairs_hook=once)
        self.assertEqual([one["name"] for one in found["ranks"]], ["rank 0"])
        found = json.loads((self.folder / "run.json").read_text())
        self.assertEqual([one["trace_name"] for one in found["ranks"]], [0, 1])

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
        self.put("rank0.json", many[:64] + [event("X", "endless", 65, dur=-1)])
        report = merged([self.folder / "in"], self.folder / "endless.pftrace")
        self.assertEqual((report["unfinished"], report["slices"]), (1, 64))
        self.assertNotIn(b"duration_ns", (self.folder / "endless.pftrace").read_bytes())

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
        (self.folder / "empty").mkdir()
        for path, why in ((self.folder / "none", "No such file"), (self.folder / "empty", "holds no trace"),
                          (Path(__file__), "is not the anchor file")):
            told = " ".join(run("merge", path, "-o", self.folder / "n.pftrace", code=2).stderr.split())
            self.assertIn(why, told)
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
