// SPDX-License-Identifier: BSD-3-Clause
#include "engine/carried_accelerators.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "base/team.hpp"
#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "trace/composed_map.hpp"

namespace entrain::engine {

namespace {

/// `thread`: of its process.
std::string name_of_clock(const trace::Definitions& definitions, LocationIndex location,
                          LocationIndex thread) {
  return fmt::format("{} of {}", definitions.locations[location].name,
                     trace::process_name(definitions, thread));
}

/// The clocks of the processes that have accelerators with clocks of their own, and the edges
/// between the two.
struct ClocksOfProcesses {
  Clocks clocks;
  std::vector<std::uint32_t> carrier_of;             ///< domain that carries each clock, or is it
  std::map<std::uint32_t, std::uint32_t> at;         ///< position of the clock of a domain
  std::map<std::uint32_t, std::uint32_t> host_of;    ///< domain of an accelerator -> of its threads
  std::map<std::uint32_t, LocationIndex> thread_of;  ///< domain of an accelerator -> a thread
  EdgeList edges;

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
      if (domain == carrying || host_of.contains(domain) || !is_of_accelerators(domain)) continue;
      host_of.emplace(domain, carrying);
      thread_of.emplace(domain, host);
      if (!at.contains(carrying)) add_clock(carrying, carrying, host);
      add_clock(domain, carrying, host);
    }
  }

  [[nodiscard]] bool is_of_accelerators(std::uint32_t domain) const {
    return std::ranges::all_of(t_.domains.members[domain],
                               [&](LocationIndex l) { return is_accelerator(l); });
  }

  void add_clock(std::uint32_t domain, std::uint32_t carrying, LocationIndex thread) {
    const trace::LocationSkeleton extent =
        trace::extent_of(t_.loaded.trace, t_.domains.members[domain]);
    at.emplace(domain, static_cast<std::uint32_t>(clocks.clocks.size()));
    carrier_of.push_back(carrying);
    Clock& clock = clocks.clocks.emplace_back();
    clock.name =
        name_of_clock(t_.loaded.trace.definitions, t_.domains.members[domain].front(), thread);
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

/// An accelerator that a process carries, as all members know it.
struct CarriedDomain {
  std::uint32_t domain = 0, carrying = 0;  ///< its domain, and that of its threads
  LocationIndex thread = k_none;           ///< a thread of its process
  bool is_apart = false;                   ///< its clock differs
};
/// A time at which the clock of an accelerator was set, as all members know it.
struct SetDomain {
  std::uint32_t domain = 0;
  std::uint64_t time = 0;
  std::int64_t size = 0;
};

/// Names of those whose clocks differ, by domain.
std::map<std::uint32_t, std::string> names_of(const trace::Definitions& definitions,
                                              const trace::ClockDomains& domains,
                                              std::span<const CarriedDomain> carried) {
  std::map<std::uint32_t, std::string> names;
  for (const CarriedDomain& one : carried) {
    if (!one.is_apart) continue;
    names.emplace(one.domain,
                  name_of_clock(definitions, domains.members[one.domain].front(), one.thread));
  }
  return names;
}

}  // namespace

Result<CarriedAccelerators> CarriedAccelerators::take(Timeline& timeline, Team& processes,
                                                      const explain::AlignGroup& align) {
  const ClocksOfProcesses run(timeline);
  Result<carriers::CarriedClocks> taken;
  if (!run.host_of.empty()) {
    taken = carriers::carried_clocks(run.clocks, run.edges.view(), run.carrier_of, align);
  }
  CarriedAccelerators result;
  // A move would make stamps negative: edges show no clock, and accelerators keep their own.
  const bool is_bad =
      !taken && (taken.error().kind == ErrorKind::input || taken.error().kind == ErrorKind::usage);
  if (processes.any(is_bad)) return result;
  TRY_ASSIGN(const carriers::CarriedClocks carried, agree(processes, std::move(taken)));
  std::vector<CarriedDomain> own;
  std::vector<SetDomain> own_steps;
  for (const auto& [domain, carrying] : run.host_of) {
    const std::string& name = run.clocks.clocks[run.at.at(domain)].name;
    const bool is_apart = std::ranges::find(carried.apart, name) != carried.apart.end();
    own.push_back({domain, carrying, run.thread_of.at(domain), is_apart});
    for (const ClockExplanation& step : carried.steps) {
      if (step.clocks.front() != name) continue;
      own_steps.push_back({domain, *step.time_ticks, *step.size_ticks});
    }
  }
  const std::vector<CarriedDomain> all = gather_everywhere(processes, own);
  std::vector<SetDomain> steps = gather_everywhere(processes, own_steps);
  if (all.empty()) return result;
  result.any_ = true;
  result.domains_ = timeline.domains;
  const trace::Definitions& definitions = timeline.loaded.trace.definitions;
  const auto names = names_of(definitions, result.domains_, all);
  for (const auto& [domain, name] : names) result.names_.push_back(name);
  std::ranges::stable_sort(steps, {}, &SetDomain::domain);
  for (const SetDomain& one : steps) {
    result.steps_.push_back(carriers::explained_step(names.at(one.domain), one.time, one.size,
                                                     definitions.clock.resolution_hz));
  }
  for (const CarriedDomain& one : own) {
    for (const LocationIndex l : result.domains_.members[one.domain]) {
      if (timeline.loaded.trace.locations[l].event_count == 0) continue;
      result.move(timeline, l, carried.inner[run.at.at(one.domain)]);
    }
  }
  std::vector<std::uint32_t> domain_of = timeline.domains.of;
  for (const CarriedDomain& one : all) {
    for (const LocationIndex l : result.domains_.members[one.domain]) domain_of[l] = one.carrying;
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
