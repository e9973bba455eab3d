// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace entrain::constraints {

/// Half-open range of edge numbers.
struct EdgeRange {
  std::size_t begin = 0, end = std::numeric_limits<std::uint32_t>::max();
};

/// Worklist for Bellman-Ford: a round relaxes edges in their order, but only those whose beginning
/// moved since they were last relaxed. The others would change nothing, so the result is that of
/// relaxing all, and a round costs what it moves.
///
/// Example: edges 0 -> 1, 1 -> 2, 2 -> 0. If the first one moves node 1, the second one is relaxed
/// in the same round. If the third one moves node 0, the first one is relaxed in the next round.
class EdgeWorklist {
 public:
  /// `begins`: the node where each edge begins, below `nodes`.
  EdgeWorklist(std::span<const std::uint32_t> begins, std::size_t nodes);

  void mark_all();
  /// Announces that a node moved outside of a round: its edges in the range become pending.
  void moved(std::uint32_t node, EdgeRange range = {}) { mark(node, range); }

  /// Runs a round over the pending edges in the range. `step(edge)` returns the node at the end of
  /// an edge if it moved, else k_none. True if any did.
  template <class Step>
  bool round(const Step& step, EdgeRange range = {}) {
    bool any = false;
    ++round_;
    range.end = std::min(range.end, edges_);
    for (std::size_t e = take(range.begin, range.end); e < range.end; e = take(e + 1, range.end)) {
      ++steps_;
      const std::uint32_t node = step(static_cast<std::uint32_t>(e));
      if (node == k_none) continue;
      any = true;
      moved_at(node, e, range);
    }
    return any;
  }

  /// Edges relaxed or marked as pending so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  /// Round and edge at which a node moved last.
  struct Move {
    std::uint64_t round = 0;
    std::size_t edge = 0;
  };

  void insert(std::size_t edge);
  std::size_t take(std::size_t first, std::size_t end);
  [[nodiscard]] std::size_t next_word(std::size_t word, std::size_t end) const;
  void mark(std::uint32_t node, EdgeRange range);
  void moved_at(std::uint32_t node, std::size_t edge, EdgeRange range);

  std::size_t edges_;
  std::vector<std::uint32_t> from_;           ///< edges sorted by their beginning
  std::vector<std::uint32_t> first_;          ///< offset in `from_` per node, and the end
  std::vector<std::uint64_t> pending_;        ///< one bit per edge
  std::vector<std::uint64_t> pending_words_;  ///< one bit per word of `pending_`
  std::vector<Move> move_;                    ///< one per node
  std::uint64_t round_ = 0, steps_ = 0;
};

}  // namespace entrain::constraints
