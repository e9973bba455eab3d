# SPDX-License-Identifier: BSD-3-Clause
"""Fields of Protobuf as bytes, for tests that write messages without the tool's code."""
import struct


def varint(number):
    number &= (1 << 64) - 1
    text = bytearray()
    while number > 0x7F:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    text.append(number)
    return bytes(text)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)
