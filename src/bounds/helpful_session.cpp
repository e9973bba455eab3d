// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/helpful_session.hpp"

#include <algorithm>
#include <utility>

#include "bounds/violated_edges.hpp"

namespace entrain::bounds {
namespace {

/// True if a clock has an error at a time: it is not the reference, and it is alive.
bool lives_at(const SolvedProblem& solved, std::uint32_t clock, std::int64_t time) {
  const Lifetime& life = solved.problem.lives[clock];
  return clock != solved.problem.reference && life.first <= time && time <= life.last;
}

struct Widest {
  std::uint32_t clock = 0;
  std::int64_t time = 0;
  Interval interval{0, 0};

  [[nodiscard]] std::int64_t half() const { return (interval.width() + 1) / 2; }
};

/// The widest interval of any clock in its life; of width 0 if nothing is bounded.
Widest widest_interval(const SolvedProblem& solved, const ErrorBounds& errors) {
  Widest widest;
  for (std::uint32_t c = 0; c < solved.problem.clocks; ++c) {
    for (const std::int64_t time : solved.times) {
      if (!lives_at(solved, c, time)) continue;
      const Widest found{c, time, errors[c].interval(time)};
      if (found.interval.bounded() && found.half() > widest.half()) widest = found;
    }
  }
  return widest;
}

/// Largest distance from its bounds of the straight line between two sessions of a clock.
std::int64_t excess(const SolvedProblem& solved, const ClockConstraint& a,
                    const ClockConstraint& b) {
  std::int64_t most = 0;
  for (const std::int64_t time : solved.times) {
    if (time < a.to_time || time > b.to_time) continue;
    const Interval interval = solved.solution.errors[a.to].interval(time);
    if (!interval.bounded()) continue;
    const double share = b.to_time == a.to_time ? 0
                                                : static_cast<double>(time - a.to_time) /
                                                      static_cast<double>(b.to_time - a.to_time);
    const std::int64_t at =
        a.slack + static_cast<std::int64_t>(share * static_cast<double>(b.slack - a.slack));
    most = std::max({most, interval.lower - at, at - interval.upper});
  }
  return most;
}

/// The narrowest interval of a clock in its life, ticks; empty: it has none.
std::optional<std::int64_t> narrowest_interval(const SolvedProblem& solved, std::uint32_t clock) {
  std::optional<std::int64_t> least;
  for (const ClockBound::Point& point : solved.solution.errors[clock].points()) {
    const Interval interval = solved.solution.errors[clock].interval(point.time);
    if (clock == solved.problem.reference || !interval.bounded()) continue;
    least = least ? std::min(*least, interval.width()) : interval.width();
  }
  return least;
}

}  // namespace

std::optional<Narrowed> with_more(const SolvedProblem& solved,
                                  std::span<const ClockConstraint> more) {
  ErrorProblem problem = solved.problem;
  for (const ClockConstraint& one : more) problem.edges.push_back(edge_of(one, problem.begin));
  auto narrowed = narrow_limits(problem, solved.solution, [](auto&) { return false; });
  if (!narrowed) return std::nullopt;
  return *std::move(narrowed);
}

std::vector<std::int64_t> probable_half_widths(const SolvedProblem& solved,
                                               std::span<const ClockConstraint> sessions) {
  std::vector<std::int64_t> beyond(solved.problem.clocks, 0), widths(solved.problem.clocks, 0);
  for (std::size_t s = 1; s < sessions.size(); ++s) {
    const ClockConstraint &a = sessions[s - 1], &b = sessions[s];
    if (a.to == b.to) beyond[a.to] = std::max(beyond[a.to], excess(solved, a, b));
  }
  for (std::uint32_t c = 0; c < solved.problem.clocks; ++c) {
    const auto narrowest = narrowest_interval(solved, c);
    if (narrowest) widths[c] = (*narrowest + 1) / 2 + beyond[c] + 1;
  }
  return widths;
}

std::optional<ClockBounds::HelpfulSession> helpful_session(const SolvedProblem& solved) {
  const Widest widest = widest_interval(solved, solved.solution.errors);
  if (widest.half() == 0) return std::nullopt;
  ClockBounds::HelpfulSession help;
  help.time_ticks = widest.time;
  help.before_ticks = widest.half();
  std::vector<ClockConstraint> session;
  for (std::uint32_t c = 0; c < solved.problem.clocks; ++c) {
    const Interval known = solved.solution.errors[c].interval(widest.time);
    const auto narrowest = narrowest_interval(solved, c);
    if (!narrowest || !known.bounded()) continue;
    const std::int64_t middle = known.lower + (known.upper - known.lower) / 2;
    const std::int64_t half = (*narrowest + 1) / 2;
    help.half_width_ticks = std::max(help.half_width_ticks, half);
    session.push_back({solved.problem.reference, c, widest.time, widest.time, middle + half});
    session.push_back({c, solved.problem.reference, widest.time, widest.time, half - middle});
  }
  const auto narrowed = with_more(solved, session);
  if (!narrowed) return std::nullopt;
  help.after_ticks = widest_interval(solved, narrowed->errors).half();
  if (2 * help.after_ticks > help.before_ticks) return std::nullopt;
  return help;
}

}  // namespace entrain::bounds
