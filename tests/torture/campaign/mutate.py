# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of archives, tables, texts, and the JSON of training runs and spans.

A mutation is a function (folder, draw) that changes files of a folder; draw is a random.Random, so
that name and seed repeat it. apply() runs a list of (name, seed).
"""

import gzip
import json
import os
import random
import re
import zlib
from pathlib import Path
from typing import Callable

from . import records

EXTREME = (0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2,
           2**32 - 1, 2**32, 2**53, 10**12, 8 * 10**17, 2**61 - 1, 2**61, 2**62, 2**63 - 1, 2**63,
           2**64 - 2, 2**64 - 1)
WORDS = ("", "0", "-0", "-1", "1", "nan", "-nan", "inf", "-inf", "1e308", "1e400", "-1e400",
         "1e-400", "0x10", "1.5", "1,5", "9223372036854775807", "9223372036854775808",
         "18446744073709551615", "18446744073709551616", "-9223372036854775808", "9" * 40,
         "9" * 5000, " 1", "1 ", "+1", "--1", "\0", "\x1b[31m", "\"", "'", ",", "a", "true", "null",
         "é", "‮", "%s%n", "../..", "x" * 300, "1e18", "1e-9", "0.1", "17ns", "-17ns", "1e30s",
         "0ns", "5%", "300ppm", "1Gbps")
LARGEST = 1 << 22  # bytes of a mutated file: mutations stand on each other
BAD_BYTES = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b"\r", b"\n\n", b"\xef\xbb\xbf", b"\x80")

Step = tuple[str, int]
Mutation = Callable[[Path, random.Random], None]


# ---- files as bytes ----

def files_of(folder: Path, *endings: str) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in found if not endings or path.suffix in endings]


def pick_file(folder: Path, draw: random.Random, *endings: str) -> Path | None:
    found = files_of(folder, *endings) or files_of(folder)
    return draw.choice(found) if found else None


def flip_bytes(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        if changed:
            at = draw.randrange(len(changed))
            changed[at] = draw.choice((draw.randrange(256), changed[at] ^ 1 << draw.randrange(8),
                                       0, 1, 255))
    return bytes(changed)


def truncate(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return data
    return data[:draw.choice((0, 1, 17, 18, len(data) - 1, draw.randrange(len(data))))]


def append(data: bytes, draw: random.Random) -> bytes:
    return data + draw.choice((b"\0", data, data[:draw.randrange(1, 99)], draw.randbytes(40),
                               b"\0" * 4096))


def splice(data: bytes, draw: random.Random) -> bytes:
    if len(data) < 2:
        return data
    begin, end = sorted(draw.randrange(len(data)) for _ in range(2))
    at = draw.randrange(len(data))
    return draw.choice((data[:begin] + data[end:], data[:at] + data[begin:end] + data[at:]))


def fixed_numbers(data: bytes, draw: random.Random) -> bytes:
    """Puts an extreme number of 1, 4 or 8 bytes anywhere: anchors have such fields."""
    size = draw.choice((1, 4, 8))
    if len(data) < size:
        return data
    at = draw.randrange(len(data) - size + 1)
    value = draw.choice(EXTREME) % (1 << 8 * size)
    return data[:at] + value.to_bytes(size, draw.choice(("little", "big"))) + data[at + size:]


BYTES = {"flip": flip_bytes, "truncate": truncate, "append": append, "splice": splice,
         "number": fixed_numbers}


def of_bytes(change, *endings: str) -> Mutation:
    def mutation(folder: Path, draw: random.Random) -> None:
        path = pick_file(folder, draw, *endings)
        if path is not None:
            path.write_bytes(change(path.read_bytes(), draw)[:LARGEST])
    return mutation


# ---- records ----

def of_tokens(change, *endings: str) -> Mutation:
    """Changes the list of tokens of one file; sometimes counts its events again."""
    def mutation(folder: Path, draw: random.Random) -> None:
        path = pick_file(folder, draw, *endings)
        if path is None:
            return
        data = path.read_bytes()
        order = records.order_of(data)
        tokens = records.split(data, path.suffix != ".def")
        if len(tokens) < 3:
            return
        body = tokens[1:-1]
        change(body, draw, order)
        body = records.without_double_stamps(body)
        path.write_bytes(b"".join([_header(tokens[0], body, draw, order)] + body + tokens[-1:]))
    return mutation


def _header(header: bytes, body: list[bytes], draw: random.Random, order: str) -> bytes:
    if len(header) < records.HEADER_SIZE or draw.random() < 0.3:
        return header
    first = int.from_bytes(header[2:10], order)
    if first == 0:
        return header  # definitions count nothing
    count = sum(1 for token in body if not records.is_stamp(token) and token[0] > 6)
    return header[:10] + (first + count - 1).to_bytes(8, order)


def swap_records(body, draw, order):
    a, b = (draw.randrange(len(body)) for _ in range(2))
    body[a], body[b] = body[b], body[a]


def delete_records(body, draw, order):
    at = draw.randrange(len(body))
    del body[at:at + draw.choice((1, 1, 2, 10, 100))]


def duplicate_records(body, draw, order):
    at = draw.randrange(len(body))
    to = draw.choice((at, draw.randrange(len(body) + 1)))
    body[to:to] = body[at:at + draw.choice((1, 1, 2, 10, 100))]


def reverse_records(body, draw, order):
    at = draw.randrange(len(body))
    end = at + draw.choice((2, 4, 20, len(body)))
    body[at:end] = reversed(body[at:end])


def change_integer(body, draw, order):
    for _ in range(draw.choice((1, 1, 1, 3, 30))):
        at = draw.randrange(len(body))
        places = records.integers_in(body[at]) if len(body[at]) > 1 else []
        if places and not records.is_stamp(body[at]):
            begin, end = draw.choice(places)
            value = draw.choice(EXTREME) if draw.random() < 0.5 else draw.randrange(16)
            new = b"\xff" if draw.random() < 0.1 else records.compressed(value, order)
            body[at] = records.replaced(body[at], begin, end, new, order)


def change_type(body, draw, order):
    at = draw.randrange(len(body))
    body[at] = bytes((draw.randrange(256),)) + body[at][1:]


def change_length(body, draw, order):
    at = draw.randrange(len(body))
    if len(body[at]) < 2:
        return
    long = b"\xff" + draw.choice(EXTREME).to_bytes(8, order)
    length = draw.choice((bytes((draw.randrange(256),)), long, b"\0", b"\xfe"))
    body[at] = body[at][:1] + length + body[at][2:]


def _stamps(body) -> list[int]:
    return [at for at, token in enumerate(body) if records.is_stamp(token)]


def of_stamps(change):
    def tokens(body, draw, order):
        places = _stamps(body)
        if places:
            times = [records.stamp_of(body[at], order) for at in places]
            change(times, draw)
            for at, time in zip(places, times):
                body[at] = records.stamp(time, order)
    return tokens


def extreme_stamp(times, draw):
    at = draw.randrange(len(times))
    times[at] = draw.choice(EXTREME + (times[at] - 1, times[at] + 1, times[0], times[-1],
                                       times[at - 1], times[at] * 1000))


def shift_stamps(times, draw):
    """The clock jumps, or the whole location is far away."""
    at = draw.choice((0, draw.randrange(len(times))))
    by = draw.choice((1, 1000, 10**6, 10**9, 10**15, 8 * 10**17, 2**60, 2**61 - 1 - times[-1],
                      -times[at], -1, -1000, -10**6))
    times[at:] = [max(0, time + by) for time in times[at:]]


def flatten_stamps(times, draw):
    """A timer that does not tick for a while, or ever."""
    at = draw.choice((0, draw.randrange(len(times))))
    end = at + draw.choice((2, 10, 100, len(times)))
    times[at:end] = [times[at]] * len(times[at:end])


def coarsen_stamps(times, draw):
    tick = draw.choice((2, 1000, 10**6, 10**9, 10**15))
    times[:] = [time // tick * tick for time in times]


def stretch_stamps(times, draw):
    by = draw.choice((0.5, 0.999, 1.0001, 1.01, 2, 1000, 10**6))
    times[:] = [times[0] + int((time - times[0]) * by) for time in times]


def swap_stamps(times, draw):
    a, b = (draw.randrange(len(times)) for _ in range(2))
    times[a], times[b] = times[b], times[a]


def sort_stamps(times, draw):
    """Puts stamps into order again, so that other changes reach deeper."""
    times.sort()


def odd_offsets(folder: Path, draw: random.Random) -> None:
    """Changes the ClockOffset records of a location, or gives it some."""
    path = pick_file(folder / "traces", draw, ".def") if (folder / "traces").is_dir() else None
    if path is None:
        return
    data = path.read_bytes()
    order = records.order_of(data)
    tokens = records.split(data, events=False)
    known = records.clock_offsets(data)
    rest = [token for token in tokens[1:-1] if token[0] != records.CLOCK_OFFSET]
    if not known or draw.random() < 0.2:
        known = known + [(draw.choice(EXTREME), draw.choice(EXTREME)) for _ in range(2)]
    change = draw.choice((_shuffle_offsets, _repeat_offset, _move_offset, _bend_offset))
    known = change(known, draw)
    deviation = draw.choice((0.0, 1000.0, -1.0, float("nan"), float("inf"), 1e308))
    new = [records.clock_offset(time, offset, deviation, order) for time, offset in known]
    path.write_bytes(b"".join(tokens[:1] + rest + new + tokens[-1:]))


def _shuffle_offsets(known, draw):
    return draw.sample(known, len(known))


def _repeat_offset(known, draw):
    return known + [draw.choice(known)] * draw.choice((1, 2, 50))


def _move_offset(known, draw):
    at = draw.randrange(len(known))
    time = draw.choice(EXTREME + (known[at][0] + 1, known[0][0], known[-1][0], known[at][0] * 2))
    return known[:at] + [(time, known[at][1])] + known[at + 1:]


def _bend_offset(known, draw):
    at = draw.randrange(len(known))
    by = draw.choice((1, -1, 1000, -10**6, 10**9, -10**12, 2**60, 2**62, -2**62))
    return known[:at] + [(known[at][0], known[at][1] + by)] + known[at + 1:]


TOKENS = {"swap": swap_records, "delete": delete_records, "duplicate": duplicate_records,
          "reverse": reverse_records, "integer": change_integer, "type": change_type,
          "length": change_length}
STAMPS = {"extreme": extreme_stamp, "shift": shift_stamps, "flatten": flatten_stamps,
          "coarsen": coarsen_stamps, "stretch": stretch_stamps, "swap": swap_stamps,
          "sort": sort_stamps}


# ---- the archive as a whole ----

def lose_file(folder, draw):
    path = pick_file(folder, draw)
    if path is not None:
        path.unlink()


def exchange_files(folder, draw):
    a, b = pick_file(folder, draw, ".evt", ".def"), pick_file(folder, draw, ".evt", ".def")
    if a is not None and b is not None and a != b:
        one, other = a.read_bytes(), b.read_bytes()
        a.write_bytes(other)
        b.write_bytes(one)


def copy_file(folder, draw):
    a, b = pick_file(folder, draw), pick_file(folder, draw)
    if a is not None and b is not None and a != b:
        b.write_bytes(a.read_bytes())


def strange_file(folder, draw):
    """A file of a location that nobody defined, of another kind, or a hidden one."""
    source = pick_file(folder, draw)
    name = draw.choice(("99.evt", "0.snap", "1.snap", "x.evt", "-1.evt", "0.EVT", ".hidden",
                        "18446744073709551615.evt", "0.marker"))
    if source is not None and (folder / "traces").is_dir():
        (folder / "traces" / name).write_bytes(source.read_bytes())


def marker_file(folder, draw):
    source = pick_file(folder, draw, ".def")
    if source is not None:
        (folder / "traces.marker").write_bytes(source.read_bytes())


def anchor_field(folder, draw):
    """Byte order, version, chunk sizes, substrate, compression, counts: the first 43 bytes."""
    path = folder / "traces.otf2"
    if not path.is_file():
        return
    data = bytearray(path.read_bytes())
    order = "little"
    at, size = draw.choice(((0, 1), (1, 1), (6, 1), (7, 1), (8, 1), (9, 1), (10, 8), (18, 8),
                            (26, 1), (27, 1), (28, 8), (36, 8)))
    values = EXTREME if size == 8 else (0, 1, 2, 3, 4, 0x23, 0x42, 254, 255)
    if len(data) >= at + size:
        data[at:at + size] = (draw.choice(values)).to_bytes(size, order)
        path.write_bytes(data)


ARCHIVE: dict[str, Mutation] = {
    **{f"bytes-{name}": of_bytes(change) for name, change in BYTES.items()},
    **{f"events-{name}": of_tokens(change, ".evt") for name, change in TOKENS.items()},
    **{f"definitions-{name}": of_tokens(change, ".def") for name, change in TOKENS.items()},
    **{f"stamps-{name}": of_tokens(of_stamps(change), ".evt") for name, change in STAMPS.items()},
    "anchor-bytes": of_bytes(flip_bytes, ".otf2"),
    "anchor-number": of_bytes(fixed_numbers, ".otf2"),
    "anchor-field": anchor_field, "lose": lose_file, "exchange": exchange_files, "copy": copy_file,
    "strange": strange_file, "marker": marker_file, "offsets": odd_offsets,
}
# What reaches far behind the reader is drawn more often than what the reader refuses.
ARCHIVE_WEIGHTS = {name: (5 if name.startswith(("stamps-", "offsets")) else
                          3 if name.startswith("events-") else
                          2 if name.startswith("definitions-") else 1) for name in ARCHIVE}


# ---- tables and texts ----

def of_lines(change) -> Callable[[bytes, random.Random], bytes]:
    def of_text(data: bytes, draw: random.Random) -> bytes:
        lines = data.split(b"\n")
        change(lines, draw)
        return b"\n".join(lines)
    return of_text


def delete_line(lines, draw):
    at = draw.randrange(len(lines))
    del lines[at:at + draw.choice((1, 1, 3, 20))]


def duplicate_line(lines, draw):
    at = draw.randrange(len(lines))
    lines[at:at] = lines[at:at + draw.choice((1, 3, 50))] * draw.choice((1, 1, 20))


def swap_lines(lines, draw):
    a, b = (draw.randrange(len(lines)) for _ in range(2))
    lines[a], lines[b] = lines[b], lines[a]


def change_cells(lines, draw):
    for _ in range(draw.choice((1, 1, 2, 10))):
        at = draw.randrange(len(lines))
        cells = re.split(rb"([,\t])", lines[at])
        cells[draw.randrange(len(cells))] = draw.choice(WORDS).encode()
        lines[at] = b"".join(cells)


def nudge_numbers(lines, draw):
    """Numbers that are only a little or a magnitude off, on some lines."""
    for _ in range(draw.choice((1, 5, 30))):
        at = draw.randrange(len(lines))
        numbers = list(re.finditer(rb"\d+", lines[at]))
        if numbers:
            number = draw.choice(numbers)
            value = int(number.group()[:30])
            value = draw.choice((value + 1, max(0, value - 1), value * 1000, value // 1000, 0,
                                 value * 2, value + 2**40, draw.choice(EXTREME)))
            lines[at] = lines[at][:number.start()] + b"%d" % value + lines[at][number.end():]


def lose_cell(lines, draw):
    at = draw.randrange(len(lines))
    cells = re.split(rb"([,\t])", lines[at])
    del cells[draw.randrange(len(cells))]
    lines[at] = b"".join(cells)


def insert_bytes(data, draw):
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(BAD_BYTES) * draw.choice((1, 1, 100)) + data[at:]


def other_line_ends(data, draw):
    return data.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n", b"", b"\n#")))


def change_word(data, draw):
    """One token of a text gets lost, repeated, exchanged or replaced."""
    tokens = re.findall(rb"\w+|\s+|[^\w\s]", data)
    if not tokens:
        return data
    at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    how = draw.randrange(4)
    if how == 0:
        del tokens[at]
    elif how == 1:
        tokens[at] *= draw.choice((2, 2, 500))
    elif how == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    else:
        tokens[at] = draw.choice(WORDS).encode()
    return b"".join(tokens)


def grow(data, draw):
    return data * draw.choice((2, 10, 200))


TEXT = {**BYTES, "insert": insert_bytes, "line-ends": other_line_ends, "word": change_word,
        "grow": grow, "delete-line": of_lines(delete_line), "cells": of_lines(change_cells),
        "duplicate-line": of_lines(duplicate_line), "swap-lines": of_lines(swap_lines),
        "nudge": of_lines(nudge_numbers), "lose-cell": of_lines(lose_cell)}
TABLES: dict[str, Mutation] = {f"table-{name}": of_bytes(change, ".csv")
                               for name, change in TEXT.items()}
JOURNALS: dict[str, Mutation] = {
    **{f"journal-{name}": of_bytes(change, ".journal") for name, change in TEXT.items()},
    **{f"buffer-{name}": of_bytes(change, ".buffer") for name, change in BYTES.items()},
    **{f"buffer-records-{name}": of_tokens(change, ".buffer") for name, change in TOKENS.items()},
    **{f"buffer-stamps-{name}": of_tokens(of_stamps(change), ".buffer")
       for name, change in STAMPS.items()},
    "journal-lose": lose_file, "journal-copy": copy_file, "journal-exchange": exchange_files,
}


# ---- JSON ----

def change_json(data: bytes, draw: random.Random) -> bytes:
    """Replaces, deletes or repeats a value somewhere in a JSON document."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return change_word(data, draw)
    places = list(_places(document))
    if not places:
        return data
    holder, key = draw.choice(places)
    how = draw.randrange(4)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.extend([holder[key]] * draw.choice((1, 2, 300)))
    elif how == 2 and isinstance(holder, dict):
        holder[draw.choice(WORDS)] = holder[key]
    else:
        holder[key] = draw.choice((None, True, [], {}, -1, 0, 1, 1.5, 2**63, 2**64, 1e300, -1e300,
                                   [holder[key]], {"name": holder[key]}, draw.choice(WORDS)))
    return json.dumps(document).encode()


def _places(node):
    items = (node.items() if isinstance(node, dict) else
             enumerate(node) if isinstance(node, list) else ())
    for key, value in items:
        yield node, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def nest_deep(data, draw):
    return draw.choice((b"[", b"{\"a\":")) * draw.choice((100, 100_000)) + data


NET: dict[str, Mutation] = {
    **{f"net-{name}": of_bytes(change, ".dot", ".json") for name, change in TEXT.items()},
    "net-json": of_bytes(change_json, ".json"), "net-values": of_bytes(change_json, ".json"),
    "net-nest": of_bytes(nest_deep, ".json"),
}


# ---- training runs and spans: documents, or one per line, plain or packed ----

TIME_KEYS = ("ts", "dur", "timestamp", "duration", "startTime", "startTimeMillis", "timeUnixNano",
             "startTimeUnixNano", "endTimeUnixNano", "baseTimeNanoseconds", "cause_time",
             "effect_time", "min_delay", "time", "offset", "half_width")
ID_KEYS = ("id", "parentId", "traceId", "traceID", "spanID", "spanId", "parentSpanId", "refType",
           "processID", "pid", "tid", "External id", "correlation", "bp", "ph", "kind", "name",
           "serviceName", "stream", "Collective name", "Process Group Name", "Seq", "rank",
           "cause_clock", "effect_clock", "clock", "role", "instance", "domain")
TIMES = (0, 1, -1, 0.5, 1e15, 1.5e300, -1e300, 2**53 + 1, 2**62, 2**62 - 1, 2**63, 2**64 - 1, 2**64,
         "0", "-1", "1e15", "1e400", "9" * 40, "1.25", "nan", "", None, True, [], {})
STRANGE = ("\ud800", "\u202e", "\0", "\x1b[31m", "x" * 5000, "\u20ac" * 300, "</script>", "a\nb")


def of_documents(change) -> Callable[[bytes, random.Random], bytes]:
    """Changes some documents of a text, each of which is a line or the whole."""
    def of_text(data: bytes, draw: random.Random) -> bytes:
        lines = [data] if _document(data) is not None else data.split(b"\n")
        for _ in range(draw.choice((1, 1, 2, 5))):
            at = draw.randrange(len(lines))
            document = _document(lines[at])
            if document is not None:
                change(document, draw)
                lines[at] = json.dumps(document).encode()
        return b"\n".join(lines)
    return of_text


def _document(data: bytes):
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, (dict, list)) else None


def _places_of(document, keys) -> list:
    return [(holder, key) for holder, key in _places(document) if key in keys]


def json_times(document, draw):
    """A clock that is strange, jumps or is far away; or one time that is none."""
    places = _places_of(document, TIME_KEYS)
    how = draw.randrange(3)
    by = draw.choice((1, -1, 1000, 10**6, 10**9, -10**6, 10**15, 2**60))
    for holder, key in draw.sample(places, min(len(places), draw.choice((1, 1, 5, len(places))))):
        if how == 0:
            holder[key] = draw.choice(TIMES)
            continue
        try:
            value = int(float(holder[key])) if how == 1 else float(holder[key]) * 1.001
            holder[key] = type(holder[key])(value + by)
        except (TypeError, ValueError, OverflowError):
            holder[key] = by


def json_ids(document, draw):
    """Ids, parents and names that are those of others: cycles, doubles, orphans."""
    places = _places_of(document, ID_KEYS)
    for _ in range(draw.choice((1, 1, 3, 20))):
        if places:
            (a, key), (b, other) = draw.choice(places), draw.choice(places)
            alike = [(c, k) for c, k in places if k == key]
            c, _ = draw.choice(alike)
            a[key] = draw.choice((c[key], c[key], b[other], draw.choice(STRANGE + WORDS)))


def json_types(document, draw):
    places = list(_places(document))
    if places:
        holder, key = draw.choice(places)
        value = holder[key]
        holder[key] = draw.choice((str(value), [value], {"a": value}, {"intValue": value}, None,
                                   False, -1.5, draw.choice(STRANGE)))


def json_lists(document, draw):
    """Elements that are lost, repeated or out of order."""
    lists = [holder[key] for holder, key in _places(document) if isinstance(holder[key], list)]
    lists = [one for one in lists + [document] if isinstance(one, list) and one]
    if not lists:
        return
    chosen = draw.choice(lists)
    at = draw.randrange(len(chosen))
    how = draw.randrange(4)
    if how == 0:
        del chosen[at:at + draw.choice((1, 5, len(chosen)))]
    elif how == 1:
        chosen[at:at] = chosen[at:at + draw.choice((1, 5))] * draw.choice((1, 3, 100))
    elif how == 2:
        draw.shuffle(chosen)
    else:
        chosen.append(draw.choice((None, 1, "", [], {}, chosen[at])))


def double_member(data, draw):
    """A key that stands twice in its object."""
    found = list(re.finditer(rb'"[^"\\]{1,40}":\s*(?:"[^"\\]{0,80}"|[-0-9.e+]+)', data))
    if not found:
        return data
    one = draw.choice(found)
    member = one.group()
    if draw.random() < 0.5:
        member = member.split(b":", 1)[0] + b":" + draw.choice((b"0", b'""', b"[]", b"{}", b"-"))
    return data[:one.start()] + member + b"," + data[one.start():]


def long_text(data, draw):
    """Blanks, or letters in a text, as many as no writer puts there."""
    at = data.find(b'"', draw.randrange(len(data) + 1)) + 1
    return data[:at] + draw.choice((b" ", b"a", b"\\u0041", b"\\n")) * 100_000 + data[at:]


DOCUMENTS = {"values": change_json, "times": of_documents(json_times), "ids": of_documents(json_ids),
             "types": of_documents(json_types), "lists": of_documents(json_lists),
             "double": double_member, "long": long_text, "nest": nest_deep}


def of_unpacked(change) -> Callable[[bytes, random.Random], bytes]:
    """Changes what is inside a gzip file, or a plain file."""
    def of_file(data: bytes, draw: random.Random) -> bytes:
        if data[:2] != b"\x1f\x8b":
            return change(data, draw)
        stream = zlib.decompressobj(31)
        try:
            text = stream.decompress(data, LARGEST)
        except zlib.error:
            return change(data, draw)
        return gzip.compress(change(text, draw)[:LARGEST], 1, mtime=0)
    return of_file


def pack_oddly(data, draw):
    """Streams one after the other, cut off, with zeros behind, or mostly blanks."""
    packed = data if data[:2] == b"\x1f\x8b" else gzip.compress(data, 1, mtime=0)
    return draw.choice((packed, packed + packed, packed + b"\0" * 600, packed + b"\0" * 9 + packed,
                        packed[:draw.randrange(len(packed) + 1)], packed[:10] + b"\xff" * 40,
                        packed[:3] + b"\xff" + packed[4:], gzip.compress(packed, 1, mtime=0),
                        gzip.compress(b" " * (32 << 20) + data[:1000], 1, mtime=0)))


def rename_file(folder, draw):
    path = pick_file(folder, draw)
    if path is not None:
        name = draw.choice((path.name + ".gz", path.stem + ".jsonl", "rank7.json", ".json", "a b.json",
                            "x\x1b.json", "\u202ea.json", "x" * 240 + ".json", "rank0.ndjson"))
        path.rename(path.with_name(name))


RECORDINGS: dict[str, Mutation] = {
    **{f"json-{name}": of_bytes(of_unpacked(change)) for name, change in (DOCUMENTS | TEXT).items()},
    **{f"file-{name}": of_bytes(change) for name, change in BYTES.items()},
    "json-pack": of_bytes(pack_oddly), "json-rename": rename_file, "json-lose": lose_file,
    "json-copy": copy_file, "json-strange": strange_file,
}
# What readers take in is drawn more often than what they refuse.
RECORDINGS_WEIGHTS = {name: 6 if name in ("json-times", "json-ids", "json-lists", "json-nudge") else
                      3 if name in ("json-values", "json-types") else 1 for name in RECORDINGS}
EDGES: dict[str, Mutation] = {
    **{f"edges-{name}": of_bytes(change, ".csv", ".jsonl") for name, change in TEXT.items()},
    **{f"edges-json-{name}": of_bytes(change, ".jsonl") for name, change in DOCUMENTS.items()},
}
EDGES_WEIGHTS = {name: 5 if name in ("edges-nudge", "edges-cells", "edges-swap-lines") else 1
                 for name in EDGES}

ALL: dict[str, Mutation] = {**ARCHIVE, **TABLES, **JOURNALS, **NET, **RECORDINGS, **EDGES}


def apply(folder: Path, steps: list[Step]) -> None:
    for name, seed in steps:
        ALL[name](folder, random.Random(seed))


def draw_steps(draw: random.Random, names: list[str],
               weights: list[int] | None = None) -> list[Step]:
    count = draw.choice((1, 1, 2, 2, 3, 4, 6))
    chosen = draw.choices(names, weights, k=count)
    return [(name, draw.getrandbits(32)) for name in chosen]


def sparse_file(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        os.truncate(file.fileno(), size)
