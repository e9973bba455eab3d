// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>

#include "explain/explain.hpp"
#include "formats/tables/list.hpp"
#include "trace/trace.hpp"

namespace entrain::explain {

/// Clocks and edges of a run without what its explanation relaxes, so that some clocks meet all of
/// them. A clock that was set is one clock up to a step and another one after it.
class Explained {
 public:
  /// Empty if clocks within the limit on rates meet all edges, if no explanation is found, or if
  /// there are more than 2^21 edges and members of instances. `run` must outlive the result.
  static std::optional<Explained> find(const Clocks& run, const Edges& edges,
                                       std::int64_t rate_ppb);

  [[nodiscard]] const Explanation& explanation() const { return explanation_; }
  [[nodiscard]] const Clocks& clocks() const { return clocks_; }
  [[nodiscard]] Edges edges() const { return list_.view(); }

  /// The maps of the run's clocks from those of clocks(). `trace`: of the run. Empty if time would
  /// run backward.
  [[nodiscard]] std::optional<std::vector<ClockMap>> join(std::span<const ClockMap> maps,
                                                          const trace::Trace& trace) const;
  /// A sentence for each step, and for all pairs that were dropped. `maps`: of the run's clocks.
  [[nodiscard]] std::vector<std::string> sentences(std::span<const ClockMap> maps) const;

 private:
  Explained(const Clocks& run, const Edges& edges, std::uint64_t base, Explanation explanation);

  void divide_clocks();
  [[nodiscard]] std::uint32_t part_of(std::uint32_t clock, std::uint64_t time) const;
  /// Steps of a clock.
  [[nodiscard]] std::span<const Step> steps_of(std::uint32_t clock) const;
  [[nodiscard]] std::uint64_t time_of(std::int64_t stamp) const {
    return base_ + static_cast<std::uint64_t>(stamp);
  }
  [[nodiscard]] std::string words_for(std::uint64_t time) const;

  const Clocks* run_;
  std::uint64_t base_;  ///< stamp that those of the explanation count from
  Explanation explanation_;
  std::vector<std::uint32_t> first_;  ///< first part of every clock
  Clocks clocks_;
  tables::EdgeList list_;
};

}  // namespace entrain::explain
