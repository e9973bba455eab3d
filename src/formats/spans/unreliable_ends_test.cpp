// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/unreliable_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// Fits of one clock to all others would not end: each follows clocks that are as wrong.
TEST_F(UnreliableEnds, clocks_that_all_drift_explain_all_ends) {
  const std::int64_t offsets[] = {0, 9'000, -7'000, 4'000, -11'000, 14'000, -2'000, 6'000};  // us
  const std::int64_t ppm[] = {0, 20, -15, 8, -30, 25, 12, -6};
  const auto shown = [&](std::uint32_t host, std::int64_t time) {
    return 100'000 + time + offsets[host] + time * ppm[host] / 1'000'000;
  };
  for (std::int64_t i = 0; i < 2'000; ++i) {
    const auto client = static_cast<std::uint32_t>(i % 8);
    const auto server = static_cast<std::uint32_t>((i + 1 + i / 8 % 7) % 8);
    const std::int64_t time = 50'000 * i;
    const bool is_asynchronous = i % 5 == 4;
    const auto add = [&](std::uint32_t cause, std::uint32_t effect, std::int64_t from,
                         std::int64_t to, bool is_end) {
      edges_.push_back({.cause = cause,
                        .effect = effect,
                        .cause_time = static_cast<std::uint64_t>(1000 * shown(cause, from)),
                        .effect_time = static_cast<std::uint64_t>(1000 * shown(effect, to)),
                        .is_end = is_end,
                        .child = static_cast<std::uint32_t>(spans_.all.size())});
    };
    add(client, server, time, time + 80 + i * 7 % 50, false);
    add(server, client, time + (is_asynchronous ? 3'000 : 900), time + 1'000, true);
    spans_.all.push_back({.operation = spans_.operations.number(is_asynchronous ? "tell" : "get")});
  }
  const RejectedEnds rejected = judge();
  EXPECT_EQ(rejected.contradicted, 400U);
  EXPECT_EQ(rejected.asynchronous, 0U);
}

}  // namespace
}  // namespace entrain::spans
