// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"
#include "verify/instance.hpp"

namespace entrain::verify {

/// The worst edge of each kind: the smallest margin, and of equals the first.
class WorstEdges {
 public:
  /// A margin above this one of its kind need not be noted.
  [[nodiscard]] std::int64_t limit(EdgeKind kind) const { return of(kind).margin_ticks; }

  void note(EdgeKind kind, std::int64_t margin_ticks, const EdgeOrder& order, EventRef send,
            EventRef receive);

  /// Agrees with the other members and describes the edges for people; the names of regions come
  /// from the owners of the locations. A common call of the team. `source` may be null.
  void describe(Team& team, const trace::Partition& partition, const trace::Trace& trace,
                std::span<const ClockMap> maps, const trace::Source* source, CheckReport& report);

 private:
  struct Worst {
    std::int64_t margin_ticks = std::numeric_limits<std::int64_t>::max();
    EdgeOrder order{};
    EventRef send, receive;  ///< location k_none: no edge yet
  };
  [[nodiscard]] const Worst& of(EdgeKind kind) const {
    return worst_[static_cast<std::size_t>(kind)];
  }
  void agree(Team& team);

  std::array<Worst, k_edge_kinds> worst_{};
};

}  // namespace entrain::verify
