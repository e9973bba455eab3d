// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "base/edge_list.hpp"

namespace entrain::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Clocks two_clocks() {
  Clocks clocks;
  clocks.resolution_hz = 1'000'000;
  for (const char* name : {"host", "board"}) clocks.clocks.emplace_back().name = name;
  return clocks;
}

/// Calls from the host to the board every 0.5 to 1 s. The board shows `shown(time)`, the host us.
template <class Shown>
EdgeList calls(int count, const Shown& shown) {
  std::mt19937 random(30);  // NOLINT: the same calls every time
  const auto in = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto us = [](double time) { return static_cast<std::uint64_t>(time); };
  EdgeList list;
  double t = 5e9;
  for (int i = 0; i < count; ++i) {
    const double a = t += in(5e5, 1e6), b = a + in(200, 900), c = b + in(100, 3000);
    const double d = c + in(200, 900);
    for (const std::uint32_t clock : {0U, 1U}) {
      list.cause_clock.push_back(clock), list.effect_clock.push_back(1 - clock);
      list.kind.push_back(EdgeKind::p2p);
    }
    list.cause_time.push_back(us(a)), list.effect_time.push_back(shown(b));
    list.cause_time.push_back(shown(c)), list.effect_time.push_back(us(d));
  }
  return list;
}

/// A counter of microseconds that starts `before` wrapping.
auto counter(unsigned bits, double before) {
  return [=](double time) {
    const double period = std::ldexp(1.0, static_cast<int>(bits));
    return static_cast<std::uint64_t>(period - before + (time - 5e9) * 1.00002) %
           (std::uint64_t{1} << bits);
  };
}

class CountOn : public testing::Test {
 protected:
  std::vector<Wrap> count(EdgeList& list, std::uint64_t unit = 1) {
    notes_.clear(), set_aside_.clear();
    return count_on(list, clocks_, unit, notes_, set_aside_);
  }
  Clocks clocks_ = two_clocks();
  std::vector<std::string> notes_;
  std::vector<SetAside> set_aside_;
};

TEST_F(CountOn, finds_a_counter_that_wraps_once) {
  const double before = 150e6;
  EdgeList list = calls(400, counter(32, before));
  const EdgeList shown = list;
  const std::vector<Wrap> wraps = count(list);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("clock board wraps at 2^32, once in this run")));
  EXPECT_EQ(wraps[0].period, 0u);
  EXPECT_EQ(wraps[1].period, std::uint64_t{1} << 32);
  EXPECT_EQ(list.cause_time.size(), shown.cause_time.size());
  for (std::size_t i = 1; i < list.cause_time.size(); i += 2) {
    EXPECT_EQ(list.cause_time[i], wraps[1].counted(shown.cause_time[i]));
    if (i < 2) continue;
    EXPECT_GT(list.cause_time[i], list.cause_time[i - 2]);
  }
}

TEST_F(CountOn, finds_a_counter_that_wraps_many_times) {
  for (const unsigned bits : {22U, 24U, 26U}) {
    EdgeList list = calls(400, counter(bits, 1e6));
    const std::vector<Wrap> wraps = count(list);
    EXPECT_THAT(notes_, ElementsAre(HasSubstr(fmt::format("wraps at 2^{}, ", bits))));
    EXPECT_TRUE(wraps[1].repeats);
    for (std::size_t i = 3; i < list.cause_time.size(); i += 2) {
      ASSERT_GT(list.cause_time[i], list.cause_time[i - 2]);
    }
  }
}

TEST_F(CountOn, stamps_of_zero_are_no_wraps) {
  // By chance, the others are as far from the board, and from 0, as from multiples of 2^47.
  clocks_.clocks.emplace_back().name = "other";
  constexpr std::array<std::uint64_t, 3> k_begin{868'824'457'000'000, 136'207'282'000'000,
                                                 304'428'944'000'000};
  EdgeList list;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const auto host = static_cast<std::uint32_t>(i % 2 == 0 ? 0 : 2);
    const std::uint32_t from = i % 4 < 2 ? 1 : host, to = i % 4 < 2 ? host : 1;
    const auto shown = [&](std::uint32_t clock, std::uint64_t every, std::uint64_t later) {
      return i % every == every - 1 ? 0 : k_begin[clock] + 3'000'000 * i + later;
    };
    list.cause_clock.push_back(from), list.cause_time.push_back(shown(from, 29, 0));
    list.effect_clock.push_back(to), list.effect_time.push_back(shown(to, 37, 400));
    list.kind.push_back(EdgeKind::p2p);
  }
  const EdgeList before = list;
  count(list);
  EXPECT_THAT(notes_, ElementsAre());
  EXPECT_EQ(list.cause_time, before.cause_time);
  EXPECT_EQ(list.effect_time, before.effect_time);
}

TEST_F(CountOn, counts_in_units) {
  EdgeList list = calls(100, [](double t) { return counter(26, 10e6)(t) * 1000; });
  for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
    (i % 2 == 0 ? list.cause_time : list.effect_time)[i] *= 1000;
  }
  EXPECT_EQ(count(list, 1000)[1].period, (std::uint64_t{1} << 26) * 1000);
}

TEST_F(CountOn, finds_counts_in_another_unit) {
  // Microseconds of 32 bits, told in the nanoseconds of the table.
  for (const unsigned named : {0U, 32U}) {
    EdgeList list = calls(400, [](double t) { return counter(32, 150e6)(t) * 1000; });
    for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
      (i % 2 == 0 ? list.cause_time : list.effect_time)[i] *= 1000;
    }
    clocks_.clocks[1].wrap_bits = named;
    EXPECT_EQ(count(list)[1].period, (std::uint64_t{1} << 32) * 1000);
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("clock board wraps at 2^32 x 1000 ticks, once")));
  }
}

/// Nanoseconds of 32 bits of a device, which is used every two minutes.
TEST_F(CountOn, finds_a_counter_that_wraps_between_any_two_calls) {
  clocks_.resolution_hz = 1'000'000'000;
  EdgeList list = calls(20, [](double t) {
    return static_cast<std::uint64_t>((200 * (t - 5e9) + t) * 1e3) % (std::uint64_t{1} << 32);
  });
  for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
    std::uint64_t& host = (i % 2 == 0 ? list.cause_time : list.effect_time)[i];
    host = (200 * (host - 5'000'000'000) + host) * 1000;
  }
  const std::vector<Wrap> wraps = count(list);
  EXPECT_EQ(wraps[1].period, std::uint64_t{1} << 32);
  EXPECT_TRUE(wraps[1].repeats);
  EXPECT_THAT(set_aside_, IsEmpty());
  for (std::size_t i = 3; i < list.cause_time.size(); i += 2) {
    EXPECT_GT(list.cause_time[i], list.cause_time[i - 2]);
  }
}

TEST_F(CountOn, leaves_other_steps_alone) {
  for (const double back : {1e6, 1e8, 2e9, 3e9}) {
    EdgeList list =
        calls(400, [&](double t) {  // a clock that is set back, or a board that restarts
          return static_cast<std::uint64_t>(4.1e9 + t - 5e9 - (t > 5.15e9 ? back : 0));
        });
    const EdgeList shown = list;
    EXPECT_EQ(count(list)[1].period, 0u) << back;
    EXPECT_EQ(list.cause_time, shown.cause_time) << back;
  }
}

TEST_F(CountOn, says_why_a_named_counter_stays) {
  clocks_.clocks[1].wrap_bits = 32;
  EdgeList list = calls(400, counter(32, 150e6));
  list.instances.push_back({.kind = EdgeKind::n_to_n, .first = 0, .begins = 2, .ends = 2});
  for (const std::uint32_t clock : {0U, 1U, 0U, 1U}) {
    list.members.push_back({clock, clock, list.cause_time[clock]});
  }
  EdgeList again = list;
  clocks_.clocks[1].sessions.push_back({});
  EXPECT_EQ(count(list)[1].period, 0u);
  ASSERT_EQ(set_aside_.size(), 1U);
  EXPECT_EQ(set_aside_[0].records, 802U);
  EXPECT_THAT(set_aside_[0].reason, HasSubstr("its measurements would need it, too"));
  EXPECT_THAT(list.cause_clock, IsEmpty());
  ASSERT_EQ(list.members.size(), 2U);
  for (const InstanceMember& member : list.members) EXPECT_EQ(member.clock, 0U);
  clocks_.clocks[1].wrap_bits = 20;
  EXPECT_EQ(count(again)[1].period, 0u);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("beyond its 20 bits")));
}

class Steps : public testing::Test {
 protected:
  std::vector<std::string> moved(EdgeList& list, std::uint64_t unit = 0) const {
    std::vector<std::string> notes;
    move_to_ends_of_steps(list, clocks_, unit, notes);
    return notes;
  }
  /// The board shows multiples of `step`.
  static EdgeList stepped(std::uint64_t step, int count = 100) {
    return calls(count, [=](double t) { return static_cast<std::uint64_t>(t) / step * step; });
  }
  Clocks clocks_ = two_clocks();
};

TEST_F(Steps, are_learned_and_move_effects_only) {
  EdgeList list = stepped(1'000'000);
  const EdgeList before = list;
  EXPECT_THAT(moved(list), ElementsAre(HasSubstr("clock board counts in steps of 1 s:")));
  EXPECT_EQ(list.cause_time, before.cause_time);
  for (std::size_t i = 0; i < list.effect_time.size(); ++i) {
    EXPECT_EQ(list.effect_time[i], before.effect_time[i] + (i % 2 == 0 ? 999'999 : 0));
    EXPECT_LT(list.cause_time[i], list.effect_time[i]);
  }
  list = stepped(15'625);
  EXPECT_THAT(moved(list), ElementsAre(HasSubstr("in steps of 15.625 ms:")));
}

TEST_F(Steps, are_of_effects_where_causes_are_finer) {
  EdgeList list = stepped(1000);
  for (std::size_t i = 1; i < list.cause_time.size(); i += 2) list.cause_time[i] += i % 7;
  EXPECT_THAT(moved(list), ElementsAre(HasSubstr("in steps of 1 ms:")));
}

TEST_F(Steps, are_not_learned_of_few_or_regular_stamps) {
  EdgeList list = stepped(1'000'000, 3);
  EXPECT_THAT(moved(list), IsEmpty());
  list = stepped(1'000'000);
  for (std::size_t i = 0; i < list.cause_time.size(); ++i) {
    list.cause_time[i] = 1000 * i + 10 * (i % 4);
    list.effect_time[i] = 1000 * i + 500 + 10 * (i % 8);
  }
  EXPECT_THAT(moved(list), IsEmpty());
}

TEST_F(Steps, are_named_if_the_stamps_have_them) {
  clocks_.clocks[1].granule = 1'000'000;
  EdgeList list = stepped(1'000'000, 5);
  EXPECT_THAT(moved(list), ElementsAre(HasSubstr("in steps of 1 s:")));
  list = stepped(300'000, 5);
  EXPECT_THAT(moved(list), IsEmpty());
}

}  // namespace
}  // namespace entrain::tables
