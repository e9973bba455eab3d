// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "net/model/skew_bound.hpp"

namespace entrain::net {

inline constexpr std::array<Reading, 2> k_readings{Reading::published, Reading::printed};

/// A value in both readings: [0] published, [1] printed.
using BothReadings = std::array<Femtoseconds, 2>;

/// How often a schedule has to run under a drift, in both readings.
struct DriftRow {
  std::int64_t drift_ppb = 0;
  /// Equation (11). 0 if there is no such interval, or if the schedule itself is longer.
  std::array<std::int64_t, 2> interval_slots{};
  std::array<double, 2> overhead_share{};  ///< equation (12); infinite if the interval is 0
};

/// The row of a schedule with `slots` slots and skew bound `skew`.
DriftRow drift_row(const Parameters& parameters, const BothReadings& skew, std::int64_t slots,
                   std::int64_t drift_ppb);

/// The result of `net bound`: the equations for one switch and for a full tree.
struct BoundReport {
  Parameters parameters;
  std::int64_t levels = 2;
  std::int64_t ports = 8;
  std::int64_t slots = 0;  ///< slots of HSS in the full tree (of SSS with 2 levels)
  Femtoseconds gap1{0};    ///< this and the next three: one switch, p1 = p2 = 1
  GapRange gap2;
  BothReadings gap3{};
  std::array<GapRange, 2> lag;
  BothReadings sss{};  ///< skew bound of one switch
  BothReadings hss{};  ///< skew bound of the tree
  std::vector<DriftRow> drifts;
};

BoundReport evaluate_bound(const Parameters& parameters, std::int64_t ports, std::int64_t levels,
                           const std::vector<std::int64_t>& drifts_ppb);

}  // namespace entrain::net
