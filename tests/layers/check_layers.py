#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds every #include of the tree to the layers.

The table of rooms is src/rooms.txt, which the build reads too. Usage: check_layers.py SOURCE_DIR
Prints one line per violation and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

MAX_PUBLIC_HEADERS = 17

# The folders that hold rooms.
ROOTS = ["src", "products"]

# Libraries that src/rooms.txt names -> how their headers begin.
NAMED_LIBRARIES = {"otf2": "otf2/", "eigen": "Eigen/", "json": "nlohmann/", "cli11": "CLI/",
                   "simdjson": "simdjson.h", "protozero": "protozero/",
                   "zlib": "zlib.h", "zstd": "zstd", "babeltrace2": "babeltrace2/"}

# Rooms that must not reach each other, whatever the table says: the checker must not share code
# with what it checks.
FORBIDDEN = [("verify", "clc"), ("verify", "match"), ("sim/model", "formats/otf2")]
# Nor must a product of its own reach the traces; its verbs do, by way of the tool's framework.
FORBIDDEN += [(f"net/{room}", "trace") for room in ("model", "plan", "simulate", "report", "paper")]

# Headers of libraries -> the folders outside the roots that may include them, and those inside that need
# no word in src/rooms.txt. "unit" stands for unit tests in src/ and their helpers.
LIBRARIES = {
    "otf2/": ["tests", "fuzz", "bench"],
    "mpi.h": ["src/tool/mpi", "products/record/recorder", "tests", "examples", "bench"],
    "CLI/": [],
    "Eigen/": [],
    "simdjson.h": ["bench"],
    "protozero/": [],
    "zlib.h": [],
    "zstd": [],
    "babeltrace2/": [],
    "nlohmann/": ["tests", "bench", "unit"],
    "gtest/": ["tests", "unit"],
    "gmock/": ["tests", "unit"],
    "rapidcheck": ["tests", "unit"],
}

# What the public headers may include beside the standard library and each other.
PUBLIC_LIBRARIES = ["tl/"]

# Headers that the build makes from tables.
GENERATED = ["record/mpi/real_mpi.hpp", "record/mpi/regions.hpp"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".h", ".c"}


class Room:
    """A line of src/rooms.txt, and what of it the sources use."""

    def __init__(self, uses, libraries):
        self.uses = uses
        self.libraries = libraries
        self.used = set()


def read_rooms(path):
    """{name: Room} and a list of mistakes in the table."""
    rooms, errors = {}, []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, rest = line.partition(":")
        uses, _, libraries = rest.partition("|")
        for used in uses.split():
            if used not in rooms:
                errors.append(f"{path}: {name} uses {used}, which is not a lower room")
        for library in libraries.split():
            if library not in NAMED_LIBRARIES:
                errors.append(f"{path}: {name} names the unknown library {library}")
        rooms[name] = Room(uses.split(), libraries.split())
    for upper, lower in FORBIDDEN if not errors else []:
        for one in [room for room in rooms if is_in(room, upper)]:
            for other in [room for room in reachable(rooms, one) if is_in(room, lower)]:
                errors.append(f"{path}: {one} must not reach {other}")
    return rooms, errors


def is_in(room, house):
    return room == house or room.startswith(house + "/")


def reachable(rooms, room):
    found = set()
    for used in rooms[room].uses if room in rooms else []:
        found |= {used} | reachable(rooms, used)
    return found


def room_of(rooms, name):
    """The room that a path below a root lies in: the longest name that it begins with, or None."""
    fitting = [room for room in rooms if name.startswith(room + "/")]
    return max(fitting, key=len, default=None)


def includes(path):
    return INCLUDE.findall(path.read_text(errors="replace"))


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCES)


def check_library(root, rooms, path, name):
    """What is wrong with this file including <name>, or None."""
    place = path.relative_to(root).as_posix()
    top, _, below = place.partition("/")
    room = room_of(rooms, below) if top in ROOTS else None
    is_unit_test = room is not None and (
        path.stem == "testing" or path.stem.endswith(("_test", "_testing"))
    )
    for prefix, folders in LIBRARIES.items():
        if not name.startswith(prefix) or (is_unit_test and "unit" in folders):
            continue
        for library in rooms[room].libraries if room is not None else []:
            if NAMED_LIBRARIES[library] == prefix:
                rooms[room].used.add(library)
                return None
        if not any(place.startswith(folder + "/") for folder in folders):
            return f"<{name}> belongs to {', '.join(folders)} and to rooms that say so"
    return None


def check_room_file(root, rooms, room, path):
    for bracket, name in includes(path):
        other = room_of(rooms, name)
        if bracket == "<":
            problem = check_library(root, rooms, path, name)
        elif other is None:
            problem = f'"{name}" names no room'
        elif other != room and other not in rooms[room].uses:
            problem = f'"{name}": {room} must not include {other}'
        else:
            rooms[room].used.add(other)
            exists = name in GENERATED or any((root / top / name).exists() for top in ROOTS)
            problem = None if exists else f'"{name}" does not exist'
        if problem:
            yield f"{path.relative_to(root)}: {problem}"


def unused(rooms):
    """Permissions that no file uses: the table would tell more than is true."""
    for name, room in rooms.items():
        for permission in [*room.uses, *room.libraries]:
            if permission not in room.used:
                yield f"src/rooms.txt: {name} may use {permission}, but no file of it does"


def check_public_header(root, path):
    for bracket, name in includes(path):
        standard = bracket == "<" and "/" not in name and not name.endswith(".h")
        c_standard = name in ("stdint.h", "stddef.h", "stdbool.h")
        allowed = standard or c_standard or name.startswith("entrain/")
        if not allowed and not any(name.startswith(p) for p in PUBLIC_LIBRARIES):
            yield f"{path.relative_to(root)}: a public header must not include {name}"
        if name.startswith("entrain/") and not (root / "include" / name).exists():
            yield f"{path.relative_to(root)}: <{name}> does not exist"


def check_tree(root):
    rooms, errors = read_rooms(root / "src" / "rooms.txt")
    if errors:
        return errors
    for top in ROOTS:
        for path in sources(root / top):
            name = path.relative_to(root / top).as_posix()
            room = room_of(rooms, name)
            if room is None:
                errors.append(f"{top}/{name}: in no room of src/rooms.txt")
            else:
                errors.extend(check_room_file(root, rooms, room, path))
    errors.extend(unused(rooms))
    headers = sources(root / "include")
    if len(headers) > MAX_PUBLIC_HEADERS:
        errors.append(f"include: {len(headers)} headers, at most {MAX_PUBLIC_HEADERS} are allowed")
    for path in headers:
        errors.extend(check_public_header(root, path))
    for folder in ("tests", "fuzz", "bench", "examples"):
        for path in sources(root / folder):
            for _, name in includes(path):
                problem = check_library(root, rooms, path, name)
                if problem:
                    errors.append(f"{path.relative_to(root)}: {problem}")
    return errors


def main():
    errors = check_tree(Path(sys.argv[1]).resolve())
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
