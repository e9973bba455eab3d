// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "clocks/sessions.hpp"

namespace entrain::clocks {

/// A session is wide, and may be disturbed, above this multiple of the median half-width. Not
/// critical, since a wide one must also say nothing new: with 2, 4 and 8 instead the rms error of
/// the disturbed sessions of simulation_test.cpp is 82, 266 and 424 ns, with 3 it is 175
/// (`shortest`).
inline constexpr double k_wide_session = 3;

/// Undisturbed sessions below which nothing is left out: what the others say must be known well.
inline constexpr std::size_t k_least_undisturbed = 4;

/// Which sessions a curve through the others knows better than they do themselves: one number per
/// point, true for a disturbed session (its exchanges were all slow, since the machine was busy).
///
/// A session is disturbed if all of these hold: it is not the first or the last one; its half-width
/// is more than k_wide_session times the median of all; it is larger than what the clock may wander
/// between the sessions around it that are not wide (the largest distance of any of these from the
/// curve through its neighbours, which grows with the square of the gap); and the curve through
/// those passes its interval, so nothing that it tells gets lost. None is where a half-width is
/// unknown, or fewer than k_least_undisturbed sessions are not wide.
///
/// Points in strictly increasing order of time, whose global time does not decrease. Pure;
/// O(n log n).
[[nodiscard]] std::vector<bool> disturbed_sessions(std::span<const SessionPoint> points);

/// The points that are not disturbed.
[[nodiscard]] std::vector<SessionPoint> undisturbed(std::span<const SessionPoint> points);

}  // namespace entrain::clocks
