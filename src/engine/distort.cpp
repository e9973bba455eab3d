// SPDX-License-Identifier: BSD-3-Clause
#include <span>

#include <fmt/core.h>
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "engine/inputs.hpp"
#include "engine/recordings.hpp"
#include "otf2/write/write_archive.hpp"
#include "output/output.hpp"
#include "session/load.hpp"
#include "sim/distort.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

/// Refuses maps under which the stamps of a location would run backward.
Result<void> check_order_of_events(const trace::Trace& trace, std::span<const ClockMap> maps) {
  for (LocationIndex l = 0; l < maps.size(); ++l) {
    const trace::LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0 || maps[l].keeps_order(location.first, location.last)) continue;
    return fail(
        ErrorKind::input,
        fmt::format("location {} of {}: its stamps are so far apart that a clock map cannot "
                    "move them to the tick, and time would run backward",
                    trace.definitions.locations[l].id, trace.path));
  }
  return {};
}

}  // namespace

Result<DistortReport> distort(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const DistortOptions& options,
                              Progress* progress) {
  return engine::distort({archive}, output, options, progress);
}

Result<DistortReport> engine::distort(const Paths& paths, const std::filesystem::path& output,
                                      const DistortOptions& options, Progress* progress) {
  const OutputRule rule = output_rule(paths, options.force);
  TRY(OutputFolder::check(output, rule));
  TRY_ASSIGN(const auto recording,
             open_recording(paths, options.threads, options.max_unpacked_bytes));
  if (recording) return distort_recording(*recording, {output, rule}, options, progress);
  const std::filesystem::path& archive = paths.front();
  TRY_ASSIGN(const session::LoadedTrace loaded, session::load(archive, options.threads, progress));
  TRY_ASSIGN(const otf2::Archive* const original, session::otf2_archive(loaded));
  TRY(otf2::check_writable(*original));
  TRY_ASSIGN(const clocks::Presynchronised presync,
             clocks::presynchronise(loaded.trace, clocks::PresyncOptions::of_reader()));
  TRY_ASSIGN(sim::Distortion distortion, sim::distort(loaded.trace, presync.maps, options));
  for (const auto& offsets : distortion.clock_offsets) {
    std::vector<ClockKnot> knots;
    for (const trace::ClockOffset& offset : offsets) knots.push_back({offset.time, offset.offset});
    const auto map = ClockMap::from_knots(std::move(knots));
    if (!map || !map->is_monotone()) {
      return fail(ErrorKind::usage,
                  "the noise of the clock offsets is so large that time would run backward between "
                  "them; ask for less");
    }
  }
  otf2::WritePlan plan;
  plan.maps = std::move(distortion.maps);
  plan.clock_offsets = std::move(distortion.clock_offsets);
  plan.first_time = distortion.first_time;
  plan.last_time = distortion.last_time;
  plan.removed_properties = trace::k_property_prefix;  // no longer true of these clocks
  plan.rule = rule;
  plan.threads = options.threads;
  plan.progress = progress;
  TRY(check_order_of_events(loaded.trace, plan.maps));
  TRY_ASSIGN(otf2::StagedArchive staged, otf2::stage_archive(*original, plan, output));
  TRY(original->check_unchanged());
  TRY(staged.commit());
  DistortReport report = std::move(distortion.report);
  report.input = loaded.trace.path;
  report.output = staged.final_anchor().string();
  report.leftovers_removed = staged.leftovers_removed();
  return report;
}

}  // namespace entrain
