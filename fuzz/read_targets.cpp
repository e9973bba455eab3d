// SPDX-License-Identifier: BSD-3-Clause
// The targets that read: event files, definitions, anchors.
#include <entrain/entrain.hpp>

#include "fuzz/scratch.hpp"
#include "otf2/read/archive.hpp"

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
    if (skeleton->event_count > 0) (void)(*archive)->region_at(l, skeleton->last);
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

}  // namespace

void event_file(Input input, Compare compare) {
  static const Scratch scratch(true);
  Scratch::write_chunks(scratch.event_file(0), input);
  Scratch::write_chunks(scratch.event_file(7), input);
  trace::Trace trace;
  if (scan(scratch, trace) && is_whole(trace) && chosen(input, compare)) {
    compare_with_library(scratch, trace);
  }
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
