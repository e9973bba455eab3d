// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "bounds/prove.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "explain/explained.hpp"
#include "formats/source.hpp"
#include "page/survey.hpp"
#include "trace/share.hpp"
#include "trace/witness.hpp"
#include "verify/check.hpp"

namespace entrain::engine {

/// The setting that all checks of a run share. Holds references, which must outlive it.
struct CheckSetting {
  trace::Workers& workers;
  const CheckOptions& options;
  /// Edges that its source names are counted as they are; those between locations of one clock are
  /// counted apart, if there are such locations.
  const Timeline& timeline;
  const Progress* progress = nullptr;  ///< may be null
  /// To be filled with the edges of all workers, at rank 0 of the processes; may be null.
  page::Survey* survey = nullptr;
  /// To be filled with a number per location, equal for those that edges tie, by way of others too;
  /// may be null.
  std::vector<std::uint32_t>* groups = nullptr;
  bool known_acyclic = false;  ///< see verify::TimesToCheck::known_acyclic
  /// Pairs that were found before where records are missing; null: they are found now.
  const trace::Witness* witness = nullptr;
  bool same_clock_records = true;           ///< see verify::Claims
  const formats::Source* source = nullptr;  ///< source of the trace; null: it tells nothing more
  const explain::Told* told = nullptr;      ///< why no clocks meet all edges; null: some do
  std::span<const trace::WrongPair> wrong_pairs{};  ///< see verify::TimesToCheck
};

/// The setting for the times of a timeline. Both must outlive it.
CheckSetting setting_of(trace::Workers& workers, const formats::Source& source,
                        const Timeline& timeline, const CheckOptions& options,
                        const Progress* progress);

/// Runs verify::check_both() on the times that `maps` (one per location) give the events of
/// `loaded`, with a team of all workers; adds the source of mu and what the source knows. Edges
/// that the source names are counted as they are. Collective. Errors: those of
/// verify::check_both().
Result<CheckReport> check_times(const CheckSetting& setting, const trace::LoadedTrace& loaded,
                                std::span<const ClockMap> maps);

/// Times of the same events by other maps.
struct OtherTimes {
  std::span<const ClockMap> maps;
  page::Survey* survey = nullptr;  ///< see CheckSetting::survey
};

/// The same for two sets of times. Several processes have the events of their own locations
/// only: then `others` are not checked. `others` may be null.
Result<verify::Checks> check_both_times(const CheckSetting& setting,
                                        const trace::LoadedTrace& loaded,
                                        std::span<const ClockMap> maps, const OtherTimes* others);

/// Takes the estimated clocks into a report, and what there is to warn of.
void take_clocks(const formats::Source& source, clocks::Presynchronised& presync,
                 CheckReport& report);

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
