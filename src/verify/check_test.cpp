// SPDX-License-Identifier: BSD-3-Clause
#include "verify/check.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::edges;
using testing::TraceBuilder;
using K = trace::EventKind;

TEST(Check, times_come_through_the_clock_maps) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 500, 0);
  EXPECT_EQ(b.check().violations, 1);
  const std::vector<ClockMap> maps{{}, *ClockMap::from_knots({{0, 600}, {1000, 600}})};
  const auto region_at = [](LocationIndex location, std::uint64_t time) {
    return "region " + std::to_string(location) + " at " + std::to_string(time);
  };
  const CheckReport report =
      testing::check_by_teams(b.trace(), {.maps = maps, .region_at = region_at}, {});
  EXPECT_EQ(report.violations, 0);
  const auto& worst = edges(report, EdgeKind::p2p).worst;
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->margin_ticks, 100);
  EXPECT_EQ(worst->receive.local_ticks, 500);
  EXPECT_EQ(worst->receive.ticks, 1100);
  EXPECT_EQ(worst->receive.region, "region 1 at 500");
  EXPECT_EQ(worst->send.region, "region 0 at 1000");
}

TEST(Check, fills_the_head_of_the_report) {
  TraceBuilder b(3);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 1500, 0);
  b.trace().locations[2].event_count = 40;  // nothing of it communicates
  const CheckReport report = b.check({}, MuTicks{1, 2, 3});
  EXPECT_EQ(report.archive, "hand-made");
  EXPECT_EQ(report.locations, 3);
  EXPECT_EQ(report.events, 42);
  EXPECT_EQ(report.communication_events, 2);
  EXPECT_EQ(report.resolution_hz, 1'000'000);
  EXPECT_EQ(report.mu_ticks, (MuTicks{1, 2, 3}));
}

TEST(Check, accelerators_that_nothing_ties_to_other_clocks_are_counted) {
  TraceBuilder b(4);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 1500, 0);
  for (const LocationIndex l : {2U, 3U}) {
    b.trace().definitions.locations[l].type = trace::LocationType::accelerator;
  }
  b.trace().locations[2].event_count = 40;  // the other one has no events
  EXPECT_EQ(b.check().skipped, (Counters{{"accelerators_unchecked", 1}}));
}

/// One of two receives of location 2 was lost, and its call is alone.
TEST(Check, a_process_of_which_nothing_is_paired_leaves_the_verdict_open) {
  TraceBuilder b(4);
  for (std::uint64_t k = 0; k < 4; ++k) {
    b.message(K::send, 0, 1000 * k, 1);
    b.message(K::recv, 1, 1000 * k + 500, 0);
  }
  b.message(K::send, 3, 100, 0, 9);  // nobody received it
  EXPECT_EQ(b.check().judgement.verdict, Verdict::clean);
  b.message(K::send, 0, 5000, 2);
  b.message(K::send, 0, 6000, 2);
  b.message(K::recv, 2, 6500, 0);
  b.collective(2, 7000, 7005, trace::op::barrier);
  const CheckReport report = b.check();
  EXPECT_EQ(report.violations, 0);
  EXPECT_EQ(report.judgement.verdict, Verdict::unproven);
  EXPECT_EQ(report.judgement.doubt, Doubt::set_aside);
  ASSERT_EQ(report.set_aside.size(), 1u);
  EXPECT_EQ(report.set_aside[0].kind, "unpaired");
  EXPECT_TRUE(report.set_aside[0].is_decisive);
}

/// What arrived of a process whose file is missing tells nothing of a clock that it does not have.
TEST(Check, a_process_without_records_is_not_named) {
  TraceBuilder b(3);
  for (std::uint64_t k = 0; k < 10; ++k) {
    b.message(K::send, 0, 1000 * k, 1);
    b.message(K::recv, 1, 1000 * k + 500, 0);
  }
  b.message(K::recv, 1, 20'000, 2);
  EXPECT_EQ(b.check().judgement.verdict, Verdict::clean);
}

/// 2 of 10 receives of location 2 have a send: all others of the trace have one.
TEST(Check, a_process_of_which_little_is_paired_leaves_the_verdict_open) {
  TraceBuilder b(3);
  for (std::uint64_t k = 0; k < 100; ++k) {
    b.message(K::send, 0, 1000 * k, 1);
    b.message(K::recv, 1, 1000 * k + 500, 0);
  }
  for (std::uint64_t k = 0; k < 10; ++k) {
    const std::uint32_t tag = k < 2 ? 7 : 8;
    if (k < 2) b.message(K::send, 1, 200'000 + 1000 * k, 2, tag);
    b.message(K::recv, 2, 200'000 + 1000 * k + 500, 1, tag);
  }
  const CheckReport report = b.check();
  EXPECT_GT(report.coverage.share(), 0.9);
  EXPECT_EQ(report.judgement.verdict, Verdict::unproven);
  ASSERT_EQ(report.set_aside.size(), 1U);
  EXPECT_EQ(report.set_aside[0].reason,
            "only 2 of 10 messages and collective calls of MPI Rank 2 could be checked");
  EXPECT_EQ(report.set_aside[0].records, 8U);
  CheckOptions less;
  less.min_coverage = 0.2;
  EXPECT_EQ(b.check(less).judgement.verdict, Verdict::clean);
}

TEST(Check, anomalies_of_the_files_are_counted_in_fixed_order) {
  TraceBuilder b(3);
  auto& locations = b.trace().locations;
  locations[0].unknown_records = 2;
  locations[1].unknown_records = 3;
  locations[1].undefined_references = 1;
  locations[1].event_file_missing = true;
  locations[2].definition_file_missing = true;
  locations[0].definition_file_missing = true;
  locations[2].truncated = true;
  b.add(0, 1, K::rma_lock);
  EXPECT_EQ(b.check().skipped, (Counters{{"rma_locks", 1},
                                         {"unknown_records", 5},
                                         {"undefined_references", 1},
                                         {"missing_event_files", 1},
                                         {"missing_definition_files", 2},
                                         {"truncated_event_files", 1}}));
}

TEST(Check, totals_are_sums_over_kinds) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 90, 0);
  b.collective(0, 200, 205, trace::op::barrier);
  b.collective(1, 210, 215, trace::op::barrier);
  const CheckReport report = b.check({}, MuTicks{0, 0, 20});
  EXPECT_EQ(report.violations, 2);
  EXPECT_EQ(report.below_latency, 3);
}

/// A user who has had enough from the n-th look on.
class Impatient final : public Progress {
 public:
  explicit Impatient(int looks) : looks_(looks) {}
  void begin(std::string_view, std::uint64_t, std::string_view) override {}
  void advance(std::uint64_t /*units*/) override {}
  [[nodiscard]] bool cancelled() const override { return --looks_ < 0; }

 private:
  mutable std::atomic<int> looks_;
};

TEST(Check, looks_for_no_cycle_where_it_is_known_that_there_is_none) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 500, 0);
  b.message(K::send, 1, 600, 0);
  b.message(K::recv, 0, 1100, 1);
  const std::vector<ClockMap> maps(2);
  const auto check = [&](bool known_acyclic) {
    return testing::check_by_teams(b.trace(), {.maps = maps, .known_acyclic = known_acyclic}, {});
  };
  EXPECT_EQ(check(true).violations, 1);
  EXPECT_EQ(check(true).violations, check(false).violations);
  EXPECT_EQ(check(true).checked_edges, check(false).checked_edges);
}

TEST(Check, a_cycle_is_seen_by_whatever_times) {
  // Both locations receive from each other, then send, all at one stamp.
  TraceBuilder b(2);
  b.message(K::recv, 0, 100, 1);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 100, 0);
  b.message(K::send, 1, 100, 0);
  for (const std::int64_t ahead : {-50, 0, 50}) {
    const std::vector<ClockMap> maps{
        {}, *ClockMap::from_knots({{0, 100 + ahead}, {1000, 100 + ahead}})};
    const CheckReport report = testing::check_by_teams(b.trace(), {.maps = maps}, {});
    EXPECT_EQ(testing::count(report.skipped, "cyclic_components"), 1) << ahead;
    // Who says that there is none is believed.
    EXPECT_FALSE(testing::count(check(b.trace(), {.maps = maps, .known_acyclic = true}, {}).skipped,
                                "cyclic_components"));
  }
}

TEST(Check, other_times_of_the_same_events_have_the_same_pairs) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 500, 0);
  const std::vector<ClockMap> early{*ClockMap::from_knots({{0, -600}, {1000, -600}}), {}}, as_is(2);
  const TimesToCheck first{.maps = early}, others{.maps = as_is};
  Solo solo;
  const trace::Partition all = trace::undivided(b.trace().definitions);
  const auto both = check_both({solo, all, b.trace()}, first, &others, {}, Cancel(nullptr));
  ASSERT_TRUE(both && both->others);
  EXPECT_EQ(both->report.violations, 0);
  EXPECT_EQ(both->others->violations, 1);
  EXPECT_EQ(testing::edges(*both->others, EdgeKind::p2p).worst->margin_ticks, -500);
  EXPECT_FALSE(check_both({solo, all, b.trace()}, first, nullptr, {}, Cancel(nullptr))->others);
}

TEST(Check, stops_wherever_it_is_when_the_user_wants_to_stop) {
  TraceBuilder b(4);
  for (LocationIndex l = 0; l < 4; ++l) {
    b.message(K::recv, l, 100, 3 - l);
    b.message(K::send, l, 100, 3 - l);
    b.collective(l, 200, 200, trace::op::barrier);
  }
  const std::vector<ClockMap> maps(4);
  for (const unsigned members : {1U, 3U}) {
    const trace::Partition partition = testing::dealt(b.trace().definitions, members, true);
    int stopped = 0;
    for (int looks = 0;; ++looks) {
      const Impatient user(looks);
      const auto result = run_team(members, [&](Team& team) -> Result<void> {
        const auto report = check({team, partition, b.trace()}, {.maps = maps}, {}, Cancel(&user));
        if (!report) return tl::unexpected<Error>(report.error());
        return {};
      });
      if (result) break;
      EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
      ++stopped;
    }
    EXPECT_GT(stopped, 5) << members;
  }
}

TEST(Check, empty_trace) {
  TraceBuilder b(0);
  EXPECT_EQ(b.check().violations, 0);
  TraceBuilder quiet(2);
  EXPECT_EQ(quiet.check().communication_events, 0);
}

TEST(Check, a_decreasing_stamp_is_no_crash) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 1000, 1);
  b.message(K::send, 0, 10, 1);
  b.message(K::send, 1, 500, 1);
  b.message(K::recv, 2, 20, 0);
  b.message(K::recv, 2, 30, 0);
  b.message(K::recv, 2, 5, 0);
  const std::vector<ClockMap> maps(4, *ClockMap::from_knots({{0, 0}, {100, 50}, {2000, 0}}));
  EXPECT_EQ(edges(testing::check_by_teams(b.trace(), {.maps = maps}, {}), EdgeKind::p2p).count, 3);
}

}  // namespace
}  // namespace entrain::verify
