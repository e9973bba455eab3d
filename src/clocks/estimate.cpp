// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/order.hpp"
#include "base/try.hpp"
#include "clocks/curves.hpp"

namespace entrain::clocks {
namespace {

using Points = std::vector<SessionPoint>;

/// Sessions below which nothing is said about the wander: a single one left out may lie well by
/// accident.
constexpr std::size_t k_sessions_for_an_estimate = 4;

std::vector<ClockKnot> knots_of(const Points& points) {
  std::vector<ClockKnot> knots;
  for (const SessionPoint& point : points) knots.push_back({point.local, point.offset});
  return knots;
}

Result<ClockMap> increasing(std::vector<ClockKnot> knots) {
  TRY_ASSIGN(ClockMap map, ClockMap::from_knots(std::move(knots)));
  if (!map.is_monotone()) {
    return fail(ErrorKind::input, "its clock offsets make time run backward");
  }
  return map;
}

/// The condensed sessions as points of a line: by their half-widths if all are known.
std::vector<WeightedPoint> weighted(const Points& points) {
  const bool known = std::ranges::all_of(
      points, [](const SessionPoint& p) { return p.half_width.value_or(0) > 0; });
  std::vector<WeightedPoint> result;
  for (const SessionPoint& p : points) {
    result.push_back({p.local, p.offset, known ? 1 / (*p.half_width * *p.half_width) : 1});
  }
  return result;
}

/// The points that a line is fitted to.
std::vector<WeightedPoint> line_input(const Sessions& clock, const Points& points,
                                      Condensing rule) {
  if (rule == Condensing::shortest) return weighted(points);
  std::vector<WeightedPoint> result;
  for (const Session& session : clock.sessions) {
    for (const Sample& sample : session.samples) {
      const double length = std::max(1.0, static_cast<double>(sample.round_trip));
      const double weight = rule == Condensing::weighted ? 1 / (length * length) : 1;
      if (sample.kept) result.push_back({sample.local, sample.offset, weight});
    }
  }
  return result.empty() ? weighted(points) : result;
}

/// Adds up distances.
struct Distances {
  double squares = 0, largest = 0;
  std::size_t count = 0;

  void add(double distance) {
    squares += distance * distance;
    largest = std::max(largest, std::abs(distance));
    ++count;
  }
  [[nodiscard]] double rms() const {
    return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
  }
};

double left_out(const Points& points, Method method, std::size_t k) {
  return method == Method::spline ? left_out_of_spline(points, k) : left_out_of_line(points, k);
}

/// Largest error at each session: the half-width, and how far the curve passes by. Empty if a
/// half-width is unknown.
std::vector<double> errors_at_sessions(const Points& points, const Line* line) {
  std::vector<double> errors;
  for (const SessionPoint& p : points) {
    if (!p.half_width) return {};
    const double away = line == nullptr ? 0 : std::abs(line->residual({p.local, p.offset, 1}));
    errors.push_back(*p.half_width + away);
  }
  return errors;
}

/// How wrong the rate of a curve may be at each session, by the errors of the sessions alone.
std::vector<double> rate_errors(const Points& points, const std::vector<double>& at_sessions,
                                Method method) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    slopes.push_back((at_sessions[i] + at_sessions[i + 1]) /
                     static_cast<double>(points[i + 1].local - points[i].local));
  }
  std::vector<double> rates{slopes.front()};
  for (std::size_t k = 1; k < slopes.size(); ++k) {
    rates.push_back(std::max(slopes[k - 1], slopes[k]));
  }
  rates.push_back(slopes.back());
  if (method == Method::spline && slopes.size() > 1) {
    // The parabola at an end counts the nearest slope at most twice and the other once.
    rates.front() = 2 * slopes[0] + slopes[1];
    rates.back() = 2 * slopes.back() + slopes[slopes.size() - 2];
  }
  return rates;
}

ErrorEstimate error_of(const Points& points, const std::vector<double>& at_sessions, Method method,
                       double wander, double map_error) {
  constexpr double k_largest_hermite = 4.0 / 27;  // of x (1 - x)^2
  if (at_sessions.empty() || points.size() < k_sessions_for_an_estimate) return {};
  const std::vector<double> rates = rate_errors(points, at_sessions, method);
  std::vector<std::uint64_t> times{points.front().local};
  std::vector<double> inside;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    double error = std::max(at_sessions[i], at_sessions[i + 1]) + wander + map_error;
    if (method == Method::spline) {  // a cubic exaggerates errors by its derivatives
      error += k_largest_hermite * static_cast<double>(points[i + 1].local - points[i].local) *
               (rates[i] + rates[i + 1]);
    }
    inside.push_back(error);
    times.push_back(points[i + 1].local);
  }
  return {std::move(times), std::move(inside), rates.front(), rates.back(), wander};
}

/// Largest allowed distance of the straight pieces of a map from a spline, ticks. Pieces finer than
/// the sessions are exact would only make archives larger.
double chord_tolerance(const Points& points) {
  constexpr double k_least = 0.4;  // with half a tick of rounding below one tick
  constexpr double k_share_of_width = 0.01;
  double narrowest = std::numeric_limits<double>::infinity();
  for (const SessionPoint& p : points) narrowest = std::min(narrowest, p.half_width.value_or(0));
  return std::max(k_least, k_share_of_width * narrowest);
}

std::uint64_t kept_samples(const Sessions& clock) {
  std::uint64_t count = 0;
  for (const Session& session : clock.sessions) {
    count += static_cast<std::uint64_t>(std::ranges::count(session.samples, true, &Sample::kept));
  }
  return count;
}

/// The global clock itself: nothing to estimate, nothing wrong.
Estimate reference_estimate(const Sessions& clock, ClockMap map) {
  Estimate result{std::move(map), {}, {}};
  result.quality.sessions = clock.sessions.size();
  result.quality.interval_bound_ticks = result.quality.predicted_bound_ticks = 0;
  const std::uint64_t first = clock.sessions.front().record.time;
  const std::uint64_t last = clock.sessions.back().record.time;
  result.error = {.times = {first, std::max(last, first + 1)}, .inside = {0}};
  return result;
}

/// Goes through one point with the rate of the clock itself.
ClockMap constant_offset(const SessionPoint& point) {
  constexpr std::uint64_t k_most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t first = std::min(point.local, k_most - 1);
  return *ClockMap::from_knots({{first, point.offset}, {first + 1, point.offset}});
}

/// A clock that was measured once: its offset is known there, its rate is assumed.
Estimate single_estimate(const SessionPoint& point, const Estimate& checked, double rate) {
  Estimate result{constant_offset(point), checked.quality, {}};
  if (!point.half_width) return result;
  const double error = *point.half_width + 1;  // rounding
  result.quality.interval_bound_ticks = point.half_width;
  const auto& knots = result.map.knots();
  result.error = {{knots.front().local, knots.back().local}, {error}, rate, rate};
  return result;
}

/// Place in CrossValidation::distance_ticks.
std::size_t place_of(Method method) {
  return static_cast<std::size_t>(method) - static_cast<std::size_t>(Method::linear);
}

Points without_disturbed(const Sessions& clock, const Points& points) {
  return clock.none_left_out ? points : undisturbed(points);
}

/// Half-width above which a session is wide, or nothing where one is unknown.
std::optional<double> wide_from(std::span<const SessionPoint> points) {
  std::vector<double> widths;
  for (const SessionPoint& point : points) {
    if (!point.half_width) return std::nullopt;
    widths.push_back(*point.half_width);
  }
  return k_wide_session * median(std::move(widths));
}

/// Largest distance of a session from the curve through its neighbours, per square of the gap
/// between them.
double bend_of(const Points& narrow) {
  double largest = 0;
  for (std::size_t k = 1; k + 1 < narrow.size(); ++k) {
    const double between = difference(narrow[k + 1].local, narrow[k - 1].local);
    largest = std::max(largest, std::abs(left_out_of_spline(narrow, k)) / (between * between));
  }
  return largest;
}

/// Distance of `point` from the curve; two neighbours on either side determine the curve there.
/// `next`: number of the first one of `narrow` after `point`.
double distance_from_curve(const Points& narrow, std::size_t next, const SessionPoint& point) {
  constexpr std::size_t k_around = 2;
  const std::size_t first = next > k_around ? next - k_around : 0;
  const std::size_t end = std::min(narrow.size(), next + k_around);
  Points around(narrow.begin() + static_cast<std::ptrdiff_t>(first),
                narrow.begin() + static_cast<std::ptrdiff_t>(end));
  around.insert(around.begin() + static_cast<std::ptrdiff_t>(next - first), point);
  return std::abs(left_out_of_spline(around, next - first));
}

}  // namespace

Result<Estimate> estimate(const Sessions& clock, Method method, Condensing rule,
                          double unmeasured_rate) {
  const bool from_records = method == Method::linear;
  Estimate result;
  result.quality.sessions = clock.sessions.size();
  result.quality.samples = kept_samples(clock);
  // Orders and ranges are checked first: the arithmetic below relies on them.
  const Points records = record_points(clock);
  TRY_ASSIGN(result.map, ClockMap::from_knots(knots_of(records)));
  if (records.empty()) return result;
  if (clock.reference) return reference_estimate(clock, std::move(result.map));
  Points points = from_records ? records : condense(clock, rule);
  TRY_ASSIGN(const ClockMap through_points, ClockMap::from_knots(knots_of(points)));
  if (points.size() == 1) return single_estimate(points.front(), result, unmeasured_rate);
  if (method == Method::spline) {
    points = without_disturbed(clock, points);
    result.quality.disturbed = records.size() - points.size();
  }

  const std::vector<WeightedPoint> session_weights = weighted(points);
  const Line session_line(session_weights);
  Distances residuals, left_outs;
  std::optional<Line> line;
  double map_error = 1;  // rounding of knots and of times in between
  if (method == Method::regression) {
    const std::vector<WeightedPoint> input = line_input(clock, points, rule);
    line.emplace(input);
    for (const WeightedPoint& p : input) residuals.add(line->residual(p));
    TRY_ASSIGN(result.map, increasing(line->knots(points.front().local, points.back().local)));
  } else if (method == Method::spline) {
    TRY_ASSIGN(const ClockMap checked, increasing(knots_of(points)));
    const Spline spline(points);
    const double tolerance = chord_tolerance(points);
    TRY_ASSIGN(result.map, increasing(spline.knots(tolerance)));
    map_error += spline.chord_error(tolerance);
  } else {
    TRY_ASSIGN(result.map, increasing(knots_of(points)));
  }

  double wander = 0;
  for (std::size_t k = 1; k + 1 < points.size(); ++k) {
    left_outs.add(line ? session_line.residual_left_out(session_weights[k])
                       : left_out(points, method, k));
    // Between sessions it is the clock that bends, whatever line is laid through them.
    wander = std::max(wander, std::abs(left_out(points, method, k)));
  }
  const std::vector<double> at_sessions = errors_at_sessions(points, line ? &*line : nullptr);
  result.error = error_of(points, at_sessions, method, wander, map_error);

  result.quality.slope_ppm = (line ? *line : session_line).slope() * 1e6;
  result.quality.residual_rms_ticks = residuals.rms();
  result.quality.residual_max_ticks = residuals.largest;
  result.quality.left_out_rms_ticks = left_outs.rms();
  result.quality.left_out_max_ticks = left_outs.largest;
  if (!at_sessions.empty()) {
    result.quality.interval_bound_ticks = *std::ranges::max_element(at_sessions);
  }
  result.quality.predicted_bound_ticks = result.error.worst();
  return result;
}

CrossValidation cross_validate(const Sessions& clock, Condensing rule) {
  CrossValidation result;
  if (clock.reference || clock.sessions.size() < 3) return result;
  const Points records = record_points(clock);
  if (!ClockMap::from_knots(knots_of(records))) return result;
  const Points points = condense(clock, rule);
  if (!ClockMap::from_knots(knots_of(points))) return result;
  const std::vector<WeightedPoint> input = weighted(points);
  const Line line(input);
  const auto ticks = [](double distance) {
    constexpr double k_most = 1e12;  // sums over all clocks stay in range
    return std::llrint(std::min(std::abs(distance), k_most));
  };
  const auto add = [&](Method method, double distance) {
    result.distance_ticks[place_of(method)] += ticks(distance);
  };
  const std::vector<bool> disturbed =
      clock.none_left_out ? std::vector<bool>(points.size(), false) : disturbed_sessions(points);
  const Points good = without_disturbed(clock, points);
  for (std::size_t k = 1, g = 1; k + 1 < points.size(); ++k) {
    if (disturbed[k]) continue;  // tests no method, though linear goes through it
    ++result.inner_sessions;
    add(Method::linear, left_out_of_line(records, k));
    add(Method::regression, line.residual_left_out(input[k]));
    add(Method::spline, left_out_of_spline(good, g));
    result.width_ticks +=
        ticks(good[g].half_width.value_or(0) +
              std::max(good[g - 1].half_width.value_or(0), good[g + 1].half_width.value_or(0)));
    ++g;
  }
  return result;
}

Method choose_method(const CrossValidation& sums, std::int64_t most_sessions) {
  if (most_sessions < 3) return Method::linear;
  const auto distance = [&](Method method) { return sums.distance_ticks[place_of(method)]; };
  if (most_sessions == 3) {
    return distance(Method::linear) > sums.width_ticks ? Method::spline : Method::linear;
  }
  Method best = Method::linear;
  for (const Method method : {Method::spline, Method::regression}) {
    if (distance(method) < distance(best)) best = method;
  }
  return best;
}

std::vector<bool> disturbed_sessions(std::span<const SessionPoint> points) {
  std::vector<bool> disturbed(points.size(), false);
  const std::optional<double> wide = points.empty() ? std::nullopt : wide_from(points);
  if (!wide) return disturbed;
  const auto is_wide = [&](std::size_t k) {
    return k > 0 && k + 1 < points.size() && *points[k].half_width > *wide;
  };
  Points narrow;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!is_wide(k)) narrow.push_back(points[k]);
  }
  if (narrow.size() < k_least_undisturbed || narrow.size() == points.size()) return disturbed;
  const double bend = bend_of(narrow);
  std::size_t next = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!is_wide(k)) {
      ++next;
      continue;
    }
    const double between = difference(narrow[next].local, narrow[next - 1].local);
    const double width = *points[k].half_width;
    disturbed[k] =
        width > bend * between * between && distance_from_curve(narrow, next, points[k]) <= width;
  }
  return disturbed;
}

std::vector<SessionPoint> undisturbed(std::span<const SessionPoint> points) {
  const std::vector<bool> left_out = disturbed_sessions(points);
  Points result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!left_out[k]) result.push_back(points[k]);
  }
  return result;
}

}  // namespace entrain::clocks
