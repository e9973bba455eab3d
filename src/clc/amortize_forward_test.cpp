// SPDX-License-Identifier: BSD-3-Clause
#include "clc/amortize.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/team_testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::HasSubstr;
using testing::in_team;
using testing::k_mu_10;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;
using Owner = std::vector<std::uint32_t>;

/// Ways to share two locations.
const std::vector<Owner> k_owners{{0, 0}, {0, 1}};

/// Calls body(result, problem) at every member.
template <class Body>
void amortize_in_team(const TraceBuilder& b, const Owner& owner, const MuTicks& mu,
                      std::optional<Decimal9> gamma, Body body) {
  const auto done = in_team(b, owner, [&](const trace::Share& share, Problem& problem) {
    body(amortize_forward(share, problem.with(mu), gamma), problem);
    return Result<void>();
  });
  EXPECT_TRUE(done);
}

TraceBuilder one_message(std::uint64_t sent, std::uint64_t received) {
  TraceBuilder b(2);
  b.message(K::send, 0, sent, 1);
  b.message(K::recv, 1, received, 0);
  return b;
}

TEST(AmortizeForward, where_nothing_has_to_move_c_is_the_result) {
  for (const Owner& owner : k_owners) {
    for (const std::uint64_t received : {110u, 111u}) {  // slack 0: a pass is made
      amortize_in_team(one_message(100, received), owner, k_mu_10, std::nullopt,
                       [&](const Result<ForwardResult>& result, const Problem& problem) {
                         ASSERT_TRUE(result);
                         EXPECT_EQ(result->pass.times, problem.presync);
                         EXPECT_EQ(result->pass.jump, std::vector<bool>(problem.graph.own_count()));
                         EXPECT_EQ(result->gamma.billionths, 999'990'000);
                         ASSERT_EQ(result->passes.size(), 1u);
                         EXPECT_TRUE(result->passes[0].chosen);
                         EXPECT_EQ(result->passes[0].violations, 0u);
                         EXPECT_EQ(result->passes[0].error_ticks, 0);
                       });
    }
  }
}

TEST(AmortizeForward, a_given_gamma_is_reported_even_if_nothing_moves) {
  amortize_in_team(one_message(100, 500), {0, 0}, k_mu_10, Decimal9{123'000'000},
                   [&](const Result<ForwardResult>& result, const Problem&) {
                     ASSERT_TRUE(result);
                     ASSERT_EQ(result->passes.size(), 1u);
                     EXPECT_DOUBLE_EQ(result->passes[0].gamma, 0.123);
                   });
}

TEST(AmortizeForward, a_message_that_arrives_too_early_is_moved) {
  for (const Owner& owner : k_owners) {
    amortize_in_team(one_message(100, 60), owner, k_mu_10, std::nullopt,
                     [&](const Result<ForwardResult>& result, const Problem& problem) {
                       ASSERT_TRUE(result);
                       Times times = problem.presync;
                       for (std::int64_t& time : times) time = time == 60 ? 110 : time;
                       EXPECT_EQ(result->pass.times, times);
                       EXPECT_EQ(result->pass.jumps, 1u);
                       EXPECT_EQ(result->pass.error, 50);
                       // The least error: the mildest gamma is taken at once.
                       EXPECT_EQ(result->passes.size(), 1u);
                     });
  }
}

TEST(AmortizeForward, times_out_of_range_are_an_error) {
  const std::int64_t huge = k_latest_time;
  for (const Owner& owner : k_owners) {
    for (const std::optional<Decimal9> gamma : {std::optional<Decimal9>(), {Decimal9{1}}}) {
      amortize_in_team(one_message(100, 60), owner, {huge, huge, huge}, gamma,
                       [&](const Result<ForwardResult>& result, const Problem&) {
                         ASSERT_FALSE(result);
                         EXPECT_EQ(result.error().kind, ErrorKind::input);
                         EXPECT_THAT(result.error().message, HasSubstr("range of times"));
                       });
    }
  }
}

TEST(AmortizeForward, ends_when_the_user_wants_to_stop) {
  for (const Owner& owner : k_owners) {
    const testing::Stop stop;
    const auto done =
        in_team(one_message(100, 60), owner, [&](const trace::Share& share, Problem& problem) {
          ForwardProblem input = problem.with(k_mu_10);
          input.cancel = Cancel(&stop);
          const auto result = amortize_forward(share, input);
          EXPECT_TRUE(!result && result.error().kind == ErrorKind::interrupted);
          return Result<void>();
        });
    EXPECT_TRUE(done);
  }
}

TEST(AmortizeForward, an_empty_trace_needs_no_pass) {
  amortize_in_team(TraceBuilder(2), {0, 1}, k_mu_10, std::nullopt,
                   [&](const Result<ForwardResult>& result, const Problem&) {
                     ASSERT_TRUE(result);
                     EXPECT_TRUE(result->pass.times.empty());
                     EXPECT_EQ(result->passes.size(), 1u);
                   });
}

}  // namespace
}  // namespace entrain::clc
