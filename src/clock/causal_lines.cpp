// SPDX-License-Identifier: BSD-3-Clause
#include "clock/causal_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace entrain::clock {

namespace {

struct Point {
  double x = 0, y = 0;
};

/// The corridor of the offset of clock `high` against clock `low`, over the time of `high`.
struct Corridor {
  std::uint32_t low = 0, high = 0;
  std::int64_t base = 0;              ///< time at x = 0
  std::vector<Point> floor, ceiling;  ///< the offset lies above the first and below the second

  // Its middle line: offset + rate * x.
  double offset = 0, rate = 0;
  double width = 0;  ///< below 0: no line fits, the clocks bend
};

/// Keeps the corners of the lower hull (sign 1) or the upper one (sign -1), in order of x.
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

/// The gap is concave in the rate: its largest value is found by cutting the range.
void find_line(Corridor& corridor) {
  constexpr double k_fastest = 0.05;  // 50,000 ppm; quartz is within 200
  keep_hull(corridor.ceiling, 1);
  keep_hull(corridor.floor, -1);
  const auto width = [&](double rate) {
    const auto [top, bottom] = gap(corridor, rate);
    return top - bottom;
  };
  double low = -k_fastest, high = k_fastest;
  for (int i = 0; i < 200; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (width(a) < width(b)) {
      low = a;
    } else {
      high = b;
    }
  }
  corridor.rate = (low + high) / 2;
  const auto [top, bottom] = gap(corridor, corridor.rate);
  corridor.offset = bottom + (top - bottom) / 2;
  corridor.width = top - bottom;
}

std::vector<Corridor> corridors_of(std::span<const CausalBound> bounds) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Corridor> by_pair;
  for (const CausalBound& bound : bounds) {
    const auto [low, high] = std::minmax(bound.from, bound.to);
    const std::int64_t time = bound.to == high ? bound.to_time : bound.from_time;
    const auto [found, is_new] = by_pair.try_emplace({low, high});
    Corridor& corridor = found->second;
    if (is_new) {
      corridor.low = low;
      corridor.high = high;
      corridor.base = time;
    }
    const auto x = static_cast<double>(time - corridor.base);
    const auto slack = static_cast<double>(bound.slack);
    if (bound.to == high) {
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
  std::sort(corridors.begin(), corridors.end(), [](const Corridor& a, const Corridor& b) {
    return std::tuple(std::abs(a.width), a.low, a.high) <
           std::tuple(std::abs(b.width), b.low, b.high);
  });
  return corridors;
}

}  // namespace

std::vector<ClockLine> align_by_lines(std::size_t clocks, std::span<const CausalBound> bounds) {
  std::vector<ClockLine> lines(clocks);
  std::vector<std::uint32_t> component(clocks);
  std::iota(component.begin(), component.end(), 0u);
  const auto find = [&](std::uint32_t c) {
    while (component[c] != c) c = component[c] = component[component[c]];
    return c;
  };
  const std::vector<Corridor> corridors = corridors_of(bounds);
  std::vector<std::vector<const Corridor*>> tree(clocks);
  for (const Corridor& corridor : corridors) {
    const std::uint32_t a = find(corridor.low), b = find(corridor.high);
    if (a == b) continue;
    component[std::max(a, b)] = std::min(a, b);
    tree[corridor.low].push_back(&corridor);
    tree[corridor.high].push_back(&corridor);
  }
  std::vector<bool> known(clocks, false);
  for (std::uint32_t root = 0; root < clocks; ++root) {
    if (known[root]) continue;
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
  return lines;
}

}  // namespace entrain::clock
