#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the documents to the tree.

check_docs.py names SOURCE_DIR        paths, symbols, links, make targets and presets exist
check_docs.py run SOURCE_DIR BIN_DIR  the README's runnable commands run

Checked names are those in backticks: paths (`src/otf2/`, `include/entrain/error.hpp`, with * as a
wildcard), symbols (`entrain::match::Graph`) and `make target`. A runnable block begins with
```sh run, or ```sh run exit=1 where the last command must end with that code. All blocks of a
document run in one scratch folder, which holds a link to examples/.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DOCUMENTS = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    "docs/manual/bounds.md",
    "docs/manual/net.md",
    "docs/manual/record.md",
    "docs/method.md",
    "docs/scaling.md",
    "examples/record/README.md",
    "fuzz/README.md",
    "examples/traces/README.md",
]
RUNNABLE = ["README.md", "docs/manual/bounds.md", "docs/manual/net.md"]

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(r"^\.?[\w.*-]+(/[\w.*-]+)*/$|^\.?[\w.*-]+(/[\w.*-]+)+$|^[\w-]+\.(md|txt|json)$")
SYMBOL = re.compile(r"^(entrain(?:::~?\w+)+)(?:\(\))?$")
MAKE = re.compile(r"\bmake ([a-z][\w-]*)")
PRESET = re.compile(r"--preset[ =]([\w-]+)")
# First folder of the paths that are checked; others (build/, traces.otf2) come into being later.
ROOTS = ["src", "include", "tests", "bench", "examples", "docs", "cmake", "scripts", "fuzz", ".ci"]


def headers_of(root):
    files = [*root.glob("include/**/*.h*"), *root.glob("src/**/*.hpp")]
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


def check_names(root):
    headers = headers_of(root)
    targets = set(re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    presets = set(re.findall(r'"name": "([\w-]+)"', (root / "CMakePresets.json").read_text()))
    for document in DOCUMENTS:
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
        for link in LINK.findall(prose):
            if not (path.parent / link).exists():
                yield f"{document}: link to {link}, which does not exist"


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


def main():
    root = Path(sys.argv[2]).resolve()
    if sys.argv[1] == "names":
        errors = list(check_names(root))
    else:
        errors = list(run_documents(root, Path(sys.argv[3]).resolve()))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
