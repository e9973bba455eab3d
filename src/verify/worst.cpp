// SPDX-License-Identifier: BSD-3-Clause
#include "verify/worst.hpp"

#include <utility>
#include <vector>

namespace entrain::verify {

namespace {

/// Part of an EdgeEnd that only the owner of its location knows.
struct LocalEnd {
  std::uint32_t kind = 0;  ///< EdgeKind of the edge
  bool receives = false;
  std::uint64_t local_ticks = 0;
  std::int64_t ticks = 0;
  std::uint64_t region_length = 0;  ///< bytes of the region's name
};

/// The part of an EdgeEnd that every member knows. `names`: of clocks, by location.
EdgeEnd known(const trace::Definitions& definitions, const std::vector<std::string>& names,
              LocationIndex l) {
  const trace::Location& location = definitions.locations[l];
  EdgeEnd end;
  end.location = location.id;
  end.clock = names[l];
  if (location.group < definitions.location_groups.size()) {
    end.process = definitions.location_groups[location.group].name;
  }
  return end;
}

}  // namespace

void WorstEdges::note(EdgeKind kind, std::int64_t margin_ticks, const EdgeOrder& order,
                      EventRef send, EventRef receive) {
  Worst& worst = worst_[static_cast<std::size_t>(kind)];
  if (worst.send.location != k_none &&
      std::pair(worst.margin_ticks, worst.order) <= std::pair(margin_ticks, order)) {
    return;
  }
  worst = {.margin_ticks = margin_ticks, .order = order, .send = send, .receive = receive};
}

void WorstEdges::agree(Team& team) {
  const std::vector<Worst> all =
      gather_everywhere(team, std::vector<Worst>(worst_.begin(), worst_.end()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].send.location == k_none) continue;
    note(static_cast<EdgeKind>(i % k_edge_kinds), all[i].margin_ticks, all[i].order, all[i].send,
         all[i].receive);
  }
}

void WorstEdges::describe(const trace::Share& share, std::span<const ClockMap> maps,
                          const std::function<std::string(LocationIndex, std::uint64_t)>& region_at,
                          CheckReport& report) const {
  std::vector<LocalEnd> own_ends;
  std::vector<char> own_names;  // of the regions, one after the other
  const std::vector<std::string> clocks = trace::clock_names(share.trace.definitions);
  for (std::uint32_t k = 0; k < k_edge_kinds; ++k) {
    const Worst& worst = worst_[k];
    if (worst.send.location == k_none) continue;
    const trace::Definitions& definitions = share.trace.definitions;
    report.edges[k].worst =
        WorstEdge{.margin_ticks = worst.margin_ticks,
                  .send = known(definitions, clocks, worst.send.location),
                  .receive = known(definitions, clocks, worst.receive.location)};
    for (const bool receives : {false, true}) {
      const auto [location, event] = receives ? worst.receive : worst.send;
      if (!share.owns(location)) continue;
      const std::uint64_t stamp = share.trace.locations[location].events.time(event);
      const std::string region = region_at ? region_at(location, stamp) : std::string();
      own_ends.push_back({.kind = k,
                          .receives = receives,
                          .local_ticks = stamp,
                          .ticks = maps[location](stamp),
                          .region_length = region.size()});
      own_names.insert(own_names.end(), region.begin(), region.end());
    }
  }
  const std::vector<LocalEnd> ends = gather_everywhere(share.team, own_ends);
  const std::vector<char> names = gather_everywhere(share.team, own_names);
  auto name = names.begin();
  for (const LocalEnd& end : ends) {
    WorstEdge& worst = *report.edges[end.kind].worst;
    EdgeEnd& to = end.receives ? worst.receive : worst.send;
    to.local_ticks = end.local_ticks;
    to.ticks = end.ticks;
    const auto name_end = name + static_cast<std::ptrdiff_t>(end.region_length);
    to.region.assign(name, name_end);
    name = name_end;
  }
}

}  // namespace entrain::verify
