#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds every #include of the tree to the layers.

The table of rooms is src/rooms.txt, which the build reads too. Usage: check_layers.py SOURCE_DIR
Prints one line per violation and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

MAX_PUBLIC_HEADERS = 15

# Rooms that must not reach each other, whatever the table says: the checker must not share code
# with what it checks.
FORBIDDEN = [("verify", "clc"), ("verify", "match"), ("sim", "otf2"), ("net", "otf2")]

# Headers of libraries -> the folders that may include them. "unit" stands for src/*/*_test.cpp.
LIBRARIES = {
    "otf2/": ["src/otf2", "src/record", "tests", "fuzz", "bench"],
    "mpi.h": ["src/engine", "src/record", "tests", "examples", "bench"],
    "CLI/": ["src/cli"],
    "spdlog/": ["src/cli"],
    "nlohmann/": ["src/net", "src/report", "src/cli", "tests", "bench", "unit"],
    "gtest/": ["tests", "unit"],
    "gmock/": ["tests", "unit"],
    "rapidcheck": ["tests", "unit"],
}

# What the public headers may include beside the standard library and each other.
PUBLIC_LIBRARIES = ["tl/"]

# Headers that the build makes from tables.
GENERATED = ["record/real_mpi.hpp", "record/regions.hpp"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".h", ".c"}


def read_rooms(path):
    """{room: rooms it may include} and a list of mistakes in the table."""
    rooms, errors = {}, []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, _, uses = line.partition(":")
        for used in uses.split():
            if used not in rooms:
                errors.append(f"{path}: {room} uses {used}, which is not a lower room")
        rooms[room] = uses.split()
    for upper, lower in FORBIDDEN if not errors else []:
        if lower in reachable(rooms, upper):
            errors.append(f"{path}: {upper} must not reach {lower}")
    return rooms, errors


def reachable(rooms, room):
    found = set()
    for used in rooms.get(room, []):
        found |= {used} | reachable(rooms, used)
    return found


def includes(path):
    return INCLUDE.findall(path.read_text(errors="replace"))


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SOURCES)


def check_library(root, path, name):
    """What is wrong with this file including <name>, or None."""
    place = path.relative_to(root).as_posix()
    is_unit_test = place.startswith("src/") and path.stem.endswith("_test")
    for prefix, folders in LIBRARIES.items():
        if not name.startswith(prefix) or (is_unit_test and "unit" in folders):
            continue
        if not any(place.startswith(folder + "/") for folder in folders):
            return f"<{name}> belongs to {', '.join(folders)}"
    return None


def check_room_file(root, rooms, path):
    room = path.relative_to(root / "src").parts[0]
    for bracket, name in includes(path):
        if bracket == "<":
            problem = check_library(root, path, name)
        elif "/" not in name or name.split("/")[0] not in rooms:
            problem = f'"{name}" names no room'
        elif name.split("/")[0] not in [room, *rooms[room]]:
            problem = f'"{name}": {room} must not include {name.split("/")[0]}'
        else:
            exists = (root / "src" / name).exists() or name in GENERATED
            problem = None if exists else f'"{name}" does not exist'
        if problem:
            yield f"{path.relative_to(root)}: {problem}"


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
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if sources(folder) and folder.name not in rooms:
            errors.append(f"src/{folder.name}: not in src/rooms.txt")
            continue
        for path in sources(folder):
            errors.extend(check_room_file(root, rooms, path))
    headers = sources(root / "include")
    if len(headers) > MAX_PUBLIC_HEADERS:
        errors.append(f"include: {len(headers)} headers, at most {MAX_PUBLIC_HEADERS} are allowed")
    for path in headers:
        errors.extend(check_public_header(root, path))
    for folder in ("tests", "fuzz", "bench", "examples"):
        for path in sources(root / folder):
            for _, name in includes(path):
                problem = check_library(root, path, name)
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
