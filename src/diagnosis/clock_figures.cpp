// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/clock_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "base/team.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::diagnosis {

namespace {

/// No clock drifts faster than this without being set, ticks per tick.
constexpr double k_fastest_drift = 1e-3;
/// A step is at least this share of all that the distance changes: less is how maps bend.
constexpr double k_step_share = 0.4;
/// A line describes a clock if what it leaves, rms, is at most this share of the distance, rms.
constexpr double k_bend_share = 0.1;

/// A distance from the common time, at a stamp.
struct Knot {
  double x = 0;        ///< ticks since the first stamp
  std::int64_t y = 0;  ///< corrected time minus time as measured, ticks
};

/// The distances between which it changes along straight lines.
std::vector<Knot> distance_of(const trace::LocationSkeleton& location, const ClockMap& before,
                              const ClockMap& after) {
  std::vector<Knot> knots;
  ClockMap::Cursor from(before), to(after);
  for (const std::uint64_t stamp :
       trace::straight_stamps(location.first, location.last, {&before, &after})) {
    knots.push_back({static_cast<double>(stamp - location.first), to(stamp) - from(stamp)});
  }
  return knots;
}

/// Moments of a function that is straight between knots; y counts from its first value.
struct Moments {
  double span = 0, mean = 0, slope = 0, rms = 0, rest = 0;  ///< rest: rms distance from the line

  explicit Moments(std::span<const Knot> knots) {
    const Knot& first = knots.front();
    double y1 = 0, xy = 0, yy = 0;
    span = knots.back().x - first.x;
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
      const double x = knots[i].x - first.x, width = knots[i + 1].x - knots[i].x;
      const auto a = static_cast<double>(knots[i].y - first.y);
      const auto b = static_cast<double>(knots[i + 1].y - first.y);
      y1 += width * (a + b) / 2;
      xy += width * (x * (a + b) / 2 + width * (a / 6 + b / 3));
      yy += width * (a * a + a * b + b * b) / 3;
    }
    if (span <= 0) return;
    mean = y1 / span;
    slope = (xy - y1 * span / 2) / (span * span * span / 12);
    const double variance = yy / span - mean * mean;
    rest = std::sqrt(std::max(0.0, variance - slope * slope * span * span / 12));
    mean += static_cast<double>(first.y);
    rms = std::sqrt(std::max(0.0, variance) + mean * mean);
  }
};

bool has_events_in(const trace::EventList& events, std::uint64_t first, std::uint64_t last) {
  const std::size_t at = events.lower_bound(first);
  return at < events.size() && events.time(at) <= last;
}

/// The knot at which the last step ends, which is between neighbouring events; 0: the clock was not
/// set. What two knots say may be a drift.
std::size_t last_step(const trace::LocationSkeleton& location, std::span<const Knot> knots,
                      std::int64_t range) {
  std::size_t end = 0;
  for (std::size_t i = 0; knots.size() > 2 && i + 1 < knots.size(); ++i) {
    const double change = std::abs(static_cast<double>(knots[i + 1].y - knots[i].y));
    const auto first = static_cast<std::uint64_t>(knots[i].x),
               last = static_cast<std::uint64_t>(knots[i + 1].x);
    const bool is_step =
        change > k_fastest_drift * (knots[i + 1].x - knots[i].x) &&
        change >= k_step_share * static_cast<double>(range) &&
        !has_events_in(location.events, location.first + first + 1, location.first + last - 1);
    if (is_step) end = i + 1;
  }
  return end;
}

void describe_distance(const trace::LocationSkeleton& location, const ClockMap& before,
                       const ClockMap& after, Figures& figures) {
  const std::vector<Knot> knots = distance_of(location, before, after);
  const std::int64_t least = figures.least = std::ranges::min_element(knots, {}, &Knot::y)->y;
  const std::int64_t most = figures.most = std::ranges::max_element(knots, {}, &Knot::y)->y;
  const Moments moments(knots);
  figures.offset = knots.size() == 1 ? least : std::llround(moments.mean);
  const bool drifts = std::abs(moments.slope) * moments.span > k_rounding;
  figures.slope = drifts ? moments.slope : 0;
  figures.is_bent = moments.rest > k_rounding && moments.rest > k_bend_share * moments.rms;
  if (!figures.is_bent && std::abs(figures.slope) <= k_fastest_drift) return;
  const std::size_t step = last_step(location, knots, most - least);
  if (step == 0) return;
  figures.since = after(location.first + static_cast<std::uint64_t>(knots[step].x));
  const std::span<const Knot> rest = std::span(knots).subspan(step);
  figures.offset = rest.size() == 1 ? rest.front().y : std::llround(Moments(rest).mean);
}

/// Median and maximum of the bounds of a location where it communicates.
class BoundsOfLocations {
 public:
  explicit BoundsOfLocations(const ClockBounds* bounds) : bounds_(bounds) {
    if (bounds == nullptr) return;
    for (const LocationBounds& one : bounds->locations) whole_[one.location] = &one;
    for (std::size_t i = 0; i < bounds->rows.size(); ++i) {
      auto& [first, end] = rows_.try_emplace(bounds->rows[i].location, i, i).first->second;
      end = i + 1;
    }
  }

  void describe(std::uint64_t id, const trace::EventList& events, Figures& figures) const {
    std::vector<std::int64_t> found;
    const auto half =
        static_cast<std::uint64_t>(bounds_ == nullptr ? 0 : bounds_->window_ticks / 2);
    for (const BoundsRow& row : rows_of(id)) {
      const std::uint64_t first = row.local_ticks - std::min(row.local_ticks, half);
      if (row.bounded && has_events_in(events, first, row.local_ticks + half)) {
        found.push_back(row.bound_ticks);
      }
    }
    if (!found.empty()) {
      std::ranges::sort(found);
      figures.bound = found[found.size() / 2], figures.worst_bound = found.back();
    } else if (const auto one = whole_.find(id); one != whole_.end()) {
      const LocationBounds& whole = *one->second;
      if (whole.unbounded == whole.windows) return;
      figures.bound = whole.median_ticks, figures.worst_bound = whole.worst_ticks;
    }
  }

 private:
  [[nodiscard]] std::span<const BoundsRow> rows_of(std::uint64_t id) const {
    const auto at = rows_.find(id);
    if (at == rows_.end()) return {};
    return std::span(bounds_->rows).subspan(at->second.first, at->second.second - at->second.first);
  }

  const ClockBounds* bounds_;
  std::unordered_map<std::uint64_t, const LocationBounds*> whole_;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>> rows_;
};

}  // namespace

std::vector<Figures> all_figures(const trace::Share& share, std::span<const ClockMap> before,
                                 std::span<const ClockMap> after, const ClockBounds* bounds) {
  const BoundsOfLocations bounds_of(bounds);
  std::vector<Figures> own;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    Figures& figures = own.emplace_back();
    figures.location = l;
    figures.begin = after[l](location.first);
    figures.is_measured = !location.clock_offsets.empty();
    describe_distance(location, before[l], after[l], figures);
    bounds_of.describe(share.trace.definitions.locations[l].id, location.events, figures);
  }
  std::vector<Figures> all = gather_everywhere(share.team, own);
  std::ranges::sort(all, {}, &Figures::location);
  return all;
}

std::vector<std::optional<Figures>> by_clock(const std::vector<Figures>& all,
                                             const trace::Layout& layout) {
  // Where two move as far, the one with a step: the other has events beside the evidence of it.
  const auto size = [](const Figures& f) {
    return std::pair(std::max(std::abs(f.least), std::abs(f.most)), f.since.has_value());
  };
  std::vector<std::optional<Figures>> result(layout.clocks.size());
  for (const Figures& figures : all) {
    std::optional<Figures>& known = result[layout.clock_of[figures.location]];
    if (!known || size(figures) > size(*known)) known = figures;
  }
  return result;
}

bool stays_at(const Figures& figures, std::int64_t distance) {
  return figures.most - distance <= k_rounding && distance - figures.least <= k_rounding;
}

std::int64_t common_distance(const std::vector<std::optional<Figures>>& clocks) {
  std::vector<std::int64_t> offsets;
  for (const std::optional<Figures>& figures : clocks) {
    if (!figures) continue;
    if (stays_at(*figures, 0)) return 0;
    offsets.push_back(figures->offset);
  }
  if (offsets.empty()) return 0;
  std::ranges::sort(offsets);
  // Of two in the middle the one that moved less.
  const std::int64_t low = offsets[(offsets.size() - 1) / 2], high = offsets[offsets.size() / 2];
  return std::abs(high) < std::abs(low) ? high : low;
}

std::int64_t size_of(const Figures& figures, std::int64_t common) {
  return std::max(std::abs(figures.least - common), std::abs(figures.most - common));
}

}  // namespace entrain::diagnosis
