// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/edges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace entrain::spans {
namespace {

using testing::ElementsAre;

/// Calls between two hosts; each client waits.
class UnreliableEnds : public testing::Test {
 protected:
  /// Times in us; `late`: end of the server - end of the client.
  void call(std::int64_t begin, std::int64_t way, std::int64_t late, const char* name = "get",
            std::uint32_t client = 0, std::uint32_t server = 1) {
    const auto add = [&](std::uint32_t cause, std::uint32_t effect, std::int64_t from,
                         std::int64_t to, bool is_end) {
      edges_.push_back({.cause = cause,
                        .effect = effect,
                        .cause_time = static_cast<std::uint64_t>(from * 1000),
                        .effect_time = static_cast<std::uint64_t>(to * 1000),
                        .is_end = is_end,
                        .child = static_cast<std::uint32_t>(spans_.all.size())});
    };
    add(client, server, begin, begin + way, false);
    add(server, client, begin + 1000 + late, begin + 1000, true);
    spans_.all.push_back({.operation = spans_.operations.number(name)});
  }
  RejectedEnds judge() { return mark_unreliable_ends(spans_, 8, edges_); }
  [[nodiscard]] std::vector<Rejection> of_ends() const {
    std::vector<Rejection> rejections;
    for (const Edge& edge : edges_) {
      if (edge.is_end) rejections.push_back(edge.rejection);
    }
    return rejections;
  }

  Spans spans_;
  BigVector<Edge> edges_;
};

TEST_F(UnreliableEnds, an_end_just_after_the_client_timed_out_is_rejected) {
  for (int i = 0; i < 10; ++i) call(10'000 * i, 80, -80);
  call(100'000, 80, 5'000);  // shows that clients time out
  call(110'000, 90, 60);     // which a clock that is 60 us late would explain
  const RejectedEnds rejected = judge();
  EXPECT_EQ(rejected.contradicted, 2U);
  EXPECT_EQ(of_ends().back(), Rejection::contradicted);
}

TEST_F(UnreliableEnds, without_timeouts_a_lone_end_counts) {
  for (int i = 0; i < 10; ++i) call(10'000 * i, 80, -80);
  call(110'000, 90, 60);
  EXPECT_EQ(judge().contradicted, 0U);
}

TEST_F(UnreliableEnds, ends_at_a_clock_that_is_late_support_each_other) {
  for (int i = 0; i < 10; ++i) call(10'000 * i, 3'080, 2'900 + i);
  call(100'000, 3'080, 9'000);
  EXPECT_EQ(judge().contradicted, 1U);
  EXPECT_EQ(of_ends().back(), Rejection::contradicted);
}

/// One or two calls per pair: those of the host support each other.
TEST_F(UnreliableEnds, few_calls_of_many_pairs_support_each_other) {
  for (std::uint32_t client = 1; client < 6; ++client) {
    call(10'000 * client, 3'080, 2'900, "get", client, 0);
  }
  call(100'000, 80, 9'000, "get", 6, 7);
  EXPECT_EQ(judge().contradicted, 1U);
  EXPECT_EQ(of_ends().back(), Rejection::contradicted);
}

TEST_F(UnreliableEnds, a_clock_that_was_set_explains_all_ends) {
  for (int i = 0; i < 40; ++i) call(10'000 * i, 80, -80);
  for (int i = 40; i < 80; ++i) call(10'000 * i, -7'920, -8'080);  // the client's clock: 8 ms ahead
  EXPECT_EQ(judge().contradicted, 0U);
}

TEST_F(UnreliableEnds, a_clock_that_stood_still_for_hours_explains_all_ends) {
  for (int i = 0; i < 20; ++i) call(2'000'000 * i, 20'000, -20'000);
  constexpr std::int64_t k_asleep = 7'200'000'000;
  for (int i = 20; i < 40; ++i) {
    call(2'000'000 * i, k_asleep + 20'000, k_asleep - 20'000);
  }
  EXPECT_EQ(judge().contradicted, 0U);
}

TEST_F(UnreliableEnds, a_clock_that_nobody_disciplines_explains_all_ends) {
  for (int i = 0; i < 100; ++i) call(1'000'000 * i, 80 + 500 * i, -80 + 500 * i);
  EXPECT_EQ(judge().contradicted, 0U);
}

TEST_F(UnreliableEnds, where_a_tenth_of_the_clients_give_up_clocks_stay) {
  for (int i = 0; i < 400; ++i) {
    const std::int64_t late = i % 10 == 3 ? 10 + 70 * (i % 100) : -80;
    call(10'000 * i, 80, late, i % 2 == 0 ? "get" : "put");
  }
  EXPECT_EQ(judge().contradicted, 40U);
}

TEST_F(UnreliableEnds, ends_of_an_operation_that_nobody_waits_for_are_no_evidence) {
  for (int i = 0; i < 30; ++i) call(10'000 * i, 80, 2'000 + 1'000 * (i * 7 % 11), "tell");
  for (int i = 0; i < 9; ++i) call(10'000 * i + 5'000, 80, -100, "tell");
  const RejectedEnds rejected = judge();
  EXPECT_EQ(rejected.contradicted, 30U);
  EXPECT_EQ(rejected.asynchronous, 9U);
}

/// Calls of two clocks of one name, in turns: no single clock explains them, but each alone.
TEST_F(UnreliableEnds, that_clocks_would_explain_one_by_one_leave_nothing_known_of_their_pair) {
  constexpr std::int64_t k_hour = 3'600'000'000;
  for (int i = 0; i < 6; ++i) call(1'000'000 * i, 80 + i % 2 * k_hour, -80 + i % 2 * k_hour);
  call(100'000, 80, 9'000, "get", 2, 3);
  const RejectedEnds rejected = judge();
  ASSERT_EQ(rejected.doubtful.size(), 1U);
  EXPECT_EQ(rejected.doubtful[0].hosts, (HostPair{0, 1}));
  EXPECT_EQ(rejected.doubtful[0].ends, 3U);
  EXPECT_EQ(rejected.doubtful[0].total, 6U);
  EXPECT_EQ(rejected.contradicted, 1U);
  EXPECT_EQ(std::ranges::count(edges_, Rejection::doubtful, &Edge::rejection), 12);
}

/// A client with one or two calls to each server, whose clock wanders: two of them say little.
TEST_F(UnreliableEnds, of_many_pairs_of_a_clock_count_together) {
  for (std::uint32_t server = 1; server < 7; ++server) {
    call(1'000'000 * server, 80, -80, "get", 0, server);
    call(1'500'000 * server, 5'080, 4'900, "get", 0, server);
    for (int i = 0; i < 5; ++i) call(200'000 * i, 80, -80, "get", server, server % 6 + 1);
  }
  EXPECT_EQ(judge().doubtful.size(), 6U);
}

/// The delay of a queue lets ends look like those of another clock.
TEST_F(UnreliableEnds, of_an_operation_that_does_not_wait_say_nothing_where_another_one_waits) {
  for (int i = 0; i < 30; ++i) call(10'000 * i, 80, -80);
  for (int i = 0; i < 30; ++i) call(10'000 * i + 5'000, 600, 400 + 5 * i, "tell");
  const RejectedEnds rejected = judge();
  EXPECT_THAT(rejected.doubtful, testing::IsEmpty());
  EXPECT_EQ(rejected.contradicted, 30U);
}

/// Calls between hosts whose clocks are wrong.
class WrongClocks : public UnreliableEnds {
 protected:
  /// A call of 1 ms or `length` by right clocks, us; `late`: as in call().
  void true_call(std::uint32_t client, std::uint32_t server, std::int64_t time,
                 std::int64_t length = 1'000, std::int64_t late = -100) {
    const auto add = [&](std::uint32_t cause, std::uint32_t effect, std::int64_t from,
                         std::int64_t to, bool is_end) {
      edges_.push_back({.cause = cause,
                        .effect = effect,
                        .cause_time = static_cast<std::uint64_t>(1000 * shown_(cause, from)),
                        .effect_time = static_cast<std::uint64_t>(1000 * shown_(effect, to)),
                        .is_end = is_end,
                        .child = static_cast<std::uint32_t>(spans_.all.size())});
    };
    add(client, server, time, time + 80 + time / 1000 % 50, false);
    add(server, client, time + length + late, time + length, true);
    spans_.all.push_back({.operation = spans_.operations.number(late > 0 ? "tell" : "get")});
  }

  std::function<std::int64_t(std::uint32_t, std::int64_t)> shown_;  ///< host, time: stamp, us
};

std::int64_t drifting(std::uint32_t host, std::int64_t time) {
  constexpr std::array<std::int64_t, 8> k_offsets{0, 9'000, -7'000, 4'000, -11'000, 14'000};  // us
  constexpr std::array<std::int64_t, 8> k_ppm{0, 20, -15, 8, -30, 25, 12, -6};
  return 100'000 + time + k_offsets[host] + time * k_ppm[host] / 1'000'000;
}

/// Fits of one clock to all others would not end: each follows clocks that are as wrong.
TEST_F(WrongClocks, that_all_drift_explain_all_ends) {
  shown_ = drifting;
  for (std::int64_t i = 0; i < 2'000; ++i) {
    const auto client = static_cast<std::uint32_t>(i % 8);
    true_call(client, static_cast<std::uint32_t>((i + 1 + i / 8 % 7) % 8), 50'000 * i, 1'000,
              i % 5 == 4 ? 2'000 : -100);
  }
  const RejectedEnds rejected = judge();
  EXPECT_EQ(rejected.contradicted, 400U);
  EXPECT_EQ(rejected.asynchronous, 0U);
}

/// Each host of a chain is fitted to the one before it.
TEST_F(WrongClocks, that_drift_in_a_chain_explain_all_ends) {
  shown_ = drifting;
  for (std::int64_t i = 0; i < 1'400; ++i) {
    const auto client = static_cast<std::uint32_t>(i % 7);
    true_call(client, client + 1, 70'000 * i);
  }
  EXPECT_EQ(judge().contradicted, 0U);
}

/// A client that is behind breaks the ends of its calls, and no begin.
TEST_F(WrongClocks, that_are_behind_beside_right_ones_explain_all_ends) {
  shown_ = [](std::uint32_t host, std::int64_t time) {
    return 100'000 + time - (host == 2 ? 3'000 : host == 5 ? 8'000 : 0);
  };
  for (std::int64_t i = 0; i < 700; ++i) {
    const auto client = static_cast<std::uint32_t>(i % 7);
    true_call(client, client + 1, 70'000 * i);
  }
  EXPECT_EQ(judge().contradicted, 0U);
}

/// The last times before the step would hold after it, too; no time is shown twice.
TEST_F(WrongClocks, that_are_set_back_to_before_their_first_stamp_explain_all_ends) {
  shown_ = [](std::uint32_t host, std::int64_t time) {
    return 1'000'000'000 + time - (host == 1 && time > 45'000'000 ? 600'000'000 : 0);
  };
  for (std::int64_t i = 0; i < 10; ++i) {
    true_call(0, 1, 10'000'000 * i);
    true_call(1, 2, 10'000'000 * i + 1'000'000);
    true_call(2, 0, 10'000'000 * i + 2'000'000);
  }
  const RejectedEnds rejected = judge();
  EXPECT_EQ(rejected.contradicted, 0U);
  EXPECT_EQ(rejected.shown_twice, 0U);
  ASSERT_EQ(rejected.folds.size(), 1U);
  EXPECT_EQ(rejected.folds[0].host, 1U);
  EXPECT_EQ(rejected.folds[0].first, 1'000'000'080'000U);
}

/// It shows a tenth of its times again.
TEST_F(WrongClocks, that_show_many_times_twice_are_named) {
  shown_ = [](std::uint32_t host, std::int64_t time) {
    return 1'000'000'000 + time - (host == 1 && time > 50'050'000 ? 10'000'000 : 0);
  };
  for (std::int64_t i = 0; i < 200; ++i) {
    true_call(0, 1, 500'000 * i);
    true_call(1, 2, 500'000 * i + 100'000);
    true_call(2, 0, 500'000 * i + 200'000);
  }
  const RejectedEnds rejected = judge();
  ASSERT_EQ(rejected.clocks_shown_twice.size(), 1U);
  EXPECT_EQ(rejected.clocks_shown_twice[0].host, 1U);
  EXPECT_NEAR(static_cast<double>(rejected.clocks_shown_twice[0].edges), 80, 4);
  EXPECT_EQ(rejected.clocks_shown_twice[0].total, 800U);
}

/// Calls in flight, longer at the server than at the client, are all that shows the step.
TEST_F(WrongClocks, that_were_set_back_during_long_calls_explain_all_ends) {
  shown_ = [](std::uint32_t host, std::int64_t time) {
    return 10'000'000 + time - (host == 0 && time > 30'000'000 ? 2'000'000 : 0);
  };
  for (std::int64_t i = 0; i < 100; ++i)
    true_call(0, static_cast<std::uint32_t>(1 + i % 3), 200'000 * i);
  for (std::int64_t i = 0; i < 60; ++i)
    true_call(0, static_cast<std::uint32_t>(1 + i % 3), 21'000'000 + 50'000 * i, 12'000'000);
  EXPECT_EQ(judge().contradicted, 0U);
}

}  // namespace
}  // namespace entrain::spans
