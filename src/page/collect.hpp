// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "page/data.hpp"
#include "trace/share.hpp"

namespace entrain::page {

/// Input of a page. Holds references, which must outlive it.
struct Material {
  const trace::Share& share;            ///< share of this process
  std::span<const ClockMap> before;     ///< one per location: the clocks as measured
  std::span<const ClockMap> after;      ///< corrected clocks; the same as `before` where nothing
                                        ///< was corrected
  const Survey& edges_before;           ///< gathered
  const Survey* edges_after = nullptr;  ///< null where nothing was corrected or checked
  const ClockBounds* bounds = nullptr;  ///< bounds of `after`, with rows for bands
};

/// Reduces the results of a check or a correction to a page, whole at rank 0. `layout`: the one
/// that the surveys were made with. Collective.
Data collect(const Material& material, trace::Layout layout);

/// Adds the calls around the first edges. Collective. Errors: those of
/// EventReader::regions_around(), the same at every process.
Result<void> add_calls(const Material& material, const trace::EventReader& reader, Data& data);

}  // namespace entrain::page
