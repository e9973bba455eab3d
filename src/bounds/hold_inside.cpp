// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/hold_inside.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "bounds/possible_times.hpp"

namespace entrain::bounds {

namespace {

/// Rounding of knots and of times between them, ticks.
constexpr std::int64_t k_map_rounding = 2;

/// Moves that a map needs at some stamps: linear in between, constant outside.
class Moves {
 public:
  void add(std::uint64_t local, std::int64_t move) {
    if (points_.empty() || local > points_.back().first) points_.emplace_back(local, move);
  }

  [[nodiscard]] bool known() const { return !points_.empty(); }
  [[nodiscard]] std::int64_t largest() const {
    std::int64_t largest = 0;
    for (const auto& [local, move] : points_) largest = std::max(largest, std::abs(move));
    return largest;
  }
  /// Adds the stamps of the moves, except where nothing moves.
  void add_stamps(std::vector<std::uint64_t>& locals) const {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const bool before = i > 0 && points_[i - 1].second != 0;
      const bool after = i + 1 < points_.size() && points_[i + 1].second != 0;
      if (points_[i].second != 0 || before || after) locals.push_back(points_[i].first);
    }
  }
  [[nodiscard]] std::int64_t at(std::uint64_t local) const {
    const auto next =
        std::lower_bound(points_.begin(), points_.end(), local,
                         [](const auto& point, std::uint64_t x) { return point.first < x; });
    if (next == points_.end()) return points_.back().second;
    if (next == points_.begin() || next->first == local) return next->second;
    const auto& [begin, move] = *(next - 1);
    const double share =
        static_cast<double>(local - begin) / static_cast<double>(next->first - begin);
    return move + std::llround(share * static_cast<double>(next->second - move));
  }

 private:
  std::vector<std::pair<std::uint64_t, std::int64_t>> points_;  ///< stamps and moves
};

/// Moves that bring a map inside its intervals in the middles of all bounded windows.
Moves find_moves(const ProvenIntervals& proven, const PossibleTimes& possible, LocationIndex l,
                 const trace::LocationSkeleton& extent, const ClockMap& map) {
  const constraints::BaseLine& line = proven.lines[proven.clock_of[l]];
  const std::int64_t first = line(extent.first), last = line(extent.last);
  Moves moves;
  for (std::uint32_t w = 0; w < proven.windows; ++w) {
    const std::int64_t begin = proven.begin + static_cast<std::int64_t>(w) * proven.width;
    if (last < begin || first >= begin + proven.width) continue;
    const std::uint64_t local = possible.middle(l, w, extent.first, extent.last);
    const Interval errors = possible.errors(l, local, local);
    if (!errors.bounded()) continue;
    TickRange times = possible.at(l, local, errors);
    if (times.most - times.least > 4 * k_map_rounding) {
      times.least += k_map_rounding;
      times.most -= k_map_rounding;
    }
    const std::int64_t time = map(local);
    moves.add(local, std::clamp(time, times.least, std::max(times.least, times.most)) - time);
  }
  return moves;
}

Result<ClockMap> moved(const ClockMap& map, const trace::LocationSkeleton& extent,
                       const Moves& moves) {
  std::vector<std::uint64_t> locals{extent.first, std::max(extent.last, extent.first + 1)};
  for (const ClockKnot& knot : map.knots()) locals.push_back(knot.local);
  moves.add_stamps(locals);
  std::sort(locals.begin(), locals.end());
  locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
  std::vector<ClockKnot> knots;
  for (const std::uint64_t local : locals) {
    knots.push_back({local, map(local) - static_cast<std::int64_t>(local) + moves.at(local)});
  }
  auto result = ClockMap::from_knots(std::move(knots));
  return result ? clocks::straight_in_flushes(*result, extent) : result;
}

}  // namespace

std::int64_t hold_inside(const trace::Share& share, const trace::ClockDomains& domains,
                         const ProvenIntervals& proven, std::span<ClockMap> maps) {
  if (!proven.about.reason.empty()) return 0;
  const ClockMap reference = shared_map(share, proven.reference, maps);
  const PossibleTimes possible(proven, reference);
  const std::vector<std::uint32_t>& process_of = share.trace.definitions.process_of;
  struct Domain {
    const std::vector<LocationIndex>* members;
    trace::LocationSkeleton extent;
    Moves moves;
  };
  std::vector<Domain> own;
  std::map<std::uint32_t, std::size_t> first_known;  // domain of a process
  for (const auto& members : domains.members) {
    if (!share.owns(members.front())) continue;
    Domain domain{&members, trace::extent_of(share.trace, members), {}};
    if (domain.extent.event_count == 0) continue;
    domain.moves =
        find_moves(proven, possible, members.front(), domain.extent, maps[members.front()]);
    if (domain.moves.known()) first_known.try_emplace(process_of[members.front()], own.size());
    own.push_back(std::move(domain));
  }
  std::int64_t largest = 0;
  for (const Domain& domain : own) {
    const LocationIndex front = domain.members->front();
    // Threads without intervals move with their process.
    const auto sibling = first_known.find(process_of[front]);
    const bool follows = !domain.moves.known() && sibling != first_known.end();
    const Moves& moves = follows ? own[sibling->second].moves : domain.moves;
    if (moves.largest() == 0) continue;
    const auto held = moved(maps[front], domain.extent, moves);
    if (!held || !held->is_monotone()) continue;
    largest = std::max(largest, moves.largest());
    for (const LocationIndex l : *domain.members) maps[l] = *held;
  }
  clocks::avoid_negative_times(share, maps);
  return share.team.reduce(Team::Reduction::max, largest);
}

}  // namespace entrain::bounds
