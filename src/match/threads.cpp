// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "match/builder.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;

/// Matches the threads of one process: forks, thread teams, barriers, creation, locks, tasks. Uses
/// only the order of records on each location, never clocks of two locations. Contradicting records
/// are counted and give no edge.
class ThreadMatcher {
 public:
  explicit ThreadMatcher(Builder& builder) : builder_(builder) {}

  void match(std::uint32_t process) {
    const auto& locations = builder_.processes()[process];
    if (locations.size() < 2) return;  // edges connect different locations only
    teams_.clear();
    creations_.clear();
    ends_.clear();
    locks_.clear();
    tasks_.clear();
    for (const LocationIndex location : locations) walk(location);
    add_teams();
    add_creations();
    add_tasks();
    add_locks();
  }

 private:
  /// The records of one thread in a thread team.
  struct Part {
    LocationIndex location = k_none;
    std::optional<EventRef> fork, join;  ///< set only for the thread that forked the team
    std::optional<EventRef> begin, end;
    struct Barrier {
      EventRef enter;
      std::optional<EventRef> leave;
    };
    std::vector<Barrier> barriers;
  };
  /// Parts of one fork, the k-th use of a team communicator, sorted by location.
  using ThreadTeam = std::vector<Part>;
  using TeamKey = std::pair<std::uint32_t, std::uint32_t>;  // communicator, use

  /// An operation that has one source and one target.
  struct OneToOne {
    std::optional<EventRef> source, target;
    std::uint64_t sources = 0, targets = 0;  ///< number of records; more than one: ambiguous

    void add_source(EventRef at) {
      source = at;
      ++sources;
    }
    void add_target(EventRef at) {
      target = at;
      ++targets;
    }
    [[nodiscard]] bool certain() const { return sources == 1 && targets == 1; }
  };
  struct Task {
    std::optional<EventRef> create;
    std::vector<EventRef> first_switches;  ///< one per location
    bool created_again = false;
  };
  /// Period in which one thread holds a lock, by order number. Nested acquires share it.
  struct Lock {
    std::optional<EventRef> first_acquire, last_release;
    bool contradictory = false;
  };

  /// Reads the events of one location.
  void walk(LocationIndex location) {
    std::map<std::uint32_t, std::uint32_t> uses;
    std::vector<TeamKey> open;     // innermost last
    std::optional<TeamKey> ended;  // forked here, and not joined
    std::optional<EventRef> fork;
    const auto part = [&](const TeamKey& key) -> Part& { return teams_[key].back(); };
    const auto& events = builder_.events(location);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const EventRef at{location, i};
      switch (event.kind) {
        case EventKind::thread_fork:
          fork = at;
          break;
        case EventKind::team_begin:
          open.emplace_back(event.comm, uses[event.comm]++);
          teams_[open.back()].push_back({location, fork, {}, at, {}, {}});
          fork.reset();
          break;
        case EventKind::team_end: {
          const auto found = std::find_if(open.rbegin(), open.rend(), [&](const TeamKey& key) {
            return key.first == event.comm;
          });
          if (found == open.rend()) break;
          part(*found).end = at;
          if (part(*found).fork) ended = *found;
          open.erase(std::next(found).base(), open.end());  // with those inside that never ended
          break;
        }
        case EventKind::thread_join:
          if (ended) part(*ended).join = at;
          ended.reset();
          break;
        case EventKind::barrier_enter:
          if (!open.empty()) part(open.back()).barriers.push_back({at, {}});
          break;
        case EventKind::barrier_leave:
          if (!open.empty() && !part(open.back()).barriers.empty()) {
            auto& leave = part(open.back()).barriers.back().leave;
            if (!leave) leave = at;
          }
          break;
        case EventKind::thread_create:
          creations_[thread_key(event)].add_source(at);
          break;
        case EventKind::thread_begin:
          creations_[thread_key(event)].add_target(at);
          break;
        case EventKind::thread_end:
          ends_[thread_key(event)].add_source(at);
          break;
        case EventKind::thread_wait:
          ends_[thread_key(event)].add_target(at);
          break;
        case EventKind::task_create:
          create(tasks_[task_key(event)], at);
          break;
        case EventKind::task_switch:
          switch_to(tasks_[task_key(event)], at);
          break;
        case EventKind::lock_acquire:
          acquire(locks_[lock_key(event)], at);
          break;
        case EventKind::lock_release:
          release(locks_[lock_key(event)], at);
          break;
        default:
          break;
      }
    }
  }

  using ThreadKey = std::pair<std::uint32_t, std::uint64_t>;
  static ThreadKey thread_key(const Event& event) { return {event.comm, event.id}; }
  using TaskKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  static TaskKey task_key(const Event& event) { return {event.comm, event.peer, event.tag}; }
  using LockKey = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t>;
  static LockKey lock_key(const Event& event) { return {event.op, event.peer, event.tag}; }

  static void create(Task& task, EventRef at) {
    task.created_again = task.create.has_value();
    task.create = at;
  }
  /// Adds the first switch of a location. Locations come one after the other, so a known one is
  /// last.
  static void switch_to(Task& task, EventRef at) {
    std::vector<EventRef>& known = task.first_switches;
    if (known.empty() || known.back().location != at.location) known.push_back(at);
  }
  static void acquire(Lock& lock, EventRef at) {
    if (!lock.first_acquire) lock.first_acquire = at;
    if (lock.first_acquire->location != at.location) lock.contradictory = true;
  }
  static void release(Lock& lock, EventRef at) {
    if (lock.last_release && lock.last_release->location != at.location) lock.contradictory = true;
    lock.last_release = at;
  }

  void add_teams() {
    std::uint64_t contradictory = 0, incomplete = 0;
    for (const auto& [key, team] : teams_) {
      const auto forked = [](const Part& part) { return part.fork.has_value(); };
      if (std::ranges::count_if(team, forked) > 1) {
        ++contradictory;
        continue;
      }
      const auto master = std::ranges::find_if(team, forked);
      if (master != team.end()) add_team(team, *master);
      incomplete += add_barriers(team);
    }
    builder_.count_unmatched("thread_teams", contradictory);
    builder_.count_unmatched("thread_barriers_incomplete", incomplete);
  }

  void add_team(const ThreadTeam& team, const Part& master) {
    for (const Part& part : team) {
      builder_.add_edge(EdgeKind::thread, *master.fork, *part.begin);
      if (part.end && master.join) builder_.add_edge(EdgeKind::thread, *part.end, *master.join);
    }
  }

  /// Adds the k-th barriers of all threads as exchanges. Returns the number of barriers that lack a
  /// thread.
  std::uint64_t add_barriers(const ThreadTeam& team) {
    std::size_t most = 0;
    for (const Part& part : team) most = std::max(most, part.barriers.size());
    std::uint64_t incomplete = 0;
    for (std::size_t k = 0; k < most; ++k) {
      sends_.clear();
      receives_.clear();
      for (const Part& part : team) {
        if (k >= part.barriers.size() || !part.barriers[k].leave) continue;
        sends_.push_back(builder_.participant(part.barriers[k].enter));
        receives_.push_back(builder_.participant(*part.barriers[k].leave));
      }
      if (sends_.size() == team.size()) {
        builder_.add_exchange(EdgeKind::thread, false, sends_, receives_);
      } else {
        ++incomplete;
      }
    }
    return incomplete;
  }

  /// Adds create -> begin and end -> wait. An end without wait is a detached thread.
  void add_creations() {
    std::uint64_t lost = 0;
    const auto add = [&](const OneToOne& thread) {
      if (thread.certain()) builder_.add_edge(EdgeKind::thread, *thread.source, *thread.target);
      return thread.certain();
    };
    for (const auto& [key, thread] : creations_) {
      if (!add(thread)) lost += thread.sources + thread.targets;
    }
    for (const auto& [key, thread] : ends_) {
      if (!add(thread)) lost += thread.targets;
    }
    builder_.count_unmatched("threads", lost);
  }

  /// Adds creation -> first switch of a task on every thread but its creator's.
  void add_tasks() {
    std::uint64_t created_again = 0;
    for (const auto& [key, task] : tasks_) {
      created_again += task.created_again ? 1 : 0;
      if (!task.create || task.created_again) continue;
      for (const EventRef target : task.first_switches) {
        builder_.add_edge(EdgeKind::thread, *task.create, target);
      }
    }
    builder_.count_unmatched("thread_tasks", created_again);
  }

  void add_locks() {
    std::uint64_t contradictory = 0;
    for (const auto& [key, lock] : locks_) {
      contradictory += lock.contradictory ? 1 : 0;
      const auto& [paradigm, id, order] = key;
      const auto next = locks_.find({paradigm, id, order + 1});  // wraps at 2^32
      if (lock.contradictory || next == locks_.end() || next->second.contradictory) continue;
      if (lock.last_release && next->second.first_acquire) {
        builder_.add_edge(EdgeKind::thread, *lock.last_release, *next->second.first_acquire);
      }
    }
    builder_.count_unmatched("thread_locks", contradictory);
  }

  Builder& builder_;
  std::map<TeamKey, ThreadTeam> teams_;
  std::map<ThreadKey, OneToOne> creations_, ends_;
  std::map<TaskKey, Task> tasks_;
  std::map<LockKey, Lock> locks_;
  std::vector<Participant> sends_, receives_;  ///< ends of the current barrier
};

}  // namespace

void match_threads(Builder& builder) {
  ThreadMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size() && !builder.cancel().asked(); ++p) {
    matcher.match(p);
  }
}

}  // namespace entrain::match
