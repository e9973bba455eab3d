// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "bounds/prove.hpp"
#include "engine/check_times.hpp"
#include "engine/verbs.hpp"
#include "formats/source.hpp"
#include "trace/loaded_trace.hpp"

namespace entrain::engine {

/// True if the edges of a check contradict its times, or each other.
bool is_contradicted(const CheckReport& report);

/// Finds out why, from the source of the same trace: if no clocks meet some pairs, `report` becomes
/// that of the others. `loaded`, `maps`: what was checked with `setting`; `is_as_read`: the source
/// reads `loaded`. `proven`: bounds of the same trace; null: they are proved if wanted. Empty where
/// estimating clocks is not wanted or takes too long. Collective.
Result<std::optional<ExplainedClocks>> explain_check(
    const Run& run, const formats::Source& source, const CheckSetting& setting,
    const trace::LoadedTrace& loaded, bool is_as_read, std::span<const ClockMap> maps,
    const bounds::ProvenIntervals* proven, CheckReport& report);

}  // namespace entrain::engine
