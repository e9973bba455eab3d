#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profiler files of training runs in situations whose truth is known: kinds x sizes x seeds.

    training_situations.py ENTRAIN [--seeds N] [--sizes a,b] [--kinds a,b] [--jobs N] [--keep DIR]

Sizes are numbers of steps. Runs `correct` on each run, and prints rows as services/situations.py does. Exit
code 1 if any verdict is wrong or any right clock moved.
"""
import bisect
import collections
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "services"))
import situations  # noqa: E402

SECOND, MS, US = 10**9, 10**6, 1000
BEGIN = 1_763_000_000 * SECOND


class Training:
    """Ranks that reduce gradients together, one per host. Times are ns of the true time since 1970."""

    def __init__(self, draw, steps, numbered):
        self.draw, self.numbered = draw, numbered
        self.count = draw.randint(3, 8)
        self.hosts = {}  # rank: reading of its clock at a true time; default: the true time
        self.devices = {}  # rank: reading of its device by the time of its host; default: that time
        self.judged = {}  # clocks "rank", "rank device" that are wrong: from, to of what may stay wrong
        self.unit = 1
        self.within = 50 * US  # error of a wrong clock that collectives cannot show
        self.verdicts = ("clean",)
        self.events = collections.defaultdict(list)  # rank: (clock, begin, end, event)
        self.marks, self.waits = draw.random() < 0.7, draw.random() < 0.7
        self.runs_ahead = draw.random() < 0.4  # the host launches while the device still works
        self.has_pairs = self.count % 2 == 0 and draw.random() < 0.5  # groups of two ranks, too
        self.lost = draw.choice((0, 0, 0.003))  # share of calls that a profiler loses
        buckets = [(draw.choice(("allreduce", "allreduce", "reduce_scatter", "allgather")),
                    draw.choice((1024, 25_000_000, 4_000_000, 65536))) for _ in range(draw.randint(2, 6))]
        self.work = draw.choice((MS, 5 * MS, 20 * MS))
        self.gap = 4 * self.work
        self.first = BEGIN + draw.randrange(SECOND)
        self.host = [self.first] * self.count  # what each host does until then
        self.device = [self.first] * self.count
        self.numbers = collections.Counter()
        everybody = tuple(range(self.count))
        for step in range(steps):
            start, places = list(self.host), [len(self.events[rank]) for rank in everybody]
            for name, size in buckets:
                if self.has_pairs:
                    for rank in range(0, self.count, 2):
                        self.collective((rank, rank + 1), "allreduce", 4096)
                self.collective(everybody, name, size)
            for rank in everybody:
                if self.marks:
                    self.events[rank].insert(places[rank], ("host", start[rank], self.host[rank], {
                        "ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 3}",
                        "pid": 1000 + rank, "tid": 1}))
                self.host[rank] += draw.randrange(20 * US, 200 * US)
        self.last = max(self.host)

    def collective(self, ranks, name, size):
        draw = self.draw
        self.numbers[ranks] += 1
        launched, begins = {}, {}
        for rank in ranks:
            work = int(self.work * draw.lognormvariate(0, 0.3))
            if self.runs_ahead:  # by some work of the device at most
                self.host[rank] = max(self.host[rank] + draw.randrange(20 * US, 60 * US),
                                      self.device[rank] - 3 * self.work)
                self.device[rank] += work
            else:
                self.host[rank] += work
            launched[rank] = self.host[rank]
            self.host[rank] += draw.randrange(5 * US, 12 * US)
            begins[rank] = max(self.device[rank], launched[rank] + draw.randrange(4 * US, 30 * US))
        end = max(begins.values()) + 20 * US + size // 100
        for rank in ranks:
            done = end + int(draw.expovariate(1 / (2 * US)))
            self.device[rank] = done + draw.randrange(2 * US, 5 * US)
            self.call(ranks, rank, name, size, launched[rank], self.host[rank], begins[rank], done)

    def call(self, ranks, rank, name, size, launch, launched, begin, end):
        number = len(self.events[rank]) + 1
        args = {"device": rank % 8, "stream": 20, "correlation": number, "Collective name": name,
                "In msg nelems": size, "Out msg nelems": size, "dtype": "Float", "Group size": len(ranks),
                "Process Group Name": str(ranks[0] + (len(ranks) < self.count)),
                "Process Group Description": "default_pg" if len(ranks) == self.count else "pair",
                "Process Group Ranks": str(list(ranks))}
        if self.numbered:
            args |= {"Seq": self.numbers[ranks], "Comms Id": str(17 + hash(ranks) % 1000)}
        if self.draw.random() >= self.lost:
            self.events[rank] += [
                ("host", launch, launched, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC",
                                            "pid": 1000 + rank, "tid": 1, "args": {"correlation": number}}),
                ("device", begin, end, {"ph": "X", "cat": "kernel", "name": f"ncclDevKernel_{name}_f32_RING_LL",
                                        "pid": rank % 8, "tid": 20, "args": args})]
        if self.runs_ahead:
            return
        waits, self.host[rank] = launched, max(launched, end + self.draw.randrange(5 * US, 40 * US))
        if self.waits:
            self.events[rank].append(("host", waits, self.host[rank], {
                "ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize",
                "pid": 1000 + rank, "tid": 1, "args": {"stream": 20, "correlation": 10**6 + number}}))

    def reading(self, rank, clock, t):
        t = self.hosts.get(rank, lambda t: t)(t)
        return self.devices.get(rank, lambda t: t)(t) if clock == "device" else t

    def wrong(self, shown, free=(0, 0), devices=False):
        """Makes one more clock a wrong one. `free`: true times at which it may stay wrong."""
        rank = self.draw.choice([rank for rank in range(self.count) if str(rank) not in self.judged and
                                 f"{rank} device" not in self.judged])
        (self.devices if devices else self.hosts)[rank] = shown
        self.judged[f"{rank} device"] = free
        if not devices:
            self.judged[str(rank)] = free

    def inner(self, low=0.2, high=0.8):
        return self.first + int((self.last - self.first) * self.draw.uniform(low, high))

    def text(self, t):
        t = t // self.unit * self.unit
        return f"{t // US}.{t % US:03}"

    def write(self, folder):
        folder.mkdir(parents=True)
        for rank, events in self.events.items():
            lines = []
            for clock, begin, end, event in events:
                begin, end = self.reading(rank, clock, begin), self.reading(rank, clock, end)
                length = end // self.unit * self.unit - begin // self.unit * self.unit
                lines.append(f'{json.dumps(event)[:-1]}, "ts": {self.text(begin)}, "dur": '
                             f'{"-" * (length < 0)}{self.text(abs(length))}}}')
            info = {"backend": "nccl", "rank": rank, "world_size": self.count}
            (folder / f"rank{rank}.json").write_text(
                '{"schemaVersion": 1, "distributedInfo": ' + json.dumps(info) + ', "traceEvents": [\n' +
                ",\n".join(lines) + "\n]}\n")


def size_of_step(draw, most=10):
    return draw.choice((-1, 1)) * int(10 ** draw.uniform(6.3, most))  # 2 ms to 10 s; edges leave 1 ms open


def right_clocks(run):
    del run


def an_offset(run):
    by = size_of_step(run.draw)
    run.wrong(lambda t: t + by)


def all_offsets(run):
    for _ in range(run.count):
        an_offset(run)


def all_drifts(run):
    for _ in range(run.count):
        a_drift(run)


def a_drift(run):
    rate, by = run.draw.choice((-1, 1)) * run.draw.uniform(20, 200), size_of_step(run.draw)
    run.wrong(lambda t: t + by + int((t - run.first) * rate / 1e6))


def a_device_drifts(run):
    rate = run.draw.choice((-1, 1)) * run.draw.uniform(20, 200)
    by = int(10 ** run.draw.uniform(5.7, 8))  # kernels begin before their launch: the host is not wrong
    run.wrong(lambda t: t - by + int((t - run.first) * rate / 1e6), devices=True)
    if run.runs_ahead:  # unless they wait for longer: then nothing tells which of the two is wrong
        run.judged[str(next(iter(run.devices)))] = (0, run.last + SECOND)


def a_step(run, at, by):
    run.wrong(lambda t: t + by * (t >= at),
              (at - run.gap - max(-by, 0), at + run.gap + max(-by, 0)))


def set_forward(run):
    a_step(run, run.inner(), abs(size_of_step(run.draw)))


def set_back(run):
    a_step(run, run.inner(), -abs(size_of_step(run.draw, most=8)))
    run.verdicts = ("clean", "unproven")


def set_near_the_end(run):
    a_step(run, run.inner(0.88, 0.97), size_of_step(run.draw, most=8))
    run.verdicts = ("clean", "unproven")


def set_near_the_begin(run):
    a_step(run, run.inner(0.03, 0.12), size_of_step(run.draw, most=8))
    run.verdicts = ("clean", "unproven")


def two_are_set(run):
    for _ in range(2):
        set_forward(run)


def all_drift_and_one_is_set(run):
    by = size_of_step(run.draw, most=8)
    at = run.inner()
    for rank in range(run.count):
        rate, off = run.draw.uniform(-50, 50), size_of_step(run.draw)
        step = by if rank == 0 else 0
        free = (at - run.gap - max(-by, 0), at + run.gap + max(-by, 0)) if rank == 0 else (0, 0)
        run.wrong(lambda t, rate=rate, off=off, step=step:
                  t + off + int((t - run.first) * rate / 1e6) + step * (t >= at), free)
    run.verdicts = ("clean", "unproven")


def whole_us(run):
    an_offset(run)
    run.unit = US


def a_kernel_ends_late(run):
    rank, by = run.draw.randrange(run.count), run.draw.randrange(MS, 50 * MS)
    kernels = [k for k, event in enumerate(run.events[rank]) if event[0] == "device"]
    clock, begin, end, event = run.events[rank][(place := run.draw.choice(kernels))]
    run.events[rank][place] = (clock, begin, end + by, event)
    run.verdicts = ("clean", "unproven")


SITUATIONS = (right_clocks, an_offset, all_offsets, a_drift, all_drifts, a_device_drifts, set_forward, set_back,
         set_near_the_end, set_near_the_begin, two_are_set, all_drift_and_one_is_set, whole_us,
         a_kernel_ends_late)
KINDS = {f.__name__ + suffix: (f, not suffix) for f in SITUATIONS for suffix in ("", "_unnumbered")}


def outcome(entrain, folder, kind, size, seed):
    situation, numbered = KINDS[kind]
    run = Training(random.Random(f"{kind} {size} {seed}"), size, numbered)
    situation(run)
    name = f"{kind}-{size}-{seed}"
    path, out = Path(folder) / name, Path(folder) / ("out-" + name)
    run.write(path)
    done = subprocess.run([entrain, "correct", "--json", str(path), "-o", str(out)], capture_output=True, text=True)
    result = {"kind": kind, "name": name, "wrong_clean": False, "moved": False, "right": True,
              "unproven": False, "crash": done.returncode not in (0, 1, 3)}
    if result["crash"]:
        result["right"], result["why"] = False, done.stderr[-300:]
        return result
    verdict = json.loads(done.stdout)["verdict"]
    rows = collections.defaultdict(list)  # clock: true time, error, move; events of all ranks correspond
    for rank, events in run.events.items():
        written = json.loads((out / f"rank{rank}.json").read_text(), parse_float=str)["traceEvents"]
        for (clock, begin, _, _), event in zip(events, written):
            whole, _, part = str(event["ts"]).partition(".")
            time = int(whole) * US + int((part + "000")[:3])
            stamp = run.reading(rank, clock, begin) // run.unit * run.unit
            rows[f"{rank} device" if clock == "device" else str(rank)].append((begin, time - begin, time - stamp))
    shutil.rmtree(out)
    rights = [clock for clock in rows if clock not in run.judged]
    wrong, moved = {}, {}
    for kind_of in ("", " device"):  # any common time will do if no clock is right
        clocks = [clock for clock in rows if clock.endswith("device") == bool(kind_of)]
        own = sorted((t, error, clock) for clock in clocks if clock in rights or not rights
                     for t, error, _ in rows[clock])
        size = 4 * run.count
        common = [sorted(error for _, error, _ in own[max(0, k - size):k + size])
                  for k in range(0, len(own), size)]
        for clock in clocks:
            low, high = run.judged.get(clock, (0, 0))
            for t, error, by in rows[clock]:
                if clock in run.judged and not low <= t <= high:
                    near = common[min(bisect.bisect(own, (t,)) // size, len(common) - 1)] if own else [0]
                    off = abs(error - near[len(near) // 2])
                    if off > run.within + run.unit:
                        wrong[clock] = max(wrong.get(clock, 0), off / MS)
                if clock not in run.judged and abs(by) > max(3 * US, run.unit):  # as ends are apart
                    moved[clock] = max(moved.get(clock, 0), abs(by) / MS)
    result["unproven"] = verdict == "unproven"
    result["wrong_clean"] = verdict == "clean" and bool(wrong)
    result["moved"] = bool(moved)
    result["right"] = not wrong and not moved and verdict in run.verdicts
    if not result["right"]:
        result["why"] = f"{verdict}, moved {moved}, wrong {wrong} (ms)"
    return result


if __name__ == "__main__":
    situations.main(KINDS, outcome, "20,100")
