#!/usr/bin/env python3
"""Writes traces of Paraver with known clocks, as Extrae does.

usage: traces.py FOLDER [--nodes N] [--tasks N] [--steps N] [--seed N] [--us] [--gzip] [--no-nodes]

Writes FOLDER/true/run.prv, stamped by one clock, and FOLDER/wrong/run.prv, stamped by the clocks of the nodes:
the first one is right, the others have an offset of up to 2 ms. Each begins at 0, and has its .pcf and .row.
"""

import argparse
import gzip
import random
from pathlib import Path

NAMES = {1: "MPI_Send", 2: "MPI_Recv", 3: "MPI_Isend", 4: "MPI_Irecv", 6: "MPI_Waitall", 7: "MPI_Bcast",
         8: "MPI_Barrier", 9: "MPI_Reduce", 10: "MPI_Allreduce", 11: "MPI_Alltoall", 12: "MPI_Alltoallv",
         13: "MPI_Gather", 15: "MPI_Scatter", 30: "MPI_Scan", 31: "MPI_Init", 32: "MPI_Finalize"}
STATES = {0: "Idle", 1: "Running", 3: "Waiting a message", 5: "Synchronization", 9: "Group Communication"}
ROOTED = {7, 9, 13, 15}
FROM_ROOT, TO_ROOT = {7, 15}, {9, 13}


class Run:
    """A run in true time, ns: each record is a template and its (task, time) pairs."""

    def __init__(self, tasks, nodes, rng):
        self.tasks, self.nodes, self.rng = tasks, nodes, rng
        self.now = [rng.randrange(1000, 90000) for _ in range(tasks)]
        self.records = []
        self.begun = [0] * tasks

    def node(self, task):
        return task * self.nodes // self.tasks

    def place(self, task):
        return f"{task + 1}:1:{task + 1}:1"

    def state(self, task, until, value):
        self.records.append(("1:" + self.place(task) + ":{}:{}:" + str(value),
                             [(task, self.begun[task]), (task, until)]))
        self.begun[task] = until

    def events(self, task, time, *pairs):
        text = "".join(f":{kind}:{value}" for kind, value in pairs)
        self.records.append(("2:" + self.place(task) + ":{}" + text, [(task, time)]))

    def call(self, task, kind, value, end, state, *more):
        begin = self.now[task]
        self.state(task, begin, 1)
        self.events(task, begin, (kind, value), *more)
        self.state(task, end, state)
        self.events(task, end, (kind, 0))
        self.now[task] = end
        return begin

    def work(self, task):
        self.now[task] += self.rng.randrange(2000, 60000)

    def message(self, sender, receiver, tag):
        sent = self.now[sender]
        send_end = sent + self.rng.randrange(700, 2000)
        posted = self.now[receiver]
        arrived = max(posted + 500, sent + self.rng.randrange(1500, 4000))
        self.call(sender, 50000001, 1, send_end, 9)
        self.call(receiver, 50000001, 2, arrived, 3)
        self.records.append(("3:" + self.place(sender) + ":{}:{}:" + self.place(receiver) + ":{}:{}:" + f"4096:{tag}",
                             [(sender, sent), (sender, send_end), (receiver, posted), (receiver, arrived)]))

    def collective(self, value, group, identity):
        root = group[0]
        begins = [self.now[task] for task in group]
        for rank, task in enumerate(group):
            waits_for = list(begins)
            if value in FROM_ROOT:
                waits_for = [begins[0]]
            elif value in TO_ROOT and task != root:
                waits_for = []
            elif value == 30:
                waits_for = begins[:rank + 1]
            end = max([begins[rank] + 500] + [t + self.rng.randrange(1500, 3000) for t in waits_for])
            more = [(50100001, 0 if value == 8 else 8), (50100002, 0 if value == 8 else 8)]
            if value in ROOTED and task == root:
                more.append((50100003, 1))
            self.call(task, 50000002, value, end, 5 if value == 8 else 9, *more, (50100004, identity))

    def finish(self):
        end = max(self.now)
        for task in range(self.tasks):
            self.state(task, end, 0)
        self.end = end


def make(tasks, nodes, steps, seed):
    rng = random.Random(seed)
    run = Run(tasks, nodes, rng)
    for task in range(tasks):
        run.call(task, 50000003, 31, run.now[task] + 1000, 1)
    halves = [list(range(tasks)), list(range(0, tasks, 2)), list(range(1, tasks, 2))]
    for step in range(steps):
        for task in range(tasks):
            run.work(task)
        shift = 1 + step % (tasks - 1)
        for task in range(tasks):
            run.message(task, (task + shift) % tasks, step)
        if step % 3 == 0:
            identity = 1 + step // 3 % 3
            run.collective(rng.choice([7, 8, 9, 10, 11, 12, 13, 15, 30]), halves[identity - 1], identity)
    for task in range(tasks):
        run.call(task, 50000003, 32, run.now[task] + 1000, 1)
    run.finish()
    return run, halves


def text_of(run, groups, clocks, unit, with_nodes):
    """The records, stamped by functions of true time per node, sorted as Extrae does."""
    stamps = [[clocks[run.node(task)](time) // unit for task, time in times] for _, times in run.records]
    first = min(min(times) for times in stamps)
    stamps = [[time - first for time in times] for times in stamps]
    order = sorted(range(len(stamps)), key=lambda r: (stamps[r][0], run.records[r][1][0][1], r))
    end = max(max(times) for times in stamps)
    cpus = [sum(run.node(task) == node for task in range(run.tasks)) for node in range(run.nodes)]
    nodes = f"{run.nodes}({','.join(map(str, cpus))})" if with_nodes else "0"
    tasks = ",".join(f"1:{run.node(task) + 1 if with_nodes else 0}" for task in range(run.tasks))
    header = f"#Paraver (10/10/2025 at 12:30):{end}{'_ns' if unit == 1 else ''}:{nodes}:1:{run.tasks}({tasks})"
    lines = [f"{header},{len(groups)}"]
    for number, group in enumerate(groups, 1):
        lines.append(f"c:1:{number}:{len(group)}:{':'.join(str(task + 1) for task in group)}")
    lines += [run.records[r][0].format(*stamps[r]) for r in order]
    return "\n".join(lines) + "\n"


def labels():
    lines = ["DEFAULT_OPTIONS", "", "LEVEL               THREAD", "", "STATES"]
    lines += [f"{value}    {name}" for value, name in STATES.items()]
    for number, kind in enumerate(("Point-to-point", "Collective Comm", "Other"), 50000001):
        lines += ["", "", "EVENT_TYPE", f"9    {number}    MPI {kind}", "VALUES", "0   Outside MPI"]
        lines += [f"{value}   {name}" for value, name in NAMES.items()]
    return "\n".join(lines) + "\n"


def rows(run):
    names = [f"LEVEL CPU SIZE {run.tasks}"] + [f"{task + 1}.host" for task in range(run.tasks)]
    names += ["", f"LEVEL NODE SIZE {run.nodes}"] + [f"host{node + 1}" for node in range(run.nodes)]
    names += ["", f"LEVEL THREAD SIZE {run.tasks}"] + [f"THREAD 1.{task + 1}.1" for task in range(run.tasks)]
    return "\n".join(names) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--us", action="store_true")
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--no-nodes", action="store_true")
    options = parser.parse_args()
    run, groups = make(options.tasks, options.nodes, options.steps, options.seed)
    rng = random.Random(options.seed + 1)
    offsets = [0] + [rng.randrange(-2_000_000, 2_000_000) for _ in range(options.nodes - 1)]
    for name, of_node in (("true", [0] * options.nodes), ("wrong", offsets)):
        clocks = [lambda time, offset=offset: time + offset for offset in of_node]
        text = text_of(run, groups, clocks, 1000 if options.us else 1, not options.no_nodes).encode()
        folder = options.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        if options.gzip:
            (folder / "run.prv.gz").write_bytes(gzip.compress(text))
        else:
            (folder / "run.prv").write_bytes(text)
        (folder / "run.pcf").write_text(labels())
        (folder / "run.row").write_text(rows(run))


if __name__ == "__main__":
    main()
