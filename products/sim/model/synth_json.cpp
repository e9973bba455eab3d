// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/synth_json.hpp"

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "output/output.hpp"

namespace entrain::sim {
namespace {

/// Bytes of a piece.
constexpr std::size_t k_piece = std::size_t{64} << 10;

/// Refuses options that concern other formats only. Errors: ErrorKind::usage.
Result<void> check_use(const SynthOptions& options) {
  const SynthOptions defaults;
  const auto refuse = [&](const char* what) {
    return fail(ErrorKind::usage,
                fmt::format("{} does not concern the format {}", what, name_of(options.format)));
  };
  if (options.pattern != defaults.pattern) return refuse("the pattern");
  if (options.format == SynthFormat::chrome) return {};
  if (options.communication_share != defaults.communication_share) {
    return refuse("the share of communication");
  }
  if (options.locations_per_node != defaults.locations_per_node) {
    return refuse("the number of locations per node");
  }
  if (options.latency_s != defaults.latency_s || options.tail_s != defaults.tail_s ||
      options.back_latency_s || options.back_tail_s) {
    return refuse("a latency");
  }
  if (options.iteration_s != defaults.iteration_s) return refuse("the time of an iteration");
  if (options.imbalance != defaults.imbalance) return refuse("the imbalance");
  return {};
}

Result<void> check_size(const SynthOptions& options) {
  if (options.locations < 2 || options.locations > k_most_synth_files) {
    return fail(ErrorKind::usage,
                fmt::format("the format {} takes 2 to {} locations, not {}",
                            name_of(options.format), k_most_synth_files, options.locations));
  }
  if (options.events >= 2 && options.events / options.locations <= k_most_synth_events_per_file) {
    return {};
  }
  return fail(ErrorKind::usage,
              fmt::format("the format {} takes 2 events or more, and at most {} per location, as "
                          "its files are read as a whole; {} for {} locations are not",
                          name_of(options.format), k_most_synth_events_per_file, options.events,
                          options.locations));
}

}  // namespace

void PieceWriter::written() {
  if (text_.size() >= k_piece) flush();
}

void PieceWriter::flush() {
  if (result_) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text_.data());
    result_ = write_piece(path_, flushed_, {bytes, text_.size()});
  }
  flushed_ += text_.size();
  text_.clear();
}

Result<void> PieceWriter::close() {
  flush();
  text_.shrink_to_fit();
  return result_;
}

Result<SynthReport> synth_json(const std::filesystem::path& output, const SynthOptions& options,
                               Progress* progress) {
  TRY(check_use(options));
  TRY(check_size(options));
  SynthReport report;
  {
    const Stopwatch watch(report.seconds);
    TRY_ASSIGN(OutputFolder folder,
               OutputFolder::create(output, {.force = options.force, .inputs = {}}));
    if (progress != nullptr) progress->begin("write", options.events, "events");
    const auto write = options.format == SynthFormat::chrome ? synth_training : synth_services;
    TRY(write(folder.path(), options, progress, report));
    TRY(folder.commit());
    report.archive = folder.target().string();
    report.leftovers_removed = folder.leftovers_removed();
  }
  report.format = options.format;
  report.seed = options.seed;
  report.locations = options.locations;
  return report;
}

}  // namespace entrain::sim
