#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the tool to time that grows with the size of its input: runs verbs on hostile inputs of one
size and of four times that size, and compares the CPU time of both.

    tests/growth/growth.py --tool build/dev/bin/entrain [--all] [--only ring] [--sizes SMALL LARGE]

Time is user CPU time of the process (getrusage), so neither other work nor the disk counts. A pair
of runs that fails is repeated, and the least times of all count. What still fails is judged by the
growth over two steps: a cache that the larger input of one step does not fit in slows that step
only, but an algorithm that grows too fast does so over both.

Exit codes: 0 all is well, 1 something grows too fast or the tool fails, 2 it could not be tried.
"""

import argparse
import gzip
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SIZES = (1_000_000, 4_000_000)  # bytes
MOST_GROWTH = 6  # for four times the input: n log n, and caches that are too small
FLOOR_S = 0.1  # less is noise: runs below count as so long
REPEATS = 4  # of a pair of runs that fails
MOST_CPU_S = 60  # of a run
TIME = 1_600_000_000_000_000  # us, the first of a trace
FINE = (0, 1, 3)  # exit codes of a run that worked: clean, with violations, nothing to check


def until(size: int, piece: Callable[[int], str], between: str = ",\n") -> str:
    """So many pieces, numbered from 0, as make about `size` bytes."""
    first = len(piece(0)) + len(piece(1)) + 2 * len(between)
    pieces = [piece(i) for i in range(max(size * 2 // first, 2))]
    total = sum(map(len, pieces)) + len(between) * len(pieces)
    return between.join(pieces[:max(len(pieces) * size // total, 2)])


# Tables of edges.

HEADER = "cause_clock,cause_time,effect_clock,effect_time"


def ring(size: int) -> str:
    """Clocks in a ring: each meets the next, once in each direction; half of all is violated."""
    count = size // 56
    rows = [HEADER]
    for i in range(count):
        time, after = 1000 + 10 * i, (i + 1) % count
        rows.append(f"c{i},{time},c{after},{time - 20}\nc{after},{time},c{i},{time + 50}")
    return "\n".join(rows) + "\n"


def ring_from_zero(size: int) -> str:
    """The same, and each clock shows 0 once."""
    count = size // 48
    rows = [HEADER]
    for i in range(count):
        time, after = 1000 + 10 * i, (i + 1) % count
        rows.append(f"c{i},0,c{after},{20 + i % 7}\nc{after},{time},c{i},{time + 50}")
    return "\n".join(rows) + "\n"


def one_way(size: int) -> str:
    """A chain of clocks of which nothing comes back."""
    rows = [HEADER]
    rows += [f"c{i},{1000 + i},c{i + 1},{900 + i}" for i in range(size // 28)]
    return "\n".join(reversed(rows[1:] + rows[:1])) + "\n"


def star(size: int) -> str:
    """All clocks meet one."""
    rows = [HEADER]
    for i in range(size // 46):
        time = 1000 + 10 * i
        rows.append(f"c{i},{time},hub,{time - 20 - i % 7}\nhub,{time},c{i},{time + 50}")
    return "\n".join(rows) + "\n"


def instances(size: int) -> str:
    """Many collectives of two members each, in one stretch of time."""
    def one(i: int) -> str:
        time = 1000 + 10 * (i // 8)
        a, b = i % 8, (i + 1 + i // 8 % 7) % 8
        return (f"c{a},{time},,,n_to_n,{i},begin\nc{b},{time + 1},,,n_to_n,{i},begin\n"
                f",,c{a},{time + 5},n_to_n,{i},end\n,,c{b},{time - 3},n_to_n,{i},end")
    return f"{HEADER},kind,instance,role\n" + until(size, one, "\n") + "\n"


def whole_instance(size: int) -> str:
    """One collective of as many clocks as there are."""
    return "clock,begin,end,instance,kind\n" + until(
        size, lambda i: f"c{i},{1000 + i % 50},{1040 + i % 60},1,n_to_n", "\n") + "\n"


def wide(size: int) -> str:
    """Two lines with a great many columns."""
    count = size // 12
    names = ",".join(f"x{i}" for i in range(count))
    return f"{HEADER},{names}\na,10,b,5{',1' * count}\nb,10,a,50{',1' * count}\n"


def long_line(size: int) -> str:
    """Fields of a great length, with quotes in them."""
    field = '"' + 'a""' * (size // 6) + '"'
    return f"{HEADER},x\na,10,b,5,{field}\nb,10,a,50,{field}\n"


def quoted(size: int) -> str:
    """Everything in quotes, with lines inside."""
    def one(i: int) -> str:
        return f'"a","{10 + i}","b","{5 + i}","""\n"""\nb,{10 + i},a,{50 + i},""'
    return HEADER + ",x\n" + until(size, one, "\n") + "\n"


# Spans.


def span(number: int, host: int, trace: int = 1, parent: int = 0, begin: int = 0,
         duration: int = 30, kind: str = "SERVER") -> str:
    up = f'"parentId":"{parent:x}",' if parent else ""
    return (f'{{"traceId":"{trace:x}",{up}"id":"{number:x}","kind":"{kind}","name":"n",'
            f'"timestamp":{TIME + begin},"duration":{duration},'
            f'"localEndpoint":{{"serviceName":"h{host}"}}}}')


def calls(size: int, hosts: Callable[[int, int], tuple[int, int]],
          trace: Callable[[int], int]) -> str:
    """Calls of two spans each, the server's seems too early."""
    count = size // 300

    def one(i: int) -> str:
        client, server = hosts(i, count)
        return (span(2 * i + 1, client, trace(i), 0, 10 * i, 50, "CLIENT") + "," +
                span(2 * i + 2, server, trace(i), 2 * i + 1, 10 * i - 20))
    return "[" + until(size, one) + "]"


def span_hosts(size: int) -> str:
    return calls(size, lambda i, n: (i, (7 * i + 1) % n), lambda i: i + 1)


def span_ring(size: int) -> str:
    return calls(size, lambda i, n: (i, (i + 1) % n), lambda i: i + 1)


def one_trace(size: int) -> str:
    return calls(size, lambda i, _: (i % 9, (i + 1) % 9), lambda _: 1)


def deep_spans(size: int) -> str:
    return "[" + until(size, lambda i: span(i + 1, i % 5, 1, i, i, 10**7 - 2 * i)) + "]"


def siblings(size: int) -> str:
    return "[" + until(size, lambda i: span(i + 1, i % 5, 1, min(i, 1), i, 30)) + "]"


def overlapping_spans(size: int) -> str:
    return "[" + until(size, lambda i: span(i + 1, 0, i + 1, 0, i, 10**7 + i)) + "]"


# Training runs. A file is of rank 0, with some kernels, so that there is something to look at.


RANK_0 = '"rank":0'


def run_of(events: str) -> str:
    kernels = ",\n".join(
        f'{{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_RING","ts":{TIME + 100 * i},'
        f'"dur":10,"pid":0,"tid":7,"args":{{"stream":7}}}}' for i in range(10))
    return ('{"distributedInfo":{' + RANK_0 + ',"world_size":2},"traceEvents":[\n' + kernels + ",\n" +
            events + "\n]}")


def slices(size: int, fields: Callable[[int], str]) -> str:
    return run_of(until(size, lambda i: f'{{"ph":"X","cat":"cpu_op",{fields(i)}}}'))


def tracks(size: int) -> str:
    return slices(size, lambda i: f'"name":"a","pid":{i},"tid":{i},"ts":{TIME + i},"dur":5')


def same_time(size: int) -> str:
    return slices(size, lambda i: f'"name":"a{i}","pid":1,"tid":1,"ts":{TIME},"dur":{5 + i % 9}')


def overlapping(size: int) -> str:
    return slices(size, lambda i: f'"name":"a","pid":1,"tid":1,"ts":{TIME + i},"dur":{10**7 + i}')


def nested(size: int) -> str:
    return slices(size,
                  lambda i: f'"name":"a","pid":1,"tid":1,"ts":{TIME + i},"dur":{10**7 - 2 * i}')


def begun(size: int) -> str:
    """Calls that all begin before any of them ends."""
    half = size // 2
    head = until(half, lambda i: f'{{"ph":"B","name":"a","pid":1,"tid":1,"ts":{TIME + i}}}')
    count = head.count("\n") + 1
    tail = ",\n".join(f'{{"ph":"E","name":"a","pid":1,"tid":1,"ts":{TIME + count + i}}}'
                      for i in range(count))
    return run_of(head + ",\n" + tail)


def asynchronous(size: int) -> str:
    return run_of(until(size, lambda i: f'{{"ph":"{"be"[i % 2]}","cat":"c","id":{i // 2},'
                                        f'"name":"a","pid":1,"tid":1,"ts":{TIME + i}}}'))


def long_string(size: int) -> str:
    return run_of(f'{{"ph":"X","name":"{"long" * (size // 4)}","pid":1,"tid":1,"ts":{TIME},"dur":5}}')


def escapes(size: int) -> str:
    return run_of(f'{{"ph":"X","name":"{chr(92) * 2 * (size // 2)}","pid":1,"tid":1,"ts":{TIME},'
                  '"dur":5}')


def long_number(size: int) -> str:
    return run_of(f'{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{TIME},"dur":5,'
                  f'"args":{{"n":{"7" * size}}}}}')


def arrays(size: int) -> str:
    return run_of('{"ph":"X","name":"a","pid":1,"tid":1,"ts":%d,"dur":5,"args":{"d":[%s]}}' %
                  (TIME, until(size, lambda i: "[[],[%d]]" % i)))


def collectives(size: int) -> str:
    """Kernels each of a communicator of its own."""
    return run_of(until(size, lambda i: (
        f'{{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_{i}","ts":{TIME + 20 * i},"dur":10,'
        f'"pid":0,"tid":7,"args":{{"stream":7,"Process Group Name":"g{i}"}}}}')))


def one_collective(size: int) -> str:
    """Kernels of one kind, without numbers."""
    return run_of(until(size, lambda i: (
        f'{{"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce_RING","ts":{TIME + 20 * i + i % 7},'
        f'"dur":10,"pid":0,"tid":7,"args":{{"stream":7}}}}')))


# Archives.


def archive(pattern: str) -> Callable[[int], list[str]]:
    """Options of synth: processes grow with the size, with some events each."""
    return lambda size: ["--pattern", pattern, "--locations", str(size // 2000), "--events",
                         str(size // 20)]


@dataclass
class Kind:
    """An input and the verbs that are tried on it; `more` only where all are."""
    make: Callable[[int], object]
    file: str  # name of the input; ends in /: a file for each of two ranks, empty: an archive
    verbs: tuple[str, ...]
    more: tuple[str, ...] = ()
    packed: bool = False  # by gzip
    part: int = 1  # of the size, where the tool takes long enough for that


ALIGN = ("align IN -o OUT",)
ALIGN_BOUNDS = ("align IN --bounds",)
ALIGN_PAGE = ("align IN --report OUT",)
CHECK = ("check IN",)
CORRECT = ("correct IN -o OUT",)
EXPORT = ("export IN -o OUT",)
EXPORT_CHROME = ("export IN -o OUT --to chrome",)
REPORT = ("report IN -o OUT",)
SEE = ("info IN", "edges IN -o OUT.csv")
BOUNDS = ("check IN --bounds", "correct IN -o OUT --bounds")
REST = (*SEE, *EXPORT_CHROME, *REPORT, *BOUNDS)

KINDS: dict[str, Kind] = {
    "ring": Kind(ring, "e.csv", ALIGN, ALIGN_PAGE, part=4),
    "ring_from_zero": Kind(ring_from_zero, "e.csv", ALIGN, part=4),
    "ring_bounds": Kind(ring, "e.csv", ALIGN_BOUNDS, part=4),
    "one_way": Kind(one_way, "e.csv", ALIGN, ALIGN_BOUNDS, part=4),
    "star": Kind(star, "e.csv", (), (*ALIGN, *ALIGN_BOUNDS)),
    "instances": Kind(instances, "e.csv", (), (*ALIGN, *ALIGN_BOUNDS)),
    "whole_instance": Kind(whole_instance, "e.csv", ALIGN, (*ALIGN_BOUNDS, *ALIGN_PAGE), part=4),
    "wide": Kind(wide, "e.csv", ALIGN),
    "long_line": Kind(long_line, "e.csv", ALIGN),
    "quoted": Kind(quoted, "e.csv", ALIGN),
    "span_hosts": Kind(span_hosts, "s.json", (*CHECK, *EXPORT), (*SEE, *EXPORT_CHROME)),
    "span_bounds": Kind(span_hosts, "s.json", BOUNDS[:1], (*CORRECT, *BOUNDS[1:], *REPORT)),
    "span_ring": Kind(span_ring, "s.json", (), (*CHECK, *SEE, *EXPORT)),
    "one_trace": Kind(one_trace, "s.json", CHECK, (*CORRECT, *EXPORT, *REST)),
    "deep_spans": Kind(deep_spans, "s.json", (*CHECK, *EXPORT), (*CORRECT, *REST)),
    "siblings": Kind(siblings, "s.json", CHECK, (*CORRECT, *EXPORT, *REST)),
    "overlapping_spans": Kind(overlapping_spans, "s.json", EXPORT, (*CORRECT, *REST)),
    "packed_spans": Kind(one_trace, "s.json.gz", (), (*CHECK, *CORRECT), packed=True),
    "tracks": Kind(tracks, "/", EXPORT, (*CHECK, *CORRECT, *REST)),
    "same_time": Kind(same_time, "/", EXPORT, (*CHECK, *CORRECT, *REST)),
    "overlapping": Kind(overlapping, "/", EXPORT, (*CHECK, *CORRECT, *REST)),
    "nested": Kind(nested, "/", EXPORT, (*CHECK, *CORRECT, *REST)),
    "begun": Kind(begun, "/", EXPORT, (*CHECK, *CORRECT, *REST)),
    "asynchronous": Kind(asynchronous, "/", (), (*CHECK, *CORRECT, *EXPORT, *REST)),
    "long_string": Kind(long_string, "/", CORRECT, (*CHECK, *EXPORT, *REST)),
    "escapes": Kind(escapes, "/", CORRECT, (*CHECK, *EXPORT, *REST)),
    "long_number": Kind(long_number, "/", CORRECT, (*CHECK, *EXPORT, *REST)),
    "arrays": Kind(arrays, "/", CORRECT, (*CHECK, *EXPORT, *REST)),
    "collectives": Kind(collectives, "/", CORRECT, (*CHECK, *EXPORT, *REST)),
    "one_collective": Kind(one_collective, "/", (), (*CHECK, *CORRECT, *EXPORT, *REST)),
    "packed_run": Kind(overlapping, "/", CORRECT, EXPORT, packed=True),
    "ring_archive": Kind(archive("ring"), "", (*CHECK, *CORRECT, *EXPORT), REST),
    "mixed_archive": Kind(archive("mixed"), "", (), (*CHECK, *CORRECT, *EXPORT, *REST)),
}


class Trial:
    """Runs the tool on inputs in a folder of its own."""

    def __init__(self, tool: Path, base: Path) -> None:
        self.tool, self.base = tool, base

    def make(self, kind: Kind, size: int) -> Path:
        """The path of a new input."""
        folder = self.base / str(size)
        folder.mkdir()
        made = kind.make(size)
        if isinstance(made, list):
            source, wrong = folder / "truth", folder / "wrong"
            self.run(["synth", *made, "-o", str(source)])
            self.run(["distort", str(source), "-o", str(wrong), "--offset-s", "0.001"])
            return wrong
        text = str(made)
        names = [kind.file]
        if kind.file == "/":
            names = [f"run/rank{rank}.json{'.gz' if kind.packed else ''}" for rank in range(2)]
            (folder / "run").mkdir()
        for rank, name in enumerate(names):
            data = text.replace(RANK_0, RANK_0.replace("0", str(rank)), 1).encode()
            (folder / name).write_bytes(gzip.compress(data, 1) if kind.packed else data)
        return folder / ("run" if kind.file == "/" else kind.file)

    def run(self, arguments: list[str]) -> float:
        """User CPU time in seconds; raises RuntimeError if the tool fails."""
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        with open(self.base / "output", "w+b") as output:
            process = subprocess.Popen([str(self.tool), *arguments], stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=output, preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in FINE:
                output.seek(0)
                said = output.read(2000).decode(errors="replace").strip()
                raise RuntimeError(f"exit code {process.returncode}: {said}")
        return usage.ru_utime

    def verb(self, verb: str, source: Path) -> float:
        words = verb.split()
        out = self.base / "out"
        result = self.run([str(source) if word == "IN" else word.replace("OUT", str(out))
                           for word in words])
        if out.is_dir():
            shutil.rmtree(out)
        else:
            out.unlink(missing_ok=True)
        for table in self.base.glob("out.*"):
            table.unlink()
        return result


def grows_too_fast(times: list[float], most: float) -> bool:
    return times[1] > most * max(times[0], FLOOR_S)


def measure(trial: Trial, verb: str, sources: list[Path], most: float) -> list[float]:
    times = [trial.verb(verb, source) for source in sources]
    for _ in range(REPEATS):
        if not grows_too_fast(times, most) or times[1] > 3 * most * max(times[0], FLOOR_S):
            break
        times = [min(time, trial.verb(verb, source)) for time, source in zip(times, sources)]
    return times


def try_kind(name: str, options: argparse.Namespace) -> int:
    """Number of verbs that failed."""
    kind = KINDS[name]
    verbs = kind.verbs + (kind.more if options.all else ())
    failed = 0
    if not verbs:
        return failed
    with tempfile.TemporaryDirectory(prefix="entrain-growth-") as base:
        trial = Trial(options.tool.resolve(), Path(base))
        small, large = (size // kind.part for size in options.sizes)
        sources = [trial.make(kind, size) for size in (small, large)]
        for verb in verbs:
            try:
                most: float = MOST_GROWTH
                times = measure(trial, verb, sources[:2], most)
                if grows_too_fast(times, most):
                    most **= 2
                    if len(sources) == 2:  # a step more
                        sources.append(trial.make(kind, large * large // small))
                    times = measure(trial, verb, sources[::2], most)
                bad = grows_too_fast(times, most)
                told = f"{times[0]:7.2f} {times[1]:7.2f} {times[1] / max(times[0], 1e-3):6.1f}"
            except RuntimeError as error:
                bad, told = True, str(error)
            failed += bad
            print(f"{'FAILED' if bad else '':6} {name:17} {verb:33} {told}", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--all", action="store_true", help="all verbs on all kinds: minutes")
    parser.add_argument("--only", action="append", choices=sorted(KINDS), metavar="KIND")
    parser.add_argument("--sizes", type=int, nargs=2, default=SIZES, metavar="BYTES")
    options = parser.parse_args()
    if not os.access(options.tool, os.X_OK):
        print(f"growth: there is no program {options.tool}", file=sys.stderr)
        return 2
    print(f"       {'input':17} {'verb':33} CPU seconds of small and large, ratio")
    failed = sum(try_kind(name, options) for name in options.only or KINDS)
    if failed:
        print(f"growth: {failed} verbs fail, or take more than {MOST_GROWTH} times as long for 4 times "
              f"the input and {MOST_GROWTH ** 2} times for 16 times", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
