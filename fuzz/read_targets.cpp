// SPDX-License-Identifier: BSD-3-Clause
// The targets that read: event files, definitions, anchors.
#include <algorithm>

#include <entrain/entrain.hpp>

#include "formats/otf2/read/archive.hpp"
#include "fuzz/scratch.hpp"
#include "sim/model/drop_testing.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;

namespace {

/// The archive as the scanner reads it; nothing for an error, which must be a good one.
bool scan(const Scratch& scratch, trace::Trace& trace) {
  const auto archive = otf2::Archive::open(scratch.anchor());
  if (!archive) {
    expect_good_error(scratch, archive.error().message);
    return false;
  }
  trace.definitions = (*archive)->definitions();
  for (LocationIndex l = 0; l < trace.definitions.locations.size(); ++l) {
    auto skeleton = (*archive)->scan(l);
    if (!skeleton) {
      expect_good_error(scratch, skeleton.error().message);
      return false;
    }
    std::error_code error;
    const auto size = fs::file_size((*archive)->event_file(l), error);
    expect_plausible(*skeleton, error ? 0 : size);
    const auto local = (*archive)->local_definitions(l);
    if (skeleton->event_count > 0 && local) {
      (void)otf2::find_region((*archive)->events_of(l, *local), skeleton->last);
    }
    trace.locations.push_back(*std::move(skeleton));
  }
  return true;
}

bool is_whole(const trace::Trace& trace) {
  for (const auto& location : trace.locations) {
    if (location.truncated || location.event_file_missing) return false;
  }
  return true;
}

/// Archive and trace must lose the same records, unless the archive is refused with a good error.
void expect_same_loss(const Scratch& scratch, const trace::Trace& trace) {
  DropOptions options;
  options.random = 0.3;
  options.calls = {"Allreduce"};
  options.force = true;
  options.threads = 1;
  const auto report = entrain::drop(scratch.anchor(), scratch.output(), options);
  if (!report) return expect_good_error(scratch, report.error().message);
  const auto expected = sim::drop(trace, options);
  const auto written = otf2::Archive::open(report->output);
  if (!expected || !written) finding("a loss of records cannot be looked at");
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto skeleton = (*written)->scan(l);
    if (!skeleton) finding("an archive that lost records cannot be read");
    const auto same = [](const trace::Event& a, const trace::Event& b) {
      return a.time == b.time && a.kind == b.kind && a.id == b.id && a.peer == b.peer;
    };
    const auto& ours = skeleton->events;
    const auto& theirs = expected->trace.locations[l].events;
    if (!std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), same))
      finding("an archive and its trace in memory lose different records");
  }
}

}  // namespace

void event_file(Input input, Compare compare) {
  static const Scratch scratch(true);
  Scratch::write_chunks(scratch.event_file(0), input);
  Scratch::write_chunks(scratch.event_file(7), input);
  trace::Trace trace;
  if (!scan(scratch, trace)) return;
  if (is_whole(trace) && chosen(input, compare)) compare_with_library(scratch, trace);
  expect_same_loss(scratch, trace);
}

void definitions(Input input, Compare compare) {
  static const Scratch scratch(true);
  const fs::path files[] = {scratch.folder() / "traces.def", scratch.folder() / "traces" / "7.def",
                            scratch.anchor()};
  static const test::Bytes whole[] = {test::read_bytes(files[0]), test::read_bytes(files[1]),
                                      test::read_bytes(files[2])};
  if (input.empty()) return;
  const unsigned which = input[0] % 3;
  Scratch::write_chunks(files[which], input.subspan(1));
  trace::Trace trace;
  if (scan(scratch, trace) && is_whole(trace)) {
    if (which < 2 && chosen(input, compare)) compare_with_library(scratch, trace);
    CheckOptions options;
    options.threads = 1;
    const auto report = entrain::check(scratch.anchor(), options);
    if (!report) expect_good_error(scratch, report.error().message);
  }
  Scratch::write(files[which], whole[which]);
}

}  // namespace entrain::fuzz
