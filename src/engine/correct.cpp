// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/big_vector.hpp"
#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "causal/prove.hpp"
#include "clc/amortize.hpp"
#include "clc/domain_view.hpp"
#include "clocks/presync.hpp"
#include "clocks/session_span.hpp"
#include "clocks/warnings.hpp"
#include "engine/check_times.hpp"
#include "engine/read_back.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "match/graph.hpp"
#include "otf2/write/retime_definitions.hpp"
#include "otf2/write/write_archive.hpp"
#include "session/load.hpp"
#include "session/phase.hpp"
#include "trace/properties.hpp"

namespace entrain {

namespace {

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// The correction of one archive, phase by phase. All processes of a run go through the phases
/// together; what can fail on one of them only is agreed upon.
class Correction {
 public:
  Correction(Team& processes, const CorrectOptions& options, Progress* progress)
      : options_(options),
        progress_(progress),
        workers_(processes, options.check.threads),
        processes_(processes) {}

  /// Reads the archive and computes its clock maps; with `report` also how it was before.
  Result<void> compute(const std::filesystem::path& archive, bool report) {
    TRY(attempt(archive, options_.check, report));
    if (!contradicted_) return stop_if_cancelled();
    // Clocks that go around in circles when some are taken as one are not one.
    CheckOptions apart = options_.check;
    apart.clock_domain = ClockDomain::location;
    TimelineReport first = std::move(report_.timeline);
    TRY(attempt(archive, apart, report));
    report_.timeline.clock_domain = std::move(first.clock_domain);
    report_.timeline.notes = std::move(first.notes);
    report_.timeline.notes.emplace_back(
        "with the clocks of nodes and processes taken as one, messages through other clocks would "
        "arrive before they were sent: every location has a clock of its own");
    return stop_if_cancelled();
  }

  Result<void> attempt(const std::filesystem::path& archive, const CheckOptions& check,
                       bool report) {
    loaded_ = {};
    TRY_ASSIGN(engine::Timeline timeline,
               engine::find_timeline(workers_, archive, check, use(report), progress_));
    if (check.bounds.wanted) {
      TRY(hold_in_intervals(timeline, report));
    }
    loaded_ = std::move(timeline.loaded);
    own_ = loaded_.own(processes_);
    presync_ = std::move(timeline.presync);
    mu_ = std::move(timeline.mu);
    domains_ = std::move(timeline.domains);
    report_.timeline = std::move(timeline.report);
    report_.phases.scan += timeline.scan_s;
    report_.phases.presync += timeline.presync_s;
    report_.phases.match += timeline.match_s;
    if (report) measured_ = std::move(timeline.measured);
    session::begin_phase(progress_, "correct");
    maps_ = presync_.maps;
    if (options_.amortize) {
      TRY(amortize(std::move(timeline.graph), timeline.domains_are_guessed));
      if (contradicted_) return {};
    }
    if (proven_ && report) {
      const Stopwatch watch(report_.phases.bounds);
      report_.bounds =
          causal::judge(loaded_.share(processes_), *proven_, maps_, options_.check.bounds.rows);
      report_.bounds->mu_source = mu_.source;
    }
    timeline.graph = {};
    return report ? verify_before() : Result<void>();
  }

  /// Proves in which intervals the clocks lie. Where something is violated, presync is brought
  /// inside.
  Result<void> hold_in_intervals(engine::Timeline& t, bool report) {
    const Stopwatch watch(report_.phases.bounds);
    session::begin_phase(progress_, "bounds");
    TRY_ASSIGN(proven_, causal::prove_intervals(engine::causal_context(workers_, t, progress_),
                                                t.shared_clocks, t.presync, options_.check.bounds));
    const trace::Share share = t.loaded.share(processes_);
    if (report) {
      report_.before.bounds = causal::judge(share, *proven_, t.measured.maps, false);
      report_.before.bounds->mu_source = t.mu.source;
    }
    if (!t.violated) return {};
    const std::int64_t held = causal::hold_inside(share, t.domains, *proven_, t.presync.maps);
    if (held == 0) return {};
    proven_->about.held_ticks = held;
    t.presync.provenance += fmt::format(" held_to_ppm={:.9g}", proven_->about.max_rate_ppm);
    engine::measure_shift(workers_, t);
    return {};
  }

  Result<void> write(const std::filesystem::path& output) {
    const Stopwatch watch(report_.phases.write);
    otf2::WritePlan plan;
    plan.maps = maps_;
    TRY_ASSIGN(plan.marker_times, move_markers());
    // A location that was left alone keeps the times that a reader sees, also inside a flush.
    for (LocationIndex l = 0; l < maps_.size(); ++l) {
      plan.split_flushes.push_back(maps_[l] != measured_.maps[l]);
    }
    plan.properties = properties();
    plan.mode = options_.mode;
    plan.link = options_.link;
    plan.force = options_.force;
    plan.threads = options_.check.threads;
    plan.progress = progress_;
    const trace::Share share{processes_, loaded_.partition, loaded_.trace};
    plan.share = &share;
    std::tie(plan.first_time, plan.last_time) = range(maps_);
    TRY_ASSIGN(otf2::StagedArchive staged, otf2::stage_archive(*loaded_.archive, plan, output));
    report_.output = staged.final_anchor().string();
    report_.link = staged.link();
    staged_.emplace(std::move(staged));
    return {};
  }

  /// Checks the archive as written, which has no name yet.
  Result<void> verify() {
    if (!options_.verify) return {};
    const Stopwatch watch(report_.phases.verify);
    BigMemory::release();  // the verifier has arrays of its own
    TRY(engine::ReadBack(workers_, options_,
                         {loaded_, own_, measured_.maps, presync_.maps, maps_, mu_, domains_},
                         progress_)
            .run(staged_->anchor(), report_));
    return stop_if_cancelled();
  }

  Result<void> commit() {
    return processes_.agree(workers_.first() ? staged_->commit() : Result<void>());
  }

  CorrectReport take_report() {
    report_.mode = options_.mode == WriteMode::rewrite ? "rewrite" : "overlay";
    report_.gamma = static_cast<double>(gamma_.billionths) / static_cast<double>(k_billion);
    const auto [first, last] = range(presync_.maps);
    for (const AmortizationPass& pass : report_.passes) {
      if (pass.chosen && last > first) {
        report_.error_share =
            static_cast<double>(pass.error_ticks) / static_cast<double>(last - first);
      }
    }
    report_.peak_memory_bytes = static_cast<std::uint64_t>(
        processes_.reduce(Team::Reduction::max, static_cast<std::int64_t>(peak_memory_bytes())));
    report_.spilled_bytes = static_cast<std::uint64_t>(processes_.reduce(
        Team::Reduction::max, static_cast<std::int64_t>(BigMemory::most_spilled())));
    return std::move(report_);
  }

  ClockMaps take_maps() {
    ClockMaps maps;
    for (const trace::Location& location : loaded_.trace.definitions.locations) {
      maps.locations.push_back(location.id);
    }
    maps.maps = std::move(maps_);
    maps.resolution_hz = loaded_.trace.definitions.clock.resolution_hz;
    return maps;
  }

 private:
  [[nodiscard]] Result<void> cancelled() const {
    if (progress_ != nullptr && progress_->cancelled()) {
      return fail(ErrorKind::interrupted, "interrupted; nothing was written");
    }
    return {};
  }
  Result<void> stop_if_cancelled() { return processes_.agree(cancelled()); }

  [[nodiscard]] bool is_overlay() const { return options_.mode == WriteMode::overlay; }
  [[nodiscard]] engine::TimelineUse use(bool writing) const {
    return {.correction = true,
            .every_event = options_.delta_ticks > 0,
            .writing = writing,
            .overlay = is_overlay()};
  }

  /// Forward and backward amortization, of clock domains where locations share clocks. If the trace
  /// turns out to contradict domains that were `guessed`, nothing but contradicted_ counts.
  Result<void> amortize(match::Graph graph, bool guessed) {
    const clc::Options options{.gamma = options_.gamma,
                               .delta_ticks = options_.delta_ticks,
                               .max_slope = options_.max_slope,
                               .backward = options_.backward,
                               .mu_ticks = mu_.ticks,
                               .threads = workers_.threads(),
                               .split_flushes = !is_overlay()};
    const trace::Share share{processes_, loaded_.partition, loaded_.trace};
    clc::Amortization result;
    contradicted_ = false;
    if (domains_.trivial()) {
      TRY_ASSIGN(result, clc::amortize(share, std::move(graph), presync_.maps, options, progress_));
      for (const LocationIndex l : own_) maps_[l] = std::move(result.maps[l]);
    } else {
      clc::DomainView view =
          clc::merge_domains(share, std::move(graph), presync_.maps, domains_, !is_overlay());
      TRY_ASSIGN(result, clc::amortize({processes_, view.partition, view.trace},
                                       std::move(view.graph), view.presync, options, progress_));
      if (has_dropped(result.cycles)) {
        contradicted_ = guessed;
        if (guessed) return {};
        return fail(
            ErrorKind::input,
            fmt::format("clocks of {} are not shared as --clock-domain {} says: taken as one, "
                        "they make messages arrive before they were sent, all around; try "
                        "--clock-domain auto",
                        loaded_.trace.path, report_.timeline.clock_domain));
      }
      for (const LocationIndex l : own_) {
        const ClockMap& map = result.maps[domains_.of[l]];
        const bool straighten = is_overlay() && map != presync_.maps[l];
        maps_[l] = straighten ? clc::straighten_flushes(map, loaded_.trace.locations[l]) : map;
      }
    }
    report_.phases.forward += result.forward_s;
    report_.phases.backward += result.backward_s;
    report_.passes = std::move(result.passes);
    report_.cycles = std::move(result.cycles);
    gamma_ = result.gamma;
    return {};
  }

  static bool has_dropped(const Counters& cycles) {
    return std::any_of(cycles.begin(), cycles.end(), [](const auto& counter) {
      return counter.first == "dropped_components" && counter.second > 0;
    });
  }

  /// After the correction, when the graph is gone: both together are the most memory there would
  /// be.
  Result<void> verify_before() {
    session::begin_phase(progress_, "check");
    BigMemory::release();
    auto bounds = std::move(report_.before.bounds);
    TRY_ASSIGN(report_.before, engine::check_times(workers_, loaded_, measured_.maps,
                                                   options_.check, mu_, domains_, progress_));
    report_.before.bounds = std::move(bounds);
    report_.before.presync = measured_.method;
    report_.before.clocks = measured_.clocks;
    clocks::warn_of_violations(report_.before);
    return stop_if_cancelled();
  }

  /// Smallest and largest time of any event through `maps`.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(std::span<const ClockMap> maps) {
    auto first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    for (const LocationIndex l : own_) {
      const trace::LocationSkeleton& location = loaded_.trace.locations[l];
      if (location.event_count == 0) continue;
      const ClockMap& map = maps[l];
      first = std::min(first, map(location.first));
      last = std::max(last, map(location.last));
      for (const trace::FlushInterval& flush : location.flushes)
        last = std::max(last, map(flush.end));
    }
    first = processes_.reduce(Team::Reduction::min, first);
    last = processes_.reduce(Team::Reduction::max, last);
    if (first > last) {  // no event: nothing asks for another range
      const auto begin = static_cast<std::int64_t>(loaded_.trace.definitions.clock.global_offset);
      return {begin, begin};
    }
    return {first, last};
  }

  /// New time of something at time `time`, as a reader sees it, of a location of this process.
  [[nodiscard]] std::int64_t moved(LocationIndex l, std::uint64_t time) const {
    const auto old =
        static_cast<std::int64_t>(std::min<std::uint64_t>(time, std::uint64_t{1} << 61));
    if (maps_[l] == measured_.maps[l]) return old;
    // The smallest stamp that its map takes to that time or later.
    std::uint64_t low = 0, high = std::uint64_t{1} << 61;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (measured_.maps[l](middle) < old) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return old + maps_[l](low) - measured_.maps[l](low);
  }

  /// New times of all markers: each moves with its location, or with the first one. Every process
  /// knows those of its own locations.
  Result<std::vector<std::int64_t>> move_markers() {
    TRY_ASSIGN(const std::vector<otf2::MarkerTime> markers,
               agree(processes_, otf2::read_marker_times(*loaded_.archive)));
    std::vector<std::int64_t> times;
    for (const otf2::MarkerTime& marker : markers) {
      const LocationIndex l = marker.location == k_none ? 0 : marker.location;
      if (l >= maps_.size()) {
        times.push_back(static_cast<std::int64_t>(
            std::min<std::uint64_t>(marker.time, std::uint64_t{1} << 61)));
      } else if (loaded_.partition.owns(processes_.rank(), l)) {
        times.push_back(moved(l, marker.time));
      } else {
        times.push_back(std::numeric_limits<std::int64_t>::min());
      }
    }
    processes_.reduce(Team::Reduction::max, times);
    return times;
  }

  /// The session span in corrected times. That of an earlier correction moves like the locations.
  [[nodiscard]] std::optional<clocks::SessionSpan> new_session_span() {
    const std::string* old =
        trace::find_property(loaded_.trace.definitions, trace::k_property_session_span);
    const auto span = old != nullptr ? clocks::span_of_property(*old) : std::nullopt;
    if (!span) return clocks::session_span(processes_, loaded_.trace, maps_);
    const auto time = [](std::int64_t t) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(t, 0));
    };
    clocks::SessionSpan result{std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()};
    for (const LocationIndex l : own_) {
      result.begin = std::max(result.begin, moved(l, time(span->begin)));
      result.end = std::min(result.end, moved(l, time(span->end)));
    }
    result.begin = processes_.reduce(Team::Reduction::max, result.begin);
    result.end = processes_.reduce(Team::Reduction::min, result.end);
    return result.begin == std::numeric_limits<std::int64_t>::min() ? *span : result;
  }

  [[nodiscard]] std::vector<trace::Property> properties() {
    const auto decimal = [](std::int64_t billionths) {
      std::string text = fmt::format("{}.{:09}", billionths / k_billion, billionths % k_billion);
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text += '0';
      return text;
    };
    const std::string correction = fmt::format(
        "mode={} presync={} gamma={} delta_ticks={} max_slope={} backward={} mu_ticks={}/{}/{} "
        "mu_source={} alltoallv={} init_finalize={} clock_domain={}{}",
        options_.mode == WriteMode::rewrite ? "rewrite" : "overlay", presync_.provenance,
        decimal(gamma_.billionths), options_.delta_ticks, decimal(options_.max_slope.billionths),
        options_.backward ? "on" : "off", mu_.ticks[0], mu_.ticks[1], mu_.ticks[2], mu_.source,
        options_.check.alltoallv == AlltoallvRule::dense ? "dense" : "ignore",
        options_.check.init_finalize ? "on" : "off", report_.timeline.clock_domain,
        options_.amortize ? "" : " amortize=off");
    std::vector<trace::Property> properties{{trace::k_property_version, version()},
                                            {trace::k_property_correction, correction}};
    if (const auto span = new_session_span()) {
      properties.push_back({trace::k_property_session_span, clocks::to_property(*span)});
    }
    return properties;
  }

  const CorrectOptions& options_;
  Progress* progress_;
  session::Workers workers_;
  Team& processes_;
  session::LoadedTrace loaded_;
  std::vector<LocationIndex> own_;    ///< locations of this process
  clocks::Presynchronised measured_;  ///< only with a report
  clocks::Presynchronised presync_;
  engine::ChosenMu mu_;
  trace::ClockDomains domains_;
  bool contradicted_ = false;  ///< domains that were guessed close circles of messages
  std::optional<causal::ProvenIntervals> proven_;  ///< only if asked for
  std::vector<ClockMap> maps_;                     ///< per location: stored stamp -> corrected time
  Decimal9 gamma_;
  std::optional<otf2::StagedArchive> staged_;
  CorrectReport report_;
};

Result<void> check_options(const CorrectOptions& options) {
  const auto usage = [](const char* message) { return fail(ErrorKind::usage, message); };
  if (options.gamma && (options.gamma->billionths <= 0 || options.gamma->billionths > k_billion)) {
    return usage("gamma must lie above 0 and at most at 1");
  }
  if (options.delta_ticks < 0) return usage("delta must not be negative");
  if (options.max_slope.billionths <= 0) return usage("the largest slope must be above 0");
  if (options.check.mu.source == MuSource::fixed && !(options.check.mu.seconds >= 0)) {
    return usage("mu must not be negative");
  }
  return {};
}

}  // namespace

Result<CorrectReport> correct(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress) {
  Solo solo;
  return engine::correct(solo, archive, output, options, progress);
}

Result<CorrectReport> engine::correct(Team& processes, const std::filesystem::path& archive,
                                      const std::filesystem::path& output,
                                      const CorrectOptions& options, Progress* progress) {
  TRY(check_options(options));
  TRY(processes.agree(otf2::check_target(output, options.force)));
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  Correction correction(processes, options, progress);
  TRY(correction.compute(archive, true));
  TRY(correction.write(output));
  TRY(correction.verify());
  CorrectReport report = correction.take_report();
  TRY(correction.commit());
  return report;
}

Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress) {
  TRY(check_options(options));
  const session::MemoryLimit limit(options.check.memory_limit_bytes);
  Solo solo;
  Correction correction(solo, options, progress);
  TRY(correction.compute(archive, false));
  return correction.take_maps();
}

}  // namespace entrain
