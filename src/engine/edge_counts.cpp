// SPDX-License-Identifier: BSD-3-Clause
#include "engine/edge_counts.hpp"

#include <array>
#include <limits>
#include <vector>

#include "base/big_vector.hpp"
#include "constraints/node_times.hpp"
#include "match/parts.hpp"
#include "verify/pair_counts.hpp"
#include "verify/verdict.hpp"

namespace entrain::engine {
namespace {

/// The edge with the smallest margin of its kind; the first one of equals.
struct Worst {
  std::int64_t margin = std::numeric_limits<std::int64_t>::max();
  NodeIndex send = k_none, receive = k_none;

  /// Also where no margin could be larger, the first one counts.
  void take(const Worst& other) {
    if (other.send != k_none && (send == k_none || other.margin < margin)) *this = other;
  }
};

/// The counts of a part of the graph.
struct Counts {
  std::array<verify::PairCounts, k_edge_kinds> of{};
  std::array<Worst, k_edge_kinds> worst{};
  verify::PairCounts inside;

  void add(const Counts& other) {
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      of[k] += other.of[k];
      worst[k].take(other.worst[k]);
    }
    inside += other.inside;
  }
};

class Counter {
 public:
  Counter(const constraints::Context& context, std::span<const ClockMap> maps,
          const trace::ClockDomains& domains)
      : context_(context), graph_(context.graph), domains_(domains) {
    constraints::evaluate_nodes(context, times_,
                                [&](LocationIndex l) { return ClockMap::Cursor(maps[l]); });
  }

  Counts run() {
    const std::vector<match::Part> parts = match::parts_of(graph_, context_.threads);
    std::vector<Counts> of_parts(parts.size());
    match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
      match::for_edges(graph_, part, times(),
                       [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                         add(edge, from, to, of_parts[i]);
                       });
      for (const match::Exchange& exchange : part.exchanges) add(exchange, of_parts[i]);
    });
    Counts all;
    for (const Counts& part : of_parts) all.add(part);
    return all;
  }

  /// Shows all edges in order: the state of an observer depends on it.
  void show(verify::EdgeObserver& observer) const {
    const std::vector<match::Part> parts = match::parts_of(graph_, 1);
    std::vector<verify::WorstPair> deciding;
    for (const match::Part& part : parts) {
      match::for_edges(graph_, part, times(),
                       [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                         observer.pair({.kind = edge.kind,
                                        .order = {},
                                        .send_time = times_[edge.send],
                                        .receive_time = times_[edge.receive],
                                        .send = {from, edge.send},
                                        .receive = {to, edge.receive}});
                       });
      for (const match::Exchange& exchange : part.exchanges) {
        verify::Instance instance = instance_of(exchange);
        instance.order = {static_cast<std::uint64_t>(&exchange - graph_.exchanges.data())};
        verify::deciding_pairs(instance.sends, instance.receives, instance.ordered, {}, deciding);
        observer.instance(instance, deciding);
      }
    }
  }

  [[nodiscard]] EdgeEnd end(NodeIndex node) const {
    const LocationIndex l = graph_.location_of(node);
    const trace::Definitions& definitions = context_.trace().definitions;
    return {.location = definitions.locations[l].id,
            .process = trace::process_name(definitions, l),
            .region = {},
            .local_ticks = graph_.stamp[node],
            .ticks = times_[node]};
  }

 private:
  [[nodiscard]] std::span<const std::int64_t> times() const { return times_; }

  void add(const match::Edge& edge, LocationIndex from, LocationIndex to, Counts& counts) const {
    const auto kind = static_cast<std::size_t>(edge.kind);
    const std::int64_t margin = verify::margin(times_[edge.receive], times_[edge.send]);
    const verify::PairCounts one{
        .count = 1,
        .violations = margin < 0 ? 1u : 0u,
        .below_latency = margin < graph_.mu_of(edge, context_.mu) ? 1u : 0u,
        .equal = margin == 0 ? 1u : 0u};
    counts.of[kind] += one;
    if (!domains_.trivial() && domains_.of[from] == domains_.of[to]) {
      counts.inside += one;
    }
    counts.worst[kind].take({margin, edge.send, edge.receive});
  }

  void add(const match::Exchange& exchange, Counts& counts) const {
    const verify::Instance instance = instance_of(exchange);
    const auto& [sends, receives] = std::tie(instance.sends, instance.receives);
    const auto kind = static_cast<std::size_t>(exchange.kind);
    counts.of[kind] += verify::count_pairs(sends, receives, exchange.ordered, context_.mu);
    if (!domains_.trivial()) {
      counts.inside += verify::count_pairs_of_one_clock(sends, receives, exchange.ordered,
                                                        context_.mu, domains_.of);
    }
    const auto worst =
        verify::worst_pair(sends, receives, exchange.ordered, {}, counts.worst[kind].margin);
    if (!worst || worst->margin_ticks >= counts.worst[kind].margin) return;
    counts.worst[kind] = {worst->margin_ticks, sends[worst->send].event.event,
                          receives[worst->receive].event.event};
  }

  [[nodiscard]] verify::Instance instance_of(const match::Exchange& exchange) const {
    verify::Instance instance;
    instance.kind = exchange.kind;
    instance.ordered = exchange.ordered;
    fill(graph_.sends(exchange), instance.sends);
    fill(graph_.receives(exchange), instance.receives);
    verify::sort_sides(instance);
    return instance;
  }

  /// The number of a node stands for that of its event.
  void fill(std::span<const match::Participant> side, std::vector<verify::Moment>& moments) const {
    for (const match::Participant& one : side) {
      moments.push_back({.time = times_[one.node],
                         .event = {one.location, one.node},
                         .process = graph_.process_of[one.location],
                         .machine = graph_.node_of[one.location],
                         .rank = one.order});
    }
  }

  const constraints::Context& context_;
  const match::Graph& graph_;
  const trace::ClockDomains& domains_;
  BigVector<std::int64_t> times_;
};

void fill_kinds(const Counter& counter, const Counts& counts, CheckReport& report) {
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    const verify::PairCounts& of = counts.of[k];
    EdgeStatistics& edges = report.edges[k];
    edges.count = of.count;
    edges.violations = of.violations;
    edges.below_latency = of.below_latency;
    edges.equal = of.equal;
    if (counts.worst[k].send != k_none) {
      const Worst& worst = counts.worst[k];
      edges.worst = {worst.margin, counter.end(worst.send), counter.end(worst.receive)};
    }
    report.checked_edges += of.count;
    report.violations += of.violations;
    report.below_latency += of.below_latency;
    report.equal += of.equal;
  }
}

void count_unread(const trace::Trace& trace, CheckReport& report) {
  std::uint64_t missing = 0, truncated = 0;
  for (const trace::LocationSkeleton& location : trace.locations) {
    missing += location.event_file_missing ? 1 : 0;
    truncated += location.truncated ? 1 : 0;
  }
  if (missing > 0) report.skipped.emplace_back("missing_event_files", missing);
  if (truncated > 0) report.skipped.emplace_back("truncated_event_files", truncated);
}

}  // namespace

CheckReport count_edges(const constraints::Context& context, std::span<const ClockMap> maps,
                        const trace::ClockDomains& domains, const CheckOptions& options,
                        verify::EdgeObserver* observer) {
  Counter counter(context, maps, domains);
  const Counts counts = counter.run();
  if (observer != nullptr) counter.show(*observer);
  CheckReport report;
  report.archive = context.trace().path;
  report.locations = context.trace().locations.size();
  report.resolution_hz = context.trace().definitions.clock.resolution_hz;
  report.events = report.communication_events = context.graph.own_count();
  report.mu_ticks = context.mu;
  report.min_coverage = options.min_coverage;
  fill_kinds(counter, counts, report);
  if (!domains.trivial()) report.inside_domains = {counts.inside.count, counts.inside.violations};
  report.coverage.receives = report.coverage.paired = context.graph.edges.size();
  std::uint64_t members = 0;
  for (const match::Exchange& one : context.graph.exchanges) {
    members += std::max(one.send_count, one.receive_count);
  }
  report.coverage.collective_calls = report.coverage.in_instances = members;
  count_unread(context.trace(), report);
  report.judgement = verify::judge(report, options.strict_latency);
  if (report.checked_edges == 0) report.judgement = {Verdict::unproven, Doubt::no_edges};
  return report;
}

}  // namespace entrain::engine
