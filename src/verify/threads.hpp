// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>

#include "verify/counts.hpp"
#include "verify/instance.hpp"
#include "verify/outline.hpp"

namespace entrain::verify {

/// One edge between two threads.
struct ThreadPair {
  EventRef send, receive;
  std::int64_t send_time = 0;  ///< corrected, ticks
  std::int64_t receive_time = 0;
  std::uint32_t stage = 0;  ///< creations, locks, tasks
  std::uint32_t process = k_none;
};

/// What orders the threads inside processes: teams, thread creation, locks, and tasks.
class ThreadRelation {
 public:
  ThreadRelation(const trace::Trace& trace, const Places& places, std::span<const ClockMap> maps)
      : trace_(&trace), places_(&places), maps_(maps) {}

  /// Adds what happens inside one process; to be called in order of processes.
  void add_process(std::uint32_t process, Unmatched& unmatched);

  /// By process, and inside one in a fixed order for each stage.
  [[nodiscard]] const std::vector<ThreadPair>& pairs() const { return pairs_; }
  void for_each_instance(const std::function<void(Instance&)>& use) const;

  // For the matching in threads.cpp.
  void add_pair(EventRef send, EventRef receive, std::uint32_t stage);
  /// Appends an instance, unless a side is empty. Sorts both sides by location.
  void add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives);

 private:
  struct Participant {
    std::int64_t time = 0;
    EventRef event;
  };
  struct Shape {
    std::uint32_t process = k_none;
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
  };
  [[nodiscard]] std::int64_t time(EventRef ref) const {
    return maps_[ref.location](trace_->locations[ref.location].events[ref.event].time);
  }

  const trace::Trace* trace_;
  const Places* places_;
  std::span<const ClockMap> maps_;
  std::uint32_t process_ = k_none;  ///< in work
  std::vector<ThreadPair> pairs_;
  std::vector<Shape> instances_;
  std::vector<Participant> participants_;  ///< per instance: the sends, then the receives
};

}  // namespace entrain::verify
