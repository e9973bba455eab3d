// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "clocks/error_estimate.hpp"
#include "clocks/sessions.hpp"

namespace entrain::clocks {

/// How sessions become a clock map.
enum class Method : std::uint8_t { linear, regression, spline };
inline constexpr std::size_t k_methods = 3;
const char* name_of(Method method);

/// A clock map with what is known of its quality.
struct Estimate {
  ClockMap map;
  ClockQuality quality;  ///< `location` is left to the caller
  ErrorEstimate bound;
};

/// From sessions to a clock map.
///
/// * `linear`: the ClockOffset records as knots, as an OTF2 reader does, whatever `rule` says.
/// * `regression`: a line, by least squares. With Condensing::mean over all kept exchanges alike
///   (Intel Trace Collector's rule), with `weighted` by 1 / round trip^2, with `shortest` over the
///   condensed sessions by 1 / half-width^2. Alike where these are unknown.
/// * `spline`: an increasing curve with a continuous derivative through the condensed sessions, but
///   those that were disturbed (disturbed_sessions()), which would only bend it.
///   The map's straight pieces pass it by at most 0.4 ticks or a hundredth of the smallest
///   half-width, as long as 1,024 pieces between two sessions suffice; bounds include that.
///
/// All go on straight before the first and after the last session: `linear` and `regression` along
/// their outermost segment, `spline` with its derivative there. With fewer than two sessions the
/// map is the identity, as a reader does. Pure, deterministic. Errors: ErrorKind::input for
/// sessions out of order, offsets out of range, and a map that would make time run backward;
/// without the name of the location.
[[nodiscard]] Result<Estimate> estimate(const Sessions& clock, Method method, Condensing rule);

/// How far sessions that were left out lie from what each method makes of the others: the sums of
/// distances, rounded to ticks, so that sums over clocks do not depend on their order.
struct CrossValidation {
  std::int64_t inner_sessions = 0;  ///< that were left out, each once; no disturbed ones
  std::array<std::int64_t, k_methods> distance_ticks{};
  /// What the inner sessions leave open by themselves: their half-widths and those of the line
  /// between their neighbours.
  std::int64_t width_ticks = 0;
};
/// Of the undisturbed sessions the inner ones only: those at the ends would test how curves go on,
/// not how they interpolate. The sessions must be in order, with offsets up to 2^61 ticks.
[[nodiscard]] CrossValidation cross_validate(const Sessions& clock, Condensing rule);

/// The method to take, from the sums over all clocks. `most_sessions`: of any clock.
///
/// Fewer than three sessions: linear, as nothing tells methods apart. Three: the one in the middle
/// shows whether a clock is bent at all; then spline, else linear. More: the smallest sum of
/// distances; of equal ones the first of linear, spline, regression.
[[nodiscard]] Method choose_method(const CrossValidation& sums, std::int64_t most_sessions);

}  // namespace entrain::clocks
