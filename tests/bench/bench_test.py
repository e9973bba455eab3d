#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the benchmark suite's arithmetic and of bench/gate, on made-up results."""

import copy
import importlib.machinery
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import flow  # noqa: E402
import projection  # noqa: E402
from suite import stats, svg  # noqa: E402
from suite.hard_cases import HARD_CASES  # noqa: E402
from suite.hard_targets import hard_targets  # noqa: E402
from suite.plots import all_plots  # noqa: E402
from suite.summary import Session  # noqa: E402
from suite.tables import as_markdown  # noqa: E402
from suite.targets import all_targets  # noqa: E402

MIB = 1 << 20
CORRECTIONS = {"overlay": 0.5, "overlay + verify": 0.9, "rewrite": 1.2, "rewrite + verify": 1.8}


def made_up(seed=1, runs=11, noise=0.02, slower=1.0, anon=80 * MIB, rewrite=1.2):
    """A session in which cp takes about a second and the machine's speed varies by half."""
    draw = random.Random(seed)
    speeds = [draw.uniform(1, 1.5) for _ in range(runs)]

    def run(share, **more):
        return [{"place": 0, "wall_s": share * speed * draw.uniform(1, 1 + noise), "user_s": 1.0,
                 "system_s": 0.1, "max_rss_bytes": MIB, **more} for speed in speeds]

    def entry(trace, measured, memory=None):
        return {"trace": trace, "threads": 2, "processes": 1, "most_open_files": 0,
                "runs": measured, "memory": [] if memory is None else
                [{"anon_bytes": memory, "anon_sum_bytes": memory, "file_bytes": 0,
                  "shared_bytes": 0, "spill_bytes": 0, "samples": 9}]}

    phases = dict.fromkeys(["scan", "match", "presync", "forward", "backward", "write", "verify"],
                           0.1)
    main = {"cp": entry("t", run(1.0)), "otf2_copy": entry("t", run(4.0))}
    for threads in (1, 2):
        for name, share in {**CORRECTIONS, "rewrite": rewrite}.items():
            main[f"{name}, {threads} thr"] = entry(
                "t", run(share * slower * 2 / threads, phases_s=phases, passes=5,
                         moved_share=0.3), anon)
    series = [{"name": name, "threads": threads, "seconds": [s], "cpu_seconds": [s * threads]}
              for name, threads, s in (("scan", 1, 0.2), ("scan", 2, 0.1), ("otf2_reader", 1, 0.8))]
    main["scan_speed"] = entry("t", run(1.0, events=24_000_000, bytes=300_000_000, series=series))
    half = {**phases, "forward": 0.25}
    violations = {"cp": entry("t", run(1.0)),
                  "rewrite, 0%": entry("clean", run(1.0, phases_s=phases)),
                  "rewrite, 50%": entry("half", run(1.2, phases_s=half))}
    trace = {"events": 24_000_000, "locations": 8, "communication_events": 2_400_000,
             "bytes": 300_000_000, "files": 18, "violated_share": 0.01, "offset_noise_s": 1e-6,
             "event_bytes": 290_000_000, "global_definition_bytes": 4000, "messages": 800_000,
             "collectives": 2_800}
    return {
        "schema": "entrain.bench/2", "date": "2020-01-01", "revision": "abc",
        "machine": {"cpu": "some", "cores": 2, "memory_gb": 8, "file_system": "ext4",
                    "system": "Linux"},
        "load_before": 0.1, "load_after": 0.2, "seconds": 60.0, "sizes": {},
        "traces": {"t": trace, "clean": {**trace, "violated_share": 0.0},
                   "half": {**trace, "violated_share": 0.49}},
        "groups": {"main": {"about": "all", "judged": True, "contestants": main},
                   "violations": {"about": "some", "judged": True, "contestants": violations},
                   "processes": {"about": "several", "skipped": "mpirun is not installed"}},
    }


class StatisticsTest(unittest.TestCase):
    def test_ratios_of_rounds_cancel_a_slow_machine(self):
        self.assertEqual(stats.paired_ratio([2.0, 20.0], [1.0, 10.0]), [2.0, 2.0])
        with self.assertRaises(ValueError):
            stats.paired_ratio([1.0], [1.0, 2.0])

    def test_bootstrap_covers_the_true_change(self):
        draw = random.Random(7)
        before = [draw.gauss(1, 0.02) for _ in range(11)]
        after = [draw.gauss(1.1, 0.02) for _ in range(11)]
        change, low, high = stats.bootstrap_change(before, after)
        self.assertLess(low, 1.1)
        self.assertGreater(high, 1.1)
        self.assertLess(high - low, 0.1)
        self.assertAlmostEqual(change, 1.1, delta=0.03)
        self.assertEqual((change, low, high), stats.bootstrap_change(before, after))

    def test_equal_samples_have_not_changed(self):
        self.assertEqual(stats.bootstrap_change([1.0] * 5, [1.0] * 5), (1.0, 1.0, 1.0))


class SummaryTest(unittest.TestCase):
    def verdicts(self, **made):
        return {t.what: t for t in all_targets(Session(made_up(**made)))}

    def test_targets_met_and_missed(self):
        good = self.verdicts()
        self.assertTrue(good["rewrite --no-verify"].met)
        self.assertTrue(good["scan with skeleton, 1 thr"].met)
        self.assertTrue(good["rewrite against OTF2 read + write"].met)
        self.assertTrue(good["forward + backward, 50 % violated against clean"].met)
        bad = self.verdicts(rewrite=2.5, anon=4000 * MIB)
        self.assertFalse(bad["rewrite --no-verify"].met)
        self.assertFalse(bad["rewrite against OTF2 read + write"].met)
        memory = [t for what, t in bad.items() if what.startswith("anonymous memory / ")]
        self.assertFalse(memory[0].met)

    def test_targets_of_proofs_and_lost_records(self):
        result = made_up()

        def entry(wall):
            run = {"wall_s": wall, "user_s": wall, "system_s": 0.0, "max_rss_bytes": MIB}
            return {"trace": "t", "threads": 1, "processes": 1, "most_open_files": 0, "memory": [],
                    "runs": [run] * 7}

        result["groups"]["bounds"] = {"about": "", "judged": True, "contestants": {
            "align --bounds, 4000 clocks": entry(9.0), "align --bounds, 1000 clocks": entry(1.5)}}
        result["groups"]["lossy"] = {"about": "", "judged": True, "contestants": {
            "check, complete": entry(1.0), "check, lost": entry(1.2)}}
        rows = {t.what: t for t in all_targets(Session(result))}
        self.assertEqual(rows["align --bounds, 4 x the clocks"].measured, "6.00 times")
        self.assertFalse(rows["align --bounds, 4 x the clocks"].met)
        self.assertTrue(rows["records lost: check against the complete trace"].met)
        self.assertIsNone(rows["spans: check, 1 thr"].met)

    def test_what_was_not_measured_is_not_met(self):
        missing = self.verdicts()["100,000 locations, 1,024 open files"]
        self.assertIsNone(missing.met)
        self.assertEqual(missing.measured, "not measured")

    def test_tables_and_plots(self):
        session = Session(made_up())
        plots = all_plots(session)
        self.assertIn("ratios", plots)
        for text in plots.values():
            xml.dom.minidom.parseString(text)
        document = as_markdown(session, "x", list(plots))
        self.assertIn("mpirun is not installed", document)
        for line in document.splitlines():
            self.assertLessEqual(len(line), 100, line)

    def test_line_chart_of_a_single_point(self):
        xml.dom.minidom.parseString(svg.line_chart("<&>", "x", "y", [svg.Line("a", [(8, 2)])]))


def hard_session(fit=0.01, two_threads=0.55, processes=1.1):
    """A session of two hard traces; the other ones were not measured."""
    result = made_up()
    phases = {**dict.fromkeys(["scan", "match", "forward", "backward", "write", "verify"], 0.1),
              "presync": fit}
    halved = {**phases, "match": two_threads * phases["match"]}

    def entry(wall, phases=None):
        run = {"wall_s": wall, "user_s": wall, "system_s": 0.0, "max_rss_bytes": MIB}
        return {"trace": "t", "threads": 2, "processes": 1, "most_open_files": 0, "memory": [],
                "runs": [run if phases is None else {**run, "phases_s": phases}] * 7}

    for case, overlay in (("mixed-16", 2.4), ("allreduce-64", 2.8)):
        result["groups"][f"hard-{case}"] = {"about": case, "judged": True, "contestants": {
            "cp": entry(0.5), "otf2_copy": entry(4.0), "overlay + verify, 2 thr":
            entry(overlay, halved), "overlay + verify, 1 thr": entry(overlay * 2, phases)}}
    result["groups"]["hard-processes"] = {"about": "several", "judged": True, "contestants": {
        "auto, 2 thr": entry(2.0, phases), "auto, 2 proc": entry(2.0 * processes, phases)}}
    return Session(result)


class HardTargetsTest(unittest.TestCase):
    @staticmethod
    def rows(**made):
        return {t.what: t for t in hard_targets(hard_session(**made))}

    def test_the_worst_trace_is_named(self):
        overlay = [t for t in hard_targets(hard_session())
                   if t.what == "hard traces: overlay with verification"]
        self.assertEqual([(t.measured, t.met) for t in overlay],
                         [("0.70 x otf2_copy, allreduce-64", True), ("5.60 x cp, allreduce-64", True)])

    def test_a_fit_is_held_against_the_other_phases(self):
        what = "fit against the rest, <= 64 clocks"
        self.assertTrue(self.rows(fit=0.05)[what].met)
        self.assertFalse(self.rows(fit=0.2)[what].met)
        self.assertIsNone(self.rows()["fit against the rest, 512 clocks"].met)

    def test_the_phase_that_gains_least_from_a_thread_counts(self):
        row = self.rows(two_threads=0.4)["2 threads against 1, worst large phase"]
        self.assertFalse(row.met)
        self.assertTrue(row.measured.startswith("1.00 times, "), row.measured)

    def test_processes_are_held_against_threads(self):
        what = "processes against threads, whole run"
        self.assertTrue(self.rows()[what].met)
        self.assertFalse(self.rows(processes=1.5)[what].met)

    def test_every_case_is_generated_with_a_name_of_its_own(self):
        specs = [case.spec(1000) for case in HARD_CASES.values()]
        self.assertEqual(len({spec.name for spec in specs}), len(specs))
        self.assertEqual(HARD_CASES["mixed-16"].spec(24_000_000).events, 43_000_000)


class ProjectionTest(unittest.TestCase):
    @staticmethod
    def of_two_processes():
        result = made_up()
        alone = result["groups"]["main"]["contestants"]["overlay, 1 thr"]
        result["groups"]["processes"] = {"about": "several", "judged": False,
                                         "contestants": {"overlay, 2 proc": alone}}
        return result

    def test_constants_are_those_of_a_member_of_a_team(self):
        constants = projection.constants_of(Session(self.of_two_processes()))
        self.assertAlmostEqual(constants["forward"].value, 2 * 0.1 / 24e6 * 1e9)
        with self.assertRaises(TypeError):
            projection.constants_of(Session(made_up()))

    def test_more_nodes_have_less_to_do(self):
        session = Session(self.of_two_processes())
        constants = {k: c.value for k, c in projection.constants_of(session).items()}
        few, many = (dict(projection.project(constants, nodes)) for nodes in (16, 1024))
        self.assertEqual(few["fits into 32-bit node numbers"], "no")
        self.assertEqual(many["fits into 32-bit node numbers"], "yes")
        self.assertEqual(few["skeleton"], "100 GB")
        self.assertEqual(few["memory: replicated definitions"],
                         many["memory: replicated definitions"])

    def test_crossing_messages(self):
        shares = [projection.crossing_share(nodes) for nodes in (1, 16, 128, 1024, 10**5)]
        self.assertEqual(shares, sorted(shares))
        self.assertLess(shares[0], 0.01)
        self.assertEqual(shares[-1], 1.0)

    def test_document_has_a_place_for_it(self):
        text = (BENCH.parent / "docs" / "scaling.md").read_text()
        self.assertLess(text.index(projection.BEGIN), text.index(projection.END))


class FlowTest(unittest.TestCase):
    COSTS = flow.Costs(node_s=50e-9, parcel_s=0.5e-6, latency_s=5e-6, bytes_per_s=10e9)

    def test_one_member_never_waits_and_sends_nothing(self):
        alone = flow.simulate(1, 1000, self.COSTS)
        self.assertAlmostEqual(alone.efficiency, 1)
        self.assertAlmostEqual(alone.time_s, 6 * flow.NODES * 1000 * 50e-9)
        self.assertEqual(alone.parcels, 0)

    def test_two_members_tell_each_other(self):
        # 1,000 locations, a cube of 10: blocks of 500 reach each other at one distance only.
        two = flow.simulate(2, 1000, self.COSTS)
        self.assertAlmostEqual(two.parcels, 2 + flow.COLLECTIVES)
        values = 2 * (1 + 10 + 100) + flow.COLLECTIVES * flow.NEWS  # both sides, each distance
        self.assertAlmostEqual(two.bytes, 16 * values)

    def test_news_reaches_everybody(self):
        for members in (1, 2, 4, 5, 16, 17, 100):
            known = [{member} for member in range(members)]
            for distances in flow.stages(members):
                before = [set(k) for k in known]
                for member in range(members):
                    for distance in distances:
                        known[(member + distance) % members] |= before[member]
            self.assertTrue(all(len(k) == members for k in known), members)

    def test_more_work_per_node_waits_less(self):
        hard = flow.Costs(node_s=300e-9, parcel_s=0.5e-6, latency_s=5e-6, bytes_per_s=10e9, lanes=5)
        easy, hard = (flow.simulate(256, 10**5, costs) for costs in (self.COSTS, hard))
        self.assertGreater(hard.efficiency, easy.efficiency)
        self.assertAlmostEqual(hard.bytes, 3 * easy.bytes)


class GateTest(unittest.TestCase):
    def gate(self, before, after, *options):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, content in (("a.json", before), ("b.json", after)):
                path = Path(folder) / name
                if content is not None:
                    path.write_text(content if isinstance(content, str) else json.dumps(content))
                paths.append(str(path))
            done = subprocess.run([str(BENCH / "gate"), *paths, *options], capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def changed(self, edit):
        result = made_up(seed=2)
        edit(result)
        return result

    def test_same_build_is_fine_on_a_machine_half_as_fast(self):
        code, text = self.gate(made_up(), made_up(seed=2))
        self.assertEqual(code, 0, text)
        self.assertIn("main: rewrite, 2 thr / otf2_copy", text)

    def test_slower_build_is_found(self):
        code, text = self.gate(made_up(), made_up(seed=2, slower=1.1))
        self.assertEqual(code, 1, text)
        self.assertEqual(self.gate(made_up(), made_up(seed=2, slower=1.1), "--tolerance", "0.2")[0],
                         0)

    def test_faster_build_is_fine(self):
        code, text = self.gate(made_up(), made_up(seed=2, slower=0.8))
        self.assertEqual(code, 0, text)
        self.assertIn("better", text)

    def test_hungrier_build_is_found(self):
        code, text = self.gate(made_up(), made_up(seed=2, anon=100 * MIB))
        self.assertEqual(code, 1, text)
        self.assertEqual(self.gate(made_up(), made_up(seed=2, anon=82 * MIB))[0], 0)

    def test_noise_is_no_pass(self):
        code, text = self.gate(made_up(noise=3), made_up(seed=2, noise=3))
        self.assertEqual(code, 2, text)

    def test_too_few_runs(self):
        code, text = self.gate(made_up(runs=3), made_up(seed=2, runs=3))
        self.assertEqual(code, 2, text)
        self.assertIn("are needed", text)
        self.assertEqual(self.gate(made_up(runs=3), made_up(runs=3), "--least-runs", "3")[0], 0)

    def test_files_that_are_missing_or_something_else(self):
        for other in (None, "", "{", "[]", '{"schema": "entrain.bench/1"}',
                      '{"schema": "entrain.bench/2"}'):
            self.assertEqual(self.gate(made_up(), other)[0], 2, other)
            self.assertEqual(self.gate(other, made_up())[0], 2, other)

    def test_different_machines_cases_and_traces(self):
        def other_machine(result):
            result["machine"]["cpu"] = "other"

        def fewer_groups(result):
            del result["groups"]["violations"]

        def fewer_contestants(result):
            del result["groups"]["main"]["contestants"]["rewrite, 2 thr"]

        def no_longer_skipped(result):
            result["groups"]["processes"] = copy.deepcopy(result["groups"]["violations"])

        def larger_trace(result):
            result["traces"]["t"]["bytes"] *= 2

        def other_share(result):
            result["traces"]["t"]["violated_share"] = 0.1

        def no_memory(result):
            result["groups"]["main"]["contestants"]["rewrite, 2 thr"]["memory"] = []

        def no_floor(result):
            result["groups"]["main"]["contestants"]["otf2_copy"]["runs"].pop()

        for edit in (other_machine, fewer_groups, fewer_contestants, no_longer_skipped,
                     larger_trace, other_share, no_memory, no_floor):
            code, text = self.gate(made_up(), self.changed(edit))
            self.assertEqual(code, 2, f"{edit.__name__}: {text}")
            self.assertIn("cannot compare", text)

    def test_nothing_to_compare(self):
        empty = self.changed(lambda result: result.update(groups={}))
        self.assertEqual(self.gate(empty, empty)[0], 2)


class ClockSessions(unittest.TestCase):
    """The arithmetic of bench/clock_session."""

    @classmethod
    def setUpClass(cls):
        loader = importlib.machinery.SourceFileLoader("clock_session", str(BENCH / "clock_session"))
        cls.script = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("clock_session", loader))
        loader.exec_module(cls.script)

    def test_one_level_is_served_in_turn(self):
        self.assertEqual([self.script.rounds(ranks, 10) for ranks in (1, 2, 8, 9)], [0, 10, 70, 80])

    def test_further_levels_wait_for_their_parents(self):
        self.assertEqual(self.script.rounds(10, 10), 90)  # one child of rank 1
        self.assertEqual(self.script.rounds(1 + 8 + 64, 10), 160)
        self.assertEqual([self.script.levels(ranks) for ranks in (1, 2, 9, 10, 73, 74)],
                         [0, 1, 1, 2, 2, 3])

    def test_rounds_grow_with_the_logarithm(self):
        self.assertLessEqual(self.script.rounds(100000, 10), 6 * 8 * 10)


if __name__ == "__main__":
    unittest.main()
