// SPDX-License-Identifier: BSD-3-Clause
#include "engine/compare_recordings.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/try.hpp"
#include "edges/trace.hpp"
#include "engine/comparison.hpp"
#include "engine/difference.hpp"
#include "engine/recordings.hpp"
#include "session/open_trace.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

namespace {

using formats::Recording;

/// A recording with the times of all its events.
struct Side {
  const Recording& recording;
  formats::EventTimes times;
};

tl::unexpected<Error> not_the_same(const Recording& mine, const Recording& theirs,
                                   const std::string& what) {
  return fail(ErrorKind::input, fmt::format("{} and {} are not the same trace: {}",
                                            mine.clocks.name, theirs.clocks.name, what));
}

/// The files of both have the same names. A file alone may have any name.
Result<void> check_same_files(const Recording& mine, const Recording& theirs) {
  if (mine.files.size() == 1 && theirs.files.size() == 1) return {};
  for (std::size_t f = 0; f < mine.files.size(); ++f) {
    const fs::path name = mine.files[f].filename();
    const auto same = std::find_if(theirs.files.begin(), theirs.files.end(),
                                   [&](const fs::path& other) { return other.filename() == name; });
    if (same == theirs.files.end()) {
      return not_the_same(mine, theirs, fmt::format("{} is not in the second one", name.string()));
    }
    if (same != theirs.files.begin() + static_cast<std::ptrdiff_t>(f)) {
      return not_the_same(mine, theirs,
                          fmt::format("{} is of another rank in the second one", name.string()));
    }
  }
  if (mine.files.size() == theirs.files.size()) return {};
  return not_the_same(mine, theirs,
                      fmt::format("{} and {} files", mine.files.size(), theirs.files.size()));
}

Result<void> check_same_clocks(const Recording& mine, const Recording& theirs) {
  const std::vector<Clock>& a = mine.clocks.clocks;
  const std::vector<Clock>& b = theirs.clocks.clocks;
  if (a.size() != b.size()) {
    return not_the_same(mine, theirs, fmt::format("{} and {} clocks", a.size(), b.size()));
  }
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (a[c].name == b[c].name) continue;
    return not_the_same(mine, theirs,
                        fmt::format("clock {} is that of {} in one and of {} in the other", c + 1,
                                    a[c].name, b[c].name));
  }
  return {};
}

/// Says where two files begin to differ.
Result<void> tell_difference(const Side& mine, const Side& theirs, std::size_t file) {
  TRY_ASSIGN(const auto a, mine.recording.event_hashes(file));
  TRY_ASSIGN(const auto b, theirs.recording.event_hashes(file));
  const auto [at, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const std::string name = mine.recording.files[file].filename().string();
  if (at == a.end() || in_b == b.end()) {
    return not_the_same(mine.recording, theirs.recording,
                        fmt::format("{} has {} events with a time in one and {} in the other", name,
                                    a.size(), b.size()));
  }
  return not_the_same(mine.recording, theirs.recording,
                      fmt::format("event {} of {} is another one (of {} with a time)",
                                  at - a.begin() + 1, name, a.size()));
}

Result<void> check_same_events(const Side& mine, const Side& theirs) {
  TRY(check_same_files(mine.recording, theirs.recording));
  for (std::size_t f = 0; f < mine.times.files.size(); ++f) {
    if (mine.times.files[f] == theirs.times.files[f]) continue;
    TRY(tell_difference(mine, theirs, f));
  }
  return check_same_clocks(mine.recording, theirs.recording);
}

/// Two or three recordings of one run.
class Recordings : public Compared {
 public:
  Recordings(Side side_a, Side side_b, std::optional<Side> side_truth)
      : a_(std::move(side_a)), b_(std::move(side_b)), truth_(std::move(side_truth)) {
    const Clocks& clocks = a_.recording.clocks;
    a = clocks.name;
    b = b_.recording.clocks.name;
    resolution_hz = clocks.resolution_hz;
    for (const trace::Location& location : edges::definitions_of(clocks).locations) {
      const bool is_number = location.name == fmt::format("{}", location.id);
      locations.push_back({.id = location.id, .name = is_number ? "" : location.name});
    }
    if (!truth_) return;
    truth = truth_->recording.clocks.name;
    find_span_of_truth();
  }

  [[nodiscard]] Result<void> check_same_events() const {
    TRY(engine::check_same_events(a_, b_));
    return truth_ ? engine::check_same_events(a_, *truth_) : Result<void>();
  }

  [[nodiscard]] Result<LocationTimes> times(LocationIndex l) const override {
    LocationTimes result;
    const std::vector<formats::EventTime>& events = a_.times.of_clock[l];
    result.a = times_of(a_, l);
    result.b = times_of(b_, l);
    if (truth_) result.truth = times_of(*truth_, l);
    for (const formats::EventTime& event : events) {
      result.flags.push_back(event.communicates() ? k_in_communication : std::uint8_t{0});
    }
    return result;
  }

 private:
  static std::vector<std::int64_t> times_of(const Side& side, LocationIndex l) {
    std::vector<std::int64_t> times;
    times.reserve(side.times.of_clock[l].size());
    for (const formats::EventTime& event : side.times.of_clock[l]) {
      times.push_back(event.time());
    }
    return times;
  }

  void find_span_of_truth() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const auto& events : truth_->times.of_clock) {
      for (const formats::EventTime& event : events) {
        first = std::min(first, event.time());
        last = std::max(last, event.time());
      }
    }
    if (first > last) return;
    begin = first;
    end = last;
  }

  Side a_, b_;
  std::optional<Side> truth_;
};

Result<Side> side_of(const Recording& recording) {
  TRY_ASSIGN(formats::EventTimes times, recording.event_times());
  return Side{recording, std::move(times)};
}

/// Returns the name of a path's format.
std::string format_of(const std::unique_ptr<Recording>& recording) {
  return recording ? recording->format : "an OTF2 archive";
}

/// Appends the notes of a recording that `notes` does not have yet.
void add_notes(const Recording& recording, std::vector<std::string>& notes) {
  for (const std::string& note : recording.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

}  // namespace

Result<ComparedRecordings> open_recordings(const ComparedPaths& paths, unsigned threads,
                                           std::uint64_t max_unpacked) {
  ComparedRecordings result;
  TRY_ASSIGN(result.a, open_recording({paths.a}, threads, max_unpacked));
  const auto open = [&](const fs::path& path, std::unique_ptr<Recording>& to) -> Result<void> {
    TRY_ASSIGN(to, open_recording({path}, threads, max_unpacked));
    const std::string mine = format_of(result.a), theirs = format_of(to);
    if (mine == theirs) return {};
    if (!result.a) TRY(session::open_trace(paths.a));  // it may be nothing at all
    if (!to) TRY(session::open_trace(path));
    return fail(ErrorKind::input, fmt::format("{} is {}, and {} is {}; give traces of one format",
                                              paths.a.string(), mine, path.string(), theirs));
  };
  TRY(open(paths.b, result.b));
  if (paths.truth) TRY(open(*paths.truth, result.truth));
  return result;
}

Result<CompareReport> compare_recordings(const ComparedRecordings& recordings,
                                         const CompareOptions& options) {
  if (options.raw_a) {
    return fail(ErrorKind::usage,
                "--raw needs OTF2 archives; times of other traces are always taken as stored");
  }
  TRY_ASSIGN(Side a, side_of(*recordings.a));
  TRY_ASSIGN(Side b, side_of(*recordings.b));
  std::optional<Side> truth;
  if (recordings.truth) {
    TRY_ASSIGN(Side side, side_of(*recordings.truth));
    truth.emplace(std::move(side));
  }
  const Recordings all(std::move(a), std::move(b), std::move(truth));
  TRY(all.check_same_events());
  TRY_ASSIGN(CompareReport report, compare(all, options));
  for (const auto* const one : {&recordings.a, &recordings.b, &recordings.truth}) {
    if (*one) add_notes(**one, report.notes);
  }
  return report;
}

}  // namespace entrain::engine
