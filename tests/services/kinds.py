# SPDX-License-Identifier: BSD-3-Clause
"""Situations of services whose truth is known: SITUATIONS makes spans of each, and says what is
wrong with them."""
import collections
import json

EPOCH = 1_760_000_000_000_000_000  # ns since 1970
MS, S, DAY = 1_000_000, 1_000_000_000, 86_400_000_000_000
KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5, "none": 0}


class Run:
    """Spans with their true times, and what is wrong with them."""

    def __init__(self, rng):
        self.rng, self.spans, self.count = rng, [], 0
        self.clock = {}  # host -> function of the true time, ns
        self.resolution = collections.defaultdict(lambda: 1)  # host -> ns
        self.places = {}  # host -> attributes
        self.own = {}  # host -> attributes of its spans
        self.form = "otlp"
        self.verdicts = ("clean",)  # of check
        self.judged = []  # hosts that have to come right
        self.within = 3 * MS  # error that is right, ns
        self.unjudged = set()  # hosts of which nobody can know
        self.rename = str  # the numbers of a host as they are written

    def span(self, host, kind, begin, end, trace, parent="", name="op", links=(), attributes=()):
        self.count += 1
        one = {"host": host, "kind": kind, "b": int(begin), "e": int(end), "trace": trace,
               "parent": parent, "name": name, "links": links, "attributes": dict(attributes),
               "id": f"{self.count:016x}"}
        self.spans.append(one)
        return one["id"]

    def call(self, client, server, begin, trace, parent="", work=(2 * MS, 8 * MS), way=(2e5, 6e5),
             name="call"):
        go, back, length = self.rng.uniform(*way), self.rng.uniform(*way), self.rng.uniform(*work)
        one = self.span(client, "client", begin, begin + go + length + back, trace, parent, name)
        return one, self.span(server, "server", begin + go, begin + go + length, trace, one, name)

    def shown(self, one):
        clock = self.clock.get(one["host"], lambda t: t)
        return int(clock(one["b"])), int(clock(one["e"]))

    def place(self, host):
        return self.places.get(host, {"service.name": host, "host.name": host})

    def write(self, path):
        text = {"otlp": self.otlp, "jaeger": self.jaeger, "zipkin": self.zipkin}[self.form]()
        with open(path, "w") as file:
            json.dump(text, file)

    def otlp(self):
        groups = collections.defaultdict(list)
        for one in self.spans:
            begin, end = self.shown(one)
            groups[json.dumps(self.place(one["host"]))].append({
                "traceId": f"{one['trace']:032x}", "spanId": one["id"], "name": one["name"],
                "parentSpanId": one["parent"], "kind": KINDS[one["kind"]],
                "startTimeUnixNano": str(begin % 2**64), "endTimeUnixNano": str(end % 2**64),
                "attributes": listed({**self.own.get(one["host"], {}), **one["attributes"]}),
                "links": [{"traceId": f"{t:032x}", "spanId": i} for t, i in one["links"]]})
        return {"resourceSpans": [{"resource": {"attributes": listed(json.loads(place))},
                                   "scopeSpans": [{"spans": spans}]}
                                  for place, spans in groups.items()]}

    def jaeger(self):
        traces = collections.defaultdict(list)
        for one in self.spans:
            traces[one["trace"]].append(one)
        data = []
        for trace, spans in traces.items():
            hosts = {}
            rows = []
            for one in spans:
                begin, end = self.shown(one)
                process = hosts.setdefault(one["host"], f"p{len(hosts) + 1}")
                parent = [{"refType": "CHILD_OF", "traceID": f"{trace:x}", "spanID": one["parent"]}]
                rows.append({"traceID": f"{trace:x}", "spanID": one["id"],
                             "operationName": one["name"], "startTime": begin // 1000,
                             "duration": (end - begin) // 1000, "processID": process,
                             "references": parent if one["parent"] else [],
                             "tags": [{"key": "span.kind", "type": "string", "value": one["kind"]}],
                             "warnings": one.get("warnings")})
            data.append({"traceID": f"{trace:x}", "spans": rows, "processes": {
                process: {"serviceName": self.place(host).get("service.name", ""),
                          "tags": [{"key": key.replace("host.name", "hostname"), "type": "string",
                                    "value": value} for key, value in self.place(host).items()
                                   if key != "service.name"]}
                for host, process in hosts.items()}})
        return {"data": data}

    def zipkin(self):
        rows = []
        for one in self.spans:
            begin, end = self.shown(one)
            row = {"traceId": f"{one['trace']:032x}", "id": one["id"], "name": one["name"],
                   "timestamp": begin // 1000, "duration": (end - begin) // 1000,
                   "kind": one["kind"].upper(),
                   "localEndpoint": {"serviceName": self.place(one["host"])["service.name"]},
                   "tags": {k: v for k, v in self.place(one["host"]).items() if k != "service.name"}}
            if one["parent"]:
                row["parentId"] = one["parent"]
            if one["kind"] in ("none", "internal"):
                del row["kind"]
            rows.append(row)
        return rows

    def read(self, path):
        """Begins of a written file, ns, by span."""
        with open(path) as file:
            text = json.load(file)
        if self.form == "otlp":
            return {s["spanId"]: int(s["startTimeUnixNano"]) for r in text["resourceSpans"]
                    for c in r["scopeSpans"] for s in c["spans"]}
        if self.form == "jaeger":
            return {s["spanID"]: s["startTime"] * 1000 for t in text["data"] for s in t["spans"]}
        return {s["id"]: s["timestamp"] * 1000 for s in text}


def listed(attributes):
    return [{"key": k, "value": {"arrayValue": {"values": [{"stringValue": x} for x in v]}}
             if isinstance(v, list) else {"stringValue": v}} for k, v in attributes.items()]


def base(run, size, hosts=("gw", "api", "db")):
    """Calls along a chain of hosts, which are right."""
    t = EPOCH + run.rng.randrange(S)
    for k in range(size):
        t += run.rng.uniform(0.2, 1.5) * 0.2 * S
        parent, at = "", t
        for client, server in zip(hosts, hosts[1:]):
            c, parent = run.call(client, server, at, k + 1, parent)
            at = run.spans[-1]["b"] + 2e5
            run.spans[-1]["e"] = max(run.spans[-1]["e"], int(at + 1.4e7))
            run.spans[-2]["e"] = max(run.spans[-2]["e"], int(run.spans[-1]["e"] + 3e5))
        for child, outer in ((run.spans[-4:-2], run.spans[-2:]),):
            pass
    nest(run)
    return t


def nest(run):
    """Parents end after their children."""
    by_id = {one["id"]: one for one in run.spans}
    for one in reversed(run.spans):
        parent = by_id.get(one["parent"])
        if parent and one["kind"] != "consumer":
            parent["e"] = max(parent["e"], int(one["e"] + run.rng.uniform(2e5, 4e5)))


def stretch(run, first, last):
    """A time within the run."""
    return run.rng.uniform(first + (last - first) * 0.3, first + (last - first) * 0.7)


SITUATIONS = {}


def situation(make):
    SITUATIONS[make.__name__] = make
    return make


# B: which spans share a clock


def phones(run, size, place, own=None, most=4 * 3600 * S):
    devices = [f"phone{i}" for i in range(run.rng.randrange(3, 9))]
    t = base(run, size, ("api", "db"))
    begin = EPOCH
    for k in range(max(size, 6 * len(devices))):
        phone = run.rng.choice(devices)
        at = run.rng.uniform(begin, t)
        run.call(phone, "api", at, 100_000 + k, work=(3e7, 6e7), way=(1e7, 4e7))
    for phone in devices:
        offset = run.rng.choice((-1, 1)) * run.rng.uniform(600 * S, most)
        run.clock[phone] = lambda t, o=offset: t + o
        run.places[phone] = place(phone)
        if own:
            run.own[phone] = own(phone)
    return devices


@situation
def phones_with_device_id(run, size):
    run.judged = phones(run, size, lambda p: {"service.name": "app", "device.id": p})
    run.within, run.verdicts = 100 * MS, ("violations",)


@situation
def phones_with_one_host_name(run, size):
    run.judged = phones(run, size, lambda p: {"service.name": "app", "host.name": "android",
                                              "device.id": p})
    run.within, run.verdicts = 100 * MS, ("violations",)


@situation
def browsers_with_sessions(run, size):
    run.judged = phones(run, size, lambda p: {"service.name": "web"}, lambda p: {"session.id": p})
    run.within, run.verdicts = 100 * MS, ("violations",)


@situation
def phones_that_nothing_tells_apart(run, size):
    run.unjudged = set(phones(run, size, lambda p: {"service.name": "app"}))
    run.verdicts = ("unproven", "violations")
    run.after = ("unproven", "violations")


@situation
def replicas_of_one_host_name(run, size):
    """Machines that were cloned, one of which is wrong."""
    hosts = ["a", "b", "c"]
    t = EPOCH
    for k in range(size * 2):
        t += run.rng.uniform(0.2, 1.5) * 0.1 * S
        run.call("gw", run.rng.choice(hosts), t, k + 1)
        run.call("gw", "other", t + 3e7, k + 1)
    for host in hosts:
        run.places[host] = {"service.name": "api", "host.name": "ubuntu", "service.instance.id": host}
    offset = run.rng.choice((-1, 1)) * run.rng.uniform(0.05, 60) * S
    run.clock["a"] = lambda t: t + offset
    run.judged, run.verdicts = ["a"], ("violations",)


@situation
def containers_of_a_node(run, size):
    """Containers share the clock of their node; instrumentation is late by up to 40 us."""
    base(run, size, ("gw", "api", "db"))
    for host in ("api", "db"):
        run.places[host] = {"service.name": host, "host.name": host + "-7f9", "k8s.node.name": "n1",
                            "k8s.pod.name": host + "-7f9"}
    for one in run.spans:
        if one["host"] == "db":
            one["b"] -= int(run.rng.uniform(3e5, 6.4e5)) if run.rng.random() < 0.2 else 0


@situation
def containers_on_localhost(run, size):
    """A host name that every machine has is none."""
    base(run, size)
    for host in ("gw", "api", "db"):
        run.places[host] = {"service.name": host, "host.name": "localhost"}
    offset = run.rng.choice((-1, 1)) * run.rng.uniform(0.05, 5) * S
    run.clock["api"] = lambda t: t + offset
    run.judged, run.verdicts = ["api"], ("violations",)


# E: records that are no time of the run


def wrong_unit(run, size, factor, form):
    base(run, size, ("gw", "api"))
    t = EPOCH
    for k in range(size):
        t += 0.2 * S
        run.call("gw", "py", t, 50_000 + k)
    run.form = form
    run.clock["py"] = lambda t: int(t * factor) if factor > 1 else int(t) // int(round(1 / factor))
    run.unjudged = {"py"}
    run.verdicts = run.after = ("unproven",)
    run.words = ("unit",)


@situation
def us_where_ns_belong(run, size):
    wrong_unit(run, size, 1e-3, "otlp")


@situation
def ms_where_ns_belong(run, size):
    wrong_unit(run, size, 1e-6, "otlp")


@situation
def seconds_where_ns_belong(run, size):
    wrong_unit(run, size, 1e-9, "otlp")


@situation
def ms_where_us_belong(run, size):
    wrong_unit(run, size, 1e-3, run.rng.choice(("jaeger", "zipkin")))


@situation
def ns_where_us_belong(run, size):
    wrong_unit(run, size, 1e3, run.rng.choice(("jaeger", "zipkin")))


@situation
def a_few_absurd_times(run, size):
    base(run, size)
    rng = run.rng
    servers = [one for one in run.spans if one["host"] == "api" and one["kind"] == "server"]
    for one in rng.sample(servers, max(1, size // 60)):
        wild = rng.choice((0, 1, 12_345 * S, EPOCH - 300 * DAY, EPOCH + 2000 * DAY))
        length = one["e"] - one["b"]
        one["wild"] = True
        one["b"], one["e"] = wild, wild + length


@situation
def many_times_at_zero(run, size):
    base(run, size)
    for one in run.spans:
        if one["host"] == "api" and run.rng.random() < 0.4:
            one["b"] = one["e"] = 0
            one["wild"] = True
    run.verdicts = run.after = ("unproven",)


@situation
def negative_times(run, size):
    base(run, size)
    for one in run.spans:
        if one["host"] == "api" and run.rng.random() < 0.4:
            one["b"], one["e"] = -2 * S, -S
            one["wild"] = True
    run.verdicts = run.after = ("unproven",)


@situation
def a_board_without_a_clock(run, size):
    """Its date is stale until NTP sets it."""
    t = EPOCH
    for k in range(size):
        t += 0.2 * S
        run.call("gw", "board", t, k + 1)
        run.call("gw", "other", t + 0.1 * S, k + 1)
    set_at = stretch(run, EPOCH, t)
    stale = run.rng.choice((3 * DAY, 365 * DAY, 13_000 * DAY))
    run.clock["board"] = lambda t: t - (stale if t < set_at else 0)
    run.judged, run.verdicts, run.most_wrong = ["board"], ("violations",), 2


@situation
def uptime_beside_epoch(run, size):
    base(run, size)
    boot = EPOCH - run.rng.uniform(0.1, 90) * DAY
    run.clock["api"] = lambda t: t - boot
    run.judged, run.verdicts = ["api"], ("violations",)


# F: resolution


def cut(run, host, step, lengths):
    """Begins are cut to a step, and ends too, unless lengths are measured."""
    for one in run.spans:
        if one["host"] == host:
            begin = one["b"] // step * step
            one["shown"] = (begin, begin + one["e"] - one["b"] if lengths else one["e"] // step * step)
    clock = run.clock.get(host, lambda t: t)
    run.resolution[host] = step


def coarse(run, size, step, lengths, form="otlp"):
    t = EPOCH
    for k in range(size * 2):
        t += run.rng.uniform(0.2, 1.5) * 0.1 * S
        run.call("js", "java", t, k + 1, way=(1e5, 3e5))
        run.call("java", "go", t + 3e7, k + 1, way=(1e5, 3e5))
    run.form = form
    cut(run, "java", step, lengths)


@situation
def begins_in_ms(run, size):
    coarse(run, size, MS, True)


@situation
def times_in_ms(run, size):
    coarse(run, size, MS, False, run.rng.choice(("otlp", "zipkin", "jaeger")))


@situation
def times_in_seconds(run, size):
    coarse(run, size, S, False)


@situation
def times_in_ticks_of_windows(run, size):
    coarse(run, size, 15_625_000, run.rng.random() < 0.5)


@situation
def begins_in_ms_of_a_wrong_clock(run, size):
    coarse(run, size, MS, True)
    offset = int(run.rng.choice((-1, 1)) * run.rng.uniform(0.02, 5) * S)
    for one in run.spans:
        if one["host"] == "java":
            begin, end = one["b"] + offset, one["e"] + offset
            one["shown"] = (begin // MS * MS, begin // MS * MS + end - begin)
    run.judged, run.verdicts = ["java"], ("violations",)


# G: links, missing kinds, asynchronous work


def beside_calls(run, size):
    t = EPOCH
    for k in range(size):
        t += S
        run.call("disp", "w0", t + 5e8, 50_000 + 2 * k)
        run.call("disp", "w1", t + 6e8, 50_001 + 2 * k)


def forward(run, size, linker, linked):
    t = EPOCH
    for k in range(size):
        t += S
        jobs = []
        for i in range(4):
            b = t + 2e6 + i * 5e6 + run.rng.uniform(1e6, 4e6)
            jobs.append((1000 + 4 * k + i, run.span(f"w{i % 2}", linked, b, b + 2e7, 1000 + 4 * k + i)))
        run.span("disp", linker, t, t + 4e7, k + 1, links=jobs)


@situation
def forward_links(run, size):
    forward(run, size, run.rng.choice(("producer", "server", "internal", "client", "consumer")),
            "consumer")
    if run.rng.random() < 0.5:
        beside_calls(run, size)
    else:
        run.verdicts = run.after = ("unproven",)


@situation
def forward_links_beside_calls(run, size):
    forward(run, size, run.rng.choice(("producer", "server", "internal", "consumer")),
            run.rng.choice(("server", "internal", "consumer")))
    beside_calls(run, size)


@situation
def polls(run, size):
    kind, key = run.rng.choice((("consumer", "messaging.operation"), ("client", "messaging.operation.type"),
                                ("consumer", "messaging.operation.type")))
    t = EPOCH
    for k in range(size):
        t += 0.5 * S
        sent = []
        for i in range(3):
            b = t + 1e8 + i * 5e7
            r = run.span("shop", "server", b - 3e6, b + 5e6, 1000 + 3 * k + i)
            sent.append((1000 + 3 * k + i, run.span("shop", "producer", b, b + 1e6, 1000 + 3 * k + i, r)))
        run.span("cons", kind, t, t + 3e8, k + 1, links=sent, attributes={key: "receive"}.items())


@situation
def late_consumers(run, size):
    t = EPOCH
    for k in range(size):
        t += S
        root = run.span("shop", "server", t, t + 2e7, k + 1)
        sent = run.span("shop", "producer", t + 5e6, t + 6e6, k + 1, root)
        for host in ("sub-a", "sub-b"):
            b = t + run.rng.uniform(1e8, 9e8)
            run.span(host, "consumer", b, b + 3e7, k + 1, sent)
        b = t + run.rng.uniform(1e8, 9e8)
        run.span("worker", "none", b, b + run.rng.uniform(1e6, 5e7), k + 1, root)
    run.form = run.rng.choice(("otlp", "jaeger", "zipkin"))


@situation
def fire_and_forget(run, size):
    t = EPOCH
    for k in range(size):
        t += S
        c = run.span("web", "client", t, t + 2e6, k + 1)
        run.span("job", "server", t + 4e5, t + 4e5 + run.rng.uniform(1e9, 3e9), k + 1, c)
    run.verdicts = run.after = ("clean", "unproven")


@situation
def clients_that_give_up(run, size):
    """A tenth of the clients wait for 20 ms only."""
    t = EPOCH
    for k in range(size * 2):
        t += run.rng.uniform(0.2, 1.5) * 0.1 * S
        c, s = run.call("gw", "api", t, k + 1)
        if run.rng.random() < 0.1:
            run.spans[-1]["e"] = int(run.spans[-1]["b"] + run.rng.uniform(2e7, 9e7))
            run.spans[-2]["e"] = int(t + 2e7)
            run.spans[-1]["name"] = run.spans[-2]["name"] = "slow"
        run.call("api", "db", run.spans[-1]["b"] + 3e5, k + 1, s, work=(2e5, 1e6))
    run.verdicts = run.after = ("clean", "unproven")


@situation
def clients_that_give_up_beside_a_wrong_clock(run, size):
    clients_that_give_up(run, size)
    offset = run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-2, 3) * S
    run.clock["db"] = lambda t: t + offset
    run.judged, run.verdicts, run.after = ["db"], ("violations",), ("clean", "unproven")


@situation
def all_calls_late_for_a_while(run, size):
    """For some seconds a server takes longer than its clients wait."""
    t = EPOCH
    slow = run.rng.randrange(size)
    for k in range(size * 2):
        t += run.rng.uniform(0.2, 1.5) * 0.1 * S
        run.call("gw", "api", t, k + 1)
        run.call("other", "api", t + 2e7, k + 1)
        if slow <= k < slow + size // 8:
            for i in (-3, -1):
                run.spans[i]["e"] = int(run.spans[i]["b"] + run.rng.uniform(2e7, 9e7))
                run.spans[i - 1]["e"] = int(run.spans[i - 1]["b"] + 2e7)
    run.verdicts = run.after = ("clean", "unproven")


# D: clocks that are set, or that nobody disciplines


@situation
def laptop_that_sleeps(run, size):
    """A browser's clock stops while the laptop sleeps; little traffic around that."""
    t, gap = EPOCH + run.rng.uniform(0, S), 10 ** run.rng.uniform(0.5, 4.3) * S
    asleep = run.rng.randrange(size // 4, 3 * size // 4)
    for k in range(size):
        t += run.rng.uniform(0.5, 1.5) * run.rng.choice((2 * S, 20 * S)) + (gap if k == asleep else 0)
        if k == asleep:
            awake = t
        run.call("browser", "api", t, k + 1, way=(1e7, 3e7))
        run.call("api", "db", run.spans[-1]["b"] + 2e5, k + 1, run.spans[-1]["id"], (1e6, 2e6), (1e5, 3e5))
    nest(run)
    run.clock["browser"] = lambda t: t - (gap if t >= awake else 0)
    run.judged, run.verdicts, run.within = ["browser"], ("violations",), 40 * MS


@situation
def clock_set_by_ntp(run, size):
    t = base(run, size * 2)
    set_at = stretch(run, EPOCH, t)
    by = run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-1.7, 0) * S
    host = run.rng.choice(("gw", "api", "db"))
    run.clock[host] = lambda t: t + (by if t >= set_at else 0)
    twice = sum(one["host"] == host and abs(one["b"] - set_at) <= abs(by) for one in run.spans)
    run.judged, run.verdicts, run.most_wrong = [host], ("violations",), 2 + (twice if by < 0 else 0)
    run.within, run.after = 20 * MS, ("clean", "unproven")


@situation
def clock_slewed_by_ntp(run, size):
    """Off, and slewed to the right time by 500 ppm from some time on."""
    by, rate = run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-1.5, -0.3) * S, 500e-6
    hosts, t = calls(run, size, gap=3 * abs(by) / rate / size)
    begin = stretch(run, EPOCH, EPOCH + (t - EPOCH) / 2)
    run.clock[hosts[0]] = lambda t: t + (1 if by > 0 else -1) * max(
        0, abs(by) - rate * max(0, t - begin))
    run.judged, run.verdicts, run.within = [hosts[0]], ("violations",), 20 * MS
    run.after = ("clean", "unproven")
    shown_off = sum(one["host"] == hosts[0] and one["b"] < begin for one in run.spans)
    if shown_off < 3:  # a client that gave up looks the same
        run.judged, run.unjudged, run.verdicts = [], {hosts[0]}, ("clean", "violations", "unproven")


@situation
def clock_that_nobody_disciplines(run, size):
    base(run, size * 2)
    rate = run.rng.choice((-1, 1)) * run.rng.uniform(150e-6, 900e-6)
    run.clock["api"] = lambda t: t + (t - EPOCH) * rate + 3 * S
    run.judged, run.verdicts, run.within = ["api"], ("violations",), 20 * MS


def calls(run, size, gap=0.1 * S):
    """Calls between five to seven hosts: of any two, of the first one, or of neighbours. Returns the
    hosts in a random order, and the end."""
    hosts, t = [f"host{i}" for i in range(run.rng.randrange(5, 8))], EPOCH
    pairs = run.rng.choice(([(a, b) for a in hosts for b in hosts if a != b],
                            [(hosts[0], b) for b in hosts[1:]], list(zip(hosts, hosts[1:]))))
    for k in range(size * 2):
        t += run.rng.uniform(0.2, 1.5) * gap
        run.call(*run.rng.choice(pairs), t, k + 1)
    return run.rng.sample(hosts, len(hosts)), t


def set_clock(run, host, set_at, by):
    """Times that it shows twice may stay wrong, and a call around the step."""
    before = run.clock.get(host, lambda t: t)
    run.clock[host] = lambda t: before(t) + (by if t >= set_at else 0)
    twice = sum(one["host"] == host and abs(one["b"] - set_at) <= abs(by) for one in run.spans)
    run.judged, run.verdicts, run.after = [*run.judged, host], ("violations",), ("clean", "unproven")
    run.most_wrong = max(run.most_wrong, 2 + (twice if by < 0 else 0))
    run.within = 20 * MS


def drift_beside_a_step(run, size, step):
    hosts, t = calls(run, size, 10 ** run.rng.uniform(-1.3, 0) * S)
    rate = run.rng.choice((-1, 1)) * run.rng.uniform(20e-6, 200e-6)
    run.clock[hosts[1]] = lambda t: t + (t - EPOCH) * rate
    set_clock(run, hosts[0], stretch(run, EPOCH, t), run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-1.5, 0) * S)
    run.judged.append(hosts[1])
    for host in hosts:
        clock = run.clock.get(host, lambda t: t)
        run.clock[host] = lambda t, clock=clock: int(clock(t)) // step * step
        run.resolution[host] = step


@situation
def drift_beside_a_step_in_5_ms(run, size):
    drift_beside_a_step(run, size, 5 * MS)


@situation
def drift_beside_a_step_in_ms(run, size):
    drift_beside_a_step(run, size, MS)


@situation
def clock_set_between_seldom_calls(run, size):
    """A drift of some hundred ppm would do the same between two calls."""
    hosts, t = calls(run, size, run.rng.uniform(1, 5) * S)
    set_clock(run, hosts[0], stretch(run, EPOCH, t), run.rng.choice((-1, 1)) * run.rng.uniform(16, 83) * MS)


@situation
def two_clocks_set_at_once(run, size):
    hosts, t = calls(run, size, 10 ** run.rng.uniform(-1.3, 0) * S)
    set_at = stretch(run, EPOCH, t)
    for host in hosts[:2]:
        by = run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-1.5, 0) * S
        set_clock(run, host, set_at + run.rng.uniform(0, 0.5) * S, by)


@situation
def service_in_local_time_on_its_host(run, size):
    base(run, size)
    for host in ("api", "db"):
        run.places[host] = {"service.name": host, "host.name": "n1"}
    hours = run.rng.choice((-5, 1, 2)) * 3600 * S
    run.clock["db"] = lambda t: t + hours
    run.judged, run.verdicts = ["db"], ("violations", "unproven")


@situation
def calls_that_a_timer_starts(run, size):
    beat, t = run.rng.choice((20, 90, 1000)) * MS, EPOCH
    for k in range(max(size, 30)):
        t += beat * run.rng.choice((1, 1, 2, 3))
        run.call("hub", run.rng.choice(("device", "other")), t, k + 1, work=(2e5, 2 * MS))
    behind = run.rng.uniform(1.2, 8) * MS if beat < 90 * MS else run.rng.uniform(3, 85) * MS
    run.clock["hub"] = lambda t: t - int(behind)
    run.judged, run.verdicts = ["hub"], ("violations",)
    run.after = ("clean", "unproven")


# H: times that somebody else has changed


@situation
def adjusted_by_jaeger(run, size):
    t = EPOCH
    run.form = run.rng.choice(("jaeger", "otlp"))
    for k in range(size):
        t += 0.2 * S
        run.call("gw", "api", t, k + 1)
        if run.rng.random() < 0.8:
            one = run.spans[-1]
            text = f"This span's timestamps were adjusted by {run.rng.uniform(1, 30):.3f}ms"
            one["warnings"] = [text]
            one["attributes"] = {"@jaeger@warnings": [text]}
    run.verdicts = run.after = ("unproven",)


# Controls


@situation
def right_clocks(run, size):
    base(run, size)
    run.form = run.rng.choice(("otlp", "jaeger", "zipkin"))


@situation
def a_wrong_clock(run, size):
    base(run, size)
    run.form = run.rng.choice(("otlp", "jaeger", "zipkin"))
    offset = run.rng.choice((-1, 1)) * 10 ** run.rng.uniform(-1.6, 4) * S
    run.clock["api"] = lambda t: t + offset
    run.judged, run.verdicts, run.within = ["api"], ("violations",), 20 * MS
