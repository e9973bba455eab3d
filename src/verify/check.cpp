// SPDX-License-Identifier: BSD-3-Clause
#include "verify/check.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "clock/latency.hpp"
#include "verify/cycles.hpp"
#include "verify/pairing.hpp"
#include "verify/tally.hpp"
#include "verify/times.hpp"

namespace entrain::verify {

namespace {

LatencyClass class_of(const trace::Definitions& definitions, LocationIndex a, LocationIndex b) {
  if (definitions.process_of[a] == definitions.process_of[b]) return LatencyClass::same_process;
  return definitions.node_of[a] == definitions.node_of[b] ? LatencyClass::same_node
                                                          : LatencyClass::other;
}

/// Leaves out counters of value 0.
Counters nonzero(std::initializer_list<std::pair<const char*, std::uint64_t>> counts) {
  Counters counters;
  for (const auto& [name, value] : counts) {
    if (value > 0) counters.emplace_back(name, value);
  }
  return counters;
}

/// Walks over all edges and fills the statistics of a report.
class Checker {
 public:
  Checker(const trace::Trace& trace, std::span<const ClockMap> maps, const CheckOptions& options,
          const MuTicks& mu, const trace::Source* source, CheckReport& report)
      : trace_(trace),
        source_(source),
        mu_(mu),
        init_finalize_(options.init_finalize),
        report_(report),
        times_(trace, maps),
        pairing_(pair_events(trace, options.alltoallv)),
        cycles_(find_cycles(trace, pairing_, options.init_finalize)) {
    worst_margin_.fill(std::numeric_limits<std::int64_t>::max());
  }

  void run() {
    for (const Pair& pair : pairing_.pairs) check_pair(pair);
    for (const Instance& instance : pairing_.instances) check_instance(instance);
    for (std::size_t kind = 0; kind < k_edge_kinds; ++kind) {
      if (!in_force(static_cast<EdgeKind>(kind))) continue;
      report_.violations += report_.edges[kind].violations;
      report_.below_latency += report_.edges[kind].below_latency;
    }
    describe_worst();
    count_unmatched();
    count_skipped();
  }

 private:
  [[nodiscard]] bool in_force(EdgeKind kind) const {
    return kind != EdgeKind::init_finalize || init_finalize_;
  }

  EdgeStatistics& statistics(EdgeKind kind) {
    return report_.edges[static_cast<std::size_t>(kind)];
  }

  void check_pair(const Pair& pair) {
    const std::uint32_t component = cycles_.of(pair.send);
    const bool inside = component != k_none && component == cycles_.of(pair.receive);
    if (inside && cycles_.dropped[component]) {
      ++dropped_edges_;
      return;
    }
    const std::int64_t ticks = margin(times_(pair.receive), times_(pair.send));
    const LatencyClass latency_class =
        class_of(trace_.definitions, pair.send.location, pair.receive.location);
    const std::int64_t mu = inside ? 0 : mu_[static_cast<std::size_t>(latency_class)];
    EdgeStatistics& edges = statistics(pair.kind);
    ++edges.count;
    if (ticks < 0) ++edges.violations;
    if (ticks < mu) ++edges.below_latency;
    note(pair.kind, ticks, pair.send, pair.receive);
  }

  void check_instance(const Instance& instance) {
    fill(pairing_.sends(instance), sends_);
    fill(pairing_.receives(instance), receives_);
    PairCounts counts = count_pairs(sends_, receives_, instance.ordered, mu_);
    if (cycles_.any()) treat_components(instance, counts);
    EdgeStatistics& edges = statistics(instance.kind);
    edges.count += counts.count;
    edges.violations += counts.violations;
    edges.below_latency += counts.below_latency;
    const std::int64_t limit = worst_margin_[static_cast<std::size_t>(instance.kind)];
    const auto worst = worst_pair(sends_, receives_, instance.ordered, cycles_.dropped, limit);
    if (!worst) return;
    note(instance.kind, worst->margin_ticks, sends_[worst->send].event,
         receives_[worst->receive].event);
  }

  void fill(std::span<const Participant> side, std::vector<Moment>& moments) const {
    moments.clear();
    for (const Participant& p : side) {
      const LocationIndex l = p.event.location;
      moments.push_back({times_(p.event), p.event, trace_.definitions.process_of[l],
                         trace_.definitions.node_of[l], p.rank, cycles_.of(p.event)});
    }
  }

  /// Pairs inside a cycle were counted with a latency that they do not have, or are no pairs.
  void treat_components(const Instance& instance, PairCounts& counts) {
    std::vector<std::uint32_t> components;
    for (const Moment& moment : sends_) components.push_back(moment.component);
    std::sort(components.begin(), components.end());
    components.erase(std::unique(components.begin(), components.end()), components.end());
    for (const std::uint32_t component : components) {
      if (component == k_none) continue;
      const auto inside = [component](const std::vector<Moment>& side) {
        std::vector<Moment> part;
        std::copy_if(side.begin(), side.end(), std::back_inserter(part),
                     [component](const Moment& m) { return m.component == component; });
        return part;
      };
      const PairCounts part = count_pairs(inside(sends_), inside(receives_), instance.ordered, mu_);
      if (cycles_.dropped[component]) {
        counts -= part;
        if (in_force(instance.kind)) dropped_edges_ += part.count;
      } else {
        counts.below_latency -= part.below_latency - part.violations;
      }
    }
  }

  void note(EdgeKind kind, std::int64_t ticks, EventRef send, EventRef receive) {
    const auto k = static_cast<std::size_t>(kind);
    if (worst_[k].send.location != k_none && ticks >= worst_margin_[k]) return;
    worst_margin_[k] = ticks;
    worst_[k] = {send, receive, kind};
  }

  EdgeEnd describe(EventRef ref) const {
    const trace::Definitions& definitions = trace_.definitions;
    const trace::Location& location = definitions.locations[ref.location];
    EdgeEnd end;
    end.location = location.id;
    if (location.group < definitions.location_groups.size()) {
      end.process = definitions.location_groups[location.group].name;
    }
    end.local_ticks = at(trace_, ref).time;
    end.ticks = times_(ref);
    if (source_ != nullptr) end.region = source_->region_at(ref.location, end.local_ticks);
    return end;
  }

  void describe_worst() {
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      if (worst_[k].send.location == k_none) continue;
      report_.edges[k].worst =
          WorstEdge{worst_margin_[k], describe(worst_[k].send), describe(worst_[k].receive)};
    }
  }

  void count_unmatched() {
    const Unmatched& u = pairing_.unmatched;
    report_.unmatched = nonzero({
        {"sends", u.sends},
        {"receives", u.receives},
        {"collectives_mismatched", u.collectives_mismatched},
        {"collectives_incomplete", u.collectives_incomplete},
        {"collective_ends_without_begin", u.collective_ends_without_begin},
        {"thread_barriers_incomplete", u.thread_barriers_incomplete},
        {"threads", u.threads},
        {"rma_group_sync", u.rma_group_sync},
        {"rma_notify", u.rma_notify},
    });
  }

  void count_skipped() {
    const Skipped& s = pairing_.skipped;
    trace::LocationSkeleton sum;
    std::uint64_t no_events = 0, no_definitions = 0, truncated = 0;
    for (const trace::LocationSkeleton& location : trace_.locations) {
      sum.unknown_records += location.unknown_records;
      sum.undefined_references += location.undefined_references;
      if (location.event_file_missing) ++no_events;
      if (location.definition_file_missing) ++no_definitions;
      if (location.truncated) ++truncated;
    }
    report_.skipped = nonzero({
        {"cancelled_sends", s.cancelled_sends},
        {"cancelled_receives", s.cancelled_receives},
        {"alltoallv_instances", s.alltoallv_instances},
        {"rma_without_process_sync", s.rma_without_process_sync},
        {"rma_group_sync", s.rma_group_sync},
        {"rma_locks", s.rma_locks},
        {"cyclic_components", cycles_.dropped.size()},
        {"dropped_components", static_cast<std::uint64_t>(std::count(cycles_.dropped.begin(),
                                                                     cycles_.dropped.end(), true))},
        {"dropped_edges", dropped_edges_},
        {"unknown_records", sum.unknown_records},
        {"undefined_references", sum.undefined_references},
        {"missing_event_files", no_events},
        {"missing_definition_files", no_definitions},
        {"truncated_event_files", truncated},
    });
  }

  const trace::Trace& trace_;
  const trace::Source* source_;
  MuTicks mu_;
  bool init_finalize_;
  CheckReport& report_;
  Times times_;
  Pairing pairing_;
  Cycles cycles_;
  std::array<std::int64_t, k_edge_kinds> worst_margin_{};
  std::array<Pair, k_edge_kinds> worst_{};
  std::uint64_t dropped_edges_ = 0;
  std::vector<Moment> sends_, receives_;  ///< of the instance in work
};

}  // namespace

CheckReport check(const trace::Trace& trace, std::span<const ClockMap> maps,
                  const CheckOptions& options, const MuTicks& mu, const trace::Source* source) {
  CheckReport report;
  report.archive = trace.path;
  report.locations = trace.locations.size();
  for (const trace::LocationSkeleton& location : trace.locations) {
    report.events += location.event_count;
    report.communication_events += location.events.size();
  }
  report.resolution_hz = trace.definitions.clock.resolution_hz;
  report.mu_ticks = mu;
  Checker(trace, maps, options, mu, source, report).run();
  return report;
}

MuTicks round_trip_mu(const trace::Trace& trace, std::span<const ClockMap> maps) {
  const Pairing pairing = pair_events(trace, AlltoallvRule::ignore, PairingScope::messages);
  const Times times(trace, maps);
  std::vector<clock::OneWayDelay> delays;
  delays.reserve(pairing.pairs.size());
  for (const Pair& pair : pairing.pairs) {
    const LocationIndex from = pair.send.location, to = pair.receive.location;
    delays.push_back({from, to, class_of(trace.definitions, from, to),
                      margin(times(pair.receive), times(pair.send))});
  }
  return clock::estimate_round_trip_mu(std::move(delays));
}

}  // namespace entrain::verify
