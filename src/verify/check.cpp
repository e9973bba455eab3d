// SPDX-License-Identifier: BSD-3-Clause
#include "verify/check.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "verify/clusters.hpp"
#include "verify/cycles.hpp"
#include "verify/relation.hpp"
#include "verify/tally.hpp"
#include "verify/worst.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_poll = 1 << 16;  // edges between two looks whether the user wants to stop

/// What the edges of one member amount to.
struct Sums {
  std::array<PairCounts, k_edge_kinds> edges{};
  PairCounts inside_clocks;  ///< of all kinds in force
  WorstEdges worst;
  std::uint64_t dropped_edges = 0;
};

/// Walks over the edges of one member.
class Tally {
 public:
  /// `backward`: where the intervals of backward edges go; may be null. `clock_of`: per location,
  /// or empty.
  Tally(const Relation& relation, const Cycles& cycles, const MuTicks& mu, bool init_finalize,
        std::span<const std::uint32_t> clock_of, IntervalUnion* backward)
      : relation_(relation),
        cycles_(cycles),
        mu_(mu),
        init_finalize_(init_finalize),
        clock_of_(clock_of),
        backward_(backward) {}

  /// Ends early if the user wants to stop.
  void run(const Progress* progress) {
    for (const MatchedChannel& channel : relation_.channels()) {
      if (!stop_if_cancelled(progress)) return;
      add(channel, progress);
    }
    relation_.for_each_thread_pair([&](const Pair& pair) { add(pair); });
    std::uint32_t instances = 0;
    bool stopped = false;
    relation_.for_each_instance([&](Instance& instance) {
      if (++instances % 64 == 0) stopped = stopped || !stop_if_cancelled(progress);
      if (!stopped) add(instance);
    });
  }
  Sums& sums() { return sums_; }

 private:
  [[nodiscard]] bool in_force(EdgeKind kind) const {
    return kind != EdgeKind::init_finalize || init_finalize_;
  }
  PairCounts& counts(EdgeKind kind) { return sums_.edges[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::int64_t mu(LocationIndex from, LocationIndex to) const {
    return mu_[static_cast<std::size_t>(relation_.places().latency_class(from, to))];
  }

  void add(const MatchedChannel& channel, const Progress* progress) {
    const Places& places = relation_.places();
    const ChannelKey& key = channel.key;
    if (channel.pairs > 0 && !cycles_.any() && places.is_single(key.sender) &&
        places.is_single(key.receiver)) {
      const LocationIndex from = places.event(key.sender, 0).location;
      const LocationIndex to = places.event(key.receiver, 0).location;
      if (from != to) add(channel, mu(from, to), progress);
      return;
    }
    Pair pair;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      if (k % k_poll == 0 && !stop_if_cancelled(progress)) return;
      if (relation_.pair(channel, k, pair)) add(pair);
    }
  }

  /// All pairs lead from one location to one other, and there are no cycles.
  void add(const MatchedChannel& channel, std::int64_t mu, const Progress* progress) {
    PairCounts sum;
    std::int64_t worst = std::numeric_limits<std::int64_t>::max();
    std::uint32_t worst_at = k_none;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      if (k % k_poll == 0 && !stop_if_cancelled(progress)) return;
      const std::int64_t sent = channel.sends.time(k), received = channel.receives.time(k);
      const std::int64_t ticks = margin(received, sent);
      sum.violations += ticks < 0 ? 1 : 0;
      sum.below_latency += ticks < mu ? 1 : 0;
      if (ticks < worst || worst_at == k_none) {
        worst = ticks;
        worst_at = k;
      }
      if (ticks <= 0 && backward_ != nullptr) backward_->add(received, sent);
    }
    sum.count += channel.pairs;
    counts(channel.kind()) += sum;
    Pair pair;
    const bool found = relation_.pair(channel, worst_at, pair);
    if (found && one_clock(pair.send.location, pair.receive.location)) sums_.inside_clocks += sum;
    if (worst > sums_.worst.limit(channel.kind()) || !found) {
      return;
    }
    sums_.worst.note(pair.kind, worst, pair.order, pair.send, pair.receive);
  }

  void add(const Pair& pair) {
    const std::uint32_t component = cycles_.any() ? cycles_.of(pair.send, near_send_) : k_none;
    const bool inside = component != k_none && component == cycles_.of(pair.receive, near_receive_);
    if (inside && cycles_.dropped()[component]) {
      ++sums_.dropped_edges;
      return;
    }
    const std::int64_t ticks = margin(pair.receive_time, pair.send_time);
    PairCounts sum{.count = 1};
    if (ticks < 0) ++sum.violations;
    if (ticks < (inside ? 0 : mu(pair.send.location, pair.receive.location))) ++sum.below_latency;
    counts(pair.kind) += sum;
    if (in_force(pair.kind) && one_clock(pair.send.location, pair.receive.location)) {
      sums_.inside_clocks += sum;
    }
    sums_.worst.note(pair.kind, ticks, pair.order, pair.send, pair.receive);
    if (ticks <= 0 && backward_ != nullptr) backward_->add(pair.receive_time, pair.send_time);
  }

  void add(Instance& instance) {
    PairCounts sum = count_pairs(instance.sends, instance.receives, instance.ordered, mu_);
    if (cycles_.any()) treat_components(instance, sum);
    counts(instance.kind) += sum;
    if (!clock_of_.empty() && in_force(instance.kind)) add_inside_clocks(instance);
    if (backward_ != nullptr && in_force(instance.kind)) add_backward(instance, *backward_);
    const auto worst = worst_pair(instance.sends, instance.receives, instance.ordered,
                                  cycles_.dropped(), sums_.worst.limit(instance.kind));
    if (!worst) return;
    EdgeOrder order = instance.order;
    order.back() = std::uint64_t{worst->receive} << 32 | worst->send;
    sums_.worst.note(instance.kind, worst->margin_ticks, order, instance.sends[worst->send].event,
                     instance.receives[worst->receive].event);
  }

  void add_inside_clocks(const Instance& instance) {
    sends_.assign(instance.sends.begin(), instance.sends.end());
    receives_.assign(instance.receives.begin(), instance.receives.end());
    for (auto* side : {&sends_, &receives_}) {
      std::erase_if(*side, [&](const Moment& m) {
        return m.component != k_none && cycles_.dropped()[m.component];
      });
    }
    sums_.inside_clocks +=
        count_pairs_of_one_clock(sends_, receives_, instance.ordered, mu_, clock_of_);
  }

  [[nodiscard]] bool one_clock(LocationIndex a, LocationIndex b) const {
    return !clock_of_.empty() && clock_of_[a] == clock_of_[b];
  }

  /// Pairs inside a cycle were counted with a latency that they do not have, or are no pairs.
  void treat_components(Instance& instance, PairCounts& sum) {
    for (auto* side : {&instance.sends, &instance.receives}) {
      std::size_t near = 0;
      for (Moment& moment : *side) moment.component = cycles_.of(moment.event, near);
    }
    by_component(instance.sends, sends_);
    by_component(instance.receives, receives_);
    auto receive = receives_.begin();
    for (auto send = sends_.begin(); send != sends_.end();) {
      const std::uint32_t component = send->component;
      const auto is_other = [component](const Moment& m) { return m.component != component; };
      while (receive != receives_.end() && receive->component < component) ++receive;
      const auto send_end = std::find_if(send, sends_.end(), is_other);
      const auto receive_end = std::find_if(receive, receives_.end(), is_other);
      const PairCounts part =
          count_pairs({send, send_end}, {receive, receive_end}, instance.ordered, mu_);
      if (cycles_.dropped()[component]) {
        sum -= part;
        if (in_force(instance.kind)) sums_.dropped_edges += part.count;
      } else {
        sum.below_latency -= part.below_latency - part.violations;
      }
      send = send_end;
      receive = receive_end;
    }
  }

  /// The moments that lie in components, one component after the other.
  static void by_component(const std::vector<Moment>& side, std::vector<Moment>& inside) {
    inside.clear();
    for (const Moment& moment : side) {
      if (moment.component != k_none) inside.push_back(moment);
    }
    std::stable_sort(inside.begin(), inside.end(),
                     [](const Moment& a, const Moment& b) { return a.component < b.component; });
  }

  const Relation& relation_;
  const Cycles& cycles_;
  const MuTicks& mu_;
  bool init_finalize_;
  std::span<const std::uint32_t> clock_of_;
  IntervalUnion* backward_;
  Sums sums_;
  std::size_t near_send_ = 0, near_receive_ = 0;  ///< hints for Cycles::of
  std::vector<Moment> sends_, receives_;          ///< of the instance in work, in components
};

/// Leaves out counters of value 0.
Counters nonzero(std::initializer_list<std::pair<const char*, std::int64_t>> counts) {
  Counters counters;
  for (const auto& [name, value] : counts) {
    if (value > 0) counters.emplace_back(name, static_cast<std::uint64_t>(value));
  }
  return counters;
}

/// Sums over the locations of all members.
struct Totals {
  std::int64_t events = 0, communication_events = 0;
  std::int64_t unknown_records = 0, undefined_references = 0;
  std::int64_t no_events = 0, no_definitions = 0, truncated = 0;
};

Totals sum_locations(Team& team, const trace::Partition& partition, const trace::Trace& trace) {
  std::array<std::int64_t, 7> sum{};
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    if (!partition.owns(team.rank(), l)) continue;
    const trace::LocationSkeleton& location = trace.locations[l];
    sum[0] += static_cast<std::int64_t>(location.event_count);
    sum[1] += static_cast<std::int64_t>(location.events.size());
    sum[2] += static_cast<std::int64_t>(location.unknown_records);
    sum[3] += static_cast<std::int64_t>(location.undefined_references);
    sum[4] += location.event_file_missing ? 1 : 0;
    sum[5] += location.definition_file_missing ? 1 : 0;
    sum[6] += location.truncated ? 1 : 0;
  }
  team.reduce(Team::Reduction::sum, sum);
  return {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6]};
}

/// Adds up the edges of all members.
void fill_edges(Team& team, const Sums& sums, bool init_finalize, CheckReport& report) {
  std::array<std::int64_t, 3 * k_edge_kinds> values{};
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    values[3 * k] = static_cast<std::int64_t>(sums.edges[k].count);
    values[3 * k + 1] = static_cast<std::int64_t>(sums.edges[k].violations);
    values[3 * k + 2] = static_cast<std::int64_t>(sums.edges[k].below_latency);
  }
  team.reduce(Team::Reduction::sum, values);
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    EdgeStatistics& edges = report.edges[k];
    edges.count = static_cast<std::uint64_t>(values[3 * k]);
    edges.violations = static_cast<std::uint64_t>(values[3 * k + 1]);
    edges.below_latency = static_cast<std::uint64_t>(values[3 * k + 2]);
    if (static_cast<EdgeKind>(k) == EdgeKind::init_finalize && !init_finalize) continue;
    report.violations += edges.violations;
    report.below_latency += edges.below_latency;
  }
}

InsideDomains inside_domains(Team& team, const Sums& sums) {
  std::array<std::int64_t, 2> values{static_cast<std::int64_t>(sums.inside_clocks.count),
                                     static_cast<std::int64_t>(sums.inside_clocks.violations)};
  team.reduce(Team::Reduction::sum, values);
  return {static_cast<std::uint64_t>(values[0]), static_cast<std::uint64_t>(values[1])};
}

void fill_counters(const Relation& relation, const Cycles& cycles, std::int64_t dropped_edges,
                   const Totals& totals, CheckReport& report) {
  const Unmatched& u = relation.unmatched();
  report.unmatched = nonzero({
      {"sends", u.sends},
      {"receives", u.receives},
      {"collectives_mismatched", u.collectives_mismatched},
      {"collectives_incomplete", u.collectives_incomplete},
      {"collective_ends_without_begin", u.collective_ends_without_begin},
      {"thread_barriers_incomplete", u.thread_barriers_incomplete},
      {"threads", u.threads},
      {"thread_teams", u.thread_teams},
      {"thread_locks", u.thread_locks},
      {"thread_tasks", u.thread_tasks},
      {"init_finalize", u.init_finalize},
      {"rma_group_sync", u.rma_group_sync},
      {"rma_notify", u.rma_notify},
  });
  const Skipped& s = relation.skipped();
  report.skipped = nonzero({
      {"cancelled_sends", s.cancelled_sends},
      {"cancelled_receives", s.cancelled_receives},
      {"alltoallv_instances", s.alltoallv_instances},
      {"rma_without_process_sync", s.rma_without_process_sync},
      {"rma_group_sync", s.rma_group_sync},
      {"rma_locks", s.rma_locks},
      {"cyclic_components", static_cast<std::int64_t>(cycles.dropped().size())},
      {"dropped_components", std::count(cycles.dropped().begin(), cycles.dropped().end(), true)},
      {"dropped_edges", dropped_edges},
      {"unknown_records", totals.unknown_records},
      {"undefined_references", totals.undefined_references},
      {"missing_event_files", totals.no_events},
      {"missing_definition_files", totals.no_definitions},
      {"truncated_event_files", totals.truncated},
  });
}

}  // namespace

Result<CheckReport> check(Team& team, const trace::Partition& partition, const trace::Trace& trace,
                          std::span<const ClockMap> maps, const CheckOptions& options,
                          const MuTicks& mu, const trace::Source* source, const Progress* progress,
                          std::span<const std::uint32_t> clock_of) {
  TRY_ASSIGN(const Relation relation,
             Relation::build(team, partition, trace, maps, options.alltoallv, Scope::everything,
                             progress));
  IntervalUnion backward(Clusters::most_per_member(team));
  if (relation.decreasing()) {  // then a cycle may be anywhere
    backward.add(std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
  }
  const Cycles none;
  Tally tally(relation, none, mu, options.init_finalize, clock_of, &backward);
  tally.run(progress);
  TRY(team.agree(stop_if_cancelled(progress)));
  const Clusters clusters = Clusters::merge(team, std::move(backward));
  TRY_ASSIGN(const Cycles cycles, Cycles::find(team, partition, trace, relation, clusters,
                                               options.init_finalize, progress));
  Sums sums = std::move(tally.sums());
  if (cycles.any()) {  // some edges demand less than was thought
    Tally again(relation, cycles, mu, options.init_finalize, clock_of, nullptr);
    again.run(progress);
    TRY(team.agree(stop_if_cancelled(progress)));
    sums = std::move(again.sums());
  }
  CheckReport report;
  report.archive = trace.path;
  report.locations = trace.locations.size();
  report.resolution_hz = trace.definitions.clock.resolution_hz;
  report.mu_ticks = mu;
  const Totals totals = sum_locations(team, partition, trace);
  report.events = static_cast<std::uint64_t>(totals.events);
  report.communication_events = static_cast<std::uint64_t>(totals.communication_events);
  fill_edges(team, sums, options.init_finalize, report);
  if (!clock_of.empty()) report.inside_domains = inside_domains(team, sums);
  const std::int64_t dropped_edges =
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(sums.dropped_edges));
  fill_counters(relation, cycles, dropped_edges, totals, report);
  sums.worst.describe(team, partition, trace, maps, source, report);
  return report;
}

CheckReport check(const trace::Trace& trace, std::span<const ClockMap> maps,
                  const CheckOptions& options, const MuTicks& mu, const trace::Source* source,
                  std::span<const std::uint32_t> clock_of) {
  Solo solo;
  auto report = check(solo, trace::undivided(trace.definitions), trace, maps, options, mu, source,
                      nullptr, clock_of);
  return report ? std::move(*report) : CheckReport{};
}

}  // namespace entrain::verify
