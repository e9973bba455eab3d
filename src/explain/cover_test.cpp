// SPDX-License-Identifier: BSD-3-Clause
#include "explain/cover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/random.hpp"

namespace entrain::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t k_any = SIZE_MAX;

struct Program {
  std::vector<Candidate> candidates;
  std::vector<std::int64_t> needs;

  [[nodiscard]] bool is_covered_by(const std::vector<std::uint32_t>& chosen) const {
    std::vector<std::int64_t> left = needs;
    for (const std::uint32_t c : chosen) {
      for (const Candidate::Part& part : candidates[c].parts) left[part.cycle] -= part.lost;
    }
    return std::ranges::all_of(left, [](std::int64_t need) { return need <= 0; });
  }
  [[nodiscard]] double price_of(const std::vector<std::uint32_t>& chosen) const {
    double price = 0;
    for (const std::uint32_t c : chosen) price += candidates[c].price;
    return price;
  }
  /// The least price, by all subsets.
  [[nodiscard]] std::optional<double> least_price() const {
    std::optional<double> least;
    for (std::uint32_t set = 0; set < std::uint32_t{1} << candidates.size(); ++set) {
      std::vector<std::uint32_t> chosen;
      for (std::uint32_t c = 0; c < candidates.size(); ++c) {
        if ((set >> c & 1U) != 0) chosen.push_back(c);
      }
      if (is_covered_by(chosen)) least = std::min(least.value_or(1e9), price_of(chosen));
    }
    return least;
  }
};

/// Some cycles, which some candidates break alone, and some only with others.
Program random_program(RandomStream& random) {
  Program program;
  for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
    program.needs.push_back(1 + static_cast<std::int64_t>(random.below(9)));
  }
  for (std::uint64_t n = random.below(10); n > 0; --n) {
    Candidate candidate;
    candidate.price = random.below(3) == 0 ? 60 - 1e-6 : random.below(2) == 0 ? 20 : 6;
    for (std::uint32_t cycle = 0; cycle < program.needs.size(); ++cycle) {
      if (random.below(2) == 0) continue;
      const std::int64_t need = program.needs[cycle];
      const auto gap = 1 + static_cast<std::int64_t>(random.below(9));
      candidate.parts.push_back({cycle, random.below(2) == 0 ? need : std::min(gap, need)});
    }
    program.candidates.push_back(std::move(candidate));
  }
  return program;
}

TEST(Cover, is_the_cheapest_of_all_subsets) {
  int found = 0, impossible = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(42, n);
    const Program program = random_program(random);
    const auto least = program.least_price();
    const auto cover = Cover(program.candidates, program.needs, k_any).run();
    ++(least ? found : impossible);
    if (!least) {
      ASSERT_THAT(cover, IsEmpty());
      continue;
    }
    ASSERT_TRUE(program.is_covered_by(cover));
    ASSERT_NEAR(program.price_of(cover), *least, 1e-9);
    ASSERT_TRUE(std::ranges::is_sorted(cover));
    // Without a search it is one that needs all that it has.
    auto greedy = Cover(program.candidates, program.needs, 0).run();
    ASSERT_TRUE(program.is_covered_by(greedy));
    for (std::size_t i = 0; i < greedy.size(); ++i) {
      auto less = greedy;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_FALSE(program.is_covered_by(less));
    }
  }
  EXPECT_GT(found, 2'000);
  EXPECT_GT(impossible, 2'000);
}

TEST(Cover, of_nothing_is_nothing) {
  EXPECT_THAT(Cover({}, {}, k_any).run(), IsEmpty());
  EXPECT_THAT(Cover({}, {5}, k_any).run(), IsEmpty());
}

TEST(Cover, takes_several_gaps_where_none_is_long_enough) {
  const std::vector<Candidate> gaps{{60, {{0, 4}}}, {60, {{0, 5}}}, {200, {{0, 8}}}};
  EXPECT_THAT(Cover(gaps, {8}, k_any).run(), ElementsAre(0U, 1U));
  EXPECT_THAT(Cover(gaps, {10}, k_any).run(), ElementsAre(1U, 2U));
}

TEST(Cover, counts_what_it_looks_at) {
  const std::vector<Candidate> two{{60, {{0, 1}}}, {60, {{1, 1}}}};
  Cover cover(two, {1, 1}, k_any);
  cover.run();
  EXPECT_GT(cover.looked_at(), 0U);
}

}  // namespace
}  // namespace entrain::explain
