// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain {

/// The unit that shares one distorted clock.
enum class DistortUnit {
  location,  ///< every location has a clock of its own
  process,   ///< the locations of a process share one
  node,      ///< the locations of a machine node share one
};

/// The way in which the rate of a distorted clock changes.
enum class WanderKind {
  cycle,  ///< two sinusoids
  walk,   ///< steps at random, 16 per period, that never leave +-wander_ppm
};

/// Options of distort(): the size of the clock errors. All amplitudes are >= 0.
struct DistortOptions {
  std::uint64_t seed = 1;      ///< seed of the random clocks; the same one gives the same clocks
  double offset_s = 5e-3;      ///< offsets are uniform in +-offset_s, seconds
  double drift_ppm = 20;       ///< constant rates are uniform in +-drift_ppm
  double wander_ppm = 5;       ///< amplitude of the rate's slow change
  double wander_period_s = 0;  ///< period of that change, seconds; 0: the span of the trace
  WanderKind wander_kind = WanderKind::cycle;
  /// Number of times that each clock is set forward, at random, 0 to k_most_distort_steps.
  std::uint32_t steps = 0;
  double step_s = 1e-3;  ///< sizes of these steps are uniform from 0 to this, seconds
  /// true: the clock of the first location, to which measurements are relative, has an offset and a
  /// drift but does not wander. A perfect correction then leaves an error of 0.
  bool steady_master = false;
  /// Number of times that clocks are measured, at equal distances from begin to end: 0, or 2 to
  /// k_most_distort_sessions. With 0 the trace holds no ClockOffset record.
  std::uint32_t sessions = 2;
  double offset_noise_s = 1e-6;  ///< error of the recorded ClockOffset measurements, uniform +-
  DistortUnit unit = DistortUnit::process;
  bool force = false;                    ///< replace an unchanged earlier result
  unsigned threads = 0;                  ///< worker threads; 0: all cores
  std::uint64_t max_unpacked_bytes = 0;  ///< see CheckOptions::max_unpacked_bytes
  std::string columns{};                 ///< see CheckOptions::columns
};

/// Largest DistortOptions::sessions.
inline constexpr std::uint32_t k_most_distort_sessions = 100'000;

/// Largest DistortOptions::steps.
inline constexpr std::uint32_t k_most_distort_steps = 1'000;

/// Result of distort().
struct DistortReport {
  std::string input, output;  ///< paths
  std::uint64_t seed = 0;
  std::uint64_t locations = 0;
  std::uint64_t clocks = 0;  ///< number of different clocks given
  std::uint64_t events = 0;
  double largest_offset_s = 0;    ///< largest |distorted - true| of all clocks and times
  bool has_records = true;        ///< the format has records of measured clocks
  double largest_residual_s = 0;  ///< largest error after linear interpolation of the records
  /// Folders that killed runs had left near the output and that were removed.
  std::uint64_t leftovers_removed = 0;
};

}  // namespace entrain
