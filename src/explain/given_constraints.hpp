// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/align.hpp>

#include "base/edge_list.hpp"
#include "difference/system.hpp"

namespace entrain::explain {

/// Constraints of given edges on the errors of clocks, but for scans. Common time is that of a
/// clock of its own, the last one, which has no stamps.
///
/// That ends coincide is an assertion of its own, weaker than the order of begins and ends: no
/// member ends a call later than others by more than many times what ends usually differ. These
/// instances, of ends before ends with a delay below 0, follow those of the edges.
class GivenConstraints {
 public:
  /// `offsets`: difference::Constraints::offsets, one per clock; may be empty.
  GivenConstraints(std::size_t clocks, const Edges& edges, std::int64_t rate_ppb,
                   std::span<const std::int64_t> offsets = {});

  /// False: the run is too long, longer than difference::k_longest.
  [[nodiscard]] bool fit() const { return fit_; }
  [[nodiscard]] difference::Constraints view() const;
  /// Stamp that those of the constraints count from.
  [[nodiscard]] std::uint64_t base() const { return base_; }

 private:
  difference::Event event(std::uint32_t clock, std::uint64_t time);
  void add_coinciding_ends(const Edges& edges);

  std::vector<difference::ClockLimits> limits_;
  std::vector<std::int64_t> offsets_;
  std::uint64_t base_;
  bool fit_ = true;
  BigVector<difference::Edge> edges_;
  std::vector<difference::Event> members_;
  std::vector<difference::Instance> instances_;
};

/// Edges of other clocks.
struct Regrouping {
  /// Clock that takes the place of a clock at a stamp, and its own stamp then.
  std::function<EdgeList::End(std::uint32_t clock, std::uint64_t time)> end_of;
  /// Positions of edges and instances that are left out, increasing.
  std::span<const std::uint32_t> no_edges{}, no_instances{};
};
/// Without the edges that are inside one clock then.
EdgeList regroup(const Edges& edges, const Regrouping& by);

}  // namespace entrain::explain
