// SPDX-License-Identifier: BSD-3-Clause
//
// Where records are missing, the checker comes to the edges and counts of the corrector, although
// it shares no code with it.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "otf2/source/load.hpp"
#include "sim/drop.hpp"
#include "support/lockstep.hpp"
#include "support/pairing.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::vector<DropOptions> drop_losses(std::uint64_t seed) {
  std::vector<DropOptions> all(5);
  all[0].random = 0.001;
  all[1].random = 0.01;
  all[2].random = 0.1;
  all[3].windows = {0.1, 1.0 / 3};
  all[4].tail = {0.2, 0.5};
  for (DropOptions& options : all) options.seed = seed;
  return all;
}

/// Says what stretches are missing, as recorders that were switched off and truncated files do.
trace::Trace with_gaps(const sim::DroppedTrace& dropped) {
  trace::Trace trace = dropped.trace;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& window = dropped.report.locations[l].window;
    if (window) trace.locations[l].gaps.push_back({window->begin, window->end});
    if (dropped.report.locations[l].end) trace.locations[l].truncated = true;
  }
  return trace;
}

TEST(SamePairs, of_recorded_truths) {
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces")) {
    if (entry.path().extension() != ".truth") continue;
    const auto loaded = otf2::load(entry.path(), 0, nullptr);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (const DropOptions& loss : drop_losses(compared + 1)) {
      const auto dropped = sim::drop(loaded->trace, loss);
      ASSERT_TRUE(dropped);
      for (const trace::Trace& trace : {dropped->trace, with_gaps(*dropped)}) {
        const Pairing expected = by_corrector(trace, false, 1);
        EXPECT_GT(expected.left.at("sends") + expected.left.at("receives"), 0);
        const Pairing found = by_checker(trace, AlltoallvRule::ignore, compared % 2 == 0 ? 1 : 3);
        EXPECT_TRUE(found.edges == expected.edges)
            << entry.path() << ": " << found.edges.size() << " instead of " << expected.edges.size()
            << " edges";
        EXPECT_EQ(found.left, expected.left) << entry.path();
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 30u);
}

TEST(SamePairs, in_lockstep) {
  // Calls are compared along ways over one other process to the reference.
  const LockstepPlan plans[] = {
      {.processes = 3, .rounds = 2000},
      {.processes = 3, .rounds = 2000, .both_ways = true},
      {.processes = 5, .rounds = 1500, .both_ways = true, .rounds_per_call = 10},
      {.processes = 5, .rounds = 1500, .both_ways = true, .rounds_per_call = 1},
      {.processes = 4, .rounds = 1500, .rounds_per_call = 3}};
  for (const LockstepPlan& plan : plans) {
    const trace::Trace complete = lockstep(plan);
    for (const DropOptions& loss : drop_losses(1)) {
      const auto dropped = sim::drop(complete, loss);
      ASSERT_TRUE(dropped);
      for (const trace::Trace& trace : {dropped->trace, with_gaps(*dropped)}) {
        const Pairing expected = by_corrector(trace, false, 1);
        EXPECT_LE(expected.left.at("ambiguous_receives") + expected.left.at("messages_in_gaps"),
                  expected.left.at("sends") + expected.left.at("receives"));
        for (const unsigned threads : {1u, 3u}) {
          EXPECT_TRUE(by_checker(trace, AlltoallvRule::ignore, threads) == expected);
          EXPECT_TRUE(by_corrector(trace, false, threads) == expected);
        }
      }
    }
  }
}

RC_GTEST_PROP(SamePairs, of_random_traces, ()) {
  TracePlan plan = *any_plan();
  plan.mismatched_collective = *flag();
  plan.unmatched = *flag();
  const RandomTrace random = random_trace(plan);
  const auto options = *rc::gen::elementOf(drop_losses(plan.seed));
  const auto dropped = sim::drop(random.trace, options);
  RC_ASSERT(dropped.has_value());
  const trace::Trace trace = *flag() ? with_gaps(*dropped) : dropped->trace;
  const auto rule = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  const Pairing expected = by_corrector(trace, plan.dense_alltoallv, 1);
  RC_CLASSIFY(expected.left.at("messages_in_gaps") > 0, "in gaps");
  RC_CLASSIFY(expected.left.at("ambiguous_receives") > 0, "ambiguous");
  for (const auto& [name, count] : expected.left) RC_ASSERT(count >= 0);
  RC_ASSERT(by_checker(trace, rule, 1) == expected);
  RC_ASSERT(by_checker(trace, rule, 3) == expected);
  RC_ASSERT(by_corrector(trace, plan.dense_alltoallv, 3) == expected);
}

}  // namespace
}  // namespace entrain::test
