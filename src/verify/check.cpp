// SPDX-License-Identifier: BSD-3-Clause
#include "verify/check.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/counters.hpp"
#include "base/try.hpp"
#include "trace/properties.hpp"
#include "verify/clusters.hpp"
#include "verify/cycles.hpp"
#include "verify/edge_walk.hpp"
#include "verify/relation.hpp"

namespace entrain::verify {

namespace {

/// Sums over the locations of all members: counters of 64 bits, nothing else.
struct Totals {
  std::int64_t events = 0, communication_events = 0;
  std::int64_t unknown_records = 0, undefined_references = 0;
  std::int64_t no_events = 0, no_definitions = 0, truncated = 0;
  std::int64_t silent_accelerators = 0;  ///< accelerators without communication among their events
};

Totals sum_locations(const trace::Share& share) {
  Totals sum;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    sum.events += static_cast<std::int64_t>(location.event_count);
    sum.communication_events += static_cast<std::int64_t>(location.events.size());
    sum.unknown_records += static_cast<std::int64_t>(location.unknown_records);
    sum.undefined_references += static_cast<std::int64_t>(location.undefined_references);
    sum.no_events += location.event_file_missing ? 1 : 0;
    sum.no_definitions += location.definition_file_missing ? 1 : 0;
    sum.truncated += location.truncated ? 1 : 0;
    const trace::LocationType type = share.trace.definitions.locations[l].type;
    const bool is_silent = location.event_count > 0 && location.events.empty();
    sum.silent_accelerators += is_silent && type == trace::LocationType::accelerator ? 1 : 0;
  }
  sum_over_members(share.team, sum);
  return sum;
}

void fill_edges(const EdgeCounts& counts, bool init_finalize, CheckReport& report) {
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    const PairCounts& found = counts.edges[k];
    EdgeStatistics& edges = report.edges[k];
    edges.count = found.count;
    edges.violations = found.violations;
    edges.below_latency = found.below_latency;
    edges.equal = found.equal;
    if (static_cast<EdgeKind>(k) == EdgeKind::init_finalize && !init_finalize) continue;
    report.checked_edges += edges.count;
    report.violations += edges.violations;
    report.below_latency += edges.below_latency;
    report.equal += edges.equal;
  }
}

void fill_counters(const Relation& relation, const Cycles& cycles, std::uint64_t dropped_edges,
                   const Totals& totals, CheckReport& report) {
  const Unmatched& u = relation.unmatched();
  report.unmatched = nonzero({
      {"sends", u.sends},
      {"receives", u.receives},
      {"ambiguous_receives", u.ambiguous},
      {"messages_in_gaps", u.in_gaps},
      {"collectives_mismatched", u.collectives_mismatched},
      {"collectives_incomplete", u.collectives_incomplete},
      {"ambiguous_calls", u.ambiguous_calls},
      {"calls_in_gaps", u.calls_in_gaps},
      {"collective_ends_without_begin", u.collective_ends_without_begin},
      {"with_unrecorded_processes", u.with_unrecorded},
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
      {"neighbourhood_instances", s.neighbourhood_instances},
      {"partners_contradicting", s.partners_contradicting},
      {"rma_without_process_sync", s.rma_without_process_sync},
      {"rma_group_sync", s.rma_group_sync},
      {"rma_locks", s.rma_locks},
      {"cyclic_components", static_cast<std::int64_t>(cycles.dropped().size())},
      {"dropped_components", std::ranges::count(cycles.dropped(), true)},
      {"dropped_edges", static_cast<std::int64_t>(dropped_edges)},
      {"unknown_records", totals.unknown_records},
      {"undefined_references", totals.undefined_references},
      {"missing_event_files", totals.no_events},
      {"missing_definition_files", totals.no_definitions},
      {"truncated_event_files", totals.truncated},
      {"accelerators_unchecked", totals.silent_accelerators + u.streams},
  });
}

/// Intervals that may hold cycles, as far as known before any edge is read.
IntervalUnion may_hold_cycles(const Relation& relation, Team& team) {
  IntervalUnion backward(most_clusters_per_member(team));
  if (relation.decreasing()) {  // then a cycle may be anywhere
    backward.add(std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max());
  }
  return backward;
}

/// Checks one relation by one or several sets of times.
class Checker {
 public:
  Checker(const trace::Share& share, const Relation& relation, const CheckOptions& options,
          const Cancel& cancel)
      : share_(share), team_(share.team), relation_(relation), options_(options), cancel_(cancel) {}

  /// Sets `acyclic` if no cycle was found.
  Result<CheckReport> judge_edges(const TimesToCheck& times, bool& acyclic) const {
    const bool known_acyclic = times.known_acyclic || times.named_edges != nullptr;
    Cycles cycles;
    IntervalUnion backward = may_hold_cycles(relation_, team_);
    const auto walk = [&](IntervalUnion* to) {
      return walk_edges(relation_, cycles, times, options_.init_finalize, to, cancel_);
    };
    EdgeSums sums = walk(known_acyclic ? nullptr : &backward);
    TRY(cancel_.agree(team_));
    if (!known_acyclic) {
      const Clusters clusters = merge_clusters(team_, std::move(backward));
      TRY_ASSIGN(cycles,
                 Cycles::find(share_, relation_, clusters, options_.init_finalize, cancel_));
    }
    acyclic = !cycles.any();
    if (!acyclic) {  // edges in cycles demand less than the first walk assumed
      sums = walk(nullptr);
      TRY(cancel_.agree(team_));
    }
    return report(times, sums, cycles);
  }

 private:
  [[nodiscard]] CheckReport report(const TimesToCheck& times, EdgeSums& sums,
                                   const Cycles& cycles) const {
    CheckReport report;
    report.archive = share_.trace.path;
    report.locations = share_.trace.locations.size();
    report.resolution_hz = share_.trace.definitions.clock.resolution_hz;
    report.mu_ticks = times.mu;
    const Totals totals = sum_locations(share_);
    report.events = static_cast<std::uint64_t>(totals.events);
    report.communication_events = static_cast<std::uint64_t>(totals.communication_events);
    EdgeCounts counts = sums;
    sum_over_members(team_, counts);
    fill_edges(counts, options_.init_finalize, report);
    if (!times.clock_of.empty()) {
      report.inside_domains = {counts.inside_clocks.count, counts.inside_clocks.violations};
    }
    fill_counters(relation_, cycles, counts.dropped, totals, report);
    Coverage& coverage = report.coverage = relation_.coverage();
    coverage.lost = coverage.receives - coverage.paired - coverage.ambiguous - coverage.in_gaps;
    coverage.neighbourhood_skipped =
        static_cast<std::uint64_t>(relation_.skipped().neighbourhood_instances);
    const std::uint64_t messages = static_cast<std::uint64_t>(std::ranges::count_if(
        times.wrong_pairs, [](const trace::WrongPair& pair) { return pair.from != pair.to; }));
    const std::uint64_t wrong = std::min(messages, coverage.paired);
    coverage.paired -= wrong;
    coverage.ambiguous += wrong;
    if (!times.wrong_pairs.empty())
      report.skipped.emplace_back("contradicting_pairs", times.wrong_pairs.size());
    report.completeness = trace::completeness_of(share_.trace.definitions);
    report.min_coverage = options_.min_coverage;
    report.judgement = judge(report, options_.strict_latency);
    if (report.judgement.verdict == Verdict::clean) set_unpaired_aside(report);
    sums.worst.agree(team_);
    sums.worst.describe(share_, times.maps, times.region_at, report);
    return report;
  }

  /// Little is known of the clock of a process if few of its operations are paired.
  void set_unpaired_aside(CheckReport& report) const {
    const std::span<const ProcessCoverage> processes = relation_.process_coverage();
    for (std::uint32_t p = 0; p < processes.size(); ++p) {
      const auto [operations, paired] = processes[p];
      const double enough = report.min_coverage * static_cast<double>(operations);
      if (operations == 0 || (paired > 0 && static_cast<double>(paired) >= enough)) continue;
      const LocationIndex first = relation_.places().locations(p).front();
      const std::string& name = trace::process_name(share_.trace.definitions, first);
      report.set_aside.push_back(
          {.kind = "unpaired",
           .clock = name,
           .records = operations - paired,
           .total = operations,
           .is_decisive = true,
           .reason = fmt::format("{} of {} messages and collective calls of {} could be checked",
                                 paired == 0 ? "none" : fmt::format("only {}", paired), operations,
                                 name)});
      report.judgement = {Verdict::unproven, Doubt::set_aside};
    }
  }

  const trace::Share& share_;
  Team& team_;
  const Relation& relation_;
  const CheckOptions& options_;
  const Cancel& cancel_;
};

}  // namespace

Result<Checks> check_both(const trace::Share& share, const TimesToCheck& times,
                          const TimesToCheck* others, const CheckOptions& options,
                          const Cancel& cancel) {
  TRY_ASSIGN(Relation relation, Relation::build(share, times.maps, options.alltoallv, times.claims,
                                                cancel, times.named_edges));
  relation.leave_out(times.wrong_pairs);
  const Checker checker(share, relation, options, cancel);
  Checks checks;
  bool acyclic = false;
  TRY_ASSIGN(checks.report, checker.judge_edges(times, acyclic));
  if (others == nullptr) return checks;
  relation.set_maps(share, others->maps);
  TRY(cancel.agree(share.team));
  TimesToCheck then = *others;
  then.known_acyclic = acyclic;
  TRY_ASSIGN(checks.others, checker.judge_edges(then, acyclic));
  return checks;
}

namespace {

/// True if the trace has operations that may wait for others, or may have had some in a file that
/// could not be read. MPI_Init and MPI_Finalize are none: MPI does not promise that they wait.
bool may_communicate(const CheckReport& report) {
  // Counters of communication, without cancellations and anomalies of definitions.
  constexpr std::array<std::string_view, 5> k_skipped{"rma_without_process_sync", "rma_group_sync",
                                                      "rma_locks", "missing_event_files",
                                                      "truncated_event_files"};
  if (report.coverage.share()) return true;
  const bool unmatched = std::any_of(
      report.unmatched.begin(), report.unmatched.end(),
      [](const auto& counter) { return counter.first != "init_finalize" && counter.second > 0; });
  return unmatched || std::ranges::any_of(k_skipped, [&](std::string_view name) {
           return count_of(report.skipped, name) > 0;
         });
}

}  // namespace

Judgement judge(const CheckReport& report, bool strict_latency) {
  const bool violated = report.violations > 0 || (strict_latency && report.below_latency > 0);
  if (violated) return {Verdict::violations, Doubt::none};
  // Around a cycle that equal stamps cannot explain, some receive is before its send. But no clocks
  // could be right about all of its edges, so the fault lies in the pairs: neither clean nor a
  // violation of clocks.
  if (count_of(report.skipped, "dropped_edges") + count_of(report.skipped, "contradicting_pairs") >
      0) {
    return {Verdict::unproven, Doubt::contradictory_edges};
  }
  const bool is_aside =
      std::ranges::any_of(report.set_aside, [](const SetAside& one) { return one.is_decisive; });
  if (is_aside) return {Verdict::unproven, Doubt::set_aside};
  if (report.checked_edges == 0) {
    return may_communicate(report) ? Judgement{Verdict::unproven, Doubt::no_edges}
                                   : Judgement{Verdict::clean, Doubt::none};
  }
  if (count_of(report.unmatched, "ranks_apart") > 0) {
    return {Verdict::unproven, Doubt::clocks_apart};
  }
  const std::optional<double> share = report.coverage.share();
  const bool enough = !share || *share >= report.min_coverage;  // false for NaN
  return enough ? Judgement{Verdict::clean, Doubt::none}
                : Judgement{Verdict::unproven, Doubt::low_coverage};
}

}  // namespace entrain::verify
