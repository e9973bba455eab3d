// SPDX-License-Identifier: BSD-3-Clause
#include "engine/archive_records.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/exact.hpp"
#include "base/try.hpp"
#include "engine/check_times.hpp"
#include "formats/registry/open.hpp"
#include "formats/tables/write_tables.hpp"
#include "match/deciding_pairs.hpp"
#include "trace/phase.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

namespace {

void find_doubts(const Timeline& t, ArchiveRecords& records) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> guessed;
  std::set<std::uint32_t> guessed_calls;
  for (const trace::ClaimedChannel& claim : t.witness.channels) {
    guessed.emplace(claim.sender, claim.receiver);
  }
  for (const trace::ClaimedCalls& claim : t.witness.calls) guessed_calls.insert(claim.process);
  const std::vector<std::uint32_t>& process_of = t.loaded.trace.definitions.process_of;
  const auto process = [&](NodeIndex node) { return process_of[t.graph.location_of(node)]; };
  const auto evidence = [](bool is_guessed) {
    return is_guessed ? explain::Evidence::weak : explain::Evidence::certain;
  };
  for (const match::Edge& edge : t.graph.edges) {
    records.edges.push_back(
        evidence(edge.kind == EdgeKind::p2p && !guessed.empty() &&
                 guessed.contains({process(edge.send), process(edge.receive)})));
  }
  for (const match::Exchange& exchange : t.graph.exchanges) {
    records.instances.push_back(
        evidence(std::ranges::any_of(t.graph.sends(exchange), [&](const auto& one) {
          return guessed_calls.contains(process_of[one.location]);
        })));
  }
}

void fill_margins(const match::Graph& graph, const BigVector<std::int64_t>& times,
                  ArchiveEdges& result) {
  for (const match::Edge& edge : graph.edges) {
    result.edge_margins.push_back(margin(times[edge.receive], times[edge.send]));
  }
  result.member_margins.resize(result.list.members.size(), tables::Margins::k_none);
  for (std::size_t i = 0; i < graph.exchanges.size(); ++i) {
    const match::Exchange& exchange = graph.exchanges[i];
    const CollectiveInstance& instance = result.list.instances[i];
    const match::Participant* const begins = graph.sends(exchange).data();
    const match::Participant* const ends = graph.receives(exchange).data();
    match::for_deciding_pairs(graph, exchange, times, [&](const auto& begin, const auto& end) {
      const std::uint64_t member = instance.first + instance.begins + (&end - ends);
      result.deciding.push_back({instance.first + (&begin - begins), member, i});
      result.member_margins[member] = margin(times[end.node], times[begin.node]);
    });
  }
}

/// The times of all nodes by the clocks as measured.
BigVector<std::int64_t> measured_times(const constraints::Context& context, const Timeline& t) {
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return ClockMap::Cursor(t.measured.maps[l]); });
  return times;
}

/// Of several begins of a clock in an instance keeps the latest one, and of several ends the
/// earliest one: they imply the edges of the others. Scans stay as they are. True if there were
/// several.
bool keep_one_per_clock(EdgeList& list) {
  BigVector<InstanceMember> kept;
  const auto keep = [&](const CollectiveInstance& one, std::uint64_t first, std::uint32_t count,
                        bool is_begin) {
    const auto from = list.members.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<InstanceMember> side(from, from + count);
    std::ranges::sort(side, [&](const InstanceMember& a, const InstanceMember& b) {
      return a.clock != b.clock ? a.clock < b.clock : is_begin ? a.time > b.time : a.time < b.time;
    });
    const auto rest = std::unique(
        side.begin(), side.end(),
        [](const InstanceMember& a, const InstanceMember& b) { return a.clock == b.clock; });
    if (one.kind == EdgeKind::scan || rest == side.end()) {
      kept.insert(kept.end(), from, from + count);
      return count;
    }
    kept.insert(kept.end(), side.begin(), rest);
    return static_cast<std::uint32_t>(rest - side.begin());
  };
  for (CollectiveInstance& one : list.instances) {
    const std::uint64_t first = kept.size(), ends = one.first + one.begins;
    one.begins = keep(one, one.first, one.begins, true);
    one.ends = keep(one, ends, one.ends, false);
    one.first = first;
  }
  const bool are_reduced = kept.size() < list.members.size();
  list.members = std::move(kept);
  return are_reduced;
}

}  // namespace

ArchiveRecords records_of_domains(const Timeline& timeline, const Clocks& all, const Edges& edges) {
  const trace::Trace& trace = timeline.loaded.trace;
  const trace::ClockDomains& domains = timeline.domains;
  ArchiveRecords records;
  records.run = {.name = all.name, .resolution_hz = all.resolution_hz, .corrected = all.corrected};
  for (const auto& members : domains.members) {
    Clock clock = all.clocks[members.front()];
    const trace::LocationSkeleton extent = trace::extent_of(trace, members);
    clock.events = {extent.first, extent.last};
    records.run.clocks.push_back(std::move(clock));
    records.names.push_back(trace::process_name(trace.definitions, members.front()));
    records.offsets.push_back(timeline.measured.maps[members.front()](extent.first) -
                              static_cast<std::int64_t>(extent.first));
  }
  const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(edges.cause_clock, records.list.cause_clock);
  copy(edges.cause_time, records.list.cause_time);
  copy(edges.effect_clock, records.list.effect_clock);
  copy(edges.effect_time, records.list.effect_time);
  copy(edges.min_delay, records.list.min_delay);
  copy(edges.kind, records.list.kind);
  copy(edges.instances, records.list.instances);
  copy(edges.members, records.list.members);
  for (auto* clocks : {&records.list.cause_clock, &records.list.effect_clock}) {
    for (std::uint32_t& clock : *clocks) clock = domains.of[clock];
  }
  for (InstanceMember& member : records.list.members) member.clock = domains.of[member.clock];
  records.are_reduced = keep_one_per_clock(records.list);
  return records;
}

Result<ArchiveRecords> records_of(const Timeline& timeline, const formats::Source& source,
                                  const std::string& clock_samples) {
  TRY_ASSIGN(const Clocks all, source.clock_table(timeline.loaded, clock_samples));
  const EdgeList list = formats::list_of(timeline.graph, timeline.mu.ticks);
  ArchiveRecords records = records_of_domains(timeline, all, list.view());
  find_doubts(timeline, records);
  return records;
}

bool has_clocks_twice(const ArchiveRecords& records) {
  std::vector<std::uint64_t> seen(records.run.clocks.size(), 0);  // number of the side, from 1
  std::uint64_t side = 0;
  const auto is_twice = [&](std::uint64_t first, std::uint32_t count) {
    ++side;
    for (std::uint64_t m = first; m < first + count; ++m) {
      if (std::exchange(seen[records.list.members[m].clock], side) == side) return true;
    }
    return false;
  };
  return std::ranges::any_of(records.list.instances, [&](const CollectiveInstance& one) {
    return is_twice(one.first, one.begins) || is_twice(one.first + one.begins, one.ends);
  });
}

void drop_pairs(const constraints::Context& context, std::span<const trace::WrongPair> wrong,
                match::Graph& graph) {
  BigVector<std::int64_t> stamps;
  constraints::evaluate_nodes(context, stamps, [](LocationIndex) {
    return [](std::uint64_t stamp) { return static_cast<std::int64_t>(stamp); };
  });
  const auto is_wrong = [&](LocationIndex from, NodeIndex send, LocationIndex to,
                            NodeIndex receive) {
    return std::ranges::binary_search(
        wrong, trace::WrongPair{from, to, static_cast<std::uint64_t>(stamps[send]),
                                static_cast<std::uint64_t>(stamps[receive])});
  };
  BigVector<match::Edge> left;
  for (const match::Edge& edge : graph.edges) {
    const LocationIndex from = graph.location_of(edge.send), to = graph.location_of(edge.receive);
    if (!is_wrong(from, edge.send, to, edge.receive)) left.push_back(edge);
  }
  graph.edges = std::move(left);
  const auto is_wrong_instance = [&](const match::Exchange& exchange) {
    return std::ranges::any_of(graph.sends(exchange), [&](const match::Participant& send) {
      return is_wrong(send.location, send.node, send.location, send.node);
    });
  };
  graph.exchanges.erase(
      std::remove_if(graph.exchanges.begin(), graph.exchanges.end(), is_wrong_instance),
      graph.exchanges.end());
}

Result<ArchiveEdges> read_edges(const Paths& archive, const CheckOptions& options,
                                Progress* progress) {
  trace::Workers workers(options.threads);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             formats::open(archive, options.threads, formats::read_options(options)));
  TRY(source->check_options(options));
  TRY_ASSIGN(const Timeline t,
             find_timeline(workers, *source, options, {.purpose = Purpose::bounds}, progress));
  trace::begin_phase(progress, "check");
  ArchiveEdges result;
  TRY_ASSIGN(result.clocks, source->clock_table(t.loaded, options.clock_samples));
  if (t.has_given_edges) result.names = trace::clock_names(t.loaded.trace.definitions);
  result.list = formats::list_of(t.graph, t.mu.ticks);
  TRY_ASSIGN(result.report, check_times(setting_of(workers, *source, t, options, progress),
                                        t.loaded, t.measured.maps));
  result.report.presync = t.measured.method;
  fill_margins(t.graph, measured_times(causal_context(workers, t, progress), t), result);
  TRY(trace::check_unchanged(workers.processes(), t.loaded));
  return result;
}

}  // namespace entrain::engine
