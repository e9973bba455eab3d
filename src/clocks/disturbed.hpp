// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "clocks/sessions.hpp"

namespace entrain::clocks {

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
