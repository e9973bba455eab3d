// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "clocks/error_estimate.hpp"
#include "clocks/sessions.hpp"

namespace entrain::clocks {

/// `linear`, `regression` and `spline` turn sessions into a clock map.
using Method = PresyncMethod;
inline constexpr std::size_t k_methods = 3;

/// A clock map with its quality.
struct Estimate {
  ClockMap map;
  ClockQuality quality;  ///< `location` is left to the caller
  ErrorEstimate error;
};

/// Turns sessions into a clock map.
///
/// * `linear`: takes the ClockOffset records as knots, as an OTF2 reader does, whatever `rule`
///   says.
/// * `regression`: a line by least squares. With Condensing::mean all kept exchanges have one
/// weight
///   (Intel Trace Collector's rule), with `weighted` 1 / round trip^2. With `shortest` the
///   condensed sessions have the weight 1 / half-width^2, or one weight if half-widths are unknown.
/// * `spline`: an increasing curve with a continuous derivative through the condensed sessions,
///   without the disturbed ones (disturbed_sessions()), which would only bend it, unless
///   Sessions::none_left_out. The map's
///   straight pieces are within 0.4 ticks of it, or a hundredth of the smallest half-width, if
///   1,024 pieces between two sessions suffice; error estimates include that.
///
/// All go on straight before the first and after the last session: `linear` and `regression` along
/// their outermost segment, `spline` with its derivative there. A single session gives a constant
/// offset (an OTF2 reader ignores it); its error grows by `unmeasured_rate` ticks per tick of
/// distance. Without sessions the map is the identity. Pure, deterministic. Errors:
/// ErrorKind::input for sessions out of order, offsets out of range, and a map that would make time
/// run backward; without the name of the location.
[[nodiscard]] Result<Estimate> estimate(const Sessions& clock, Method method, Condensing rule,
                                        double unmeasured_rate = 0);

/// How well each method predicts sessions that were left out: the sum of their distances from the
/// map through the others. Rounded to ticks, so that sums over clocks do not depend on their order.
struct CrossValidation {
  std::int64_t inner_sessions = 0;  ///< number left out, each once; no disturbed ones
  std::array<std::int64_t, k_methods> distance_ticks{};  ///< one each: linear, regression, spline
  /// Sum of the half-widths of the inner sessions and of the line between their neighbours: such
  /// distances say nothing.
  std::int64_t width_ticks = 0;
};
/// Leaves out every undisturbed inner session once. Sessions at the ends would test how curves go
/// on, not how they interpolate. The sessions must be in order, with offsets up to 2^61 ticks.
[[nodiscard]] CrossValidation cross_validate(const Sessions& clock, Condensing rule);

/// Chooses the method, from the sums over all clocks. `most_sessions`: of any clock.
///
/// Fewer than three sessions: linear, as nothing tells methods apart. Three: spline if the session
/// in the middle shows that clocks are bent, else linear. More: the smallest sum of distances; if
/// sums are equal, the first of linear, spline, regression.
[[nodiscard]] Method choose_method(const CrossValidation& sums, std::int64_t most_sessions);

/// A session is wide, and may be disturbed, if its half-width is above this multiple of the median.
/// The value is not critical, since a wide session must also say nothing new. With 2, 3, 4 and 8
/// the rms error at the disturbed sessions of simulation_test.cpp is 82, 175, 266 and 424 ns
/// (`shortest`).
inline constexpr double k_wide_session = 3;

/// With fewer undisturbed sessions none is left out: the others must determine the curve well.
inline constexpr std::size_t k_least_undisturbed = 4;

/// Finds disturbed sessions: all their exchanges were slow, since the machine was busy, and a curve
/// through the other sessions is more exact than they are. One flag per point.
///
/// A session is disturbed if all of these hold:
///  * it is neither the first nor the last one;
///  * its half-width is more than k_wide_session times the median of all;
///  * its half-width is larger than the wander of the clock between the sessions around it that are
///    not wide (estimated by the largest distance of such a session from the curve through its
///    neighbours, which grows with the square of the gap);
///  * the curve through those sessions passes its interval, so no information is lost.
/// No session is disturbed if a half-width is unknown, or fewer than k_least_undisturbed sessions
/// are not wide.
///
/// Points in strictly increasing order of time, whose global time does not decrease. Pure;
/// O(n log n).
[[nodiscard]] std::vector<bool> disturbed_sessions(std::span<const SessionPoint> points);

/// The points that are not disturbed.
[[nodiscard]] std::vector<SessionPoint> undisturbed(std::span<const SessionPoint> points);

}  // namespace entrain::clocks
