// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "page/data.hpp"
#include "trace/share.hpp"

namespace entrain::page {

/// The maps of a trace as a page compares them: one per location; `after` is `before` where nothing
/// was corrected.
struct PageMaps {
  std::span<const ClockMap> before, after;
};

/// The courses of the clocks and, by `data.layout`, the reference: one that did not move, if there
/// is any; of these, or else of all, the first one whose measurements are all 0, else the first
/// with events. Fills `clocks`, `reference`, `begin` and `end`. Collective; the same at every
/// process.
void add_clocks(const trace::Share& share, const PageMaps& maps, Data& data);

/// The curves of `chosen` clocks, with their intervals if there are `bounds`. Needs the courses.
/// Collective; the same at every process.
void add_curves(const trace::Share& share, const PageMaps& maps, const ClockBounds* bounds,
                std::span<const std::uint32_t> chosen, Data& data);

}  // namespace entrain::page
