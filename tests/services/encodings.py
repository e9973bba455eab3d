#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spans of services as Protobuf and as tables: the tool says of them what it says of the same spans
in JSON, and a correction changes times only. Shares nothing with the tool: bytes are made here, by
the numbers of OpenTelemetry's public schema (otlp.proto), and read by protoc.

    encodings.py TOOL
"""
import gzip
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from protobuf_fields import fixed, number, text, varint  # noqa: E402

TOOL = None
FRAMINGS = ("none", "fixed32", "varint")


def attribute(field, one):
    kind, value = next(iter(one["value"].items()))
    inner = text(1, value) if kind == "stringValue" else number(3, int(value))
    return text(field, text(1, one["key"]) + text(2, inner))


def span(one):
    parts = [text(1, bytes.fromhex(one["traceId"])), text(2, bytes.fromhex(one["spanId"]))]
    if one.get("parentSpanId"):
        parts.append(text(4, bytes.fromhex(one["parentSpanId"])))
    parts += [text(5, one["name"]), number(6, one["kind"]),
              fixed(7, int(one["startTimeUnixNano"])), fixed(8, int(one["endTimeUnixNano"]))]
    parts += [attribute(9, each) for each in one.get("attributes", ())]
    for event in one.get("events", ()):
        parts.append(text(11, fixed(1, int(event["timeUnixNano"])) + text(2, "event")))
    for link in one.get("links", ()):
        parts.append(text(13, text(1, bytes.fromhex(link["traceId"]))
                          + text(2, bytes.fromhex(link["spanId"]))))
    parts.append(varint(16 << 3 | 5) + struct.pack("<I", 257))
    return b"".join(parts)


def request(document):
    parts = []
    for each in document["resourceSpans"]:
        resource = b"".join(attribute(1, one) for one in each["resource"]["attributes"])
        scopes = b"".join(
            text(2, text(1, text(1, "scope")) + b"".join(text(2, span(one)) for one in scope["spans"]))
            for scope in each["scopeSpans"])
        parts.append(text(1, text(1, resource) + scopes + text(3, "https://schema")))
    return b"".join(parts)


def framed(message, framing):
    if framing == "fixed32":
        return struct.pack(">I", len(message)) + message
    return (varint(len(message)) if framing == "varint" else b"") + message


def messages(data, framing):
    """The messages of a file, without what precedes them."""
    if framing == "none":
        return [data]
    found, at = [], 0
    while at < len(data):
        size, shift = 0, 0
        if framing == "fixed32":
            size, at = struct.unpack(">I", data[at:at + 4])[0], at + 4
        else:
            while True:
                byte, at = data[at], at + 1
                size |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    break
        found.append(data[at:at + size])
        at += size
    assert at == len(data)
    return found


def documents(seed, hosts=3, calls=40):
    """Documents of OTLP JSON, a list per host: calls in both directions, events and links."""
    rng = random.Random(seed)
    spans = [[] for _ in range(hosts)]
    count = 0

    def add(host, trace, parent, kind, begin, end, **more):
        nonlocal count
        count += 1
        spans[host].append({
            "traceId": f"{trace:032x}", "spanId": f"{count:016x}", "parentSpanId": parent,
            "name": rng.choice(("get", "put", "a longer name of an operation")), "kind": kind,
            "startTimeUnixNano": str(begin), "endTimeUnixNano": str(end),
            "attributes": [{"key": "note", "value": {"stringValue": "x" * rng.randrange(40)}},
                           {"key": "size", "value": {"intValue": str(rng.randrange(1 << 40))}}],
            "events": [{"timeUnixNano": str((begin + end) // 2)}] if rng.random() < 0.3 else [],
            **more})
        return f"{count:016x}"

    begin = 1_700_000_000_000_000_000
    for trace in range(1, calls + 1):
        begin += rng.randrange(1_000_000, 9_000_000)
        client, server = rng.sample(range(hosts), 2)
        there, back = rng.randrange(90_000, 300_000), rng.randrange(90_000, 300_000)
        parent = add(client, trace + (5 << 100), "", 3, begin, begin + 4_000_000)
        add(server, trace + (5 << 100), parent, 2, begin + there, begin + 4_000_000 - back)
    return [[{"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}},
                                    {"key": "host.name", "value": {"stringValue": f"host{host}"}}]},
        "scopeSpans": [{"spans": part}]}]} for part in (own[:20], own[20:]) if part]
        for host, own in enumerate(spans)]


def run(*arguments, stdin=None):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, timeout=100, check=False,
                          input=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def table(*arguments, **more):
    """The verdict, the clocks and the edges."""
    code, out, err = run("check", "--json", "--threads", "1", *arguments, **more)
    if code not in (0, 1, 3):
        raise AssertionError(err)
    report = json.loads(out)
    others = ("archive", "events", "warnings", "notes", "threads", "seconds", "timing")
    return code, {key: report[key] for key in report if key not in others}


def decoded(message):
    schema = pathlib.Path(__file__).parent
    done = subprocess.run(["protoc", "--decode", "TracesData", f"-I{schema}", "otlp.proto"],
                          input=message, capture_output=True, check=True)
    return done.stdout.decode()


def without_times(shown):
    return re.sub(r"(time_unix_nano): \d+", r"\1", shown)


def without_marks(shown):
    return re.sub(r"\n *attributes \{\n *key: \"entrain.offset_ns\"\n *value \{\n *int_value: -?\d+"
                  r"\n *\}\n *\}", "", shown)


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="entrain-protobuf-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def json_run(self, seed=1):
        folder = self.folder / f"json{seed}"
        folder.mkdir()
        for host, own in enumerate(documents(seed)):
            (folder / f"host{host}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in own))
        return folder

    def run_of(self, framing, seed=1, source=None):
        """The same spans as Protobuf."""
        source = source or self.json_run(seed)
        folder = self.folder / f"{framing}-{source.name}"
        folder.mkdir()
        for file in sorted(source.glob("*.jsonl")):
            data = b"".join(framed(request(json.loads(line)), framing)
                            for line in file.read_text().splitlines())
            (folder / f"{file.stem}.pb").write_bytes(data)
        return folder

    def made(self, verb, path, output, *more):
        code, _, err = run(verb, path, "-o", self.folder / output, *more)
        self.assertEqual(code, 0, err)
        return self.folder / output


class Protobuf(Base):
    def test_protobuf_is_read_as_json_is(self):
        source = self.json_run()
        wrong = self.made("distort", source, "json-wrong", "--seed", "7", "--offset-s", "0.02")
        for spans in (source, wrong):
            expected = table(spans)
            for framing in FRAMINGS:
                with self.subTest(spans.name, framing=framing):
                    self.assertEqual(table(self.run_of(framing, source=spans)), expected)
        self.assertEqual(expected[0], 1)

    def test_distort_and_correct_lead_back(self):
        for framing in FRAMINGS:
            with self.subTest(framing):
                truth = self.run_of(framing, seed=FRAMINGS.index(framing) + 2)
                wrong = self.made("distort", truth, f"{framing}-wrong", "--seed", "7",
                                  "--offset-s", "0.02")
                self.assertEqual(table(wrong)[0], 1)
                right = self.made("correct", wrong, f"{framing}-right")
                self.assertEqual(table(right)[0], 0)
                code, out, err = run("compare", right, truth, "--json")
                self.assertEqual(code, 0, err)
                means = [one["mean_s"] for one in json.loads(out)["locations"]]
                self.assertLess(max(means) - min(means), 300e-6)  # less than a call's way

    def test_only_times_differ(self):
        for framing in FRAMINGS:
            truth = self.run_of(framing, seed=FRAMINGS.index(framing) + 2)
            for more in ((), ("--mark-offsets",)):
                with self.subTest(framing, more=more):
                    name = f"{framing}-{len(more)}"
                    wrong = self.made("distort", truth, f"{name}-w", "--offset-s", "0.02")
                    right = self.made("correct", wrong, f"{name}-r", *more)
                    moved = marks = 0
                    for file in sorted(wrong.glob("*.pb")):
                        old = messages(file.read_bytes(), framing)
                        new = messages((right / file.name).read_bytes(), framing)
                        self.assertEqual(len(old), len(new))
                        for before, after in zip(old, new):
                            shown = decoded(after)
                            marks += shown.count("entrain.offset_ns")
                            self.assertEqual(without_times(decoded(before)),
                                             without_marks(without_times(shown)))
                            moved += before != after
                            if not more:
                                self.assertEqual(len(before), len(after))
                    self.assertGreater(moved, 0)
                    self.assertEqual(marks > 0, bool(more))

    def test_a_damaged_begin_is_called_protobuf(self):
        for framing in FRAMINGS[1:]:  # without, such a begin may be one of Perfetto
            with self.subTest(framing):
                file = self.folder / f"{framing}.pb"
                file.write_bytes(framed(request(documents(1)[0][0]), framing)[:20])
                code, _, err = run("check", file)
                self.assertEqual(code, 2, err)
                self.assertIn("Protobuf", err)
                self.assertNotIn("JSON", err)

    def test_packed_files_and_standard_input(self):
        source = self.json_run()
        framed_run = self.run_of("fixed32", source=source)
        one = self.folder / "one.pb.gz"
        one.write_bytes(gzip.compress(b"".join(
            file.read_bytes() for file in sorted(framed_run.glob("*.pb")))))
        lines = self.folder / "one.jsonl"
        lines.write_text("".join(file.read_text() for file in sorted(source.glob("*.jsonl"))))
        expected = table(lines)
        self.assertEqual(table(one), expected)
        self.assertEqual(table("-", stdin=one.read_bytes()), expected)
        self.assertEqual(table("-", stdin=gzip.decompress(one.read_bytes())), expected)
        wrong = self.made("distort", one, "wrong.pb.gz", "--offset-s", "0.02")
        right = self.made("correct", wrong, "right.pb.gz")
        self.assertEqual(len(gzip.decompress(right.read_bytes())),
                         len(gzip.decompress(one.read_bytes())))

    def test_messages_packed_one_by_one_are_packed_again(self):
        if shutil.which("zstd") is None:
            self.skipTest("there is no zstd")

        def packed(data):
            return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True,
                                  check=True).stdout

        def unpacked(data):
            return subprocess.run(["zstd", "-q", "-d", "-c"], input=data, capture_output=True,
                                  check=True).stdout
        parts = [one for own in documents(1) for one in own]
        plain = self.folder / "plain.jsonl"
        plain.write_text("".join(json.dumps(one) + "\n" for one in parts))
        for name, encode in (("z.pb", request), ("z.json", lambda one: json.dumps(one).encode()),
                             ("line.json", lambda one: json.dumps(one).encode() + b"\n"),
                             ("lines.json", lambda one: json.dumps(one, indent=1).encode())):
            with self.subTest(name):
                file = self.folder / name
                file.write_bytes(b"".join(framed(packed(encode(one)), "fixed32") for one in parts))
                self.assertEqual(table(file), table(plain))
                wrong = self.made("distort", file, f"wrong-{name}", "--offset-s", "0.02")
                right = self.made("correct", wrong, f"right-{name}")
                self.assertEqual(table(right)[0], 0)
                before, after = ([unpacked(one) for one in messages(path.read_bytes(), "fixed32")]
                                 for path in (file, right))
                self.assertEqual([len(one) for one in before], [len(one) for one in after])
                if name == "z.pb":
                    self.assertEqual([without_times(decoded(one)) for one in before],
                                     [without_times(decoded(one)) for one in after])
                file.write_bytes(file.read_bytes()[:-9])
                self.assertIn(run("check", file)[0], (0, 1, 3))
                file.write_bytes(file.read_bytes()[:400] + bytes(50) + file.read_bytes()[450:])
                self.assertEqual(run("check", file)[0], 2)

    def test_other_signals_are_no_spans(self):
        resource = text(1, attribute(1, {"key": "host.name", "value": {"stringValue": "a"}}))
        record = fixed(1, 1 << 60) + number(2, 9) + text(9, b"\1" * 16) + fixed(11, 1 << 60)
        point = fixed(2, 1 << 60) + fixed(3, 1 << 60) + fixed(6, 7)
        metric = text(1, "cpu") + text(7, text(1, point) + number(2, 2))
        folder = self.run_of("none")
        expected = table(folder)
        for name, item in (("logs.pb", record), ("metrics.pb", metric)):
            (folder / name).write_bytes(text(1, resource + text(2, text(2, item))))
        self.assertEqual(table(folder), expected)
        lines = {"logs.json": '{"resourceLogs":[]}\n', "metrics.json": '{"resourceMetrics":[]}\n'}
        for name, line in lines.items():
            (folder / name).write_text(line)
        for name in ("logs.pb", "metrics.pb", *lines):
            for verb in ("check", "info"):
                code, out, err = run(verb, folder / name)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(f"{name} holds {name.split('.')[0]} of OTLP and no spans",
                              " ".join(err.split()))
        code, _, err = run("check", "-", stdin=(folder / "logs.pb").read_bytes())
        self.assertEqual(code, 2)
        self.assertIn("standard input holds logs of OTLP", " ".join(err.split()))

    def test_a_copy_keeps_its_encoding(self):
        spans = self.json_run() / "host0.jsonl"
        for name in ("x.pb", "x.csv", "x.pftrace"):
            code, _, err = run("distort", spans, "-o", self.folder / name)
            self.assertEqual(code, 2)
            self.assertIn("let its name end in .json", " ".join(err.split()))
        self.made("distort", spans, "x.json")

    def test_standard_input_takes_no_match(self):
        code, _, err = run("check", "-", "--match", "a.b=c.d", stdin=b"{}")
        self.assertEqual(code, 2)
        self.assertIn("--match is for CTF traces", err)

    def test_hostile_files_are_refused_in_one_sentence(self):
        good = request(documents(1)[0][0])
        deep = b""
        for _ in range(5000):
            deep = text(5, text(1, deep))
        one = text(1, bytes(15) + b"\1") + text(2, bytes(7) + b"\1") + fixed(7, 1 << 60) + fixed(
            8, (1 << 60) + 5)
        nested = text(1, text(2, text(2, one + text(9, text(1, "a") + text(2, deep)))))
        cases = {
            "cut": good[:-20],
            "cut-early": good[:3],
            "huge": b"\x0a\xff\xff\xff\xff\x7f" + good,
            "huge-frame": b"\xff\xff\xff\xff" + good,
            "overlong": good + b"\x0a" + b"\x80" * 11 + b"\1",
            "other": good + b"\x0b",
            "group": text(1, text(2, text(2, one + b"\x53\x54"))),
            "inside": text(1, text(2, text(2, one + b"\x5a\x05\x09\x01\x02\x03\x04"))),
            "nested": nested,
            "no-span": text(1, text(1, attribute(1, {"key": "host.name",
                                                     "value": {"stringValue": "a"}}))),
            "max-time": text(1, text(2, text(2, text(1, b"\1") + text(2, b"\2")
                                             + fixed(7, (1 << 64) - 1) + fixed(8, (1 << 64) - 1)))),
            "bytes": text(1, text(2, text(2, one + text(5, b"\xff\xfe\x1b[31m") + text(1, b"\1" * 99)))),
        }
        for name, data in cases.items():
            for verb in ("check", "info"):
                with self.subTest(name, verb=verb):
                    path = self.folder / f"{name}.pb"
                    path.write_bytes(data)
                    code, _, err = run(verb, path)
                    self.assertIn(code, (0, 1, 2, 3), err)
                    if code == 2:
                        self.assertEqual(len(err.strip().splitlines()) > 0, True)
                        self.assertNotIn("exception", err)
                    self.assertNotIn("\x1b[31m", err)


def rows_of(source, times=str, header="traceId,spanId,parentSpanId,host,name,kind,start,end"):
    """The spans of a run as rows of CSV, without the names of what is in no column."""
    rows = [header]
    for file in sorted(source.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            for each in json.loads(line)["resourceSpans"]:
                host = each["resource"]["attributes"][1]["value"]["stringValue"]
                for one in each["scopeSpans"][0]["spans"]:
                    rows.append(",".join((one["traceId"], one["spanId"], one["parentSpanId"], host,
                                          f'"{one["name"]}"', str(one["kind"]),
                                          times(int(one["startTimeUnixNano"])),
                                          times(int(one["endTimeUnixNano"])))))
    return "".join(row + "\r\n" for row in rows)


class Tables(Base):
    def put(self, name, content):
        (self.folder / name).write_bytes(content.encode())
        return self.folder / name

    def test_a_table_is_read_as_json_is(self):
        source = self.json_run()
        wrong = self.made("distort", source, "json-wrong", "--seed", "7", "--offset-s", "0.02")
        for spans in (source, wrong):
            self.assertEqual(table(self.put(f"{spans.name}.csv", rows_of(spans))), table(spans))

    def test_only_times_differ(self):
        truth = self.put("truth.csv", rows_of(self.json_run()))
        wrong = self.made("distort", truth, "wrong.csv", "--seed", "7", "--offset-s", "0.02")
        self.assertEqual(table(wrong)[0], 1)
        right = self.made("correct", wrong, "right.csv")
        self.assertEqual(table(right)[0], 0)
        texts = [path.read_bytes().decode() for path in (truth, wrong, right)]
        self.assertNotEqual(texts[1], texts[2])
        plain = [re.sub(r",\d{19}", ",T", text) for text in texts]
        self.assertEqual(plain[0], plain[1])
        self.assertEqual(plain[0], plain[2])
        code, out, err = run("compare", right, truth, "--json")
        self.assertEqual(code, 0, err)
        means = [one["mean_s"] for one in json.loads(out)["locations"]]
        self.assertLess(max(means) - min(means), 300e-6)

    def test_columns_and_units_may_be_named(self):
        names = ("trace=t,span=s,parent=p,host=h,name=n,kind=k,start=b[ns],end=e[ns]")
        numbers = "trace=1,span=2,parent=3,host=4,name=5,kind=6,start=7[ns],end=8[ns]"
        source = self.json_run()
        known = self.put("known.csv", rows_of(source))
        other = self.put("other.csv", rows_of(source, header="t,s,p,h,n,k,b,e"))
        code, _, err = run("check", other)
        self.assertEqual(code, 2)
        self.assertIn("--columns names others", err)
        for columns in (names, numbers):
            self.assertEqual(table(other, "--columns", columns), table(known))
        self.assertEqual(table("-", "--columns", names, stdin=other.read_bytes()), table(known))
        given = ("--columns", names)
        wrong = self.made("distort", other, "wrong.csv", "--seed", "7", "--offset-s", "0.02", *given)
        self.assertEqual(table(wrong, *given)[0], 1)
        right = self.made("correct", wrong, "right.csv", *given)
        self.assertEqual(table(right, *given)[0], 0)
        self.assertEqual(right.read_text().splitlines()[0], "t,s,p,h,n,k,b,e")
        for verb in ("info", "clocks"):
            self.assertIn(run(verb, wrong, *given)[0], (0, 1))
        self.assertEqual(run("compare", right, wrong, *given)[0], 0)
        self.made("edges", wrong, "edges.csv", *given)
        self.made("export", wrong, "view.pftrace", "--to", "perfetto", *given)
        self.made("report", right, "page.html", *given)
        self.made("summarise", wrong, "part.edges", *given)
        self.assertEqual(run("fit", self.folder / "part.edges", "-o", self.folder / "clocks")[0], 0)
        code, _, err = run("apply", self.folder / "clocks", wrong, "-o", self.folder / "applied.csv",
                           *given)
        self.assertEqual(code, 0, err)
        self.assertEqual((self.folder / "applied.csv").read_bytes(), right.read_bytes())

    def test_only_tables_of_a_folder_with_the_named_columns_are_read(self):
        (self.folder / "mixed").mkdir()
        rows = rows_of(self.json_run(), header="t,s,p,h,n,k,b,e")
        self.put("mixed/named.csv", rows)
        self.put("mixed/other.csv", "trace,span,host,start_us,end_us\n1,1,a,17,19\n")
        alone = self.put("named.csv", rows)
        given = ("--columns", "trace=t,span=s,parent=p,host=h,name=n,kind=k,start=b[ns],end=e[ns]")
        self.assertEqual(table(self.folder / "mixed", *given), table(alone, *given))
        out = " ".join(run("info", self.folder / "mixed", *given)[1].split())
        self.assertIn("neither events nor these columns and is left out: other.csv", out)

    def test_units_in_which_no_time_is_one_are_refused(self):
        rows = self.put("rows.csv", rows_of(self.json_run()))
        code, out, err = run("check", rows, "--columns", "start=start[s],end=end[s]")
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn("name the units of the columns", " ".join(err.split()))

    def test_parts_are_applied_with_the_columns_of_their_summary(self):
        rows = self.put("rows.csv", rows_of(self.json_run(), header="t,s,p,h,n,k,b,e"))
        start = "trace=t,span=s,parent=p,host=h,name=n,kind=k,start=b"
        given, other = (("--columns", f"{start}[{unit}],end=e[{unit}]") for unit in ("ns", "us"))
        self.made("summarise", rows, "part.edges", *given)
        self.assertEqual(run("fit", self.folder / "part.edges", "-o", self.folder / "clocks")[0], 0)
        new = self.folder / "new.csv"
        code, _, err = run("apply", self.folder / "clocks", rows, "-o", new, *other)
        self.assertEqual(code, 2)
        self.assertIn("give the same columns", " ".join(err.split()))
        self.assertFalse(new.exists())
        self.assertEqual(run("apply", self.folder / "clocks", rows, "-o", new, *given)[0], 0)

    def test_summaries_tell_what_other_signal_there_is(self):
        self.put("logs.json", '{"resourceLogs": [{"scopeLogs": [{"logRecords": []}]}]}\n')
        self.made("summarise", self.folder / "logs.json", "logs.edges")
        code, _, err = run("fit", self.folder / "logs.edges", "-o", self.folder / "clocks")
        self.assertEqual(code, 2)
        self.assertIn("holds logs of OTLP and no spans", " ".join(err.split()))

    def test_what_is_guessed_is_shown(self):
        guessed = self.put("guessed.csv", rows_of(self.json_run()))
        told = self.put("told.csv", rows_of(
            self.json_run(2), header="trace,span,parent,host,name,kind,start_ns,end_ns"))
        for verb, more in (("check", ()), ("clocks", ()), ("correct", ("-o", self.folder / "x.csv")),
                           ("info", ())):
            out = run(verb, guessed, *more)[1]
            self.assertIn("trace is traceId", " ".join(out.split()), verb)
            self.assertIn("start in ns", " ".join(out.split()), verb)
            self.assertIn("--columns", out)
        self.assertNotIn("--columns", run("check", told)[1])

    def test_columns_that_are_none_are_refused_in_one_sentence(self):
        source = self.json_run()
        rows = self.put("rows.csv", rows_of(source))
        other = self.put("other.csv", "t,s,h,b,e\n1,1,a,5,6\n")
        spans = next(source.iterdir())
        archive = self.made("synth", "--format=otf2", "archive")
        empty = self.folder / "empty"
        empty.mkdir()
        cases = (
            (rows, "trace=x", "column x: there is no such column"),
            (rows, "trace=traceId,span=traceId", "--columns names traceId twice"),
            (rows, "trace=traceId,trace=spanId", "--columns names trace twice"),
            (rows, "node=host", '"node=host" names no column'),
            (rows, "trace", '"trace" names no column'),
            (rows, "start=start[min]", "column start[min]: there is no such column"),
            (other, "trace=t,span=s,end=e", "column start: the column is missing"),
            (other, "trace=t,span=s,start=b,end=e", "unit of its numbers is unknown"),
            (spans, "trace=traceId", "--columns is for tables of spans in CSV"),
            (source, "trace=traceId", "--columns is for tables of spans in CSV"),
            (archive, "trace=traceId", "--columns is for tables of spans in CSV"),
            (empty, "trace=traceId", "--columns is for tables of spans in CSV"),
        )
        for path, columns, sentence in cases:
            with self.subTest(columns=columns, path=path.name):
                code, out, err = run("check", path, "--columns", columns)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(sentence, " ".join(err.split()))
        code, _, err = run("check", "-", "--columns", "trace=x", stdin=rows.read_bytes())
        self.assertEqual(code, 2)
        self.assertIn("standard input, line 1, column x: there is no such column", err)
        self.made("summarise", rows, "part.edges")
        code, _, err = run("fit", self.folder / "part.edges", "-o", self.folder / "clocks",
                           "--columns", "trace=x")
        self.assertEqual(code, 2)
        self.assertIn("these are summaries", " ".join(err.split()))

    def test_hosts_in_files_of_their_own(self):
        plain = rows_of(self.json_run()).replace("kind,", "words,").splitlines(keepends=True)
        folder = self.folder / "split"
        folder.mkdir()
        for host in ("host0", "host1", "host2"):
            (folder / f"{host}.csv").write_text(
                plain[0] + "".join(row for row in plain[1:] if f",{host}," in row), newline="")
        self.assertEqual(table(folder), table(self.put("all.csv", "".join(plain))))

    def test_a_table_beside_a_training_run_is_left_out(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        trace = {"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}
        (folder / "rank0.json").write_text(json.dumps(trace))
        expected = table(folder)
        stray = folder / "stray.csv"
        stray.write_text(rows_of(self.json_run()))
        self.assertEqual(table(folder), expected)
        self.assertEqual(run("check", folder / "rank0.json", stray)[0], 2)

    def test_a_cut_table_is_read_with_a_warning(self):
        whole = rows_of(self.json_run())
        for size in (-3, -40):
            code, out, err = run("check", "--json", self.put("cut.csv", whole[:size]))
            self.assertIn(code, (0, 1, 3), err)
            self.assertIn("truncated_files", out)

    def test_edges_and_export(self):
        spans = self.put("spans.csv", rows_of(self.json_run()))
        self.made("edges", spans, "edges.csv")
        self.made("export", spans, "view.pftrace", "--to", "perfetto")
        self.made("report", spans, "page.html")

    def test_hostile_tables_are_refused_in_one_sentence(self):
        head = "trace,span,parent,host,start,end\n"
        row = "1,1,,a,1700000000000000000,1700000000000000001\n"
        many = ",".join(f"c{i}" for i in range(1_000_000))
        cases = {
            "no-header": row + row,
            "no-rows": head,
            "twice": "trace,span,parent,host,start,start,end\n" + row,
            "fields": head + "1,2,3\n",
            "quote": head + row + '1,1,"a,1\n' * 3,
            "many": f"trace,span,{many},start,end\n" + row,
            "many-first": f"trace,span,start,end,{many}\n" + row,
            "large": head + row.replace("1700000000000000001", "9" * 400),
            "negative": head + row.replace("1700000000000000000", "-5"),
            "cut": (head + row)[:-9],
            "nul": head + row + "\0" * 50,
            "words": head + row.replace("1700000000000000000", "soon"),
            "long": head + row.replace("a", "a" * 3_000_000),
        }
        for name, content in cases.items():
            with self.subTest(name):
                code, out, err = run("check", self.put(f"{name}.csv", content))
                self.assertIn(code, (0, 1, 2, 3), err)
                if code == 2:
                    self.assertEqual(out, "")
                    self.assertTrue(err.startswith("entrain: "), err)
                    self.assertNotIn("exception", err)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main(verbosity=0)
