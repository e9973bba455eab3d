// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "engine/timeline.hpp"
#include "explain/staying.hpp"

namespace entrain::engine {

/// Accelerators of an archive whose clocks differ from those of their processes, as long as a
/// timeline has their stamps in the time of the latter: they move with their processes.
class CarriedAccelerators {
 public:
  /// Moves accelerators whose domains are not those of their threads: as far as the edges between
  /// the two demand, and into these domains. `align`: see carriers::carried_clocks(). Collective;
  /// every member moves the stamps of its own locations. Errors: those of carried_clocks().
  static Result<CarriedAccelerators> take(Timeline& timeline, Team& processes,
                                          const explain::AlignGroup& align);

  /// True if some process has such accelerators; the same at every member.
  [[nodiscard]] bool any() const { return any_; }

  /// Gives them their stamps and domains back. `are_presynced`: presync.maps are in the times of
  /// take(), and get the move of take() before them. Errors: those of trace::composed().
  Result<void> put_back(Timeline& timeline, bool are_presynced) const;

  /// Names of the clocks that were moved, of all processes.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Times at which these clocks were set, of all processes.
  [[nodiscard]] const std::vector<ClockExplanation>& steps() const { return steps_; }

 private:
  struct Recorded {
    LocationIndex location = k_none;
    std::uint64_t first = 0, last = 0;  ///< stamps of the skeleton
    std::vector<std::uint64_t> stamps;  ///< stamps of the nodes
    ClockMap inner;                     ///< stamp -> time of the process
  };
  void move(Timeline& timeline, LocationIndex location, const ClockMap& inner);

  bool any_ = false;
  std::vector<Recorded> recorded_;  ///< what was moved at locations of this member
  trace::ClockDomains domains_;
  std::vector<std::string> names_;
  std::vector<ClockExplanation> steps_;
};

}  // namespace entrain::engine
