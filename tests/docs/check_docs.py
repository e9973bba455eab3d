#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the documents to the tree.

check_docs.py names SOURCE_DIR        paths, symbols, links, make targets and presets exist; the
                                      first pages stay short; the words are plain; numbers are
                                      those of the code; thresholds are where the method says
check_docs.py run SOURCE_DIR BIN_DIR  the documents' runnable commands run
check_docs.py compile SOURCE_DIR CXX  the examples of the library's manual compile

Checked names are those in backticks: paths (`src/formats/otf2/`, `include/entrain/error.hpp`, with * as a
wildcard), symbols (`entrain::match::Graph`) and `make target`. A runnable block begins with
```sh run, or ```sh run exit=1 where the last command must end with that code. All blocks of a
document run in one scratch folder, which holds a link to examples/. An example is a ```cpp block:
the first one is a program, the others are bodies of a function after the includes of the first.
ARCHITECTURE.md must name every room of src/rooms.txt.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Documents that must exist. All others under docs/ are checked as well.
DOCUMENTS = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    "docs/method.md",
    "examples/record/README.md",
    "examples/traces/README.md",
    "fuzz/README.md",
    "products/net/ARCHITECTURE.md",
    "products/record/ARCHITECTURE.md",
    "products/sim/ARCHITECTURE.md",
]
RUNNABLE = ["README.md", "docs/manual/align.md", "docs/manual/bounds.md", "docs/manual/correct.md",
            "docs/manual/engines.md", "docs/manual/export.md", "docs/manual/merge.md",
            "docs/manual/net.md", "docs/manual/paraver.md", "docs/manual/services.md",
            "docs/manual/stragglers.md", "docs/manual/training.md",
            "docs/manual/vampir-scalasca.md"]

EXAMPLES = "docs/api.md"
COMPILE = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]

# Words that a page may have, as `wc -w` counts them: a reader finishes these two.
LONGEST = {"README.md": 700, "ARCHITECTURE.md": 1300}
# Words that readers stumble over, and the plain ones.
PLAIN = {"foretell": "predict", "foretold": "predicted"}

# Constants, by what their values are divided, and the phrases in which {} is their number.
METHOD = "docs/method.md"
THRESHOLDS = "## 12 Thresholds"
OPTIONS = "include/entrain/options.hpp"
NUMBERS = [
    (OPTIONS, "k_most_bent_clocks", 1,
     [(name, "more than {} clocks")
      for name in ("docs/limits.md", "docs/manual/correct.md", "src/cli/check_options.cpp")]),
    ("src/clocks/rate_prior.cpp", "k_timer_ppb", 1000, [(OPTIONS, "{} for timers")]),
    ("src/clocks/rate_prior.cpp", "k_slewed_ppb", 1000, [(OPTIONS, "{} for wall clocks")]),
    ("src/cli/check_options.cpp", "k_most_rate_ppm", 1,
     [(OPTIONS, "parts per million, 0 to {};"), (OPTIONS, "parts per million, 0 to {}.")]),
    ("src/formats/json/text_file.hpp", "k_most_ratio", 1, [(OPTIONS, "{} times its packed size")]),
    ("src/accuracy/sums.hpp", "k_windows", 1,
     [("include/entrain/compare.hpp", "windows of 1/{} of the run")]),
]

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PATH = re.compile(r"^\.?[\w.*-]+(/[\w.*-]+)*/$|^\.?[\w.*-]+(/[\w.*-]+)+$|^[\w-]+\.(md|txt|json)$")
SYMBOL = re.compile(r"^(entrain(?:::~?\w+)+)(?:\(\))?$")
MAKE = re.compile(r"\bmake ([a-z][\w-]*)")
PRESET = re.compile(r"--preset[ =]([\w-]+)")
# First folder of the paths that are checked; others (build/, traces.otf2) come into being later.
ROOTS = ["src", "products", "include", "tests", "bench", "examples", "docs", "cmake", "scripts", "fuzz", ".ci"]


def headers_of(root):
    files = [*root.glob("include/**/*.h*"), *root.glob("src/**/*.hpp"),
             *root.glob("products/**/*.hpp")]
    return [path.read_text() for path in sorted(files)]


def declares(text, name):
    """True if a header declares `name`, not only mentions it in a comment."""
    code = re.sub(r"//[^\n]*", "", text)
    word = re.escape(name)
    kinds = r"\b(?:class|struct|enum|enum class|using|namespace|concept)\s+" + word + r"\b"
    other = r"\b" + word + r"\s*(?:\(|=|;|\{|,)"
    return re.search(kinds, code) is not None or re.search(other, code) is not None


def symbol_exists(headers, symbol):
    parts = symbol.split("::")
    for split in range(len(parts), 0, -1):
        namespace, names = "::".join(parts[:split]), parts[split:]
        opening = re.compile(r"\bnamespace\s+" + re.escape(namespace) + r"\s*\{")
        for text in headers:
            if opening.search(text) and all(declares(text, name) for name in names):
                return True
    return False


def path_exists(root, name):
    return any(True for _ in root.glob(name.rstrip("/"))) if "*" in name else (root / name).exists()


def documents_of(root):
    """Names of all documents, the required ones first."""
    others = [str(path.relative_to(root)) for path in sorted(root.glob("docs/**/*.md"))]
    return DOCUMENTS + [name for name in others if name not in DOCUMENTS]


def check_words(root):
    for document, longest in LONGEST.items():
        words = len((root / document).read_text().split())
        if words > longest:
            yield f"{document}: has {words} words, more than {longest}"
    for document in documents_of(root):
        text = (root / document).read_text().lower()
        for word, plain in PLAIN.items():
            if word in text:
                yield f'{document}: says "{word}"; better "{plain}"'


def value_of(text, constant):
    found = re.search(rf"\b{constant} = ([\d']+)", text)
    return int(found.group(1).replace("'", "")) if found else None


def prose_of(text):
    """A document, or a source file whose comments and texts are joined, on one line."""
    return " ".join(re.sub(r'"\n\s*"|^\s*///?', "", text, flags=re.MULTILINE).split())


def check_numbers(root, numbers=None):
    for source, constant, divisor, places in NUMBERS if numbers is None else numbers:
        value = value_of((root / source).read_text(), constant)
        if value is None:
            yield f"{source}: does not define {constant} as a number"
            continue
        for document, phrase in places:
            pattern = re.escape(phrase).replace(r"\{\}", r"([\d,]*\d)")
            told = re.findall(pattern, prose_of((root / document).read_text()))
            if not told:
                yield f'{document}: does not say "{phrase}", {constant} of {source}'
            for number in told:
                if int(number.replace(",", "")) * divisor != value:
                    yield f'{document}: says {number} in "{phrase}", but {constant} is {value}'


def check_thresholds(root):
    """Constants of the table of thresholds are in the files that it names."""
    _, _, table = (root / METHOD).read_text().partition(THRESHOLDS)
    source = ""
    for line in table.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if len(cells) < 3 or not cells[0].startswith("`"):
            continue
        if len(cells) > 3 and cells[3].startswith("`"):
            source = cells[3].strip("`")
        path = root / source
        text = path.read_text() if path.is_file() else ""
        for name in re.findall(r"`(\w+)`", cells[0]):
            if not declares(text, name):
                yield f"{METHOD}: {source} has no {name}"


def headings_of(text):
    """The names by which links refer to the headings of a page."""
    names = [re.sub(r"[^\w\s-]", "", name.lower()) for name in HEADING.findall(FENCE.sub("", text))]
    return {name.strip().replace(" ", "-") for name in names}


def check_links(document, path, text):
    for link, heading in LINK.findall(text):
        target = path.parent / link if link else path
        if not target.exists():
            yield f"{document}: link to {link}, which does not exist"
        elif heading and heading not in headings_of(target.read_text()):
            yield f"{document}: {target.name} has no heading {heading}"


def check_rooms(root):
    """Every room has a row: in ARCHITECTURE.md, or in the page of the product that it belongs to."""
    rooms = re.findall(r"^([\w/]+):", (root / "src/rooms.txt").read_text(), re.MULTILINE)
    pages = [root / "ARCHITECTURE.md", *sorted(root.glob("products/*/ARCHITECTURE.md"))]
    named = {name for page in pages for name in CODE.findall(page.read_text())}
    for room in rooms:
        if not named & {f"src/{room}/", f"products/{room}/"}:
            yield f"ARCHITECTURE.md: does not name the room {room} of src/rooms.txt"


def check_names(root):
    headers = headers_of(root)
    targets = set(re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    presets = set(re.findall(r'"name": "([\w-]+)"', (root / "CMakePresets.json").read_text()))
    for document in documents_of(root):
        path = root / document
        text = path.read_text()
        prose = FENCE.sub("", text)
        for name in CODE.findall(prose):
            symbol = SYMBOL.match(name)
            if symbol and not symbol_exists(headers, symbol.group(1)):
                yield f"{document}: no header declares {name}"
            is_path = PATH.match(name) and (name.split("/")[0] in ROOTS or "/" not in name)
            if is_path and not path_exists(root, name):
                yield f"{document}: {name} does not exist"
        commands = "\n".join(CODE.findall(prose) + [body for _, body in FENCE.findall(text)])
        for target in MAKE.findall(commands):
            if target not in targets:
                yield f"{document}: the Makefile has no target {target}"
        for preset in PRESET.findall(commands):
            if preset not in presets:
                yield f"{document}: there is no preset {preset}"
        yield from check_links(document, path, prose)
    yield from check_rooms(root)


def blocks_of(text):
    """(commands, expected exit code) of every runnable block."""
    for info, body in FENCE.findall(text):
        words = info.split()
        if words[:2] == ["sh", "run"]:
            codes = [int(word[5:]) for word in words[2:] if word.startswith("exit=")]
            yield body, codes[0] if codes else 0


def run_block(body, expected, folder, environment):
    """What went wrong, or None."""
    done = subprocess.run(
        ["bash", "-c", "set -eu -o pipefail\n" + body],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode == expected:
        return None
    return f"exit code {done.returncode} instead of {expected}:\n{body}\n{done.stdout}"


def run_documents(root, bin_dir):
    environment = {**os.environ, "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}"}
    for document in RUNNABLE:
        blocks = list(blocks_of((root / document).read_text()))
        if not blocks:
            yield f"{document}: has no runnable block"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(root / "examples")
            for body, expected in blocks:
                problem = run_block(body, expected, folder, environment)
                if problem:
                    yield f"{document}: {problem}"


def program_of(blocks):
    """One program: the first example, and a function for the body of each other one."""
    bodies = "".join(
        f"int example_{i}() {{\n{body}return 0;\n}}\n" for i, body in enumerate(blocks[1:], 2)
    )
    return blocks[0] + bodies


def compile_examples(root, compiler):
    text = (root / EXAMPLES).read_text()
    blocks = [body for info, body in FENCE.findall(text) if info.strip() == "cpp"]
    if not blocks:
        yield f"{EXAMPLES}: has no example"
        return
    command = [compiler, *COMPILE, "-I", str(root / "include"), "-x", "c++", "-"]
    done = subprocess.run(command, input=program_of(blocks), capture_output=True, text=True)
    if done.returncode != 0:
        yield f"{EXAMPLES}: does not compile:\n{done.stderr}"


def main():
    root = Path(sys.argv[2]).resolve()
    if sys.argv[1] == "names":
        errors = [
            *check_names(root),
            *check_words(root),
            *check_numbers(root),
            *check_thresholds(root),
        ]
    elif sys.argv[1] == "compile":
        errors = list(compile_examples(root, sys.argv[3]))
    else:
        errors = list(run_documents(root, Path(sys.argv[3]).resolve()))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
