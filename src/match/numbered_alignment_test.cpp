// SPDX-License-Identifier: BSD-3-Clause
#include "match/numbered_alignment.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::match {
namespace {

/// Both sides of a channel: message k is sent at 1000 k and takes 10 ticks.
struct NumberedChannel {
  struct Ends {
    std::vector<EndRecord> records;
    SideFacts facts{.kinds = 6, .evidence = 60};

    /// Removes the ends of messages `first` to `last`, which are known to be missing.
    void lose(std::uint32_t first, std::uint32_t last) {
      std::erase_if(records, [&](const EndRecord& record) {
        return record.number >= first && record.number <= last;
      });
    }
    void lose(std::uint32_t number) { lose(number, number); }
    /// Removes ends that are not known to be missing.
    void lose_unseen(std::uint32_t first, std::uint32_t last) {
      lose(first, last);
      for (EndRecord& record : records) {
        if (record.number > last) record.number -= last - first + 1;
      }
      facts.total -= last - first + 1;
    }
    [[nodiscard]] Side side() const { return {records, facts}; }
  };
  Ends sends, receives;

  explicit NumberedChannel(std::uint32_t messages) {
    for (std::uint32_t k = 0; k < messages; ++k) {
      const std::uint64_t time = 1000 * std::uint64_t{k + 1};
      sends.records.push_back({.time = time, .number = k, .symbol = 8});
      receives.records.push_back({.time = time + 10 + k * 7 % 5, .number = k, .symbol = 8});
    }
    sends.facts.total = receives.facts.total = messages;
  }
  [[nodiscard]] std::optional<Alignment> paired() const {
    return pair_by_numbers(sends.side(), receives.side());
  }
  /// Number of pairs; 0 if the numbers contradict something.
  [[nodiscard]] std::size_t pairs() const {
    const std::optional<Alignment> found = paired();
    return found ? found->pairs.size() : 0;
  }
  /// True if both ends of every pair belong to one message.
  [[nodiscard]] bool right(const Alignment& alignment) const {
    return std::all_of(alignment.pairs.begin(), alignment.pairs.end(), [&](const auto& pair) {
      return receives.records[pair.second].time / 1000 == sends.records[pair.first].time / 1000;
    });
  }
};

TEST(NumberAlignment, ends_of_equal_numbers_are_pairs) {
  NumberedChannel channel(400);
  channel.sends.lose(100);
  channel.receives.lose(200);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->pairs.size(), 398u);
  EXPECT_TRUE(channel.right(*alignment));
  EXPECT_EQ(alignment->lost, 2u);
}

/// Weak evidence, two kinds of operations; `rest`: most of what a round lasts beyond 1,000 ticks.
NumberedChannel weak_channel(std::uint32_t messages, std::uint64_t rest) {
  NumberedChannel channel(messages);
  std::uint64_t later = 0;
  for (std::uint32_t k = 0; k < messages; ++k) {
    if (rest > 0) later += std::uint64_t{k} * k * 7919 % rest / 1000 * 1000;
    channel.sends.records[k].time += later;
    channel.receives.records[k].time += later;
  }
  for (auto* ends : {&channel.sends, &channel.receives}) {
    ends->facts.kinds = 2;
    ends->facts.evidence = 16;
  }
  return channel;
}

TEST(NumberAlignment, steady_delays_confirm_weak_evidence_where_rounds_are_irregular) {
  NumberedChannel channel = weak_channel(400, 50'000);
  channel.sends.lose(100);
  channel.receives.lose(200);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->pairs.size(), 398u);
  EXPECT_TRUE(channel.right(*alignment));
  channel.receives.records[50].time += 30'000;  // off the level: perhaps another one's
  EXPECT_EQ(channel.pairs(), 397u);
  EXPECT_EQ(channel.paired()->ambiguous, 1u);
}

TEST(NumberAlignment, weak_evidence_stays_so_where_delays_confirm_nothing) {
  EXPECT_EQ(weak_channel(400, 50'000).pairs(), 400u);
  EXPECT_FALSE(weak_channel(400, 0).paired());      // in lockstep
  EXPECT_FALSE(weak_channel(20, 50'000).paired());  // too few delays
  EXPECT_FALSE(weak_channel(1, 50'000).paired());
  NumberedChannel unequal = weak_channel(400, 50'000);
  unequal.receives.lose_unseen(300, 300);
  EXPECT_FALSE(unequal.paired());
  NumberedChannel weaker = weak_channel(400, 50'000);
  weaker.sends.facts.evidence = 14;
  EXPECT_FALSE(weaker.paired());
  NumberedChannel counted = weak_channel(400, 50'000);
  counted.receives.facts.kinds = 1;
  EXPECT_FALSE(counted.paired());
  NumberedChannel late = weak_channel(400, 50'000);  // in a third of the rounds
  for (std::uint32_t k = 200; k < 330; ++k) late.receives.records[k].time += k * 977 % 40'000;
  EXPECT_FALSE(late.paired());
}

TEST(NumberAlignment, pairs_beside_steady_ones_may_follow_a_round_that_both_sides_lost) {
  NumberedChannel channel = weak_channel(800, 50'000);
  for (auto* ends : {&channel.sends, &channel.receives}) ends->facts.evidence = 18;
  EXPECT_EQ(channel.pairs(), 800u);
  channel.sends.lose_unseen(300, 300);
  channel.receives.lose_unseen(500, 500);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_GT(alignment->pairs.size(), 500u);
  for (const auto& [send, receive] : alignment->pairs) {
    EXPECT_LT(channel.receives.records[receive].time - channel.sends.records[send].time, 100u);
  }
}

TEST(NumberAlignment, unequal_totals_without_a_jump_contradict) {
  NumberedChannel channel(400);
  channel.sends.facts.total = 401;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, little_evidence_is_none) {
  NumberedChannel channel(400);
  channel.sends.facts.evidence = 17;
  EXPECT_FALSE(channel.paired());
  channel.sends.facts.evidence = 18;
  EXPECT_TRUE(channel.paired());
}

TEST(NumberAlignment, between_two_jumps_nothing_is_certain) {
  // Both sides lost a round at different places, and no routine detects it.
  NumberedChannel channel(4000);
  channel.sends.lose_unseen(1000, 1000);
  channel.receives.lose_unseen(3000, 3000);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_TRUE(channel.right(*alignment));
  EXPECT_GE(alignment->pairs.size(), 1800u);
  EXPECT_LE(alignment->pairs.size(), 1998u);
  EXPECT_GE(alignment->ambiguous, 2000u);
}

TEST(NumberAlignment, a_window_without_records_is_bridged_from_both_sides) {
  NumberedChannel channel(400);
  channel.sends.lose_unseen(100, 149);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_TRUE(channel.right(*alignment));
  EXPECT_GE(alignment->pairs.size(), 200u);
}

TEST(NumberAlignment, an_unseen_loss_at_the_begin_shifts_nothing_up_to_a_window) {
  NumberedChannel channel(400);
  channel.receives.lose_unseen(200, 249);
  channel.sends.lose_unseen(0, 0);
  const auto alignment = channel.paired();
  EXPECT_TRUE(!alignment || channel.right(*alignment));
  // Without the window, totals differ.
  NumberedChannel begin(400);
  begin.sends.lose_unseen(0, 0);
  EXPECT_FALSE(begin.paired());
}

TEST(NumberAlignment, levels_that_differ_across_a_jump_contradict) {
  NumberedChannel channel(400);
  channel.sends.lose_unseen(100, 149);
  for (std::size_t k = 200; k < 400; ++k) channel.receives.records[k].time += 300;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, before_a_gap_at_the_end_delays_alone_confirm_nothing) {
  NumberedChannel channel(400);
  channel.receives.lose(300, 399);
  channel.receives.facts.ends_in_gap = true;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, after_a_gap_at_the_begin_delays_alone_confirm_nothing) {
  NumberedChannel channel(400);
  channel.receives.records.front().after_gap = true;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, many_unequal_lengths_contradict) {
  NumberedChannel channel(400);
  channel.sends.records[70].symbol = 7;
  EXPECT_EQ(channel.pairs(), 399u);
  for (std::size_t k = 0; k < 400; k += 5) channel.sends.records[k].symbol = 7;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, unclear_ends_stay_alone) {
  NumberedChannel channel(400);
  channel.receives.records[70].unclear = true;
  EXPECT_EQ(channel.pairs(), 399u);
}

TEST(NumberAlignment, few_kinds_and_one_length_leave_delays_only) {
  NumberedChannel channel(100);
  const auto only_delays = [&] {
    return only_delays_distinguish(channel.sends.side(), channel.receives.side());
  };
  EXPECT_FALSE(only_delays());
  for (const std::uint32_t kinds : {1, 4}) {
    channel.sends.facts.kinds = kinds;
    EXPECT_TRUE(only_delays());
  }
  channel.sends.records[5].symbol = 9;
  EXPECT_FALSE(only_delays());
}

}  // namespace
}  // namespace entrain::match
