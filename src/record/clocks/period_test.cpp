// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/period.hpp"

#include <gmock/gmock.h>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_ms = 1'000'000, k_s = 1'000'000'000;

/// Rank 0 and another process, whose collective calls end at the same times.
class Pair {
 public:
  Pair(double seconds, std::uint64_t every) {
    const auto now = [this] { return now_; };
    first_.set_up(seconds, every,
                  {.decides = true, .now_ns = now, .broadcast = [this](int* first, int count) {
                     sent_.assign(first, first + count);
                     ++broadcasts_;
                   }});
    second_.set_up(seconds, every,
                   {.decides = false, .now_ns = now, .broadcast = [this](int* first, int count) {
                      ASSERT_EQ(static_cast<std::size_t>(count), sent_.size());
                      std::copy(sent_.begin(), sent_.end(), first);
                      ++received_;
                    }});
  }

  /// The end of a call, `after` nanoseconds after the last one. True if a session is due.
  bool call(std::uint64_t after) {
    now_ += after;
    const bool due = first_.due();
    EXPECT_EQ(second_.due(), due);
    EXPECT_EQ(received_, broadcasts_);
    if (!due) return false;
    now_ += k_ms;
    first_.session_over(k_ms, true);
    second_.session_over(k_ms, true);
    return true;
  }

  Period first_, second_;
  int broadcasts_ = 0;

 private:
  std::uint64_t now_ = 5 * k_s;
  std::vector<int> sent_;
  int received_ = 0;
};

TEST(Period, without_one_nothing_is_due_and_nothing_is_sent) {
  Pair pair(0, 100);
  EXPECT_FALSE(pair.first_.on());
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(pair.call(k_s));
  EXPECT_EQ(pair.broadcasts_, 0);
  EXPECT_EQ(pair.first_.cost(), "");
}

TEST(Period, rare_calls_are_all_decided) {
  Pair pair(10, 100);
  int sessions = 0;
  for (int i = 0; i < 10; ++i) sessions += pair.call(7 * k_s) ? 1 : 0;
  EXPECT_EQ(pair.broadcasts_, 10);
  EXPECT_EQ(sessions, 5);  // at every second call
}

TEST(Period, frequent_calls_are_decided_ten_times_per_period) {
  Pair pair(10, 1'000'000);
  int sessions = 0;
  for (int i = 0; i < 100'000; ++i) sessions += pair.call(k_ms) ? 1 : 0;
  EXPECT_GE(sessions, 9);
  EXPECT_LE(sessions, 10);
  EXPECT_GE(pair.broadcasts_, 95);
  EXPECT_LE(pair.broadcasts_, 125);  // the first ones come at 1, 2, 4, ... calls
}

TEST(Period, decisions_are_at_most_every_calls_apart) {
  Pair pair(10, 100);
  for (int i = 0; i < 100'000; ++i) pair.call(k_ms);
  EXPECT_GE(pair.broadcasts_, 1000);
  EXPECT_LE(pair.broadcasts_, 1010);
}

TEST(Period, its_cost_is_one_sentence) {
  Pair pair(10, 100);
  EXPECT_THAT(pair.first_.cost(), testing::HasSubstr("no periodic clock session was held"));
  pair.call(12 * k_s);
  EXPECT_EQ(pair.first_.cost(),
            "1 periodic clock sessions took 0.001 s, and 1 broadcasts about them 0.000 s: 0.01 % "
            "of 12.001 s");
}

}  // namespace
}  // namespace entrain::record
