// SPDX-License-Identifier: BSD-3-Clause
#include "lines/clock_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/exact.hpp"

namespace entrain::lines {

namespace {

struct Point {
  double x = 0, y = 0;
};

/// Corridor of the offset of clock `high` against clock `low`, over the time of `high`.
struct Corridor {
  std::uint32_t low = 0, high = 0;
  double expected_rate = 0;           ///< rate if the stamps of both had equal rates
  std::int64_t base = 0;              ///< time at x = 0
  std::vector<Point> floor, ceiling;  ///< the offset lies above the first and below the second

  // The line inside it: offset + rate * x.
  double offset = 0, rate = 0;
  double looseness = 0;  ///< mean logarithm of the distances of the constraints
};

/// Keeps the vertices of the lower hull (sign 1) or the upper one (sign -1), in order of x.
void keep_hull(std::vector<Point>& points, double sign) {
  std::sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return a.x != b.x ? a.x < b.x : sign * a.y < sign * b.y;
  });
  std::vector<Point> hull;
  for (const Point& p : points) {
    if (!hull.empty() && hull.back().x == p.x) continue;
    while (hull.size() >= 2) {
      const Point &a = hull[hull.size() - 2], &b = hull.back();
      const double turn = (b.x - a.x) * (p.y - a.y) - (p.x - a.x) * (b.y - a.y);
      if (sign * turn > 0) break;
      hull.pop_back();
    }
    hull.push_back(p);
  }
  points = std::move(hull);
}

/// Lowest ceiling and highest floor of lines with this rate.
std::pair<double, double> gap(const Corridor& corridor, double rate) {
  double top = std::numeric_limits<double>::max(), bottom = -top;
  for (const Point& p : corridor.ceiling) top = std::min(top, p.y - rate * p.x);
  for (const Point& p : corridor.floor) bottom = std::max(bottom, p.y - rate * p.x);
  return {top, bottom};
}

struct Line {
  double offset = 0, rate = 0;
};

/// Lines through corridors; clock_lines_test.cpp. Chosen, not measured.
struct CorridorThresholds {
  /// Limits on the rate between two clocks, relative. Quartz is within the first. Few constraints
  /// allow much steeper lines, so a limit is tried only if no line fits within those before it.
  static constexpr std::array<double, 4> most_rates{2.5e-4, 1e-3, 1e-2, 5e-2};
  static constexpr int search_steps = 200;       ///< ternary search of the widest gap
  static constexpr int bisections = 60;          ///< search of the steepest line that fits
  static constexpr double at_the_limit = 0.999;  ///< share of a limit that counts as reached
  /// Least gain in looseness of a hull edge over the middle line: half the distances.
  static constexpr double closer = std::numbers::ln2;
  /// Samples of rates over all corridors, some seconds; and per corridor. 64 are exact to a
  /// thousandth of the range.
  static constexpr std::size_t all_samples = std::size_t{1} << 26;
  static constexpr std::size_t least_samples = 64, most_samples = 4096;
  static constexpr std::size_t most_passes = 100;  ///< passes over the slacks between components
};

/// Middle of the widest gap. Its width is concave in the rate: ternary search finds the maximum.
Line middle_line(const Corridor& corridor, double fastest) {
  const auto width = [&](double rate) {
    const auto [top, bottom] = gap(corridor, rate);
    return top - bottom;
  };
  double low = -fastest, high = fastest;
  for (int i = 0; i < CorridorThresholds::search_steps; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (width(a) < width(b)) {
      low = a;
    } else {
      high = b;
    }
  }
  const double rate = (low + high) / 2;
  const auto [top, bottom] = gap(corridor, rate);
  return {bottom + (top - bottom) / 2, rate};
}

/// Weight of a rate relative to the expected one: Student's distribution with four degrees of
/// freedom, which tolerates outliers.
double rate_weight(const Corridor& corridor, double rate, const KnownClocks& known) {
  const double off = (rate - corridor.expected_rate) / known.typical_rate;
  return std::pow(1 + off * off / 4, -2.5);
}

/// Mean logarithm of the distances of these points from a line. The two points on the line do not
/// count.
double looseness_of(const std::vector<Point>& points, const Line& line) {
  double sum = 0;
  for (const Point& p : points) sum += std::log1p(std::abs(p.y - line.offset - line.rate * p.x));
  return points.size() > 2 ? sum / static_cast<double>(points.size() - 2)
                           : std::numeric_limits<double>::max();
}

/// Chooses the middle line, or an edge of either hull if constraints are twice as close to it. The
/// middle line is wrong where one of two processes always waits for the other: its receives come at
/// once, but its own messages are received late, by the difference of the work.
void find_line(Corridor& corridor) {
  std::vector<Point> all = corridor.floor;
  all.insert(all.end(), corridor.ceiling.begin(), corridor.ceiling.end());
  keep_hull(corridor.ceiling, 1);
  keep_hull(corridor.floor, -1);
  corridor.looseness = std::numeric_limits<double>::infinity();
  double farther = 0;
  const auto attempt = [&](const Line& line) {
    const double looseness = looseness_of(all, line);
    if (!(looseness < corridor.looseness - farther)) return;
    farther = 0;
    corridor.looseness = looseness;
    corridor.offset = line.offset;
    corridor.rate = line.rate;
  };
  double fastest = 0;
  Line middle;
  for (const double rate : CorridorThresholds::most_rates) {
    fastest = rate;
    middle = middle_line(corridor, fastest);
    const auto [top, bottom] = gap(corridor, middle.rate);
    // A rate inside the range is the maximum, even if no line fits.
    if (top >= bottom || std::abs(middle.rate) < CorridorThresholds::at_the_limit * fastest) break;
  }
  attempt(middle);
  farther = CorridorThresholds::closer;
  for (const auto* hull : {&corridor.floor, &corridor.ceiling}) {
    for (std::size_t i = 1; i < hull->size(); ++i) {
      const Point &a = (*hull)[i - 1], &b = (*hull)[i];
      const double rate = (b.y - a.y) / (b.x - a.x);
      if (std::abs(rate) < fastest) attempt({a.y - rate * a.x, rate});
    }
  }
}

/// Replaces the line by the weighted mean of all lines that fit and have at most the usual rate, if
/// the corridor leaves rates open (after few messages, or in a short part of the run). Otherwise by
/// no line, since the clocks are aligned. `samples`: number of rates of the mean.
void take_mean_rate(Corridor& corridor, const KnownClocks& known, int samples) {
  corridor.offset = corridor.rate = 0;
  const auto width = [&](double rate) {
    const auto [top, bottom] = gap(corridor, rate);
    return top - bottom;
  };
  // The width is concave in the rate: all that fit are one interval around the widest. Lines so far
  // may be far too steep: the usual rate must be within reach.
  const double fastest = std::max(std::abs(corridor.expected_rate) + known.usual_rate,
                                  CorridorThresholds::most_rates[1]);
  const double widest = middle_line(corridor, fastest).rate;
  const auto last_that_fits = [&](double outside) {
    double inside = widest;
    if (width(outside) >= 0) return outside;
    for (int i = 0; i < CorridorThresholds::bisections; ++i) {
      const double middle = (inside + outside) / 2;
      (width(middle) >= 0 ? inside : outside) = middle;
    }
    return inside;
  };
  if (width(widest) < 0) return;
  const double least = last_that_fits(-fastest), most = last_that_fits(fastest);
  const double low = std::max(least, corridor.expected_rate - known.usual_rate);
  const double high = std::min(most, corridor.expected_rate + known.usual_rate);
  if (most - least < 2 * known.typical_rate || !(high > low)) return;
  double weights = 0, rates = 0;
  for (int i = 0; i < samples; ++i) {
    const double rate = low + (high - low) * (i + 0.5) / samples;
    const double weight = std::max(width(rate), 0.0) * rate_weight(corridor, rate, known);
    weights += weight;
    rates += weight * rate;
  }
  if (!(weights > 0)) return;
  corridor.rate = rates / weights;
  const auto [top, bottom] = gap(corridor, corridor.rate);
  corridor.offset = bottom + (top - bottom) / 2;
}

/// Samples per corridor: fewer if there are many corridors.
int samples_of_each(std::size_t corridors) {
  return static_cast<int>(
      std::clamp<std::size_t>(CorridorThresholds::all_samples / std::max<std::size_t>(corridors, 1),
                              CorridorThresholds::least_samples, CorridorThresholds::most_samples));
}

std::uint32_t group_of(const KnownClocks& known, std::uint32_t clock) {
  return known.group_of.empty() ? clock : known.group_of[clock];
}

std::vector<Corridor> corridors_of(std::span<const constraints::ClockConstraint> constraints,
                                   const KnownClocks& known) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Corridor> by_pair;
  for (const constraints::ClockConstraint& constraint : constraints) {
    const std::uint32_t from = group_of(known, constraint.from);
    const std::uint32_t to = group_of(known, constraint.to);
    if (from == to) continue;
    const auto [low, high] = std::minmax(from, to);
    const std::int64_t time = to == high ? constraint.to_time : constraint.from_time;
    const auto [found, is_new] = by_pair.try_emplace({low, high});
    Corridor& corridor = found->second;
    if (is_new) {
      corridor.low = low;
      corridor.high = high;
      corridor.base = time;
      if (!known.rates.empty()) {
        corridor.expected_rate = (1 + known.rates[low]) / (1 + known.rates[high]) - 1;
      }
    }
    const auto x = static_cast<double>(time - corridor.base);
    const auto slack = static_cast<double>(constraint.slack);
    if (to == high) {
      corridor.floor.push_back({x, -slack});
    } else {
      corridor.ceiling.push_back({x, slack});
    }
  }
  const int samples = samples_of_each(by_pair.size());
  std::vector<Corridor> corridors;
  for (auto& [pair, corridor] : by_pair) {
    if (corridor.floor.empty() || corridor.ceiling.empty()) continue;
    find_line(corridor);
    if (!known.rates.empty()) take_mean_rate(corridor, known, samples);
    corridors.push_back(std::move(corridor));
  }
  std::sort(corridors.begin(), corridors.end(), [](const Corridor& a, const Corridor& b) {
    return std::tie(a.looseness, a.low, a.high) < std::tie(b.looseness, b.low, b.high);
  });
  return corridors;
}

std::int64_t aligned(const ClockLine& line, std::int64_t t) {
  return t + line.offset + std::llround(line.rate * static_cast<double>(t - line.base));
}

/// Moves whole components later until nothing between them arrives before it was sent. If moves do
/// not end, all components stay.
void order_components(std::vector<ClockLine>& lines,
                      std::span<const constraints::ClockConstraint> constraints) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> slacks;  // smallest
  for (const constraints::ClockConstraint& constraint : constraints) {
    const std::pair between{lines[constraint.from].component, lines[constraint.to].component};
    if (between.first == between.second) continue;
    const std::int64_t moved =
        (aligned(lines[constraint.to], constraint.to_time) - constraint.to_time) -
        (aligned(lines[constraint.from], constraint.from_time) - constraint.from_time);
    const auto [found, is_new] = slacks.try_emplace(between, constraint.slack + moved);
    if (!is_new) found->second = std::min(found->second, constraint.slack + moved);
  }
  constexpr std::int64_t k_latest = std::int64_t{1} << 61;  // no time is later
  std::vector<std::int64_t> shift(lines.size(), 0);         // per component
  bool changed = !slacks.empty();
  for (std::size_t step = 0; changed && step < CorridorThresholds::most_passes; ++step) {
    changed = false;
    for (const auto& [between, slack] : slacks) {
      const Int128 least = Int128{shift[between.first]} - slack;
      if (shift[between.second] >= least) continue;
      if (least > k_latest) return;
      shift[between.second] = static_cast<std::int64_t>(least);
      changed = true;
    }
  }
  if (changed) return;
  for (ClockLine& line : lines) line.offset += shift[line.component];
}

}  // namespace

std::vector<ClockLine> find_clock_lines(std::size_t clocks,
                                        std::span<const constraints::ClockConstraint> constraints,
                                        const KnownClocks& known_clocks) {
  const auto group = [&](std::uint32_t c) { return group_of(known_clocks, c); };
  std::vector<ClockLine> lines(clocks);
  DisjointSets components(clocks);
  const std::vector<Corridor> corridors = corridors_of(constraints, known_clocks);
  std::vector<std::vector<const Corridor*>> tree(clocks);
  for (const Corridor& corridor : corridors) {
    if (!components.join(corridor.low, corridor.high)) continue;
    tree[corridor.low].push_back(&corridor);
    tree[corridor.high].push_back(&corridor);
  }
  std::vector<bool> known(clocks, false);
  for (std::uint32_t root = 0; root < clocks; ++root) {
    if (known[root] || group(root) != root) continue;
    std::vector<std::uint32_t> open{root};
    known[root] = true;
    lines[root].component = root;
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (const Corridor* corridor : tree[from]) {
        const bool up = corridor->low == from;
        const std::uint32_t to = up ? corridor->high : corridor->low;
        if (known[to]) continue;
        known[to] = true;
        // t_from = t_to + offset + rate * (t_to - base)
        ClockLine step{corridor->base, std::llround(corridor->offset), corridor->rate, root};
        if (!up) {
          // The inverse: at base + offset of the lower clock the higher one shows base.
          step.base = corridor->base + step.offset;
          step.offset = -step.offset;
          step.rate = -corridor->rate / (1 + corridor->rate);
        }
        const ClockLine& parent = lines[from];
        const auto run = static_cast<double>(step.base + step.offset - parent.base);
        lines[to] = {step.base, step.offset + parent.offset + std::llround(parent.rate * run),
                     step.rate + parent.rate * (1 + step.rate), root};
        open.push_back(to);
      }
    }
  }
  for (std::uint32_t c = 0; c < clocks; ++c) lines[c] = lines[group(c)];
  order_components(lines, constraints);
  return lines;
}

}  // namespace entrain::lines
