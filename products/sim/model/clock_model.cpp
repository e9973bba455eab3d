// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/exact.hpp"
#include "sim/model/random.hpp"

namespace entrain::sim {

namespace {

constexpr double k_two_pi = 2 * std::numbers::pi;

/// Largest error of straight lines between knots, ticks. Rounding of the knots and of the result
/// add half a tick each: k_map_error_ticks.
constexpr double k_chord_error_ticks = 0.25;

/// Least distance of knots, ticks.
constexpr std::uint64_t k_min_distance = 16;

}  // namespace

double SkewedClock::displacement(double x) const {
  double sum = offset_ticks + drift * x;
  for (const Wave& wave : waves) {
    sum += wave.rate * wave.period_ticks / k_two_pi *
           (std::sin(k_two_pi * x / wave.period_ticks + wave.phase) - std::sin(wave.phase));
  }
  return sum;
}

double SkewedClock::largest_curvature() const {
  double sum = 0;
  for (const Wave& wave : waves) sum += wave.rate * k_two_pi / wave.period_ticks;
  return sum;
}

SkewedClock draw_clock(const SkewAmplitudes& amplitudes, std::uint64_t seed, std::uint64_t unit) {
  RandomStream random(seed, unit);
  SkewedClock clock;
  clock.offset_ticks = random.uniform(-amplitudes.offset_ticks, amplitudes.offset_ticks);
  clock.drift = random.uniform(-amplitudes.drift, amplitudes.drift);
  const double share = random.uniform(0.5, 0.8);
  const double period = amplitudes.wander_period_ticks;
  clock.waves[0] = {amplitudes.wander * share, period * random.uniform(0.7, 1.3),
                    random.uniform(0, k_two_pi)};
  clock.waves[1] = {amplitudes.wander * (1 - share), period * random.uniform(0.35, 0.65),
                    random.uniform(0, k_two_pi)};
  return clock;
}

namespace {

/// The rate of a walking clock, in steps of equal length; unit of rates: 10^-15 ticks per tick.
class RateWalk {
 public:
  static constexpr std::int64_t k_unit = 1'000'000 * k_billion;

  RateWalk(double most, RandomStream random)
      : most_(std::llround(most * k_unit)),
        step_(std::llround(std::sqrt(3.0) / 4 * most * k_unit)),
        random_(random) {}

  [[nodiscard]] std::int64_t rate() const { return rate_; }
  void advance() {
    const auto choices = static_cast<std::uint64_t>(2 * step_ + 1);
    const auto drawn = static_cast<std::int64_t>((Int128{1} * random_.next() * choices) >> 64);
    rate_ += drawn - step_;
    if (rate_ > most_) rate_ = 2 * most_ - rate_;
    if (rate_ < -most_) rate_ = -2 * most_ - rate_;
  }

 private:
  std::int64_t most_, step_;
  std::int64_t rate_ = 0;
  RandomStream random_;
};

}  // namespace

Result<ClockMap> walking_clock(const SkewAmplitudes& amplitudes, std::uint64_t seed,
                               std::uint64_t unit, std::uint64_t first, std::uint64_t last) {
  const SkewedClock still = draw_clock(amplitudes, seed, unit);
  const std::uint64_t span = std::max<std::uint64_t>(last - first, 1);
  const double wanted = amplitudes.wander_period_ticks / k_walk_steps;
  if (wanted < static_cast<double>(k_min_distance) ||
      static_cast<double>(span) / wanted > static_cast<double>(k_max_knots - 2)) {
    return fail(ErrorKind::usage,
                "the wander period is too short for a trace of this length: choose a longer one");
  }
  const auto length = static_cast<std::uint64_t>(std::llround(wanted));
  // A stream of its own, so that offset and drift are those of the other kind of clock.
  RateWalk walk(amplitudes.wander, RandomStream(~seed, unit));
  std::vector<ClockKnot> knots;
  Int128 walked = 0;
  for (std::uint64_t x = 0;; x += length) {
    const auto constant = static_cast<std::int64_t>(
        std::rint(still.offset_ticks + still.drift * static_cast<double>(x)));
    knots.push_back({first + x, constant + static_cast<std::int64_t>(
                                               floor_div(walked, Int128{RateWalk::k_unit}))});
    if (x >= span) break;
    walked += Int128{walk.rate()} * static_cast<std::int64_t>(length);
    walk.advance();
  }
  return ClockMap::from_knots(std::move(knots));
}

Result<ClockMap> sampled(const SkewedClock& clock, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t span = std::max<std::uint64_t>(last - first, 1);
  const double curvature = clock.largest_curvature();
  const auto length = static_cast<double>(span);
  // A chord over h of a curve with second derivative c is off by h^2 c / 8 at most.
  double wanted = curvature > 0 ? length / std::sqrt(8 * k_chord_error_ticks / curvature) : 1;
  if (wanted > static_cast<double>(k_max_knots - 1)) {
    wanted = static_cast<double>(k_max_knots - 1);
    for (const SkewedClock::Wave& wave : clock.waves) {
      if (wave.rate > 0 && length / wanted > wave.period_ticks / 8) {
        return fail(ErrorKind::usage,
                    "the wander period is too short for a trace of this length: "
                    "choose a longer one");
      }
    }
  }
  const std::uint64_t most = std::max<std::uint64_t>(span / k_min_distance, 1);
  const auto segments =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wanted)), 1, most);
  std::vector<ClockKnot> knots;
  knots.reserve(segments + 1);
  for (std::uint64_t i = 0; i <= segments; ++i) {
    // span * i / segments without overflow
    const std::uint64_t x = span / segments * i + span % segments * i / segments;
    const double shown = std::rint(clock.displacement(static_cast<double>(x)));
    knots.push_back({first + x, static_cast<std::int64_t>(shown)});
  }
  return ClockMap::from_knots(std::move(knots));
}

}  // namespace entrain::sim
