// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <entrain/clock_map.hpp>

namespace entrain::sim {

/// Limits of the errors of clocks. All >= 0.
struct SkewAmplitudes {
  double offset_ticks = 0;         ///< constant offsets are uniform in +-offset_ticks
  double drift = 0;                ///< constant rates are uniform in +-drift, ticks per tick
  double wander = 0;               ///< bound of the rate's slow change, ticks per tick
  double wander_period_ticks = 1;  ///< > 0
};

/// A clock that is off, drifts, and wanders. At x true ticks after its start it shows
///
///     start + x + offset + drift * x + sum over waves (rate * period / (2 pi)) *
///                                      (sin(2 pi x / period + phase) - sin(phase))
///
/// so its rate differs from 1 by drift plus the waves `rate * cos(2 pi x / period + phase)`.
struct SkewedClock {
  struct Wave {
    double rate = 0;  ///< amplitude of the rate, ticks per tick
    double period_ticks = 1;
    double phase = 0;  ///< radians
  };
  double offset_ticks = 0;
  double drift = 0;
  std::array<Wave, 2> waves;

  /// Shown time minus true time, ticks, `x` ticks after the start.
  [[nodiscard]] double displacement(double x) const;

  /// Largest |second derivative| of the displacement, 1 / ticks.
  [[nodiscard]] double largest_curvature() const;
};

/// The clock of unit `unit` under `seed`; each pair gives one clock, whatever else is drawn.
///
/// The two waves share the amplitude `wander` (the first one gets 50 to 80 % of it); their periods
/// are 0.7 to 1.3 and 0.35 to 0.65 of the wander period. Hence for all x >= 0
///
///     |displacement(x)| <= offset_ticks + drift * x + wander * min(x, 1.3 * period / pi)
///     |rate - 1|        <= drift + wander
SkewedClock draw_clock(const SkewAmplitudes& amplitudes, std::uint64_t seed, std::uint64_t unit);

/// The clock of unit `unit` under `seed` whose rate walks at random, from `first` to `last` true
/// ticks, as a strictly increasing piecewise-linear map from true to shown ticks; offset and drift
/// are those of draw_clock().
///
/// The rest of the rate starts at 0 and changes k_walk_steps times per wander period by a step
/// uniform in +-sqrt(3) / 4 of `wander`, so that without bounds a period would change it by
/// `wander` (standard deviation); it is reflected at +-wander. Between steps it is constant: the
/// map has a knot per step and is the walk to within rounding. Whole numbers only, so that every
/// machine walks alike. Errors: ErrorKind::usage when steps would be more than k_max_knots or
/// closer than 16 ticks.
inline constexpr int k_walk_steps = 16;
Result<ClockMap> walking_clock(const SkewAmplitudes& amplitudes, std::uint64_t seed,
                               std::uint64_t unit, std::uint64_t first, std::uint64_t last);

/// The clock as a strictly increasing piecewise-linear map from true to shown ticks, knots from
/// `first` to `last` in equal distances. From here on the map *is* the clock: undoing the map
/// undoes the clock exactly.
///
/// It differs from the formula by less than k_map_error_ticks within [first, last] as long as
/// k_max_knots knots suffice; otherwise it is coarser, by wander * period / 80 at most. Errors:
/// ErrorKind::usage when not even 8 knots per period are possible.
inline constexpr double k_map_error_ticks = 1.25;
inline constexpr std::uint64_t k_max_knots = std::uint64_t{1} << 16;
Result<ClockMap> sampled(const SkewedClock& clock, std::uint64_t first, std::uint64_t last);

}  // namespace entrain::sim
