#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of bench/accuracy: its arithmetic, and a short run with the build folder that is given."""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
sys.dont_write_bytecode = True

from suite import accuracy_report as report  # noqa: E402
from suite.accuracy_cases import LOSSES, LOSSY, QUICK, generated_cases, recorded_cases  # noqa: E402
from suite.accuracy_runs import CAUSAL, LINEAR, METHODS, along, apart, changed_share  # noqa: E402

BUILD = Path()


def made_up(linear=10.0, causal=1.0, sessions=True):
    methods = {}
    for name in METHODS:
        rms = {LINEAR: linear, CAUSAL: causal}.get(name, 5.0)
        methods[name] = {f"{figure}{suffix}_us": rms for figure in ("rms", "p99", "max")
                         for suffix in ("", "_all")}
        methods[name] |= {"left": 3, "apart_us": rms, "intervals_changed": 0.5,
                          "interval_max_share": 2.0, "presync_s": 0.1}
    if not sessions:
        del methods[LINEAR]
    run = {"case": "ring-dense", "seed": 1, "locations": 8, "events": 1000, "span_s": 1.0,
           "communication_events": 100, "sessions": sessions, "edges": 50, "methods": methods,
           "curves": {LINEAR: {"0": [(0.0, 1.0), (1.0, -2.0)], "1": [(0.0, 0.0), (1.0, 3.0)]}}}
    stated = {"beyond": 0, "bounded": 900, "error_us": 3.0, "bound_us": 20.0, "outside_us": 0.0}
    run["bounds"] = {"checked": stated | {"outside_us": 5.0}, "corrected": stated, "reason": ""}
    if not sessions:
        run["with_two_sessions"] = {"rms_us": 0.5}
    return {"date": "2020-01-01", "revision": "abc", "seconds": 60.0, "skipped": ["one"],
            "machine": {"cpu": "some", "cores": 2, "system": "Linux"}, "load_before": 0.1,
            "load_after": 0.2, "runs": [run]}


class Arithmetic(unittest.TestCase):
    def test_curves_are_straight_between_points(self):
        self.assertEqual(along([(0, 0), (2, 4), (3, 4)], [-1, 0, 1, 2, 2.5, 9]), [0, 0, 2, 4, 4, 4])

    def test_what_clocks_have_in_common_does_not_count(self):
        common = [(float(t), 100.0 * t * t) for t in range(20)]
        self.assertAlmostEqual(apart({"0": common, "1": common}), 0)
        other = [(t, e + 2) for t, e in common]
        self.assertAlmostEqual(apart({"0": common, "1": other}), 1)

    def test_changed_intervals_are_those_above_a_hundredth(self):
        limits = (0, 1e-4, 1e-3, 0.01, 0.1, 1, None)
        histogram = [{"up_to_share": limit, "intervals": 10} for limit in limits]
        self.assertAlmostEqual(changed_share(histogram), 3 / 7)

    def test_worse_than_linear_is_told(self):
        good, bad = made_up(), made_up(linear=1.0, causal=1.03)
        self.assertEqual(report.ratios(good)[0][0], 0.1)
        self.assertNotIn("farther from the truth", "\n".join(report.verdict_lines(good)))
        self.assertIn("farther from the truth", "\n".join(report.verdict_lines(bad)))
        self.assertIn("does not help", "\n".join(report.verdict_lines(made_up(1.0, 1.0))))

    def test_no_session_is_compared_with_two(self):
        text = "\n".join(report.verdict_lines(made_up(sessions=False)))
        self.assertIn("2.00", text)

    def test_bounds_that_do_not_hold_and_those_that_are_not_there_are_told(self):
        result = made_up()
        self.assertIn("0 have a larger error than stated. 0 of 1 corrections leave what is possible "
                      "somewhere.", "\n".join(report.verdict_lines(result)))
        bounds = result["runs"][0]["bounds"]
        bounds["corrected"] |= {"beyond": 7, "outside_us": 1.5}
        self.assertIn("7 have a larger error than stated. 1 of 1 corrections leave what is possible "
                      "somewhere, by at most 1.5 us", "\n".join(report.verdict_lines(result)))
        bounds["corrected"], bounds["reason"] = None, "clocks were set"
        self.assertIn("No bounds: `ring-dense` (clocks were set)",
                      "\n".join(report.verdict_lines(result)))
        self.assertIn("no bounds", "\n".join(report.bounds_table(result)))

    def test_document_and_charts(self):
        for result in (made_up(), made_up(sessions=False)):
            charts = report.plots(result)
            self.assertEqual(set(charts), {"rms", "ring-dense"})
            for text in charts.values():
                xml.dom.minidom.parseString(text)
            document = report.as_markdown(result, "x", list(charts))
            self.assertIn("x-rms.svg", document)
            self.assertIn("Skipped: one.", document)

    def test_records_lost_stand_beside_the_complete_trace(self):
        line = {"case": "a", "seed": 1, "loss": "complete", "communication": 100, "lost": 0,
                "edges": 50, "false_violations": 0, "worst_us": 0.0, "linear_us": 9.0,
                "causal_us": 2.0}
        lossy = line | {"loss": "random 1 %", "lost": 7, "false_violations": 3,
                        "worst_us": -12.5, "causal_us": 3.0}
        other = line | {"case": "b", "causal_us": 30.0}
        lines = [line, lossy, other]
        self.assertEqual(report.loss_ratio(lines, lossy), 1.5)
        self.assertEqual(report.loss_ratio(lines, other), 1.0)
        self.assertIsNone(report.loss_ratio([lossy], lossy))
        text = "\n".join(report.loss_lines({"losses": lines}))
        self.assertIn("-12.5", text)
        self.assertEqual(report.loss_lines({}), [])  # results of earlier versions
        alone = made_up() | {"runs": [], "losses": lines}
        self.assertIn("Records lost", report.as_markdown(alone, "x", []))

    def test_names_are_unlike(self):
        names = [case.name for case in generated_cases()]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(QUICK), set(names))
        self.assertLessEqual(set(LOSSY) - {"lulesh-8", "amg-8"}, set(names))

    def test_folders_that_are_missing_hold_nothing(self):
        self.assertEqual(recorded_cases([Path("/nowhere")]), [])


class Run(unittest.TestCase):
    def run_bench(self, *options):
        return subprocess.run([str(BENCH / "accuracy"), "--build", str(BUILD), *options],
                              capture_output=True, text=True, check=False)

    def test_short(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_bench("--quick", "--only", "lulesh-8", "--only", "ring-fast",
                                  "--shared", f"{folder}/none", "--data", f"{folder}/data",
                                  "--results", f"{folder}/results", "--name", "short")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("does not exist", done.stderr)
            results = Path(folder) / "results"
            names = {path.name for path in results.iterdir()}
            self.assertLessEqual({"short.json", "short.md", "short-rms.svg", "short-lulesh-8.svg"},
                                 names)
            measured = json.loads((results / "short.json").read_text())
        runs = {run["case"]: run for run in measured["runs"]}
        self.assertEqual([line["loss"] for line in measured["losses"]],
                         [loss.name for loss in LOSSES])
        self.assertEqual(measured["losses"][0]["false_violations"], 0)
        self.assertGreater(measured["losses"][0]["edges"], measured["losses"][2]["edges"])
        self.assertEqual(set(runs), {"lulesh-8", "ring-fast"})
        self.assertLess(report.ratio(runs["lulesh-8"]), 0.2)
        # Clocks that wander faster than messages show are left alone, or they come out far worse.
        self.assertLessEqual(report.ratio(runs["ring-fast"]), report.MOST_RATIO)
        for run in runs.values():
            self.assertEqual(run["methods"][CAUSAL]["left"], 0)
            self.assertEqual(set(run["methods"]), set(METHODS))
            for stated in report.STATED:
                self.assertGreater(run["bounds"][stated]["bounded"], 30_000)
                self.assertEqual(run["bounds"][stated]["beyond"], 0)

    def test_unknown_traces_and_builds(self):
        done = self.run_bench("--only", "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no trace is called nothing", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_bench("--build", folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("does not exist", done.stderr)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop()).resolve()
    unittest.main()
