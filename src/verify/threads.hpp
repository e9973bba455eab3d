// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/trace.hpp"
#include "verify/edges.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Operations that order two threads by a single edge.
enum class ThreadStage : std::uint32_t { creation, lock, task };

struct ThreadPair {
  EventRef send, receive;
  std::int64_t send_time = 0;  ///< corrected, ticks
  std::int64_t receive_time = 0;
  ThreadStage stage{};
  std::uint32_t process = k_none;
};

/// The edges between the threads of each process: thread teams and their barriers, thread creation,
/// locks, and tasks. The matching uses the order of records on each location and the numbers in
/// them, never the clocks of two threads.
///
/// Example: thread 0 forks at 10, threads 0 and 1 begin the thread team at 12 and 15, enter a
/// barrier at 20 and 21 and leave it at 22 and 23. That makes the edge 10 -> 15 (a thread needs no
/// edge to itself), and an instance with the sends 20, 21 and the receives 22, 23.
class ThreadRelation {
 public:
  ThreadRelation(const trace::Trace& trace, const Places& places, std::span<const ClockMap> maps)
      : trace_(&trace), places_(&places), maps_(maps) {}

  /// Adds the edges inside one process; call it in order of processes. O(n log n).
  void add_process(std::uint32_t process, Unmatched& unmatched);

  /// Replaces the maps.
  void set_maps(std::span<const ClockMap> maps);
  /// Sorted by process, and inside one in a fixed order for each stage.
  [[nodiscard]] const std::vector<ThreadPair>& pairs() const { return pairs_; }
  /// Calls `use` with each instance: a fork, a join, or a barrier of a thread team.
  void for_each_instance(const std::function<void(Instance&)>& use) const;

  // Used by the matching in threads.cpp; both take instants of the current process.
  /// Appends an edge, unless both ends are on one location.
  void add_pair(ThreadStage stage, EventRef send, EventRef receive);
  /// Appends an instance, unless a side is empty. Sorts both sides by location.
  void add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives);

 private:
  struct Participant {
    std::int64_t time = 0;
    EventRef event;
  };
  struct Extent {
    std::uint32_t process = k_none;
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
  };
  [[nodiscard]] std::int64_t time(EventRef ref) const {
    return maps_[ref.location](trace_->locations[ref.location].events.time(ref.event));
  }

  const trace::Trace* trace_;
  const Places* places_;
  std::span<const ClockMap> maps_;
  std::uint32_t process_ = k_none;  ///< current process
  std::vector<ThreadPair> pairs_;
  std::vector<Extent> instances_;
  std::vector<Participant> participants_;  ///< sends, then receives of each instance
};

}  // namespace entrain::verify
