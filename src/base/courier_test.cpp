// SPDX-License-Identifier: BSD-3-Clause
#include "base/courier.hpp"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/delayed_team_testing.hpp"

namespace entrain {
namespace {

using News = Courier::News;

const Cancel k_never(nullptr);

/// Runs `body` in teams of several sizes, with and without delays.
void in_teams(const std::function<Result<void>(Team&)>& body) {
  for (const unsigned members : {2u, 3u, 5u}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Result<void> done = run_team(members, [&](Team& team) {
        DelayedTeam delayed(team, seed);
        return body(seed == 0 ? team : delayed);
      });
      EXPECT_TRUE(done) << done.error().message;
    }
  }
}

TEST(Mail, values_arrive_in_the_order_of_their_sender) {
  in_teams([](Team& team) -> Result<void> {
    constexpr std::uint32_t k_count = 1'000;  // several batches
    Mail<std::uint32_t> mail(team);
    for (std::uint32_t i = 0; i < k_count; ++i) {
      for (unsigned r = 0; r < team.size(); ++r) mail.send(r, i);
    }
    std::vector<std::uint32_t> next(team.size(), 0);
    const auto take = [&](unsigned from, std::uint32_t value) { EXPECT_EQ(value, next[from]++); };
    while (mail.wait(false, k_never, take) == News::parcel) mail.poll(take);
    EXPECT_EQ(next, std::vector<std::uint32_t>(team.size(), k_count));
    EXPECT_FALSE(mail.close());
    return {};
  });
}

TEST(Mail, only_the_first_bytes_of_a_value_travel) {
  struct Value {
    std::uint32_t first = 0;
    std::uint32_t second = 7;
  };
  in_teams([](Team& team) -> Result<void> {
    constexpr std::uint32_t k_count = 3'000;  // several batches
    Mail<Value> mail(team, sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < k_count; ++i) {
      for (unsigned r = 0; r < team.size(); ++r) mail.send(r, {i, 9});
    }
    std::vector<std::uint32_t> next(team.size(), 0);
    const auto take = [&](unsigned from, const Value& value) {
      EXPECT_EQ(value.first, next[from]++);
      EXPECT_EQ(value.second, 7u);
    };
    while (mail.wait(false, k_never, take) == News::parcel) mail.poll(take);
    EXPECT_EQ(next, std::vector<std::uint32_t>(team.size(), k_count));
    return {};
  });
}

TEST(Mail, the_end_is_noticed_when_the_last_answer_is_there) {
  in_teams([](Team& team) -> Result<void> {
    // A token goes round; whoever has it may send it on much later than the others began to wait.
    constexpr std::uint64_t k_hops = 40;
    Mail<std::uint64_t> mail(team);
    std::uint64_t seen = 0;
    const unsigned next = (team.rank() + 1) % team.size();
    const auto take = [&](unsigned, std::uint64_t hops) {
      ++seen;
      if (hops < k_hops) mail.send(next, hops + 1);
    };
    if (team.rank() == 1) mail.send(next, 1);
    while (mail.wait(true, k_never, take) == News::parcel) continue;
    EXPECT_EQ(team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(seen)), k_hops);
    return {};
  });
}

TEST(Mail, work_can_go_on_after_it_was_quiet) {
  in_teams([](Team& team) -> Result<void> {
    Mail<unsigned> mail(team);
    unsigned heard = 0;
    const auto take = [&](unsigned, unsigned value) { heard += value; };
    for (unsigned round = 0; round < 4; ++round) {
      if (round % team.size() == team.rank()) {
        for (unsigned r = 0; r < team.size(); ++r) mail.send(r, 1);
      }
      while (mail.wait(round % 2 == 0, k_never, take) == News::parcel) continue;
      EXPECT_EQ(heard, round + 1);
      static_cast<void>(team.any(false));  // all have to meet before one goes on
    }
    return {};
  });
}

TEST(Mail, everybody_stops_with_one_and_nothing_is_left_over) {
  in_teams([](Team& team) -> Result<void> {
    Mail<unsigned> mail(team);
    const auto ignore = [](unsigned, unsigned) {};
    for (unsigned r = 0; r < team.size(); ++r) mail.send(r, r);
    mail.flush();
    if (team.rank() + 1 == team.size()) mail.stop();
    News news = News::parcel;
    while (news == News::parcel) news = mail.wait(false, k_never, ignore);
    EXPECT_EQ(news, News::stopped);
    EXPECT_TRUE(mail.close());
    EXPECT_FALSE(team.receive(std::chrono::microseconds(0)).has_value());
    return {};
  });
}

TEST(Mail, nobody_waits_for_a_member_that_has_failed) {
  const Result<void> done = run_team(3, [](Team& team) -> Result<void> {
    if (team.rank() == 1) return fail(ErrorKind::input, "a broken file");
    Mail<unsigned> mail(team);
    while (true) mail.wait(false, k_never, [](unsigned, unsigned) {});
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "a broken file");
}

TEST(Mail, one_worker_alone_gets_its_own_mail) {
  Solo solo;
  Mail<int> mail(solo);
  mail.send(0, 7);
  int heard = 0;
  const auto take = [&](unsigned, int value) { heard = value; };
  EXPECT_EQ(mail.wait(false, k_never, take), News::parcel);
  EXPECT_EQ(heard, 7);
  EXPECT_EQ(mail.wait(false, k_never, take), News::quiet);
}

}  // namespace
}  // namespace entrain
