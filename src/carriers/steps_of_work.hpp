// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "carriers/carried_clocks.hpp"

namespace entrain::carriers {

/// Finds the steps of carriers that only what they carry has shown, as devices whose calibration is
/// renewed: there the shortest time from a launch to its work changes by the step. Such a carrier
/// keeps its own time (CarriedClocks::inner): nothing that it launches begins before that. `names`:
/// of all clocks, as explanations call them; `maps`: of the carriers; `told`: their steps, which
/// get the names of the clocks that were set.
void leave_steps_to_carried(CarriedClocks& carried, const Clocks& clocks, const Edges& edges,
                            std::span<const std::string> names, std::span<const ClockMap> maps,
                            std::vector<ClockExplanation>& told);

}  // namespace entrain::carriers
