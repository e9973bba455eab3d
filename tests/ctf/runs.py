#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CTF traces of several hosts whose clocks are known: what the tool says of them, what it writes as
the command babeltrace2 reads it, and damaged ones. Usage: runs.py ENTRAIN [--seconds S] [--seed N]
  --seconds   how long to change traces at random (default: 10)"""

import argparse
import filecmp
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ctf_writer import BEGIN, NS, Host, add_messages, tcp_packet, write_run, write_trace

MATCH = ["--match", "send=app:request:id,receive=app:serve:request"]
LINE = re.compile(r"^\[(-?\d+)\.(\d+)\] (.*)$")


class Test:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.failures = tool, Path(folder), 0

    def expect(self, holds, *what):
        if not holds:
            self.failures += 1
            print("FAILED:", *what)

    def run(self, *arguments, code=0, folder=None):
        """Runs the tool in a folder. `code`: the exit code, or several that are allowed."""
        done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, errors="replace", cwd=folder)
        allowed = code if isinstance(code, (tuple, set)) else (code,)
        self.expect(done.returncode in allowed, arguments, "exit code", done.returncode, "not", code,
                    done.stdout[-500:], done.stderr[-500:])
        if done.returncode == 2:
            self.expect(done.stderr.startswith("entrain: ") and done.stderr.count("entrain: ") == 1,
                        arguments, "not a sentence:", done.stderr)
        return done

    def checked(self, path, *options, code):
        text = self.run("check", path, "--json", *options, code=code).stdout
        return json.loads(text) if text else {}


def printed(trace):
    """All events of a trace by the command babeltrace2: times in ns, and the rest of the lines."""
    done = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", str(trace)],
                          capture_output=True, text=True, check=True)
    times, rest = [], []
    for line in done.stdout.splitlines():
        seconds, digits, words = LINE.match(line).groups()
        times.append(int(seconds) * NS + int(digits))
        rest.append(words)
    return times, rest


def traces_in(folder):
    return sorted(path.parent for path in Path(folder).rglob("metadata"))


def same_but_times(test, before, after):
    """The streams are equal byte for byte, and the events but for their times."""
    for old, new in zip(traces_in(before), traces_in(after), strict=True):
        test.expect(old.relative_to(before) == new.relative_to(after), old, new)
        _, a = printed(old)
        _, b = printed(new)
        test.expect(a == b, new, "holds other events than", old)
        for stream in old.iterdir():
            test.expect(stream.name == "metadata" or
                        filecmp.cmp(stream, new / stream.name, shallow=False), new / stream.name)


def errors_of(truth, trace):
    """Largest distance of the corrected times from the true ones, after one common shift, ns."""
    differences = []
    for true, own in zip(traces_in(truth), traces_in(trace), strict=True):
        differences += [b - a for a, b in zip(printed(true)[0], printed(own)[0], strict=True)]
    return (max(differences) - min(differences)) / 2


def make(folder, hosts, kind, messages=2000, seconds=100, **options):
    """The trace, and the same with right clocks."""
    twice = options.pop("twice", ())
    for name, own in (("wrong", hosts),
                      ("true", [Host(host.name, freq=host.freq) for host in hosts])):
        add_messages(own, messages, seconds, kind, twice=twice)
        write_run(folder / name, own, **options)
    return folder / "wrong", folder / "true"


def test_kinds(test):
    """Each kind of messages, by constants and by rates."""
    cases = {
        "net": ([Host("alpha"), Host("beta", 2_500_000), Host("gamma", -7_000_000)], {}),
        "net-drift": ([Host("alpha"), Host("beta", 2_500_000, 12.5), Host("gamma", -7_000_000, -8)],
                      {"twice": (5, 50)}),
        "sock": ([Host("a"), Host("b", 250_000, 3), Host("c", 100_000), Host("d", 0, 1)], {}),
        "user": ([Host("alpha"), Host("beta", 250_000, 3)],
                 {"in_packets": False, "clock_uuid": False}),
        "ros": ([Host("alpha"), Host("beta", 250_000, 3)], {"hostname": False}),
        "ghz": ([Host("alpha", freq=2_400_000_000), Host("beta", 500_000, 5, 2_100_000_000)], {}),
    }
    for name, (hosts, options) in cases.items():
        kind = name.split("-")[0] if name != "ghz" else "net"
        match = MATCH if kind == "user" else []
        wrong, true = make(test.folder / name, hosts, kind, **options)
        test.run("check", true, *match)
        report = test.checked(wrong, *match, code=1)
        test.expect(report["checked_edges"] >= 1990, name, report["checked_edges"])
        right = test.folder / name / "right"
        test.run("correct", wrong, "-o", right, *match)
        report = test.checked(right, *match, code=0)
        same_but_times(test, wrong, right)
        error = errors_of(true, right)
        test.expect(error < 90_000, name, "is wrong by", error, "ns")
        print(f"{name}: error {error / 1000:.1f} us")


def test_verbs(test):
    run, _ = make(test.folder / "verbs", [Host("alpha"), Host("beta", 2_500_000)], "net", 400)
    info = test.run("info", run).stdout
    test.expect("CTF" in info and "communication" in info and "collectives" not in info, info)
    clocks = json.loads(test.run("clocks", run, "--json", code=(0, 1)).stdout)
    test.expect({"alpha", "beta"} <= set(re.findall(r"\w+", json.dumps(clocks))), "names of hosts")
    for verb, output in (("report", "r.html"), ("edges", "e.csv"), ("export", "t.pftrace")):
        test.run(verb, run, "-o", test.folder / "verbs" / output, code=(0, 1))
        test.expect((test.folder / "verbs" / output).stat().st_size > 1000, verb)
    overlay = test.folder / "verbs" / "overlay"
    test.run("correct", run, "-o", overlay, "--mode", "overlay")
    test.run("check", overlay)
    same_but_times(test, run, overlay)
    changed = test.folder / "verbs" / "changed"
    test.run("distort", run, "-o", changed, "--offset-s", "0.01", "--seed", "3")
    test.run("correct", changed, "-o", test.folder / "verbs" / "again")
    test.run("compare", changed, test.folder / "verbs" / "again", "--truth", run)
    other = test.folder / "verbs" / "other"
    shutil.copytree(run / "alpha", other)
    done = test.run("compare", run / "beta", other, code=2)
    test.expect("not the same trace" in done.stderr)
    # Parts of a run from several folders.
    both = test.folder / "verbs" / "both"
    test.run("correct", run / "alpha", run / "beta", "-o", both)
    test.expect(len(traces_in(both)) == 2, "two traces")
    # The same events by the library's own writer.
    rewritten = test.folder / "verbs" / "rewritten"
    for host in ("alpha", "beta"):
        subprocess.run(["babeltrace2", "--output-format=ctf", "-w", rewritten / host, run / host],
                       check=True, capture_output=True)
    a, b = (test.checked(path, code=1) for path in (run, rewritten))
    test.expect(a["violations"] == b["violations"] > 0, "violations by another writer")


def test_matching(test):
    """What is an edge, and what is set aside."""
    hosts = [Host("alpha"), Host("beta")]
    alpha, beta = hosts
    for n in range(40):
        at = BEGIN + n * NS
        alpha.add(at, "net_dev_queue", tcp_packet(0, 1, 0, n, n, ident=n))
        beta.add(at + 50_000, "netif_receive_skb", tcp_packet(0, 1, 0, n, n, ident=n))
    same = tcp_packet(0, 1, 0, 777, 1, ident=9)
    for at in (50, 51):  # sent twice, received once
        alpha.add(BEGIN + at * NS, "net_dev_queue", same)
    beta.add(BEGIN + 52 * NS, "netif_receive_skb", same)
    inside = tcp_packet(0, 0, 0, 778, 1, ident=9, device="lo")
    alpha.add(BEGIN + 53 * NS, "net_dev_queue", inside)
    alpha.add(BEGIN + 54 * NS, "netif_receive_skb", inside)
    alpha.add(BEGIN + 55 * NS, "net_dev_queue", tcp_packet(0, 9, 0, 779, 1))
    # Through a bridge: the same packet on two devices of each host.
    for host, name, at in ((alpha, "net_dev_queue", 56 * NS), (beta, "netif_receive_skb", 57 * NS)):
        host.add(BEGIN + at, name, tcp_packet(0, 1, 0, 780, 1, device="veth0"))
        host.add(BEGIN + at + 900, name, tcp_packet(0, 1, 0, 780, 1, device="eth0"))
    write_run(test.folder / "matching", hosts)
    report = test.checked(test.folder / "matching", code=0)
    test.expect(report["checked_edges"] == 41, "edges", report["checked_edges"])
    told = json.dumps(report)
    for name in ("messages_seen_twice", "messages_in_a_host", "sends_without_receive"):
        test.expect(name in told, name)


def test_clocks(test):
    """Kernel and user space of a host share a clock by its uuid, or by host and name."""
    for name, options in (("uuid", {"hostname": False}), ("host", {"clock_uuid": False})):
        run = test.folder / "shared" / name
        alpha, beta = Host("alpha", 90_000), Host("beta")
        add_messages([alpha, beta], 200, 20, "net")
        write_run(run, [alpha, beta], **options)
        for host in (alpha, beta):
            host.events.clear()
        add_messages([alpha, beta], 200, 20, "user", seed=2)
        for host in (alpha, beta):
            write_trace(run / host.name / "ust" / "uid" / "1000" / "64-bit", host, **options)
        report = test.checked(run, *MATCH, code=1)
        test.expect(report["locations"] == 2 and report["checked_edges"] == 400, name, report)
        test.run("correct", run, "-o", test.folder / "shared" / f"{name}-right", *MATCH)
        test.expect(len(traces_in(test.folder / "shared" / f"{name}-right")) == 4, name)
    # Machines of one hostname and without uuids cannot be told apart.
    hosts = [Host("alpha"), Host("beta")]
    add_messages(hosts, 200, 20, "net")
    for host, name in zip(hosts, ("one", "two"), strict=True):
        host.name = "localhost"
        write_trace(test.folder / "localhost" / name, host, clock_uuid=False)
    told = test.run("check", test.folder / "localhost", code=3).stdout
    test.expect("stay inside a clock" in told and "net_dev_queue" not in told, told)


def test_places(test):
    """Which folders are read, and what is written where."""
    base = test.folder / "places"
    run = one_run(base)
    # Names of folders are those that they have, whatever the user calls them.
    kernel, out = run / "alpha" / "kernel", base / "out"
    test.run("distort", "..", "../../beta", "-o", out, "--seed", "3", folder=kernel)
    test.expect([path.relative_to(out).parts[0] for path in traces_in(out)] == ["alpha", "beta"], out)
    test.expect(sorted(os.listdir(base)) == ["out", "true", "wrong"], "written elsewhere")
    for names in (("wrong", "wrong/alpha"), ("wrong/alpha", "wrong/alpha/"), ("wrong/alpha/kernel", ".")):
        test.expect("would count twice" in test.run("check", *names, code=2, folder=base).stderr, names)
    done = test.run("distort", kernel, run / "beta" / "kernel", "-o", base / "two", code=2)
    test.expect("have one name" in done.stderr, "folders of one name")
    # Other files may stand beside traces, but no other trace.
    (run / "notes.json").write_text('{"note": 1}')
    (run / "table.csv").write_text("a,b\n1,2\n")
    test.expect("CTF traces" in test.run("info", run).stdout, "beside JSON of something else")
    example = Path(__file__).parents[2] / "examples"
    shutil.copy(example / "training" / "rank0.json", run)
    test.expect("is no part of them" in test.run("check", run, code=2).stderr, "beside another trace")
    (run / "rank0.json").unlink()
    for deep, code in (("1/2/3/4/5/6", 0), ("1/2/3/4/5/6/7", 2)):
        shutil.copytree(kernel, base / str(code) / deep)
        test.run("info", base / str(code), code=code)
    # Words of refusals.
    archive = example / "traces" / "allops-4"
    test.expect("no files of one run" in test.run("check", run, archive, code=2).stderr, "of two kinds")
    done = test.run("drop", run, "-o", base / "x", "--random", "0.1", code=2)
    test.expect("is no OTF2 archive" in done.stderr, "drop")
    for name in ("metadata", "channel0_0"):
        done = test.run("check", kernel / name, code=2)
        test.expect(f"name its folder, which is {kernel}" in " ".join(done.stderr.split()), done.stderr)


def test_stored_errors(test):
    """What distort says is what it stored, by the command babeltrace2."""
    run = one_run(test.folder / "stored")
    out = test.folder / "stored" / "out"
    report = json.loads(test.run("distort", run, "-o", out, "--json", "--offset-s", "0", "--drift-ppm", "0",
                                 "--wander-ppm", "0", "--steps", "3", "--step-s", "0.01").stdout)
    error = max(abs(b - a) for old, new in zip(traces_in(run), traces_in(out), strict=True)
                for a, b in zip(printed(old)[0], printed(new)[0], strict=True))
    test.expect(abs(report["largest_offset_s"] * NS - error) < 1000 < error, report, error)


def test_rules(test):
    run, _ = make(test.folder / "rules", [Host("alpha"), Host("beta", 90_000)], "user", 100)
    for rule in ("", "send=a", "send=a:b,receive=c", "send=a:b+c,receive=d:e"):
        done = test.run("check", run, "--match", rule, code=2)
        test.expect("--match" in done.stderr)
    done = test.run("check", run, code=3)
    test.expect("--match" in done.stdout, "the way to edges is named")
    example = Path(__file__).parents[2] / "examples" / "services" / "ascend.json"
    test.run("check", example, *MATCH, code=2)


def one_run(folder, **options):
    wrong, _ = make(folder, [Host("alpha"), Host("beta", 2_500_000)], "net", 200, **options)
    return wrong


def test_hostile(test):
    base = test.folder / "hostile"
    any_code = (0, 1, 2, 3)

    def changed(name, change, code):
        run = one_run(base / name)
        change(run / "alpha" / "kernel")
        for verb in ("info", "check", "clocks"):
            test.run(verb, run, code=code if verb == "check" else any_code)
        done = test.run("correct", run, "-o", base / name / "out", code=any_code)
        test.expect(done.returncode in (0, 1, 3) or not (base / name / "out").exists(), name)

    def edit(file, function):
        def change(folder):
            path = folder / file
            path.write_bytes(function(path.read_bytes()))
        return change

    changed("cut-stream", edit("channel0_0", lambda data: data[: len(data) * 2 // 3]), 2)
    changed("empty-stream", edit("channel0_0", lambda data: b""), any_code)
    changed("zero-stream", edit("channel0_0", lambda data: bytes(len(data))), 2)
    changed("cut-metadata", edit("metadata", lambda data: data[:3000]), 2)
    changed("odd-metadata", edit("metadata", lambda data: data[:4096]), 2)
    changed("no-text", edit("metadata", lambda data: b"/* CTF 1.8 */ trace {"), 2)
    changed("pipe", lambda folder: os.mkfifo(folder / "channel0_9"), any_code)
    changed("cycle", lambda folder: (folder / "sub").symlink_to(folder.parent), 1)
    changed("link-to-itself", lambda folder: (folder / "loop").symlink_to(folder / "loop"), any_code)
    # The library ends the process here: a variant whose tag has another name.
    changed("assertion", edit("metadata", lambda data: data.replace(b'"_tcp" = 1', b'"_tcq" = 1')), 2)

    for name, options in (("none", {"clock": False}), ("uuid", {"clock_uuid": False})):
        run = one_run(base / "clock" / name, **options)
        test.run("check", run, code=1)
        done = test.run("correct", run, "-o", base / "clock" / name / "out",
                        code=2 if name == "none" else 0)
        test.expect(name == "uuid" or "does not name the clock" in done.stderr)

    for name, frequency, offset in (("hz", 1, 1_699_000_000), ("far", NS, 2**63 - 1),
                                    ("too-far", NS, 2**64 - 1), ("near-62", NS, 2**62 - 10**12),
                                    ("odd", 999_999_937, 0), ("fast", 2**64 - 1, 0)):
        hosts = [Host("alpha"), Host("beta", 5 * NS)]
        add_messages(hosts, 50, 100, "net")
        for host in hosts:
            host.freq, host.offset = frequency, offset
            write_trace(base / name / host.name, host)
        test.run("check", base / name, code=any_code)
        test.run("correct", base / name, "-o", base / f"{name}-out", code=any_code)

    run = one_run(base / "hz-clock")
    for host in ("alpha", "beta"):
        shutil.rmtree(run / host)
    hosts = [Host("alpha"), Host("beta", 5 * NS, freq=1)]
    add_messages(hosts, 200, 100, "net")
    write_run(run, hosts)
    test.run("correct", run, "-o", base / "hz-clock" / "out", code=any_code)

    done = test.run("check", test.folder / "hostile" / "cut-metadata" / "wrong" / "beta", code=3)
    (base / "empty").mkdir()
    write_trace(base / "empty" / "a", Host("alpha"))
    done = test.run("check", base / "empty", code=2)
    test.expect("no event with a time" in done.stderr)


def test_at_random(test, seconds, seed):
    """Changes bytes, words of metadata and sizes: the tool ends by itself, with a known code."""
    rng = random.Random(seed)
    hosts = [Host("alpha"), Host("beta", 100_000)]
    for kind in ("net", "sock", "user", "ros"):
        add_messages(hosts, 12, 1, kind)
    write_run(test.folder / "seed", hosts)
    write_run(test.folder / "text", hosts, in_packets=False)
    end, runs, codes, before = time.monotonic() + seconds, 0, {}, test.failures
    while time.monotonic() < end:
        run = test.folder / "random"
        shutil.rmtree(run, ignore_errors=True)
        shutil.rmtree(test.folder / "random-out", ignore_errors=True)
        shutil.copytree(test.folder / rng.choice(("seed", "text")), run)
        path = run / "alpha" / "kernel" / rng.choice(("metadata", "metadata", "channel0_0"))
        data = bytearray(path.read_bytes())
        how = rng.randrange(4)
        if how == 0:
            words = [match.span() for match in re.finditer(rb"\S+", bytes(data))]
            for begin, stop in sorted(rng.sample(words, min(2, len(words))), reverse=True):
                data[begin:stop] = rng.choice(
                    (b"-1", b"0", b"64", b"18446744073709551615", b"}", b"{", b";", b"variant",
                     b"struct", b"string", b"clock.monotonic.value", b"[4294967295]", b""))
        elif how == 1:
            for _ in range(rng.randrange(1, 5)):
                data[rng.randrange(min(len(data), rng.choice((120, len(data)))))] = rng.choice(
                    (0, 255, rng.randrange(256)))
        elif how == 2:
            del data[rng.randrange(len(data)) :]
        else:
            at = rng.randrange(len(data))
            data[at:at] = data[at : at + rng.randrange(200)]
        path.write_bytes(data)
        done = test.run("correct", run, "-o", test.folder / "random-out", code=(0, 1, 2, 3))
        codes[done.returncode] = codes.get(done.returncode, 0) + 1
        if test.failures > before:
            shutil.copytree(run, "ctf-failure", dirs_exist_ok=True)
            break
        runs += 1
    print(f"at random: {runs} runs, exit codes {codes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if shutil.which("babeltrace2") is None:
        print("skipped: the command babeltrace2 is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        test = Test(os.path.abspath(options.tool), folder)
        probe = one_run(test.folder / "probe")
        if "built without libbabeltrace2" in subprocess.run(
                [test.tool, "info", probe], capture_output=True, text=True).stderr:
            print("skipped: built without libbabeltrace2")
            return 77
        for part in (test_kinds, test_verbs, test_matching, test_clocks, test_places, test_stored_errors,
                     test_rules, test_hostile):
            part(test)
        test_at_random(test, options.seconds, options.seed)
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
