// SPDX-License-Identifier: BSD-3-Clause
#include "verify/worst.hpp"

#include <string>
#include <utility>
#include <vector>

#include "verify/bytes.hpp"

namespace entrain::verify {

namespace {

/// What only the owner of a location knows about an end of a worst edge.
struct EndHead {
  std::uint32_t kind = 0;
  std::uint32_t receive = 0;
  std::uint64_t local_ticks = 0;
  std::int64_t ticks = 0;
  std::uint64_t length = 0;  ///< of the region's name, which follows
};

void append(Team::Bytes& bytes, const EndHead& head, const std::string& region) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof head + region.size());
  store(bytes.data() + at, head);
  std::memcpy(bytes.data() + at + sizeof head, region.data(), region.size());
}

/// What everybody knows about an end.
EdgeEnd known(const trace::Definitions& definitions, LocationIndex l) {
  const trace::Location& location = definitions.locations[l];
  EdgeEnd end;
  end.location = location.id;
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
  worst = {margin_ticks, order, send, receive};
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

void WorstEdges::describe(Team& team, const trace::Partition& partition, const trace::Trace& trace,
                          std::span<const ClockMap> maps, const trace::Source* source,
                          CheckReport& report) {
  agree(team);
  Team::Bytes mine;
  for (std::uint32_t k = 0; k < k_edge_kinds; ++k) {
    const Worst& worst = worst_[k];
    if (worst.send.location == k_none) continue;
    report.edges[k].worst =
        WorstEdge{worst.margin_ticks, known(trace.definitions, worst.send.location),
                  known(trace.definitions, worst.receive.location)};
    for (const std::uint32_t receive : {0U, 1U}) {
      const EventRef ref = receive == 0 ? worst.send : worst.receive;
      if (!partition.owns(team.rank(), ref.location)) continue;
      const std::uint64_t stamp = trace.locations[ref.location].events[ref.event].time;
      const std::string region =
          source != nullptr ? source->region_at(ref.location, stamp) : std::string();
      append(mine, {k, receive, stamp, maps[ref.location](stamp), region.size()}, region);
    }
  }
  for (const Team::Bytes& parcel : team.exchange(std::vector<Team::Bytes>(team.size(), mine))) {
    for (const std::byte *at = parcel.data(), *end = at + parcel.size(); at != end;) {
      const auto head = load<EndHead>(at);
      WorstEdge& worst = *report.edges[head.kind].worst;
      EdgeEnd& to = head.receive == 0 ? worst.send : worst.receive;
      to.local_ticks = head.local_ticks;
      to.ticks = head.ticks;
      to.region.resize(head.length);
      std::memcpy(to.region.data(), at + sizeof head, head.length);
      at += sizeof head + head.length;
    }
  }
}

}  // namespace entrain::verify
