// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/schedule_report.hpp"

#include <gtest/gtest.h>

#include "net/model/generators.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_drift_ppb = 300'000;

struct Stopped : Progress {
  void begin(std::string_view, std::uint64_t, std::string_view) override {}
  void advance(std::uint64_t) override {}
  [[nodiscard]] bool cancelled() const override { return true; }
};

struct Network {
  Topology topology = generate("tree:3x3", 1).value();
  SpanningTree tree{topology};
  Parameters parameters;

  [[nodiscard]] Result<MethodRow> evaluate(Method method, Progress* progress = nullptr) const {
    const Schedule schedule = plan(topology, tree, method).value();
    return evaluate_method({topology, tree, schedule, parameters}, method, {}, k_drift_ppb,
                           progress);
  }
};

TEST(ScheduleReport, a_row_describes_the_plan) {
  const MethodRow row = Network().evaluate(Method::hss).value();
  EXPECT_EQ(row.method, Method::hss);
  EXPECT_EQ(row.slots, full_tree_slots(3, 3));
  EXPECT_TRUE(row.verification.holds());
  EXPECT_EQ(row.drift.interval_slots[0], interval_slots({}, row.skew[0], k_drift_ppb));
  EXPECT_EQ(row.drift.overhead_share[0], overhead_share(row.slots, row.drift.interval_slots[0]));
}

TEST(ScheduleReport, a_user_who_stops_gets_no_row) {
  Stopped stopped;
  const auto row = Network().evaluate(Method::joined, &stopped);
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().kind, ErrorKind::interrupted);
}

TEST(ScheduleReport, the_least_overhead_is_that_of_a_plan_that_holds_and_has_an_interval) {
  ScheduleReport report;
  EXPECT_EQ(report.least_overhead(), nullptr);
  const auto add = [&](Method method, double share) {
    MethodRow& row = report.methods.emplace_back();
    row.method = method;
    row.drift.interval_slots = {100, 100};
    row.drift.overhead_share = {share, share};
  };
  add(Method::sss, 0.01);
  report.methods.back().verification.conflicts = 1;
  add(Method::hss, 0.02);
  report.methods.back().drift.interval_slots = {0, 100};
  EXPECT_EQ(report.least_overhead(), nullptr);
  add(Method::joined, 0.04);
  add(Method::alternating, 0.03);
  add(Method::doubling, 0.03);
  EXPECT_EQ(report.least_overhead()->method, Method::alternating);
  report.chosen = Method::joined;
  EXPECT_EQ(report.chosen_row().method, Method::joined);
}

}  // namespace
}  // namespace entrain::net
