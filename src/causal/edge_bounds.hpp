// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/big_vector.hpp"
#include "causal/context.hpp"
#include "causal/fit.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// The clocks of a trace with the maps that they have for now, and what its edges say of their
/// errors. Every process has the maps of its own clocks and the bounds of all.
class EdgeBounds {
 public:
  /// Windows in which the tightest edge of every pair of clocks is kept.
  static constexpr std::uint32_t k_windows = 512;

  /// All must outlive this. `maps`: one per location, the same for all of a domain.
  EdgeBounds(const Context& context, const trace::ClockDomains& domains,
             std::vector<ClockMap>& maps);
  EdgeBounds(const EdgeBounds&) = delete;
  EdgeBounds& operator=(const EdgeBounds&) = delete;

  /// Times of all nodes and the span of all events, through the maps as they are; not before
  /// somebody calls it. Collective.
  void evaluate();
  /// Finds the bounds, with errors as far as they are known (null: 0), of clocks that are aligned
  /// with each other. Collective.
  void collect(const ClockErrors* errors);
  /// Takes these maps instead, moved so that no time is negative, and evaluates them. Collective.
  void take(std::vector<ClockMap> maps);
  /// ErrorKind::interrupted if the user wants to stop. Collective.
  [[nodiscard]] Result<void> check_cancelled() const;

  [[nodiscard]] std::int64_t begin() const { return begin_; }  ///< of all events, ticks
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::int64_t width_of(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }
  /// Of all bounds by the maps as they are, ticks^2.
  [[nodiscard]] double sum_of_squared_violations() const;
  [[nodiscard]] double worst_violation() const;  ///< ticks, at least 0

  [[nodiscard]] Team& team() const { return context_.team(); }
  [[nodiscard]] std::size_t clocks() const { return clocks_; }
  [[nodiscard]] std::uint32_t clock_of(LocationIndex l) const { return domains_.of[l]; }
  /// Clocks whose locations are of this process.
  [[nodiscard]] const std::vector<std::uint32_t>& own_clocks() const { return own_clocks_; }
  /// All locations of the clock as one.
  [[nodiscard]] trace::LocationSkeleton extent(std::uint32_t clock) const;
  [[nodiscard]] const std::vector<ClockMap>& maps() const { return maps_; }
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock) const;
  /// Gives all locations of a clock this map, in `maps`.
  void set_map(std::vector<ClockMap>& maps, std::uint32_t clock, const ClockMap& map) const;

  std::vector<CausalBound> bounds;
  /// Per clock: the first one of those that it is aligned with. At first all are.
  std::vector<std::uint32_t> component_of;

 private:
  const Context& context_;
  const trace::ClockDomains& domains_;
  std::vector<ClockMap>& maps_;
  std::size_t clocks_;
  std::vector<std::uint32_t> own_clocks_;
  BigVector<std::int64_t> times_;  ///< per node, ghosts too
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace entrain::causal
