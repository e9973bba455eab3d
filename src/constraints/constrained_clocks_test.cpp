// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/constrained_clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::constraints {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::testing::TraceBuilder;

/// A message arrives 100 ticks before it was sent, from the second of two processes with two
/// threads.
TraceBuilder one_early_message() {
  TraceBuilder b(2, 2);
  b.message(trace::EventKind::send, 2, 1'500, 0);
  b.message(trace::EventKind::recv, 0, 1'400, 1);
  b.request(trace::EventKind::irecv_request, 3, 2'000, 1);
  return b;
}

TEST(ConstrainedClocks, follow_the_maps_that_they_have) {
  testing::WholeTrace whole(one_early_message().trace());
  const Context context = whole.context();
  const trace::ClockDomains domains = whole.processes();
  std::vector<ClockMap> maps(4);
  ConstrainedClocks clocks(context, domains, maps);
  clocks.evaluate();
  EXPECT_EQ(clocks.begin(), 1'400);
  EXPECT_EQ(clocks.end(), 2'000);
  EXPECT_THAT(clocks.own_clocks(), ElementsAre(0, 1));
  EXPECT_EQ(clocks.extent(1).last, 2'000u);
  clocks.collect(nullptr);
  ASSERT_EQ(clocks.constraints().size(), 1u);
  EXPECT_EQ(clocks.constraints()[0].from, 1u);
  EXPECT_EQ(clocks.constraints()[0].slack, -100);
  EXPECT_EQ(clocks.worst_violation(), 100);
  EXPECT_EQ(clocks.sum_of_squared_violations(), 10'000);

  const auto later = [](std::uint32_t clock, const auto&) -> Result<std::optional<ClockMap>> {
    if (clock != 0) return std::nullopt;
    return ClockMap::from_knots({{0, 150}, {1, 150}});
  };
  EXPECT_TRUE(clocks.replace_maps(later));
  EXPECT_EQ(maps[0], maps[1]);
  EXPECT_FALSE(
      clocks.replace_maps([](std::uint32_t, const auto&) -> Result<std::optional<ClockMap>> {
        return fail(ErrorKind::input, "no map");
      }));
  clocks.collect(nullptr);
  EXPECT_EQ(clocks.constraints()[0].slack, 50);
  EXPECT_EQ(clocks.worst_violation(), 0);
}

TEST(ConstrainedClocks, known_constraints_are_found_anew_where_something_changed) {
  testing::WholeTrace whole(one_early_message().trace());
  const Context context = whole.context();
  const trace::ClockDomains domains = whole.processes();
  std::vector<ClockMap> maps(4);
  ConstrainedClocks clocks(context, domains, maps);
  clocks.evaluate();
  clocks.collect(nullptr);
  clocks.collect(nullptr);
  EXPECT_EQ(clocks.constraints().size(), 1u);
  clocks.keep({});
  EXPECT_THAT(clocks.constraints(), IsEmpty());
  clocks.collect(nullptr);
  EXPECT_EQ(clocks.constraints().size(), 1u);
  clocks.component_of = {0, 1};
  clocks.collect(nullptr);
  EXPECT_THAT(clocks.constraints(), IsEmpty());
  clocks.collect_all();
  EXPECT_EQ(clocks.constraints().size(), 1u);
  clocks.collect(nullptr);
  EXPECT_THAT(clocks.constraints(), IsEmpty());
}

TEST(ConstrainedClocks, only_aligned_clocks_constrain_each_other) {
  testing::WholeTrace whole(one_early_message().trace());
  const Context context = whole.context();
  const trace::ClockDomains domains = whole.processes();
  std::vector<ClockMap> maps(4);
  ConstrainedClocks clocks(context, domains, maps);
  clocks.evaluate();
  clocks.component_of = {0, 1};
  clocks.collect(nullptr);
  EXPECT_THAT(clocks.constraints(), IsEmpty());
  EXPECT_EQ(clocks.sum_of_squared_violations(), 0);
}

TEST(ConstrainedClocks, new_maps_give_no_times_before_zero) {
  testing::WholeTrace whole(one_early_message().trace());
  const Context context = whole.context();
  const trace::ClockDomains domains = whole.processes();
  std::vector<ClockMap> maps(4);
  ConstrainedClocks clocks(context, domains, maps);
  std::vector<ClockMap> early(4);
  early[0] = early[1] = *ClockMap::from_knots({{0, -2'000}, {1, -2'000}});
  clocks.set_maps(early);
  EXPECT_EQ(clocks.begin(), 0);
  EXPECT_EQ(maps[2](1'500), 2'100) << "all maps move alike";
}

TEST(ConstrainedClocks, can_be_cancelled) {
  struct Cancelled : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } cancelled;
  testing::WholeTrace whole(one_early_message().trace());
  Context context = whole.context();
  const trace::ClockDomains domains = whole.processes();
  std::vector<ClockMap> maps(4);
  const ConstrainedClocks clocks(context, domains, maps);
  EXPECT_TRUE(clocks.check_cancelled());
  context.progress = &cancelled;
  EXPECT_EQ(clocks.check_cancelled().error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace entrain::constraints
