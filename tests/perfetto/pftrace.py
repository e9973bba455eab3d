# SPDX-License-Identifier: BSD-3-Clause
"""Writes Chrome JSON of a training run as a Perfetto trace. Shares nothing with the tool: bytes are
made here, by the numbers of Perfetto's public schema (trace.proto).

    pftrace.py RANK.json RANK.pftrace [--style STYLE]

Styles are those of writers of such traces:
  sdk      names are interned, times are deltas of a clock of the sequence (Perfetto's own library)
  plain    names and absolute times in every packet
  groups   all begins precede all ends (PyTorch)
  stages   as groups; work of devices are GpuRenderStageEvents (PyTorch)
"""
import argparse
import json
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from protobuf_fields import fixed, number, text, varint  # noqa: E402

WORK = {"kernel": 1, "gpu_memcpy": 2, "gpu_memset": 3}
STAGES = {1: "Kernel", 2: "Memcpy", 3: "Memset"}
QUEUE = 100  # number of the queue of stream 0


def packet(*fields):
    return text(1, b"".join(fields))


def pieces(data):
    """The packets of a trace, with tags and lengths."""
    at = 0
    while at < len(data):
        size, shift, begin = 0, 0, at
        while True:
            at += 1
            size |= (data[at] & 0x7F) << shift
            shift += 7
            if data[at] < 0x80:
                break
        at += 1 + size
        yield data[begin:at]


def packed(data, each=100, pack=zlib.compress, field=50):
    """Packets, packed by so many of them, as traced does with `compression_type: DEFLATE`."""
    all_pieces = list(pieces(data))
    return b"".join(packet(text(field, pack(b"".join(all_pieces[k:k + each]))))
                    for k in range(0, len(all_pieces), each))


def unpacked(data, unpack=zlib.decompress):
    """The packets inside of such ones. Their head: the tag (2 bytes), and a length."""
    out = b""
    for piece in pieces(data):
        body = piece[2:] if piece[1] < 0x80 else piece[3:] if piece[2] < 0x80 else piece[4:]
        at = 2
        while body[at] >= 0x80:
            at += 1
        out += unpack(body[at + 1:])
    return out


def value_of(value):
    """Fields of a DebugAnnotation."""
    if isinstance(value, bool):
        return number(2, value)
    if isinstance(value, int):
        return number(4, value)
    if isinstance(value, float):
        return varint(5 << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, str):
        return text(6, value)
    if isinstance(value, dict):
        return b"".join(text(11, text(10, key) + value_of(one)) for key, one in value.items())
    if isinstance(value, list):
        return b"".join(text(12, value_of(one)) for one in value)
    return text(9, "null")


class Interned:
    """Names of a sequence, each written where it is first used."""

    def __init__(self):
        self.known = {}
        self.new = b""

    def iid(self, table, name):
        if (table, name) not in self.known:
            self.known[table, name] = sum(1 for one in self.known if one[0] == table) + 1
            self.new += text(table, number(1, self.known[table, name]) + text(2, name))
        return self.known[table, name]

    def take(self):
        new, self.new = self.new, b""
        return text(12, new) if new else b""


def ns(us):
    whole, _, rest = str(us).partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def lanes_of(slices):
    """Splits slices into lists in which they nest."""
    lanes = []
    for one in sorted(slices, key=lambda one: (one["begin"], -one["end"])):
        for lane, open_ends in lanes:
            while open_ends and open_ends[-1] < one["begin"]:
                open_ends.pop()
            # An end at the time of a begin could be taken for that of the begin.
            if not open_ends or one["begin"] < open_ends[-1] >= one["end"]:
                lane.append(one)
                open_ends.append(one["end"])
                break
        else:
            lanes.append(([one], [one["end"]]))
    return [lane for lane, _ in lanes]


class Encoder:
    def __init__(self, style, sequence=1, machine=0, first_uuid=1):
        self.style, self.sequence, self.machine = style, sequence, machine
        self.uuid = first_uuid
        self.out = []
        self.names = Interned()
        self.last = None  # time of the last packet, where times are deltas

    def packet(self, *fields):
        own = [number(10, self.sequence)] + ([number(98, self.machine)] if self.machine else [])
        self.out.append(packet(*own, *fields))

    def track(self, fields):
        self.uuid += 1
        self.packet(text(60, number(1, self.uuid) + fields))
        return self.uuid

    def time(self, at):
        if self.style != "sdk":
            return number(8, at)
        delta, self.last = at - self.last, at
        return number(8, delta)

    def begin_state(self, first):
        if self.style == "sdk":
            self.last = first
            snapshot = text(1, number(1, 6) + number(2, first))
            snapshot += text(1, number(1, 64) + number(2, first) + number(3, 1))
            self.packet(number(13, 1), text(6, snapshot), text(59, number(58, 64)))
        elif self.style == "stages":
            clocks = [text(1, number(1, clock) + number(2, first)) for clock in (6, 1)]
            self.packet(number(8, first), text(6, b"".join(clocks)))
            self.packet(number(13, 1))
        else:
            self.packet(number(13, 1))

    def event(self, at, track, kind, event):
        fields = number(9, kind) + number(11, track)
        if kind != 2:
            category, name = event.get("cat", ""), event.get("name", "")
            if self.style in ("sdk", "stages"):
                fields += number(3, self.names.iid(1, category)) + number(10, self.names.iid(2, name))
            else:
                fields += text(22, category) + text(23, name)
            for key, value in event.get("args", {}).items():
                named = (number(1, self.names.iid(3, key)) if self.style == "sdk" else
                         text(10, key))
                fields += text(4, named + value_of(value))
            fields += event.get("flows", b"")
        self.packet(self.time(at), self.names.take(), number(13, 2), text(11, fields))

    def stage(self, event):
        kind = WORK[event["cat"]]
        args = event.get("args", {})
        stream = int(args.get("stream", 0))
        # Numbers of stages and of queues are of one table.
        for iid, name in ((kind, STAGES[kind]), (QUEUE + stream, f"stream {stream}")):
            if (24, iid) not in self.names.known:
                self.names.known[24, iid] = iid
                self.names.new += text(24, number(1, iid) + text(2, name))
        fields = number(1, int(args.get("correlation", 0))) + number(2, event["end"] - event["begin"])
        fields += number(11, int(event["pid"])) + number(13, QUEUE + stream) + number(14, kind)
        fields += number(20, self.names.iid(2, event["name"]))
        for key, value in args.items():
            key = f"{key} id" if key in ("device", "stream", "context") else key
            value = value if isinstance(value, str) else json.dumps(value)
            fields += text(6, text(1, key) + text(2, value))
        self.packet(self.time(event["begin"]), self.names.take(), number(13, 2), text(53, fields))

    def run(self, events):
        slices = [dict(one, begin=ns(one["ts"]), end=ns(one["ts"]) + ns(one["dur"]))
                  for one in events if one.get("ph") == "X"]
        self.begin_state(min(one["begin"] for one in slices))
        begins = {(one["pid"], one["tid"], one["begin"]): one for one in slices}
        for arrow in events:  # launches of work
            key = (arrow.get("pid"), arrow.get("tid"), ns(arrow.get("ts", 0)))
            if arrow.get("ph") in ("s", "f") and key in begins:
                field = 47 if arrow["ph"] == "s" else 48
                flow = fixed(field, int(arrow["id"]))
                begins[key]["flows"] = begins[key].get("flows", b"") + flow
        stages = [one for one in slices if self.style == "stages" and one.get("cat") in WORK]
        edges, processes = [], {}
        rows = {}
        for one in slices:
            if self.style != "stages" or one.get("cat") not in WORK:
                rows.setdefault((one["pid"], one["tid"]), []).append(one)
        for (pid, tid), own in rows.items():
            if pid not in processes:
                processes[pid] = self.track(text(3, number(1, int(pid))))
            thread = self.track(number(5, processes[pid]) +
                                text(4, number(1, int(pid)) + number(2, int(tid))))
            for k, lane in enumerate(lanes_of(own)):
                track = thread if k == 0 else self.track(number(5, thread) + text(2, "more"))
                for one in lane:
                    edges.append((one["begin"], 1, track, one))
                # Inner slices end first.
                edges += [(one["end"], 2, track, one) for one in reversed(lane)]
        if self.style in ("groups", "stages"):
            edges.sort(key=lambda edge: edge[1])
        else:
            edges.sort(key=lambda edge: edge[0])  # stable
        for at, kind, track, one in edges:
            self.event(at, track, kind, one)
        for one in stages:
            self.stage(one)
        return b"".join(self.out)


def encode(path, style, **where):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    return Encoder(style, **where).run(trace["traceEvents"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--style", default="sdk", choices=("sdk", "plain", "groups", "stages"))
    options = parser.parse_args()
    with open(options.output, "wb") as file:
        file.write(encode(options.input, options.style))
