// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/big_vector.hpp"
#include "causal/clock_errors.hpp"
#include "causal/constraint.hpp"
#include "causal/context.hpp"
#include "causal/simultaneous_ends.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// The clocks of a trace with their present maps, and the constraints of its edges on their errors.
/// Every process has the maps of its own clocks and the constraints of all clocks.
class ConstrainedClocks {
 public:
  /// Windows in which the tightest edge of every pair of clocks is kept.
  static constexpr std::uint32_t k_windows = 512;

  /// All must outlive this. `maps`: one per location, the same for all locations of a domain.
  ConstrainedClocks(const Context& context, const trace::ClockDomains& domains,
                    std::vector<ClockMap>& maps);
  ConstrainedClocks(const ConstrainedClocks&) = delete;
  ConstrainedClocks& operator=(const ConstrainedClocks&) = delete;

  /// Computes the times of all nodes and the span of all events by the present maps. Call it before
  /// all that follows. Collective.
  void evaluate();
  /// Finds the constraints between clocks that are aligned with each other, unless they are known
  /// already. `errors`: as far as they are known (null: 0). Collective.
  void collect(const ClockErrors* errors);
  /// The same between all clocks. Collective.
  void collect_all();
  /// Replaces the maps, moved so that no time is negative, and evaluates them. Collective.
  void set_maps(std::vector<ClockMap> maps);
  /// ErrorKind::interrupted if the user wants to stop. Collective.
  [[nodiscard]] Result<void> check_cancelled() const;

  [[nodiscard]] std::int64_t begin() const { return begin_; }  ///< of all events, ticks
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] std::int64_t width_of(std::uint32_t windows) const {
    return (end_ - begin_) / windows + 1;
  }
  /// Sums over all constraints by the present maps, ticks^2.
  [[nodiscard]] double sum_of_squared_violations() const;
  [[nodiscard]] double worst_violation() const;  ///< ticks, at least 0

  [[nodiscard]] Team& team() const { return context_.team(); }
  [[nodiscard]] const clocks::RatePrior& prior() const { return context_.prior; }
  [[nodiscard]] std::size_t clocks() const { return clocks_; }
  [[nodiscard]] std::uint32_t clock_of(LocationIndex l) const { return domains_.of[l]; }
  /// How the clocks are to be set; `location` may be k_none.
  [[nodiscard]] const clocks::Reference& reference() const { return context_.reference; }
  /// The clocks whose locations this process owns.
  [[nodiscard]] const std::vector<std::uint32_t>& own_clocks() const { return own_clocks_; }
  /// Number of events, first and last stamp, and flushes of all locations of the clock together.
  [[nodiscard]] trace::LocationSkeleton extent(std::uint32_t clock) const;
  [[nodiscard]] const std::vector<ClockMap>& maps() const { return maps_; }
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock) const { return map_of(clock, maps_); }
  /// That of a clock of this process among `maps`, one per location.
  [[nodiscard]] const ClockMap& map_of(std::uint32_t clock,
                                       const std::vector<ClockMap>& maps) const {
    return maps[domains_.members[clock].front()];
  }
  /// True if messages that go both ways between two clocks, and chains of such, connect all clocks.
  /// Collective.
  [[nodiscard]] bool messages_connect() const;
  /// The ends, by the present maps, of collectives that nobody leaves before all have come (none
  /// where the clocks are one): all of them, or about `most` that are spread evenly over the run,
  /// the same for any number of processes. Collective.
  [[nodiscard]] CallEnds ends_of_calls(std::size_t most) const;
  /// Gives all locations of a clock this map, in `maps`.
  void set_map(std::vector<ClockMap>& maps, std::uint32_t clock, const ClockMap& map) const;

  /// As the last collect() or collect_all() found them.
  [[nodiscard]] const std::vector<ClockConstraint>& constraints() const { return constraints_; }
  /// Hands them over, for keep().
  [[nodiscard]] std::vector<ClockConstraint> take_constraints() {
    current_ = false;
    return std::exchange(constraints_, {});
  }
  /// Some of them count from now on.
  void keep(std::vector<ClockConstraint> some) {
    constraints_ = std::move(some);
    current_ = false;
  }
  /// Per clock: the first one of the clocks that it is aligned with. At first all are aligned.
  std::vector<std::uint32_t> component_of;

 private:
  void find_constraints(const ClockErrors* errors);

  const Context& context_;
  const trace::ClockDomains& domains_;
  std::vector<ClockMap>& maps_;
  std::size_t clocks_;
  std::vector<std::uint32_t> own_clocks_;
  BigVector<std::int64_t> times_;  ///< per node, ghosts too
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<ClockConstraint> constraints_;
  bool current_ = false;  ///< they are those of the present maps, without errors, of components_
  std::vector<std::uint32_t> components_;  ///< component_of when they were found
};

}  // namespace entrain::causal
