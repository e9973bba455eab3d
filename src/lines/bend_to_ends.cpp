// SPDX-License-Identifier: BSD-3-Clause
#include "lines/bend_to_ends.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/try.hpp"
#include "constraints/bent_map.hpp"
#include "lines/bends_from_ends.hpp"
#include "lines/simultaneous_ends.hpp"

namespace entrain::lines {

namespace {

/// Sample of collectives whose ends are used; chosen, not measured.
struct EndsSample {
  static constexpr std::size_t most_calls = 2048, most_ends = std::size_t{1} << 19,
                               least_calls = 16;
};

/// Adds bends, at times of the map. False, with all maps as before, if time would run backward.
bool follow(constraints::ConstrainedClocks& clocks,
            const std::vector<std::vector<SimultaneousEnds::Bend>>& bends) {
  using Map = Result<std::optional<ClockMap>>;
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

}  // namespace

constraints::CallEnds sample_ends(const constraints::ConstrainedClocks& clocks) {
  const std::size_t calls =
      std::max(EndsSample::most_ends / clocks.clocks(), EndsSample::least_calls);
  return clocks.ends_of_calls(std::min(calls, EndsSample::most_calls));
}

double misfit(constraints::ConstrainedClocks& clocks) {
  clocks.collect(nullptr);
  const auto edges = static_cast<double>(std::max<std::size_t>(clocks.constraints().size(), 1));
  const double violation = std::sqrt(clocks.sum_of_squared_violations() / edges);
  const auto spread = static_cast<double>(spread_of(sample_ends(clocks)));
  return violation + spread;
}

Result<bool> bend_to_ends(constraints::ConstrainedClocks& clocks) {
  const constraints::CallEnds calls = sample_ends(clocks);
  if (calls.ends.empty()) return false;
  const std::vector<SimultaneousEnds::Line> straight(clocks.clocks());
  TRY_ASSIGN(const auto bends,
             find_bends(calls, straight, {.check = [&] { return clocks.check_cancelled(); }}));
  if (!bends) return false;
  const double by_edges = misfit(clocks);
  const std::vector<ClockMap> before = clocks.maps();
  if (!follow(clocks, bends->of_clock)) return false;
  if (misfit(clocks) < by_edges) return true;
  clocks.set_maps(before);
  return false;
}

}  // namespace entrain::lines
