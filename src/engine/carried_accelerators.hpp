// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "engine/timeline.hpp"
#include "explain/staying.hpp"

namespace entrain::engine {

/// Accelerators of an archive whose clocks differ from those of their processes, as long as a
/// timeline has their stamps in the time of the latter: they move with their processes.
class CarriedAccelerators {
 public:
  /// Moves the accelerators of this process's locations whose domains are not those of their
  /// threads: as far as the edges between the two demand, and into these domains. Nothing if there
  /// are none. `align`: see carriers::carried_clocks(), whose errors it returns.
  static Result<std::optional<CarriedAccelerators>> take(Timeline& timeline,
                                                         const explain::AlignGroup& align);

  /// Gives them their stamps and domains back. `are_presynced`: presync.maps are in the times of
  /// take(), and get the move of take() before them. Errors: those of trace::composed().
  Result<void> put_back(Timeline& timeline, bool are_presynced) const;

  /// Names of the clocks that were moved.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  struct Recorded {
    LocationIndex location = k_none;
    std::uint64_t first = 0, last = 0;  ///< of the skeleton
    std::vector<std::uint64_t> stamps;  ///< of the nodes
    ClockMap inner;                     ///< stamp -> time of the process
  };
  void move(Timeline& timeline, LocationIndex location, const ClockMap& inner);

  std::vector<Recorded> recorded_;
  trace::ClockDomains domains_;
  std::vector<std::string> names_;
};

}  // namespace entrain::engine
