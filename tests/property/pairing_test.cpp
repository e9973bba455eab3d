// SPDX-License-Identifier: BSD-3-Clause
// The checker's own pairing finds the edges that the random program knows to be true.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "verify/pairing.hpp"

namespace entrain::test {
namespace {

std::vector<TrueEdge> expanded(const verify::Pairing& pairing, const trace::Trace& trace,
                               bool init_finalize) {
  std::vector<TrueEdge> edges;
  const auto add = [&](verify::EventRef s, verify::EventRef r, EdgeKind kind) {
    if (s.location == r.location || (kind == EdgeKind::init_finalize && !init_finalize)) return;
    edges.push_back(
        {s.location, verify::at(trace, s).time, r.location, verify::at(trace, r).time, kind});
  };
  for (const verify::Pair& pair : pairing.pairs) add(pair.send, pair.receive, pair.kind);
  for (const verify::Instance& instance : pairing.instances) {
    for (const auto& s : pairing.sends(instance)) {
      for (const auto& r : pairing.receives(instance)) {
        if (!instance.ordered || s.rank < r.rank) add(s.event, r.event, instance.kind);
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

RC_GTEST_PROP(Pairing, FindsTheTrueEdges, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const verify::Pairing pairing = verify::pair_events(
      random.trace, plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore);
  RC_ASSERT(expanded(pairing, random.trace, plan.init_finalize) == random.edges);
  RC_ASSERT(pairing.unmatched.sends == random.unmatched_sends);
  RC_ASSERT(pairing.unmatched.receives == random.unmatched_receives);
  RC_ASSERT(pairing.unmatched.collectives_mismatched == 0u);
  RC_ASSERT(pairing.unmatched.collectives_incomplete == 0u);
  RC_ASSERT(pairing.unmatched.threads == 0u);
  RC_ASSERT(pairing.unmatched.rma_group_sync == 0u);
  RC_ASSERT(pairing.unmatched.rma_notify == 0u);
  RC_ASSERT(pairing.skipped.cancelled_sends + pairing.skipped.cancelled_receives ==
            random.cancelled);
}

RC_GTEST_PROP(Pairing, LeavesOutACommunicatorFromTheFirstDisagreement, ()) {
  TracePlan plan = *any_plan();
  plan.mismatched_collective = true;
  plan.mix = {3, 3, 0, 10, 4, 0, 0, 0};
  const RandomTrace random = random_trace(plan);
  const verify::Pairing pairing = verify::pair_events(
      random.trace, plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore);
  RC_ASSERT(expanded(pairing, random.trace, plan.init_finalize) == random.edges);
  RC_ASSERT((pairing.unmatched.collectives_mismatched > 0) == random.collectives_dropped);
}

}  // namespace
}  // namespace entrain::test
