#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that check_layers.py finds what it is there to find, on small trees."""

import tempfile
import unittest
from pathlib import Path

from check_layers import MAX_PUBLIC_HEADERS, check_tree

ROOMS = """
# a comment
base:
trace: base
otf2/read: base trace | otf2
match: trace
clc: match
verify:
report:
cli: report | cli11
"""

GOOD = {
    "src/rooms.txt": ROOMS,
    "src/base/ids.hpp": "#include <cstdint>\n",
    "src/trace/trace.hpp": '#include <vector>\n#include "base/ids.hpp"\n',
    "src/clc/amortize.hpp": '#include "match/graph.hpp"\n',
    "src/otf2/read/scan.cpp": '#include <otf2/otf2.h>\n#include "base/ids.hpp"\n#include "trace/trace.hpp"\n',
    "src/report/table.hpp": "",
    "src/match/graph.hpp": '#include "trace/trace.hpp"\n',
    "src/match/graph_test.cpp": '#include <gtest/gtest.h>\n#include "match/graph.hpp"\n',
    "src/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include <entrain/a.hpp>\n#include "report/table.hpp"\n',
    "include/entrain/a.hpp": "#include <cstdint>\n#include <tl/expected.hpp>\n",
    "include/entrain/b.hpp": "#include <entrain/a.hpp>\n",
    "tests/support/oracle.cpp": "#include <otf2/otf2.h>\n",
}


class CheckLayers(unittest.TestCase):
    def errors_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**GOOD, **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_tree(root)

    def expect_error(self, files, *words):
        errors = self.errors_of(files)
        self.assertEqual(len(errors), 1, errors)
        for word in words:
            self.assertIn(word, errors[0])

    def test_accepts_a_good_tree(self):
        self.assertEqual(self.errors_of({}), [])

    def test_finds_a_lower_room_including_a_higher_one(self):
        self.expect_error(
            {"src/base/bad.cpp": '#include "trace/trace.hpp"\n'}, "src/base/bad.cpp", "trace"
        )

    def test_finds_the_checker_including_what_it_checks(self):
        for room, header in [("clc", "clc/amortize.hpp"), ("match", "match/graph.hpp")]:
            self.expect_error(
                {"src/verify/bad.hpp": f'#  include "{header}"\n'}, "verify must not include", room
            )

    def test_finds_the_checker_reaching_what_it_checks_through_the_table(self):
        table = ROOMS.replace("verify:", "verify: match")
        self.expect_error({"src/rooms.txt": table}, "verify must not reach match")

    def test_finds_permissions_that_nobody_uses(self):
        table = ROOMS.replace("clc: match", "clc: trace match | json")
        errors = self.errors_of({"src/rooms.txt": table})
        self.assertEqual(len(errors), 2, errors)
        self.assertIn("clc may use trace", errors[0])
        self.assertIn("clc may use json", errors[1])

    def test_finds_a_library_that_is_not_known(self):
        table = ROOMS.replace("| cli11", "| boost")
        self.expect_error({"src/rooms.txt": table}, "unknown library boost")

    def test_rooms_inside_of_a_folder_are_apart(self):
        table = ROOMS.replace("match:", "otf2/write: otf2/read\nmatch:")
        good = {"src/rooms.txt": table, "src/otf2/write/a.cpp": '#include "otf2/read/scan.hpp"\n',
                "src/otf2/read/scan.hpp": ""}
        self.assertEqual(self.errors_of(good), [])
        bad = {**good, "src/otf2/read/b.cpp": '#include "otf2/write/a.hpp"\n'}
        self.expect_error(bad, "otf2/read must not include otf2/write")

    def test_finds_a_cycle_in_the_table(self):
        table = ROOMS.replace("base:", "base: cli")
        self.assertIn("not a lower room", " ".join(self.errors_of({"src/rooms.txt": table})))

    def test_finds_a_room_without_an_entry(self):
        self.expect_error({"src/attic/a.cpp": "int x;\n"}, "src/attic")
        self.expect_error({"products/attic/a.cpp": "int x;\n"}, "products/attic")

    def test_holds_products_to_the_table_too(self):
        table = ROOMS + "net: base\n"
        good = {"src/rooms.txt": table, "products/net/a.cpp": '#include "base/ids.hpp"\n'}
        self.assertEqual(self.errors_of(good), [])
        bad = {**good, "products/net/b.cpp": '#include "trace/trace.hpp"\n'}
        self.expect_error(bad, "net must not include trace")

    def test_finds_includes_that_name_no_room_or_no_file(self):
        self.expect_error({"src/base/bad.cpp": '#include "ids.hpp"\n'}, "names no room")
        self.expect_error({"src/base/bad.cpp": '#include "base/gone.hpp"\n'}, "does not exist")

    def test_finds_libraries_where_they_do_not_belong(self):
        for place, include in [
            ("src/base", "otf2/otf2.h"),
            ("src/clc", "mpi.h"),
            ("src/trace", "CLI/CLI.hpp"),
            ("src/verify", "nlohmann/json.hpp"),
            ("src/base", "gtest/gtest.h"),
            ("examples", "otf2/otf2.h"),
        ]:
            self.expect_error({f"{place}/bad.cpp": f"#include <{include}>\n"}, place, include)

    def test_unit_tests_may_use_gtest_but_not_the_oracle(self):
        self.expect_error({"src/base/bad_test.cpp": "#include <otf2/otf2.h>\n"}, "otf2.h")

    def test_finds_private_things_in_public_headers(self):
        for include in ['"base/ids.hpp"', "<fmt/format.h>", "<mpi.h>"]:
            self.expect_error({"include/entrain/b.hpp": f"#include {include}\n"}, "public header")
        self.expect_error({"include/entrain/b.hpp": "#include <entrain/c.hpp>\n"}, "not exist")

    def test_counts_the_public_headers(self):
        headers = {f"include/entrain/h{n}.hpp": "" for n in range(MAX_PUBLIC_HEADERS - 2)}
        self.assertEqual(self.errors_of(headers), [])
        headers["include/entrain/one_more.hpp"] = ""
        self.expect_error(headers, "headers, at most")


if __name__ == "__main__":
    unittest.main()
