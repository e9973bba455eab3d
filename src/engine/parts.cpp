// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/parts.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <entrain/entrain.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/amortization.hpp"
#include "engine/correction.hpp"
#include "formats/registry/parts.hpp"
#include "trace/phase.hpp"

namespace entrain {

namespace {

/// A row per segment of each clock. By the row with the last `since` up to a stamp, its common time
/// is stamp + offset + drift * (stamp - tick), the product rounded to the nearest whole number, of
/// two the even one: what ClockMap gives, to the bit.
std::string table_of(const Clocks& clocks, const ClockMaps& maps,
                     const std::optional<ClockBounds>& bounds) {
  std::string text = "clock,since,tick,offset,drift,bound\n";
  for (std::size_t c = 0; c < maps.maps.size(); ++c) {
    const std::span<const ClockKnot> knots = maps.maps[c].knots();
    std::string bound;
    if (bounds) {
      for (const LocationBounds& one : bounds->locations) {
        if (one.location == maps.locations[c]) bound = fmt::format("{}", one.worst_ticks);
      }
    }
    const auto add = [&](std::uint64_t since, const ClockKnot& knot, double drift) {
      text += fmt::format("{},{},{},{},{:.17g},{}\n", csv_field(clocks.clocks[c].name), since,
                          knot.local, knot.offset, drift, bound);
    };
    if (knots.size() < 2) add(0, {}, 0);
    for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
      const double rise = static_cast<double>(knots[k + 1].offset - knots[k].offset);
      const double run = static_cast<double>(knots[k + 1].local - knots[k].local);
      add(k == 0 ? 0 : knots[k].local, knots[k], rise / run);
    }
  }
  return text;
}

}  // namespace

Result<PartReport> summarise(const PartPaths& part, const std::filesystem::path& output,
                             const PartOptions& options, Progress* progress) {
  const OutputRule rule = engine::output_rule(part, options.force);
  TRY(OutputFile::check(output, rule));
  const formats::ReadOptions how{options.max_unpacked_bytes, options.columns};
  TRY_ASSIGN(formats::Documents documents, formats::documents_of(part, how));
  trace::begin_phase(progress, "summarise");
  PartReport report{.output = output.string(), .notes = std::move(documents.notes)};
  TRY_ASSIGN(OutputFile summary, OutputFile::create(output, rule));
  TRY_ASSIGN(const std::vector<formats::Parts::File> files,
             formats::summarise(documents, options.threads, how, [&](std::string_view text) {
               report.output_bytes += text.size();
               return summary.write(text);
             }));
  for (const formats::Parts::File& file : files) {
    ++report.files;
    report.bytes += file.bytes;
    report.events += file.events;
    for (const std::string& guess : file.guesses) {
      if (std::ranges::find(report.notes, guess) == report.notes.end()) {
        report.notes.push_back(guess);
      }
    }
  }
  TRY(summary.commit());
  note_result(output);
  return report;
}

Result<FitReport> fit(const PartPaths& summaries, const std::filesystem::path& output,
                      const std::filesystem::path& table, const CorrectOptions& options,
                      Progress* progress) {
  if (options.mode != WriteMode::rewrite || options.mark_offsets) {
    return fail(ErrorKind::usage,
                "clocks are fitted for copies of all files: mode must be rewrite, "
                "and apply() marks offsets");
  }
  const OutputRule rule = engine::output_rule(summaries, options.check, options.force);
  TRY(check_distinct({{"--csv", table}, {"-o", output}}));
  TRY(OutputFile::check(output, rule));
  if (!table.empty()) TRY(OutputFile::check(table, rule));
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Recording> recording,
             formats::open_summaries(summaries, options.check.threads,
                                     formats::read_options(options.check)));
  TRY(recording->check_options(options.check));
  TRY(engine::check_options(options));
  Solo solo;
  engine::Correction correction({.processes = solo, .progress = progress}, *recording, options);
  TRY(correction.compute(true, engine::Correction::Writing::yes));
  TRY(correction.write(output, rule));
  TRY(correction.verify());
  TRY(correction.check_before());
  FitReport report{.correction = correction.take_report(),
                   .file = output.string(),
                   .table = table.string(),
                   .summaries = summaries.size(),
                   .files = recording->files.size()};
  TRY(correction.commit(report.correction));
  note_result(output);
  report.correction.mode.reset();  // no event was written
  if (table.empty()) return report;
  const ClockMaps maps = correction.take_maps();
  TRY(write_output(table, table_of(recording->clocks, maps, report.correction.bounds), rule));
  return report;
}

Result<PartReport> apply(const std::filesystem::path& clocks, const PartPaths& part,
                         const std::filesystem::path& output, const PartOptions& options,
                         Progress* progress) {
  PartPaths inputs = part;
  inputs.push_back(clocks);
  const OutputRule rule = engine::output_rule(inputs, options.force);
  TRY(formats::check_output(part, output, rule));
  TRY_ASSIGN(formats::Documents documents,
             formats::documents_of(part, {options.max_unpacked_bytes, options.columns}));
  TRY_ASSIGN(const formats::FittedPart fitted,
             formats::open_fitted(clocks, documents, options.threads, options.columns));
  const formats::Recording& recording = *fitted.recording;
  TRY(recording.check_writable(WriteMode::rewrite, options.mark_offsets));
  trace::begin_phase(progress, "write");
  trace::Workers workers(options.threads);
  const trace::LoadedTrace nothing;
  TRY_ASSIGN(const std::unique_ptr<formats::Staged> staged,
             recording.stage({.workers = workers,
                              .loaded = nothing,
                              .maps = fitted.maps,
                              .measured = {},
                              .mark_offsets = options.mark_offsets,
                              .rule = rule,
                              .progress = progress},
                             output));
  TRY(staged->commit(false));
  return PartReport{.output = staged->path().string(),
                    .files = recording.files.size(),
                    .bytes = recording.bytes,
                    .events = recording.events,
                    .notes = std::move(documents.notes)};
}

}  // namespace entrain
