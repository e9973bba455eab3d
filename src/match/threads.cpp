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

/// Threads of one process: forks, teams, barriers, creation, locks, tasks.
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
    add_pairs(creations_);
    add_pairs(ends_);
    add_tasks();
    add_locks();
  }

 private:
  /// One fork: the k-th use of a team communicator.
  struct Team {
    std::optional<EventRef> fork, join;
    std::vector<EventRef> begins, ends;
    /// Per location: its barriers in order, (enter, leave).
    std::vector<std::vector<std::pair<EventRef, EventRef>>> barriers;
  };
  /// Earliest source and first target of a one-to-one relation.
  struct OneToOne {
    std::optional<EventRef> source;
    std::vector<EventRef> targets;
  };
  struct Lock {
    std::optional<EventRef> first_acquire, last_release;
  };
  using TeamKey = std::pair<std::uint32_t, std::uint32_t>;  // communicator, use

  void walk(LocationIndex location) {
    std::map<std::uint32_t, std::uint32_t> uses;
    std::vector<TeamKey> open;
    std::vector<EventRef> barrier_enters;
    std::optional<EventRef> fork;
    std::vector<TeamKey> to_join;
    const auto events = builder_.events(location);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const EventRef at{location, i};
      switch (event.kind) {
        case EventKind::thread_fork: fork = at; break;
        case EventKind::team_begin: {
          const TeamKey key{event.comm, uses[event.comm]++};
          Team& team = teams_[key];
          if (fork) {
            team.fork = fork;
            fork.reset();
          }
          team.begins.push_back(at);
          team.barriers.emplace_back();
          open.push_back(key);
          break;
        }
        case EventKind::team_end:
          if (!open.empty()) {
            Team& team = teams_[open.back()];
            team.ends.push_back(at);
            if (team.fork && team.fork->location == location) to_join.push_back(open.back());
            open.pop_back();
          }
          break;
        case EventKind::thread_join:
          if (!to_join.empty()) {
            teams_[to_join.back()].join = at;
            to_join.pop_back();
          }
          break;
        case EventKind::barrier_enter: barrier_enters.push_back(at); break;
        case EventKind::barrier_leave:
          if (!barrier_enters.empty() && !open.empty()) {
            teams_[open.back()].barriers[own_slot(teams_[open.back()], location)].emplace_back(
                barrier_enters.back(), at);
          }
          if (!barrier_enters.empty()) barrier_enters.pop_back();
          break;
        case EventKind::thread_create: creations_[{event.comm, 0, event.id}].source = at; break;
        case EventKind::thread_begin:
          creations_[{event.comm, 0, event.id}].targets.push_back(at);
          break;
        case EventKind::thread_end: ends_[{event.comm, 0, event.id}].source = at; break;
        case EventKind::thread_wait: ends_[{event.comm, 0, event.id}].targets.push_back(at); break;
        case EventKind::task_create: task(event).source = at; break;
        case EventKind::task_switch: task(event).targets.push_back(at); break;
        case EventKind::lock_acquire: acquire(locks_[lock_key(event)], at); break;
        case EventKind::lock_release: release(locks_[lock_key(event)], at); break;
        default: break;
      }
    }
  }

  static std::size_t own_slot(const Team& team, LocationIndex location) {
    for (std::size_t i = 0; i < team.begins.size(); ++i) {
      if (team.begins[i].location == location) return i;
    }
    return team.begins.size() - 1;
  }

  OneToOne& task(const Event& event) { return tasks_[{event.comm, event.peer, event.tag}]; }

  /// The first switch to a task on another thread than its creator's is its start there.
  void add_tasks() {
    for (const auto& [key, relation] : tasks_) {
      if (!relation.source) continue;
      const EventRef* first = nullptr;
      for (const EventRef& target : relation.targets) {
        if (target.location == relation.source->location) continue;
        if (first == nullptr || builder_.event(target).time < builder_.event(*first).time) {
          first = &target;
        }
      }
      if (first != nullptr) builder_.add_edge(EdgeKind::thread, *relation.source, *first);
    }
  }

  using LockKey = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t>;
  static LockKey lock_key(const Event& event) { return {event.op, event.peer, event.tag}; }
  /// Nested acquires share an order number: the outermost ones count.
  void acquire(Lock& lock, EventRef at) const {
    if (!lock.first_acquire || builder_.event(at).time < builder_.event(*lock.first_acquire).time) {
      lock.first_acquire = at;
    }
  }
  void release(Lock& lock, EventRef at) const {
    if (!lock.last_release || builder_.event(at).time >= builder_.event(*lock.last_release).time) {
      lock.last_release = at;
    }
  }

  void add_teams() {
    for (const auto& [key, team] : teams_) {
      for (const EventRef begin : team.begins) {
        if (team.fork) builder_.add_edge(EdgeKind::thread, *team.fork, begin);
      }
      for (const EventRef end : team.ends) {
        if (team.join) builder_.add_edge(EdgeKind::thread, end, *team.join);
      }
      add_barriers(team);
    }
  }

  void add_barriers(const Team& team) {
    std::size_t most = 0;
    std::size_t least = ~std::size_t{0};
    for (const auto& own : team.barriers) {
      most = std::max(most, own.size());
      least = std::min(least, own.size());
    }
    for (std::size_t k = 0; k < std::min(most, least); ++k) {
      std::vector<Member> sends, receives;
      for (const auto& own : team.barriers) {
        sends.push_back(builder_.member(own[k].first));
        receives.push_back(builder_.member(own[k].second));
      }
      builder_.add_exchange(EdgeKind::thread, false, sends, receives);
    }
    std::uint64_t left = 0;
    for (const auto& own : team.barriers) left += own.size() - std::min(least, own.size());
    builder_.count_unmatched("thread_barriers_incomplete", left);
  }

  template <class Map>
  void add_pairs(const Map& relations) {
    for (const auto& [key, relation] : relations) {
      if (!relation.source) continue;
      for (const EventRef target : relation.targets) {
        builder_.add_edge(EdgeKind::thread, *relation.source, target);
      }
    }
  }

  void add_locks() {
    for (const auto& [key, lock] : locks_) {
      const auto& [paradigm, id, order] = key;
      const auto next = locks_.find({paradigm, id, order + 1});  // wraps at 2^32
      if (lock.last_release && next != locks_.end() && next->second.first_acquire) {
        builder_.add_edge(EdgeKind::thread, *lock.last_release, *next->second.first_acquire);
      }
    }
  }

  Builder& builder_;
  std::map<TeamKey, Team> teams_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, OneToOne> creations_, ends_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, OneToOne> tasks_;
  std::map<LockKey, Lock> locks_;
};

}  // namespace

void match_threads(Builder& builder) {
  ThreadMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size(); ++p) matcher.match(p);
}

}  // namespace entrain::match
