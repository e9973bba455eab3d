// SPDX-License-Identifier: BSD-3-Clause
// The checker counts what counting every single pair gives.
#include <algorithm>
#include <array>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "support/reference_clc.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

struct Brute {
  std::uint64_t count = 0, violations = 0, below_latency = 0;
  std::int64_t worst = std::numeric_limits<std::int64_t>::max();
};

std::array<Brute, k_edge_kinds> count_all(const ReferenceProblem& problem,
                                          const ReferenceCycles& cycles,
                                          const std::vector<std::int64_t>& time) {
  std::array<Brute, k_edge_kinds> result;
  for (std::size_t k = 0; k < problem.pairs.size(); ++k) {
    const ReferencePair& pair = problem.pairs[k];
    if (cycles.dropped[k]) continue;
    Brute& of_kind = result[static_cast<std::size_t>(pair.kind)];
    const bool inside = cycles.component[pair.send] == cycles.component[pair.receive];
    const std::int64_t margin = time[pair.receive] - time[pair.send];
    ++of_kind.count;
    if (margin < 0) ++of_kind.violations;
    if (margin < (inside ? 0 : pair.mu)) ++of_kind.below_latency;
    of_kind.worst = std::min(of_kind.worst, margin);
  }
  return result;
}

CheckOptions check_options(const TracePlan& plan) {
  CheckOptions options;
  options.alltoallv = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  options.init_finalize = plan.init_finalize;
  return options;
}

RC_GTEST_PROP(Check, counts_every_pair, ()) {
  const TracePlan plan = *any_plan();
  const MuTicks mu = *rc::gen::element(MuTicks{0, 0, 0}, MuTicks{1, 1, 1}, MuTicks{0, 2, 7});
  const RandomTrace random = random_trace(plan);
  const ReferenceProblem problem = reference_problem(random, mu);
  const CheckReport report =
      verify::check(random.trace, {.maps = random.presync, .mu = mu}, check_options(plan));
  const auto brute = count_all(problem, reference_cycles(problem), problem.c);
  std::uint64_t violations = 0, below_latency = 0;
  for (std::size_t kind = 0; kind < k_edge_kinds; ++kind) {
    const EdgeStatistics& edges = report.edges[kind];
    RC_ASSERT(edges.count == brute[kind].count);
    RC_ASSERT(edges.violations == brute[kind].violations);
    RC_ASSERT(edges.below_latency == brute[kind].below_latency);
    if (edges.worst) RC_ASSERT(edges.worst->margin_ticks == brute[kind].worst);
    RC_ASSERT(edges.worst || brute[kind].violations == 0u);
    violations += edges.violations;
    below_latency += edges.below_latency;
  }
  RC_ASSERT(report.violations == violations);
  RC_ASSERT(report.below_latency == below_latency);
}

}  // namespace
}  // namespace entrain::test
