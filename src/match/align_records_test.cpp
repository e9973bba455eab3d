// SPDX-License-Identifier: BSD-3-Clause
#include "match/align_records.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/ends.hpp"

namespace entrain::match {
namespace {

/// Both sides of a channel whose k-th message is sent at 1000 k and received 10 later. Between two
/// messages the processes have two other operations with each other.
struct Channel {
  std::vector<EndRecord> sends, receives;
  std::uint32_t end = 0;

  explicit Channel(std::uint64_t messages, std::uint64_t offset = 0) {
    for (std::uint64_t k = 0; k < messages; ++k) {
      const std::uint64_t jitter = k * 7 % 5;
      const auto position = static_cast<std::uint32_t>(2 * k);
      sends.push_back({.time = 1000 * (k + 1), .position = position, .symbol = 8});
      receives.push_back(
          {.time = offset + 1000 * (k + 1) + 10 + jitter, .position = position, .symbol = 8});
      end = position + 2;
    }
  }
  void lose_send(std::size_t k) { sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(k)); }
  void lose_receive(std::size_t k) {
    receives.erase(receives.begin() + static_cast<std::ptrdiff_t>(k));
  }
  [[nodiscard]] Alignment aligned() const {
    return align_records({sends, {.position = end}}, {receives, {.position = end}});
  }
};

/// Number of pairs that the complete channel does not have, without `send_lost` and `receive_lost`.
std::size_t wrong(const Alignment& alignment, std::uint32_t send_lost, std::uint32_t receive_lost) {
  std::size_t count = 0;
  for (const auto& [send, receive] : alignment.pairs) {
    const std::uint32_t s = send + (send >= send_lost ? 1 : 0);
    const std::uint32_t r = receive + (receive >= receive_lost ? 1 : 0);
    count += s != r;
  }
  return count;
}
constexpr std::uint32_t k_kept = 1u << 30;

TEST(AlignRecords, a_lost_receive_leaves_its_send_alone) {
  Channel channel(400);
  channel.lose_receive(140);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, k_kept, 140), 0u);
  EXPECT_GE(alignment.pairs.size(), 395u);
  EXPECT_EQ(alignment.lost, 1u);
}

TEST(AlignRecords, clocks_need_not_agree) {
  Channel channel(400, 5'000'000'000'000);
  channel.lose_send(140);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, 140, k_kept), 0u);
  EXPECT_GE(alignment.pairs.size(), 395u);
}

/// Messages 0.1 ms apart: the receiver, right at first, loses 400 ppm in the end.
TEST(AlignRecords, clocks_may_drift_apart_by_more_than_delays_vary) {
  Channel channel(1000);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    channel.sends[k].time += 99'000 * (k + 1);
    channel.receives[k].time += 99'000 * (k + 1) - 40 * (k < 972 ? 0 : k - 971);
  }
  channel.lose_send(140);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, 140, k_kept), 0u);
  EXPECT_GE(alignment.pairs.size(), 990u);
}

/// Recorded times in us of four processes on two cores that took turns of 4 ms. The delays in order
/// are 4, 4, 12, 12, 4, 4, ... ms; two ends further they would be -4.1 ms throughout.
TEST(AlignRecords, steady_delays_alone_do_not_move_ends_that_agree_in_order) {
  constexpr std::array<std::uint64_t, 20> k_sent = {
      6016,  16648, 16777, 24584, 24639, 40662, 40722, 48595,  48637,  64664,
      64724, 72647, 72748, 84611, 84663, 96578, 96622, 108599, 108640, 120615};
  constexpr std::array<std::uint64_t, 20> k_received = {
      13737, 20487, 20508, 36524, 36565, 44492,  44559,  60556,  60595,  68539,
      68579, 80545, 80573, 92506, 92545, 104521, 104558, 116497, 116527, 124567};
  Channel channel(0);
  for (std::uint32_t k = 0; k < k_sent.size(); ++k) {
    channel.sends.push_back({.time = 1000 * k_sent[k], .position = 12 + k, .symbol = 4});
    channel.receives.push_back({.time = 1000 * k_received[k], .position = 11 + k, .symbol = 4});
  }
  channel.end = 33;
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, k_kept, k_kept), 0u);
  EXPECT_EQ(alignment.pairs.size() + alignment.ambiguous, 20u);
}

TEST(AlignRecords, equal_counts_may_hide_two_losses) {
  Channel channel(500);
  channel.lose_send(130);
  channel.lose_receive(360);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, 130, 360), 0u);
  EXPECT_GE(alignment.pairs.size(), 490u);
}

TEST(AlignRecords, sizes_decide_where_they_differ) {
  Channel channel(20);
  for (std::uint32_t k = 0; k < 20; ++k) channel.sends[k].symbol = channel.receives[k].symbol = k;
  channel.lose_send(7);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, 7, k_kept), 0u);
  EXPECT_EQ(alignment.pairs.size(), 19u);
}

TEST(AlignRecords, what_fell_into_a_gap_is_not_lost) {
  Channel channel(100);
  channel.sends.erase(channel.sends.begin() + 40, channel.sends.begin() + 50);
  channel.sends[40].after_gap = true;
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(alignment.in_gaps(), 10u);
  EXPECT_EQ(alignment.lost, 0u);
  for (const auto& [send, receive] : alignment.pairs) {
    EXPECT_EQ(receive, send < 40 ? send : send + 10);
  }
}

TEST(AlignRecords, nothing_pairs_where_nothing_decides) {
  // All sent at once, all received at once; one receive is missing.
  Channel channel(50);
  for (EndRecord& record : channel.sends) record.time = 1000;
  for (EndRecord& record : channel.receives) record.time = 2000;
  channel.lose_receive(10);
  EXPECT_TRUE(channel.aligned().pairs.empty());
}

TEST(AlignRecords, a_side_without_ends) {
  const Channel channel(3);
  EXPECT_EQ(align_records({channel.sends, {}}, {}).lost, 3u);
  EXPECT_EQ(align_records({{}, {.ends_in_gap = true}}, {channel.receives, {}}).in_gaps(), 3u);
}

TEST(AlignRecords, sizes_that_never_agree) {
  Channel channel(1000);
  for (EndRecord& record : channel.sends) record.symbol = 9;
  EXPECT_TRUE(channel.aligned().pairs.empty());
}

TEST(AlignRecords, only_irregular_stretches_are_searched) {
  Channel channel(100'000);
  channel.lose_send(30'000);
  channel.lose_receive(70'000);
  const Alignment alignment = channel.aligned();
  EXPECT_EQ(wrong(alignment, 30'000, 70'000), 0u);
  EXPECT_GE(alignment.pairs.size(), 99'990u);
  EXPECT_LE(alignment.examined_pairs, 150'000u);
}

TEST(AlignRecords, complete_channels_need_no_search) {
  const Alignment alignment = Channel(10'000).aligned();
  EXPECT_EQ(alignment.pairs.size(), 10'000u);
  EXPECT_EQ(alignment.examined_pairs, 10'000u);
}

TEST(AlignRecords, ends_left_over_may_be_the_first_ones) {
  // Only the delay supports a pair, and the clocks are unknown: the missing send may be the first
  // or the last one.
  Channel channel(1000);
  for (auto* side : {&channel.sends, &channel.receives}) {
    for (EndRecord& record : *side) record.position = 0;
  }
  channel.end = 0;
  channel.lose_send(0);
  EXPECT_TRUE(channel.aligned().pairs.empty());
}

TEST(AlignBetweenGaps, ends_before_and_after_a_gap_are_counted) {
  // All at one time: nothing but their numbers tells which send is missing.
  Channel channel(400);
  for (EndRecord& record : channel.sends) record.time = 1000;
  for (EndRecord& record : channel.receives) record.time = 2000;
  channel.lose_send(140);
  channel.sends[140].after_gap = true;
  const Side sends{channel.sends, {.before_gaps = 140, .after_gaps = 259}};
  const Side receives{channel.receives, {.before_gaps = 400, .after_gaps = 400}};
  ASSERT_TRUE(only_gaps_lose(sends, receives, true));
  EXPECT_FALSE(only_gaps_lose(sends, receives, false));
  const Alignment alignment = align_between_gaps(sends, receives, true);
  EXPECT_EQ(alignment.pairs.size(), 399u);
  EXPECT_EQ(wrong(alignment, 140, k_kept), 0u);
  EXPECT_EQ(alignment.in_gaps(), 1u);
  channel.sends[300].symbol = 9;
  EXPECT_FALSE(only_gaps_lose(sends, receives, true));
}

TEST(MayPair, an_effect_does_not_precede_its_cause) {
  EndRecord send{.time = 200, .doubt = 60}, receive{.time = 90};
  EXPECT_TRUE(may_pair(send, receive));  // nobody knows the other clock
  receive.doubt = 40;
  EXPECT_FALSE(may_pair(send, receive));
  receive.time = 100;
  EXPECT_TRUE(may_pair(send, receive));
  receive.symbol = 1;
  EXPECT_FALSE(may_pair(send, receive));
}

TEST(MayPair, calls_that_all_wait_for_each_other_overlap) {
  EndRecord first{.time = 20'000, .doubt = 100, .duration = 2'900};
  EndRecord second{.time = 23'000, .doubt = 100, .duration = 2'800};
  EXPECT_TRUE(may_pair(first, second));  // began 200 after the other ended
  second.duration = 2'799;
  EXPECT_FALSE(may_pair(first, second));
}

/// The cost of a channel must grow with its length only.
void expect_linear(const Channel& channel) {
  const std::size_t ends = channel.sends.size() + channel.receives.size();
  EXPECT_LE(channel.aligned().examined_pairs, 1500 * ends);
}

TEST(AlignRecords, hard_channels_cost_no_more_than_their_length) {
  constexpr std::size_t k_long = 12'000;
  Channel at_once(k_long);
  for (EndRecord& record : at_once.sends) record.time = 1000;
  for (EndRecord& record : at_once.receives) record.time = 2000;
  at_once.lose_receive(k_long / 2);
  expect_linear(at_once);

  Channel unequal(k_long);
  for (EndRecord& record : unequal.sends) record.symbol = 9;
  expect_linear(unequal);

  Channel few_sends(k_long);
  few_sends.sends.resize(k_long / 3);
  expect_linear(few_sends);

  Channel gaps(k_long);
  for (EndRecord& record : gaps.receives) record.after_gap = true;
  gaps.lose_send(k_long / 2);
  expect_linear(gaps);

  // Irregular ends at intervals; each search steps back over all pairs before it.
  Channel doubtful(k_long);
  for (std::size_t k = 0; k < k_long; ++k) {
    doubtful.sends[k].time = doubtful.receives[k].time = k % 500 == 499 ? 100 * k : 0;
  }
  expect_linear(doubtful);
}

TEST(Delays, last_no_time_where_times_fall) {
  Delays delays;
  delays.add(5, 1000);
  EXPECT_EQ(delays.since(1200), 200U);
  EXPECT_EQ(delays.since(900), 0U);
}

TEST(AlignRecords, any_stamps) {
  Channel channel(10);
  for (std::size_t k = 0; k < 10; ++k) {
    channel.sends[k].time = k % 2 == 0 ? ~std::uint64_t{0} : 0;
    channel.receives[k].time = k % 3 == 0 ? ~std::uint64_t{0} >> 1 : 1;
  }
  channel.lose_send(3);
  EXPECT_LE(channel.aligned().pairs.size(), 9u);
}

}  // namespace
}  // namespace entrain::match
