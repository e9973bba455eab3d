// SPDX-License-Identifier: BSD-3-Clause
#include "lines/lines_from_edges.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/disjoint_sets.hpp"
#include "base/try.hpp"
#include "constraints/base_line.hpp"
#include "difference/at_zero.hpp"
#include "difference/system.hpp"
#include "lines/bends_from_ends.hpp"
#include "lines/centre_lines.hpp"
#include "lines/clock_lines.hpp"
#include "lines/offsets.hpp"
#include "lines/simultaneous_ends.hpp"

namespace entrain::lines {

namespace {

/// Rounds and samples of the alignment; lines_from_edges_test.cpp. Chosen, not measured.
struct AlignmentThresholds {
  static constexpr int most_rounds = 64;   ///< bound only: clocks that can be aligned need fewer
  static constexpr int centre_rounds = 8;  ///< rounds that add edges; mostly one or two are needed
  /// Another round needs a violation below this share of the one before.
  static constexpr double worthwhile = 0.7;
  /// Steps of the search for clocks that stay; about a second.
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 27;
  /// Rates, ppb, from which on edges are searched that others imply.
  static constexpr std::int64_t fastest_ppb = 100'000'000;
  /// Rounding of offsets at both clocks of an edge, ticks.
  static constexpr double rounding = 2;
  /// Ends that every clock needs before lines through ends replace those from edges.
  static constexpr std::size_t least_ends = 4;
  /// Sample of collectives whose ends are used.
  static constexpr std::size_t most_calls = 2048, most_ends = std::size_t{1} << 19,
                               least_calls = 16;
};

/// A value of every clock, told to all processes. `of(clock, stamps)`: that of a clock of this
/// process with events; others have the default. Collective.
template <class Value, class Of>
std::vector<Value> of_all_clocks(const constraints::ConstrainedClocks& clocks, const Of& of) {
  struct Own {
    std::uint32_t clock = 0;
    Value value{};
  };
  std::vector<Own> own;
  for (const std::uint32_t c : clocks.own_clocks()) {
    const trace::LocationSkeleton stamps = clocks.extent(c);
    if (stamps.event_count > 0) own.push_back({c, of(c, stamps)});
  }
  std::vector<Value> all(clocks.clocks());
  for (const Own& one : gather_everywhere(clocks.team(), own)) all[one.clock] = one.value;
  return all;
}

using Map = Result<std::optional<ClockMap>>;

/// A straight map from the first event of a clock to its last one, moved along a line.
Map moved_map(const ClockMap& map, const trace::LocationSkeleton& stamps, const ClockLine& line) {
  const auto knot = [&](std::uint64_t local) -> ClockKnot {
    const std::int64_t time = map(local);
    return {local, time - static_cast<std::int64_t>(local) + line.shift(time)};
  };
  const std::uint64_t first = stamps.first;
  return ClockMap::from_knots({knot(first), knot(std::max(stamps.last, first + 1))});
}

/// Moves all clocks along their lines. False, with all maps as before, if an offset is too large.
bool follow(constraints::ConstrainedClocks& clocks, const std::vector<ClockLine>& lines) {
  return clocks.replace_maps([&](std::uint32_t c, const trace::LocationSkeleton& stamps) -> Map {
    if (lines[c].offset == 0 && lines[c].rate == 0) return std::nullopt;
    return moved_map(clocks.map_of(c), stamps, lines[c]);
  });
}

/// Adds bends, at times of the map. False, with all maps as before, if time would run backward.
bool follow(constraints::ConstrainedClocks& clocks,
            const std::vector<std::vector<SimultaneousEnds::Bend>>& bends) {
  return clocks.replace_maps([&](std::uint32_t c, const trace::LocationSkeleton& stamps) -> Map {
    if (bends[c].empty()) return std::nullopt;
    std::vector<std::int64_t> times;
    for (const SimultaneousEnds::Bend& bend : bends[c]) {
      times.push_back(static_cast<std::int64_t>(bend.at));
    }
    return constraints::bent_map(clocks.map_of(c), stamps, times, [&](std::int64_t time) {
      return std::llround(bend_at(bends[c], static_cast<std::uint64_t>(time)));
    });
  });
}

/// Collectives whose ends alignments use: about 2,048 and half a million ends at most.
constraints::CallEnds sample_ends(const constraints::ConstrainedClocks& clocks) {
  const std::size_t calls =
      std::max(AlignmentThresholds::most_ends / clocks.clocks(), AlignmentThresholds::least_calls);
  return clocks.ends_of_calls(std::min(calls, AlignmentThresholds::most_calls));
}

/// Misfit of the present maps: spread of ends plus the root mean square of violations, ticks.
/// Collective.
double misfit(constraints::ConstrainedClocks& clocks) {
  clocks.collect(nullptr);
  const auto edges = static_cast<double>(std::max<std::size_t>(clocks.constraints().size(), 1));
  const double violation = std::sqrt(clocks.sum_of_squared_violations() / edges);
  const auto spread = static_cast<double>(spread_of(sample_ends(clocks)));
  return violation + spread;
}

/// Aligns groups of clocks by edges between them, round by round. `groups`: aligned clocks, before
/// and after. A collective gives constraints of the latest and the earliest clock only, and clocks
/// that are far off distort the windows. Aligned clocks give better constraints, and continue as
/// one group.
Result<void> join_groups(constraints::ConstrainedClocks& clocks, DisjointSets& groups) {
  std::vector<std::uint32_t> group_of = groups.all();
  for (int round = 0; round < AlignmentThresholds::most_rounds; ++round) {
    TRY(clocks.check_cancelled());
    clocks.collect(nullptr);
    const std::vector<ClockLine> lines =
        find_clock_lines(clocks.clocks(), clocks.constraints(), group_of);
    const bool changed = std::ranges::any_of(
        lines, [](const ClockLine& line) { return line.offset != 0 || line.rate != 0; });
    if (!changed || !follow(clocks, lines)) break;
    for (std::uint32_t c = 0; c < group_of.size(); ++c) group_of[c] = lines[c].component;
  }
  for (std::uint32_t c = 0; c < group_of.size(); ++c) groups.join(c, group_of[c]);
  return {};
}

/// Moves clocks to the centre of the lines that meet all edges. Moved clocks show other edges to be
/// the tightest, which are added until a round breaks none. Without such lines the maps stay.
Result<void> centre(constraints::ConstrainedClocks& clocks, DisjointSets& groups) {
  const std::vector<ClockMap> before = clocks.maps();
  const std::vector<double> rates =
      of_all_clocks<double>(clocks, [&](std::uint32_t c, const trace::LocationSkeleton& stamps) {
        return constraints::chord(clocks.map_of(c), stamps.first, stamps.last).rate;
      });
  const double typical = std::max(static_cast<double>(clocks.prior().typical_ppb) * 1e-9, 1e-9);
  std::vector<constraints::ClockConstraint> seen;
  std::vector<std::uint32_t> first_of;  // of the clocks that bound each other, per clock
  for (int round = 0; round < AlignmentThresholds::centre_rounds; ++round) {
    TRY(clocks.check_cancelled());
    clocks.collect(nullptr);
    if (round > 0 && clocks.worst_violation() == 0) {
      for (std::uint32_t c = 0; c < first_of.size(); ++c) groups.join(c, first_of[c]);
      return {};
    }
    seen.insert(seen.end(), clocks.constraints().begin(), clocks.constraints().end());
    const auto lines = find_centre_lines(clocks.clocks(), seen, rates, typical);
    if (!lines || !follow(clocks, *lines)) break;
    for (constraints::ClockConstraint& one : seen) {  // at times after clocks moved
      const std::int64_t from = (*lines)[one.from].shift(one.from_time);
      const std::int64_t to = (*lines)[one.to].shift(one.to_time);
      one.from_time += from;
      one.to_time += to;
      one.slack += to - from;
    }
    first_of.clear();
    for (const ClockLine& line : *lines) first_of.push_back(line.component);
  }
  clocks.set_maps(before);
  clocks.collect(nullptr);
  return {};
}

/// Moves single clocks along their own lines while that lowers the violation. Joins the groups that
/// this aligns.
Result<void> refine(constraints::ConstrainedClocks& clocks, DisjointSets& groups) {
  clocks.collect(nullptr);
  double before = clocks.sum_of_squared_violations();
  for (int round = 0; round < AlignmentThresholds::most_rounds && before > 0; ++round) {
    TRY(clocks.check_cancelled());
    const std::vector<ClockMap> maps = clocks.maps();
    const std::vector<ClockLine> lines = find_clock_lines(clocks.clocks(), clocks.constraints());
    if (!follow(clocks, lines)) return {};
    clocks.collect(nullptr);
    const double after = clocks.sum_of_squared_violations();
    if (after > before) {
      clocks.set_maps(maps);
      clocks.collect(nullptr);
      return {};
    }
    for (std::uint32_t c = 0; c < lines.size(); ++c) groups.join(c, lines[c].component);
    if (after > AlignmentThresholds::worthwhile * before) return {};
    before = after;
  }
  return {};
}

/// Moves clocks that are not `fixed` as wholes, from the present maps, until no edge is violated by
/// more than `allowed`. Only the latest and the earliest clock of a collective give constraints, so
/// clocks at new places show others, which are added. False if that is not possible.
Result<bool> move_as_wholes(constraints::ConstrainedClocks& clocks, std::vector<char> fixed,
                            double allowed) {
  const std::vector<ClockMap> before = clocks.maps();
  std::vector<std::int64_t> moved(clocks.clocks(), 0);
  Offsets offsets(std::move(fixed));
  for (int round = 0; round < AlignmentThresholds::most_rounds; ++round) {
    TRY(clocks.check_cancelled());
    clocks.collect_all();
    if (round > 0 && clocks.worst_violation() <= allowed) return true;
    offsets.add(clocks.constraints(), moved);
    const auto found = offsets.find();
    if (!found || (round > 0 && *found == moved)) break;
    moved = *found;
    std::vector<ClockLine> lines(clocks.clocks());
    for (std::size_t c = 0; c < lines.size(); ++c) lines[c].offset = moved[c];
    clocks.set_maps(before);
    if (!follow(clocks, lines)) break;
  }
  return false;
}

/// Repeats the alignment with lines through the ends of collectives, and keeps the result if the
/// misfit is smaller: if the spread of the ends falls by more than violations grow. True if it is
/// kept.
///
/// Collectives alone bound clocks loosely that are seconds apart, since only the latest and the
/// earliest member count. Where two-sided messages connect the clocks, they are better. Ends are
/// useless on a machine where members leave a collective when they get a core; lines through them
/// then violate edges.
///
/// Example: 64 clocks and 187 calls of Allreduce. By edges ends are 23 us apart (median) and
/// violations 2.6 ms (root of the sum of squares), by ends 18 us and 2.8 ms: ends it is.
Result<bool> align_by_ends(constraints::ConstrainedClocks& clocks,
                           const std::vector<ClockMap>& before, DisjointSets& groups) {
  if (sample_ends(clocks).ends.empty() || clocks.messages_connect()) return false;
  const double by_edges = misfit(clocks);
  const std::vector<ClockMap> aligned = clocks.maps();
  clocks.set_maps(before);
  TRY_ASSIGN(const std::optional<SimultaneousEnds> ends,
             find_simultaneous_ends(clocks.clocks(), sample_ends(clocks),
                                    {.least_ends = AlignmentThresholds::least_ends,
                                     .check = [&] { return clocks.check_cancelled(); }}));
  const std::vector<ClockLine> lines = ends ? lines_of(*ends) : std::vector<ClockLine>();
  if (ends && follow(clocks, lines)) {
    DisjointSets ended(clocks.clocks());
    for (std::uint32_t c = 0; c < lines.size(); ++c) ended.join(c, lines[c].component);
    TRY(join_groups(clocks, ended));
    TRY(refine(clocks, ended));
    if (misfit(clocks) < by_edges) {
      for (std::uint32_t c = 0; c < clocks.clocks(); ++c) groups.join(c, ended.find(c));
      return true;
    }
  }
  clocks.set_maps(aligned);
  clocks.collect(nullptr);
  return false;
}

/// By how much every clock showed more before the alignment, along its aligned time. `before`: the
/// initial maps.
std::vector<ClockLine> moves_since(const constraints::ConstrainedClocks& clocks,
                                   const std::vector<ClockMap>& before) {
  return of_all_clocks<ClockLine>(
      clocks, [&](std::uint32_t c, const trace::LocationSkeleton& stamps) {
        const ClockMap &now = clocks.map_of(c), &then = clocks.map_of(c, before);
        const std::uint64_t last = std::max(stamps.last, stamps.first + 1);
        const auto by = [&](std::uint64_t local) { return then(local) - now(local); };
        ClockLine moved{now(stamps.first), by(stamps.first)};
        moved.rate = static_cast<double>(by(last) - moved.offset) /
                     std::max(static_cast<double>(now(last) - moved.base), 1.0);
        return moved;
      });
}

/// Moves all aligned clocks along with a reference, so that it shows what it did before, but lets
/// those that stay show what they did. With all maps as before, if an offset becomes too large.
void move_along(constraints::ConstrainedClocks& clocks, const std::vector<ClockMap>& before,
                const ClockLine& reference, const std::vector<char>& stays) {
  clocks.replace_maps([&](std::uint32_t c, const trace::LocationSkeleton& stamps) -> Map {
    if (stays[c] != 0) return clocks.map_of(c, before);
    return moved_map(clocks.map_of(c), stamps, reference);
  });
}

/// Clocks in order of their distance from the one with the median move.
std::vector<std::uint32_t> by_distance(const std::vector<ClockLine>& moves, std::int64_t middle) {
  std::vector<std::uint32_t> order(moves.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto shift = [&](std::uint32_t c) { return moves[c].shift(middle); };
  std::ranges::stable_sort(order, {}, shift);
  const std::uint32_t median = order[(order.size() - 1) / 2];
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t c) {
    return std::pair(c != median, std::abs(shift(c) - shift(median)));
  });
  return order;
}

/// Which clocks can show together what they showed `before`, if clocks are no faster than is
/// typical or the edges demand; none if no clocks meet all edges.
difference::AtZero find_staying(constraints::ConstrainedClocks& clocks,
                                const std::vector<ClockMap>& before,
                                const std::vector<std::uint32_t>& order) {
  const std::vector<ClockMap> aligned = clocks.maps();
  clocks.set_maps(before);
  clocks.collect_all();
  BigVector<difference::Edge> edges;
  for (const constraints::ClockConstraint& one : clocks.constraints()) {
    const std::int64_t from = one.from_time - clocks.begin(), to = one.to_time - clocks.begin();
    edges.push_back({{one.from, from}, {one.to, to}, to - from - one.slack});
  }
  const auto count = static_cast<std::uint32_t>(clocks.clocks());
  difference::Effort effort{.most = AlignmentThresholds::most_steps};
  // Fewer edges need no higher rate. Edges that others imply at the rate that these need are met.
  std::optional<difference::System> system;
  difference::Solved<difference::LeastRate> least(difference::LeastRate{});
  for (std::int64_t most = clocks.prior().typical_ppb;; most = 2 * least->ppb) {
    const bool are_few = most < AlignmentThresholds::fastest_ppb;
    const std::vector<difference::ClockLimits> limits(
        std::size_t{count} + 1, {.rate = difference::RateRange::within(are_few ? most : 0)});
    const auto some = are_few ? without_implied(edges, limits) : edges;
    system = difference::System({.clocks = limits, .reference = count, .edges = some});
    least = set_least_rate(*system, effort, {.least_ppb = least->ppb});
    if (!least || least->ppb <= most || !are_few) break;
  }
  const std::int64_t rate = least ? least->ppb : 0;
  for (std::uint32_t c = 0; c < count; ++c) {
    system->set_rate(c, difference::RateRange::within(std::max(rate, clocks.prior().typical_ppb)));
  }
  auto found = find_most_at_zero(*system, order, effort);
  clocks.set_maps(aligned);
  return found ? *std::move(found)
               : difference::AtZero{.stays = std::vector<char>(count + 1, 0), .complete = true};
}

/// Lets as many clocks as possible show what they showed before. The others keep their aligned
/// distance from these, if that violates no more than the alignment; else they are moved as wholes.
Result<difference::AtZero> place_by_consensus(constraints::ConstrainedClocks& clocks,
                                              const std::vector<ClockMap>& before) {
  const std::vector<ClockLine> moves = moves_since(clocks, before);
  clocks.collect_all();
  const double allowed = clocks.worst_violation() + AlignmentThresholds::rounding;
  const std::vector<ClockMap> aligned = clocks.maps();
  const std::vector<std::uint32_t> order = by_distance(moves, (clocks.begin() + clocks.end()) / 2);
  difference::AtZero found = find_staying(clocks, before, order);
  const auto first =
      std::ranges::find_if(order, [&](std::uint32_t c) { return found.stays[c] != 0; });
  const std::uint32_t reference = first == order.end() ? order.front() : *first;
  move_along(clocks, before, moves[reference], found.stays);
  if (std::ranges::count(found.stays, 1) == 1) return found;  // the alignment says all there is
  TRY_ASSIGN(const bool good, move_as_wholes(clocks, found.stays, allowed));
  if (good) return found;
  std::ranges::fill(found.stays, 0);
  found.stays[reference] = 1;
  clocks.set_maps(aligned);
  move_along(clocks, before, moves[reference], found.stays);
  return found;
}

/// Moves all clocks along with the reference, so that it shows what it did before. With a
/// consensus, as many others as possible do as well. Returns a sentence of the report, or none.
Result<std::string> apply_reference(constraints::ConstrainedClocks& clocks,
                                    const std::vector<ClockMap>& before) {
  const clocks::Reference& wanted = clocks.reference();
  if (!wanted.consensus && wanted.location == k_none) return "";
  if (!wanted.consensus) {
    const std::uint32_t reference = clocks.clock_of(wanted.location);
    std::vector<char> stays(clocks.clocks(), 0);
    stays[reference] = 1;
    move_along(clocks, before, moves_since(clocks, before)[reference], stays);
    clocks.collect(nullptr);
    return "";
  }
  TRY_ASSIGN(const difference::AtZero found, place_by_consensus(clocks, before));
  clocks.collect(nullptr);
  const auto stay = std::ranges::count(found.stays, 1);
  return fmt::format("{}{} of {} clocks can stay as they are; ", found.complete ? "" : "at least ",
                     stay, clocks.clocks());
}

}  // namespace

Result<Alignment> align_unmeasured(constraints::ConstrainedClocks& clocks) {
  const std::vector<ClockMap> before = clocks.maps();
  DisjointSets groups(clocks.clocks());
  TRY(join_groups(clocks, groups));
  TRY(centre(clocks, groups));
  TRY(refine(clocks, groups));
  TRY_ASSIGN(const bool by_ends, align_by_ends(clocks, before, groups));
  const std::string ends = by_ends ? " and by ends of collectives, which coincide" : "";
  TRY_ASSIGN(const std::string consensus, apply_reference(clocks, before));
  clocks.component_of = groups.all();
  std::set<std::uint32_t> groups_seen;
  for (const constraints::ClockConstraint& constraint : clocks.constraints()) {
    groups_seen.insert({clocks.component_of[constraint.from], clocks.component_of[constraint.to]});
  }
  if (groups_seen.size() < 2) {
    return Alignment{
        fmt::format("no clock was measured: aligned by messages{}; {}", ends, consensus), by_ends};
  }
  return Alignment{
      fmt::format("no clock was measured: aligned by messages{} in {} groups, between which "
                  "nothing was seen to go both ways; {}",
                  ends, groups_seen.size(), consensus),
      by_ends};
}

Result<bool> bend_to_ends(constraints::ConstrainedClocks& clocks) {
  const constraints::CallEnds calls = sample_ends(clocks);
  if (calls.ends.empty()) return false;
  SimultaneousEnds ends{.lines = std::vector<SimultaneousEnds::Line>(clocks.clocks())};
  TRY_ASSIGN(const bool wander,
             find_bends(calls, ends, {.check = [&] { return clocks.check_cancelled(); }}));
  if (!wander) return false;
  const double by_edges = misfit(clocks);
  const std::vector<ClockMap> before = clocks.maps();
  if (!follow(clocks, ends.bends)) return false;
  if (misfit(clocks) < by_edges) return true;
  clocks.set_maps(before);
  return false;
}

}  // namespace entrain::lines
