// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "clc/amortize.hpp"
#include "engine/load.hpp"
#include "engine/session_span.hpp"
#include "match/graph.hpp"
#include "otf2/stamps.hpp"
#include "otf2/write.hpp"
#include "verify/check.hpp"
#include "verify/statistics.hpp"

namespace entrain {

namespace {

/// Adds the time from its construction to its destruction to a counter.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds) : seconds_(seconds) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() {
    seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// The correction of one archive, phase by phase.
class Correction {
 public:
  Correction(const CorrectOptions& options, Progress* progress)
      : options_(options), progress_(progress) {}

  /// Reads the archive and computes its clock maps; with `report` also how it was before.
  Result<void> compute(const std::filesystem::path& archive, bool report) {
    {
      const PhaseTimer timer(report_.phases.scan);
      TRY_ASSIGN(loaded_, engine::load(archive, options_.check.threads, progress_));
    }
    {
      const PhaseTimer timer(report_.phases.presync);
      TRY_ASSIGN(presync_, engine::presynchronise(loaded_.trace, options_.check.presync));
      mu_ = engine::choose_mu(loaded_.trace, presync_.maps, options_.check.mu);
    }
    // The report on the trace as it was is nobody's input: it is made meanwhile.
    TRY(parallel_for(options_.check.threads, report ? 2 : 1, [&](std::size_t i) {
      return i == 0 ? compute_maps() : verify_before();
    }));
    return stop_if_cancelled();
  }

  Result<void> compute_maps() {
    match::Graph graph;
    {
      const PhaseTimer timer(report_.phases.match);
      begin("match");
      graph = match::build_graph(loaded_.trace,
                                 {options_.check.alltoallv == AlltoallvRule::dense,
                                  options_.check.init_finalize});
    }
    TRY(stop_if_cancelled());
    begin("correct");
    const clc::Options clc_options{options_.gamma,    options_.delta_ticks, options_.max_slope,
                                   options_.backward, mu_.ticks,            options_.check.threads};
    TRY_ASSIGN(result_,
               clc::amortize(std::move(graph), loaded_.trace, presync_.maps, clc_options));
    report_.phases.forward = result_.forward_s;
    report_.phases.backward = result_.backward_s;
    // The maps carry the result; the times of the nodes are not needed any more.
    result_.presync = {};
    result_.forward = {};
    result_.corrected = {};
    return {};
  }

  Result<void> write(const std::filesystem::path& output) {
    const PhaseTimer timer(report_.phases.write);
    otf2::WritePlan plan;
    plan.maps = result_.maps;
    plan.marker_time = [this](LocationIndex l, std::uint64_t time) { return marker(l, time); };
    plan.properties = properties();
    plan.mode = options_.mode;
    plan.link = options_.link;
    plan.force = options_.force;
    plan.threads = options_.check.threads;
    plan.progress = progress_;
    std::tie(plan.first_time, plan.last_time) = range(result_.maps);
    TRY_ASSIGN(otf2::StagedArchive staged,
               otf2::stage_archive(*loaded_.archive, plan, output));
    report_.output = staged.final_anchor().string();
    report_.link = staged.link();
    staged_.emplace(std::move(staged));
    return {};
  }

  /// Checks the archive as written, which has no name yet.
  Result<void> verify() {
    if (!options_.verify) return {};
    const PhaseTimer timer(report_.phases.verify);
    begin("verify");
    TRY(verify_after());
    return stop_if_cancelled();
  }

  Result<void> commit() { return staged_->commit(); }

  CorrectReport take_report() {
    report_.mode = options_.mode == WriteMode::rewrite ? "rewrite" : "overlay";
    report_.passes = result_.passes;
    report_.gamma = static_cast<double>(result_.gamma.billionths) / static_cast<double>(k_billion);
    report_.cycles = result_.cycles;
    for (const AmortizationPass& pass : result_.passes) {
      const auto [first, last] = range(presync_.maps);
      if (pass.chosen && last > first) {
        report_.error_share =
            static_cast<double>(pass.error_ticks) / static_cast<double>(last - first);
      }
    }
    report_.peak_memory_bytes = peak_memory_bytes();
    return std::move(report_);
  }

  ClockMaps take_maps() {
    ClockMaps maps;
    for (const trace::Location& location : loaded_.trace.definitions.locations) {
      maps.locations.push_back(location.id);
    }
    maps.maps = std::move(result_.maps);
    maps.resolution_hz = loaded_.trace.definitions.clock.resolution_hz;
    return maps;
  }

 private:
  void begin(std::string_view phase) {
    if (progress_ != nullptr) progress_->begin(phase, 0);
  }
  Result<void> stop_if_cancelled() {
    if (progress_ != nullptr && progress_->cancelled()) {
      return fail(ErrorKind::interrupted, "interrupted; nothing was written");
    }
    return {};
  }

  Result<void> verify_before() {
    report_.before = check(loaded_, presync_.maps);
    report_.before.presync = presync_.method;
    return {};
  }

  Result<void> verify_after() {
    TRY_ASSIGN(const engine::LoadedTrace written,
               engine::load(staged_->anchor(), options_.check.threads, nullptr));
    // What a reader makes of it is what counts.
    TRY_ASSIGN(const engine::Presynchronised as_read,
               engine::presynchronise(written.trace, Presync::linear));
    report_.after = check(written, as_read.maps);
    report_.after.presync = as_read.method;
    report_.after.archive = report_.output;
    TRY_ASSIGN(report_.statistics,
               verify::correction_statistics(loaded_.trace, presync_.maps, written.trace,
                                             as_read.maps));
    if (options_.mode == WriteMode::rewrite) TRY(compare_records(*written.archive));
    report_.verified = true;
    return {};
  }

  CheckReport check(const engine::LoadedTrace& trace, std::span<const ClockMap> maps) {
    CheckReport report =
        verify::check(trace.trace, maps, options_.check, mu_.ticks, trace.archive.get());
    report.mu_source = mu_.source;
    return report;
  }

  Result<void> compare_records(const otf2::Archive& written) {
    return parallel_for(options_.check.threads, loaded_.trace.locations.size(),
                        [&](std::size_t l) {
                          return otf2::check_same_records(*loaded_.archive, written,
                                                          static_cast<LocationIndex>(l));
                        });
  }

  /// Smallest and largest time of any event through `maps`.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(std::span<const ClockMap> maps) const {
    auto first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    for (std::size_t l = 0; l < loaded_.trace.locations.size(); ++l) {
      const trace::LocationSkeleton& location = loaded_.trace.locations[l];
      if (location.event_count == 0) continue;
      const ClockMap& map = maps[l];
      first = std::min(first, map(location.first));
      last = std::max(last, map(location.last));
      for (const trace::FlushInterval& flush : location.flushes) last = std::max(last, map(flush.end));
    }
    if (first > last) {  // no event: nothing asks for another range
      const auto begin = static_cast<std::int64_t>(loaded_.trace.definitions.clock.global_offset);
      return {begin, begin};
    }
    return {first, last};
  }

  /// New time of a marker at C-time `time`: it moves with its location, or with the first one.
  [[nodiscard]] std::int64_t marker(LocationIndex location, std::uint64_t time) const {
    const LocationIndex l = location == k_none ? 0 : location;
    const auto old = static_cast<std::int64_t>(
        std::min<std::uint64_t>(time, std::uint64_t{1} << 61));
    if (l >= result_.maps.size() || result_.maps[l] == presync_.maps[l]) return old;
    // The smallest stamp that presync takes to the marker's time or later.
    std::uint64_t low = 0, high = std::uint64_t{1} << 61;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (presync_.maps[l](middle) < old) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return old + result_.maps[l](low) - presync_.maps[l](low);
  }

  /// The session span in corrected times. That of an earlier correction moves like the locations.
  [[nodiscard]] std::optional<engine::SessionSpan> new_session_span() const {
    const std::string* old =
        engine::find_property(loaded_.trace.definitions, engine::k_property_session_span);
    const auto span = old != nullptr ? engine::span_of_property(*old) : std::nullopt;
    if (!span) return engine::session_span(loaded_.trace, result_.maps);
    const auto time = [](std::int64_t t) { return static_cast<std::uint64_t>(std::max<std::int64_t>(t, 0)); };
    engine::SessionSpan moved{marker(0, time(span->begin)), marker(0, time(span->end))};
    for (LocationIndex l = 1; l < result_.maps.size(); ++l) {
      moved.begin = std::max(moved.begin, marker(l, time(span->begin)));
      moved.end = std::min(moved.end, marker(l, time(span->end)));
    }
    return moved;
  }

  [[nodiscard]] std::vector<trace::Property> properties() const {
    const auto decimal = [](std::int64_t billionths) {
      std::string text = fmt::format("{}.{:09}", billionths / k_billion, billionths % k_billion);
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text += '0';
      return text;
    };
    const std::string correction = fmt::format(
        "mode={} presync={} gamma={} delta_ticks={} max_slope={} backward={} mu_ticks={}/{}/{} "
        "mu_source={} alltoallv={} init_finalize={}",
        options_.mode == WriteMode::rewrite ? "rewrite" : "overlay", presync_.method,
        decimal(result_.gamma.billionths), options_.delta_ticks,
        decimal(options_.max_slope.billionths), options_.backward ? "on" : "off", mu_.ticks[0],
        mu_.ticks[1], mu_.ticks[2], mu_.source,
        options_.check.alltoallv == AlltoallvRule::dense ? "dense" : "ignore",
        options_.check.init_finalize ? "on" : "off");
    std::vector<trace::Property> properties{{engine::k_property_version, version()},
                                            {engine::k_property_correction, correction}};
    if (const auto span = new_session_span()) {
      properties.push_back({engine::k_property_session_span, engine::to_property(*span)});
    }
    return properties;
  }

  const CorrectOptions& options_;
  Progress* progress_;
  engine::LoadedTrace loaded_;
  engine::Presynchronised presync_;
  engine::ChosenMu mu_;
  clc::Amortization result_;
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
  TRY(check_options(options));
  TRY(otf2::check_target(output, options.force));
  Correction correction(options, progress);
  TRY(correction.compute(archive, true));
  TRY(correction.write(output));
  TRY(correction.verify());
  TRY(correction.commit());
  return correction.take_report();
}

Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress) {
  TRY(check_options(options));
  Correction correction(options, progress);
  TRY(correction.compute(archive, false));
  return correction.take_maps();
}

}  // namespace entrain
