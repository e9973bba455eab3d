// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"
#include "verify/edges.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Operations that order two threads by a single edge.
enum class ThreadStage : std::uint32_t { creation, lock, task, kernel };

struct ThreadPair {
  EventRef send, receive;
  ThreadStage stage{};
  std::uint32_t process = k_none;
};

/// The edges between the locations of each process: thread teams and their barriers, thread
/// creation, locks, tasks, and the kernels of accelerators. The matching uses the order of records
/// on each location and the numbers in them, never the clocks of two threads.
///
/// Example: thread 0 forks at 10, threads 0 and 1 begin the thread team at 12 and 15, enter a
/// barrier at 20 and 21 and leave it at 22 and 23. That makes the edge 10 -> 15 (a thread needs no
/// edge to itself), and an instance with the sends 20, 21 and the receives 22, 23.
class ThreadRelation {
 public:
  ThreadRelation(const trace::Trace& trace, const Places& places)
      : trace_(&trace), places_(&places) {}

  /// Adds the edges inside one process; call it in order of processes. O(n log n).
  void add_process(std::uint32_t process, Unmatched& unmatched);

  /// Sorted by process, and inside one in a fixed order for each stage.
  [[nodiscard]] const std::vector<ThreadPair>& pairs() const { return pairs_; }
  /// Calls `use` with each instance: a fork, a join, or a barrier of a thread team. `moment(event)`
  /// makes its ends.
  template <class MakeMoment, class Use>
  void for_each_instance(MakeMoment moment, Use use) const {
    Instance instance;
    instance.kind = EdgeKind::thread;
    auto event = events_.begin();
    std::uint64_t sequence = 0;
    for (const Extent& extent : instances_) {
      instance.sends.clear();
      instance.receives.clear();
      for (std::uint32_t k = 0; k < extent.sends; ++k) instance.sends.push_back(moment(*event++));
      for (std::uint32_t k = 0; k < extent.receives; ++k) {
        instance.receives.push_back(moment(*event++));
      }
      instance.order = {std::uint64_t{1} << 32, extent.process, sequence++, 0};
      use(instance);
    }
  }

  // Used by the matching in threads.cpp; both take instants of the current process.
  /// Appends an edge, unless both ends are on one location.
  void add_pair(ThreadStage stage, EventRef send, EventRef receive);
  /// Appends an instance, unless a side is empty. Sorts both sides by location.
  void add_instance(std::vector<EventRef>& sends, std::vector<EventRef>& receives);

 private:
  struct Extent {
    std::uint32_t process = k_none;
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
  };
  const trace::Trace* trace_;
  const Places* places_;
  std::uint32_t process_ = k_none;  ///< current process
  std::vector<ThreadPair> pairs_;
  std::vector<Extent> instances_;
  std::vector<EventRef> events_;  ///< sends, then receives of each instance
};

}  // namespace entrain::verify
