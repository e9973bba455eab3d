// SPDX-License-Identifier: BSD-3-Clause
#include "engine/amortization.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/exact.hpp"

namespace entrain::engine {

namespace {

double fraction(Decimal9 value) {
  return static_cast<double>(value.billionths) / static_cast<double>(k_billion);
}

std::optional<std::int64_t> epsilon_ticks(const CorrectOptions& options, std::uint64_t hz) {
  if (!options.epsilon_s) return std::nullopt;
  constexpr double k_most = 0x1p61;
  return std::llrint(std::min(*options.epsilon_s * static_cast<double>(hz), k_most));
}

/// Names the clocks with smaller gammas than others.
std::vector<ClockGamma> clock_gammas(const clc::Amortization& result, const Timeline& timeline) {
  std::vector<ClockGamma> gammas;
  if (result.gamma_of.empty()) return gammas;
  const trace::Definitions& definitions = timeline.loaded.trace.definitions;
  const Decimal9 mildest = *std::ranges::max_element(
      result.gamma_of, [](Decimal9 a, Decimal9 b) { return a.billionths < b.billionths; });
  for (std::size_t clock = 0; clock < result.gamma_of.size(); ++clock) {
    const Decimal9 gamma = result.gamma_of[clock];
    if (result.error_of[clock] == 0 || gamma.billionths == mildest.billionths) continue;
    const LocationIndex first = timeline.domains.trivial()
                                    ? static_cast<LocationIndex>(clock)
                                    : timeline.domains.members[clock].front();
    gammas.push_back({.location = definitions.locations[first].id,
                      .process = trace::process_name(definitions, first),
                      .gamma = fraction(gamma),
                      .error_ticks = result.error_of[clock]});
  }
  std::ranges::sort(gammas, {}, &ClockGamma::location);
  return gammas;
}

}  // namespace

Result<void> check_options(const CorrectOptions& options) {
  const auto usage = [](const char* message) { return fail(ErrorKind::usage, message); };
  if (options.gamma && (options.gamma->billionths <= 0 || options.gamma->billionths > k_billion)) {
    return usage("gamma must lie above 0 and at most at 1");
  }
  // Written so that a value that is no number is refused too, here and below.
  if (options.epsilon_s && !(*options.epsilon_s >= 0)) return usage("epsilon must not be negative");
  if (options.epsilon_s && options.gamma) {
    return usage("epsilon is of no use with a fixed gamma: it decides which gamma is taken");
  }
  if (options.delta_ticks < 0) return usage("delta must not be negative");
  if (options.delta_ticks > 0 && options.measure_delta)
    return usage("delta is either given or measured");
  if (options.max_slope.billionths <= 0) return usage("the largest slope must be above 0");
  if (options.check.mu.source == MuSource::fixed && !(options.check.mu.seconds >= 0)) {
    return usage("mu must not be negative");
  }
  return {};
}

clc::Options amortization_options(const CorrectOptions& options, const Timeline& timeline,
                                  unsigned threads, bool split_flushes) {
  // Nobody knows a latency: at least no receive that moves gets the time of its send.
  const bool separate =
      options.check.mu.source == MuSource::automatic && timeline.mu.ticks == MuTicks{};
  const std::uint64_t hz = timeline.loaded.trace.definitions.clock.resolution_hz;
  return {options, epsilon_ticks(options, hz), separate, timeline.mu.ticks, threads, split_flushes};
}

void report_amortization(clc::Amortization& result, const Timeline& timeline,
                         CorrectReport& report) {
  report.run.phases.forward += result.forward_s;
  report.run.phases.backward += result.backward_s;
  report.passes = std::move(result.passes);
  report.cycles = std::move(result.cycles);
  report.gamma = fraction(result.gamma);
  report.epsilon_ticks = result.epsilon_ticks;
  report.measured_delta_ticks = result.measured_delta;
  report.clock_gammas = clock_gammas(result, timeline);
}

}  // namespace entrain::engine
