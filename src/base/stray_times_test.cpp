// SPDX-License-Identifier: BSD-3-Clause
#include "base/stray_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace entrain {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t k_second = 1'000'000'000, k_begin = 1'763'000'000 * k_second;

/// 60 messages between three clocks, one per 0.1 s, each 5 us on the way.
struct Messages {
  Clocks clocks{.clocks = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
  EdgeList list;
  std::vector<std::uint64_t> hz;
  std::vector<SetAside> set_aside;

  explicit Messages(std::uint64_t begin = k_begin) {
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::uint64_t sent = begin + i * k_second / 10;
      list.add({i % 3, sent}, {(i + 1 + i / 3 % 2) % 3, sent + 5000});
    }
  }
  /// Changes all stamps of a clock.
  template <class Change>
  void change(std::uint32_t clock, const Change& change) {
    for_ends(list, [&](std::uint32_t one, std::uint64_t& time, bool) {
      if (one == clock) time = change(time);
    });
  }
  void take() { take_stray_times(list, clocks, hz, set_aside); }
  std::string reasons() const {
    std::string all;
    for (const SetAside& one : set_aside) all += one.kind + ": " + one.reason + "\n";
    return all;
  }
};

TEST(StrayTimes, a_run_has_none) {
  for (const std::uint64_t begin : {std::uint64_t{0}, 1000 * k_second, k_begin}) {
    Messages run(begin);
    run.take();
    EXPECT_EQ(run.reasons(), "");
    EXPECT_EQ(run.list.cause_time.size(), 60);
  }
}

TEST(StrayTimes, are_counted_and_named) {
  Messages run;
  for (const std::size_t i : {3U, 9U, 30U}) run.list.effect_time[i] = 0;
  run.list.cause_time[12] = k_no_time;
  run.list.cause_time[15] = k_begin + 200 * 86'400 * k_second;
  run.take();
  EXPECT_EQ(run.list.cause_time.size(), 55);
  EXPECT_EQ(run.list.effect_clock.size(), 55);
  EXPECT_THAT(run.reasons(), HasSubstr("no_time: 1 of 40 ends of edges of clock a has a negative "
                                       "time, written without its sign"));
  EXPECT_THAT(run.reasons(),
              HasSubstr("1 of 40 ends of edges of clock a has times that are none of "
                        "this run (the first is 1780280000000000000)"));
  EXPECT_THAT(run.reasons(), HasSubstr("(the first is 0)"));
}

TEST(StrayTimes, are_not_those_of_a_clock_that_was_set) {
  for (const std::uint64_t by : {3600 * k_second, 90 * 86'400 * k_second}) {
    Messages run;
    run.change(
        1, [&](std::uint64_t time) { return time < k_begin + 2 * k_second ? time - by : time; });
    run.change(2, [&](std::uint64_t time) { return time - 8 * 3600 * k_second; });  // another zone
    run.take();
    EXPECT_EQ(run.reasons(), "");
  }
}

/// 20 ppm are 0.8 s then.
TEST(StrayTimes, are_not_those_after_a_pause) {
  Messages run;
  for (const std::uint64_t passed : {11 * 3600 * k_second, 5 * 86'400 * k_second}) {
    run.list.add({1, k_begin + passed + passed / 50'000}, {0, k_begin + passed + 1000});
  }
  run.take();
  EXPECT_EQ(run.reasons(), "");
}

/// Two messages when the run began, and others 100 s later.
TEST(StrayTimes, are_not_zeros_of_a_run_that_begins_with_them) {
  Messages run(100 * k_second);
  run.list.add({0, 0}, {1, 7000});
  run.list.add({0, 0}, {2, 9000});
  run.take();
  EXPECT_EQ(run.reasons(), "");
}

TEST(StrayTimes, are_zeros_also_where_these_are_most) {
  Messages run;
  int number = 0;
  run.change(2, [&](std::uint64_t time) { return ++number % 3 == 0 ? time : 0; });
  run.take();
  EXPECT_THAT(run.reasons(), HasSubstr("(the first is 0)"));
  EXPECT_EQ(run.list.cause_time.size(), 60 - 27);
}

TEST(StrayTimes, beyond_a_step_of_years_are_known_to_no_map) {
  Messages run;
  for (std::size_t i = 0; i < 20; ++i) {
    if (run.list.cause_clock[i] == 1) run.list.cause_time[i] -= k_begin;
    if (run.list.effect_clock[i] == 1) run.list.effect_time[i] -= k_begin;
  }
  run.take();
  EXPECT_THAT(run.reasons(), HasSubstr("beyond a step of the clock that is too far for its map"));
  EXPECT_TRUE(run.set_aside.front().is_decisive);
}

TEST(StrayTimes, are_all_of_a_clock_of_another_unit) {
  for (const std::uint64_t begin : {1000 * k_second, k_begin}) {
    Messages run(begin);
    for (std::size_t i = 0; i < 60; ++i) {
      if (run.list.cause_clock[i] == 2) run.list.cause_time[i] /= 1000;
      if (run.list.effect_clock[i] == 2) run.list.effect_time[i] /= 1000;
    }
    run.take();
    EXPECT_THAT(run.reasons(), HasSubstr("wrong_unit: 40 of 40 ends of edges of clock c have times "
                                         "that pass 1,000 times too slowly"));
    EXPECT_TRUE(run.set_aside.front().is_decisive);
    EXPECT_EQ(run.list.cause_time.size(), 20);
  }
}

TEST(StrayTimes, are_none_of_a_clock_whose_unit_is_known) {
  Messages run;
  run.change(2, [](std::uint64_t time) { return time / 1000; });
  run.hz = {0, 0, 1'000'000};
  run.take();
  EXPECT_EQ(run.reasons(), "");
}

/// Members of collectives that have no time are taken out; the others stay.
TEST(StrayTimes, of_members_leave_the_others) {
  Messages run;
  run.list = {};
  for (std::uint64_t i = 0; i < 10; ++i) {
    run.list.instances.push_back(
        {.kind = EdgeKind::n_to_n, .first = run.list.members.size(), .begins = 3, .ends = 3});
    for (std::uint32_t m = 0; m < 6; ++m) {
      const std::uint64_t time = k_begin + i * k_second + m / 3 * 5000;
      run.list.members.push_back({m % 3, m % 3, i == 4 && m == 1 ? 0 : time});
    }
  }
  run.take();
  EXPECT_EQ(run.list.members.size(), 59);
  EXPECT_EQ(run.list.instances[4].begins, 2);
  EXPECT_EQ(run.list.instances[9].first, 53);
  EXPECT_EQ(run.set_aside.size(), 1);
}

}  // namespace
}  // namespace entrain
