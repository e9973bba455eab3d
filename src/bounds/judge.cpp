// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "bounds/clock_facts.hpp"
#include "bounds/possible_times.hpp"

namespace entrain::bounds {

namespace {

/// Parts of a window in which bends of maps are evaluated separately. Chosen, not measured.
constexpr std::uint32_t k_window_parts = 4;

/// Distance between a map and the base line of its clock, over spans of stamps.
class Distance {
 public:
  Distance(const ClockMap& map, const constraints::BaseLine& line) : map_(map), line_(line) {}

  [[nodiscard]] std::int64_t at(std::uint64_t local) const { return map_(local) - line_(local); }

  /// All distances from stamp `first` to `last`, plus the rounding of both: a tick each.
  [[nodiscard]] TickRange over(std::uint64_t first, std::uint64_t last) const {
    TickRange range;
    range.take(at(first));
    range.take(at(last));
    const auto knots = map_.knots();
    auto knot = std::upper_bound(knots.begin(), knots.end(), first,
                                 [](std::uint64_t x, const ClockKnot& k) { return x < k.local; });
    for (; knot != knots.end() && knot->local < last; ++knot) {
      range.take(at(knot->local));
      // The pieces that meet at a knot may round it differently.
      if (knot->local + 1 < last) range.take(at(knot->local + 1));
    }
    range.least -= 2;
    range.most += 2;
    return range;
  }

 private:
  const ClockMap& map_;
  const constraints::BaseLine& line_;
};

constexpr std::int64_t k_unknown = -1;

/// Figures of one location, to send to other processes: see LocationBounds.
struct LocationFigures {
  LocationIndex location = k_none;
  std::uint64_t windows = 0, unbounded = 0;
  std::int64_t worst = 0, worst_time = 0, median = 0, outside = 0, outside_time = 0;
  /// Worst bound if sessions had probable half-widths; k_unknown: unbounded.
  std::int64_t assumed = k_unknown;
};

/// Judges the times of one location.
class Judge {
 public:
  Judge(const ProvenIntervals& proven, const ClockMap& reference, LocationIndex l,
        const trace::LocationSkeleton& location, const ClockMap& map)
      : proven_(proven),
        index_(l),
        line_(proven.lines[proven.clock_of[l]]),
        location_(location),
        map_(map),
        distance_(map, line_),
        reference_line_(proven.lines[proven.clock_of[proven.reference]]),
        reference_(reference, reference_line_),
        possible_(proven, reference) {}

  /// `id`: of the location, for `rows`, which may be null.
  [[nodiscard]] LocationFigures run(std::uint64_t id, std::vector<BoundsRow>* rows) const {
    LocationFigures result{.location = index_};
    std::vector<std::int64_t> bounds;
    for (std::uint32_t w = 0; w < proven_.windows; ++w) {
      const std::int64_t begin = proven_.begin + static_cast<std::int64_t>(w) * proven_.width;
      const bool last = w + 1 == proven_.windows;
      // A margin at both ends: local_at() is exact to two ticks.
      const std::uint64_t from =
          std::max(w == 0 ? 0 : before(line_.local_at(begin)), location_.first);
      const std::uint64_t to = std::min(
          last ? location_.last : line_.local_at(begin + proven_.width) + 3, location_.last);
      if (from > to) continue;
      ++result.windows;
      BoundsRow row;
      row.location = id;
      row.local_ticks = possible_.middle(index_, w, location_.first, location_.last);
      row.time_ticks = map_(row.local_ticks);
      row.bounded = possible_.errors(index_, from, to).bounded();
      if (row.bounded) {
        judge(from, to, row);
        bounds.push_back(row.bound_ticks);
        const std::int64_t outside = std::max({row.earliest_ticks - row.time_ticks,
                                               row.time_ticks - row.latest_ticks, std::int64_t{0}});
        if (outside > result.outside) {
          result.outside = outside;
          result.outside_time = row.time_ticks;
        }
        if (row.bound_ticks > result.worst || bounds.size() == 1) {
          result.worst = row.bound_ticks;
          result.worst_time = row.time_ticks;
        }
      } else {
        ++result.unbounded;
      }
      if (rows != nullptr) rows->push_back(row);
    }
    if (bounds.empty()) return result;
    const auto middle = bounds.begin() + static_cast<std::ptrdiff_t>(bounds.size() / 2);
    std::nth_element(bounds.begin(), middle, bounds.end());
    result.median = *middle;
    return result;
  }

 private:
  static std::uint64_t before(std::uint64_t local) { return local < 3 ? 0 : local - 3; }

  /// Fills the times and the bound of a row. Its events have stamps from `from` to `to`.
  void judge(std::uint64_t from, std::uint64_t to, BoundsRow& row) const {
    if (index_ == proven_.reference) {
      row.earliest_ticks = row.latest_ticks = row.time_ticks;
      return;
    }
    const std::uint64_t middle = row.local_ticks;
    const TickRange possible =
        possible_.at(index_, middle, possible_.errors(index_, middle, middle));
    row.earliest_ticks = possible.least;
    row.latest_ticks = possible.most;

    const std::uint64_t step = (to - from) / k_window_parts + 1;
    TickRange error;
    for (std::uint64_t part = from;; part += step) {
      const std::uint64_t end = std::min(to, part + step);
      const Interval errors = possible_.errors(index_, part, end);
      const TickRange own = distance_.over(part, end);
      const auto reference = [&](std::int64_t e) {
        return reference_.over(before(reference_line_.local_at(line_(part) - e)),
                               reference_line_.local_at(line_(end) - e) + 3);
      };
      error.take(errors.upper + own.most - reference(errors.upper).least);
      error.take(errors.lower + own.least - reference(errors.lower).most);
      if (end == to) break;
    }
    row.bound_ticks = std::max(std::abs(error.least), std::abs(error.most));
  }

  const ProvenIntervals& proven_;
  LocationIndex index_;
  const constraints::BaseLine& line_;
  const trace::LocationSkeleton& location_;
  const ClockMap& map_;
  Distance distance_;
  const constraints::BaseLine& reference_line_;
  Distance reference_;
  PossibleTimes possible_;
};

std::optional<ProvenIntervals> as_assumed(const ProvenIntervals& proven) {
  if (!proven.assumed) return std::nullopt;
  ProvenIntervals assumed = proven;
  assumed.limits = proven.assumed->limits;
  assumed.errors = proven.assumed->errors;
  assumed.assumed.reset();
  return assumed;
}

}  // namespace

ClockBounds judge(const trace::Share& share, const ProvenIntervals& proven,
                  std::span<const ClockMap> maps, bool rows) {
  ClockBounds bounds = proven.about;
  if (!bounds.reason.empty()) return bounds;
  const ClockMap reference = shared_map(share, proven.reference, maps);
  if (bounds.helpful) {
    const constraints::BaseLine& line = proven.lines[proven.clock_of[proven.reference]];
    bounds.helpful->time_ticks = reference(line.local_at(bounds.helpful->time_ticks));
  }
  const trace::Definitions& definitions = share.trace.definitions;
  const std::optional<ProvenIntervals> assumed = as_assumed(proven);
  std::vector<LocationFigures> own;
  std::vector<BoundsRow> own_rows;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    const std::uint64_t id = definitions.locations[l].id;
    const std::size_t first_row = own_rows.size();
    own.push_back(
        Judge(proven, reference, l, location, maps[l]).run(id, rows ? &own_rows : nullptr));
    if (!assumed) continue;
    std::vector<BoundsRow> its_rows;
    const LocationFigures if_so =
        Judge(*assumed, reference, l, location, maps[l]).run(id, rows ? &its_rows : nullptr);
    if (if_so.unbounded < if_so.windows) own.back().assumed = if_so.worst;
    for (std::size_t r = 0; r < its_rows.size(); ++r) {
      if (its_rows[r].bounded) own_rows[first_row + r].assumed_ticks = its_rows[r].bound_ticks;
    }
  }
  std::vector<LocationFigures> all = gather_everywhere(share.team, own);
  std::ranges::sort(all, {}, &LocationFigures::location);
  for (const LocationFigures& of : all) {
    bounds.locations.push_back({.location = definitions.locations[of.location].id,
                                .process = trace::process_name(definitions, of.location),
                                .windows = of.windows,
                                .unbounded = of.unbounded,
                                .worst_ticks = of.worst,
                                .worst_time_ticks = of.worst_time,
                                .median_ticks = of.median,
                                .outside_ticks = of.outside,
                                .outside_time_ticks = of.outside_time,
                                .assumed_ticks = {}});
    if (of.assumed != k_unknown) bounds.locations.back().assumed_ticks = of.assumed;
  }
  bounds.rows = gather_everywhere(share.team, own_rows);
  std::ranges::stable_sort(bounds.rows, {}, &BoundsRow::location);
  return bounds;
}

}  // namespace entrain::bounds
