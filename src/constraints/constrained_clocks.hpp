// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/big_vector.hpp"
#include "constraints/clock_errors.hpp"
#include "constraints/constraint.hpp"
#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"
#include "trace/trace.hpp"

namespace entrain::constraints {

/// Clocks of a trace with their present maps, and the constraints of its edges on their errors.
/// Every process has the maps of its own clocks and the constraints of all clocks.
class ConstrainedClocks {
 public:
  /// Windows in which the tightest edge of every pair of clocks is kept (docs/decisions/37: with
  /// half as many, errors on grids grew by 35 %).
  static constexpr std::uint32_t k_windows = 512;

  /// All must outlive this. `maps`: one per location, the same for all locations of a domain.
  ConstrainedClocks(const Context& context, const trace::ClockDomains& domains,
                    std::vector<ClockMap>& maps);
  ConstrainedClocks(const ConstrainedClocks&) = delete;
  ConstrainedClocks& operator=(const ConstrainedClocks&) = delete;

  /// Computes the times of all nodes and the span of all events by the present maps. To be called
  /// first. Collective.
  void evaluate();
  /// Collects the constraints between clocks that are aligned with each other, unless they are up
  /// to date. `errors`: known errors (null: 0). Collective.
  void collect(const ClockErrors* errors);
  /// Collects the constraints between all clocks. Collective.
  void collect_all();
  /// Replaces the maps, moved so that no time is negative, and evaluates them. Collective.
  void set_maps(std::vector<ClockMap> maps);
  /// ErrorKind::interrupted if the user wants to stop. Collective.
  [[nodiscard]] Result<void> check_cancelled() const;

  [[nodiscard]] std::int64_t begin() const { return begin_; }  ///< first time of all events, ticks
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::int64_t width_of(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }
  /// Sum over all constraints by the present maps, ticks^2.
  [[nodiscard]] double sum_of_squared_violations() const;
  [[nodiscard]] double worst_violation() const;  ///< largest violation, ticks, at least 0

  [[nodiscard]] Team& team() const { return context_.team(); }
  [[nodiscard]] const clocks::RatePrior& prior() const { return context_.prior; }
  [[nodiscard]] std::size_t clocks() const { return clocks_; }
  [[nodiscard]] std::uint32_t clock_of(LocationIndex l) const { return domains_.of[l]; }
  /// Choice of the reference; `location` may be k_none.
  [[nodiscard]] const clocks::Reference& reference() const { return context_.reference; }
  /// Clocks whose locations this process owns.
  [[nodiscard]] const std::vector<std::uint32_t>& own_clocks() const { return own_clocks_; }
  /// Number of events, first and last stamp, and flushes of all locations of the clock together.
  [[nodiscard]] trace::LocationSkeleton extent(std::uint32_t clock) const {
    return trace::extent_of(context_.trace(), domains_.members[clock]);
  }
  [[nodiscard]] const std::vector<ClockMap>& maps() const { return maps_; }
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock) const { return map_of(clock, maps_); }
  /// Map of a clock of this process among `maps`, one per location.
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock,
                                       const std::vector<ClockMap>& maps) const {
    return maps[domains_.members[clock].front()];
  }
  /// True if two-sided messages, directly or in chains, connect all clocks. Collective.
  [[nodiscard]] bool messages_connect() const;
  /// Returns the ends, by the present maps, of collectives that nobody leaves before all have come
  /// (none if all share one clock): all of them, or about `most` spread evenly over the run, the
  /// same for any number of processes. Collective.
  [[nodiscard]] CallEnds ends_of_calls(std::size_t most) const;
  /// The map of a clock with events, or empty: it keeps its own. Errors: there is no such map.
  using MapOf = std::function<Result<std::optional<ClockMap>>(
      std::uint32_t clock, const trace::LocationSkeleton& stamps)>;
  /// Replaces the maps of the clocks of this process, as set_maps() does. False, with all maps as
  /// before, if some map of any process is an error. Collective.
  bool replace_maps(const MapOf& map_of);

  /// Constraints of the last collect() or collect_all().
  [[nodiscard]] const std::vector<ClockConstraint>& constraints() const { return constraints_; }
  /// Moves the constraints out, for keep().
  [[nodiscard]] std::vector<ClockConstraint> take_constraints() {
    current_ = false;
    return std::exchange(constraints_, {});
  }
  /// Restricts the constraints to a part of them.
  void keep(std::vector<ClockConstraint> some) {
    constraints_ = std::move(some);
    current_ = false;
  }
  /// First clock of the group that each clock is aligned with. Initially all are aligned.
  std::vector<std::uint32_t> component_of;

 private:
  void find_constraints(const ClockErrors* errors);

  const Context& context_;
  const trace::ClockDomains& domains_;
  std::vector<ClockMap>& maps_;
  std::size_t clocks_;
  std::vector<std::uint32_t> own_clocks_;
  BigVector<std::int64_t> times_;  ///< one per node, ghosts too
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<ClockConstraint> constraints_;
  /// The constraints are those of the present maps and `components_`, without errors.
  bool current_ = false;
  std::vector<std::uint32_t> components_;  ///< component_of at the last collection
};

/// Adds a move to a map of a clock with events: `move`, ticks, is a function of the map's time that
/// is linear between `times`, ascending. Flushes stay straight. Errors: as ClockMap::from_knots();
/// ErrorKind::input if time would run backward.
///
/// Example: the identity, times 0, 100 and 200, moves 0, 8 and 0. The stamp 50 gets the time 54.
Result<ClockMap> bent_map(const ClockMap& map, const trace::LocationSkeleton& stamps,
                          std::span<const std::int64_t> times,
                          const std::function<std::int64_t(std::int64_t)>& move);

}  // namespace entrain::constraints
