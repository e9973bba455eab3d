// SPDX-License-Identifier: BSD-3-Clause
//
// Theorem 3: no schedule on one switch has a smaller bounded skew than SSS.
//
// All routes on a switch have one router, so every direct precedence has the same bound B, and a
// chain of j of them j B. A schedule has a chain for every pair, so its skew is B at least, which
// is that of SSS. A follower has one direct predecessor per slot, so B itself takes as many slots
// as interfaces: SSS is also the shortest schedule with the least skew.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "net/model/generators.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule.hpp"
#include "net/plan/schedule_skew.hpp"
#include "net/plan/verifier.hpp"

namespace entrain::net {
namespace {

using Slot = std::vector<std::uint32_t>;  // destination by source; k_none sends nothing

Schedule schedule_of(const Topology& topology, const std::vector<Slot>& slots) {
  const NodeIndex router = topology.neighbours(topology.interfaces()[0]).front().node;
  Schedule schedule;
  schedule.slots = static_cast<std::int64_t>(slots.size());
  for (std::size_t t = 0; t < slots.size(); ++t) {
    for (InterfaceIndex s = 0; s < slots[t].size(); ++s) {
      if (slots[t][s] == k_none) continue;
      const auto begin = static_cast<std::uint32_t>(schedule.route_nodes.size());
      schedule.route_nodes.insert(schedule.route_nodes.end(), {topology.interfaces()[s], router,
                                                               topology.interfaces()[slots[t][s]]});
      schedule.messages.push_back({static_cast<std::int64_t>(t), s, slots[t][s], begin, begin + 3});
    }
  }
  return schedule;
}

/// All ways in which n interfaces send without conflict, or not at all.
std::vector<Slot> partial_slots(std::uint32_t n) {
  std::vector<Slot> all;
  Slot slot(n, k_none);
  const std::function<void(std::uint32_t)> fill = [&](std::uint32_t s) {
    if (s == n) return all.push_back(slot);
    slot[s] = k_none;
    fill(s + 1);
    for (std::uint32_t d = 0; d < n; ++d) {
      if (std::find(slot.begin(), slot.begin() + s, d) != slot.begin() + s) continue;
      slot[s] = d;
      fill(s + 1);
      slot[s] = k_none;
    }
  };
  fill(0);
  return all;
}

std::vector<Slot> permutations(std::uint32_t n) {
  std::vector<Slot> all;
  Slot slot(n);
  std::iota(slot.begin(), slot.end(), 0u);
  do all.push_back(slot);
  while (std::next_permutation(slot.begin(), slot.end()));
  return all;
}

/// Calls `visit` for every sequence of `length` of the choices; the first is `first`, if given.
void for_all_sequences(const std::vector<Slot>& choices, std::size_t length, const Slot* first,
                       const std::function<void(const std::vector<Slot>&)>& visit) {
  std::vector<Slot> slots;
  const std::function<void()> extend = [&] {
    if (slots.size() == length) return visit(slots);
    for (const Slot& choice : choices) {
      slots.push_back(choice);
      extend();
      slots.pop_back();
    }
  };
  if (first != nullptr) slots.push_back(*first);
  extend();
}

/// Holds every synchronising one of the schedules against SSS; returns how many there were.
std::int64_t hold_against_sss(std::uint32_t n, std::size_t length, const std::vector<Slot>& choices,
                              const Slot* first) {
  const Topology topology = single_switch(n).value();
  const Femtoseconds least = skew_of_sss({}, Reading::published);
  std::int64_t synchronising = 0;
  for_all_sequences(choices, length, first, [&](const std::vector<Slot>& slots) {
    const Schedule schedule = schedule_of(topology, slots);
    const Femtoseconds skew = skew_of_schedule(schedule, n, {}, Reading::published);
    if (skew == Femtoseconds::max()) return;
    ++synchronising;
    EXPECT_GE(skew, least);
    EXPECT_TRUE(skew > least || length >= n);
  });
  return synchronising;
}

TEST(Theorem3, all_schedules_of2_and3_interfaces_idle_slots_among_them) {
  EXPECT_EQ(partial_slots(2).size(), 7u);
  EXPECT_EQ(partial_slots(3).size(), 34u);
  for (std::size_t length = 1; length <= 4; ++length) {
    const std::int64_t synchronising = hold_against_sss(2, length, partial_slots(2), nullptr);
    EXPECT_EQ(synchronising > 0, length >= 2);
  }
  for (std::size_t length = 1; length <= 3; ++length) {
    const std::int64_t synchronising = hold_against_sss(3, length, partial_slots(3), nullptr);
    EXPECT_EQ(synchronising > 0, length >= 3);
  }
}

// More messages add precedences and take none away, and to give the destinations other names
// changes nothing: from here on all interfaces send in every slot, in the first one to themselves.

TEST(Theorem3, all_full_schedules_of4_interfaces) {
  const auto all = permutations(4);
  EXPECT_EQ(hold_against_sss(4, 2, all, &all.front()), 0);
  EXPECT_GT(hold_against_sss(4, 3, all, &all.front()), 0);
  EXPECT_GT(hold_against_sss(4, 4, all, &all.front()), 0);
}

/// Largest over the pairs of the shortest chain; 99 if a pair has none. 5 interfaces.
int longest_chain(const std::array<const Slot*, 4>& slots) {
  constexpr int k_never = 99;
  std::array<std::array<int, 5>, 5> chain;
  for (std::size_t f = 0; f < 5; ++f) {
    chain[f].fill(k_never);
    chain[f][f] = 0;
  }
  for (std::size_t t = 1; t < slots.size(); ++t) {
    std::array<std::size_t, 5> by_destination{};
    for (std::size_t s = 0; s < 5; ++s) by_destination[(*slots[t - 1])[s]] = s;
    const auto before = chain;
    for (std::size_t f = 0; f < 5; ++f) {
      const auto& slow = before[by_destination[(*slots[t])[f]]];
      for (std::size_t s = 0; s < 5; ++s) chain[f][s] = std::min(before[f][s], slow[s] + 1);
    }
  }
  int longest = 0;
  for (const auto& row : chain)
    longest = std::max(longest, *std::max_element(row.begin(), row.end()));
  return longest;
}

TEST(Theorem3, all_full_schedules_of5_interfaces_in4_slots) {
  const auto all = permutations(5);
  std::array<std::int64_t, 4> found{};  // by the longest chain
  for (const Slot& second : all) {
    for (const Slot& third : all) {
      for (const Slot& fourth : all) {
        const int longest = longest_chain({&all.front(), &second, &third, &fourth});
        if (longest < 4) ++found[static_cast<std::size_t>(longest)];
      }
    }
  }
  EXPECT_EQ(found[0] + found[1], 0);  // one step for every pair takes five slots
  EXPECT_EQ(found[2], 9936);          // as counted up to names below
  EXPECT_EQ(found[3], 29232);
}

// Only who precedes whom directly matters: q_t(f) is the interface that sent to where f sends in
// slot t, and any sequence of permutations q_2, ..., q_L comes from a schedule. To give the
// interfaces other names changes no chain, so of all states with the same chains up to names one is
// kept, with the number of schedules that lead to it.

/// A permutation of 5.
using Names = std::array<std::uint8_t, 5>;

/// Shortest chains: [5 f + s] from s to f; k_no_chain if there is none.
using Chains = std::array<std::uint8_t, 25>;
constexpr std::uint8_t k_no_chain = 9;
using CountedChains = std::map<Chains, std::int64_t>;

Chains after(const Chains& before, const Names& q) {
  Chains chains = before;
  for (std::size_t f = 0; f < 5; ++f) {
    for (std::size_t s = 0; s < 5; ++s) {
      const auto longer = static_cast<std::uint8_t>(before[5 * q[f] + s] + 1);
      if (longer < chains[5 * f + s]) chains[5 * f + s] = longer;
    }
  }
  return chains;
}

/// The least of all ways to name the interfaces.
Chains canonical(const Chains& chains, const std::vector<Names>& names) {
  Chains least = chains;
  for (const Names& name : names) {
    Chains named;
    bool is_less = false;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      named[i] = chains[5 * name[i / 5] + name[i % 5]];
      if (named[i] > least[i] && !is_less) break;
      is_less = is_less || named[i] < least[i];
    }
    if (is_less) least = named;
  }
  return least;
}

/// States after one more slot.
CountedChains one_slot_on(const CountedChains& states, const std::vector<Names>& all) {
  CountedChains plain, merged;
  for (const auto& [chains, count] : states) {
    for (const Names& q : all) plain[after(chains, q)] += count;
  }
  for (const auto& [chains, count] : plain) merged[canonical(chains, all)] += count;
  return merged;
}

/// Number of schedules by their longest shortest chain, after one more slot than `states` have.
std::array<std::int64_t, k_no_chain + 1> by_longest(const CountedChains& states,
                                                    const std::vector<Names>& all) {
  std::array<std::int64_t, k_no_chain + 1> counts{};
  for (const auto& [chains, count] : states) {
    for (const Names& q : all) {
      std::uint8_t longest = 0;
      for (std::size_t f = 0; f < 5; ++f) {
        const std::uint8_t* const own = chains.data() + 5 * f;
        const std::uint8_t* const slow = chains.data() + std::size_t{5} * q[f];
        for (std::size_t s = 0; s < 5; ++s)
          longest = std::max(longest, std::min<std::uint8_t>(own[s], slow[s] + 1));
      }
      counts[longest] += count;
    }
  }
  return counts;
}

TEST(Theorem3, all_full_schedules_of5_interfaces_in_up_to6_slots) {
  std::vector<Names> all;
  for (const Slot& slot : permutations(5))
    std::copy(slot.begin(), slot.end(), all.emplace_back().begin());
  Chains alone{};
  alone.fill(k_no_chain);
  for (std::size_t i = 0; i < 5; ++i) alone[6 * i] = 0;
  CountedChains states{{alone, 1}};
  std::int64_t schedules = 1;
  for (std::size_t slots = 2; slots <= 6; ++slots) {
    const auto counts = by_longest(states, all);
    schedules *= 120;
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), schedules) << slots;
    EXPECT_EQ(counts[0], 0) << slots;
    EXPECT_EQ(counts[1] > 0, slots >= 5) << slots;
    if (slots == 4) {
      EXPECT_EQ(counts[2], 9936);
      EXPECT_EQ(counts[3], 29232);
    }
    if (slots < 6) states = one_slot_on(states, all);
  }
}

TEST(Theorem3, random_schedules_of_more_interfaces) {
  std::int64_t synchronising = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomStream random(seed, 3);
    const auto n = static_cast<std::uint32_t>(6 + random.below(11));
    std::vector<Slot> slots(2 + random.below(2 * n), Slot(n));
    for (Slot& slot : slots) {
      std::iota(slot.begin(), slot.end(), 0u);
      for (std::uint32_t i = n - 1; i > 0; --i) std::swap(slot[i], slot[random.below(i + 1)]);
      for (std::uint32_t& destination : slot) {
        if (random.below(20) == 0) destination = k_none;
      }
    }
    const Topology topology = single_switch(n).value();
    const Schedule schedule = schedule_of(topology, slots);
    const Femtoseconds skew = skew_of_schedule(schedule, n, {}, Reading::published);
    EXPECT_EQ(verify(topology, schedule).missing == 0, skew != Femtoseconds::max());
    if (skew == Femtoseconds::max()) continue;
    ++synchronising;
    EXPECT_GE(skew, skew_of_sss({}, Reading::published));
  }
  EXPECT_GT(synchronising, 500);
}

}  // namespace
}  // namespace entrain::net
