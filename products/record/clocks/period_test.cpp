// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/period.hpp"

#include <gmock/gmock.h>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_ms = 1'000'000, k_s = 1'000'000'000;

/// Rank 0 and another process, whose collective calls end at the same times.
class Pair {
 public:
  Pair(double seconds, std::uint64_t every) : Pair(seconds, {.every = every, .exchanges = 100}) {}
  Pair(double seconds, const Period::Limits& limits, double share = 1) {
    const auto now = [this] { return now_; };
    first_budget_.set_up(share, now_);
    second_budget_.set_up(share, now_);
    first_.set_up(seconds, limits, first_budget_,
                  {.decides = true, .now_ns = now, .broadcast = [this](int* first, int count) {
                     sent_.assign(first, first + count);
                     now_ += broadcast_ns_;
                     ++broadcasts_;
                   }});
    second_.set_up(seconds, limits, second_budget_,
                   {.decides = false, .now_ns = now, .broadcast = [this](int* first, int count) {
                      ASSERT_EQ(static_cast<std::size_t>(count), sent_.size());
                      std::copy(sent_.begin(), sent_.end(), first);
                      ++received_;
                    }});
  }

  /// The end of a call, `after` nanoseconds after the last one. True if a session is due.
  bool call(std::uint64_t after) {
    now_ += after;
    const auto due = first_.due(), other = second_.due();
    EXPECT_EQ(other.has_value(), due.has_value());
    EXPECT_EQ(received_, broadcasts_);
    if (!due || !other) return false;
    EXPECT_EQ(other->exchanges, due->exchanges);
    EXPECT_EQ(other->limit_ns, due->limit_ns);
    latest_ = *due;
    hold(due->exchanges, true);
    return true;
  }

  /// A session, with the time that it takes.
  void hold(std::uint64_t exchanges, bool own) {
    const std::uint64_t took = exchanges * exchange_ns_;
    now_ += took;
    sessions_took_ += own ? took : 0;
    first_.session_over(took, exchanges, own);
    second_.session_over(took, exchanges, own);
  }

  Budget first_budget_, second_budget_;
  Period first_, second_;
  int broadcasts_ = 0;
  SessionSize latest_;
  std::uint64_t exchange_ns_ = k_ms / 100, broadcast_ns_ = 0, sessions_took_ = 0;

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

TEST(Period, sessions_that_cost_too_much_become_short_and_rare) {
  Pair pair(1, {.every = 100, .exchanges = 100, .tree_levels = 2}, 0.01);
  pair.exchange_ns_ = 5 * k_ms;  // a whole session takes half a second
  pair.hold(100, false);
  int sessions = 0;
  for (int i = 0; i < 10'000; ++i) {  // 100 s: 1 s may be spent
    if (!pair.call(10 * k_ms)) continue;
    ++sessions;
    EXPECT_GE(pair.latest_.exchanges, 10u);
    EXPECT_LT(pair.latest_.exchanges, 100u);
    EXPECT_GT(pair.latest_.limit_ns, 0u);
    EXPECT_LE(pair.latest_.limit_ns, k_s / 2);  // both levels together: what is left
  }
  EXPECT_GE(sessions, 8);
  EXPECT_LE(pair.sessions_took_, k_s);
}

TEST(Period, without_a_limit_sessions_are_whole) {
  Pair pair(1, {.every = 100, .exchanges = 100});
  pair.exchange_ns_ = 5 * k_ms;
  ASSERT_TRUE(pair.call(2 * k_s));
  EXPECT_EQ(pair.latest_.exchanges, 100u);
  EXPECT_GT(pair.latest_.limit_ns, 1000 * k_s);
}

TEST(Period, a_session_that_turns_cheap_is_whole_again) {
  Pair pair(1, {.every = 1, .exchanges = 100}, 0.01);
  pair.exchange_ns_ = 5 * k_ms;
  pair.hold(100, false);
  for (int i = 0; i < 100; ++i) pair.call(k_s);
  EXPECT_LT(pair.latest_.exchanges, 100u);
  pair.exchange_ns_ = k_ms / 100;
  for (int i = 0; i < 100; ++i) pair.call(k_s);
  EXPECT_EQ(pair.latest_.exchanges, 100u);
}

TEST(Period, dear_decisions_are_rare) {
  Pair pair(1, {.every = 100, .exchanges = 100}, 0.01);
  pair.broadcast_ns_ = 20 * k_ms;
  pair.hold(100, false);
  const int calls = 100'000;  // of 1 ms each: 100 s, of which a quarter of 1 % are 12 broadcasts
  for (int i = 0; i < calls; ++i) pair.call(k_ms);
  EXPECT_GE(pair.broadcasts_, 5);
  EXPECT_LE(pair.broadcasts_, 25);
}

TEST(Period, no_budget_is_told) {
  Pair pair(1, {.every = 1, .exchanges = 100}, 0);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(pair.call(k_s));
  EXPECT_THAT(pair.first_.cost(), testing::HasSubstr("--sync-budget"));
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
