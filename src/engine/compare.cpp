// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "clocks/session_span.hpp"
#include "engine/difference.hpp"
#include "otf2/read/stamps.hpp"
#include "session/load.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

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
        source_ = "clock offsets";
        return;
      }
    }
    for (const Side* side : {&a, &b}) {
      if (const auto span = clocks::session_span(side->loaded.trace, side->maps)) {
        global_ = span;
        by_time_ = side;
        source_ = "property";
        return;
      }
    }
  }

  [[nodiscard]] const std::string& source() const { return source_; }
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
  std::string source_ = "whole trace";
};

/// A run of compare().
class Comparison {
 public:
  Comparison(const Side& a, const Side& b, const Side* truth, const CompareOptions& options)
      : a_(a), b_(b), truth_(truth), options_(options), span_(a, b) {}

  Result<void> check_same_locations() const {
    TRY(check_same_locations(b_));
    return truth_ != nullptr ? check_same_locations(*truth_) : Result<void>();
  }

  Result<CompareReport> run() {
    std::optional<engine::TruthFit> fit;
    if (truth_ != nullptr) {
      const engine::TruthFit empty = truth_fit();
      TRY_ASSIGN(fit, merged<engine::TruthFit>([&] { return empty; }, nullptr));
    }
    CompareReport report;
    const auto make = [&] { return fit ? engine::DifferenceSums(*fit) : engine::DifferenceSums(); };
    TRY_ASSIGN(const engine::DifferenceSums sums, merged<engine::DifferenceSums>(make, &report));
    sums.fill(report, resolution());
    report.a = a_.loaded.trace.path;
    report.b = b_.loaded.trace.path;
    if (truth_ != nullptr) report.truth = truth_->loaded.trace.path;
    report.span_source = span_.source();
    if (options_.events_per_location > 0) {
      TRY_ASSIGN(report.events, pick_events(make()));
    }
    return report;
  }

 private:
  [[nodiscard]] std::uint64_t resolution() const {
    return a_.loaded.trace.definitions.clock.resolution_hz;
  }

  /// An empty fit over the span of the truth.
  [[nodiscard]] engine::TruthFit truth_fit() const {
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0;
    const auto& locations = truth_->loaded.trace.locations;
    for (LocationIndex l = 0; l < locations.size(); ++l) {
      if (locations[l].event_count == 0) continue;
      begin = std::min(begin, truth_->maps[l](locations[l].first));
      end = std::max(end, truth_->maps[l](locations[l].last));
    }
    return begin <= end ? engine::TruthFit(begin, end) : engine::TruthFit();
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

  /// Times of all events of a location; `truth` is empty without one.
  struct Times {
    otf2::EventStamps events_a, events_b;
    std::vector<std::int64_t> a, b, truth;
  };

  Result<Times> times(LocationIndex l) const {
    Times result;
    TRY_ASSIGN(result.events_a, otf2::read_stamps(*a_.archive, l));
    TRY_ASSIGN(result.events_b, otf2::read_stamps(*b_.archive, l));
    TRY(check_same_events(l, result.events_a, result.events_b, b_));
    result.a = times_of(result.events_a, a_.maps[l]);
    result.b = times_of(result.events_b, b_.maps[l]);
    if (truth_ != nullptr) {
      TRY_ASSIGN(const otf2::EventStamps truth, otf2::read_stamps(*truth_->archive, l));
      TRY(check_same_events(l, result.events_a, truth, *truth_));
      result.truth = times_of(truth, truth_->maps[l]);
    }
    return result;
  }

  /// Numbers of `most` of `count` things, the first and the last among them.
  static std::vector<std::size_t> spread(std::size_t count, std::uint64_t most) {
    std::vector<std::size_t> picked;
    const std::uint64_t wanted = std::min<std::uint64_t>(count, most);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      const Int128 at = wanted > 1 ? Int128{count - 1} * i / (wanted - 1) : Int128{0};
      picked.push_back(static_cast<std::size_t>(at));
    }
    return picked;
  }

  /// `sums` knows what is removed from errors.
  Result<std::vector<ComparedEvent>> pick_events(const engine::DifferenceSums& sums) const {
    const std::size_t count = a_.maps.size();
    std::vector<std::vector<ComparedEvent>> picked(count);
    std::vector<std::vector<std::int64_t>> when(count);
    const double tick_s = 1 / static_cast<double>(std::max<std::uint64_t>(resolution(), 1));
    TRY(parallel_for(options_.threads, count, [&](std::size_t l) -> Result<void> {
      TRY_ASSIGN(const Times of, times(static_cast<LocationIndex>(l)));
      for (const std::size_t i : spread(of.a.size(), options_.events_per_location)) {
        ComparedEvent event;
        event.location = a_.loaded.trace.definitions.locations[l].id;
        event.difference_s = static_cast<double>(of.b[i] - of.a[i]) * tick_s;
        event.a_error_s = event.b_error_s = std::numeric_limits<double>::quiet_NaN();
        if (truth_ != nullptr) {
          event.a_error_s = sums.error_of_a(of.a[i], of.truth[i]) * tick_s;
          event.b_error_s = sums.error_of_b(of.b[i], of.truth[i]) * tick_s;
          event.a_common_s = sums.common_of_a(of.truth[i]) * tick_s;
          event.b_common_s = sums.common_of_b(of.truth[i]) * tick_s;
        }
        picked[l].push_back(event);
        when[l].push_back(truth_ != nullptr ? of.truth[i] : of.a[i]);
      }
      return {};
    }));
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& times : when) {
      if (!times.empty()) first = std::min(first, times.front());
    }
    std::vector<ComparedEvent> all;
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < picked[l].size(); ++i) {
        picked[l][i].time_s = static_cast<double>(when[l][i] - first) * tick_s;
        all.push_back(picked[l][i]);
      }
    }
    return all;
  }

  /// Feeds every location into a fresh accumulator and merges them in order of the locations.
  template <class Sums, class Make>
  Result<Sums> merged(Make make, CompareReport* report) {
    const std::size_t count = a_.maps.size();
    Sums total = make();
    std::mutex mutex;
    std::size_t next = 0;
    std::vector<std::optional<Sums>> waiting(count);
    if (report != nullptr) report->locations.resize(count);
    TRY(parallel_for(options_.threads, count, [&](std::size_t i) -> Result<void> {
      Sums sums = make();
      TRY(feed(static_cast<LocationIndex>(i), sums));
      if constexpr (std::is_same_v<Sums, engine::DifferenceSums>) {
        report->locations[i] = {a_.loaded.trace.definitions.locations[i].id,
                                sums.difference(resolution())};
      }
      const std::lock_guard lock(mutex);
      waiting[i] = std::move(sums);
      for (; next < count && waiting[next]; ++next) {
        total.merge(*waiting[next]);
        waiting[next].reset();
      }
      return {};
    }));
    return total;
  }

  template <class Sums>
  Result<void> feed(LocationIndex l, Sums& sums) const {
    TRY_ASSIGN(const Times of, times(l));
    const bool by_b = span_.side() == &b_;
    const std::vector<std::uint64_t>& stamps = (by_b ? of.events_b : of.events_a).stamps;
    std::vector<std::uint8_t> flags(stamps.size(), 0);
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const bool inside = span_.holds(l, stamps[i], by_b ? of.b[i] : of.a[i]);
      if (of.events_a.communication[i] != 0 && inside) flags[i] = engine::k_in_communication;
    }
    sums.add({of.a, of.b, of.truth, flags});
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
  const CompareOptions& options_;
  Span span_;
};

}  // namespace

Result<CompareReport> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                              const std::optional<std::filesystem::path>& truth,
                              const CompareOptions& options, Progress* progress) {
  TRY_ASSIGN(const Side side_a, open_side(a, options.raw_a, options.threads, progress));
  TRY_ASSIGN(const Side side_b, open_side(b, false, options.threads, progress));
  std::optional<Side> side_truth;
  if (truth) {
    TRY_ASSIGN(side_truth, open_side(*truth, false, options.threads, progress));
  }
  Comparison comparison(side_a, side_b, side_truth ? &*side_truth : nullptr, options);
  TRY(comparison.check_same_locations());
  TRY_ASSIGN(CompareReport report, comparison.run());
  Solo solo;
  TRY(session::check_unchanged(solo, side_a.loaded));
  TRY(session::check_unchanged(solo, side_b.loaded));
  if (side_truth) TRY(session::check_unchanged(solo, side_truth->loaded));
  return report;
}

}  // namespace entrain
