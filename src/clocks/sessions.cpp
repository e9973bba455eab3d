// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/sessions.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::clocks {
namespace {

/// How far a crystal's rate may be from its mean between two sessions, ticks per tick. Mostly it is
/// less than a tenth of that. The smaller the value, the more do all exchanges of long sessions
/// decide together: with 1e-4 rms errors of recorded traces are up to 1.2 times as large.
constexpr double k_unknown_wander = 1e-5;
/// Uncertainty of a rate that nothing was measured of: wall clocks are slewed by 500 ppm, and
/// crystals wander besides.
constexpr double k_unknown_rate = 5.5e-4;

/// Half-widths beyond these are no measurements, ticks.
constexpr double k_least_width = 1e-3, k_largest_width = 0x1p61;

SessionPoint point_of_record(const Session& session, bool reference) {
  SessionPoint point{session.record.time, session.record.offset, std::nullopt};
  const double width = session.record.stddev;
  if (reference) {
    point.half_width = 0;
  } else if (width >= k_least_width && width <= k_largest_width) {
    point.half_width = width;
  }
  return point;
}

const Sample& shortest_of(const std::vector<Sample>& samples) {
  return *std::ranges::min_element(samples, {}, &Sample::round_trip);
}

double half_of(const Sample& sample) { return static_cast<double>((sample.round_trip + 1) / 2); }

/// The uncertainty of the record beyond that of its own exchange: it comes from the way between the
/// parent and the master, and from the steps in which the clocks advance.
double beyond_the_exchange(const Session& session) {
  for (const Sample& sample : session.samples) {
    if (sample.local == session.record.time && sample.offset == session.record.offset) {
      return std::max(0.0, session.record.stddev - half_of(sample));
    }
  }
  return 0;
}

/// The rate of the offset around a session, and its uncertainty.
struct Rate {
  double slope = 0;
  double uncertainty = 0;
};

double slope(const SessionPoint& a, const SessionPoint& b) {
  return static_cast<double>(b.offset - a.offset) / difference(b.local, a.local);
}

/// Largest change of the rate from one pair of sessions to the next.
double largest_change(const std::vector<SessionPoint>& points) {
  double largest = 0;
  for (std::size_t k = 1; k + 1 < points.size(); ++k) {
    largest = std::max(largest,
                       std::abs(slope(points[k], points[k + 1]) - slope(points[k - 1], points[k])));
  }
  return largest;
}

Rate rate_at(const std::vector<SessionPoint>& points, std::size_t k, double change) {
  if (points.size() < 2) return {0, k_unknown_rate};
  const SessionPoint& a = points[k == 0 ? 0 : k - 1];
  const SessionPoint& b = points[std::min(k + 1, points.size() - 1)];
  const double widths = a.half_width.value_or(0) + b.half_width.value_or(0);
  return {slope(a, b),
          (points.size() < 3 ? k_unknown_wander : change) + widths / difference(b.local, a.local)};
}

SessionPoint middle_of_allowed(const Session& session, const Rate& rate) {
  const Sample& best = shortest_of(session.samples);
  const double extra = beyond_the_exchange(session);
  double low = -half_of(best) - extra, high = -low;
  for (const Sample& sample : session.samples) {
    const double away = difference(sample.local, best.local);
    const double middle = static_cast<double>(sample.offset - best.offset) - rate.slope * away;
    const double half = half_of(sample) + extra + rate.uncertainty * std::abs(away);
    low = std::max(low, middle - half);
    high = std::min(high, middle + half);
  }
  if (low > high) return {best.local, best.offset, half_of(best) + extra};
  // Adds a tick for the rounding of the middle.
  return {best.local, best.offset + std::llrint((low + high) / 2), (high - low) / 2 + 1};
}

SessionPoint mean_of(const Session& session, bool weighted) {
  const Sample& best = shortest_of(session.samples);
  const double shortest = std::max(1.0, static_cast<double>(best.round_trip));
  double weights = 0, time = 0, offset = 0, half = 0;
  for (const Sample& sample : session.samples) {
    if (!sample.kept) continue;
    const double ratio = shortest / std::max(1.0, static_cast<double>(sample.round_trip));
    const double weight = weighted ? ratio * ratio : 1;
    weights += weight;
    time += weight * difference(sample.local, best.local);
    offset += weight * static_cast<double>(sample.offset - best.offset);
    half += weight * half_of(sample);
  }
  if (weights == 0) return point_of_record(session, false);
  const auto moved = static_cast<std::uint64_t>(std::llrint(time / weights));
  return {best.local + moved, best.offset + std::llrint(offset / weights),
          half / weights + beyond_the_exchange(session) + 1};
}

}  // namespace

std::vector<SessionPoint> record_points(const Sessions& clock) {
  std::vector<SessionPoint> points;
  for (const Session& session : clock.sessions) {
    points.push_back(point_of_record(session, clock.reference));
  }
  return points;
}

std::vector<SessionPoint> condense(const Sessions& clock, Condensing rule) {
  const std::vector<SessionPoint> records = record_points(clock);
  std::vector<SessionPoint> points = records;
  const double change = largest_change(records);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Session& session = clock.sessions[k];
    if (session.samples.empty()) continue;
    points[k] = rule == Condensing::shortest
                    ? middle_of_allowed(session, rate_at(records, k, change))
                    : mean_of(session, rule == Condensing::weighted);
  }
  return points;
}

}  // namespace entrain::clocks
