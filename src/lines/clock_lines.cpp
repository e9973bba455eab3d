// SPDX-License-Identifier: BSD-3-Clause
#include "lines/clock_lines.hpp"

#include <array>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "lines/offsets.hpp"

namespace entrain::lines {

namespace {

struct Point {
  double x = 0, y = 0;
};

/// Corridor of the offset of clock `high` against clock `low`, over the time of `high`.
struct Corridor {
  std::uint32_t low = 0, high = 0;
  std::int64_t base = 0;              ///< time at x = 0
  std::vector<Point> floor, ceiling;  ///< the offset lies above the first and below the second

  // The line inside it: offset + rate * x.
  double offset = 0, rate = 0;
  double looseness = 0;  ///< mean logarithm of the distances of the constraints
};

/// Keeps the vertices of the lower hull (sign 1) or the upper one (sign -1), in order of x.
void keep_hull(std::vector<Point>& points, double sign) {
  std::ranges::sort(points, [&](const Point& a, const Point& b) {
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
  static constexpr double at_the_limit = 0.999;  ///< share of a limit that counts as reached
  /// Least gain in looseness of a hull edge over the middle line: half the distances.
  static constexpr double closer = std::numbers::ln2;
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

/// `group_of`: as in find_clock_lines(), never empty.
std::vector<Corridor> corridors_of(std::span<const constraints::ClockConstraint> constraints,
                                   std::span<const std::uint32_t> group_of) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Corridor> by_pair;
  for (const constraints::ClockConstraint& constraint : constraints) {
    const std::uint32_t from = group_of[constraint.from];
    const std::uint32_t to = group_of[constraint.to];
    if (from == to) continue;
    const auto [low, high] = std::minmax(from, to);
    const std::int64_t time = to == high ? constraint.to_time : constraint.from_time;
    const auto [found, is_new] = by_pair.try_emplace({low, high});
    Corridor& corridor = found->second;
    if (is_new) {
      corridor.low = low;
      corridor.high = high;
      corridor.base = time;
    }
    const auto x = static_cast<double>(time - corridor.base);
    const auto slack = static_cast<double>(constraint.slack);
    if (to == high) {
      corridor.floor.push_back({x, -slack});
    } else {
      corridor.ceiling.push_back({x, slack});
    }
  }
  std::vector<Corridor> corridors;
  for (auto& [pair, corridor] : by_pair) {
    if (corridor.floor.empty() || corridor.ceiling.empty()) continue;
    find_line(corridor);
    corridors.push_back(std::move(corridor));
  }
  std::ranges::sort(corridors, [](const Corridor& a, const Corridor& b) {
    return std::tie(a.looseness, a.low, a.high) < std::tie(b.looseness, b.low, b.high);
  });
  return corridors;
}

/// Moves whole components later, as little as possible, until nothing between them arrives before
/// it was sent. If that is impossible, all components stay.
void order_components(std::vector<ClockLine>& lines,
                      std::span<const constraints::ClockConstraint> constraints) {
  Offsets offsets(std::vector<char>(lines.size(), 0));
  std::vector<constraints::ClockConstraint> between;
  for (constraints::ClockConstraint one : constraints) {
    one.slack += lines[one.to].shift(one.to_time) - lines[one.from].shift(one.from_time);
    one.from = lines[one.from].component;
    one.to = lines[one.to].component;
    if (one.from != one.to) between.push_back(one);
  }
  if (between.empty()) return;
  offsets.add(between, std::vector<std::int64_t>(lines.size(), 0));
  const auto shift = offsets.find_least();
  if (!shift) return;
  for (ClockLine& line : lines) line.offset += (*shift)[line.component];
}

}  // namespace

std::vector<ClockLine> find_clock_lines(std::size_t clocks,
                                        std::span<const constraints::ClockConstraint> constraints,
                                        std::span<const std::uint32_t> groups) {
  std::vector<std::uint32_t> group_of(groups.begin(), groups.end());
  if (groups.empty()) {
    group_of.resize(clocks);
    std::iota(group_of.begin(), group_of.end(), 0u);
  }
  std::vector<ClockLine> lines(clocks);
  DisjointSets components(clocks);
  const std::vector<Corridor> corridors = corridors_of(constraints, group_of);
  std::vector<std::vector<const Corridor*>> tree(clocks);
  for (const Corridor& corridor : corridors) {
    if (!components.join(corridor.low, corridor.high)) continue;
    tree[corridor.low].push_back(&corridor);
    tree[corridor.high].push_back(&corridor);
  }
  std::vector<bool> known(clocks, false);
  for (std::uint32_t root = 0; root < clocks; ++root) {
    if (known[root] || group_of[root] != root) continue;
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
  for (std::uint32_t c = 0; c < clocks; ++c) lines[c] = lines[group_of[c]];
  order_components(lines, constraints);
  return lines;
}

}  // namespace entrain::lines
