// SPDX-License-Identifier: BSD-3-Clause
#include "engine/carried_accelerators.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "explain/explained.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::engine {

namespace {

/// A clock of accelerators that the clock of the threads of their process carries; domains.
struct Carried {
  std::uint32_t domain = 0, carrying = 0;
  LocationIndex thread = k_none;  ///< a thread of the process
};

/// Finds them in the processes of this member. Threads that do not share a clock carry nothing.
std::vector<Carried> find_carried(const Timeline& timeline) {
  const trace::Trace& trace = timeline.loaded.trace;
  const trace::Definitions& definitions = trace.definitions;
  const trace::ClockDomains& domains = timeline.domains;
  const auto is_accelerator = [&](LocationIndex l) {
    return definitions.locations[l].type == trace::LocationType::accelerator;
  };
  std::map<std::uint32_t, std::vector<LocationIndex>> processes;
  for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
    if (trace.locations[l].event_count > 0) processes[definitions.process_of[l]].push_back(l);
  }
  std::vector<Carried> found;
  std::set<std::uint32_t> seen;
  for (const auto& [process, members] : processes) {
    std::set<std::uint32_t> carrying;
    LocationIndex thread = k_none;
    for (const LocationIndex l : members) {
      if (is_accelerator(l)) continue;
      carrying.insert(domains.of[l]);
      thread = l;
    }
    if (carrying.size() != 1) continue;
    for (const LocationIndex l : members) {
      const std::uint32_t domain = domains.of[l];
      if (domain == *carrying.begin()) continue;
      if (!std::ranges::all_of(domains.members[domain], is_accelerator)) continue;
      if (seen.insert(domain).second) found.push_back({domain, *carrying.begin(), thread});
    }
  }
  return found;
}

/// `thread`: of the process of its accelerators.
std::string name_of_clock(const Timeline& timeline, std::uint32_t domain, LocationIndex thread) {
  const trace::Definitions& definitions = timeline.loaded.trace.definitions;
  return fmt::format("{} of {}",
                     definitions.locations[timeline.domains.members[domain].front()].name,
                     trace::process_name(definitions, thread));
}

/// Clocks by domain; those that neither carry nor are carried have no name.
Result<carriers::CarriedClocks> take_clocks(const Timeline& timeline, std::span<const Carried> own,
                                            const explain::AlignGroup& align) {
  if (own.empty()) return carriers::CarriedClocks();
  const trace::ClockDomains& domains = timeline.domains;
  Clocks clocks{.name = {},
                .resolution_hz = timeline.loaded.trace.definitions.clock.resolution_hz,
                .clocks = std::vector<Clock>(domains.count())};
  std::vector<std::uint32_t> carrier_of(domains.count());
  std::iota(carrier_of.begin(), carrier_of.end(), 0U);
  for (const Carried& one : own) {
    carrier_of[one.domain] = one.carrying;
    for (const std::uint32_t domain : {one.carrying, one.domain}) {
      Clock& clock = clocks.clocks[domain];
      if (!clock.name.empty()) continue;
      const auto extent = trace::extent_of(timeline.loaded.trace, domains.members[domain]);
      clock.name = name_of_clock(timeline, domain, one.thread);
      clock.events = {extent.first, extent.last};
    }
  }
  EdgeList edges;
  const match::Graph& graph = timeline.graph;
  for (const match::Edge& edge : graph.edges) {
    const std::uint32_t from = domains.of[graph.location_of(edge.send)];
    const std::uint32_t to = domains.of[graph.location_of(edge.receive)];
    if (from == to || carrier_of[from] != carrier_of[to]) continue;
    edges.add({from, graph.stamp[edge.send]}, {to, graph.stamp[edge.receive]});
  }
  return carriers::carried_clocks(clocks, edges.view(), carrier_of, align);
}

}  // namespace

Result<CarriedAccelerators> CarriedAccelerators::take(Timeline& timeline, Team& processes,
                                                      const explain::AlignGroup& align) {
  const std::vector<Carried> own = find_carried(timeline);
  Result<carriers::CarriedClocks> taken = take_clocks(timeline, own, align);
  CarriedAccelerators result;
  // A move would make stamps negative: edges show no clock, and accelerators keep their own.
  const bool is_bad =
      !taken && (taken.error().kind == ErrorKind::input || taken.error().kind == ErrorKind::usage);
  if (processes.any(is_bad)) return result;
  TRY_ASSIGN(const carriers::CarriedClocks carried, agree(processes, std::move(taken)));
  std::vector<Carried> all = gather_everywhere(processes, own);
  const std::vector<std::uint32_t> apart = gather_everywhere(processes, carried.apart);
  std::vector<carriers::CarriedStep> steps = gather_everywhere(processes, carried.steps);
  if (all.empty()) return result;
  result.any_ = true;
  result.domains_ = timeline.domains;
  for (const Carried& one : own) {
    for (const LocationIndex l : result.domains_.members[one.domain]) {
      if (timeline.loaded.trace.locations[l].event_count == 0) continue;
      result.move(timeline, l, carried.inner[one.domain]);
    }
  }
  std::ranges::sort(all, {}, &Carried::domain);
  std::ranges::stable_sort(steps, {}, &carriers::CarriedStep::clock);
  std::vector<std::uint32_t> domain_of = timeline.domains.of;
  for (const Carried& one : all) {
    for (const LocationIndex l : result.domains_.members[one.domain]) domain_of[l] = one.carrying;
    if (std::ranges::find(apart, one.domain) == apart.end()) continue;
    result.names_.push_back(name_of_clock(timeline, one.domain, one.thread));
    for (const auto& [clock, time, size] : steps) {
      if (clock != one.domain) continue;
      result.steps_.push_back(explain::told_step(
          result.names_.back(), time, size, timeline.loaded.trace.definitions.clock.resolution_hz));
    }
  }
  timeline.domains = trace::domains_by(domain_of);
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
