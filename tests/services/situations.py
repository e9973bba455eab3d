#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spans of services in situations whose truth is known: kinds x sizes x seeds.

    situations.py ENTRAIN [--seeds N] [--kinds a,b] [--jobs N] [--keep DIR]

Runs `check` and `correct` on each input, and prints one row per kind: inputs, wrong verdicts
"clean" (a clock is wrong, or nothing is known of it), right clocks that were moved by more than
their resolution, inputs whose clocks came right, and inputs called unproven. Exit code 1 if any
verdict is wrong or any right clock moved.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from kinds import SITUATIONS, Run


def outcome(entrain, folder, kind, size, seed):
    run = Run(random.Random(f"{kind} {size} {seed}"))
    run.after, run.words, run.most_wrong = None, (), 0
    SITUATIONS[kind](run, size)
    shown = run.shown
    run.shown = lambda one: one.get("shown") or ((one["b"], one["e"]) if one.get("wild") else shown(one))
    name = f"{kind}-{size}-{seed}.json"
    path, out = os.path.join(folder, name), os.path.join(folder, "out-" + name.removesuffix(".json"))
    run.write(path)
    check = subprocess.run([entrain, "check", "--json", path], capture_output=True, text=True)
    right = subprocess.run([entrain, "correct", "--json", path, "-o", out], capture_output=True, text=True)
    result = {"kind": kind, "name": name, "wrong_clean": False, "moved": False, "right": True,
              "unproven": False, "crash": check.returncode not in (0, 1, 3) or
              right.returncode not in (0, 1, 3)}
    if result["crash"]:
        result["right"], result["why"] = False, (check.stderr + right.stderr)[-300:]
        return result
    said, done = json.loads(check.stdout), json.loads(right.stdout)
    after = done["verdict"]
    written = run.read(os.path.join(out, name))
    moves = collections.defaultdict(list)
    for one in run.spans:
        if not one.get("wild"):
            moves[one["host"]].append((written[one["id"]] - one["b"], written[one["id"]] - run.shown(one)[0]))
    us = 0 if run.form == "otlp" else 1000
    common = sorted(error for host, own in moves.items() if host not in run.judged and
                    host not in run.unjudged for error, _ in own)
    common = common[len(common) // 2] if common else 0
    moved, wrong = [], []
    for host, own in moves.items():
        if host in run.unjudged:
            continue
        if host in run.judged:
            bad = sum(abs(error - common) > run.within + run.resolution[host] for error, _ in own)
            if bad > run.most_wrong:
                wrong.append(host)
        elif max(abs(by) for _, by in own) > run.resolution[host] + us:
            moved.append(host)
    result["unproven"] = "unproven" in (said["verdict"], after)
    if "clean" not in run.verdicts and said["verdict"] == "clean":
        result["wrong_clean"] = True
    if after == "clean" and (wrong or (run.after and "clean" not in run.after)):
        result["wrong_clean"] = True
    result["moved"] = bool(moved)
    words = all(word in check.stdout + right.stdout for word in run.words)
    result["right"] = (not wrong and not moved and words and said["verdict"] in run.verdicts and
                       after in (run.after or ("clean",)))
    if not result["right"]:
        result["why"] = f"check {said['verdict']}, after {after}, moved {moved}, wrong {wrong}" + (
            "" if words else ", not named")
    shutil.rmtree(out, ignore_errors=True)
    return result


def measure(entrain, kinds, sizes, seeds, jobs, keep=None, outcome=outcome):
    """Counts per kind. `keep`: folder that keeps the inputs. `outcome`: of one input."""
    folder = keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    todo = [(kind, size, seed) for kind in kinds for size in sizes for seed in range(seeds)]
    rows = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for one in pool.map(lambda job: outcome(entrain, folder, *job), todo):
            for row in (rows[one["kind"].replace("_", " ")], rows["all"]):
                row["inputs"] += 1
                for key in ("wrong_clean", "moved", "right", "unproven", "crash"):
                    row[key] += one[key]
            if not one["right"]:
                print(one["name"], one["why"], file=sys.stderr)
            path = os.path.join(folder, one["name"])
            if not keep and os.path.isdir(path):
                shutil.rmtree(path)
            elif not keep:
                os.remove(path)
    if not keep:
        shutil.rmtree(folder)
    rows["all"] = rows.pop("all")
    return rows


def table(rows, title="situation"):
    lines = [f"| {title} | inputs | wrongly clean | right clocks moved | put right | unproven |",
             "|---|---:|---:|---:|---:|---:|"]
    for kind, row in rows.items():
        lines.append(f"| {kind} | {row['inputs']:,} | {row['wrong_clean']} | {row['moved']} | "
                     f"{100 * row['right'] / row['inputs']:.4g} % | {row['unproven']} |")
    return lines


def main(kinds=SITUATIONS, outcome=outcome, sizes="40,150,400"):
    arguments = argparse.ArgumentParser()
    arguments.add_argument("entrain")
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--sizes", default=sizes)
    arguments.add_argument("--kinds", default=",".join(kinds))
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--keep")
    given = arguments.parse_args()
    rows = measure(given.entrain, given.kinds.split(","), [int(size) for size in given.sizes.split(",")],
                   given.seeds, given.jobs, given.keep, outcome)
    print("\n".join(table(rows)))
    sys.exit(1 if any(rows["all"][key] for key in ("wrong_clean", "moved", "crash")) else 0)


if __name__ == "__main__":
    main()
