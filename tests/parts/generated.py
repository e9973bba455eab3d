# SPDX-License-Identifier: BSD-3-Clause
"""Runs with wrong clocks, in as many files as wanted: training runs and spans of services."""

import json
import random


def clock(rng, wander_ns):
    """A function of true time in ns: an offset, a drift and a slow bend."""
    offset = rng.randrange(-50_000_000, 50_000_000)
    drift = rng.uniform(-30e-6, 30e-6)
    bend = rng.uniform(-1, 1) * wander_ns / 1e20
    return lambda t: int(t + offset + drift * t + bend * t * t)


def kernel(name, begin, end, correlation, arguments):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin / 1000,
            "dur": (end - begin) / 1000,
            "args": {"stream": 7, "correlation": correlation, "device": 0, **arguments}}


def training(folder, ranks, steps, seed, numbered=True, others=0):
    """Writes a file per rank: launches and kernels, of which every fourth is an all-reduce. `others`:
    further events of the host per step."""
    rng = random.Random(seed)
    clocks = [clock(rng, 1e5) for _ in range(ranks)]
    base = 1_700_000_000_000_000_000
    events = [[] for _ in range(ranks)]
    now, correlation = 1_000_000, 0
    for step in range(steps):
        now += rng.randrange(200_000, 900_000)
        begins = [now + rng.randrange(0, 300_000) for _ in range(ranks)]
        end = max(begins) + rng.randrange(20_000, 90_000)
        for rank in range(ranks):
            to = lambda t: base + clocks[rank](t)
            for k in range(others):
                at = to(now - 150_000 + 1000 * k)
                events[rank].append({"ph": "X", "cat": "cpu_op", "name": f"aten::op_{k % 17}",
                                     "pid": 1, "tid": 1, "ts": at / 1000, "dur": 0.7,
                                     "args": {"External id": k, "Ev Idx": k,
                                              "Input Dims": [[64, 128], [128, 64]]}})
            for k in range(4):
                correlation += 1
                is_collective = k == 3
                begin = begins[rank] if is_collective else now - 100_000 + 20_000 * k
                launch = begin - rng.randrange(4_000, 15_000)
                finish = end + rng.randrange(0, 2_000) if is_collective else begin + 15_000
                events[rank].append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                                     "pid": 1, "tid": 1, "ts": to(launch) / 1000, "dur": 2.5,
                                     "args": {"correlation": correlation, "External id": correlation}})
                arguments = {"Collective name": "allreduce", "In msg nelems": 1 << 20,
                             "dtype": "Float", "Group size": ranks, "Process Group Name": "0"}
                if numbered:
                    arguments |= {"Comms Id": 17, "Seq": step}
                name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
                events[rank].append(kernel(name, to(begin), to(finish), correlation, arguments)
                                    if is_collective else
                                    kernel("ampere_sgemm_128x64_tn", to(begin), to(finish),
                                           correlation, {"grid": [1, 2, 3], "block": [256, 1, 1]}))
        now = end + 100_000
    for rank in range(ranks):
        facts = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank,
                                                         "world_size": ranks}}
        # Three decimals of microseconds, as profilers write them.
        text = json.dumps(facts | {"traceEvents": events[rank]})
        (folder / f"rank{rank:03}.json").write_text(text)


def attribute(key, value):
    return {"key": key, "value": {"stringValue": value}}


def span_lines(hosts, traces, seed, more=0, wander_ns=1e5):
    """Lines of OTLP: each trace is a tree of calls between hosts. `more`: further attributes."""
    rng = random.Random(seed)
    clocks = [clock(rng, wander_ns) for _ in range(hosts)]
    base = 1_700_000_000_000_000_000
    lines = []

    def span(trace, parent, host, name, kind, begin, end):
        own = f"{rng.getrandbits(64):016x}"
        to = lambda t: str(base + clocks[host](t))
        attributes = [attribute(f"http.request.header.x-{k}", f"value {rng.randrange(100)}")
                      for k in range(more)]
        lines.append((begin, json.dumps({"resourceSpans": [{
            "resource": {"attributes": [attribute("host.name", f"host{host:03}"),
                                        attribute("service.name", f"service{host % 7}")]},
            "scopeSpans": [{"spans": [{
                "traceId": trace, "spanId": own, "parentSpanId": parent, "name": name, "kind": kind,
                "startTimeUnixNano": to(begin), "endTimeUnixNano": to(end),
                "attributes": attributes}]}]}]})))
        return own

    def call(trace, parent, host, begin, end, depth):
        own = span(trace, parent, host, f"serve {depth}", 2, begin, end)
        if depth == 3 or end - begin < 400_000:
            return
        for _ in range(rng.randrange(0, 3)):
            length = (end - begin) // 3
            at = rng.randrange(begin, end - length)
            client = span(trace, own, host, f"call {depth}", 3, at, at + length)
            latency = rng.randrange(20_000, 80_000)
            if length > 3 * latency:
                call(trace, client, rng.randrange(hosts), at + latency, at + length - latency,
                     depth + 1)

    for _ in range(traces):
        at = rng.randrange(0, 60_000_000_000)
        call(f"{rng.getrandbits(128):032x}", "", rng.randrange(hosts), at,
             at + rng.randrange(1_000_000, 9_000_000), 0)
    lines.sort()
    return [line for _, line in lines]


def spans(folder, files, hosts, traces, seed, more=0, wander_ns=1e5):
    """Cuts the lines into so many files anywhere: most traces lie in several."""
    lines = span_lines(hosts, traces, seed, more, wander_ns)
    rng = random.Random(seed + 1)
    cuts = sorted(rng.sample(range(1, len(lines)), files - 1))
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(lines)])):
        (folder / f"part{number:03}.jsonl").write_text("\n".join(lines[begin:end]) + "\n")
