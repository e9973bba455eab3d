// SPDX-License-Identifier: BSD-3-Clause
#include "page/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "base/exact.hpp"
#include "base/team.hpp"
#include "trace/straight_stamps.hpp"

namespace entrain::page {

namespace {

constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t k_most_sessions = 200;   ///< dots per clock
constexpr std::size_t k_all_points = 120'000;  ///< limit for all curves
                                               ///< together
constexpr std::size_t k_least_points = 400,
                      k_most_points = 2'000;  ///< limits for one curve

/// Figures of a clock that its owner sends.
struct ClockFigures {
  std::uint32_t clock = 0;
  LocationIndex location = k_none;
  OffsetLine measured;
  std::int64_t moved = 0, bend = 0;  ///< see ClockCourse
  std::int64_t last = 0;             ///< final time of its last event
  std::uint64_t sessions = 0;
  bool zero = false;  ///< it was measured, and every time with offset 0
};

/// The chord of a map over the events of a location, at final time `x`.
OffsetLine chord(const ClockMap& map, const trace::LocationSkeleton& location, std::int64_t x) {
  OffsetLine line{.x = x,
                  .offset = map(location.first) - static_cast<std::int64_t>(location.first)};
  const std::int64_t end = map(location.last) - static_cast<std::int64_t>(location.last);
  if (location.last > location.first) {
    line.rate = static_cast<double>(end - line.offset) /
                static_cast<double>(location.last - location.first);
  }
  return line;
}

/// Distance of the time that a stamp gets from a line, which begins at the
/// location's first stamp. Offsets of damaged records are cut to 2^60 ticks, so
/// that sums of some of them fit.
std::int64_t distance(Int128 time, std::uint64_t local, const OffsetLine& line,
                      std::uint64_t first) {
  constexpr Int128 k_most_distance = Int128{1} << 60;
  const auto since = static_cast<double>(static_cast<std::int64_t>(local - first));
  const Int128 result = time - local - line.offset - std::llround(line.rate * since);
  return static_cast<std::int64_t>(std::clamp(result, -k_most_distance, k_most_distance));
}

/// Calls `use` with the stamps between which a map is straight, from the first
/// event to the last.
template <class Use>
void for_each_knot(const ClockMap& map, const trace::LocationSkeleton& location, Use use) {
  use(location.first);
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > location.first && knot.local < location.last) use(knot.local);
  }
  use(location.last);
}

std::int64_t largest_move(const ClockMap& before, const ClockMap& after,
                          const trace::LocationSkeleton& location) {
  if (before == after) return 0;
  std::int64_t most = 0;
  ClockMap::Cursor from(before), to(after);
  for (const std::uint64_t local :
       trace::straight_stamps(location.first, location.last, {&before, &after})) {
    most = std::max(most, std::abs(to(local) - from(local)));
  }
  return most;
}

std::int64_t largest_bend(const ClockMap& map, const trace::LocationSkeleton& location) {
  const OffsetLine line = chord(map, location, 0);
  ClockMap::Cursor time(map);
  std::int64_t most = 0;
  for_each_knot(map, location, [&](std::uint64_t local) {
    most = std::max(most, std::abs(distance(time(local), local, line, location.first)));
  });
  return most;
}

std::vector<ClockFigures> own_figures(const trace::Share& share, const PageMaps& maps) {
  std::vector<ClockFigures> figures;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    const std::int64_t begin = maps.after[l](location.first);
    const auto& offsets = location.clock_offsets;
    const bool zero = std::all_of(offsets.begin(), offsets.end(),
                                  [](const trace::ClockOffset& o) { return o.offset == 0; });
    figures.push_back({.location = l,
                       .measured = chord(maps.before[l], location, begin),
                       .moved = largest_move(maps.before[l], maps.after[l], location),
                       .bend = std::max(largest_bend(maps.before[l], location),
                                        largest_bend(maps.after[l], location)),
                       .last = maps.after[l](location.last),
                       .sessions = offsets.size(),
                       .zero = zero && !offsets.empty()});
  }
  return figures;
}

/// The clock that sessions are drawn against: it did not move, if any did not.
std::uint32_t reference_of(const std::vector<ClockCourse>& clocks) {
  std::uint32_t best = 0;
  const auto key = [&](std::uint32_t c) {
    return std::tuple(!clocks[c].used, clocks[c].moved_ticks != 0, !clocks[c].zero);
  };
  for (std::uint32_t c = 1; c < clocks.size(); ++c) {
    if (key(c) < key(best)) best = c;
  }
  return best;
}

/// A value of a curve on its way to all processes.
struct Stroke {
  enum class Part : std::uint8_t { before, after, session } part{};
  std::uint32_t clock = 0;
  std::int64_t x = 0, y = 0, half_width = 0;
};

/// The curves of one location, as it stands for its clock.
class Drawing {
 public:
  Drawing(const trace::LocationSkeleton& location, const PageMaps& maps, LocationIndex l,
          const Data& data, std::size_t most)
      : location_(location),
        before_(maps.before[l]),
        after_(maps.after[l]),
        data_(data),
        clock_(data.layout.clock_of[l]),
        line_(data.clocks[clock_].measured),
        most_(most) {}

  void draw(std::vector<Stroke>& strokes) const {
    add(Stroke::Part::before, before_, strokes);
    if (data_.corrected) add(Stroke::Part::after, after_, strokes);
    add_sessions(strokes);
  }

 private:
  void add(Stroke::Part part, const ClockMap& map, std::vector<Stroke>& strokes) const {
    CurveReducer reducer(data_.begin, data_.end, most_);
    ClockMap::Cursor own(map), after(after_);
    for_each_knot(map, location_, [&](std::uint64_t local) {
      reducer.add({after(local), distance(own(local), local, line_, location_.first)});
    });
    for (const Point& p : reducer.take()) strokes.push_back({part, clock_, p.x, p.y, 0});
  }

  void add_sessions(std::vector<Stroke>& strokes) const {
    // All times may have been moved by one amount, so that none is negative.
    const ClockCourse& reference = data_.clocks[data_.reference];
    const std::int64_t shift = reference.sessions > 0 ? reference.measured.offset : 0;
    const auto& offsets = location_.clock_offsets;
    const std::size_t step = offsets.size() / k_most_sessions + 1;
    for (std::size_t i = 0; i < offsets.size(); i += step) {
      const trace::ClockOffset& o = offsets[i];
      const Int128 time = Int128{o.time} + o.offset + shift;
      const double half = std::isfinite(o.stddev) ? std::clamp(o.stddev, 0.0, 1e15) : 0;
      strokes.push_back({Stroke::Part::session, clock_, after_(o.time),
                         distance(time, o.time, line_, location_.first), std::llround(half)});
    }
  }

  const trace::LocationSkeleton& location_;
  const ClockMap& before_;
  const ClockMap& after_;
  const Data& data_;
  std::uint32_t clock_;
  const OffsetLine& line_;
  std::size_t most_;
};

/// Puts strokes into the curves of their clocks, which are in the order of
/// `chosen`.
void put(const std::vector<Stroke>& strokes, const std::vector<std::uint32_t>& position,
         std::vector<Curve>& curves) {
  for (const Stroke& s : strokes) {
    Curve& curve = curves[position[s.clock]];
    switch (s.part) {
      case Stroke::Part::before:
        curve.before.push_back({s.x, s.y});
        break;
      case Stroke::Part::after:
        curve.after.push_back({s.x, s.y});
        break;
      case Stroke::Part::session:
        curve.sessions.push_back({s.x, s.y, s.half_width});
        break;
    }
  }
}

void add_bands(const trace::Definitions& definitions, const ClockBounds& bounds,
               const std::vector<std::uint32_t>& position, const std::vector<std::uint64_t>& first,
               Data& data) {
  std::unordered_map<std::uint64_t, std::uint32_t> clock_of;  // by the id of the one that is drawn
  for (std::uint32_t c = 0; c < data.layout.clocks.size(); ++c) {
    if (position[c] == k_none || !data.clocks[c].used) continue;
    clock_of[definitions.locations[data.layout.clocks[c].location].id] = c;
  }
  for (const BoundsRow& row : bounds.rows) {
    const auto found = clock_of.find(row.location);
    if (found == clock_of.end() || !row.bounded) continue;
    const std::uint32_t clock = found->second;
    const OffsetLine& line = data.clocks[clock].measured;
    const auto from_line = [&](std::int64_t time) {
      return distance(time, row.local_ticks, line, first[clock]);
    };
    data.curves[position[clock]].band.push_back(
        {row.time_ticks, from_line(row.earliest_ticks), from_line(row.latest_ticks)});
  }
}

}  // namespace

void add_clocks(const trace::Share& share, const PageMaps& maps, Data& data) {
  trace::Layout& layout = data.layout;
  data.clocks.assign(layout.clocks.size(), {});
  std::vector<ClockFigures> all = gather_everywhere(share.team, own_figures(share, maps));
  std::sort(all.begin(), all.end(),
            [](const ClockFigures& a, const ClockFigures& b) { return a.location < b.location; });
  data.begin = all.empty() ? 0 : k_most;
  data.end = all.empty() ? 1 : -k_most;
  for (const ClockFigures& figures : all) {
    const std::uint32_t clock = layout.clock_of[figures.location];
    ClockCourse& course = data.clocks[clock];
    if (!course.used) {
      layout.clocks[clock].location = figures.location;
      course = {.used = true,
                .zero = figures.zero,
                .measured = figures.measured,
                .bend_ticks = figures.bend,
                .sessions = figures.sessions};
    }
    course.moved_ticks = std::max(course.moved_ticks, figures.moved);
    data.begin = std::min(data.begin, figures.measured.x);
    data.end = std::max(data.end, figures.last);
  }
  if (data.end <= data.begin) data.end = data.begin + 1;
  data.reference = reference_of(data.clocks);
}

void add_curves(const trace::Share& share, const PageMaps& maps, const ClockBounds* bounds,
                std::span<const std::uint32_t> chosen, Data& data) {
  std::vector<std::uint32_t> position(data.layout.clocks.size(), k_none);
  std::vector<std::uint64_t> first(data.layout.clocks.size());
  for (std::uint32_t i = 0; i < chosen.size(); ++i) position[chosen[i]] = i;
  const std::size_t most = std::clamp(k_all_points / std::max<std::size_t>(2 * chosen.size(), 1),
                                      k_least_points, k_most_points);
  std::vector<Stroke> own;
  for (const LocationIndex l : share.own()) {
    const std::uint32_t clock = data.layout.clock_of[l];
    if (data.layout.clocks[clock].location != l || position[clock] == k_none) continue;
    const trace::LocationSkeleton& location = share.trace.locations[l];
    Drawing(location, maps, l, data, most).draw(own);
    first[clock] = location.first;
  }
  std::vector<std::int64_t> stamps(first.begin(), first.end());
  share.team.reduce(Team::Reduction::max, stamps);
  data.curves.clear();
  for (const std::uint32_t clock : chosen) data.curves.emplace_back().clock = clock;
  put(gather_everywhere(share.team, own), position, data.curves);
  if (bounds == nullptr) return;
  add_bands(share.trace.definitions, *bounds, position, {stamps.begin(), stamps.end()}, data);
}

}  // namespace entrain::page
