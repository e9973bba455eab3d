// SPDX-License-Identifier: BSD-3-Clause
#include "engine/carried_accelerators.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "trace/composed_map.hpp"

namespace entrain::engine {

namespace {

/// The clocks of the processes that have accelerators with clocks of their own, and the edges
/// between the two.
struct ClocksOfProcesses {
  Clocks clocks;
  std::vector<std::uint32_t> process_of;           ///< one per clock
  std::map<std::uint32_t, std::uint32_t> at;       ///< position of the clock of a domain
  std::map<std::uint32_t, std::uint32_t> host_of;  ///< domain of an accelerator -> of its threads
  tables::EdgeList edges;

  explicit ClocksOfProcesses(const Timeline& timeline) : t_(timeline) {
    const trace::Definitions& definitions = t_.loaded.trace.definitions;
    clocks.resolution_hz = definitions.clock.resolution_hz;
    std::map<std::uint32_t, std::vector<LocationIndex>> locations;  // of processes of this member
    for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
      if (t_.loaded.trace.locations[l].event_count > 0) {
        locations[definitions.process_of[l]].push_back(l);
      }
    }
    for (const auto& [process, members] : locations) add_process(members);
    if (!host_of.empty()) add_edges();
  }

 private:
  [[nodiscard]] bool is_accelerator(LocationIndex l) const {
    return t_.loaded.trace.definitions.locations[l].type == trace::LocationType::accelerator;
  }

  /// Threads that do not share a clock carry nothing.
  void add_process(const std::vector<LocationIndex>& members) {
    LocationIndex host = k_none;
    for (const LocationIndex l : members) {
      if (is_accelerator(l)) continue;
      if (host != k_none && t_.domains.of[host] != t_.domains.of[l]) return;
      host = l;
    }
    if (host == k_none) return;
    const std::uint32_t carrying = t_.domains.of[host];
    for (const LocationIndex l : members) {
      const std::uint32_t domain = t_.domains.of[l];
      if (domain == carrying || !host_of.emplace(domain, carrying).second) continue;
      if (!at.contains(carrying)) add_clock(carrying, host, host);
      add_clock(domain, l, host);
    }
  }

  /// `host`: a thread of the process.
  void add_clock(std::uint32_t domain, LocationIndex named, LocationIndex host) {
    const trace::Definitions& definitions = t_.loaded.trace.definitions;
    const trace::LocationSkeleton extent =
        trace::extent_of(t_.loaded.trace, t_.domains.members[domain]);
    at.emplace(domain, static_cast<std::uint32_t>(clocks.clocks.size()));
    process_of.push_back(definitions.process_of[host]);
    const std::string& name_of_process = trace::process_name(definitions, host);
    Clock& clock = clocks.clocks.emplace_back();
    clock.name = fmt::format("{} of {}", definitions.locations[named].name, name_of_process);
    clock.events = {extent.first, extent.last};
  }

  void add_edges() {
    for (const match::Edge& edge : t_.graph.edges) {
      const std::uint32_t from = t_.domains.of[t_.graph.location_of(edge.send)];
      const std::uint32_t to = t_.domains.of[t_.graph.location_of(edge.receive)];
      const auto carried = host_of.find(from), carrying = host_of.find(to);
      const bool is_inner = (carried != host_of.end() && carried->second == to) ||
                            (carrying != host_of.end() && carrying->second == from);
      if (!is_inner) continue;
      edges.add({at.at(from), t_.graph.stamp[edge.send]},
                {at.at(to), t_.graph.stamp[edge.receive]});
    }
  }

  const Timeline& t_;
};

}  // namespace

Result<std::optional<CarriedAccelerators>> CarriedAccelerators::take(
    Timeline& timeline, const explain::AlignGroup& align) {
  const ClocksOfProcesses run(timeline);
  if (run.host_of.empty()) return std::nullopt;
  auto taken = carriers::carried_clocks(run.clocks, run.edges.view(), run.process_of, align);
  // A move would make stamps negative: edges show no clock, and accelerators keep their own.
  if (!taken && taken.error().kind == ErrorKind::input) return std::nullopt;
  TRY_ASSIGN(carriers::CarriedClocks carried, std::move(taken));
  CarriedAccelerators result;
  result.names_ = std::move(carried.apart);
  result.domains_ = timeline.domains;
  std::vector<std::uint32_t> domain = timeline.domains.of;
  for (LocationIndex l = 0; l < domain.size(); ++l) {
    const auto found = run.host_of.find(domain[l]);
    if (found == run.host_of.end()) continue;
    result.move(timeline, l, carried.inner[run.at.at(domain[l])]);
    domain[l] = found->second;
  }
  timeline.domains = trace::domains_by(domain);
  return result;
}

void CarriedAccelerators::move(Timeline& timeline, LocationIndex location, const ClockMap& inner) {
  trace::LocationSkeleton& skeleton = timeline.loaded.trace.locations[location];
  const std::uint32_t begin = timeline.graph.first_node[location];
  const std::uint32_t end = timeline.graph.first_node[location + 1];
  Recorded& recorded = recorded_.emplace_back();
  recorded.location = location;
  recorded.first = skeleton.first, recorded.last = skeleton.last;
  recorded.inner = inner;
  const auto moved = [&](std::uint64_t time) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, inner(time)));
  };
  skeleton.first = moved(skeleton.first), skeleton.last = moved(skeleton.last);
  std::uint64_t latest = 0;  // nodes have different stamps
  for (NodeIndex n = begin; n < end; ++n) {
    std::uint64_t& stamp = timeline.graph.stamp[n];
    recorded.stamps.push_back(stamp);
    stamp = latest = std::max(moved(stamp), n == begin ? 0 : latest + 1);
  }
}

Result<void> CarriedAccelerators::put_back(Timeline& timeline, bool are_presynced) const {
  for (const Recorded& one : recorded_) {
    trace::LocationSkeleton& skeleton = timeline.loaded.trace.locations[one.location];
    skeleton.first = one.first, skeleton.last = one.last;
    std::ranges::copy(one.stamps,
                      timeline.graph.stamp.begin() + timeline.graph.first_node[one.location]);
    if (!are_presynced || one.inner.is_identity()) continue;
    ClockMap& map = timeline.presync.maps[one.location];
    TRY_ASSIGN(map, trace::composed(one.inner, map));
  }
  timeline.domains = domains_;
  return {};
}

}  // namespace entrain::engine
