# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the Python module: pytest python/tests, with the build's python/ on PYTHONPATH."""
import csv
import doctest
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import entrain_clocks as ec

TRACES = Path(os.environ["ENTRAIN_EXAMPLES_DIR"]) / "traces"
LULESH = TRACES / "lulesh-8"


def late_clock():
    """The clock of b is 50 ticks late; messages take 10 ticks."""
    sent = np.arange(1000, 101_000, 1000)
    late = np.tile([0, 50], 50)
    return {"cause_clock": np.array(["a", "b"] * 50), "cause_time": sent - late,
            "effect_clock": np.array(["b", "a"] * 50), "effect_time": sent + 10 - late[::-1]}


def test_the_docstring_is_true():
    assert doctest.testmod(ec).failed == 0


def test_clocks_say_whose_clock_is_wrong(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for file in (TRACES.parent / "training").glob("rank*.json"):
        trace = json.loads(file.read_text())
        for event in trace["traceEvents"]:
            if "ts" in event and file.stem == "rank2":
                event["ts"] -= 4000
        (run / file.name).write_text(json.dumps(trace))
    table = ec.clocks(run)
    assert table["clock"][0] == "rank 2" and table["state"][0] == "slow"
    assert abs(table["offset_s"][0] - 4e-3) <= table["bound_s"][0]
    assert list(table["state"][1:]) == ["right"] * 3
    assert table["offset_s"].dtype == float and table["edges"].dtype == np.int64
    assert np.isnan(table["since_s"]).all()
    # Maps of training runs, by name.
    maps = ec.clock_maps(run)
    assert sorted(maps) == [f"rank {i}{of}" for i in range(4) for of in ("", f" device {i}")]
    stamp = int(maps["rank 2"].knots[0][0])
    assert abs((maps["rank 2"](stamp) - stamp) / maps.resolution_hz - table["offset_s"][0]) < 1e-4
    assert len(maps.bounds("rank 2")) > 0
    assert "8 clocks" in repr(maps) and "violations" in repr(ec.check(run))
    assert ec.check(run)["clocks"][0]["clock"] == "rank 2"
    assert table.verdict == ec.Verdict.VIOLATIONS and table.reference != "rank 2"
    assert "rank 2 slow by 0.00" in repr(table) and "knots" in repr(maps["rank 2"])
    # The files one after the other are the same run.
    assert ec.clocks(sorted(run.glob("rank*.json")))["clock"][0] == "rank 2"
    # Collectives have edges: the begin that an end waits for last.
    report = ec.check(run)
    edges = report.edges()
    assert (edges["instance"] >= 0).any() and (edges["margin"] < 0).any()
    assert set(report.locations) == set(maps)
    bad = edges[edges["margin"] < 0]
    assert all("rank 2" in report.locations[b["cause_clock"]] + report.locations[b["effect_clock"]]
               for b in bad)
    matrix = report.violations()
    assert matrix.shape == (4, 4) and matrix.sum() == len(bad)


def test_all_functions_take_all_formats(tmp_path):
    spans = TRACES.parent / "services" / "ascend.json"
    out = tmp_path / "right.json"
    report = ec.correct(spans, out, mark_offsets=True)
    assert out.is_file() and "entrain.offset_ns" in out.read_text()
    assert repr(report).startswith("<correction of ") and report["verdict"] in repr(report)
    moved = ec.compare(spans, out)
    assert moved["all"]["max_s"] > 1e-3 and "differ by up to" in repr(moved)
    assert len(ec.check(spans).edges()) > 0
    try:
        page = ec.report(spans, tmp_path / "page.html")
    except ValueError as error:  # built without pages
        assert "npm" in str(error) or "page" in str(error)
    else:
        assert page["before"]["verdict"] in repr(page)
        assert "<html" in (tmp_path / "page.html").read_text()
        with pytest.raises(OSError, match="force=True"):
            ec.report(spans, tmp_path / "page.html")


def test_three_steps_are_one_correction(tmp_path):
    ranks = sorted((TRACES.parent / "training").glob("rank*.json"))
    summaries = [tmp_path / f"{rank.stem}.edges" for rank in ranks]
    for rank, summary in zip(ranks, summaries):
        report = ec.summarise(rank, summary)
        assert report["output_bytes"] == summary.stat().st_size and "summary of" in repr(report)
    fitted = ec.fit(summaries, tmp_path / "clocks", table=tmp_path / "clocks.csv", bounds=True)
    right = ec.correct(ranks, tmp_path / "right")
    assert fitted["correction"]["verdict"] == right["verdict"] and right["verdict"] in repr(fitted)
    assert (tmp_path / "clocks.csv").read_text().startswith("clock,since,tick,offset,drift,bound")
    (tmp_path / "copies").mkdir()
    for rank in ranks:
        copy = tmp_path / "copies" / rank.name
        assert "copies of" in repr(ec.apply(tmp_path / "clocks", rank, copy))
        assert copy.read_bytes() == (tmp_path / "right" / rank.name).read_bytes()
    with pytest.raises(OSError, match="force=True"):
        ec.summarise(ranks[0], summaries[0])
    with pytest.raises(ValueError, match="fitted without"):
        ec.apply(tmp_path / "clocks", TRACES.parent / "services" / "ascend.json", tmp_path / "no")


def test_errors_name_arguments():
    from entrain_clocks._words import call

    def refuse(text):
        raise ValueError(text)

    for text, wanted in (
            ("replace it with --force", "replace it with force=True"),
            ("see --presync none", 'see presync="none"'),
            ("--mode overlay needs an archive", 'mode="overlay" needs an archive'),
            ("allow more with --max-unpacked, or", "allow more with max_unpacked, or"),
            ("--columns names it", "columns names it"),
            ("try --clock-domain auto", "try the tool's option clock-domain auto"),
            ("a--b", "a--b")):
        with pytest.raises(ValueError) as raised:
            call(refuse, text)
        assert str(raised.value) == wanted


def barriers(count=40):
    """Barriers of two clocks, that of b 50 ticks late: a row per member."""
    begin = np.repeat(np.arange(count) * 1000 + 1000, 2)
    late = np.tile([0, 50], count)
    return {"clock": ["a", "b"] * count, "begin": begin - late + np.tile([0, 7], count),
            "end": begin + 20 - late, "instance": np.repeat(np.arange(count), 2)}


def test_collectives_are_taken_row_by_row():
    aligned = ec.align(barriers() | {"sync": [True] * 80})
    assert aligned.clocks == ["a", "b"]
    assert aligned["b"](20_000) - aligned["a"](20_000) == 50
    assert aligned.report["verdict"] == "clean"


def test_stragglers_are_blamed_only_where_clocks_tell(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for i in range(4):  # as if these ranks were the whole run
        text = (TRACES.parent / "training" / f"rank{i}.json").read_text()
        (run / f"rank{i}.json").write_text(re.sub(r'"world_size": *8', '"world_size": 4', text))
    table = ec.stragglers(run)
    assert sorted(table["rank"]) == [f"rank {i}" for i in range(4)]
    assert table["last"].sum() == table.report["proven"] > 0
    assert table["wait_s"].dtype == float and table["ties"].dtype == np.int64
    assert (np.diff(table["wait_s"]) <= 0).all()
    assert table.verdict in ("stragglers", "none") and "collectives" in repr(table)
    raw = ec.stragglers(run, presync="none")
    assert raw.verdict == "unproven" and raw["last"].sum() == 0 and raw["likely"].sum() > 0
    with pytest.raises(ValueError, match="has no collectives"):
        (tmp_path / "spans.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [
            {"traceId": "1" * 32, "spanId": "2" * 16, "name": "a", "startTimeUnixNano": "1",
             "endTimeUnixNano": "2"}]}]}]}))
        ec.stragglers(tmp_path / "spans.json")


def test_clocks_of_tables_keep_the_types_of_their_names():
    table = barriers()
    table["clock"] = [7, 12] * 40
    assert list(ec.align(table).maps) == [7, 12]
    assert list(ec.align(table, {"clock": [12, 7], "process": ["x", "y"]}).maps) == [12, 7]


def test_sessions_beside_collectives():
    sessions = {"clock": ["b", "b", "a"], "time": [1000, 39_000, 1000], "offset": [50, 50, 0],
                "half_width": [1.0, 1.0, 0.0]}
    aligned = ec.align(barriers(), None, sessions)
    assert aligned["b"](20_000) - aligned["a"](20_000) == 50


@pytest.mark.parametrize("change, text", [
    ({"begin": [-1] * 80}, "the edges, line 2, column begin: .*negative"),
    ({"clock": ["a"] * 80}, "clock a has two begins in the instance"),
    ({"role": ["middle"] * 80}, "neither begin nor end"),
    ({"sync": ["perhaps"] * 80}, "column sync"),
    ({"end": [1.5] * 80}, "whole and other times are mixed"),
    ({"end": [1] * 79}, "the edges have different lengths"),
])
def test_bad_rows_of_collectives_are_refused(change, text):
    with pytest.raises(ValueError, match=text):
        ec.align(barriers() | change)


@pytest.mark.parametrize("arguments, text", [
    ((None,), "a table is a dict"),
    ((5,), "a table is a dict"),
    ((late_clock(), {"kind": ["wall"]}), "the clocks have no column clock"),
    ((late_clock(), {"clock": ["a", "b", "a"]}), "clock 'a' is described twice"),
    ((late_clock(), None, {"clock": ["a"], "time": [1]}), "the sessions have no column offset"),
    ((late_clock(), None, {"clock": ["a"], "offset": [1]}), "the sessions have no column time"),
    ((late_clock(), None, {"clock": ["z"], "time": [1], "offset": [0]}), "clock 'z' is not in"),
    ((late_clock(), None, {"clock": ["a"], "time": [1], "offset": [0], "half_width": [-1.0]}),
     "half_width.* is negative"),
    ((late_clock(), None, {"clock": ["a"], "time": [1], "offset": [2**62]}), "offset.* is too large"),
    ((late_clock() | {"cause_clock": np.array([["a", "b"]] * 50)},), "2 axes"),
    ((barriers() | {"clock": ["\udcff", "b"] * 40},), "no UTF-8"),
    ((late_clock() | {"cause_clock": np.array(["\udcff", "b"] * 50)},), "no UTF-8"),
    ((Path("/nowhere.csv"),), "/nowhere.csv"),
    ((late_clock(), "/nowhere.csv"), "/nowhere.csv"),
])
def test_tables_that_are_none_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        ec.align(*arguments)


def test_messages_are_printable_and_short():
    with pytest.raises(ValueError) as raised:
        ec.check("/nowhere/\x1b[31m\u202e" + 100_000 * "x")
    text = str(raised.value)
    assert "\\u001b[31m\\u202exxx" in text
    assert text.isprintable() and len(text) < 400


@pytest.mark.parametrize("option", [{"resolution_hz": -5}, {"resolution_hz": 1.5},
                                    {"resolution_hz": 2**70}, {"threads": -1}, {"presync": "x"}])
@pytest.mark.parametrize("table", [late_clock, barriers])
def test_bad_options_are_refused(table, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        ec.align(table(), **option)


def test_names_of_several_types_and_any_text():
    clocks = np.array([1, "b"] * 50, dtype=object)
    edges = late_clock() | {"cause_clock": clocks, "effect_clock": clocks[::-1]}
    assert ec.align(edges).clocks == [1, "b"]
    names = ['a,"\n', "b\u00e9"]
    assert ec.align(barriers() | {"clock": names * 40}).clocks == names


def test_missing_columns_of_a_mapped_table_are_told():
    with pytest.raises(ValueError, match="the rows have no column t"):
        ec.align(late_clock()).apply({"c": ["a"]}, clock="c", time="t")


@pytest.mark.parametrize("value", (10**400, 10**5000, "x" * 1000, ["a\nb"] * 100, np.zeros((9, 9))),
                         ids=("long", "longer", "text", "list", "array"))
def test_messages_about_any_value_are_one_short_line(value):
    edges = {"cause_clock": ["a"], "cause_time": [1], "effect_clock": ["b"], "effect_time": [2]}
    with pytest.raises(ValueError) as raised:
        ec.align(edges, resolution_hz=value)
    text = str(raised.value)
    assert len(text) < 200 and text.isprintable()


def test_clocks_of_another_resolution_are_refused():
    with pytest.raises(ValueError, match="one resolution"):
        ec.align(late_clock(), {"clock": ["a", "b"], "resolution_hz": [1000, 10]})
    aligned = ec.align(late_clock(), {"clock": ["a", "b"], "resolution_hz": [1000, 1000]})
    assert aligned.report["verdict"] == "clean"


def test_counters_that_wrap_are_refused():
    """b counts on to 65,535 and then from 0."""
    edges = late_clock()
    for end in ("cause", "effect"):
        is_b = edges[f"{end}_clock"] == "b"
        edges[f"{end}_time"] = np.where(is_b, (edges[f"{end}_time"] + 20_000) % 65_536,
                                        edges[f"{end}_time"] + 20_000)
    edges = {name: column[:90] for name, column in edges.items()}
    with pytest.raises(ValueError, match="clock b: its counter wraps"):
        ec.align(edges, {"clock": ["a", "b"], "wrap_bits": [None, 16]})


def test_kinds_of_edges_are_reported():
    kinds = np.array(["rma", "of my own"] * 50)
    edges = ec.align(late_clock() | {"kind": kinds}).report["before"]["edges"]
    assert edges["rma"]["count"] == 50 and edges["p2p"]["count"] == 50


def columns_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("trace", ["lulesh-8", "allops-4"])
def test_tables_of_an_archive_yield_its_maps(trace, tmp_path):
    """The same to the bit from the archive, from files, and from tables in memory."""
    wanted = ec.clock_maps(TRACES / trace, amortize=False)
    file = tmp_path / "edges.csv"
    subprocess.run([os.environ["ENTRAIN_BINARY"], "edges", TRACES / trace, "-q", "-o", file],
                   check=True, stdout=subprocess.DEVNULL)
    clocks = tmp_path / "edges.clocks.csv"
    of_files = ec.align(file)
    assert ec.align(str(file), clocks).maps == of_files.maps
    assert {int(name): one for name, one in of_files.maps.items()} == dict(wanted)
    assert ec.align(columns_of(file), columns_of(clocks)).maps == of_files.maps


def test_clocks_stand_in_the_order_of_their_numbers():
    edges = late_clock()
    for column in ("cause_clock", "effect_clock"):
        edges[column] = np.where(edges[column] == "a", "9", "10")
    assert ec.align(edges).clocks == ["9", "10"]


def test_check_reports_as_the_tool_does():
    report = ec.check(LULESH)
    tool = subprocess.run([os.environ["ENTRAIN_BINARY"], "check", "--json", LULESH],
                          capture_output=True, text=True, check=False)
    assert dict(report) == json.loads(tool.stdout) | {"archive": report["archive"]}
    edges = report.edges()
    messages = edges[edges["instance"] < 0]
    assert messages.shape == (10_856,)
    matrix = report.violations()
    assert matrix.shape == (8, 8)
    assert matrix.sum() == (edges["margin"] < 0).sum()
    assert (messages["margin"] < 0).sum() == report["edges"]["p2p"]["violations"]
    assert np.trace(matrix) == 0
    ends = edges[edges["kind"] == ec.KINDS.index("n_to_n")]
    assert ends["margin"].min() == round(report["edges"]["n_to_n"]["worst_s"] * report["resolution_hz"])


def test_maps_are_those_of_the_library_and_of_align():
    maps = ec.clock_maps(LULESH, amortize=False)
    assert list(maps) == list(range(8))
    report = ec.check(LULESH)
    edges = report.edges()
    stamps = np.unique(edges["cause_time"][edges["cause_clock"] == 3])
    times = maps[3](stamps)
    assert times.dtype == np.int64 and times.shape == stamps.shape
    assert maps[3](int(stamps[0])) == times[0]
    assert (np.diff(times) >= 0).all()
    ticks, offsets = maps[3].knots
    assert maps[3](int(ticks[0])) == ticks[0] + offsets[0]


def test_bounds_of_an_archive():
    bounds = ec.clock_maps(TRACES / "amg-8").bounds(2)
    good = bounds[bounds["bounded"]]
    assert len(good) > 0
    assert (good["earliest"] <= good["latest"]).all()


def test_correct_writes_an_archive(tmp_path):
    report = ec.correct(LULESH, tmp_path / "out")
    assert report["verdict"] == "clean"
    assert (tmp_path / "out" / "traces.otf2").exists()
    with pytest.raises(TypeError):
        ec.correct(LULESH, None)
    with pytest.raises(OSError, match="force=True"):
        ec.correct(LULESH, tmp_path / "out")
    with pytest.raises(ValueError):
        ec.correct(tmp_path / "nothing", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_force_replaces_unchanged_results_only(tmp_path):
    out = tmp_path / "out"
    ec.correct(LULESH, out)
    ec.correct(LULESH, out, force=True)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(OSError, match="notes.txt was added or changed"):
        ec.correct(LULESH, out, force=True)
    assert (out / "notes.txt").read_text() == "mine"
    with pytest.raises(ValueError, match="contains the input"):
        ec.correct(out, tmp_path, force=True)


def test_words_are_texts_and_enums():
    assert ec.Verdict.CLEAN == "clean" and f"{ec.Presync.AUTO}" == str(ec.Presync.AUTO) == "auto"
    for presync in ec.Presync:
        assert ec.check(LULESH, presync=presync) == ec.check(LULESH, presync=presync.value)
    assert ec.check(LULESH, presync="none")["presync"] == ec.Presync.NONE
    assert ec.check(f"{LULESH}.truth")["verdict"] == ec.Verdict.CLEAN
    with pytest.raises(ValueError, match="presync is none of auto, none, linear, .*causal"):
        ec.check(LULESH, presync="Linear")


def test_modes_are_words(tmp_path):
    for mode in ec.WriteMode:
        assert ec.correct(LULESH, tmp_path / mode, mode=mode)["mode"] == mode
    with pytest.raises(ValueError, match="mode is none of rewrite, overlay"):
        ec.correct(LULESH, tmp_path / "other", mode="x")


def test_compare_reports_as_the_tool_does():
    truth = f"{LULESH}.truth"
    report = ec.compare(LULESH, truth, truth)
    tool = subprocess.run([os.environ["ENTRAIN_BINARY"], "compare", "--json", LULESH, truth,
                           "--truth", truth], capture_output=True, text=True, check=True)
    assert report == json.loads(tool.stdout)
    assert ec.compare(truth, truth)["b_error"] is None
    assert ec.compare(LULESH, LULESH, raw_a=True)["all"]["max_s"] > 0
    with pytest.raises(ValueError):
        ec.compare(LULESH, TRACES / "amg-8")


def test_export_writes_a_file(tmp_path):
    for kind in ec.ExportFormat:
        out = tmp_path / kind
        report = ec.export(LULESH, out, format=kind)
        assert report["format"] == kind and report["bytes"] == out.stat().st_size
    part = ec.export(LULESH, tmp_path / "part", around=1, window_s=0.001, both=True)
    assert 0 < part["flows"] < report["counts"]["edges"]["p2p"]["count"]
    with pytest.raises(OSError):
        ec.export(LULESH, tmp_path / "part")
    ec.export(LULESH, tmp_path / "part", to_s=0.1, force=True)
    with pytest.raises(ValueError, match="format is none of perfetto, chrome, csv"):
        ec.export(LULESH, tmp_path / "other", format="x")


def test_merge_writes_all_ranks(tmp_path):
    out = tmp_path / "run.pftrace"
    report = ec.merge(TRACES.parent / "training", out)
    assert report["ranks"] == 4 and report["bytes"] == out.stat().st_size
    with pytest.raises(OSError):
        ec.merge(TRACES.parent / "training", out)
    with pytest.raises(ValueError):
        ec.merge(LULESH, tmp_path / "other")


def test_align_finds_a_late_clock():
    aligned = ec.align(late_clock(), bounds=True)
    assert aligned.report["before"]["violations"] == 50
    assert aligned.report["verdict"] == "clean"
    assert 39 <= aligned["b"](50_000) - aligned["a"](50_000) <= 61
    assert (aligned.bounds("b")["bound"] < 1000).any()
    table = {"who": np.array(["b", "a"]), "t": np.array([5000, 5000])}
    mapped = aligned.apply(table, clock="who", time="t")
    assert mapped[0] == aligned["b"](5000) and mapped[1] == aligned["a"](5000)


def test_align_takes_sessions_domains_and_delays():
    edges = late_clock()
    sessions = {"clock": ["a", "b", "a", "b"], "time": [1000, 950, 100_000, 99_950],
                "offset": [0, 50, 0, 50], "half_width": [0.0, 1.0, 0.0, 1.0]}
    aligned = ec.align(edges, {"clock": ["a", "b"], "kind": ["timer", "timer"]}, sessions)
    assert aligned["b"](50_000) - aligned["a"](50_000) == 50
    edges["min_delay"] = np.full(100, 11)
    assert ec.align(edges, None, sessions).report["before"]["below_latency"] == 100


def test_python_and_tool_agree(tmp_path):
    edges = late_clock()
    columns = list(edges)
    with open(tmp_path / "e.csv", "w", encoding="utf-8") as file:
        print(*columns, sep=",", file=file)
        for row in zip(*edges.values()):
            print(*row, sep=",", file=file)
    subprocess.run([os.environ["ENTRAIN_BINARY"], "align", tmp_path / "e.csv", "-q", "-o",
                    tmp_path / "out"], check=True, stdout=subprocess.DEVNULL)
    lines = (tmp_path / "out" / "maps.csv").read_text().split()[1:]
    aligned = ec.align(edges)
    for line in lines:
        clock, tick, offset = line.split(",")
        assert aligned[clock](int(tick)) == int(tick) + int(offset)


@pytest.mark.parametrize("change, text", [
    ({"cause_time": np.full(100, -1)}, "negative"),
    ({"cause_time": np.full(100, 1.5)}, "whole ticks"),
    ({"cause_time": np.arange(99)}, "elements"),
    ({"cause_time": np.zeros((100, 1), dtype=np.int64)}, "axes"),
    ({"effect_time": np.full(100, 2**63, dtype=np.uint64)}, "2\\^63"),
    ({"min_delay": np.full(100, -1)}, "min_delay"),
    ({"effect_clock": None}, "no column effect_clock"),
])
def test_bad_arrays_are_refused(change, text):
    edges = late_clock() | change
    edges = {name: column for name, column in edges.items() if column is not None}
    with pytest.raises(ValueError, match=text):
        ec.align(edges)


def test_any_integers_and_strides_will_do():
    edges = late_clock()
    plain = ec.align(edges)
    wide = {name: np.repeat(column, 2)[::2] for name, column in edges.items()}
    wide["cause_time"] = wide["cause_time"].astype(np.int32)
    assert ec.align(wide)["b"] == plain["b"]
    with pytest.raises(ValueError, match="clock 'b' is not in the table"):
        ec.align(edges, {"clock": ["a"]})


def test_an_error_in_progress_ends_the_work(tmp_path):
    archive = tmp_path / "big"
    subprocess.run([os.environ["ENTRAIN_BINARY"], "synth", "-q", "-o", archive, "--locations", "8",
                    "--events", "2000000"], check=True, stdout=subprocess.DEVNULL)

    def refuse(phase, done, total):
        raise RuntimeError(f"stopped in {phase}")

    with pytest.raises(RuntimeError, match="stopped in"):
        ec.correct(archive, tmp_path / "out", progress=refuse)
    assert not (tmp_path / "out").exists()

    def interrupt(*_):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ec.correct(archive, tmp_path / "out", progress=interrupt)
    assert not (tmp_path / "out").exists()


def run_example(name, *arguments):
    script = Path(os.environ["ENTRAIN_EXAMPLES_DIR"]) / "align" / name
    return subprocess.run([sys.executable, script, *arguments], check=True, capture_output=True,
                          text=True).stdout


def test_example_with_matplotlib(tmp_path):
    pytest.importorskip("matplotlib")
    run_example("plot_offsets.py", LULESH, tmp_path / "offsets.png")
    assert (tmp_path / "offsets.png").stat().st_size > 10_000


def test_example_with_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(late_clock()).to_csv(tmp_path / "e.csv", index=False)
    lines = run_example("align_frame.py", tmp_path / "e.csv").splitlines()
    assert lines[0].endswith("delay") and len(lines) == 101
    assert all(int(line.rsplit(",", 1)[1]) >= 0 for line in lines[1:])


def test_example_with_otf2():
    pytest.importorskip("otf2")
    lines = run_example("otf2_frame.py", LULESH / "traces.otf2").splitlines()
    times = [int(line.split(",")[0]) for line in lines[1:]]
    assert times == sorted(times) and times[0] == 0


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
