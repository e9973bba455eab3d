// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "clocks/session_span.hpp"
#include "engine/compare_recordings.hpp"
#include "engine/comparison.hpp"
#include "engine/difference.hpp"
#include "otf2/read/stamps.hpp"
#include "session/load.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

using engine::ComparedPaths;

/// An archive of the comparison, with the maps that a reader applies to its stamps.
struct Side {
  session::LoadedTrace loaded;
  const otf2::Archive* archive = nullptr;
  std::vector<ClockMap> maps;
};

Result<Side> open_side(const std::filesystem::path& path, bool raw, unsigned threads,
                       Progress* progress) {
  Side side;
  TRY_ASSIGN(side.loaded, session::load(path, threads, progress));
  TRY_ASSIGN(side.archive, session::otf2_archive(side.loaded));
  TRY_ASSIGN(clocks::Presynchronised presync,
             clocks::presynchronise(side.loaded.trace, raw ? clocks::PresyncOptions(Presync::none)
                                                           : clocks::PresyncOptions::of_reader()));
  side.maps = std::move(presync.maps);
  return side;
}

/// Times of all events of one location as a reader returns them.
std::vector<std::int64_t> times_of(const otf2::EventStamps& events, const ClockMap& map) {
  std::vector<std::int64_t> times;
  times.reserve(events.stamps.size());
  ClockMap::Cursor cursor(map);
  for (const std::uint64_t stamp : events.stamps) times.push_back(cursor(stamp));
  return times;
}

/// Where communication events count: per location between its first and last ClockOffset record
/// (stored stamps of one side), or in a span of global time, or everywhere.
class Span {
 public:
  Span(const Side& a, const Side& b) {
    for (const Side* side : {&a, &b}) {
      const trace::Trace& trace = side->loaded.trace;
      if (trace::find_property(trace.definitions, trace::k_property_session_span) == nullptr &&
          has_offsets(trace)) {
        by_records_ = side;
        source_ = SpanOrigin::clock_offsets;
        return;
      }
    }
    for (const Side* side : {&a, &b}) {
      if (const auto span = clocks::session_span(side->loaded.trace, side->maps)) {
        global_ = span;
        by_time_ = side;
        source_ = SpanOrigin::property;
        return;
      }
    }
  }

  [[nodiscard]] SpanOrigin source() const { return source_; }
  /// The side by whose events the span is told; null if it is everything.
  [[nodiscard]] const Side* side() const { return by_records_ != nullptr ? by_records_ : by_time_; }

  [[nodiscard]] bool holds(LocationIndex l, std::uint64_t stamp, std::int64_t time) const {
    if (by_records_ != nullptr) {
      const auto& offsets = by_records_->loaded.trace.locations[l].clock_offsets;
      return offsets.size() >= 2 && stamp >= offsets.front().time && stamp <= offsets.back().time;
    }
    return !global_ || (time >= global_->begin && time <= global_->end);
  }

 private:
  static bool has_offsets(const trace::Trace& trace) {
    for (const auto& location : trace.locations) {
      if (location.clock_offsets.size() >= 2) return true;
    }
    return false;
  }

  const Side* by_records_ = nullptr;
  const Side* by_time_ = nullptr;
  std::optional<clocks::SessionSpan> global_;
  SpanOrigin source_ = SpanOrigin::whole_trace;
};

/// Two or three archives of one trace.
class Archives : public engine::Compared {
 public:
  Archives(const Side& side_a, const Side& side_b, const Side* side_truth)
      : a_(side_a), b_(side_b), truth_(side_truth), span_(side_a, side_b) {
    a = a_.loaded.trace.path;
    b = b_.loaded.trace.path;
    for (const trace::Location& location : a_.loaded.trace.definitions.locations) {
      locations.push_back({.id = location.id});
    }
    resolution_hz = a_.loaded.trace.definitions.clock.resolution_hz;
    span_source = span_.source();
    if (truth_ == nullptr) return;
    truth = truth_->loaded.trace.path;
    find_span_of_truth();
  }

  [[nodiscard]] Result<void> check_same_locations() const {
    TRY(check_same_locations(b_));
    return truth_ != nullptr ? check_same_locations(*truth_) : Result<void>();
  }

  [[nodiscard]] Result<engine::LocationTimes> times(LocationIndex l) const override {
    engine::LocationTimes result;
    TRY_ASSIGN(const otf2::EventStamps events_a, otf2::read_stamps(*a_.archive, l));
    TRY_ASSIGN(const otf2::EventStamps events_b, otf2::read_stamps(*b_.archive, l));
    TRY(check_same_events(l, events_a, events_b, b_));
    result.a = times_of(events_a, a_.maps[l]);
    result.b = times_of(events_b, b_.maps[l]);
    if (truth_ != nullptr) {
      TRY_ASSIGN(const otf2::EventStamps events, otf2::read_stamps(*truth_->archive, l));
      TRY(check_same_events(l, events_a, events, *truth_));
      result.truth = times_of(events, truth_->maps[l]);
    }
    const bool by_b = span_.side() == &b_;
    const std::vector<std::uint64_t>& stamps = (by_b ? events_b : events_a).stamps;
    result.flags.resize(stamps.size(), 0);
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      const bool inside = span_.holds(l, stamps[i], by_b ? result.b[i] : result.a[i]);
      if (events_a.communication[i] != 0 && inside) result.flags[i] = engine::k_in_communication;
    }
    return result;
  }

 private:
  void find_span_of_truth() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    const auto& skeletons = truth_->loaded.trace.locations;
    for (LocationIndex l = 0; l < skeletons.size(); ++l) {
      if (skeletons[l].event_count == 0) continue;
      first = std::min(first, truth_->maps[l](skeletons[l].first));
      last = std::max(last, truth_->maps[l](skeletons[l].last));
    }
    if (first > last) return;
    begin = first;
    end = last;
  }

  Result<void> check_same_locations(const Side& other) const {
    const trace::Definitions& mine = a_.loaded.trace.definitions;
    const trace::Definitions& theirs = other.loaded.trace.definitions;
    const auto different = [&](const std::string& what) {
      return fail(ErrorKind::input,
                  fmt::format("{} and {} are not the same trace: {}", a_.loaded.trace.path,
                              other.loaded.trace.path, what));
    };
    if (mine.clock.resolution_hz != theirs.clock.resolution_hz) {
      return different("their clocks have different resolutions");
    }
    if (mine.locations.size() != theirs.locations.size()) {
      return different(
          fmt::format("{} and {} locations", mine.locations.size(), theirs.locations.size()));
    }
    for (LocationIndex l = 0; l < mine.locations.size(); ++l) {
      if (mine.locations[l].id != theirs.locations[l].id) {
        return different(fmt::format("location {} is not in the second one", mine.locations[l].id));
      }
    }
    return {};
  }

  Result<void> check_same_events(LocationIndex l, const otf2::EventStamps& mine,
                                 const otf2::EventStamps& theirs, const Side& other) const {
    if (mine.types == theirs.types) return {};
    return fail(ErrorKind::input,
                fmt::format("{} and {} are not the same trace: location {} has {} and {} events, "
                            "or events of different kinds",
                            a_.loaded.trace.path, other.loaded.trace.path,
                            a_.loaded.trace.definitions.locations[l].id, mine.types.size(),
                            theirs.types.size()));
  }

  const Side& a_;
  const Side& b_;
  const Side* truth_;
  Span span_;
};

Result<CompareReport> compare_archives(const ComparedPaths& paths, const CompareOptions& options,
                                       Progress* progress) {
  TRY_ASSIGN(const Side side_a, open_side(paths.a, options.raw_a, options.threads, progress));
  TRY_ASSIGN(const Side side_b, open_side(paths.b, false, options.threads, progress));
  std::optional<Side> side_truth;
  if (paths.truth) {
    TRY_ASSIGN(side_truth, open_side(*paths.truth, false, options.threads, progress));
  }
  const Archives archives(side_a, side_b, side_truth ? &*side_truth : nullptr);
  TRY(archives.check_same_locations());
  TRY_ASSIGN(CompareReport report, engine::compare(archives, options));
  Solo solo;
  TRY(session::check_unchanged(solo, side_a.loaded));
  TRY(session::check_unchanged(solo, side_b.loaded));
  if (side_truth) TRY(session::check_unchanged(solo, side_truth->loaded));
  return report;
}

}  // namespace

Result<CompareReport> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                              const std::optional<std::filesystem::path>& truth,
                              const CompareOptions& options, Progress* progress) {
  const engine::ComparedPaths paths{a, b, truth};
  TRY_ASSIGN(const engine::ComparedRecordings recordings,
             engine::open_recordings(paths, options.threads, options.max_unpacked_bytes));
  if (recordings.a) return engine::compare_recordings(recordings, options);
  return compare_archives(paths, options, progress);
}

}  // namespace entrain
