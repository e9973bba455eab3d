// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/schedule_report.hpp"

#include <gtest/gtest.h>

#include "net/model/generators.hpp"
#include "net/model/topology_dot.hpp"
#include "net/plan/choice.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_drift_ppb = 300'000;

struct StoppedAtOnce : Progress {
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
  StoppedAtOnce stopped;
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
  report.choice.method = Method::joined;
  EXPECT_EQ(report.chosen_row().method, Method::joined);
}

TEST(PlanChoice, the_least_bound_counts_then_the_fewest_slots_of_plans_that_hold) {
  std::vector<MethodRow> rows;
  EXPECT_EQ(least_bound(rows), nullptr);
  const auto add = [&](Method method, Femtoseconds bound, std::int64_t slots) -> MethodRow& {
    MethodRow& row = rows.emplace_back();
    row.method = method;
    row.slots = slots;
    row.skew = {bound, bound};
    row.drift.interval_slots = {100, 100};
    return row;
  };
  add(Method::sss, Femtoseconds(1), 2).verification.conflicts = 1;
  EXPECT_EQ(least_bound(rows), nullptr);
  add(Method::hss, Femtoseconds(7), 9).drift.interval_slots = {0, 0};
  EXPECT_EQ(least_bound(rows)->method, Method::hss);  // better than none
  add(Method::joined, Femtoseconds(9), 8);
  EXPECT_EQ(least_bound(rows)->method, Method::joined);
  add(Method::alternating, Femtoseconds(8), 12);
  EXPECT_EQ(least_bound(rows)->method, Method::alternating);
  add(Method::doubling, Femtoseconds(8), 11);
  EXPECT_EQ(least_bound(rows)->method, Method::doubling);
}

TEST(PlanChoice, only_the_named_method_is_planned_where_nothing_is_compared) {
  const Network network;
  ChoiceOptions options{.method = Method::joined, .compare = false, .sending = {}, .drift_ppb = 1};
  const PlanChoice named =
      choose_plan(network.topology, network.tree, network.parameters, options, nullptr).value();
  EXPECT_EQ(named.rows.size(), 1u);
  EXPECT_EQ(named.row().method, Method::joined);
  EXPECT_FALSE(named.choice.by_bound);
  options.method.reset();
  const PlanChoice best =
      choose_plan(network.topology, network.tree, network.parameters, options, nullptr).value();
  EXPECT_EQ(best.rows.size(), k_methods.size());
  EXPECT_EQ(best.choice.method, Method::alternating);
  EXPECT_EQ(best.choice.compared, 4u);  // SSS fails
  EXPECT_EQ(best.schedule.slots, best.row().slots);
  EXPECT_TRUE(best.choice.equals.empty());
}

TEST(PlanChoice, without_a_plan_there_is_an_error) {
  std::string text = "graph { ";
  for (int i = 0; i < 4500; ++i) text += "n" + std::to_string(i) + " -- s; ";
  const Topology topology = topology_from_dot(text + "}", "t").value();
  const auto none =
      choose_plan(topology, SpanningTree(topology), {},
                  {.method = {}, .compare = true, .sending = {}, .drift_ppb = 1}, nullptr);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace entrain::net
