// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_world.hpp"

namespace entrain::test {

using trace::Event;
using trace::EventKind;

Threads::Threads(World& world)
    : world_(world), sequence_(world.plan.processes), generation_(world.now.size()) {}

void Threads::parallel_region() {
  const auto process = static_cast<std::uint32_t>(world_.rng.below(world_.plan.processes));
  const auto& threads = world_.members[process];
  const LocationIndex master = threads.front();
  Event event;
  event.kind = EventKind::thread_fork;
  const Ref fork = world_.append(master, event);
  event.kind = EventKind::team_begin;
  event.comm = world_.team[process];
  for (const LocationIndex thread : threads) {
    const TrueTime earliest = world_.time(fork) + world_.latency(master, thread);
    world_.edge(fork, world_.append(thread, event, earliest), EdgeKind::thread);
  }
  for (std::uint64_t inner = world_.rng.below(4); inner > 0; --inner) {
    switch (world_.rng.below(3)) {
      case 0:
        barrier(threads);
        break;
      case 1:
        lock(process, world_.rng.pick(threads));
        break;
      default:
        task(process, threads);
    }
  }
  event.kind = EventKind::team_end;
  std::vector<Ref> ends;
  TrueTime earliest = 0;
  for (const LocationIndex thread : threads) {
    ends.push_back(world_.append(thread, event));
    earliest = std::max(earliest, world_.time(ends.back()) + world_.latency(thread, master));
  }
  event.kind = EventKind::thread_join;
  event.comm = k_none;
  const Ref join = world_.append(master, event, earliest);
  for (const Ref& end : ends) world_.edge(end, join, EdgeKind::thread);
}

void Threads::barrier(const std::vector<LocationIndex>& threads) {
  Event event;
  event.kind = EventKind::barrier_enter;
  std::vector<Ref> enters;
  TrueTime last = 0;
  for (const LocationIndex thread : threads) {
    enters.push_back(world_.append(thread, event));
    last = std::max(last, world_.time(enters.back()));
  }
  event.kind = EventKind::barrier_leave;
  for (const LocationIndex thread : threads) {
    const Ref leave = world_.append(thread, event, last);
    for (const Ref& enter : enters) world_.edge(enter, leave, EdgeKind::thread);
  }
}

/// Acquires and releases a lock, sometimes nested: nested acquisitions share their number.
void Threads::lock(std::uint32_t process, LocationIndex thread) {
  const auto id = static_cast<std::uint32_t>(world_.rng.below(2));
  const auto [found, is_new] = locks_.try_emplace({process, id});
  Lock& lock = found->second;
  if (is_new) lock.order = world_.rng.chance(0.5) ? 0xFFFFFFFDu : 0;
  Event event;
  event.op = 3;  // any paradigm, the same for all
  event.peer = id;
  event.tag = ++lock.order;
  event.kind = EventKind::lock_acquire;
  const std::uint64_t depth = 1 + world_.rng.below(2);
  const Ref acquire = world_.append(thread, event, lock.released ? world_.time(lock.release) : 0);
  if (lock.released) world_.edge(lock.release, acquire, EdgeKind::thread);
  for (std::uint64_t i = 1; i < depth; ++i) world_.append(thread, event);
  event.kind = EventKind::lock_release;
  for (std::uint64_t i = 0; i < depth; ++i) lock.release = world_.append(thread, event);
  lock.released = true;
}

void Threads::task(std::uint32_t process, const std::vector<LocationIndex>& threads) {
  const auto creator = static_cast<std::uint32_t>(world_.rng.below(threads.size()));
  Event event;
  event.kind = EventKind::task_create;
  event.comm = world_.team[process];
  event.peer = creator;
  event.tag = ++generation_[threads[creator]];
  const Ref create = world_.append(threads[creator], event);
  event.kind = EventKind::task_switch;
  const LocationIndex worker = world_.rng.pick(threads);
  world_.edge(create, world_.append(worker, event, world_.time(create)), EdgeKind::thread);
  if (world_.rng.chance(0.3)) world_.append(worker, event);  // resumed: no edge
}

void Threads::create_and_wait() {
  const auto process = static_cast<std::uint32_t>(world_.rng.below(world_.plan.processes));
  const auto& threads = world_.members[process];
  if (threads.size() < 2) return;
  const LocationIndex creator = threads.front();
  const LocationIndex created = threads[1 + world_.rng.below(threads.size() - 1)];
  Event event;
  event.comm = world_.team[process];
  event.id = ++sequence_[process];
  event.kind = EventKind::thread_create;
  const Ref create = world_.append(creator, event);
  event.kind = EventKind::thread_begin;
  world_.edge(create, world_.append(created, event, world_.time(create)), EdgeKind::thread);
  event.kind = EventKind::thread_end;
  const Ref end = world_.append(created, event);
  event.kind = EventKind::thread_wait;
  world_.edge(end, world_.append(creator, event, world_.time(end)), EdgeKind::thread);
}

}  // namespace entrain::test
