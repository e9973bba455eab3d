# SPDX-License-Identifier: BSD-3-Clause
"""Files of OTF2 as rows of tokens: chunk headers, stamps, records and marks, as bytes.

src/formats/otf2/format/format.hpp describes the format. Bytes that are no records become one token at the
end, so joining the tokens always gives the file back.
"""

import struct

HEADER_SIZE = 18
LITTLE_ENDIAN = 0x42
STAMP = 5
CLOCK_OFFSET = 6  # in local definitions
BARE = frozenset((12, 13, 16, 17, 20, 21, 24, 28, 29, 30))
LAST_MARK = 3


def order_of(data: bytes) -> str:
    """The byte order of a file, for struct and int.from_bytes."""
    return "little" if len(data) < 2 or data[1] == LITTLE_ENDIAN else "big"


def split(data: bytes, events: bool) -> list[bytes]:
    """The tokens of a file of events (or, without stamps, of definitions) with one chunk."""
    tokens, at = [data[:HEADER_SIZE]], HEADER_SIZE
    order = order_of(data)
    while at < len(data):
        size = _token_size(data, at, events, order)
        if size is None or at + size > len(data):
            tokens.append(data[at:])
            break
        tokens.append(data[at:at + size])
        at += size
    return tokens


def _token_size(data: bytes, at: int, events: bool, order: str) -> int | None:
    kind = data[at]
    if kind <= LAST_MARK:
        return None  # the end marks, or what follows the records of a chunk
    if events and kind == STAMP:
        return 9
    if at + 1 >= len(data):
        return None
    length = data[at + 1]
    if events and kind in BARE:
        return 2 + (0 if length == 0xFF else length)
    if length != 0xFF:
        return 2 + length
    return 10 + int.from_bytes(data[at + 2:at + 10], order)


def is_stamp(token: bytes) -> bool:
    return len(token) == 9 and token[0] == STAMP


def without_double_stamps(tokens: list[bytes]) -> list[bytes]:
    """Drops stamps before stamps: the OTF2 library takes the second of two for a record."""
    return [token for token, after in zip(tokens, tokens[1:] + [b""])
            if not (is_stamp(token) and is_stamp(after))]


def stamp_of(token: bytes, order: str) -> int:
    return int.from_bytes(token[1:], order)


def stamp(ticks: int, order: str) -> bytes:
    return bytes((STAMP,)) + (ticks % (1 << 64)).to_bytes(8, order)


def compressed(value: int, order: str) -> bytes:
    """A compressed integer; None stands for 'undefined'."""
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, order)


def integers_in(token: bytes) -> list[tuple[int, int]]:
    """Begin and end of what may be compressed integers in the payload of a record."""
    begin = 1 if token[0] in BARE else 2
    found = []
    for at in range(begin, len(token)):
        size = 0 if token[at] == 0xFF else token[at]
        if size <= 8 and at + 1 + size <= len(token):
            found.append((at, at + 1 + size))
    return found


def with_length(kind: int, payload: bytes, order: str) -> bytes:
    if len(payload) < 0xFF:
        return bytes((kind, len(payload))) + payload
    return bytes((kind, 0xFF)) + len(payload).to_bytes(8, order) + payload


def replaced(token: bytes, begin: int, end: int, new: bytes, order: str) -> bytes:
    """The record with other bytes in its payload, and with a length that fits."""
    if token[0] in BARE:
        return token[:begin] + new + token[end:]
    head = 10 if token[1] == 0xFF else 2
    if begin < head:
        return token
    return with_length(token[0], token[head:begin] + new + token[end:], order)


def clock_offset(time: int, offset: int, deviation: float, order: str = "little") -> bytes:
    """A ClockOffset record."""
    way = "<" if order == "little" else ">"
    payload = struct.pack(way + "Q", time % (1 << 64)) + compressed(offset % (1 << 64), order)
    return with_length(CLOCK_OFFSET, payload + struct.pack(way + "d", deviation), order)


def clock_offsets(data: bytes) -> list[tuple[int, int]]:
    """Times and offsets of the ClockOffset records of a file of local definitions."""
    order, found = order_of(data), []
    for token in split(data, events=False)[1:]:
        if token[0] == CLOCK_OFFSET and len(token) > 19:
            size = token[10]
            offset = int.from_bytes(token[11:11 + size], order)
            if offset >= 1 << 63:
                offset -= 1 << 64
            found.append((int.from_bytes(token[2:10], order), offset))
    return found
