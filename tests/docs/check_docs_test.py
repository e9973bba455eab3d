#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that check_docs.py finds what it is there to find, on a small tree."""

import os
import tempfile
import unittest
from pathlib import Path

from check_docs import (
    DOCUMENTS,
    EXAMPLES,
    LONGEST,
    RUNNABLE,
    check_names,
    check_numbers,
    check_thresholds,
    check_words,
    compile_examples,
    run_documents,
)

COMPILER = os.environ.get("CXX", "c++")

HEADER = """
namespace entrain::match {
/// Not to be confused with Phantom.
struct Graph {
  int size() const;
  class Cursor {};
};
inline constexpr int k_none = 1;
}  // namespace entrain::match
"""


class CheckDocs(unittest.TestCase):
    def in_tree(self, readme, check, others=None):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            files = {name: "" for name in DOCUMENTS}
            files |= {name: "```sh run\ntrue\n```\n" for name in RUNNABLE}
            files |= {
                "README.md": readme,
                "Makefile": "test: deps\n\tctest\n",
                "CMakePresets.json": '{"name": "dev"}',
                "src/match/graph.hpp": HEADER,
                "src/rooms.txt": "# The rooms: a table\nmatch: base\n",
                "ARCHITECTURE.md": "`src/match/`\n",
            }
            files |= others or {}
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(check(root))

    def names(self, readme):
        return self.in_tree(readme, check_names)

    def run_readme(self, readme):
        return self.in_tree(readme, lambda root: run_documents(root, root))

    def test_accepts_what_exists(self):
        text = (
            "`src/match/` `src/*/graph.hpp` `entrain::match::Graph` `entrain::match::Graph::size()`"
            " `entrain::match::Graph::Cursor` `entrain::match::k_none` [a](ARCHITECTURE.md) `make test`"
            " `cmake --preset dev` `build/dev/` `std::vector` [b](#which-one) [c](https://a.b/c#d)\n"
            "## Which one?\n"
        )
        self.assertEqual(self.names(text), [])

    def test_finds_what_does_not_exist(self):
        for text in [
            "`src/attic/`",
            "`src/match/gone.hpp`",
            "`src/*/gone.hpp`",
            "`GONE.md`",
            "`entrain::match::Phantom`",
            "`entrain::clc::Graph`",
            "[a](GONE.md)",
            "[a](#gone)",
            "[a](ARCHITECTURE.md#gone)",
            "`make coffee`",
            "```sh\nmake coffee\n```",
            "`cmake --preset gone`",
        ]:
            self.assertEqual(len(self.names(text + "\n")), 1, text)

    def test_finds_rooms_that_no_page_names(self):
        for page, missing in [
            ("`src/match/`", 0),
            ("`products/match/`", 0),
            ("`src/`", 1),
            ("src/match/ in no code", 1),
        ]:
            others = {"ARCHITECTURE.md": page, "products/match/a.hpp": ""}
            found = self.in_tree("", check_names, others)
            self.assertEqual(len(found), missing, page)
        pages = {"src/rooms.txt": "match: base\nnet/model:\n", "products/net/model/a.hpp": ""}
        self.assertEqual(len(self.in_tree("", check_names, pages)), 1)
        pages["products/net/ARCHITECTURE.md"] = "`products/net/model/`"
        self.assertEqual(self.in_tree("", check_names, pages), [])

    def test_checks_every_document_under_docs(self):
        page = {"docs/pages/new.md": "`src/attic/`\n"}
        errors = self.in_tree("", check_names, page)
        self.assertEqual(errors, ["docs/pages/new.md: src/attic/ does not exist"])

    def test_finds_pages_that_are_too_long(self):
        self.assertEqual(set(LONGEST), {"README.md", "ARCHITECTURE.md"})
        for name, longest in LONGEST.items():
            for words, errors in [(longest, 0), (longest + 1, 1)]:
                found = self.in_tree("", check_words, {name: "word\n" * words})
                self.assertEqual(len(found), errors, (name, words))

    def test_finds_words_that_are_not_plain(self):
        self.assertEqual(len(self.in_tree("Half foretells the rest.\n", check_words)), 1)
        self.assertEqual(self.in_tree("Half predicts the rest.\n", check_words), [])

    def test_finds_numbers_that_are_not_those_of_the_code(self):
        numbers = [("a.hpp", "k_most", 10, [("README.md", "up to {} clocks")])]
        for readme, code, errors in [
            ("Up to 400 or\nup to 409,600\nclocks.\n", "int k_most = 4'096'000;", 0),
            ("up to 409,600 clocks, up to 1,024 clocks\n", "int k_most = 4'096'000;", 1),
            ("up to many clocks\n", "int k_most = 4'096'000;", 1),
            ("up to 409,600 clocks\n", "int k_least = 4'096'000;", 1),
        ]:
            check = lambda root: check_numbers(root, numbers)
            self.assertEqual(len(self.in_tree(readme, check, {"a.hpp": code})), errors, readme)

    def test_finds_thresholds_that_are_elsewhere(self):
        for name, code, errors in [
            ("`k_most`", "int k_most = 4;", 0),
            ("`least`, `most`", "int least = 1, most = 4;", 0),
            ("`k_most`", "int k_least = 4;  // k_most", 1),
            ("`k_most`", "", 1),
        ]:
            table = f"## 12 Thresholds\n\n| a | b |\n| {name} | 4 | few | `src/a.hpp` |\n| `k_x` | 1 | x |\n"
            others = {"docs/method.md": table, "src/a.hpp": f"int k_x = 1;\n{code}"}
            found = self.in_tree("", check_thresholds, others)
            self.assertEqual(len(found), errors, f"{name}: {found}")

    def test_runs_blocks_in_one_scratch_folder(self):
        text = "```sh run\ntest -d examples\necho x > y\n```\n```sh run exit=3\ncat y\n(exit 3)\n```\n"
        self.assertEqual(self.run_readme(text), [])

    def test_leaves_other_blocks_alone(self):
        self.assertEqual(self.run_readme("```sh run\ntrue\n```\n```sh\nfalse\n```\n"), [])

    def test_finds_commands_that_fail(self):
        for text in ["false\ntrue\n", "no-such-command\n", "true | false\n"]:
            self.assertEqual(len(self.run_readme(f"```sh run\n{text}```\n")), 1, text)
        self.assertEqual(len(self.run_readme("```sh run exit=1\ntrue\n```\n")), 1)

    def compile(self, *blocks):
        text = "".join(f"```cpp\n{block}\n```\n" for block in blocks)
        compiler = lambda root: compile_examples(root, COMPILER)
        return self.in_tree("", compiler, {EXAMPLES: text})

    def test_compiles_examples(self):
        program = "#include <vector>\nint main() { return std::vector<int>().empty() ? 0 : 1; }"
        self.assertEqual(self.compile(program, "if (std::vector<int>().empty()) return 1;"), [])
        self.assertEqual(len(self.compile("int main() { return missing; }")), 1)
        self.assertEqual(len(self.compile(program, "return missing;")), 1)
        self.assertEqual(len(self.compile(program, "int unused = 1;")), 1)
        self.assertEqual(self.compile(), [f"{EXAMPLES}: has no example"])

    def test_wants_at_least_one_runnable_block(self):
        self.assertEqual(len(self.run_readme("nothing\n")), 1)


if __name__ == "__main__":
    unittest.main()
