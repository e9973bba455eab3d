// SPDX-License-Identifier: BSD-3-Clause
#include "verify/threads.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace entrain::verify {

namespace {

using trace::Event;
using trace::EventKind;

// Each kind of operation has its own class. One pass over the events of a process adds the records;
// pair() then sorts them by the operation that they name, which makes partners adjacent.

/// Sorts records by operation; those of one operation stay in order of locations and streams.
template <class Record>
void sort_by_operation(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.operation() < b.operation(); });
}

/// Calls `use` with each run of records of the same operation.
template <class Record, class Use>
void for_each_operation(std::span<const Record> records, Use use) {
  for (auto first = records.begin(); first != records.end();) {
    const auto last = std::find_if(first, records.end(), [&](const Record& record) {
      return record.operation() != first->operation();
    });
    use(std::span<const Record>(first, last));
    first = last;
  }
}

/// Records of one end of an operation, which must have exactly one.
struct End {
  EventRef at;
  std::int64_t records = 0;

  void see(EventRef instant) {
    at = instant;
    ++records;
  }
};

/// Thread creation: create -> begin, end -> wait.
class Creations {
 public:
  void see(const Event& event, EventRef instant) {
    records_.push_back({event.comm, event.id, event.kind, instant});
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) {
    sort_by_operation(records_);
    for_each_operation(std::span<const Record>(records_), [&](std::span<const Record> thread) {
      const End create = end_of(thread, EventKind::thread_create);
      const End begin = end_of(thread, EventKind::thread_begin);
      if (create.records == 1 && begin.records == 1) {
        out.add_pair(ThreadStage::creation, create.at, begin.at);
      } else {
        unmatched.threads += create.records + begin.records;
      }
      const End end = end_of(thread, EventKind::thread_end);
      const End wait = end_of(thread, EventKind::thread_wait);
      if (end.records == 1 && wait.records == 1) {
        out.add_pair(ThreadStage::creation, end.at, wait.at);
      } else {
        unmatched.threads += wait.records;  // an end without a wait is a detached thread, no defect
      }
    });
  }

 private:
  struct Record {
    std::uint32_t contingent = 0;
    std::uint64_t sequence = 0;
    EventKind kind{};
    EventRef at;

    [[nodiscard]] auto operation() const { return std::tuple(contingent, sequence); }
  };

  static End end_of(std::span<const Record> thread, EventKind kind) {
    End end;
    for (const Record& record : thread) {
      if (record.kind == kind) end.see(record.at);
    }
    return end;
  }

  std::vector<Record> records_;
};

/// Locks: the last release of order n -> the first acquire of order n + 1. The order wraps at 2^32.
/// Nested acquires share one order number; only one thread can hold a lock under one number.
class Locks {
 public:
  void see(const Event& event, EventRef instant) {
    const bool release = event.kind == EventKind::lock_release;
    records_.push_back({{event.op, event.peer}, event.tag, release, instant});
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) {
    sort_by_operation(records_);
    std::vector<Holding> holdings;  // in order of lock and number
    for_each_operation(std::span<const Record>(records_), [&](std::span<const Record> nested) {
      holdings.push_back(holding_of(nested));
      unmatched.thread_locks += holdings.back().several ? 1 : 0;
    });
    for (const Holding& held : holdings) {
      const Holding* next = find(holdings, held.lock, held.order + 1);
      if (next == nullptr || held.several || next->several) continue;
      if (held.release.location == k_none || next->acquire.location == k_none) continue;
      out.add_pair(ThreadStage::lock, held.release, next->acquire);
    }
  }

 private:
  struct Lock {
    std::uint8_t paradigm = 0;
    std::uint32_t id = 0;

    friend auto operator<=>(const Lock&, const Lock&) = default;
  };
  struct Record {
    Lock lock;
    std::uint32_t order = 0;
    bool release = false;
    EventRef at;

    [[nodiscard]] auto operation() const { return std::tuple(lock, order); }
  };
  struct Holding {
    Lock lock;
    std::uint32_t order = 0;
    EventRef acquire;      ///< the first one; location k_none: not in the trace
    EventRef release;      ///< the last one; likewise
    bool several = false;  ///< several threads have acquired or released it
  };

  static Holding holding_of(std::span<const Record> nested) {
    Holding holding{.lock = nested[0].lock, .order = nested[0].order, .acquire = {}, .release = {}};
    for (const Record& record : nested) {
      const EventRef known = record.release ? holding.release : holding.acquire;
      const bool is_first = known.location == k_none;
      if (!is_first && known.location != record.at.location) holding.several = true;
      if (record.release) {
        holding.release = record.at;
      } else if (is_first) {
        holding.acquire = record.at;
      }
    }
    return holding;
  }

  /// Returns nullptr if the lock was not held under this number.
  static const Holding* find(const std::vector<Holding>& holdings, Lock lock, std::uint32_t order) {
    const auto found =
        std::partition_point(holdings.begin(), holdings.end(), [&](const Holding& holding) {
          return std::tuple(holding.lock, holding.order) < std::tuple(lock, order);
        });
    const bool exists = found != holdings.end() && found->lock == lock && found->order == order;
    return exists ? &*found : nullptr;
  }

  std::vector<Record> records_;
};

/// Tasks: the creation -> the first time that each other thread runs the task.
class Tasks {
 public:
  void see(const Event& event, EventRef instant) {
    const bool create = event.kind == EventKind::task_create;
    records_.push_back({event.comm, event.peer, event.tag, create, instant});
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) {
    sort_by_operation(records_);
    for_each_operation(std::span<const Record>(records_), [&](std::span<const Record> task) {
      End creation;
      for (const Record& record : task) {
        if (record.create) creation.see(record.at);
      }
      if (creation.records > 1) ++unmatched.thread_tasks;
      if (creation.records != 1) return;
      LocationIndex latest = k_none;
      for (const Record& record : task) {
        if (record.create || record.at.location == latest) continue;
        latest = record.at.location;
        out.add_pair(ThreadStage::task, creation.at, record.at);
      }
    });
  }

 private:
  struct Record {
    std::uint32_t omp_team = 0;
    std::uint32_t creator = 0;
    std::uint32_t generation = 0;
    bool create = false;  ///< creation; false: switch to the task
    EventRef at;

    [[nodiscard]] auto operation() const { return std::tuple(omp_team, creator, generation); }
  };
  std::vector<Record> records_;
};

/// Thread teams: fork -> begins, ends -> join, and barriers inside of them. The k-th use of a
/// thread team by one thread belongs to the k-th use by the others.
class ThreadTeams {
 public:
  /// Call it before the first record of each location.
  void begin_location(LocationIndex location) {
    location_ = location;
    uses_.clear();
    open_.clear();
    fork_ = k_none;
    ended_ = k_nothing;
  }

  void fork(std::uint32_t instant) { fork_ = instant; }

  void join(std::uint32_t instant) {
    if (ended_ != k_nothing) parts_[ended_].join = instant;
    ended_ = k_nothing;
  }

  void begin(std::uint32_t instant, std::uint32_t omp_team) {
    open_.push_back({.part = parts_.size()});
    parts_.push_back({.use = {omp_team, uses_[omp_team]++},
                      .location = location_,
                      .fork = fork_,
                      .begin = instant});
    fork_ = k_none;
  }

  /// Also ends teams that began later and never ended.
  void end(std::uint32_t instant, std::uint32_t omp_team) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& open) {
      return parts_[open.part].use.omp_team == omp_team;
    });
    if (found == open_.rend()) return;
    Part& part = parts_[found->part];
    part.end = instant;
    if (has_forked(part)) ended_ = found->part;
    open_.erase(std::next(found).base(), open_.end());
  }

  void enter(std::uint32_t instant) {
    if (open_.empty()) return;  // serial code: there is no other thread
    Open& team = open_.back();
    team.entered = barriers_.size();
    barriers_.push_back({.use = parts_[team.part].use,
                         .j = team.barriers++,
                         .location = location_,
                         .enter = instant});
  }

  void leave(std::uint32_t instant) {
    if (open_.empty() || open_.back().entered == k_nothing) return;
    barriers_[open_.back().entered].leave = instant;
    open_.back().entered = k_nothing;
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) {
    sort_by_operation(parts_);
    sort_by_operation(barriers_);
    auto barrier = barriers_.cbegin();  // each belongs to a use, and both are in order of uses
    for_each_operation(std::span<const Part>(parts_), [&](std::span<const Part> parts) {
      const auto first = barrier;
      barrier = std::find_if(first, barriers_.cend(),
                             [&](const Barrier& other) { return other.use != parts[0].use; });
      const auto forks = std::count_if(parts.begin(), parts.end(), has_forked);
      if (forks > 1) {
        ++unmatched.thread_teams;
        return;
      }
      if (forks == 1) add_fork_and_join(parts, out);
      for_each_operation(std::span<const Barrier>(first, barrier),
                         [&](std::span<const Barrier> threads) {
                           if (!add_barrier(threads, parts.size(), out)) {
                             ++unmatched.thread_barriers_incomplete;
                           }
                         });
    });
  }

 private:
  /// The k-th use of a thread team by a process.
  struct Use {
    std::uint32_t omp_team = k_none;
    std::uint32_t k = 0;

    friend auto operator<=>(const Use&, const Use&) = default;
  };
  /// Actions of one thread in one use of a thread team, as instants; k_none: none.
  struct Part {
    Use use;
    LocationIndex location = k_none;
    std::uint32_t fork = k_none;  ///< set only for the thread that forked
    std::uint32_t begin = k_none;
    std::uint32_t end = k_none;
    std::uint32_t join = k_none;  ///< set only for the thread that forked

    [[nodiscard]] Use operation() const { return use; }
  };
  /// Passage of one thread through the j-th barrier of one use of a thread team.
  struct Barrier {
    Use use;
    std::uint32_t j = 0;
    LocationIndex location = k_none;
    std::uint32_t enter = k_none;
    std::uint32_t leave = k_none;

    [[nodiscard]] auto operation() const { return std::tuple(use, j); }
  };
  static constexpr std::size_t k_nothing = ~std::size_t{0};
  /// A thread team that the current thread has begun and not ended.
  struct Open {
    std::size_t part = 0;             ///< index in parts_
    std::uint32_t barriers = 0;       ///< number entered so far
    std::size_t entered = k_nothing;  ///< index in barriers_: entered and not left
  };

  static bool has_forked(const Part& part) { return part.fork != k_none; }

  static void add_fork_and_join(std::span<const Part> parts, ThreadRelation& out) {
    const auto master = std::find_if(parts.begin(), parts.end(), has_forked);
    std::vector<EventRef> fork{{master->location, master->fork}};
    std::vector<EventRef> join, begins, ends;
    if (master->join != k_none) join.push_back({master->location, master->join});
    for (const Part& part : parts) {
      if (part.location == master->location) continue;
      begins.push_back({part.location, part.begin});
      if (part.end != k_none) ends.push_back({part.location, part.end});
    }
    out.add_instance(fork, begins);
    out.add_instance(ends, join);
  }

  /// True if all threads of the thread team have passed the barrier; else it makes no edge.
  static bool add_barrier(std::span<const Barrier> threads, std::size_t team_size,
                          ThreadRelation& out) {
    std::vector<EventRef> enters, leaves;
    for (const Barrier& thread : threads) {
      if (thread.leave == k_none) continue;
      enters.push_back({thread.location, thread.enter});
      leaves.push_back({thread.location, thread.leave});
    }
    if (enters.size() != team_size) return false;
    out.add_instance(enters, leaves);
    return true;
  }

  std::vector<Part> parts_;
  std::vector<Barrier> barriers_;
  // State at the current location:
  LocationIndex location_ = k_none;
  std::map<std::uint32_t, std::uint32_t> uses_;  ///< number of begins per thread team
  std::vector<Open> open_;                       ///< innermost last
  std::uint32_t fork_ = k_none;                  ///< instant of a fork without a team so far
  std::size_t ended_ = k_nothing;  ///< index in parts_: forked here, ended last, not joined
};

struct Operations {
  ThreadTeams teams;
  Creations creations;
  Locks locks;
  Tasks tasks;

  void walk(const trace::Trace& trace, LocationIndex location) {
    teams.begin_location(location);
    EventRef instant{location, 0};
    const auto& events = trace.locations[location].events;
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events.time(e) != events.time(instant.event)) instant.event = e;
      see(events[e], instant);
    }
  }

  void see(const Event& event, EventRef instant) {
    switch (event.kind) {
      case EventKind::thread_fork:
        return teams.fork(instant.event);
      case EventKind::thread_join:
        return teams.join(instant.event);
      case EventKind::team_begin:
        return teams.begin(instant.event, event.comm);
      case EventKind::team_end:
        return teams.end(instant.event, event.comm);
      case EventKind::barrier_enter:
        return teams.enter(instant.event);
      case EventKind::barrier_leave:
        return teams.leave(instant.event);
      case EventKind::thread_create:
      case EventKind::thread_begin:
      case EventKind::thread_wait:
      case EventKind::thread_end:
        return creations.see(event, instant);
      case EventKind::lock_acquire:
      case EventKind::lock_release:
        return locks.see(event, instant);
      case EventKind::task_create:
      case EventKind::task_switch:
        return tasks.see(event, instant);
      default:
        return;
    }
  }
};

}  // namespace

void ThreadRelation::add_process(std::uint32_t process, Unmatched& unmatched) {
  process_ = process;
  Operations operations;
  for (const LocationIndex l : places_->locations(process)) operations.walk(*trace_, l);
  operations.teams.pair(*this, unmatched);
  operations.creations.pair(*this, unmatched);
  operations.locks.pair(*this, unmatched);
  operations.tasks.pair(*this, unmatched);
}

void ThreadRelation::add_pair(ThreadStage stage, EventRef send, EventRef receive) {
  if (send.location == receive.location) return;  // the stream orders those
  pairs_.push_back({.send = send,
                    .receive = receive,
                    .send_time = time(send),
                    .receive_time = time(receive),
                    .stage = stage,
                    .process = process_});
}

void ThreadRelation::add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives) {
  if (sends.empty() || receives.empty()) return;
  for (auto* side : {&sends, &receives}) {
    std::sort(side->begin(), side->end());
    for (const EventRef event : *side) participants_.push_back({time(event), event});
  }
  instances_.push_back({.process = process_,
                        .sends = static_cast<std::uint32_t>(sends.size()),
                        .receives = static_cast<std::uint32_t>(receives.size())});
}

void ThreadRelation::set_maps(std::span<const ClockMap> maps) {
  maps_ = maps;
  for (ThreadPair& pair : pairs_) {
    pair.send_time = time(pair.send);
    pair.receive_time = time(pair.receive);
  }
  for (Participant& participant : participants_) participant.time = time(participant.event);
}

void ThreadRelation::for_each_instance(const std::function<void(Instance&)>& use) const {
  Instance instance;
  instance.kind = EdgeKind::thread;
  auto participant = participants_.begin();
  std::uint64_t sequence = 0;
  for (const Extent& extent : instances_) {
    const auto fill = [&](std::vector<Moment>& side, std::uint32_t count) {
      side.clear();
      for (; count > 0; --count, ++participant) {
        const LocationIndex location = participant->event.location;
        side.push_back({.time = participant->time,
                        .event = participant->event,
                        .process = extent.process,
                        .machine = trace_->definitions.node_of[location]});
      }
    };
    fill(instance.sends, extent.sends);
    fill(instance.receives, extent.receives);
    instance.order = {std::uint64_t{1} << 32, extent.process, sequence++, 0};
    use(instance);
  }
}

}  // namespace entrain::verify
