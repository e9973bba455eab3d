// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "accuracy/comparison.hpp"
#include "accuracy/sums.hpp"
#include "base/try.hpp"
#include "formats/registry/open.hpp"

namespace entrain {

namespace {

namespace fs = std::filesystem;
using formats::LocationTimes;
using formats::TimedEvents;

/// A trace of the comparison.
struct Side {
  std::unique_ptr<formats::Source> source;
  std::unique_ptr<TimedEvents> events;
};

/// Refuses traces that do not hold the same events.
class Sameness {
 public:
  Sameness(const Side& mine, const Side& theirs) : mine_(mine), theirs_(theirs) {}

  [[nodiscard]] Result<void> check() const {
    TRY(check_files());
    return check_locations();
  }

  [[nodiscard]] Result<void> check(LocationIndex l, const LocationTimes& mine,
                                   const LocationTimes& theirs) const {
    if (mine.kinds == theirs.kinds && mine.times.size() == theirs.times.size()) return {};
    return different(fmt::format("location {} has {} and {} events, or events of different kinds",
                                 mine_.events->locations[l].id, mine.times.size(),
                                 theirs.times.size()));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> different(const std::string& what) const {
    return input_error("{} and {} are not the same trace: {}", mine_.source->path(),
                       theirs_.source->path(), what);
  }

  /// The files of both have the same names. A file alone may have any name.
  [[nodiscard]] Result<void> check_names() const {
    const std::vector<TimedEvents::File>&a = mine_.events->files, &b = theirs_.events->files;
    if (a.size() == 1 && b.size() == 1) return {};
    for (std::size_t f = 0; f < a.size(); ++f) {
      const fs::path name = a[f].path.filename();
      const auto same = std::ranges::find_if(
          b, [&](const TimedEvents::File& other) { return other.path.filename() == name; });
      if (same == b.end()) {
        return different(fmt::format("{} is not in the second one", name.string()));
      }
      if (same != b.begin() + static_cast<std::ptrdiff_t>(f)) {
        return different(fmt::format("{} is of another rank in the second one", name.string()));
      }
    }
    if (a.size() == b.size()) return {};
    return different(fmt::format("{} and {} files", a.size(), b.size()));
  }

  [[nodiscard]] Result<void> check_files() const {
    TRY(check_names());
    for (std::size_t f = 0; f < mine_.events->files.size(); ++f) {
      if (mine_.events->files[f].fingerprint == theirs_.events->files[f].fingerprint) continue;
      TRY(name_difference(f));
    }
    return {};
  }

  /// Says where two files begin to differ.
  [[nodiscard]] Result<void> name_difference(std::size_t file) const {
    TRY_ASSIGN(const auto a, mine_.events->event_hashes(file));
    TRY_ASSIGN(const auto b, theirs_.events->event_hashes(file));
    const auto [at, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const std::string name = mine_.events->files[file].path.filename().string();
    if (at == a.end() || in_b == b.end()) {
      return different(fmt::format("{} has {} events with a time in one and {} in the other", name,
                                   a.size(), b.size()));
    }
    return different(fmt::format("event {} of {} is another one (of {} with a time)",
                                 at - a.begin() + 1, name, a.size()));
  }

  [[nodiscard]] Result<void> check_locations() const {
    const TimedEvents &a = *mine_.events, &b = *theirs_.events;
    if (a.resolution_hz != b.resolution_hz) {
      return different("their clocks have different resolutions");
    }
    if (a.locations.size() != b.locations.size()) {
      return different(
          fmt::format("{} and {} {}s", a.locations.size(), b.locations.size(), what()));
    }
    for (std::size_t l = 0; l < a.locations.size(); ++l) {
      if (a.locations[l] == b.locations[l]) continue;
      return different(fmt::format("{} {} is that of {} in one and of {} in the other", what(),
                                   l + 1, name_of(a.locations[l]), name_of(b.locations[l])));
    }
    return {};
  }

  /// Word for a location of a format.
  [[nodiscard]] const char* what() const {
    return mine_.events->files.empty() ? "location" : "clock";
  }
  static std::string name_of(const TimedEvents::Location& location) {
    return location.name.empty() ? fmt::format("{}", location.id) : location.name;
  }

  const Side& mine_;
  const Side& theirs_;
};

/// Two or three traces of one run.
class Traces : public accuracy::Compared {
 public:
  Traces(const Side& side_a, const Side& side_b, const Side* side_truth)
      : a_(side_a), b_(side_b), truth_(side_truth) {
    a = a_.source->path();
    b = b_.source->path();
    for (const TimedEvents::Location& location : a_.events->locations) {
      locations.push_back({.id = location.id, .name = location.name});
    }
    resolution_hz = a_.events->resolution_hz;
    find_span();
    if (truth_ == nullptr) return;
    truth = truth_->source->path();
    begin = truth_->events->begin;
    end = truth_->events->end;
  }

  [[nodiscard]] Result<void> check_same_events() const {
    TRY(Sameness(a_, b_).check());
    return truth_ != nullptr ? Sameness(a_, *truth_).check() : Result<void>();
  }

  [[nodiscard]] Result<accuracy::LocationTimes> times(LocationIndex l) const override {
    TRY_ASSIGN(LocationTimes of_a, a_.events->times(l));
    TRY_ASSIGN(LocationTimes of_b, b_.events->times(l));
    TRY(Sameness(a_, b_).check(l, of_a, of_b));
    accuracy::LocationTimes result;
    if (truth_ != nullptr) {
      TRY_ASSIGN(LocationTimes of_truth, truth_->events->times(l));
      TRY(Sameness(a_, *truth_).check(l, of_a, of_truth));
      result.truth = std::move(of_truth.times);
    }
    const std::vector<std::uint8_t>& inside = is_span_of_b_ ? of_b.in_span : of_a.in_span;
    result.flags.resize(of_a.times.size(), 0);
    for (std::size_t i = 0; i < result.flags.size(); ++i) {
      const bool counts = of_a.communicates[i] != 0 && (inside.empty() || inside[i] != 0);
      if (counts) result.flags[i] = accuracy::k_in_communication;
    }
    result.a = std::move(of_a.times);
    result.b = std::move(of_b.times);
    return result;
  }

 private:
  /// Records of sessions tell more than a span that was noted, and any span more than none.
  void find_span() {
    span_source = std::min(a_.events->span, b_.events->span);
    is_span_of_b_ = a_.events->span != span_source;
  }

  const Side& a_;
  const Side& b_;
  const Side* truth_;
  bool is_span_of_b_ = false;
};

/// Refuses traces of different formats, unless one of them cannot be read at all.
Result<void> check_same_format(const Side& mine, const Side& theirs,
                               const CompareOptions& options) {
  const std::string &a = mine.source->format_name(), &b = theirs.source->format_name();
  if (a == b) return {};
  for (const Side* side : {&mine, &theirs}) {
    TRY(side->source->describe(options.threads, nullptr));
  }
  return input_error("{} is {}, and {} is {}; give traces of one format", mine.source->path(), a,
                     theirs.source->path(), b);
}

/// Appends the notes of a side that `notes` does not have yet.
void add_notes(const Side& side, std::vector<std::string>& notes) {
  const formats::Remarks remarks = side.source->remarks();
  for (const std::span<const std::string> all : {remarks.guesses, remarks.notes}) {
    for (const std::string& note : all) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
}

}  // namespace

Result<CompareReport> compare(const fs::path& path_a, const fs::path& path_b,
                              const std::optional<fs::path>& path_of_truth,
                              const CompareOptions& options, Progress* progress) {
  std::vector<Side> sides;
  for (const fs::path* path : {&path_a, &path_b, path_of_truth ? &*path_of_truth : nullptr}) {
    if (path == nullptr) continue;
    Side& side = sides.emplace_back();
    TRY_ASSIGN(side.source, formats::open({*path}, options.threads,
                                          {options.max_unpacked_bytes, options.columns}));
    TRY(check_same_format(sides.front(), side, options));
  }
  for (Side& side : sides) {
    const bool raw = options.raw_a && &side == &sides.front();
    TRY_ASSIGN(side.events, side.source->timed_events(raw, options.threads, progress));
  }
  const Traces traces(sides[0], sides[1], sides.size() > 2 ? &sides[2] : nullptr);
  TRY(traces.check_same_events());
  TRY_ASSIGN(CompareReport report, accuracy::compare(traces, options));
  for (const Side& side : sides) {
    TRY(side.events->check_unchanged());
    add_notes(side, report.notes);
  }
  return report;
}

}  // namespace entrain
