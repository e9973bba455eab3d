// SPDX-License-Identifier: BSD-3-Clause
#include "sim/verbs/distort.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open.hpp"
#include "sim/model/distort.hpp"
#include "trace/clock_maps.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

/// Refuses clock offsets between which time would run backward.
Result<void> check_noise(const sim::Distortion& distortion) {
  for (const auto& offsets : distortion.clock_offsets) {
    std::vector<ClockKnot> knots;
    for (const trace::ClockOffset& offset : offsets) knots.push_back({offset.time, offset.offset});
    const auto map = ClockMap::from_knots(std::move(knots));
    if (map && map->is_monotone()) continue;
    return fail(ErrorKind::usage,
                "the noise of the clock offsets is so large that time would run backward between "
                "them; ask for less");
  }
  return {};
}

/// Takes the maps that the format can store where it stores few, and the largest error of these.
void take_stored(const formats::Source& source, const trace::Trace& trace,
                 sim::Distortion& distortion) {
  if (!source.shifts_as_a_whole(WriteMode::rewrite)) return;
  distortion.maps = source.whole_shifts(WriteMode::rewrite, trace, distortion.maps).maps;
  std::int64_t largest = 0;
  for (std::size_t l = 0; l < trace.locations.size(); ++l) {
    const trace::LocationSkeleton& location = trace.locations[l];
    if (location.event_count == 0) continue;
    const ClockMap& map = distortion.maps[l];
    for (const std::uint64_t t : trace::straight_stamps(location.first, location.last, {&map})) {
      const std::int64_t error = map(t) - static_cast<std::int64_t>(t) - distortion.shift;
      largest = std::max(largest, std::abs(error));
    }
  }
  distortion.report.largest_offset_s =
      static_cast<double>(largest) / static_cast<double>(trace.definitions.clock.resolution_hz);
}

}  // namespace

Result<DistortReport> distort(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const DistortOptions& options,
                              Progress* progress) {
  return sim::distort({archive}, output, options, progress);
}

Result<DistortReport> sim::distort(const formats::Paths& paths, const std::filesystem::path& output,
                                   const DistortOptions& options, Progress* progress) {
  const OutputRule rule = engine::output_rule(paths, options.force);
  TRY(formats::check_output(paths, output, rule));
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             formats::open(paths, options.threads, {options.max_unpacked_bytes, options.columns}));
  TRY(source->check_writable(WriteMode::rewrite, false));
  trace::Workers workers(options.threads);
  CheckOptions check;
  check.threads = options.threads;
  TRY_ASSIGN(const engine::Timeline timeline,
             engine::find_timeline(workers, *source, check, {}, progress));
  const trace::LoadedTrace& loaded = timeline.loaded;
  TRY_ASSIGN(const clocks::Presynchronised presync,
             clocks::presynchronise(loaded.trace, clocks::PresyncOptions::of_reader()));
  TRY_ASSIGN(sim::Distortion distortion, sim::distort(loaded.trace, presync.maps, options));
  TRY(check_noise(distortion));
  take_stored(*source, loaded.trace, distortion);
  TRY(formats::check_maps(*source, loaded.share(workers.processes()), distortion.maps,
                          WriteMode::rewrite));
  const formats::WritePlan plan{
      .workers = workers,
      .loaded = loaded,
      .maps = distortion.maps,
      .measured = {},
      .first_time = distortion.first_time,
      .last_time = distortion.last_time,
      .clock_offsets = std::move(distortion.clock_offsets),
      .removed_properties = trace::k_property_prefix,  // no longer true of these clocks
      .rule = rule,
      .progress = progress};
  TRY_ASSIGN(const std::unique_ptr<formats::Staged> staged, source->stage(plan, output));
  TRY(trace::check_unchanged(workers.processes(), loaded));
  TRY(staged->commit(false));
  DistortReport report = std::move(distortion.report);
  CheckReport facts;
  facts.events = report.events;
  source->complete(facts);
  report.input = loaded.trace.path;
  report.output = staged->path().string();
  report.events = facts.events;
  report.has_records = !timeline.has_given_edges;
  report.leftovers_removed = staged->leftovers_removed();
  return report;
}

}  // namespace entrain
