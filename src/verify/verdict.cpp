// SPDX-License-Identifier: BSD-3-Clause
#include "verify/verdict.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace entrain::verify {

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
  return unmatched || std::any_of(k_skipped.begin(), k_skipped.end(), [&](std::string_view name) {
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
  const bool is_aside = std::any_of(report.set_aside.begin(), report.set_aside.end(),
                                    [](const SetAside& one) { return one.is_decisive; });
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
