// SPDX-License-Identifier: BSD-3-Clause
#include "verify/threads.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace entrain::verify {

using trace::Event;
using trace::EventKind;

namespace {

constexpr std::uint32_t k_creations = 0, k_locks = 1, k_tasks = 2;  // ThreadPair::stage

/// The k-th time that a process opens a thread team.
struct TeamKey {
  std::uint32_t team = k_none;
  std::uint32_t ordinal = 0;

  friend auto operator<=>(const TeamKey&, const TeamKey&) = default;
};

/// One thread's part of a team. Instants by their first event; those that are not there: k_none.
struct TeamCall {
  TeamKey key;
  LocationIndex location = k_none;
  std::uint32_t fork = k_none;  ///< only on the location that forked
  std::uint32_t begin = k_none;
  std::uint32_t end = k_none;
  std::uint32_t join = k_none;  ///< only on the location that forked
};

/// One thread's part of the j-th barrier of a team.
struct BarrierCall {
  TeamKey key;
  std::uint32_t index = 0;  ///< j
  LocationIndex location = k_none;
  std::uint32_t enter = k_none;
  std::uint32_t leave = k_none;
};

/// Follows the teams of one location, innermost last.
class TeamWalk {
 public:
  TeamWalk(const trace::Trace& trace, LocationIndex location, std::vector<TeamCall>& calls,
           std::vector<BarrierCall>& barriers)
      : trace_(trace), location_(location), calls_(calls), barriers_(barriers) {}

  void walk() {
    const auto& events = trace_.locations[location_].events;
    std::uint32_t instant = 0;
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events[e].time != events[instant].time) instant = e;
      switch (events[e].kind) {
        case EventKind::thread_fork:
          fork_ = instant;
          break;
        case EventKind::thread_join:
          join(instant);
          break;
        case EventKind::team_begin:
          begin(instant, events[e].comm);
          break;
        case EventKind::team_end:
          end(instant, events[e].comm);
          break;
        case EventKind::barrier_enter:
          enter(instant);
          break;
        case EventKind::barrier_leave:
          leave(instant);
          break;
        default:
          break;
      }
    }
  }

 private:
  struct Open {
    std::size_t call = 0;             ///< in calls_
    std::uint32_t barrier_count = 0;  ///< barriers entered so far
    std::size_t barrier = k_nothing;  ///< in barriers_, the one that is entered and not left
  };
  static constexpr std::size_t k_nothing = ~std::size_t{0};

  void begin(std::uint32_t event, std::uint32_t team) {
    open_.push_back({calls_.size()});
    calls_.push_back({{team, ordinals_[team]++}, location_, fork_, event});
    fork_ = k_none;
  }

  void end(std::uint32_t event, std::uint32_t team) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& open) {
      return calls_[open.call].key.team == team;
    });
    if (found == open_.rend()) return;
    TeamCall& call = calls_[found->call];
    call.end = event;
    if (call.fork != k_none) joining_ = found->call;
    open_.erase(std::next(found).base(), open_.end());
  }

  void join(std::uint32_t event) {
    if (joining_ != k_nothing) calls_[joining_].join = event;
    joining_ = k_nothing;
  }

  void enter(std::uint32_t event) {
    if (open_.empty()) return;  // serial code: nobody else is there
    Open& team = open_.back();
    team.barrier = barriers_.size();
    barriers_.push_back({calls_[team.call].key, team.barrier_count++, location_, event});
  }

  void leave(std::uint32_t event) {
    if (open_.empty() || open_.back().barrier == k_nothing) return;
    barriers_[open_.back().barrier].leave = event;
    open_.back().barrier = k_nothing;
  }

  const trace::Trace& trace_;
  LocationIndex location_;
  std::vector<TeamCall>& calls_;
  std::vector<BarrierCall>& barriers_;
  std::vector<Open> open_;
  std::size_t joining_ = k_nothing;  ///< in calls_, the team that ended last and was forked here
  std::map<std::uint32_t, std::uint32_t> ordinals_;  ///< per team: begins so far
  std::uint32_t fork_ = k_none;
};

bool has_forked(const TeamCall& call) { return call.fork != k_none; }

/// fork -> begins and ends -> join of one team instance.
void add_team(std::span<const TeamCall> team, ThreadRelation& out) {
  const auto master = std::find_if(team.begin(), team.end(), has_forked);
  if (master == team.end()) return;
  std::vector<EventRef> fork{{master->location, master->fork}}, begins, ends;
  for (const TeamCall& call : team) {
    if (call.location == master->location) continue;
    begins.push_back({call.location, call.begin});
    if (call.end != k_none) ends.push_back({call.location, call.end});
  }
  out.add_instance(fork, begins);
  if (master->join == k_none) return;
  std::vector<EventRef> join{{master->location, master->join}};
  out.add_instance(ends, join);
}

/// One barrier of a team of `size` threads: everybody or nobody.
void add_barrier(std::span<const BarrierCall> barrier, std::size_t size, ThreadRelation& out,
                 Unmatched& unmatched) {
  std::vector<EventRef> enters, leaves;
  for (const BarrierCall& call : barrier) {
    if (call.leave == k_none) continue;
    enters.push_back({call.location, call.enter});
    leaves.push_back({call.location, call.leave});
  }
  if (enters.size() == size) {
    out.add_instance(enters, leaves);
  } else {
    ++unmatched.thread_barriers_incomplete;
  }
}

void pair_teams(const trace::Trace& trace, std::span<const LocationIndex> locations,
                ThreadRelation& out, Unmatched& unmatched) {
  std::vector<TeamCall> calls;
  std::vector<BarrierCall> barriers;
  for (const LocationIndex l : locations) TeamWalk(trace, l, calls, barriers).walk();
  std::sort(calls.begin(), calls.end(), [](const TeamCall& a, const TeamCall& b) {
    return std::tie(a.key, a.location) < std::tie(b.key, b.location);
  });
  std::sort(barriers.begin(), barriers.end(), [](const BarrierCall& a, const BarrierCall& b) {
    return std::tie(a.key, a.index, a.location) < std::tie(b.key, b.index, b.location);
  });
  auto barrier = barriers.cbegin();
  for (auto first = calls.cbegin(); first != calls.cend();) {
    const auto last = std::find_if(first, calls.cend(),
                                   [&](const TeamCall& call) { return call.key != first->key; });
    const bool contradictory = std::count_if(first, last, has_forked) > 1;
    if (contradictory) {
      ++unmatched.thread_teams;
    } else {
      add_team({first, last}, out);
    }
    // Every barrier stands in a team, and both lists are in order of teams.
    while (barrier != barriers.cend() && barrier->key == first->key) {
      const auto next = std::find_if(barrier, barriers.cend(), [&](const BarrierCall& call) {
        return call.key != barrier->key || call.index != barrier->index;
      });
      if (!contradictory) {
        add_barrier({barrier, next}, static_cast<std::size_t>(last - first), out, unmatched);
      }
      barrier = next;
    }
    first = last;
  }
}

/// An event of a thread operation with whatever names the operation in the process.
struct ThreadItem {
  std::uint32_t a = 0, b = 0;
  std::uint64_t c = 0;
  std::uint32_t number = 0;  ///< of the event in its process
  EventKind kind{};
  EventRef event;  ///< its instant

  [[nodiscard]] auto operation() const { return std::tuple(a, b); }
};

using Items = std::vector<ThreadItem>;

/// Calls `use` with every run of items of the same operation and c: by location, each location's
/// in stream order.
template <class Use>
void for_each_group(Items& items, Use use) {
  std::sort(items.begin(), items.end(), [](const ThreadItem& x, const ThreadItem& y) {
    return std::tuple(x.operation(), x.c, x.number) < std::tuple(y.operation(), y.c, y.number);
  });
  const std::span<const ThreadItem> all(items);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const ThreadItem& item) {
      return item.operation() != first->operation() || item.c != first->c;
    });
    use(std::span<const ThreadItem>(first, last));
    first = last;
  }
}

/// How many ends found no partner.
struct Leftover {
  std::int64_t sends = 0;
  std::int64_t receives = 0;
};

/// The item of kind `from` precedes that of kind `to`, if there is one of each. Returns what is
/// left over.
Leftover pair_once(std::span<const ThreadItem> group, EventKind from, EventKind to,
                   ThreadRelation& out) {
  Leftover left;
  EventRef send, receive;
  for (const ThreadItem& item : group) {
    if (item.kind == from) {
      send = item.event;
      ++left.sends;
    } else if (item.kind == to) {
      receive = item.event;
      ++left.receives;
    }
  }
  if (left.sends != 1 || left.receives != 1) return left;
  out.add_pair(send, receive, k_creations);
  return {};
}

/// create -> begin, end -> wait.
void pair_creations(Items& items, ThreadRelation& out, Unmatched& unmatched) {
  for_each_group(items, [&](std::span<const ThreadItem> thread) {
    const Leftover starts =
        pair_once(thread, EventKind::thread_create, EventKind::thread_begin, out);
    const Leftover stops = pair_once(thread, EventKind::thread_end, EventKind::thread_wait, out);
    // An end that nobody waits for is a detached thread, no defect.
    unmatched.threads += starts.sends + starts.receives + stops.receives;
  });
}

/// Last release of order n -> first acquire of order n + 1. Numbers wrap at 2^32. Only one thread
/// can have held a lock under one number.
void pair_locks(Items& items, ThreadRelation& out, Unmatched& unmatched) {
  struct Holding {
    std::tuple<std::uint32_t, std::uint32_t> lock;
    std::uint32_t order = 0;
    EventRef acquire, release;
    bool several = false;
  };
  std::vector<Holding> holdings;
  for_each_group(items, [&](std::span<const ThreadItem> nested) {
    Holding holding{nested[0].operation(), static_cast<std::uint32_t>(nested[0].c), {}, {}};
    const auto is_elsewhere = [](EventRef known, EventRef event) {
      return known.location != k_none && known.location != event.location;
    };
    for (const ThreadItem& item : nested) {
      if (item.kind == EventKind::lock_release) {
        holding.several = holding.several || is_elsewhere(holding.release, item.event);
        holding.release = item.event;
      } else {
        holding.several = holding.several || is_elsewhere(holding.acquire, item.event);
        if (holding.acquire.location == k_none) holding.acquire = item.event;
      }
    }
    unmatched.thread_locks += holding.several ? 1 : 0;
    holdings.push_back(holding);
  });
  const auto lower = [](const Holding& x, const Holding& y) {
    return std::tie(x.lock, x.order) < std::tie(y.lock, y.order);
  };
  for (const Holding& held : holdings) {  // already in this order
    const Holding wanted{held.lock, held.order + 1, {}, {}};
    const auto next = std::lower_bound(holdings.begin(), holdings.end(), wanted, lower);
    if (next == holdings.end() || lower(wanted, *next)) continue;
    if (held.release.location == k_none || next->acquire.location == k_none) continue;
    if (!held.several && !next->several) out.add_pair(held.release, next->acquire, k_locks);
  }
}

/// The creation of a task -> the first time that each other thread runs it.
void pair_tasks(Items& items, ThreadRelation& out, Unmatched& unmatched) {
  for_each_group(items, [&](std::span<const ThreadItem> task) {
    const auto is_create = [](const ThreadItem& item) {
      return item.kind == EventKind::task_create;
    };
    const auto create = std::find_if(task.begin(), task.end(), is_create);
    if (create == task.end()) return;
    if (std::any_of(std::next(create), task.end(), is_create)) {
      ++unmatched.thread_tasks;
      return;
    }
    LocationIndex latest = k_none;
    for (const ThreadItem& item : task) {
      if (item.kind != EventKind::task_switch || item.event.location == latest) continue;
      latest = item.event.location;
      out.add_pair(create->event, item.event, k_tasks);
    }
  });
}

/// Events of thread operations of one process, by kind of operation.
struct Operations {
  Items creations, locks, tasks;

  void collect(const Event& event, std::uint32_t number, EventRef instant) {
    ThreadItem item{event.comm, 0, event.id, number, event.kind, instant};
    switch (event.kind) {
      case EventKind::thread_create:
      case EventKind::thread_begin:
      case EventKind::thread_wait:
      case EventKind::thread_end:
        creations.push_back(item);
        break;
      case EventKind::lock_acquire:
      case EventKind::lock_release:
        item.a = event.op;
        item.b = event.peer;
        item.c = event.tag;
        locks.push_back(item);
        break;
      case EventKind::task_create:
      case EventKind::task_switch:
        item.b = event.peer;
        item.c = event.tag;
        tasks.push_back(item);
        break;
      default:
        break;
    }
  }
};

}  // namespace

void ThreadRelation::add_pair(EventRef send, EventRef receive, std::uint32_t stage) {
  if (send.location == receive.location) return;  // the stream orders those
  pairs_.push_back({send, receive, time(send), time(receive), stage, process_});
}

void ThreadRelation::add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives) {
  if (sends.empty() || receives.empty()) return;
  for (auto* side : {&sends, &receives}) {
    std::sort(side->begin(), side->end());
    for (const EventRef event : *side) participants_.push_back({time(event), event});
  }
  instances_.push_back({process_, static_cast<std::uint32_t>(sends.size()),
                        static_cast<std::uint32_t>(receives.size())});
}

void ThreadRelation::add_process(std::uint32_t process, Unmatched& unmatched) {
  process_ = process;
  const auto locations = places_->locations(process);
  pair_teams(*trace_, locations, *this, unmatched);
  Operations operations;
  for (const LocationIndex l : locations) {
    const auto& events = trace_->locations[l].events;
    EventRef instant{l, 0};
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events[e].time != events[instant.event].time) instant.event = e;
      operations.collect(events[e], places_->first_number(l) + e, instant);
    }
  }
  pair_creations(operations.creations, *this, unmatched);
  pair_locks(operations.locks, *this, unmatched);
  pair_tasks(operations.tasks, *this, unmatched);
}

void ThreadRelation::for_each_instance(const std::function<void(Instance&)>& use) const {
  Instance instance;
  instance.kind = EdgeKind::thread;
  auto participant = participants_.begin();
  std::uint64_t sequence = 0;
  for (const Shape& shape : instances_) {
    const auto fill = [&](std::vector<Moment>& side, std::uint32_t count) {
      side.clear();
      for (; count > 0; --count, ++participant) {
        const EventRef event = participant->event;
        side.push_back({participant->time, event, shape.process,
                        trace_->definitions.node_of[event.location], 0});
      }
    };
    fill(instance.sends, shape.sends);
    fill(instance.receives, shape.receives);
    instance.order = {std::uint64_t{1} << 32, shape.process, sequence++, 0};
    use(instance);
  }
}

}  // namespace entrain::verify
