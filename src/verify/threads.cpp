// SPDX-License-Identifier: BSD-3-Clause
#include "verify/threads.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace entrain::verify {

namespace {

using trace::Event;
using trace::EventKind;

/// Operations that name what they are about.
enum class Topic : std::uint8_t { thread, lock, task };

struct Record {
  Topic topic{};
  /// Contingent and sequence of a thread; paradigm, number and order of a lock; team, creator and
  /// generation of a task.
  std::array<std::uint64_t, 3> name{};
  EventKind kind{};
  EventRef at;

  [[nodiscard]] auto operation() const { return std::tuple(topic, name); }
};
using RecordSpan = std::span<const Record>;

/// The records of one kind among those of an operation, which has at most one if all is well.
struct Found {
  EventRef first, last;
  std::int64_t count = 0;
  bool several = false;  ///< its events are on several locations

  Found(RecordSpan records, EventKind kind) {
    for (const Record& record : records) {
      if (record.kind != kind) continue;
      if (count++ == 0) first = record.at;
      last = record.at;
      several = several || last.location != first.location;
    }
  }
};

/// Creations of threads, locks and tasks of a process. Sorting makes the records of an operation
/// adjacent; they stay in order of locations and streams.
class NamedOperations {
 public:
  void see(const Event& event, EventRef at) {
    switch (event.kind) {
      case EventKind::thread_create:
      case EventKind::thread_begin:
      case EventKind::thread_wait:
      case EventKind::thread_end:
        records_.push_back({Topic::thread, {event.comm, event.id}, event.kind, at});
        break;
      case EventKind::lock_acquire:
      case EventKind::lock_release:
        records_.push_back({Topic::lock, {event.op, event.peer, event.tag}, event.kind, at});
        break;
      case EventKind::task_create:
      case EventKind::task_switch:
        records_.push_back({Topic::task, {event.comm, event.peer, event.tag}, event.kind, at});
        break;
      default:
        break;
    }
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) {
    std::ranges::stable_sort(records_, {}, &Record::operation);
    for_each(Topic::thread, [&](RecordSpan thread) { pair_thread(thread, out, unmatched); });
    for_each(Topic::lock, [&](RecordSpan holding) { pair_lock(holding, out, unmatched); });
    for_each(Topic::task, [&](RecordSpan task) { pair_task(task, out, unmatched); });
  }

 private:
  /// Calls `use` with the records of each operation.
  template <class Use>
  void for_each(Topic topic, Use use) const {
    const auto end = std::ranges::upper_bound(records_, topic, {}, &Record::topic);
    for (auto first = std::ranges::lower_bound(records_, topic, {}, &Record::topic), last = first;
         first != end; first = last) {
      last = std::find_if(first, end,
                          [&](const Record& record) { return record.name != first->name; });
      use(RecordSpan(first, last));
    }
  }

  /// create -> begin, end -> wait. An end without a wait is a detached thread, no defect.
  static void pair_thread(RecordSpan thread, ThreadRelation& out, Unmatched& unmatched) {
    const Found create(thread, EventKind::thread_create), begin(thread, EventKind::thread_begin);
    const Found end(thread, EventKind::thread_end), wait(thread, EventKind::thread_wait);
    if (create.count == 1 && begin.count == 1) {
      out.add_pair(ThreadStage::creation, create.first, begin.first);
    } else {
      unmatched.threads += create.count + begin.count;
    }
    if (end.count == 1 && wait.count == 1) {
      out.add_pair(ThreadStage::creation, end.first, wait.first);
    } else {
      unmatched.threads += wait.count;
    }
  }

  /// The last release of order n -> the first acquire of order n + 1, which wraps at 2^32. Nested
  /// acquires share a number; only one thread can hold a lock under one.
  void pair_lock(RecordSpan held, ThreadRelation& out, Unmatched& unmatched) const {
    const Found acquire(held, EventKind::lock_acquire), release(held, EventKind::lock_release);
    const bool several = acquire.several || release.several;
    unmatched.thread_locks += several ? 1 : 0;
    Record next = held.front();
    next.name[2] = static_cast<std::uint32_t>(next.name[2] + 1);
    const RecordSpan then(
        std::ranges::lower_bound(records_, next.operation(), {}, &Record::operation),
        std::ranges::upper_bound(records_, next.operation(), {}, &Record::operation));
    const Found taken(then, EventKind::lock_acquire), left(then, EventKind::lock_release);
    if (several || taken.several || left.several || release.count == 0 || taken.count == 0) return;
    out.add_pair(ThreadStage::lock, release.last, taken.first);
  }

  /// The creation -> the first time that each other thread runs the task.
  static void pair_task(RecordSpan task, ThreadRelation& out, Unmatched& unmatched) {
    const Found creation(task, EventKind::task_create);
    if (creation.count > 1) ++unmatched.thread_tasks;
    if (creation.count != 1) return;
    LocationIndex latest = k_none;
    for (const Record& record : task) {
      if (record.kind == EventKind::task_create || record.at.location == latest) continue;
      latest = record.at.location;
      out.add_pair(ThreadStage::task, creation.first, record.at);
    }
  }

  std::vector<Record> records_;
};

/// Thread teams: fork -> begins, ends -> join, and barriers inside of them. The k-th use of a
/// thread team by one thread belongs to the k-th use by the others.
class ThreadTeams {
 public:
  /// Call it before the first record of each location.
  void begin_location() {
    uses_.clear();
    open_.clear();
    fork_ = {};
    ended_.reset();
  }

  void see(const Event& event, EventRef at) {
    switch (event.kind) {
      case EventKind::thread_fork:
        fork_ = at;
        break;
      case EventKind::thread_join:
        if (ended_) part(*ended_).join = at;
        ended_.reset();
        break;
      case EventKind::team_begin:
        open_.push_back({event.comm, uses_[event.comm]++});
        parts_[open_.back()].push_back({std::exchange(fork_, {}), at, {}, {}, {}});
        break;
      case EventKind::team_end:
        end(event.comm, at);
        break;
      case EventKind::barrier_enter:  // outside of teams there is no other thread
        if (!open_.empty()) part(open_.back()).barriers.push_back({at, {}});
        break;
      case EventKind::barrier_leave:
        leave(at);
        break;
      default:
        break;
    }
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) const {
    for (const auto& [use, parts] : parts_) {
      const auto forks = std::ranges::count_if(parts, has_forked);
      if (forks > 1) {
        ++unmatched.thread_teams;
        continue;
      }
      if (forks == 1) add_fork_and_join(parts, out);
      add_barriers(parts, out, unmatched);
    }
  }

 private:
  /// Name of a thread team, and the number of its use by a process.
  using Use = std::pair<std::uint32_t, std::uint32_t>;
  /// Passage of one thread through a barrier; location k_none: not left.
  struct Barrier {
    EventRef enter, leave;
  };
  /// Instants of one thread in one use of a thread team; location k_none: none.
  struct Part {
    EventRef fork;  ///< set only for the thread that forked; likewise `join`
    EventRef begin, end, join;
    std::vector<Barrier> barriers;
  };
  using Parts = std::vector<Part>;

  static bool is_set(EventRef at) { return at.location != k_none; }
  static bool has_forked(const Part& part) { return is_set(part.fork); }
  /// The part of the current thread in a use.
  Part& part(const Use& use) { return parts_.at(use).back(); }

  /// Also ends teams that began later and never ended.
  void end(std::uint32_t team, EventRef at) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Use& use) { return use.first == team; });
    if (found == open_.rend()) return;
    part(*found).end = at;
    if (has_forked(part(*found))) ended_ = *found;
    open_.erase(std::next(found).base(), open_.end());
  }
  void leave(EventRef at) {
    if (open_.empty() || part(open_.back()).barriers.empty()) return;
    Barrier& latest = part(open_.back()).barriers.back();
    if (!is_set(latest.leave)) latest.leave = at;
  }

  static void add_fork_and_join(const Parts& parts, ThreadRelation& out) {
    const Part& master = *std::ranges::find_if(parts, has_forked);
    std::vector<EventRef> fork{master.fork}, join, begins, ends;
    if (is_set(master.join)) join.push_back(master.join);
    for (const Part& part : parts) {
      if (part.begin.location == master.begin.location) continue;
      begins.push_back(part.begin);
      if (is_set(part.end)) ends.push_back(part.end);
    }
    out.add_instance(fork, begins);
    out.add_instance(ends, join);
  }

  /// Barriers that all threads of the team have passed; others make no edge.
  static void add_barriers(const Parts& parts, ThreadRelation& out, Unmatched& unmatched) {
    std::size_t most = 0;
    for (const Part& part : parts) most = std::max(most, part.barriers.size());
    for (std::size_t k = 0; k < most; ++k) {
      std::vector<EventRef> enters, leaves;
      for (const Part& part : parts) {
        if (k >= part.barriers.size() || !is_set(part.barriers[k].leave)) continue;
        enters.push_back(part.barriers[k].enter);
        leaves.push_back(part.barriers[k].leave);
      }
      if (enters.size() == parts.size()) {
        out.add_instance(enters, leaves);
      } else {
        ++unmatched.thread_barriers_incomplete;
      }
    }
  }

  std::map<Use, Parts> parts_;  ///< parts in order of locations
  // State at the current location:
  std::map<std::uint32_t, std::uint32_t> uses_;  ///< number of begins per thread team
  std::vector<Use> open_;                        ///< innermost last
  EventRef fork_;                                ///< fork without a team so far
  std::optional<Use> ended_;                     ///< forked here, ended last, not joined
};

/// Kernels of accelerators: launch -> begin, end -> a call of the launching thread that waits. The
/// n-th launch on a stream is that of its n-th kernel, if one thread launched as many as there are.
class Kernels {
 public:
  Kernels(const trace::Definitions& definitions, std::span<const LocationIndex> locations)
      : definitions_(definitions) {
    std::vector<std::uint32_t> contexts;
    for (const LocationIndex l : locations) {
      if (is_accelerator(l)) contexts.push_back(definitions_.locations[l].group);
    }
    is_one_device_ =
        std::ranges::adjacent_find(contexts, std::ranges::not_equal_to()) == contexts.end();
  }

  /// Call it before the first record of each location.
  void begin_location() { since_wait_.clear(); }

  void see(const Event& event, EventRef at) {
    if (is_accelerator(at.location)) {
      if (event.kind == EventKind::kernel_begin) work_[at.location].begins.push_back(at);
      if (event.kind == EventKind::kernel_end) work_[at.location].ends.push_back(at);
    } else if (event.kind == EventKind::kernel_launch) {
      given_[event.peer].launches.push_back(at);
      since_wait_.insert(event.peer);
    } else if (event.kind == EventKind::stream_wait && event.peer != k_none) {
      wait(event.peer, at);
    } else if (event.kind == EventKind::stream_wait && is_one_device_) {
      while (!since_wait_.empty()) wait(*since_wait_.begin(), at);
    }
  }

  void pair(ThreadRelation& out, Unmatched& unmatched) const {
    const auto unnamed = given_.find(k_none);
    for (const auto& [stream, work] : work_) {
      const auto named = given_.find(stream);
      const bool is_only = unnamed != given_.end() && named == given_.end() && work_.size() == 1;
      const auto given = is_only ? unnamed : named;
      const bool is_known = unnamed == given_.end() || is_only;
      if (is_known && given != given_.end() && pair(work, given->second, out)) continue;
      ++unmatched.streams;
    }
  }

 private:
  struct Work {
    std::vector<EventRef> begins, ends;
  };
  struct Given {
    std::vector<EventRef> launches;
    std::vector<std::pair<std::size_t, EventRef>>
        waits;  ///< waits, and the number of launches before each
  };

  [[nodiscard]] bool is_accelerator(LocationIndex location) const {
    return definitions_.locations[location].type == trace::LocationType::accelerator;
  }

  /// Nothing was launched since the last one: this wait says no more.
  void wait(LocationIndex stream, EventRef at) {
    if (since_wait_.erase(stream) == 0) return;
    Given& given = given_[stream];
    given.waits.emplace_back(given.launches.size(), at);
  }

  /// False if something is missing, or if several threads launched the kernels.
  static bool pair(const Work& work, const Given& given, ThreadRelation& out) {
    const bool is_shared = std::ranges::adjacent_find(given.launches, std::ranges::not_equal_to(),
                                                      &EventRef::location) != given.launches.end();
    const std::size_t count = given.launches.size();
    if (is_shared || work.begins.size() != count || work.ends.size() != count) return false;
    for (std::size_t k = 0; k < count; ++k) {
      out.add_pair(ThreadStage::kernel, given.launches[k], work.begins[k]);
    }
    for (const auto& [launched, at] : given.waits) {
      out.add_pair(ThreadStage::kernel, work.ends[launched - 1], at);
    }
    return true;
  }

  const trace::Definitions& definitions_;
  bool is_one_device_ = false;
  std::map<LocationIndex, Work> work_;    ///< kernels of each stream
  std::map<LocationIndex, Given> given_;  ///< launches of each stream; k_none: not recorded
  std::set<LocationIndex> since_wait_;    ///< streams with launches of the present location
};

}  // namespace

void ThreadRelation::add_process(std::uint32_t process, Unmatched& unmatched) {
  process_ = process;
  ThreadTeams teams;
  NamedOperations named;
  Kernels kernels(trace_->definitions, places_->locations(process));
  for (const LocationIndex l : places_->locations(process)) {
    const auto& events = trace_->locations[l].events;
    teams.begin_location();
    kernels.begin_location();
    EventRef instant{l, 0};
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events.time(e) != events.time(instant.event)) instant.event = e;
      teams.see(events[e], instant);
      named.see(events[e], instant);
      kernels.see(events[e], instant);
    }
  }
  teams.pair(*this, unmatched);
  named.pair(*this, unmatched);
  kernels.pair(*this, unmatched);
}

void ThreadRelation::add_pair(ThreadStage stage, EventRef send, EventRef receive) {
  if (send.location == receive.location) return;  // the stream orders those
  pairs_.push_back({.send = send, .receive = receive, .stage = stage, .process = process_});
}

void ThreadRelation::add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives) {
  if (sends.empty() || receives.empty()) return;
  for (auto* side : {&sends, &receives}) {
    std::ranges::sort(*side);
    events_.insert(events_.end(), side->begin(), side->end());
  }
  instances_.push_back({.process = process_,
                        .sends = static_cast<std::uint32_t>(sends.size()),
                        .receives = static_cast<std::uint32_t>(receives.size())});
}

}  // namespace entrain::verify
