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
    std::vector<std::uint32_t> numbers;
    std::vector<Pause> pauses;
    std::uint32_t total = 0;
    bool ends_in_gap = false;

    /// Removes the ends of messages `first` to `last`, which are known to be missing.
    void lose(std::uint32_t first, std::uint32_t last) {
      for (std::size_t k = numbers.size(); k-- > 0;) {
        if (numbers[k] < first || numbers[k] > last) continue;
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(k));
        numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    void lose(std::uint32_t number) { lose(number, number); }
    /// Removes ends that are not known to be missing; their process pauses there.
    void lose_unseen(std::uint32_t first, std::uint32_t last) {
      lose(first, last);
      const auto place = std::lower_bound(numbers.begin(), numbers.end(), first);
      pauses.push_back({static_cast<std::uint32_t>(place - numbers.begin()),
                        1000 * std::uint64_t{last - first + 2}});
      std::for_each(place, numbers.end(), [&](std::uint32_t& n) { n -= last - first + 1; });
      total -= last - first + 1;
    }
    [[nodiscard]] NumberedSide numbered(std::uint32_t kinds, std::uint32_t evidence) const {
      return {{records, 800, ends_in_gap}, numbers, total, pauses, kinds, evidence};
    }
  };
  Ends sends, receives;
  std::uint32_t kinds = 6, evidence = 60;

  explicit NumberedChannel(std::uint32_t messages) {
    for (std::uint32_t k = 0; k < messages; ++k) {
      const std::uint64_t time = 1000 * std::uint64_t{k + 1};
      sends.records.push_back({.time = time, .position = 2 * k, .symbol = 8});
      receives.records.push_back({.time = time + 10 + k * 7 % 5, .position = 2 * k, .symbol = 8});
      for (Ends* ends : {&sends, &receives}) {
        ends->numbers.push_back(k);
        ++ends->total;
      }
    }
  }
  [[nodiscard]] std::optional<Alignment> paired() const {
    return pair_by_numbers(sends.numbered(kinds, evidence), receives.numbered(kinds, evidence));
  }
  /// True if both ends of every pair belong to one message.
  [[nodiscard]] static bool right(const Alignment& alignment, const Ends& sends,
                                  const Ends& receives) {
    return std::all_of(alignment.pairs.begin(), alignment.pairs.end(), [&](const auto& pair) {
      return receives.records[pair.second].time / 1000 == sends.records[pair.first].time / 1000;
    });
  }
  [[nodiscard]] bool right(const Alignment& alignment) const {
    return right(alignment, sends, receives);
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

TEST(NumberAlignment, unequal_totals_contradict) {
  NumberedChannel channel(400);
  channel.sends.total = 401;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, little_evidence_is_none) {
  NumberedChannel channel(400);
  channel.evidence = 17;
  EXPECT_FALSE(channel.paired());
  channel.evidence = 18;
  EXPECT_TRUE(channel.paired());
}

TEST(NumberAlignment, a_level_of_delays_that_changes_contradicts) {
  // Both sides lost a round at different places, and no routine detects it.
  NumberedChannel channel(4000);
  channel.sends.lose(100);
  channel.receives.lose(3000);
  for (std::size_t k = 100; k < 3999; ++k) --channel.sends.numbers[k];
  for (std::size_t k = 3000; k < 3999; ++k) --channel.receives.numbers[k];
  channel.sends.total = channel.receives.total = 3999;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, a_pause_in_which_records_are_missing_is_bridged_from_both_sides) {
  NumberedChannel channel(400);
  channel.sends.lose_unseen(100, 149);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_TRUE(channel.right(*alignment));
  EXPECT_GE(alignment->pairs.size(), 340u);
}

TEST(NumberAlignment, a_pause_in_which_nothing_is_missing_changes_nothing) {
  NumberedChannel channel(400);
  for (NumberedChannel::Ends* ends : {&channel.sends, &channel.receives}) {
    for (std::size_t k = 200; k < 400; ++k) ends->records[k].time += 1'000'000;
  }
  channel.sends.pauses.push_back({200, 1'001'000});
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->pairs.size(), 400u);
}

TEST(NumberAlignment, before_a_gap_at_the_end_delays_alone_confirm_nothing) {
  NumberedChannel channel(400);
  channel.receives.lose(300, 399);
  channel.receives.ends_in_gap = true;
  channel.kinds = 4;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, other_lengths_contradict) {
  NumberedChannel channel(400);
  channel.receives.records[200].symbol = 9;
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_TRUE(channel.right(*alignment));
  EXPECT_LT(alignment->pairs.size(), 400u);
  EXPECT_GE(alignment->pairs.size(), 390u);
}

TEST(NumberAlignment, an_undetected_loss_at_the_begin_does_not_shift_all_up_to_a_cut) {
  for (const std::uint32_t kinds : {4, 6}) {
    NumberedChannel channel(400);
    channel.kinds = kinds;
    channel.receives.lose_unseen(200, 249);
    // The first send is missing, and no routine detects it.
    channel.sends.records.erase(channel.sends.records.begin());
    channel.sends.numbers.pop_back();
    --channel.sends.total;
    const auto alignment = channel.paired();
    if (alignment) {
      EXPECT_TRUE(channel.right(*alignment));
    }
    EXPECT_FALSE(alignment && kinds == 4);
  }
}

TEST(NumberAlignment, pauses_of_both_processes_change_nothing_if_both_count_the_same) {
  NumberedChannel channel(400);
  for (NumberedChannel::Ends* ends : {&channel.sends, &channel.receives}) {
    for (std::size_t k = 200; k < 400; ++k) ends->records[k].time += 1'000'000;
    ends->pauses.push_back({200, 1'001'000});
  }
  channel.sends.lose(100);
  const auto alignment = channel.paired();
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->pairs.size(), 399u);
}

TEST(NumberAlignment, after_a_gap_at_the_begin_delays_alone_confirm_nothing) {
  NumberedChannel channel(400);
  channel.receives.records.front().after_gap = true;
  channel.kinds = 4;
  EXPECT_FALSE(channel.paired());
}

TEST(NumberAlignment, few_kinds_of_operations_and_one_length_leave_only_delays) {
  NumberedChannel channel(10);
  const auto only_delays = [&](std::uint32_t kinds) {
    return only_delays_distinguish(channel.sends.numbered(kinds, 60),
                                   channel.receives.numbered(9, 60));
  };
  EXPECT_FALSE(only_delays(1));  // a stream that nothing flows back against
  EXPECT_TRUE(only_delays(2));
  EXPECT_TRUE(only_delays(4));
  EXPECT_FALSE(only_delays(5));
  channel.receives.records[3].symbol = 9;
  EXPECT_FALSE(only_delays(2));
}

}  // namespace
}  // namespace entrain::match
