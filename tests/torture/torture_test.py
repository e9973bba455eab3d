#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the campaign: every rule fires on a program that breaks it, cases repeat, and faults.c
makes the right call fail."""

import errno
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from campaign import mutate, records, seeds  # noqa: E402
from campaign.context import Case, Context, surface_of  # noqa: E402
from campaign.faults import nth_of_all  # noqa: E402
from campaign.inputs import Archives, judge_result, judge_unrepaired  # noqa: E402
from campaign.results import as_markdown, merged  # noqa: E402
from campaign.places import WRITERS, Places, Races  # noqa: E402
from campaign.runner import ROOT, Finding, Runner, contents, tree  # noqa: E402
from campaign.special import Specials  # noqa: E402
from campaign.worker import KINDS, pattern_of  # noqa: E402


def event_file(count=20, order="little", unsorted=False):
    body = b""
    for number in range(count):
        time = 1000 + 10 * (number ^ 1 if unsorted else number)
        body += records.stamp(time, order) + b"\x0c\x01\x07"
        body += b"\x0e\x08\x01\x03\x00\x01\x05\x02\x00\x10"
    mark = b"\x42" if order == "little" else b"\x23"
    numbers = (1).to_bytes(8, order) + (2 * count).to_bytes(8, order)
    return b"\x03" + mark + numbers + body + b"\x02\x01"


class InAFolder(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="torture-test-", dir=memory))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(os.chdir, "/")

    def context(self, script="exit 0"):
        """A context whose tool is a shell script."""
        tool = self.folder / "tool"
        tool.write_text("#!/bin/bash\n" + script + "\n")
        tool.chmod(0o755)
        runner = Runner(tool, self.folder / "work", sanitized=False)
        context = Context(runner, self.folder / "seeds", {})
        (self.folder / "seeds" / "seed").mkdir(parents=True, exist_ok=True)
        (self.folder / "seeds" / "seed" / "file").write_text("as it was")
        context.lay(Case("seed"))
        return context

    def rules(self, script, **more):
        context = self.context(script)
        if "limit_s" in more:
            context.runner.limit_s = more.pop("limit_s")
        context.tool(["check", "in"], **more)
        return {finding.rule for finding in context.findings}


class Rules(InAFolder):
    def test_a_good_run_breaks_none(self):
        for code in range(4):
            self.assertEqual(self.rules(f"echo 'entrain: it is so' >&2; exit {code}"), set())

    def test_each_rule_finds_a_run_that_breaks_it(self):
        for script, rule in (
                ("kill -SEGV $$", "crash"), ("kill -ABRT $$", "crash"), ("exit 7", "exit code"),
                ("exit 130", "exit code"), ("exit 2", "empty message"),
                ("printf '%0500d' 0 >&2; exit 2", "message"),
                ("printf 'a\\033[31m' >&2", "message"), ("printf 'a\\rb'", "message"),
                ("echo 'internal error, report it' >&2; exit 2", "message"),
                ("echo 'SUMMARY: AddressSanitizer: heap-use-after-free' >&2; exit 1", "sanitizer"),
                ("echo 'a.cpp:1: runtime error: overflow' >&2", "sanitizer"),
                ("exit 86", "sanitizer"), ("mkdir .out.partial-1; echo no >&2; exit 2", "leftover"),
                ("touch $TMPDIR/x", "leftover"), ("mkdir other", "half output"),
                ("sleep 60 </dev/null >/dev/null 2>&1 & exit 0", "process")):
            with self.subTest(script):
                self.assertEqual(self.rules(script), {rule})

    def test_a_run_that_does_not_end_hangs(self):
        self.assertEqual(self.rules("sleep 60", limit_s=0.3), {"hang"})

    def test_memory_beyond_the_limit_is_found(self):
        with unittest.mock.patch("campaign.runner.MOST_MEMORY", 1 << 20):
            self.assertEqual(self.rules("exit 0"), {"memory"})

    def test_output_may_stay_after_success_only(self):
        self.assertEqual(self.rules("mkdir out", writes=("out",)), set())
        self.assertEqual(self.rules("mkdir out; echo no >&2; exit 2", writes=("out",)),
                         {"half output"})

    def test_what_stands_beside_an_output_is_nobodys(self):
        for script in ("rm beside.json", "echo >> beside/.secrets.json", "rm -r beside",
                       "> .out.keep", "mv out.partial x; mkdir out.partial; rm x"):
            with self.subTest(script):
                self.assertEqual(self.rules(script), {"destroyed"})

    def place(self, script, thing, force, name="correct"):
        context = self.context(script)
        writer = next(at for at, one in enumerate(WRITERS) if one.name == name)
        Places().run(context, Case("seed", more={"writer": writer, "thing": thing, "force": force,
                                                 "change": 1}))
        return {finding.rule for finding in context.findings}

    def test_things_in_place_of_an_output_stay(self):
        refuse = "[ -e $4 -o -L $4 ] && { echo 'it exists' >&2; exit 2; }; mkdir $4; echo 1 > $4/a"
        replace = "rm -rf $4; mkdir $4; echo 1 > $4/a"
        own = ("if [ -e $4 ]; then [ $# = 5 -a \"$(cat $4/* 2>/dev/null)\" = 1 ] || "
               "{ echo 'not mine' >&2; exit 2; }; fi; " + replace)
        for thing in ("text", "folder of JSON", "archive", "link", "result, other bytes",
                      "the input"):
            with self.subTest(thing):
                self.assertEqual(self.place(refuse, thing, True), set())
                self.assertEqual(self.place(own, thing, True), set())
                rules = self.place(replace, thing, True)
                self.assertIn("destroyed", rules)
        self.assertEqual(self.place(own, "result, none", True), set())
        self.assertEqual(self.place(refuse, "result, none", True), {"own result"})
        self.assertEqual(self.place(refuse, "result, none", False), set())
        self.assertEqual(self.place("exit 0", "text", False), {"not refused"})

    def test_a_result_that_lost_a_file_may_be_replaced_and_nothing_else_lost(self):
        replace = "rm -rf $4; mkdir $4; echo 1 > $4/a; echo 2 > $4/b"
        refuse = f"[ -e $4 ] && {{ echo 'it exists' >&2; exit 2; }}; {replace}"
        for script, rules in ((replace, set()), (refuse, set()),
                              (replace + "; rm -r beside", {"destroyed"})):
            with self.subTest(script):
                self.assertEqual(self.place(script, "result, less", True) - {"own result"}, rules)

    def test_folders_above_an_output_may_be_made_where_nothing_lies(self):
        for script, kind, rules in (("mkdir -p out/x", "socket", set()),
                                    ("rm -rf out; mkdir -p out/x", "folder", set())):
            with self.subTest(script):
                context = self.context(script)
                Specials().run(context, Case("seed", more={
                    "place": "../out/x", "kind": kind, "run": ["correct", "in", "-o", "out/x"]}))
                self.assertEqual({finding.rule for finding in context.findings}, rules)
        context = self.context("rm -f t.csv; echo 1 > t.csv")
        Specials().run(context, Case("seed", more={"place": "../t.csv", "kind": "random",
                                                   "run": ["compare", "in", "in", "--csv", "t.csv"]}))
        self.assertEqual({finding.rule for finding in context.findings}, {"destroyed"})

    def test_paths_of_findings_begin_at_the_project(self):
        finding = Finding("rule", "verb", f"{ROOT}src/a.cpp:1: error", f"A={ROOT}b tool")
        self.assertEqual((finding.detail, finding.command), ("src/a.cpp:1: error", "A=b tool"))

    def test_what_appears_meanwhile_stays(self):
        for script, rules in (("sleep 0.3; mkdir out 2>/dev/null || { echo no >&2; exit 2; }", set()),
                              ("sleep 0.3; rm -rf out; mkdir out", {"destroyed"})):
            with self.subTest(script):
                context = self.context(script)
                Races().run(context, Case("seed", more={"writer": 0, "share": 0.3,
                                                        "folder": False}))
                self.assertEqual({finding.rule for finding in context.findings}, rules)

    def test_changed_input_is_found(self):
        for script in ("echo x >> in/file", "rm in/file", "touch in/new", "mkdir in/folder",
                       "ln -sf /etc/passwd in/file"):
            with self.subTest(script):
                context = self.context(script)
                before = tree(context.place / "in")
                context.tool(["check", "in"])
                context.unchanged(before)
                self.assertEqual([one.rule for one in context.findings], ["changed input"])

    def test_verdicts_of_correct_and_check_are_compared(self):
        context = self.context('[ "$1" = check ] && exit 1; mkdir out; exit 0')
        context.library = lambda anchor: 0
        made = context.tool(["correct", "in", "-o", "out"], writes=("out",))
        judge_result(context, "out", made, [])
        self.assertEqual([one.rule for one in context.findings], ["verdict"])

    def test_cycles_of_the_input_make_correct_more_careful(self):
        for words, rules in (("10 edges lie in cycles that", []), ("too few edges", ["verdict"])):
            with self.subTest(words):
                context = self.context(f'[ "$1" = check ] && exit 0; mkdir out; echo "{words}"; exit 3')
                context.library = lambda anchor, location="": 0
                made = context.tool(["correct", "in", "-o", "out"], writes=("out",))
                judge_result(context, "out", made, [])
                self.assertEqual([one.rule for one in context.findings], rules)

    def test_results_that_nobody_can_read_are_found(self):
        context = self.context('[ "$1" = check ] && { echo no >&2; exit 2; }; mkdir out')
        context.library = lambda anchor: 0 if anchor.startswith("in") else 1
        made = context.tool(["correct", "in", "-o", "out"], writes=("out",))
        judge_result(context, "out", made, [])
        self.assertEqual([one.rule for one in context.findings], ["unreadable result"] * 2)

    def test_results_are_no_worse_than_their_inputs_location_by_location(self):
        for damaged, rules in (("0", []), ("1", ["unreadable result"])):
            with self.subTest(damaged):
                context = self.context("mkdir out")
                (context.place / "in" / "traces").mkdir()
                (context.place / "in" / "traces" / "0.evt").touch()
                context.library = lambda anchor, location="": int(
                    anchor.startswith("out") or location == damaged)
                made = context.tool(["correct", "in", "-o", "out"], writes=("out",))
                context.tool = lambda args: made
                judge_result(context, "out", made, [])
                self.assertEqual([one.rule for one in context.findings], rules)

    def test_modes_are_compared(self):
        context = self.context('case $1 in compare) exit 1;; correct) mkdir $4;; esac')
        context.library = lambda anchor: 0
        Archives().run(context, Case("seed", more={"rest": ""}))
        self.assertEqual([one.rule for one in context.findings], ["modes differ"])

    def test_repairs_may_leave_their_work_but_no_archive(self):
        for script, rules in (("mkdir in/work", []), ("touch in/traces.otf2", ["half output"]),
                              ("rm in/file", ["changed input"])):
            with self.subTest(script):
                context = self.context(script + "; echo no >&2; exit 2")
                before = tree(context.place / "in")
                judge_unrepaired(context, before, context.tool(["record", "--repair", "in"]))
                self.assertEqual([one.rule for one in context.findings], rules)

    def test_something_else_in_place_of_a_file_is_no_changed_input(self):
        kind = Specials()
        names = {(case.more["kind"], case.more["place"]) for case in
                 (kind.draw(random.Random(1), number, None) for number in range(len(kind.all)))}
        self.assertGreater(len(names), 400)


class Mutations(InAFolder):
    def test_tokens_give_the_file_back(self):
        draw = random.Random(3)
        for order in ("little", "big"):
            data = event_file(order=order)
            self.assertEqual(len(records.split(data, True)), 1 + 3 * 20 + 1)
            for _ in range(300):
                changed = mutate.flip_bytes(mutate.truncate(data, draw) or data, draw)
                for events in (True, False):
                    self.assertEqual(b"".join(records.split(changed, events)), changed)

    def test_stamps_and_integers_are_found(self):
        tokens = records.split(event_file(), True)
        self.assertEqual(records.stamp_of(tokens[1], "little"), 1000)
        self.assertIn((5, 7), records.integers_in(tokens[3]))
        changed = records.replaced(tokens[3], 2, 4, b"\xff", "little")
        self.assertEqual(changed, b"\x0e\x07\xff\x00\x01\x05\x02\x00\x10")

    def test_clock_offsets_are_read_as_written(self):
        data = event_file(0)[:18] + records.clock_offset(77, -5, 0.5) + b"\x02\x01"
        self.assertEqual(records.clock_offsets(data), [(77, -5)])

    def make_input(self):
        folder = self.folder / "input"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "traces").mkdir(parents=True)
        for number in range(2):
            (folder / "traces" / f"{number}.evt").write_bytes(event_file(unsorted=True))
            (folder / "traces" / f"{number}.def").write_bytes(
                event_file(0)[:18] + records.clock_offset(77, -5, 0.5) + b"\x02\x01")
        (folder / "traces.def").write_bytes(event_file(0)[:18] + b"\x0a\x02\x01\x00\x02\x01")
        (folder / "traces.otf2").write_bytes(bytes(range(60)))
        seeds.write_tables(folder)
        with unittest.mock.patch("campaign.seeds.EVENT_CHUNK", 2048):
            seeds.leave_unfinished(folder, 1)
        (folder / "net.json").write_text('{"links": [["a", "b"]], "n": 1}\n')
        (folder / "e.jsonl").write_text("".join(
            f'{{"ts": {n}, "id": "{n}", "name": "x", "list": [{n}, 2]}}\n' for n in range(9)))
        (folder / "net.dot").write_text("graph { a -- b; }\n")
        return folder

    def test_every_mutation_repeats_and_changes_something(self):
        for name in mutate.ALL:
            changes = 0
            for seed in range(6):
                folder = self.make_input()
                untouched = contents(folder)
                mutate.apply(folder, [(name, seed)])
                once = contents(folder)
                mutate.apply(self.make_input(), [(name, seed)])
                self.assertEqual(contents(folder), once, name)
                changes += once != untouched
            self.assertGreater(changes, 0, name)

    def test_mutations_stand_on_each_other(self):
        draw = random.Random(5)
        for _ in range(50):
            mutate.apply(self.make_input(), mutate.draw_steps(draw, list(mutate.ALL)) * 2)

    def test_json_that_is_no_object_can_be_mutated(self):
        draw = random.Random(5)
        for text in (b"1", b"null", b"[]", b"{}", b'""', b"[[1]]", b"{", b""):
            for _ in range(20):
                mutate.change_json(text, draw)

    def test_cases_repeat(self):
        context = self.context()
        for base in ("mixed", "ring"):
            (self.folder / "seeds" / "archives" / base).mkdir(parents=True)
        cases = [Archives().draw(random.Random("1/archives/5"), 5, context) for _ in range(2)]
        self.assertEqual(cases[0], cases[1])

    def test_kinds_come_in_proportion_to_their_weights(self):
        row = pattern_of(KINDS)
        self.assertEqual([row.count(index) for index in range(len(KINDS))],
                         [kind.weight for kind in KINDS])


class FaultLibrary(InAFolder):
    def setUp(self):
        super().setUp()
        self.libraries = {"m": self.compile("memory.so"),
                          "c": self.compile("calls.so", "-DCALLS_ONLY")}

    def compile(self, name, *flags):
        library = self.folder / name
        command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror",
                   *flags, "-o", library, HERE / "faults.c", "-ldl"]
        if shutil.which(command[0]) is None:
            self.skipTest("no C compiler")
        subprocess.run(command, check=True)
        return library

    def run_cat(self, setting):
        return self.run_with_faults(setting, "cat")

    def run_with_faults(self, setting, program):
        file, counts = self.folder / "file", self.folder / "counts"
        file.write_text("0123456789")
        done = subprocess.run([program, file], capture_output=True, text=True, check=False,
                              timeout=60,
                              env={**os.environ, "LC_ALL": "C",
                                   "LD_PRELOAD": str(self.libraries[setting[0]]),
                                   "ASAN_OPTIONS": "verify_asan_link_order=0:"
                                   "detect_leaks=0:exitcode=86",
                                   "TORTURE_FAULT": f"{setting}:{counts}"})
        if done.returncode == 99:
            self.skipTest("no seccomp here")
        return done, struct.unpack("QQQ", counts.read_bytes())

    def test_system_calls_of_sanitized_programs_can_fail(self):
        source, program = self.folder / "a.c", self.folder / "a"
        source.write_text('#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char** a) {\n'
                          '  char* line = malloc(99);\n  FILE* file = fopen(a[n - 1], "r");\n'
                          '  if (!file || !fgets(line, 99, file)) return 2;\n'
                          '  puts(line); free(line); return fclose(file) == 0 ? 0 : 2; }\n')
        built = subprocess.run([os.environ.get("CC", "cc"), "-fsanitize=address", "-o", program,
                                source], capture_output=True, check=False)
        if built.returncode != 0:
            self.skipTest("no address sanitizer")
        done, (count, _, _) = self.run_with_faults("c:0:5:0", program)
        self.assertEqual((done.returncode, done.stdout), (0, "0123456789\n"))
        codes = {self.run_with_faults(f"c:{at}:{errno.EIO}:0", program)[0].returncode
                 for at in range(1, min(count, 30) + 1)}
        self.assertIn(2, codes)
        self.assertNotIn(-31, codes)  # SIGSYS

    def test_counts_without_failing(self):
        for letter in "cm":
            done, (count, failed, _) = self.run_cat(f"{letter}:0:5:0")
            self.assertEqual((done.returncode, done.stdout, failed), (0, "0123456789", 0))
            self.assertGreater(count, 0)

    def test_each_system_call_can_fail(self):
        _, (count, _, _) = self.run_cat("c:0:5:0")
        complaints = 0
        for at in range(1, count + 1):
            done, (_, failed, number) = self.run_cat(f"c:{at}:{errno.EIO}:0")
            self.assertEqual(failed, 1)
            self.assertLess(number, 500)
            complaints += "Input/output error" in done.stderr
        self.assertGreater(complaints, 1)

    def test_short_reads_and_writes_lose_nothing_in_cat(self):
        _, (count, _, _) = self.run_cat("c:0:5:0")
        for at in range(1, count + 1):
            done, _ = self.run_cat(f"c:{at}:0:0")
            self.assertEqual(done.stdout, "0123456789")

    def test_memory_can_run_out(self):
        _, (count, _, _) = self.run_cat("m:0:0:0")
        failures = 0
        for at in range(1, count + 1):
            done, (_, failed, _) = self.run_cat(f"m:{at}:{errno.ENOMEM}:1")
            self.assertEqual(failed, 1)
            failures += done.returncode != 0
        self.assertGreater(failures, 0)


class Results(unittest.TestCase):
    def test_a_sweep_takes_each_call_once(self):
        for count in (1, 2, 7, 100, 377, 6000):
            self.assertEqual({nth_of_all(turn, count) for turn in range(count)},
                             set(range(1, count + 1)))
        self.assertLess(max(abs(a - b) for a, b in zip(
            sorted(nth_of_all(turn, 1000) for turn in range(100)), range(1, 1000, 10))), 60)

    def test_surfaces_name_verb_options_and_input(self):
        self.assertEqual(surface_of(["correct", "in", "-o", "out", "--mode", "overlay"],
                                    "runs/packed"), "correct --mode overlay | training run, packed")
        self.assertEqual(surface_of(["align", "in/e.csv", "--bounds"], "edges/csv"),
                         "align --bounds without -o | table of edges, csv")
        self.assertEqual(surface_of(["export", "in", "--to", "\x1b"], "archives/ring"),
                         "export | OTF2")

    def test_counts_of_processes_add_up(self):
        part = {"counts": {"archives": {"cases": 2, "runs": 9, "sanitized_runs": 1,
                                        "failed_cases": 1, "slowest_s": 0.5, "exits": {"0": 9},
                                        "notes": {"odd": 3}}},
                "found": {"s": {"rule": "crash", "verb": "check", "count": 1, "detail": "a|b\x1b",
                                "examples": [1]}}, "longest_answer_s": 0.25}
        other = {**part, "found": {"s": {**part["found"]["s"], "examples": [2]}}}
        result = merged([part, other], {"seed": 1, "seconds": 60.0, "jobs": 2, "version": "v",
                                        "date": "today"})
        self.assertEqual(result["total"]["runs"], 18)
        self.assertEqual(result["kinds"]["archives"]["exits"], {"0": 18})
        self.assertEqual(result["findings"][0]["count"], 2)
        text = as_markdown(result)
        self.assertIn("| archives | 4 | 18 | 2 | 2 | 0.50 s |", text)
        self.assertIn("| crash | check | 2 | a\\|b? |", text)


if __name__ == "__main__":
    unittest.main()
