// SPDX-License-Identifier: BSD-3-Clause
#include "clc/control.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t k_99999 = 999'990'000, k_9999 = 999'900'000, k_999 = 999'000'000,
                       k_99 = 990'000'000, k_9 = 900'000'000;

/// Passes of two locations: the errors of the first one are given by its gamma, that of the second
/// one is constant.
class Scripted {
 public:
  explicit Scripted(std::map<std::int64_t, std::int64_t> errors, std::size_t at_once = 1,
                    std::int64_t other = 0)
      : least(2), errors_(std::move(errors)), at_once_(at_once), other_(other) {}

  Result<std::vector<ForwardTimes>> operator()(std::span<const Decimal9> gammas) {
    ++runs;
    std::vector<ForwardTimes> passes;
    for (const Decimal9 gamma : gammas.first(std::min(at_once_, gammas.size()))) {
      if (gamma.billionths == interrupted_at) return fail(ErrorKind::interrupted, "stopped");
      made.push_back(gamma.billionths);
      ForwardTimes& pass = passes.emplace_back();
      const bool smallest = gamma.billionths == k_9 && least[0].billionths == 0;
      pass.error_of = {errors_.at(std::max(gamma.billionths, least[0].billionths)),
                       smallest ? other_with_smallest.value_or(other_) : other_};
      pass.error = std::max(pass.error_of[0], pass.error_of[1]);
      pass.jumps = pass.error == 0 ? 0 : 7;
      pass.times = {pass.error};
    }
    return passes;
  }

  std::vector<std::int64_t> made;  ///< gammas
  int runs = 0;
  std::int64_t interrupted_at = 0;
  std::optional<std::int64_t> other_with_smallest;  ///< error of the second one with 0.9 everywhere
  std::vector<Decimal9> least;                      ///< each location's, as the control leaves it

 private:
  std::map<std::int64_t, std::int64_t> errors_;
  std::size_t at_once_;
  std::int64_t other_;
};

/// Gammas and errors of the reported passes, and which is chosen.
std::vector<std::pair<double, std::int64_t>> reported(const ForwardResult& result) {
  std::vector<std::pair<double, std::int64_t>> list;
  int chosen = 0;
  for (const AmortizationPass& pass : result.passes) {
    list.emplace_back(pass.gamma, pass.error_ticks);
    if (!pass.chosen) continue;
    ++chosen;
    EXPECT_EQ(pass.error_ticks, result.pass.error);
    EXPECT_DOUBLE_EQ(pass.gamma * 1e9, static_cast<double>(result.gamma.billionths));
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(result.pass.times, (std::vector<std::int64_t>{result.pass.error}));
  return list;
}

using Pass = std::pair<double, std::int64_t>;

const Upstream k_no_upstream = [](const ForwardTimes&, std::vector<bool>&) {};

ForwardResult choose(Scripted& forward, const Outlook& outlook, const Cycles& cycles = {},
                     const Upstream& upstream = k_no_upstream) {
  auto result = control_gamma(std::ref(forward), outlook, cycles, upstream, forward.least);
  EXPECT_TRUE(result);
  return *std::move(result);
}

TEST(ControlGamma, example) {
  Scripted forward({{k_99999, 900}, {k_9999, 300}, {k_999, 109}, {k_99, 104}, {k_9, 100}}, 1, 90);
  const ForwardResult result = choose(forward, {.least_error = 80});
  EXPECT_EQ(result.gamma.billionths, k_999);
  EXPECT_EQ(result.epsilon, 110);
  ASSERT_EQ(result.gamma_of.size(), 2u);
  EXPECT_EQ(result.gamma_of[0].billionths, k_999);
  EXPECT_EQ(result.gamma_of[1].billionths, k_99999);
  EXPECT_EQ(result.passes[0].clocks, 0u);
  EXPECT_EQ(result.passes[1].clocks, 0u) << "the smallest one, everywhere";
  EXPECT_EQ(result.passes[3].clocks, 1u);
  EXPECT_THAT(reported(result),
              ElementsAre(Pass{0.99999, 900}, Pass{0.9, 100}, Pass{0.9999, 300}, Pass{0.999, 109}));
  EXPECT_THAT(forward.made, ElementsAre(k_99999, k_9, k_9999, k_999));
}

TEST(ControlGamma, takes_the_mildest_at_once_if_it_is_near_the_least_error) {
  for (const auto& [error, passes] : {std::pair{110, 1u}, {111, 2u}}) {
    Scripted forward({{k_99999, error}, {k_9, error}});
    const ForwardResult result = choose(forward, {.least_error = 100});
    EXPECT_EQ(result.gamma.billionths, k_99999);
    EXPECT_EQ(reported(result).size(), passes) << error;
  }
}

TEST(ControlGamma, takes_the_mildest_if_nothing_jumps) {
  Scripted forward({{k_99999, 0}});
  EXPECT_THAT(reported(choose(forward, {.least_error = -5})), ElementsAre(Pass{0.99999, 0}));
}

TEST(ControlGamma, the_least_error_says_nothing_where_nodes_are_tied) {
  Scripted forward({{k_99999, 100}, {k_9, 100}});
  Cycles cycles;
  cycles.tied.emplace_back();
  EXPECT_THAT(reported(choose(forward, {.least_error = 100}, cycles)),
              ElementsAre(Pass{0.99999, 100}, Pass{0.9, 100}));
}

TEST(ControlGamma, falls_back_to_the_smallest) {
  Scripted forward({{k_99999, 5'000}, {k_9999, 4'000}, {k_999, 3'000}, {k_99, 111}, {k_9, 100}});
  const ForwardResult result = choose(forward, {});
  EXPECT_EQ(result.gamma.billionths, k_9);
  EXPECT_EQ(result.pass.error, 100);
  EXPECT_THAT(reported(result),
              ElementsAre(Pass{0.99999, 5'000}, Pass{0.9, 100}, Pass{0.9999, 4'000},
                          Pass{0.999, 3'000}, Pass{0.99, 111}));
}

TEST(ControlGamma, a_clock_that_moves_keeps_its_gamma_beside_one_that_needs_the_smallest) {
  Scripted forward({{k_99999, 5'000}, {k_9999, 4'000}, {k_999, 3'000}, {k_99, 111}, {k_9, 100}}, 1,
                   7);
  const ForwardResult result = choose(forward, {});
  EXPECT_EQ(result.gamma_of[0].billionths, k_9);
  EXPECT_EQ(result.gamma_of[1].billionths, k_99999);
  // The pass with 0.9 everywhere does not fit: there is one more.
  EXPECT_THAT(forward.made, ElementsAre(k_99999, k_9, k_9999, k_999, k_99, k_9));
  EXPECT_EQ(result.passes.back().clocks, 1u);
  EXPECT_TRUE(result.passes.back().chosen);
}

TEST(ControlGamma, clocks_that_push_a_bad_one_are_lowered_too) {
  Scripted forward({{k_99999, 900}, {k_9999, 300}, {k_999, 109}, {k_99, 104}, {k_9, 100}}, 1, 90);
  int asked = 0;
  const ForwardResult result =
      choose(forward, {}, {}, [&](const ForwardTimes& pass, std::vector<bool>& marked) {
        EXPECT_EQ(pass.error_of[0], asked == 0 ? 900 : 300);
        EXPECT_EQ(marked, (std::vector<bool>{true, false}));
        marked[1] = ++asked == 2;  // in the second pass only
      });
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(result.gamma.billionths, k_999);
  EXPECT_TRUE(result.gamma_of.empty()) << "both have 0.999 in the end";
  EXPECT_EQ(result.passes[2].clocks, 1u);
  EXPECT_EQ(result.passes[3].clocks, 0u);
}

TEST(ControlGamma, the_smallest_everywhere_is_taken_if_no_mixture_is_good) {
  // The second location stays bad whatever the first one does: nobody knows who pushes it.
  Scripted forward({{k_99999, 50}, {k_9999, 50}, {k_999, 50}, {k_99, 50}, {k_9, 50}}, 1, 900);
  forward.other_with_smallest = 100;
  const ForwardResult result = choose(forward, {});
  EXPECT_EQ(result.gamma.billionths, k_9);
  EXPECT_TRUE(result.gamma_of.empty());
  EXPECT_EQ(result.pass.error, 100);
  EXPECT_TRUE(result.passes[1].chosen);
}

TEST(ControlGamma, a_given_epsilon_needs_no_pass_to_compare_with) {
  const std::map<std::int64_t, std::int64_t> errors{
      {k_99999, 900}, {k_9999, 300}, {k_999, 109}, {k_99, 104}, {k_9, 100}};
  for (const auto& [epsilon, gamma, passes] :
       {std::tuple{900, k_99999, 1u}, {899, k_9999, 2u}, {105, k_99, 4u}, {0, k_9, 5u}}) {
    Scripted forward(errors);
    const ForwardResult result = choose(forward, {.epsilon = epsilon});
    EXPECT_EQ(result.gamma.billionths, gamma) << epsilon;
    EXPECT_EQ(result.epsilon, epsilon);
    EXPECT_EQ(reported(result).size(), passes) << epsilon;
  }
}

TEST(ControlGamma, passes_made_together_give_what_passes_one_by_one_give) {
  const std::map<std::int64_t, std::int64_t> errors{
      {k_99999, 5'000}, {k_9999, 4'000}, {k_999, 3'000}, {k_99, 111}, {k_9, 100}};
  for (const std::int64_t other : {0, 7}) {  // the second one keeps its gamma if it moves
    Scripted one(errors, 1, other);
    const ForwardResult expected = choose(one, {});
    for (const std::size_t at_once : {1u, 2u, 4u, 5u}) {
      Scripted forward(errors, at_once, other);
      const ForwardResult result = choose(forward, {.side_by_side = true});
      EXPECT_EQ(reported(result), reported(expected));
      EXPECT_EQ(result.gamma.billionths, expected.gamma.billionths);
      EXPECT_EQ(result.gamma_of.size(), expected.gamma_of.size());
    }
  }
  Scripted forward(errors, 5);
  choose(forward, {.side_by_side = true});
  EXPECT_THAT(forward.made, ElementsAre(k_99999, k_9, k_9999, k_999, k_99));
  EXPECT_EQ(forward.runs, 1);
}

TEST(ControlGamma, an_early_pass_of_the_smallest_gamma_is_dropped_if_the_mildest_is_taken) {
  Scripted forward({{k_99999, 100}, {k_9, 90}}, 2);
  const ForwardResult result = choose(forward, {.least_error = 95, .side_by_side = true});
  EXPECT_THAT(reported(result), ElementsAre(Pass{0.99999, 100}));
}

TEST(ControlGamma, compares_errors_exactly) {
  const std::int64_t huge = std::int64_t{1} << 60;  // 11 times that is no 64-bit number
  Scripted forward(
      {{k_99999, huge + huge / 10 + 1}, {k_9999, 1}, {k_999, 1}, {k_99, 1}, {k_9, huge}});
  EXPECT_EQ(choose(forward, {}).gamma.billionths, k_9999);
}

TEST(ControlGamma, ends_when_a_pass_is_interrupted) {
  for (const std::int64_t gamma : {k_99999, k_9, k_999}) {
    Scripted forward({{k_99999, 900}, {k_9999, 300}, {k_999, 109}, {k_9, 100}});
    forward.interrupted_at = gamma;
    const auto result = control_gamma(std::ref(forward), {}, {}, k_no_upstream, forward.least);
    ASSERT_FALSE(result) << gamma;
    EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
    EXPECT_THAT(forward.made, ::testing::Not(::testing::Contains(gamma)));
  }
}

TEST(FixedGamma, takes_one_pass) {
  Scripted forward({{123'456'789, 42}}, 3);
  const auto result = fixed_gamma(Forward(std::ref(forward)), {123'456'789});
  ASSERT_TRUE(result);
  EXPECT_THAT(reported(*result), ElementsAre(Pass{0.123456789, 42}));
  EXPECT_EQ(result->passes[0].violations, 7u);
}

TEST(FixedGamma, ends_when_the_pass_is_interrupted) {
  Scripted forward({});
  forward.interrupted_at = k_9;
  EXPECT_FALSE(fixed_gamma(Forward(std::ref(forward)), {k_9}));
  EXPECT_THAT(forward.made, IsEmpty());
}

}  // namespace
}  // namespace entrain::clc
