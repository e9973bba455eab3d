// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spans/edges.hpp"

namespace entrain::spans {

/// Approximate errors of clocks: good enough to decide which violated edges have support.
class ApproximateOffsets {
 public:
  /// Estimates them from the edges that are not rejected. A host gets an offset only if most of its
  /// edges agree that its clock is wrong. Each part of the run has offsets of its own, since clocks
  /// drift and are set. O(n log n).
  ApproximateOffsets(std::span<const Edge> edges, std::size_t hosts);

  /// Cause time - effect time of an edge after the offsets are added, ns.
  [[nodiscard]] std::int64_t violation_of(const Edge& edge) const {
    return static_cast<std::int64_t>(edge.cause_time - edge.effect_time) +
           of(edge.cause, edge.cause_time) - of(edge.effect, edge.effect_time);
  }

 private:
  [[nodiscard]] std::size_t part_of(std::uint64_t time) const;
  [[nodiscard]] std::int64_t of(std::uint32_t host, std::uint64_t time) const {
    return offsets_[part_of(time) * hosts_ + host];
  }
  void find(std::size_t part, std::span<const Edge> edges);

  std::size_t hosts_, parts_ = 1;
  std::uint64_t first_ = 0, length_ = 1;
  std::vector<std::int64_t> offsets_;  ///< ns; index: part * hosts_ + host
};

}  // namespace entrain::spans
