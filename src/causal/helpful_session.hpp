// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "causal/rate_limits.hpp"

/// What would follow if more were known of the clocks than is proved.
namespace entrain::causal {

/// A problem that was solved. Holds references, which must outlive it.
struct SolvedProblem {
  const ConstraintGrid& grid;  ///< with its constraints
  std::span<const Lifetime> lives;
  const RateLimits& limits;
  const ErrorIntervals& intervals;
};

/// Limits and intervals with further constraints; empty if these contradict what is proved, or if
/// they take too many steps to find.
[[nodiscard]] std::optional<Narrowed> with_more(const SolvedProblem& solved,
                                                std::span<const ClockConstraint> more);

/// The narrowest interval of a clock in its life, ticks; empty: it has none.
[[nodiscard]] std::optional<std::int64_t> narrowest_interval(const SolvedProblem& solved,
                                                             std::uint32_t clock);

/// The half-width that sessions without one probably have, per clock, ticks: half of the narrowest
/// interval that is proved of the clock, since the shortest exchange of a session is about as short
/// as the shortest messages both ways; and besides by how much the straight lines between sessions
/// leave what is proved. 0: unknown. `sessions`, sorted by clock and time, go from the reference to
/// the measured clock and have no half-width in their slack.
[[nodiscard]] std::vector<std::int64_t> probable_half_widths(
    const SolvedProblem& solved, std::span<const ClockConstraint> sessions);

/// A clock session that would narrow the intervals.
struct HelpfulSession {
  std::int64_t time = 0;        ///< where the widest interval is, ticks
  std::uint32_t clock = 0;      ///< whose interval that is
  std::int64_t half_width = 0;  ///< that the session is supposed to have, ticks
  std::int64_t before = 0;      ///< half of the widest interval, ticks
  std::int64_t after = 0;       ///< the same, with a session of all clocks at `time`
};

/// What a session of all clocks at the time of the widest interval would bring. Its half-width is
/// taken to be half of the narrowest interval of each clock. Empty if it would not at least halve
/// the widest interval, or if nothing is bounded.
[[nodiscard]] std::optional<HelpfulSession> helpful_session(const SolvedProblem& solved);

}  // namespace entrain::causal
