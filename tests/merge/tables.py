# SPDX-License-Identifier: BSD-3-Clause
"""What traces hold, as tables: of the files of ranks, of merged JSON and of merged Perfetto traces.

Shares nothing with the tool: protobuf is decoded here, by the numbers of Perfetto's public schema.
Each table counts equal rows, so that two traces hold the same if their tables are equal."""

import gzip
import json
import struct
from collections import Counter, defaultdict


class Tables:
    def __init__(self):
        self.slices = Counter()    # rank, process, thread, category, name, begin, end, arguments
        self.instants = Counter()  # the same with one time
        self.counters = Counter()  # rank, process, name, time, value
        self.arrows = Counter()    # ends of arrows: rank, name, id, is the end, time
        self.added = {}            # number: (time, rank) of both ends

    def named(self):
        return {"slices": self.slices, "instants": self.instants, "counters": self.counters,
                "arrows": self.arrows}


def plain(value):
    """A value of JSON that can be compared and hashed."""
    if isinstance(value, dict):
        return tuple(sorted((key, plain(one)) for key, one in value.items()))
    if isinstance(value, list):
        return tuple(plain(one) for one in value)
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value


def arguments(*objects):
    return tuple(sorted(((key, plain(value)) for one in objects for key, value in one.items()),
                        key=repr))


def ns(text):
    """Nanoseconds of a time in microseconds."""
    sign, (whole, _, rest) = (-1 if text.startswith("-") else 1), text.lstrip("-").partition(".")
    return sign * (int(whole) * 1000 + int((rest + "000")[:3]))


# --- JSON -----------------------------------------------------------------------------------------

class Text(str):
    """A number as written."""


def load(path):
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    return json.loads(text, parse_float=Text)


def unwrapped(value):
    """The value with numbers in place of texts of numbers."""
    if isinstance(value, Text):
        return float(value)
    if isinstance(value, dict):
        return {key: unwrapped(one) for key, one in value.items()}
    if isinstance(value, list):
        return [unwrapped(one) for one in value]
    return value


IDS = ("id", "id2", "scope")


def add_json(tables, events, base, rank_of, is_merged):
    """Adds the events of a file. rank_of: process number -> rank."""
    processes, threads, labels = {}, {}, {}
    for event in events:
        if event.get("ph") != "M" or (is_merged and event.get("pid") == 1):
            continue
        given = event.get("args", {})
        if event["name"] == "process_name":
            name = given["name"]
            processes[event.get("pid")] = name.split(": ", 1)[1] if is_merged else name
        elif event["name"] == "process_labels":
            labels[event.get("pid")] = given["labels"]
        elif event["name"] == "thread_name":
            threads[event.get("pid"), event.get("tid")] = given["name"]
    open_slices = defaultdict(list)

    def place(event):
        pid, tid = event.get("pid"), event.get("tid")
        process = processes.get(pid, f"process {pid}"), labels.get(pid, "")
        return rank_of(pid), process, threads.get((pid, tid), f"thread {tid}")

    def identity(event):
        if not is_merged:
            return {key: event[key] for key in IDS if key in event}
        found = {key: event[key] for key in IDS if key in event}
        if "." in str(found.get("id", "")):
            found["id"] = str(found["id"]).split(".", 1)[1]
        if "global" in found.get("id2", {}):
            found["id2"] = {"global": found["id2"]["global"].split(".", 1)[1]}
        return found

    def own(event):
        others = {key: unwrapped(value) for key, value in event.items()
                  if key not in ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "bp", "s",
                                 "rank_id", *IDS)}
        found = dict(unwrapped(event.get("args") or {}), **others)
        if event.get("ph") not in ("E", "e", "F"):
            found.update(identity(event))
        return {key: str(value) if key in IDS else value for key, value in found.items()}

    def title(event):
        return event.get("cat", ""), event.get("name", "")

    for event in events:
        phase = event.get("ph", "")
        if phase == "M" or (is_merged and event.get("pid") == 1):
            continue
        rank, process, thread = place(event)
        if is_merged and event.get("cat") == "entrain":
            side = tables.added.setdefault(int(event["id"][1:]), {})
            side[phase] = ns(str(event["ts"])) + base, rank
            continue
        if "ts" not in event:
            tables.instants[rank, process, "", *title(event), None, phase] += 1
            continue
        time = ns(str(event["ts"])) + base
        asynchronous = (rank, process, *title(event), str(identity(event)))
        if phase == "X" and str(event.get("dur", 0)).startswith("-"):
            open_slices["endless"].append((event, time))
        elif phase == "X":
            end = time + ns(str(event.get("dur", 0)))
            tables.slices[rank, process, thread, *title(event), time, end, arguments(own(event))] += 1
        elif phase == "B":
            open_slices[rank, process, thread].append((event, time))
        elif phase in "bS":
            open_slices[asynchronous].append((event, time))
        elif phase in "EeF" and open_slices[(rank, process, thread) if phase == "E" else asynchronous]:
            begun, begin = open_slices[(rank, process, thread) if phase == "E" else asynchronous].pop()
            row = thread if phase == "E" else "async"
            renamed = {"end_name": event["name"]} if event.get("name", "") not in ("", begun["name"]) else {}
            tables.slices[rank, process, row, *title(begun), begin, time,
                          arguments(own(begun), own(event), renamed)] += 1
        elif phase in "stf":
            key = title(event)[1] if len(set(title(event))) == 1 else " ".join(title(event))
            number = event.get("rank_id" if is_merged else "id")
            tables.arrows[rank, key, str(number), phase == "f", time] += 1
        elif phase == "C" and event.get("args") and all(
                isinstance(value, (int, Text)) for value in event["args"].values()):
            for key, value in event["args"].items():
                number = identity(event).get("id")
                name = event["name"] + (f"[{number}]" if number is not None else "") + " " + key
                tables.counters[rank, process, name, time, float(value)] += 1
        else:
            tables.instants[rank, process, "", *title(event), time, phase if phase not in "iIRnTp" else ""] += 1
    for begun in open_slices.values():
        for event, begin in begun:
            tables.slices["unfinished", *title(event), begin] += 1


def of_files(paths):
    """The tables of the files of ranks, in order of rank."""
    tables = Tables()
    for rank, path in enumerate(paths):
        trace = load(path)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        base = trace.get("baseTimeNanoseconds", 0) if isinstance(trace, dict) else 0
        add_json(tables, events, base, lambda _, rank=rank: rank, False)
    return tables


def of_json(path):
    trace = load(path)
    ranks = {event["pid"]: int(event["args"]["name"].split(":")[0].split()[1])
             for event in trace["traceEvents"]
             if event.get("ph") == "M" and event["name"] == "process_name" and event["pid"] != 1}
    tables = Tables()
    add_json(tables, trace["traceEvents"], trace["baseTimeNanoseconds"], ranks.get, True)
    return tables, trace


# --- Perfetto -------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Numbers and values of the fields of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a cut message"
        else:
            raise ValueError(f"wire type {kind}")
        yield number, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def note_value(entries):
    """The value of a DebugAnnotation."""
    nested = {11: {}, 12: []}
    for number, value in entries:
        if number in (2,):
            return bool(value)
        if number == 3:
            return value
        if number == 4:
            return signed(value)
        if number == 5:
            return struct.unpack("<d", struct.pack("<Q", value))[0]
        if number == 6:
            return value.decode()
        if number == 9:
            return unwrapped(json.loads(value, parse_float=Text))
        if number == 11:
            parts = list(fields(value))
            nested[11][next(v for n, v in parts if n == 10).decode()] = note_value(parts)
        if number == 12:
            nested[12].append(note_value(list(fields(value))))
    return nested[11] or nested[12]


def of_perfetto(path):
    """The tables of a trace, its tracks by uuid, and its attributes."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    names = defaultdict(dict)
    tracks, attributes, packets = {}, {}, []
    for number, packet in fields(raw):
        assert number == 1
        parts = dict(fields(packet))
        machine, sequence = parts.get(98, 0), parts[10]
        if 12 in parts:
            for table, entry in fields(parts[12]):
                pair = dict(fields(entry))
                names[sequence, table][pair[1]] = pair[2].decode()
        if 126 in parts:
            for _, attribute in fields(parts[126]):
                pair = dict(fields(attribute))
                attributes[pair[1].decode()] = signed(pair[2]) if 2 in pair else pair[3].decode()
        if 60 in parts:
            track = dict(fields(parts[60]))
            assert track[1] not in tracks, "a track described twice"
            tracks[track[1]] = {"machine": machine, "parent": track.get(5, 0),
                                "name": track.get(2, b"").decode(),
                                "process": dict(fields(track[3])) if 3 in track else None,
                                "thread": dict(fields(track[4])) if 4 in track else None,
                                "is_counter": 8 in track}
        if 11 in parts:
            packets.append((machine, sequence, parts[8], parts[11]))
    tables = Tables()
    process_of = {(t["machine"], t["process"][1]): u for u, t in tracks.items() if t["process"]}

    def place(uuid):
        """Rank, process and thread of a track."""
        track = tracks[uuid]
        while track["process"] is None and track["thread"] is None:
            track = tracks[track["parent"]]
        thread = track["thread"][5].decode() if track["thread"] else ""
        if track["thread"]:
            track = tracks[process_of[track["machine"], track["thread"][1]]]
        own = track["process"]
        rank, name = own[6].decode().split(": ", 1)
        return int(rank.split()[1]), (name, own.get(8, b"").decode()), thread

    stacks, last, ids, arrows = defaultdict(list), defaultdict(int), {}, {}
    for machine, sequence, time, data in packets:
        kind = track = None
        category = name = ""
        flows, notes, value = [], [], None
        for number, one in fields(data):
            if number == 9:
                kind = one
            elif number == 11:
                track = one
            elif number == 3:
                category = names[sequence, 1][one]
            elif number == 22:
                category = one.decode()
            elif number == 10:
                name = names[sequence, 2][one]
            elif number == 23:
                name = one.decode()
            elif number == 47:
                flows.append((one, False))
            elif number == 48:
                flows.append((one, True))
            elif number == 30:
                value = float(signed(one))
            elif number == 44:
                value = struct.unpack("<d", struct.pack("<Q", one))[0]
            elif number == 4:
                parts = list(fields(one))
                key = next(v for n, v in parts if n in (1, 10))
                key = names[sequence, 3][key] if isinstance(key, int) else key.decode()
                notes.append((key, note_value(parts)))
        assert track in tracks, "an event of no track"
        if sequence == 1:  # the track of what was added
            continue
        rank, process, thread = place(track)
        assert tracks[track]["is_counter"] == (kind == 4)
        if kind != 4:
            assert time >= last[track], "a track out of order"
            last[track] = time
        arrow_notes = [(key[6:], number) for key, number in notes if key.startswith("arrow ")]
        notes = [one for one in notes if not one[0].startswith("arrow ")]
        notes = [(key, str(one) if key in IDS else one) for key, one in notes]
        for flow, is_end in flows:
            if flow >= 1 << 32:
                continue
            side = tables.added.setdefault(flow, {})
            letter = "f" if is_end else "s"
            assert letter not in side and kind == (2 if is_end else 1)
            side[letter] = time, rank
        own = [(flow, is_end) for flow, is_end in flows if flow >= 1 << 32]
        assert len(arrow_notes) == len(own), "each arrow has its note"
        for (key, number), (flow, is_end) in zip(arrow_notes, own):
            tables.arrows[rank, key, str(number), is_end, time] += 1
            same = (rank, key, str(number))
            assert ids.setdefault(same, flow) == flow and arrows.setdefault(flow, same) == same
        if kind == 1:
            assert not stacks[track] or stacks[track][-1][0] <= time
            stacks[track].append((time, category, name, notes))
        elif kind == 2:
            begin, category, name, begun = stacks[track].pop()
            row = thread or "async"
            tables.slices[rank, process, row, category, name, begin, time,
                          tuple(sorted(((key, plain(v)) for key, v in begun + notes), key=repr))] += 1
        elif kind == 3 and not arrow_notes:
            said = dict(notes)
            untimed = tracks[track]["name"] == "without a time"
            tables.instants[rank, process, "", category, name, None if untimed else time,
                            said.get("ph", "")] += 1
        elif kind == 4:
            tables.counters[rank, process, tracks[track]["name"], time, value] += 1
    for stack in stacks.values():
        for begin, category, name, _ in stack:
            tables.slices["unfinished", category, name, begin] += 1
    return tables, tracks, attributes


def differences(a, b):
    """Sentences on what differs between two Tables."""
    found = []
    for name, rows in a.named().items():
        others = b.named()[name]
        for sign, missing in (("-", rows - others), ("+", others - rows)):
            found += [f"{sign} {name}: {row}" for row in list(missing)[:3]]
            if len(missing) > 3:
                found.append(f"{sign} {name}: and {len(missing) - 3} more")
    return found
