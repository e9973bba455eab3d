// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/presync.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clocks/estimate.hpp"
#include "clocks/rate_prior.hpp"
#include "clocks/warnings.hpp"

namespace entrain::clocks {

namespace {

/// Runs presynchronise() once.
class Presynchroniser {
 public:
  Presynchroniser(const trace::Share& share, const PresyncOptions& options)
      : share_(share),
        processes_(share.team),
        trace_(share.trace),
        own_(share.own()),
        options_(options) {}

  Result<Presynchronised> run() {
    survey_records();
    prior_ = rate_prior(share_, options_.clock_prior);
    TRY(choose());
    result_.method = method_;
    result_.provenance = entrain::name_of(result_.method);
    if (measured() && method_ != Method::linear) {
      result_.provenance += fmt::format(" sessions={}", entrain::name_of(options_.condensing));
    }
    if (measured() && !options_.clock_samples.empty()) {
      result_.provenance += records_added() ? " measured_apart=added" : " measured_apart";
    }
    if (method_ == Method::spline && all_sessions()) result_.provenance += " spline=all";
    result_.maps.resize(trace_.locations.size());
    if (options_.report) result_.errors.resize(trace_.locations.size());
    TRY(processes_.agree(make_maps()));
    avoid_negative_times(share_, result_.maps);
    if (options_.report) {
      gather_qualities();
      if (measured() && !corrected_) {
        result_.clocks.warnings = warnings_of_records(share_, prior_);
      }
    }
    return std::move(result_);
  }

 private:
  /// True if the maps come from sessions.
  [[nodiscard]] bool measured() const { return method_ != Method::none; }
  const trace::LocationSkeleton& location(LocationIndex l) const { return trace_.locations[l]; }

  void survey_records() {
    for (const LocationIndex l : own_) {
      const auto& records = location(l).clock_offsets;
      most_records_ = std::max(most_records_, static_cast<std::int64_t>(records.size()));
      any_width_ |= std::ranges::any_of(records, [](const auto& one) { return one.stddev > 0; });
    }
    most_records_ = processes_.reduce(Team::Reduction::max, most_records_);
    any_width_ = processes_.any(any_width_);
  }

  /// Chooses the method, and reads the exchanges if it needs them.
  Result<void> choose() {
    corrected_ = trace::find_property(trace_.definitions, trace::k_property_correction) != nullptr;
    const Presync wish = options_.presync;
    if (wish == Presync::automatic || wish == Presync::causal) return choose_automatically();
    method_ = wish == Presync::linear       ? Method::linear
              : wish == Presync::regression ? Method::regression
              : wish == Presync::spline     ? Method::spline
                                            : Method::none;
    if (method_ == Method::none || method_ == Method::linear) return {};
    const char* const wanted = entrain::name_of(method_);
    if (corrected_) {
      return input_error(
          "{} was corrected already: its clock offsets are no measurements that a {} could use; "
          "try --presync linear",
          trace_.path, wanted);
    }
    if (most_records_ == 0) {
      return input_error(
          "{} has no ClockOffset records, so there is nothing for a {}; try --presync none",
          trace_.path, wanted);
    }
    return read_samples();
  }

  Result<void> choose_automatically() {
    if (most_records_ == 0) return {};
    method_ = Method::linear;
    if (corrected_) {
      reason_ = "the archive was corrected already, and its records say how";
      return {};
    }
    TRY(read_samples());
    if (most_records_ < 3) {
      if (any_samples_) method_ = Method::regression;
      reason_ = any_samples_ ? "there are fewer than three sessions, and their exchanges are known"
                             : "there are fewer than three sessions";
      return {};
    }
    CrossValidation sums;
    for (const LocationIndex l : own_) {
      const auto of_clock = cross_validate(sessions_of(l), options_.condensing);
      sums.inner_sessions += of_clock.inner_sessions;
      sums.width_ticks += of_clock.width_ticks;
      for (std::size_t m = 0; m < k_methods; ++m) {
        sums.distance_ticks[m] += of_clock.distance_ticks[m];
      }
    }
    processes_.reduce(Team::Reduction::sum, sums.distance_ticks);
    sums.inner_sessions = processes_.reduce(Team::Reduction::sum, sums.inner_sessions);
    sums.width_ticks = processes_.reduce(Team::Reduction::sum, sums.width_ticks);
    method_ = choose_method(sums, most_records_);
    reason_ = reason_for(sums);
    return {};
  }

  [[nodiscard]] std::string reason_for(const CrossValidation& sums) const {
    const auto mean = [&](std::int64_t ticks) {
      const double count = std::max(1.0, static_cast<double>(sums.inner_sessions));
      return fmt::format("{:.3g} us",
                         static_cast<double>(ticks) / count * 1e6 /
                             static_cast<double>(trace_.definitions.clock.resolution_hz));
    };
    if (most_records_ == 3) {
      return fmt::format(
          "the session in the middle lies {} off the line between the others, of which their "
          "intervals explain {}",
          mean(sums.distance_ticks[0]), mean(sums.width_ticks));
    }
    return fmt::format(
        "sessions left out are missed by {} on average with linear, {} with regression, {} with "
        "spline",
        mean(sums.distance_ticks[0]), mean(sums.distance_ticks[1]), mean(sums.distance_ticks[2]));
  }

  Result<void> read_samples() {
    const std::filesystem::path folder = options_.clock_samples.empty()
                                             ? std::filesystem::path(trace_.path).parent_path()
                                             : std::filesystem::path(options_.clock_samples);
    if (options_.exchanges != nullptr) {
      samples_ = *options_.exchanges;
    } else if (!folder.empty()) {
      TRY_ASSIGN(samples_, agree(processes_, read_clock_samples(folder, trace_, own_)));
    }
    any_samples_ = processes_.any(!samples_.empty());
    return {};
  }

  [[nodiscard]] bool records_added() const { return options_.clock_records == ClockRecords::add; }
  [[nodiscard]] bool all_sessions() const { return options_.spline == SplineSessions::all; }

  [[nodiscard]] Sessions sessions_of(LocationIndex l) const {
    Sessions clock;
    const auto samples = samples_.find(l);
    const auto& records = location(l).clock_offsets;
    for (std::size_t k = 0; k < records.size(); ++k) {
      clock.sessions.push_back({records[k], {}});
      if (samples != samples_.end()) clock.sessions.back().samples = samples->second[k];
    }
    clock.none_left_out = all_sessions();
    clock.reference = any_width_ && std::ranges::all_of(records, [](const auto& r) {
                        return r.offset == 0 && r.stddev == 0;
                      });
    return clock;
  }

  Result<void> make_maps() {
    for (const LocationIndex l : own_) {
      if (!location(l).decreasing.empty()) {
        return input_error(
            "{}: time runs backward in its event file ({}); no correction can be based on that "
            "clock",
            name_of(l), location(l).decreasing);
      }
      if (measured()) {
        if (auto made = make_map(l); !made) {
          return input_error("{}: {}; try --presync none", name_of(l), made.error().message);
        }
      }
    }
    return {};
  }

  Result<void> make_map(LocationIndex l) {
    const std::size_t records = location(l).clock_offsets.size();
    const bool exact = method_ == Method::linear && !options_.report && records != 1;
    if (options_.as_reader || exact || (corrected_ && records < 2)) return make_as_reader(l);
    TRY_ASSIGN(Estimate estimate,
               estimate(sessions_of(l), method_, options_.condensing, prior_.mean()));
    result_.maps[l] = std::move(estimate.map);
    if (method_ != Method::linear) {
      TRY_ASSIGN(result_.maps[l], straight_in_flushes(result_.maps[l], location(l)));
    }
    if (options_.report && estimate.quality.sessions >= 1) {
      if (estimate.quality.sessions == 1 && location(l).event_count > 0 && estimate.error.known()) {
        // The largest error over the run of a clock that was measured once.
        estimate.quality.predicted_bound_ticks =
            std::max(*estimate.error.at(location(l).first), *estimate.error.at(location(l).last));
      }
      result_.errors[l] = std::move(estimate.error);
      estimate.quality.location = trace_.definitions.locations[l].id;
      qualities_.push_back({l, estimate.quality});
    }
    return {};
  }

  /// Makes the map only, without its quality: a corrected archive may have a record per event.
  Result<void> make_as_reader(LocationIndex l) {
    std::vector<ClockKnot> knots;
    for (const auto& record : location(l).clock_offsets) {
      knots.push_back({record.time, record.offset});
    }
    TRY_ASSIGN(result_.maps[l], ClockMap::from_knots(std::move(knots)));
    if (!result_.maps[l].is_monotone()) {
      return fail(ErrorKind::input, "its clock offsets make time run backward");
    }
    return {};
  }

  struct Numbered {
    LocationIndex location = k_none;
    ClockQuality quality;
  };

  void gather_qualities() {
    std::vector<std::vector<Numbered>> outgoing(processes_.size());
    outgoing[0] = std::move(qualities_);
    auto received = exchange(processes_, std::move(outgoing));
    std::vector<Numbered> all;
    for (const auto& part : received) all.insert(all.end(), part.begin(), part.end());
    std::ranges::sort(all, {}, &Numbered::location);
    result_.clocks.reason = reason_;
    if (measured()) result_.clocks.sessions = source();
    for (const Numbered& one : all) result_.clocks.clocks.push_back(one.quality);
  }

  [[nodiscard]] SessionProvenance source() const {
    const bool records = method_ == Method::linear || !any_samples_;
    const bool given = options_.exchanges != nullptr;
    SessionProvenance source;
    if (!records) source.condensing = options_.condensing;
    if (given) {
      source.origin = records ? SessionOrigin::given : SessionOrigin::given_exchanges;
      return source;
    }
    source.folder = options_.clock_samples;
    source.records_added = !source.folder.empty() && records_added();
    source.origin = !records                ? SessionOrigin::exchanges
                    : source.folder.empty() ? SessionOrigin::records
                                            : SessionOrigin::measured_offsets;
    return source;
  }

  [[nodiscard]] std::string name_of(LocationIndex l) const {
    return fmt::format("location {} of {}", trace_.definitions.locations[l].id, trace_.path);
  }

  const trace::Share share_;
  Team& processes_;
  const trace::Trace& trace_;
  std::vector<LocationIndex> own_;
  PresyncOptions options_;
  std::int64_t most_records_ = 0;  ///< largest number of records of a location
  bool corrected_ = false;         ///< the records are a correction, no measurements
  bool any_width_ = false;         ///< some record has a half-width
  bool any_samples_ = false;       ///< some location's exchanges are known
  RatePrior prior_;
  Method method_ = Method::none;
  std::string reason_;
  std::map<LocationIndex, LocationSamples> samples_;
  std::vector<Numbered> qualities_;
  Presynchronised result_;
};

}  // namespace

Result<ClockMap> straight_in_flushes(const ClockMap& map, const trace::LocationSkeleton& location) {
  if (location.flushes.empty()) return map;
  std::vector<ClockKnot> knots;
  auto flush = location.flushes.begin();  // in order of their beginning
  for (const ClockKnot& knot : map.knots()) {
    while (flush != location.flushes.end() && flush->end <= knot.local) ++flush;
    if (flush == location.flushes.end() || knot.local <= flush->begin) knots.push_back(knot);
  }
  return knots.size() < 2 ? map : ClockMap::from_knots(std::move(knots));
}

void avoid_negative_times(const trace::Share& share, std::span<ClockMap> maps) {
  std::int64_t earliest = 0;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count > 0) earliest = std::min(earliest, maps[l](location.first));
  }
  earliest = share.team.reduce(Team::Reduction::min, earliest);
  if (earliest == 0) return;
  for (ClockMap& map : maps) map = map.shifted(-earliest);
}

Result<Presynchronised> presynchronise(const trace::Share& share, const PresyncOptions& options) {
  return Presynchroniser(share, options).run();
}

Result<Presynchronised> presynchronise(const trace::Trace& trace, const PresyncOptions& options) {
  Solo solo;
  const trace::Partition whole = trace::undivided(trace.definitions);
  return Presynchroniser({solo, whole, trace}, options).run();
}

std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps) {
  Solo solo;
  return session_span(solo, trace, maps);
}

std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps) {
  // Behind a rewrite the records still carry the times of the old clocks; the property counts.
  if (const std::string* text =
          trace::find_property(trace.definitions, trace::k_property_session_span)) {
    if (const auto span = trace::span_of_property(*text)) return span;
  }
  bool any = false;
  SessionSpan span{std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()};
  for (std::size_t l = 0; l < trace.locations.size(); ++l) {
    const auto& offsets = trace.locations[l].clock_offsets;
    if (offsets.size() < 2) continue;
    any = true;
    span.begin = std::max(span.begin, maps[l](offsets.front().time));
    span.end = std::min(span.end, maps[l](offsets.back().time));
  }
  if (!processes.any(any)) return std::nullopt;
  span.begin = processes.reduce(Team::Reduction::max, span.begin);
  span.end = processes.reduce(Team::Reduction::min, span.end);
  return span;
}

}  // namespace entrain::clocks
