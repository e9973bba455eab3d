// SPDX-License-Identifier: BSD-3-Clause
#include "causal/align.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/disjoint_sets.hpp"
#include "base/try.hpp"
#include "causal/clock_lines.hpp"

namespace entrain::causal {

namespace {

/// Clocks that can be aligned are so after fewer rounds.
constexpr int k_most_rounds = 64;
/// A further round is worth it if it left less than this share of the violation.
constexpr double k_worth_a_round = 0.7;

/// Moves all clocks along their lines. False, with all maps as before, if an offset becomes too
/// large.
bool follow(ConstrainedClocks& clocks, const std::vector<ClockLine>& lines) {
  std::vector<ClockMap> maps = clocks.maps();
  bool good = true;
  for (const std::uint32_t c : clocks.own_clocks()) {
    const ClockLine& line = lines[c];
    const trace::LocationSkeleton stamps = clocks.extent(c);
    if (stamps.event_count == 0 || (line.offset == 0 && line.rate == 0)) continue;
    const ClockMap& map = clocks.map_of(c);
    const std::uint64_t first = stamps.first;
    const std::uint64_t last = std::max(stamps.last, first + 1);
    const auto knot = [&](std::uint64_t local) -> ClockKnot {
      const std::int64_t time = map(local);
      const std::int64_t drift = std::llround(line.rate * static_cast<double>(time - line.base));
      return {local, time - static_cast<std::int64_t>(local) + line.offset + drift};
    };
    const auto straight = ClockMap::from_knots({knot(first), knot(last)});
    good = good && straight;
    if (straight) clocks.set_map(maps, c, *straight);
  }
  if (clocks.team().any(!good)) return false;
  clocks.set_maps(std::move(maps));
  return true;
}

/// Aligns groups of clocks, round by round. A collective gives constraints of the latest and the
/// earliest clock only, and clocks that are far off distort the windows. Clocks that were aligned
/// give better constraints, and go on as one group.
Result<std::vector<std::uint32_t>> bring_together(ConstrainedClocks& clocks) {
  std::vector<std::uint32_t> group_of(clocks.clocks());
  std::iota(group_of.begin(), group_of.end(), 0u);
  for (int round = 0; round < k_most_rounds; ++round) {
    TRY(clocks.check_cancelled());
    clocks.collect(nullptr);
    const std::vector<ClockLine> lines =
        find_clock_lines(clocks.clocks(), clocks.constraints, group_of);
    const bool changed = std::any_of(lines.begin(), lines.end(), [](const ClockLine& line) {
      return line.offset != 0 || line.rate != 0;
    });
    if (!changed || !follow(clocks, lines)) break;
    for (std::uint32_t c = 0; c < group_of.size(); ++c) group_of[c] = lines[c].component;
  }
  return group_of;
}

/// Moves single clocks along lines of their own, as long as that lowers the violation. Joins the
/// groups of clocks that this aligns.
Result<void> refine(ConstrainedClocks& clocks, DisjointSets& groups) {
  clocks.collect(nullptr);
  double before = clocks.sum_of_squared_violations();
  for (int round = 0; round < k_most_rounds && before > 0; ++round) {
    TRY(clocks.check_cancelled());
    const std::vector<ClockMap> maps = clocks.maps();
    const std::vector<ClockLine> lines = find_clock_lines(clocks.clocks(), clocks.constraints);
    if (!follow(clocks, lines)) return {};
    clocks.collect(nullptr);
    const double after = clocks.sum_of_squared_violations();
    if (after > before) {
      clocks.set_maps(maps);
      clocks.collect(nullptr);
      return {};
    }
    for (std::uint32_t c = 0; c < lines.size(); ++c) groups.join(c, lines[c].component);
    if (after > k_worth_a_round * before) return {};
    before = after;
  }
  return {};
}

}  // namespace

Result<std::string> align_unmeasured(ConstrainedClocks& clocks) {
  TRY_ASSIGN(const std::vector<std::uint32_t> group_of, bring_together(clocks));
  DisjointSets groups(clocks.clocks());
  for (std::uint32_t c = 0; c < group_of.size(); ++c) groups.join(c, group_of[c]);
  TRY(refine(clocks, groups));
  for (std::uint32_t c = 0; c < group_of.size(); ++c) clocks.component_of[c] = groups.find(c);
  std::set<std::uint32_t> groups_seen;
  for (const ClockConstraint& constraint : clocks.constraints) {
    groups_seen.insert({clocks.component_of[constraint.from], clocks.component_of[constraint.to]});
  }
  if (groups_seen.size() < 2) return "no clock was measured: aligned by messages; ";
  return fmt::format(
      "no clock was measured: aligned by messages in {} groups, between which nothing was seen to "
      "go both ways; ",
      groups_seen.size());
}

}  // namespace entrain::causal
