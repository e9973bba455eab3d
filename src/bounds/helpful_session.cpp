// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/helpful_session.hpp"

#include <algorithm>
#include <utility>

namespace entrain::bounds {
namespace {

using Interval = ErrorIntervals::Interval;

/// First and last window of a clock's life; empty: it has none.
std::optional<std::pair<std::uint32_t, std::uint32_t>> windows_of(const SolvedProblem& solved,
                                                                  std::uint32_t clock) {
  const Lifetime& life = solved.lives[clock];
  if (clock == solved.grid.reference || life.first > life.last) return std::nullopt;
  return std::pair(solved.grid.window_of(life.first), solved.grid.window_of(life.last));
}

struct Widest {
  std::uint32_t clock = 0, window = 0;
  Interval interval{0, 0};

  [[nodiscard]] std::int64_t half() const { return (interval.upper - interval.lower + 1) / 2; }
};

/// The widest interval of any clock in its life; of width 0 if nothing is bounded.
Widest widest_interval(const SolvedProblem& solved, const ErrorIntervals& intervals) {
  Widest widest;
  for (std::uint32_t c = 0; c < solved.grid.clocks; ++c) {
    const auto life = windows_of(solved, c);
    for (std::uint32_t w = life ? life->first : 1; life && w <= life->second; ++w) {
      const Interval interval = intervals.of(c, w);
      if (!interval.bounded()) continue;
      const Widest found{c, w, interval};
      if (found.half() > widest.half()) widest = found;
    }
  }
  return widest;
}

/// Largest distance from its intervals of the straight line between two sessions of a clock.
std::int64_t excess(const SolvedProblem& solved, const ClockConstraint& a,
                    const ClockConstraint& b) {
  const std::uint32_t first = solved.grid.window_of(a.to_time);
  const std::uint32_t last = solved.grid.window_of(b.to_time);
  std::int64_t most = 0;
  for (std::uint32_t w = first; w <= last; ++w) {
    const Interval interval = solved.intervals.of(a.to, w);
    const std::int64_t time = solved.grid.middle(w);
    if (!interval.bounded() || time < a.to_time || time > b.to_time) continue;
    const double share = b.to_time == a.to_time ? 0
                                                : static_cast<double>(time - a.to_time) /
                                                      static_cast<double>(b.to_time - a.to_time);
    const std::int64_t at =
        a.slack + static_cast<std::int64_t>(share * static_cast<double>(b.slack - a.slack));
    most = std::max({most, interval.lower - at, at - interval.upper});
  }
  return most;
}

}  // namespace

std::optional<Narrowed> with_more(const SolvedProblem& solved,
                                  std::span<const ClockConstraint> more) {
  std::vector<ClockConstraint> all(solved.grid.constraints.begin(), solved.grid.constraints.end());
  all.insert(all.end(), more.begin(), more.end());
  ConstraintGrid grid = solved.grid;
  grid.constraints = all;
  const DifferenceConstraints system(grid);
  Narrowed narrowed = narrow_limits(system, solved.lives, solved.limits, true);
  if (narrowed.contradiction || system.is_exhausted()) return std::nullopt;
  return narrowed;
}

std::optional<std::int64_t> narrowest_interval(const SolvedProblem& solved, std::uint32_t clock) {
  const auto life = windows_of(solved, clock);
  std::optional<std::int64_t> least;
  for (std::uint32_t w = life ? life->first : 1; life && w <= life->second; ++w) {
    const Interval interval = solved.intervals.of(clock, w);
    if (!interval.bounded()) continue;
    const std::int64_t width = interval.upper - interval.lower;
    least = least ? std::min(*least, width) : width;
  }
  return least;
}

std::vector<std::int64_t> probable_half_widths(const SolvedProblem& solved,
                                               std::span<const ClockConstraint> sessions) {
  std::vector<std::int64_t> beyond(solved.grid.clocks, 0), widths(solved.grid.clocks, 0);
  for (std::size_t s = 1; s < sessions.size(); ++s) {
    const ClockConstraint &a = sessions[s - 1], &b = sessions[s];
    if (a.to == b.to) beyond[a.to] = std::max(beyond[a.to], excess(solved, a, b));
  }
  for (std::uint32_t c = 0; c < solved.grid.clocks; ++c) {
    const auto narrowest = narrowest_interval(solved, c);
    if (narrowest) widths[c] = (*narrowest + 1) / 2 + beyond[c] + 1;
  }
  return widths;
}

std::optional<HelpfulSession> helpful_session(const SolvedProblem& solved) {
  const Widest widest = widest_interval(solved, solved.intervals);
  if (widest.half() == 0) return std::nullopt;
  HelpfulSession help;
  help.time = solved.grid.middle(widest.window);
  help.clock = widest.clock;
  help.before = widest.half();
  std::vector<ClockConstraint> session;
  for (std::uint32_t c = 0; c < solved.grid.clocks; ++c) {
    const Interval known = solved.intervals.of(c, widest.window);
    const auto narrowest = narrowest_interval(solved, c);
    if (!narrowest || !known.bounded()) continue;
    const std::int64_t middle = known.lower + (known.upper - known.lower) / 2;
    const std::int64_t half = (*narrowest + 1) / 2;
    help.half_width = std::max(help.half_width, half);
    session.push_back({solved.grid.reference, c, help.time, help.time, middle + half});
    session.push_back({c, solved.grid.reference, help.time, help.time, half - middle});
  }
  const auto narrowed = with_more(solved, session);
  if (!narrowed) return std::nullopt;
  help.after = widest_interval(solved, narrowed->intervals).half();
  if (2 * help.after > help.before) return std::nullopt;
  return help;
}

}  // namespace entrain::bounds
