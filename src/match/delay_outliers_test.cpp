// SPDX-License-Identifier: BSD-3-Clause
#include "match/delay_outliers.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// Pairs of ends at these stamps.
struct Couples {
  explicit Couples(const std::vector<std::pair<std::uint64_t, std::int64_t>>& time_and_delay) {
    for (const auto& [time, delay] : time_and_delay) {
      const auto k = static_cast<std::uint32_t>(first.size());
      first.push_back({.time = time});
      second.push_back({.time = time + static_cast<std::uint64_t>(delay)});
      alignment.pairs.emplace_back(k, k);
    }
  }
  std::vector<std::uint32_t> left(DelayKind kind) {
    remove_delay_outliers({first, {}}, {second, {}}, kind, alignment);
    std::vector<std::uint32_t> numbers;
    for (const auto& [a, b] : alignment.pairs) numbers.push_back(a);
    return numbers;
  }

  std::vector<EndRecord> first, second;
  Alignment alignment;
};

/// Messages every 50 ms, each of which waits a while at its receiver.
std::vector<std::pair<std::uint64_t, std::int64_t>> messages(std::int64_t drift_ppm = 0) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  for (std::int64_t k = 0; k < 40; ++k) {
    const std::int64_t waits = k % 3 == 0 ? 2 : k % 3 == 1 ? 250 : 900;
    all.emplace_back(1'000'000 + 50'000 * k, waits + 50'000 * k * drift_ppm / 1'000'000);
  }
  return all;
}

std::vector<std::uint32_t> without(std::uint32_t odd) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t k = 0; k < 40; ++k) {
    if (k != odd) numbers.push_back(k);
  }
  return numbers;
}

TEST(DelayOutliers, a_message_that_comes_before_all_others_belongs_to_another_one) {
  auto all = messages();
  all[17].second = -47'000;
  Couples couples(all);
  EXPECT_EQ(couples.left(DelayKind::above_latency), without(17));
  EXPECT_EQ(couples.alignment.ambiguous, 1u);
}

TEST(DelayOutliers, a_message_may_wait_for_long) {
  auto all = messages();
  all[17].second = 47'000;
  EXPECT_EQ(Couples(all).left(DelayKind::above_latency), without(40));
}

/// Messages whose delays differ widely, but whose least ones agree.
std::vector<std::pair<std::uint64_t, std::int64_t>> uneven_messages() {
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  for (std::int64_t k = 0; k < 40; ++k) {
    all.emplace_back(1'000'000 + 50'000 * k, k % 2 == 0 ? 20 + k % 3 : 2'000 + 731 * (k % 7));
  }
  return all;
}

TEST(DelayOutliers, a_message_far_below_the_least_delays_belongs_to_another_one) {
  auto all = uneven_messages();
  all[17].second = -20;  // the least ones are 20, 21 and 22
  EXPECT_EQ(Couples(all).left(DelayKind::above_latency), without(17));
  all[17].second = 17;
  EXPECT_EQ(Couples(all).left(DelayKind::above_latency), without(40));
}

TEST(DelayOutliers, clocks_that_step_lower_the_least_delays) {
  auto all = uneven_messages();
  for (std::size_t k = 17; k < all.size(); ++k) all[k].second -= 40;
  EXPECT_EQ(Couples(all).left(DelayKind::above_latency), without(40));
}

TEST(DelayOutliers, clocks_may_run_apart_or_step) {
  EXPECT_EQ(Couples(messages(-90'000)).left(DelayKind::above_latency), without(40));
  EXPECT_EQ(Couples(messages(90'000)).left(DelayKind::above_latency), without(40));
  auto all = messages();
  for (std::size_t k = 20; k < all.size(); ++k) all[k].second -= 1'000'000;
  EXPECT_EQ(Couples(all).left(DelayKind::above_latency), without(40));
}

TEST(DelayOutliers, a_call_that_ends_far_from_its_partner_is_another_one) {
  for (const std::int64_t off : {-50'000, 50'000}) {
    auto all = messages();
    all[17].second = off;
    EXPECT_EQ(Couples(all).left(DelayKind::clustered), without(17)) << off;
  }
  auto late = messages();
  late[17].second = 10'000;  // but less than half of the way to the next call
  EXPECT_EQ(Couples(late).left(DelayKind::clustered), without(40));
}

TEST(DelayOutliers, calls_that_were_taken_for_later_ones_all_go) {
  auto all = messages();
  for (std::size_t k = 20; k < all.size(); ++k) all[k].second += 300'000;
  Couples couples(all);
  EXPECT_TRUE(couples.left(DelayKind::clustered).empty());
  EXPECT_EQ(couples.alignment.ambiguous, 40u);
  EXPECT_EQ(Couples(messages(90'000)).left(DelayKind::clustered), without(40));
}

TEST(DelayOutliers, few_pairs_and_damaged_stamps_are_left_alone) {
  Couples few({{10, 5}, {20, -400}, {30, 5}});
  EXPECT_EQ(few.left(DelayKind::above_latency).size(), 3u);
  auto all = messages();
  all[3].first = ~std::uint64_t{0};
  all[30].first = 0;
  EXPECT_GE(Couples(all).left(DelayKind::clustered).size() + 40, 40u);
}

}  // namespace
}  // namespace entrain::match
