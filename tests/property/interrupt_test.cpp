// SPDX-License-Identifier: BSD-3-Clause
// Whenever the user wants to stop, matching and correction stop, at all members of a team.
#include <atomic>

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "clc/amortize.hpp"
#include "match/graph.hpp"
#include "support/random_trace.hpp"
#include "trace/partition.hpp"

namespace entrain::test {
namespace {

/// Wants to stop after a number of looks.
class Impatient final : public Progress {
 public:
  explicit Impatient(int looks) : looks_(looks) {}
  void begin(std::string_view, std::uint64_t, std::string_view) override {}
  void advance(std::uint64_t /*units*/) override {}
  [[nodiscard]] bool cancelled() const override { return --looks_ < 0; }

 private:
  mutable std::atomic<int> looks_;
};

class Interrupt : public testing::TestWithParam<unsigned> {};

TEST_P(Interrupt, stops_wherever_it_is) {
  TracePlan plan;
  plan.seed = 3;
  plan.processes = 6;
  plan.threads = 2;
  plan.steps = 200;
  plan.offset_ticks = 5000;
  plan.granule_ticks = 100;
  plan.init_finalize = true;
  const RandomTrace random = random_trace(plan);
  const std::vector<std::uint64_t> weight(random.trace.locations.size(), 1);
  const trace::Partition partition = trace::divide(random.trace.definitions, weight, GetParam());
  int stopped_matching = 0, stopped_correcting = 0;
  for (int looks = 0;; ++looks) {
    const Impatient user(looks);
    std::atomic<unsigned> matched = 0;
    const Result<void> result = run_team(GetParam(), [&](Team& team) -> Result<void> {
      TRY_ASSIGN(match::Graph graph, match::build_graph({team, partition, random.trace},
                                                        {.init_finalize = true}, &user));
      ++matched;
      TRY_ASSIGN(const clc::Amortization corrected,
                 clc::amortize({team, partition, random.trace}, std::move(graph), random.presync,
                               {}, &user));
      static_cast<void>(corrected);
      return {};
    });
    if (result) break;
    ASSERT_EQ(result.error().kind, ErrorKind::interrupted) << result.error().message;
    ASSERT_TRUE(matched == 0 || matched == GetParam());
    ++(matched == 0 ? stopped_matching : stopped_correcting);
  }
  EXPECT_GT(stopped_matching, 5);
  EXPECT_GT(stopped_correcting, 5);
}

INSTANTIATE_TEST_SUITE_P(Members, Interrupt, testing::Values(1u, 3u));

}  // namespace
}  // namespace entrain::test
