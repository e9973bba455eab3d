// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <utility>

#include "support/library_pairs.hpp"

// The part of LibraryPairs that looks at threads: each process by itself.
namespace entrain::test {

using trace::Event;
using trace::EventKind;

namespace {

constexpr LibraryEvent k_nothing{};

/// The actions of one thread in one team: the n-th time that it began this team.
struct TeamPart {
  LibraryEvent fork, begin, end, join;
  std::vector<std::pair<LibraryEvent, LibraryEvent>> barriers;  ///< enter, leave
};

}  // namespace

void LibraryPairs::teams() {
  // By process, team, number: the parts, by location.
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::map<LocationIndex, TeamPart>> all;
  for (LocationIndex l = 0; l < stored.locations.size(); ++l) {
    std::map<std::uint32_t, int> begun;
    std::vector<std::pair<std::uint32_t, TeamPart*>> open;
    std::vector<TeamPart*> to_join;
    LibraryEvent fork;
    for (std::uint32_t e = 0; e < stored.locations[l].events.size(); ++e) {
      const LibraryEvent here{l, e};
      const Event& event = at(here);
      if (event.kind == EventKind::thread_fork) fork = here;
      if (event.kind == EventKind::team_begin) {
        TeamPart& part = all[{process(l), event.comm, begun[event.comm]++}][l];
        part.fork = std::exchange(fork, k_nothing);
        part.begin = here;
        open.emplace_back(event.comm, &part);
      }
      if (event.kind == EventKind::team_end) {
        std::size_t depth = open.size();
        while (depth > 0 && open[depth - 1].first != event.comm) --depth;
        if (depth == 0) continue;
        open[depth - 1].second->end = here;
        if (open[depth - 1].second->fork != k_nothing) to_join.push_back(open[depth - 1].second);
        open.resize(depth - 1);
      }
      if (event.kind == EventKind::thread_join) {
        for (TeamPart* part : std::exchange(to_join, {})) part->join = here;
      }
      if (open.empty()) continue;
      auto& barriers = open.back().second->barriers;
      if (event.kind == EventKind::barrier_enter) barriers.emplace_back(here, k_nothing);
      if (event.kind == EventKind::barrier_leave && !barriers.empty() &&
          barriers.back().second == k_nothing) {
        barriers.back().second = here;
      }
    }
  }
  for (const auto& [key, team] : all) {
    std::size_t most_barriers = 0;
    for (const auto& [l, part] : team) {
      most_barriers = std::max(most_barriers, part.barriers.size());
      if (part.fork == k_nothing) continue;
      for (const auto& [other, its] : team) {
        if (other == l) continue;
        add(part.fork, its.begin, EdgeKind::thread);
        if (its.end != k_nothing && part.join != k_nothing) {
          add(its.end, part.join, EdgeKind::thread);
        }
      }
    }
    for (std::size_t b = 0; b < most_barriers; ++b) {
      bool complete = true;
      for (const auto& [l, part] : team) {
        complete = complete && b < part.barriers.size() && part.barriers[b].second != k_nothing;
      }
      if (!complete) continue;  // everybody or nobody
      for (const auto& [from, sender] : team) {
        for (const auto& [to, receiver] : team) {
          add(sender.barriers[b].first, receiver.barriers[b].second, EdgeKind::thread);
        }
      }
    }
  }
}

void LibraryPairs::thread_operations() {
  std::map<Key, Ends> creates, begins, ends, waits, acquires, releases, tasks, runs;
  for (LocationIndex l = 0; l < stored.locations.size(); ++l) {
    const std::uint32_t p = process(l);
    for (std::uint32_t e = 0; e < stored.locations[l].events.size(); ++e) {
      const LibraryEvent here{l, e};
      const Event& event = at(here);
      const Key thread{p, event.comm, 0, 0, event.id};
      const Key lock{p, event.op, event.peer, event.tag, 0};
      const Key task{p, event.comm, event.peer, event.tag, 0};
      const auto note = [&](std::map<Key, Ends>& to, const Key& key) {
        to[key][order(here)] = here;
      };
      if (event.kind == EventKind::thread_create) note(creates, thread);
      if (event.kind == EventKind::thread_begin) note(begins, thread);
      if (event.kind == EventKind::thread_end) note(ends, thread);
      if (event.kind == EventKind::thread_wait) note(waits, thread);
      if (event.kind == EventKind::lock_acquire) note(acquires, lock);
      if (event.kind == EventKind::lock_release) note(releases, lock);
      if (event.kind == EventKind::task_create) note(tasks, task);
      if (event.kind == EventKind::task_switch) note(runs, task);
    }
  }
  match(creates, begins, EdgeKind::thread);
  match(ends, waits, EdgeKind::thread);
  for (const auto& [key, released] : releases) {  // the last one -> the first of the next number
    auto [p, model, id, number, rest] = key;
    const auto next = acquires.find({p, model, id, number + 1, rest});
    if (next == acquires.end()) continue;
    add(released.rbegin()->second, next->second.begin()->second, EdgeKind::thread);
  }
  for (const auto& [key, created] : tasks) {
    const LibraryEvent create = created.begin()->second;
    for (const auto& [place, run] : runs[key]) {
      if (run.location == create.location) continue;
      add(create, run, EdgeKind::thread);
      break;
    }
  }
}

}  // namespace entrain::test
