// SPDX-License-Identifier: BSD-3-Clause
// The checker finds the edges that the random program knows to be true: of complete records itself,
// of others by the claims of the matcher.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "match/graph.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "verify/relation.hpp"

namespace entrain::test {
namespace {

std::vector<TrueEdge> expanded(const verify::Relation& relation, const trace::Trace& trace,
                               bool init_finalize) {
  std::vector<TrueEdge> edges;
  const auto stamp = [&](verify::EventRef ref) {
    return trace.locations[ref.location].events[ref.event].time;
  };
  const auto add = [&](verify::EventRef s, verify::EventRef r, EdgeKind kind) {
    if (s.location == r.location || (kind == EdgeKind::init_finalize && !init_finalize)) return;
    edges.push_back({s.location, stamp(s), r.location, stamp(r), kind});
  };
  relation.for_each_pair(
      [&](const verify::Pair& pair) { add(pair.send, pair.receive, pair.kind); });
  relation.for_each_instance([&](const verify::Instance& instance) {
    for (const verify::Moment& s : instance.sends) {
      for (const verify::Moment& r : instance.receives) {
        if (!instance.ordered || s.rank < r.rank) add(s.event, r.event, instance.kind);
      }
    }
  });
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// The relation as one thread sees it, in stored stamps.
verify::Relation pair_events(const trace::Trace& trace, const TracePlan& plan) {
  static const std::vector<ClockMap> maps(10'000);
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  const auto alltoallv = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  const verify::Claims claims{.find = [](const trace::Share& share, bool missing) {
    return match::find_witness(share, missing, 1, nullptr);
  }};
  return std::move(
      *verify::Relation::build({solo, all, trace}, maps, alltoallv, claims, Cancel(nullptr)));
}

RC_GTEST_PROP(Pairing, finds_the_true_edges, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const verify::Relation pairing = pair_events(random.trace, plan);
  RC_ASSERT(expanded(pairing, random.trace, plan.init_finalize) == random.edges);
  RC_ASSERT(pairing.unmatched().sends == static_cast<std::int64_t>(random.unmatched_sends));
  RC_ASSERT(pairing.unmatched().receives == static_cast<std::int64_t>(random.unmatched_receives));
  RC_ASSERT(pairing.unmatched().collectives_mismatched == 0);
  RC_ASSERT(pairing.unmatched().collectives_incomplete == 0);
  RC_ASSERT(pairing.unmatched().threads == 0);
  RC_ASSERT(pairing.unmatched().rma_group_sync == 0);
  RC_ASSERT(pairing.unmatched().rma_notify == 0);
  RC_ASSERT(pairing.skipped().cancelled_sends + pairing.skipped().cancelled_receives ==
            static_cast<std::int64_t>(random.cancelled));
  RC_ASSERT(pairing.skipped().alltoallv_instances ==
            static_cast<std::int64_t>(plan.dense_alltoallv ? 0 : random.alltoallv));
  RC_ASSERT(pairing.skipped().partners_contradicting ==
            static_cast<std::int64_t>(random.contradicting));
}

}  // namespace
}  // namespace entrain::test
