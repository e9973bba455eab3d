// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/meetings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <semaphore>
#include <thread>
#include <utility>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_1us = 1'000, k_1ms = 1'000'000, k_1s = 1'000'000'000;

/// Processes on a simulated machine with a time of its own. Each is a thread, but one runs at a
/// time: the one whose next deed comes first. So a run is the same for each seed.
class Machine {
 public:
  struct Member {
    std::uint64_t clock_ahead = 0;
    Budget budget;
    Meetings meetings;
    std::vector<std::vector<ClockSample>> kept;
    int marked = 0;
    std::uint64_t marked_since = 0, stopped_ns = 0;
  };

  /// A binary tree of processes.
  Machine(int size, double share, std::uint64_t seed)
      : random_(seed), members_(static_cast<std::size_t>(size)), due_(members_.size(), k_1s) {
    for (int rank = 0; rank < size; ++rank) {
      turns_.emplace_back(0);
      std::vector<int> children;
      for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < size; ++child) {
        children.push_back(child);
      }
      member(rank).clock_ahead = static_cast<std::uint64_t>(rank) * 7 * k_1ms;
      member(rank).budget.set_up(share, now_);
      member(rank).meetings.set_up({.period_ns = k_period, .exchanges = 20}, member(rank).budget,
                                   rank == 0 ? -1 : (rank - 1) / 2, children, process_of(rank));
      member(rank).meetings.all_met(now_, 50.0 * k_1us);
    }
  }

  /// Runs a program in all processes, and then the farewell. They see it as the life of a process.
  void run(const std::function<void(int rank)>& program) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank) {
      threads.emplace_back([this, rank, &program] {
        wait_for_turn(rank);
        program(rank);
        member(rank).meetings.close();
        due_[static_cast<std::size_t>(rank)] = k_over;
        give_turn();
      });
    }
    give_turn();
    for (std::thread& thread : threads) thread.join();
  }

  /// Process `rank` works, or sleeps, for that long.
  void pass(int rank, std::uint64_t ns) {
    due_[static_cast<std::size_t>(rank)] = now_ + ns;
    give_turn();
    wait_for_turn(rank);
  }
  /// Process `rank` waits in a call for that long, and has time meanwhile.
  void wait(int rank, std::uint64_t ns) {
    const std::uint64_t end = now_ + ns;
    member(rank).meetings.begin_waiting();
    while (now_ < end) {
      member(rank).meetings.step();
      pass(rank, 50 * k_1us);
    }
    member(rank).meetings.end_waiting();
  }

  /// The least time that a word is under way.
  void set_latency(std::uint64_t ns) { latency_ = ns; }
  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  std::uint64_t up_to(std::uint64_t most) { return random_() % most; }

  /// Checks what holds for every run: no word is left, each sample encloses the true difference of
  /// the clocks, each mark has an end.
  void expect_sound() {
    for (const auto& [way, words] : words_) EXPECT_TRUE(words.empty());
    for (int rank = 0; rank < size(); ++rank) {
      EXPECT_EQ(member(rank).marked, 0);
      const Member& parent = member((rank - 1) / 2);
      for (const auto& samples : member(rank).kept) {
        EXPECT_FALSE(samples.empty());
        for (const ClockSample& sample : samples) {
          const std::uint64_t true_local = sample.local - member(rank).clock_ahead;
          const std::uint64_t true_parent = sample.parent - parent.clock_ahead;
          const std::uint64_t apart =
              std::max(true_local, true_parent) - std::min(true_local, true_parent);
          EXPECT_LE(apart, sample.round_trip / 2 + 1);
        }
      }
    }
  }

  static constexpr std::uint64_t k_period = 100 * k_1ms;

 private:
  static constexpr std::uint64_t k_over = ~std::uint64_t{0};
  struct Letter {
    std::uint64_t arrival = 0;
    Meetings::Message message;
  };

  Meetings::Process process_of(int rank) {
    return {
        .now =
            [this, rank] {
              now_ += 50;
              return Stamp{now_ + member(rank).clock_ahead, now_};
            },
        .send =
            [this, rank](int peer, const Meetings::Message& message) {
              auto& way = words_[{rank, peer}];
              std::uint64_t arrival = now_ + latency_ + up_to(20 * k_1us);
              if (!way.empty()) arrival = std::max(arrival, way.back().arrival);
              way.push_back({arrival, message});
            },
        .receive =
            [this, rank](int peer, Meetings::Message& message) {
              auto& way = words_[{peer, rank}];
              now_ += 200;
              if (way.empty() || way.front().arrival > now_) return false;
              message = way.front().message;
              way.pop_front();
              return true;
            },
        .rest =
            [this, rank] {
              pass(rank, 50 * k_1us);
              return true;
            },
        .keep = [this,
                 rank](std::vector<ClockSample>& samples) { member(rank).kept.push_back(samples); },
        .mark =
            [this, rank](bool stops) {
              Member& own = member(rank);
              own.marked += stops ? 1 : -1;
              if (stops) own.marked_since = now_;
              if (!stops) own.stopped_ns += now_ - own.marked_since;
            }};
  }

  void give_turn() {
    const auto first = std::min_element(due_.begin(), due_.end());
    if (*first == k_over) return;
    now_ = std::max(now_, *first);
    turns_[static_cast<std::size_t>(first - due_.begin())].release();
  }
  void wait_for_turn(int rank) { turns_[static_cast<std::size_t>(rank)].acquire(); }

  std::mt19937_64 random_;
  std::uint64_t now_ = k_1s, latency_ = 5 * k_1us;
  std::vector<Member> members_;
  std::vector<std::uint64_t> due_;  ///< times at which processes go on
  std::map<std::pair<int, int>, std::deque<Letter>> words_;
  std::deque<std::binary_semaphore> turns_;
};

std::uint64_t shortest_round_trip(const std::vector<ClockSample>& samples) {
  return std::min_element(
             samples.begin(), samples.end(),
             [](const ClockSample& a, const ClockSample& b) { return a.round_trip < b.round_trip; })
      ->round_trip;
}

TEST(Meetings, a_child_that_waits_meets_a_parent_that_works) {
  Machine machine(2, 1, 1);
  machine.run([&](int rank) {
    while (machine.now() < 3 * k_1s) {
      if (rank == 1) {
        machine.wait(rank, 40 * k_1ms);
      } else {
        machine.pass(rank, 5 * k_1ms + machine.up_to(5 * k_1ms));
        machine.member(rank).meetings.linger();
      }
    }
  });
  machine.expect_sound();
  // Two seconds in periods of 0.1 s; a meeting is found some milliseconds later.
  EXPECT_GE(machine.member(1).kept.size(), 15u);
  EXPECT_LE(machine.member(1).kept.size(), 20u);
  for (const auto& samples : machine.member(1).kept) {
    EXPECT_EQ(samples.size(), 20u);
    // Both are here: a round trip is two words and a few looks.
    EXPECT_LT(shortest_round_trip(samples), 200 * k_1us);
  }
}

TEST(Meetings, a_child_that_works_lingers_for_a_parent_that_waits) {
  Machine machine(2, 0.05, 2);
  machine.run([&](int rank) {
    while (machine.now() < 6 * k_1s) {
      if (rank == 0) {
        machine.wait(rank, 30 * k_1ms);
        machine.pass(rank, 10 * k_1ms);
      } else {
        machine.pass(rank, k_1ms + machine.up_to(9 * k_1ms));
        machine.member(rank).meetings.linger();
      }
    }
  });
  machine.expect_sound();
  EXPECT_GE(machine.member(1).kept.size(), 30u);
}

TEST(Meetings, a_child_lingers_longer_where_words_take_long) {
  Machine machine(2, 0.2, 7);
  machine.set_latency(3 * k_1ms);
  machine.run([&](int rank) {
    while (machine.now() < 11 * k_1s) {
      if (rank == 0) {
        machine.wait(rank, 5 * k_1ms);
      } else {
        machine.pass(rank, machine.up_to(10 * k_1ms));
        machine.member(rank).meetings.linger();
      }
    }
  });
  machine.expect_sound();
  // After 2 ms the parent has not even heard that the child waits.
  EXPECT_GE(machine.member(1).kept.size(), 5u);
  const auto run = static_cast<double>(machine.now() - k_1s);
  EXPECT_LT(static_cast<double>(machine.member(1).stopped_ns), 0.22 * run);
}

TEST(Meetings, two_that_never_wait_meet_in_their_budget) {
  Machine machine(2, 0.02, 3);
  const std::uint64_t begin = machine.now();
  machine.run([&](int rank) {
    while (machine.now() < 21 * k_1s) {
      machine.pass(rank, machine.up_to(10 * k_1ms));
      machine.member(rank).meetings.linger();
    }
  });
  machine.expect_sound();
  EXPECT_GE(machine.member(1).kept.size(), 10u);
  for (int rank = 0; rank < 2; ++rank) {
    const auto run = static_cast<double>(machine.now() - begin);
    // A session may end a little beyond what was left.
    EXPECT_LT(static_cast<double>(machine.member(rank).stopped_ns), 0.022 * run);
  }
}

TEST(Meetings, nobody_stops_without_a_budget) {
  Machine machine(2, 0, 4);
  machine.run([&](int rank) {
    while (machine.now() < 3 * k_1s) {
      machine.pass(rank, machine.up_to(k_1ms));
      machine.member(rank).meetings.linger();
    }
  });
  machine.expect_sound();
  EXPECT_TRUE(machine.member(1).kept.empty());
  EXPECT_EQ(machine.member(0).stopped_ns + machine.member(1).stopped_ns, 0u);
}

TEST(Meetings, a_session_of_all_makes_invitations_needless) {
  Machine machine(2, 1, 5);
  machine.run([&](int rank) {
    while (machine.now() < k_1s + 300 * k_1ms) {
      machine.wait(rank, 20 * k_1ms);
      machine.member(rank).meetings.all_met(machine.now(), 50.0 * k_1us);
    }
  });
  machine.expect_sound();
  EXPECT_TRUE(machine.member(1).kept.empty());
}

/// Runs programs at random, each of which ends and is sound; returns how many sessions they held.
std::uint64_t sessions_of_programs(std::uint64_t first_seed, std::uint64_t last_seed) {
  std::uint64_t sessions = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(seed);
    Machine machine(2 + static_cast<int>(seed % 5), seed % 3 == 0 ? 1 : 0.03, seed);
    machine.run([&](int rank) {
      const std::uint64_t end = k_1s + 250 * k_1ms + machine.up_to(50 * k_1ms);
      while (machine.now() < end) {
        switch (machine.up_to(4)) {
          case 0:
            machine.wait(rank, machine.up_to(3 * k_1ms));
            break;
          case 1:
            machine.member(rank).meetings.linger();
            break;
          case 2:
            machine.wait(rank, machine.up_to(30 * k_1us));
            break;
          default:
            machine.pass(rank, machine.up_to(2 * k_1ms));
        }
      }
    });
    machine.expect_sound();
    for (int rank = 1; rank < machine.size(); ++rank) sessions += machine.member(rank).kept.size();
  }
  return sessions;
}

// Two tests, as one takes most of the time that a test may take.
TEST(Meetings, end_whatever_three_to_five_processes_do) {
  EXPECT_GT(sessions_of_programs(1, 3), 5u);
}
TEST(Meetings, end_whatever_two_to_six_processes_do) { EXPECT_GT(sessions_of_programs(4, 6), 5u); }

TEST(Meetings, the_cost_is_told) {
  Machine machine(2, 1, 6);
  EXPECT_EQ(machine.member(0).meetings.cost(), "");
  machine.run([&](int rank) { machine.wait(rank, 250 * k_1ms); });
  EXPECT_THAT(machine.member(0).meetings.cost(),
              testing::HasSubstr("2 clock sessions of two processes each took rank 0 "));
}

}  // namespace
}  // namespace entrain::record
