// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/timer.hpp"

#include <cmath>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace entrain::record {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr double k_two_pi = 6.283185307179586;

/// SplitMix64.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// Uniform in [-1, 1).
double uniform(std::uint64_t& state) {
  return static_cast<double>(next(state) >> 11) * 0x1p-52 - 1.0;
}

#if defined(__x86_64__)
std::uint64_t counter() { return __rdtsc(); }

bool counter_is_invariant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}
#else
std::uint64_t counter() { return 0; }
bool counter_is_invariant() { return false; }
#endif

}  // namespace

Timer timer;

void Timer::set_up(TimerKind kind, std::string& problem, bool counts) {
  kind_ = kind;
  if (kind == TimerKind::monotonic) clock_ = CLOCK_MONOTONIC;
  if (kind == TimerKind::realtime) clock_ = CLOCK_REALTIME;
  if (kind != TimerKind::tsc) return;
  if (counter_is_invariant()) {
    counts_ = counts;
    calibrate_tsc();
    return;
  }
  kind_ = TimerKind::monotonic_raw;
  problem = "this processor has no invariant time stamp counter; CLOCK_MONOTONIC_RAW is used";
}

void Timer::calibrate_tsc() {
  // Sessions measure the error of the rate as drift; 20 ms keep it below 10 ppm.
  constexpr std::uint64_t k_span_ns = 20'000'000;
  base_ns_ = system_time(CLOCK_MONOTONIC_RAW);
  base_count_ = counter();
  std::uint64_t end = base_ns_;
  while (end - base_ns_ < k_span_ns) end = system_time(CLOCK_MONOTONIC_RAW);
  const std::uint64_t ticks = counter() - base_count_;
  rate_ = static_cast<std::uint64_t>((static_cast<Wide>(end - base_ns_) << 32) / ticks);
}

std::uint64_t Timer::tsc() const { return time_of(counter()); }

std::uint64_t Timer::time_of(std::uint64_t count) const {
  // The counter of another core may be a little late: no time before the base.
  const std::uint64_t passed = count > base_count_ ? count - base_count_ : 0;
  return base_ns_ + static_cast<std::uint64_t>((static_cast<Wide>(passed) * rate_) >> 32);
}

Stamp Timer::counted() const {
  const std::uint64_t count = counter();
  return {virtual_ ? skewed(count) : count, time_of(count)};
}

std::uint64_t Timer::ticks_per_second() const {
  constexpr std::uint64_t k_second = 1'000'000'000;
  if (!counts_) return k_second;
  const std::uint64_t passed = system_time(CLOCK_MONOTONIC_RAW) - base_ns_;
  return static_cast<std::uint64_t>(static_cast<Wide>(counter() - base_count_) * k_second / passed);
}

void Timer::make_virtual(const VirtualCluster& cluster, std::uint64_t node, std::uint64_t epoch) {
  std::uint64_t state = cluster.seed * 0x2545f4914f6cdd1dU + node;
  virtual_ = true;
  epoch_ = epoch;
  resolution_ = cluster.resolution_ns;
  // Node 0 is the master of all sessions and keeps true time.
  if (node == 0) return;
  offset_ns_ = std::llround(cluster.offset_s * 1e9 * uniform(state));
  rate_error_ = cluster.drift_ppm * 1e-6 * uniform(state);
  wander_rate_ = k_two_pi / (cluster.wander_period_s * 1e9);
  wander_ns_ = cluster.wander_ppm * 1e-6 / wander_rate_;
  wander_phase_ = k_two_pi / 2 * uniform(state);
}

std::uint64_t Timer::skewed(std::uint64_t time) const {
  const double passed = static_cast<double>(static_cast<std::int64_t>(time - epoch_));
  const double wander =
      wander_ns_ * (std::sin(wander_rate_ * passed + wander_phase_) - std::sin(wander_phase_));
  const auto error = offset_ns_ + std::llround(rate_error_ * passed + wander);
  const std::uint64_t shown = time + static_cast<std::uint64_t>(error);
  return shown - shown % resolution_;
}

const char* Timer::name() const {
  switch (kind_) {
    case TimerKind::tsc:
      return counts_ ? "invariant TSC (counts)" : "invariant TSC";
    case TimerKind::monotonic:
      return "CLOCK_MONOTONIC";
    case TimerKind::realtime:
      return "CLOCK_REALTIME";
    case TimerKind::monotonic_raw:
      break;
  }
  return "CLOCK_MONOTONIC_RAW";
}

std::string Timer::description() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "offset_ns=%lld rate_error=%.9g wander_ns=%.9g wander_rad_per_ns=%.9g "
                "wander_phase_rad=%.9g epoch_ns=%llu resolution_ns=%llu",
                static_cast<long long>(offset_ns_), rate_error_, wander_ns_, wander_rate_,
                wander_phase_, static_cast<unsigned long long>(epoch_),
                static_cast<unsigned long long>(resolution_));
  return text;
}

}  // namespace entrain::record
