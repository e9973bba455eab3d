# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the data-flow of forward amortization over the members of a team, event by event.

The traced program is a solver of conjugate gradients: in every iteration each location exchanges
messages with its six neighbours in a cube and takes part in two collectives of all. Every member
has a block of locations and one thread, which does what is ready in the order in which it became
ready; parcels cost both ends some time and need some time on their way.

News of a collective spreads among the members in stages, as in src/clc/relays.hpp, or by way of a
home, which gets the times of all participants and answers each of them.

    python3 bench/flow.py    what relays gain between four machines
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import count
from typing import Callable

NEIGHBOURS = 6
COLLECTIVES = 2
NODES = 2 * NEIGHBOURS + 2 * COLLECTIVES  # of a location in an iteration
TOLD = 3  # members that each one tells in a stage of a collective
NEWS = 3  # updates: the largest value, the second one, the owner of the largest


@dataclass(frozen=True)
class Costs:
    node_s: float  # evaluation of a node
    parcel_s: float  # work of the sender for a parcel, and again of the receiver
    latency_s: float  # of a parcel on its way
    bytes_per_s: float  # of a member's network
    lanes: int = 1  # passes that go together

    @property
    def update_bytes(self) -> int:
        return 8 + 8 * self.lanes


@dataclass(frozen=True)
class Outcome:
    time_s: float
    efficiency: float  # evaluation of nodes, of all time of all members
    idle: float  # share of the time in which members wait
    parcels: float  # per member and iteration
    bytes: float  # per member and iteration


class _Flow:
    """Members with one thread each, and tasks that wait for parcels and for each other."""

    def __init__(self, members: int, costs: Costs) -> None:
        self.costs = costs
        self.busy = self.useful = self.now = 0.0
        self.parcels = self.bytes = 0
        self.arrived: defaultdict[tuple, int] = defaultdict(int)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._waiting: list[deque[tuple[float, Callable[[], None]]]] = [
            deque() for _ in range(members)]
        self._working = [False] * members

    def at(self, time: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), then))

    def work(self, member: int, seconds: float, then: Callable[[], None]) -> None:
        """Lets a member work for some time once it has done all that became ready before."""
        self._waiting[member].append((seconds, then))
        if not self._working[member]:
            self._start(member)

    def _start(self, member: int) -> None:
        seconds, then = self._waiting[member].popleft()
        self._working[member] = True
        self.busy += seconds

        def done() -> None:
            self._working[member] = False
            then()
            if self._waiting[member] and not self._working[member]:
                self._start(member)
        self.at(self.now + seconds, done)

    def evaluate(self, member: int, nodes: int, then: Callable[[], None]) -> None:
        self.useful += nodes * self.costs.node_s
        self.work(member, nodes * self.costs.node_s, then)

    def send(self, sender: int, to: int, values: int, then: Callable[[], None]) -> None:
        """Calls `then` when the other member has taken the values; at once if it is the same."""
        if sender == to:
            then()
            return
        size = values * self.costs.update_bytes
        self.parcels += 1
        self.bytes += size

        def travel() -> None:
            arrival = self.now + self.costs.latency_s + size / self.costs.bytes_per_s
            self.at(arrival, lambda: self.work(to, self.costs.parcel_s, then))
        self.work(sender, self.costs.parcel_s, travel)

    def when(self, key: tuple, needed: int, then: Callable[[], None]) -> None:
        """Counts one of the things that `then` waits for."""
        self.arrived[key] += 1
        if self.arrived[key] == needed:
            del self.arrived[key]
            then()

    def run(self) -> None:
        while self._events:
            self.now, _, then = heapq.heappop(self._events)
            then()


def stages(members: int) -> list[list[int]]:
    """Per stage: how far in rank those are that a member tells."""
    result, stride = [], 1
    while stride < members:
        result.append([d for d in range(stride, (TOLD + 1) * stride, stride) if d < members])
        stride *= TOLD + 1
    return result


def simulate(members: int, locations: int, costs: Costs, iterations: int = 6,
             homes: bool = False) -> Outcome:
    """A pass over some iterations of the program. `homes`: collectives without relays."""
    flow = _Flow(members, costs)
    side = round(locations ** (1 / 3))
    per_member = locations / members
    # Members that hold neighbours of a block, and the messages that cross to each of them.
    crossing: dict[int, int] = {}
    for distance in (1, side, side * side):
        blocks = max(1, round(distance / per_member))
        values = max(1, round(min(per_member, distance)))
        if blocks < members:
            crossing[blocks] = crossing.get(blocks, 0) + values
    around = [(sign * d, values) for d, values in crossing.items() for sign in (-1, 1)]
    neighbours = [[((m + d) % members, values) for d, values in around] for m in range(members)]
    own = max(1, round(per_member))
    plan = stages(members)

    def exchange_messages(member: int, iteration: int) -> None:
        if iteration == iterations:
            return

        def sent() -> None:
            for other, values in neighbours[member]:
                flow.send(member, other, values, lambda other=other: ready(other))
            ready(member)

        def ready(other: int) -> None:
            flow.when(("receive", other, iteration), len(around) + 1,
                      lambda: flow.evaluate(other, NEIGHBOURS * own,
                                            lambda: begin(other, iteration, 0)))
        flow.evaluate(member, NEIGHBOURS * own, sent)

    def begin(member: int, iteration: int, collective: int) -> None:
        if collective == COLLECTIVES:
            exchange_messages(member, iteration + 1)
            return
        flow.evaluate(member, own, lambda: enter(member, iteration, collective, 0))

    def enter(member: int, iteration: int, collective: int, stage: int) -> None:
        if homes:
            report(member, iteration, collective)
            return
        if stage == len(plan):
            flow.evaluate(member, own, lambda: begin(member, iteration, collective + 1))
            return

        def heard(other: int) -> None:
            flow.when((other, iteration, collective, stage), len(plan[stage]) + 1,
                      lambda: enter(other, iteration, collective, stage + 1))
        for distance in plan[stage]:
            other = (member + distance) % members
            flow.send(member, other, NEWS, lambda other=other: heard(other))
        heard(member)

    def report(member: int, iteration: int, collective: int) -> None:
        home = (COLLECTIVES * iteration + collective) % members

        def answer() -> None:
            for other in range(members):
                flow.send(home, other, own, lambda other=other: flow.evaluate(
                    other, own, lambda: begin(other, iteration, collective + 1)))

        def heard() -> None:  # the home looks at the time of every participant
            flow.when((home, iteration, collective), members,
                      lambda: flow.work(home, locations * costs.node_s / 2, answer))
        flow.send(member, home, own, heard)

    for member in range(members):
        exchange_messages(member, 0)
    flow.run()
    total = flow.now * members
    return Outcome(time_s=flow.now, efficiency=flow.useful / total, idle=1 - flow.busy / total,
                   parcels=flow.parcels / members / iterations,
                   bytes=flow.bytes / members / iterations)


def compare_homes() -> None:
    """Prints the time of a pass between four machines with relays and with homes."""
    print("locations | latency, us | relays, us | homes, us | gain")
    for locations in (64, 1_000, 100_000):
        for latency_us in (2, 25):
            costs = Costs(node_s=40e-9, parcel_s=0.5e-6, latency_s=latency_us * 1e-6,
                          bytes_per_s=1e10)
            relays, homes = (simulate(4, locations, costs, homes=by_home).time_s
                             for by_home in (False, True))
            print(f"{locations:9,} | {latency_us:11} | {relays * 1e6:10,.0f} | "
                  f"{homes * 1e6:9,.0f} | {homes / relays:.2f}")


if __name__ == "__main__":
    compare_homes()
