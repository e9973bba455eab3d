// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spans/edges.hpp"

namespace entrain::spans {

/// About by how much clocks are wrong: good enough to tell which edges stand alone, and not more.
class RoughOffsets {
 public:
  /// From the edges without a doubt. Only hosts most of whose edges agree that they are wrong get
  /// an offset, against those to whom they talk. Each part of the run has offsets of its own, since
  /// clocks drift and are set. O(n log n).
  RoughOffsets(std::span<const Edge> edges, std::size_t hosts);

  /// How much later than its effect the cause of an edge is, with these added, ns.
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
  std::vector<std::int64_t> offsets_;  ///< per part and host, ns
};

}  // namespace entrain::spans
