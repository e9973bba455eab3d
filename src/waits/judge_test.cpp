// SPDX-License-Identifier: BSD-3-Clause
#include "waits/judge.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bounds/bounds_testing.hpp"

namespace entrain::waits {
namespace {

using bounds::testing::known_error;

enum Part : std::uint8_t { gives = 1, takes = 2, both = 3 };

/// Processes with a location and a clock each; all times are right.
class Made {
 public:
  explicit Made(std::uint32_t processes) : maps_(processes) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      trace_.definitions.location_groups.push_back({.id = p, .name = "rank " + std::to_string(p)});
      trace_.definitions.locations.push_back({.id = p, .name = "", .group = p});
      trace_.definitions.process_of.push_back(p);
      trace_.definitions.node_of.push_back(p);
      proven_.clock_of.push_back(p);
      proven_.errors.push_back(known_error(0, 0));
    }
    proven_.lines.resize(processes);
    proven_.quantum.resize(processes);
    proven_.reference = 0;
    found_.operations = {"barrier"};
    found_.groups = {"all"};
  }

  /// The error of a clock is between -reach and +reach.
  Made& bound(std::uint32_t process, std::int64_t reach) {
    proven_.errors[process] = known_error(-reach, reach);
    return *this;
  }
  Made& unbounded(std::uint32_t process) {
    proven_.errors[process] = {};
    return *this;
  }

  struct Begin {
    std::uint32_t process = 0;
    std::uint64_t time = 0;
    Part part = both;
  };
  /// All calls end 5 ticks after the last begin.
  Made& collective(const std::vector<Begin>& begins, std::uint32_t expected = 0,
                   std::optional<std::uint64_t> step = std::nullopt) {
    std::uint64_t last = 0;
    for (const Begin& one : begins) last = std::max(last, one.time);
    found_.all.push_back({.first = found_.calls.size(),
                          .members = static_cast<std::uint32_t>(begins.size()),
                          .expected = expected,
                          .step = step});
    for (const Begin& one : begins) {
      found_.calls.push_back({.begin = one.time,
                              .end = last + 5,
                              .location = one.process,
                              .gives = (one.part & gives) != 0,
                              .takes = (one.part & takes) != 0});
    }
    return *this;
  }

  [[nodiscard]] StragglerReport judged(bool is_proved = true) const {
    Solo solo;
    const trace::Partition partition = trace::undivided(trace_.definitions);
    const trace::Share share{solo, partition, trace_};
    return judge({.share = share,
                  .collectives = found_,
                  .maps = maps_,
                  .proven = is_proved ? &proven_ : nullptr});
  }
  [[nodiscard]] CollectiveWait only() const { return judged().collectives.at(0); }

  trace::Collectives found_;
  bounds::ProvenIntervals proven_;

 private:
  trace::Trace trace_;
  std::vector<ClockMap> maps_;
};

// Possible times are wider than the bounds by the rounding of lines and maps.
constexpr std::int64_t k_rounding = 10;

TEST(Waits, all_wait_for_the_last_one) {
  const CollectiveWait one =
      Made(3).bound(1, 20).bound(2, 20).collective({{0, 1000}, {1, 1400}, {2, 1500}}).only();
  EXPECT_EQ(one.known, LastArrival::proven);
  EXPECT_EQ(one.last, 2u);
  EXPECT_EQ(one.alone_ticks, 100);
  EXPECT_EQ(one.wait_ticks, 600);
  EXPECT_EQ(one.longest_ticks, 500);
  EXPECT_LE(*one.certain_ticks, 60);
  EXPECT_GE(*one.certain_ticks, 60 - 2 * k_rounding);
}

TEST(Waits, what_bounds_do_not_tell_apart_is_a_tie) {
  const StragglerReport report =
      Made(3).bound(1, 90).bound(2, 20).collective({{0, 1000}, {1, 1400}, {2, 1500}}).judged();
  EXPECT_EQ(report.ties, 1u);
  EXPECT_EQ(report.proven, 0u);
  EXPECT_LE(*report.collectives[0].certain_ticks, 0);
  for (const StragglerRow& row : report.rows) {
    EXPECT_EQ(row.last, 0u);
    EXPECT_EQ(row.wait_ticks, 0);
    EXPECT_EQ(row.ties, row.process == 0 ? 0u : 1u);
    EXPECT_EQ(row.likely, row.process == 2 ? 1u : 0u);
  }
}

TEST(Waits, calls_of_one_clock_are_compared_by_their_times) {
  Made run(3);
  run.bound(1, 90).bound(2, 90).proven_.clock_of[2] = 1;
  EXPECT_EQ(run.collective({{0, 1000}, {1, 1499}, {2, 1500}}).only().known, LastArrival::proven);
}

TEST(Waits, clocks_without_bounds_prove_nothing) {
  Made run(3);
  run.unbounded(1).collective({{0, 1000}, {1, 1400}, {2, 1500}});
  EXPECT_EQ(run.only().known, LastArrival::unproven);
  EXPECT_EQ(run.judged(false).unproven, 1u);
  run.proven_.about.reason = "they contradict each other";
  EXPECT_EQ(run.judged().unproven, 1u);
  EXPECT_EQ(run.judged().reason, "they contradict each other");
}

TEST(Waits, a_root_that_gives_is_waited_for_by_those_before_it) {
  const std::vector<Made::Begin> late{{0, 1500, gives}, {1, 1000, takes}, {2, 1800, takes}};
  const CollectiveWait one = Made(3).collective(late).only();
  EXPECT_EQ(one.known, LastArrival::proven);
  EXPECT_EQ(one.last, 0u);
  EXPECT_EQ(one.wait_ticks, 500);
  EXPECT_EQ(one.alone_ticks, 0) << "another one came even later";
  const std::vector<Made::Begin> early{{0, 900, gives}, {1, 1000, takes}, {2, 1800, takes}};
  EXPECT_EQ(Made(3).collective(early).only().known, LastArrival::nobody);
  EXPECT_EQ(Made(3).bound(1, 200).collective(early).only().known, LastArrival::tie);
}

TEST(Waits, a_root_that_takes_waits_for_the_last_of_the_others) {
  const CollectiveWait one =
      Made(3).collective({{0, 1000, both}, {1, 1300, gives}, {2, 1400, gives}}).only();
  EXPECT_EQ(one.known, LastArrival::proven);
  EXPECT_EQ(one.last, 2u);
  EXPECT_EQ(one.wait_ticks, 400) << "rank 1 does not wait";
  const std::vector<Made::Begin> late_root{{0, 1000, both}, {1, 500, gives}};
  EXPECT_EQ(Made(2).collective(late_root).only().known, LastArrival::nobody);
  const StragglerReport report = Made(2).bound(1, 800).collective(late_root).judged();
  EXPECT_EQ(report.collectives[0].known, LastArrival::tie);
  EXPECT_EQ(report.collectives[0].last, 1u) << "nobody waits for the root";
}

TEST(Waits, a_missing_member_may_have_been_last) {
  const StragglerReport report = Made(3).collective({{0, 1000}, {1, 1400}}, 3).judged();
  EXPECT_EQ(report.incomplete, 1u);
  EXPECT_EQ(report.proven, 0u);
}

TEST(Waits, a_member_that_left_before_the_last_one_came_contradicts) {
  Made run(2);
  run.collective({{0, 1000}, {1, 1400}}).found_.calls[0].end = 1399;
  EXPECT_EQ(run.judged().contradicting, 1u);
  EXPECT_EQ(run.judged().unproven, 1u);
}

TEST(Waits, times_may_be_any_numbers) {
  constexpr std::uint64_t k_huge = std::numeric_limits<std::int64_t>::max();
  Made run(2);
  for (int i = 0; i < 3; ++i) run.collective({{0, 0}, {1, k_huge - 10}});
  const StragglerReport report = run.judged();
  EXPECT_EQ(report.collectives.size(), 3u);
  EXPECT_GE(report.wait_ticks, 0);
  EXPECT_TRUE(Made(2).judged().collectives.empty());
  EXPECT_EQ(Made(1).collective({{0, 5}}).only().known, LastArrival::nobody);
}

/// Rank p is last `times[p]` times, by 100 ticks.
StragglerReport shares(const std::vector<int>& times) {
  const auto ranks = static_cast<std::uint32_t>(times.size());
  Made run(ranks);
  std::uint64_t now = 1000;
  for (std::uint32_t last = 0; last < ranks; ++last) {
    for (int i = 0; i < times[last]; ++i, now += 1000) {
      std::vector<Made::Begin> begins;
      for (std::uint32_t p = 0; p < ranks; ++p) begins.push_back({p, now + (p == last ? 100 : 0)});
      run.collective(begins, ranks, 1 + now / 5000);
    }
  }
  return run.judged();
}

TEST(Waits, who_causes_most_waits_stands_out) {
  const StragglerReport one = shares({1, 1, 9, 1});
  EXPECT_EQ(one.outstanding, 1u);
  EXPECT_EQ(one.rows[0].process, 2u);
  EXPECT_EQ(one.rows[0].last, 9u);
  EXPECT_EQ(one.rows[0].wait_ticks, 9 * 3 * 100);
  EXPECT_EQ(one.rows[0].alone_ticks, 9 * 100);
  EXPECT_EQ(shares({0, 0, 8, 0, 9, 0, 0, 0}).outstanding, 2u);
  EXPECT_EQ(shares({5, 4, 6, 5}).outstanding, 0u);
  EXPECT_EQ(shares({9, 1}).outstanding, 1u);
  EXPECT_EQ(shares({3, 2}).outstanding, 0u);
}

TEST(Waits, nobody_stands_out_where_most_waits_are_not_proved) {
  for (const std::int64_t reach : {0, 2000}) {
    Made run(4);
    run.bound(3, reach);
    for (std::uint64_t t = 10'000; t < 20'000; t += 1000) {
      run.collective({{0, t}, {1, t}, {2, t}, {3, t + 500}});
    }
    run.collective({{0, 30'000}, {1, 30'000}, {2, 35'000}, {3, 30'000}});
    const StragglerReport report = run.judged();
    EXPECT_EQ(report.ties, reach == 0 ? 0u : 10u);
    EXPECT_EQ(report.outstanding, reach == 0 ? 2u : 0u);
  }
}

TEST(Waits, groups_and_steps_add_up) {
  const StragglerReport report = shares({2, 0, 7, 1});
  std::int64_t by_step = 0;
  std::uint64_t collectives = 0;
  for (const WaitSum& step : report.by_step) {
    by_step += step.wait_ticks;
    collectives += step.collectives;
  }
  EXPECT_EQ(by_step, report.wait_ticks);
  EXPECT_EQ(collectives, report.collectives.size());
  ASSERT_EQ(report.by_group.size(), 1u);
  EXPECT_EQ(report.by_group[0].wait_ticks, report.wait_ticks);
  EXPECT_EQ(report.by_group[0].worst, 2u);
  EXPECT_EQ(report.by_group[0].worst_ticks, 7 * 300);
}

}  // namespace
}  // namespace entrain::waits
