// SPDX-License-Identifier: BSD-3-Clause
#include "clc/fallback_forward.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::clc {
namespace {

constexpr Decimal9 k_gamma{900'000'000};

/// Makes `good` passes, then it cannot, or ends with an error.
class Way final : public Forward {
 public:
  Way(std::int64_t mark, int good, bool fails = false) : mark_(mark), good_(good), fails_(fails) {}
  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> /*gammas*/) override {
    std::vector<ForwardTimes> passes;
    if (good_-- > 0) {
      passes.emplace_back().error = mark_;
    } else if (fails_) {
      return fail(ErrorKind::interrupted, "stopped");
    }
    return passes;
  }

 private:
  std::int64_t mark_;
  int good_;
  bool fails_;
};

template <class... Ways>
FallbackForward ways(Ways... list) {
  std::vector<std::unique_ptr<Forward>> result;
  (result.push_back(std::move(list)), ...);
  return FallbackForward(std::move(result));
}

std::int64_t mark_of(FallbackForward& forward) {
  const auto passes = forward.run(std::span(&k_gamma, 1));
  if (!passes) return -2;
  return passes->empty() ? -1 : passes->front().error;
}

TEST(FallbackForward, takes_the_next_way_and_stays_there) {
  FallbackForward forward =
      ways(std::make_unique<Way>(1, 2), std::make_unique<Way>(2, 0), std::make_unique<Way>(3, 2));
  for (const std::int64_t mark : {1, 1, 3, 3, -1, -1}) EXPECT_EQ(mark_of(forward), mark);
}

TEST(FallbackForward, an_error_is_no_reason_to_try_another_way) {
  FallbackForward forward = ways(std::make_unique<Way>(1, 1, true), std::make_unique<Way>(2, 1));
  for (const std::int64_t mark : {1, -2, -2}) EXPECT_EQ(mark_of(forward), mark);
}

TEST(FallbackForward, without_ways_there_is_no_pass) {
  FallbackForward forward = ways();
  EXPECT_EQ(mark_of(forward), -1);
}

}  // namespace
}  // namespace entrain::clc
