// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "trace/share.hpp"
#include "verify/edges.hpp"

namespace entrain::verify {

/// The worst edge of each kind: the one with the smallest margin; among equals the first in
/// EdgeOrder.
class WorstEdges {
 public:
  /// Margin of the worst edge so far; edges with a larger one may be skipped.
  [[nodiscard]] std::int64_t limit(EdgeKind kind) const {
    return worst_[static_cast<std::size_t>(kind)].margin_ticks;
  }

  /// Adds an edge. `margin_ticks`: receive - send.
  void note(EdgeKind kind, std::int64_t margin_ticks, const EdgeOrder& order, EventRef send,
            EventRef receive);

  /// Keeps the worst edges of all members. Collective.
  void agree(Team& team);

  /// Writes the edges into the report, after agree(): with processes, times, and the names of
  /// regions. `maps` and `region_at` as in TimesToCheck; the owner of a location supplies what
  /// only it knows. Collective.
  void describe(const trace::Share& share, std::span<const ClockMap> maps,
                const std::function<std::string(LocationIndex, std::uint64_t)>& region_at,
                CheckReport& report) const;

 private:
  struct Worst {
    std::int64_t margin_ticks = std::numeric_limits<std::int64_t>::max();
    EdgeOrder order{};
    EventRef send, receive;  ///< location k_none: no edge yet
  };

  std::array<Worst, k_edge_kinds> worst_{};
};

}  // namespace entrain::verify
