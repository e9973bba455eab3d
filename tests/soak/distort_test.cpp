// SPDX-License-Identifier: BSD-3-Clause
// Truths with wrong clocks of many kinds, corrected again. Takes minutes.
#include <algorithm>

#include <gtest/gtest.h>

#include <fmt/core.h>

#include "support/correction.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

/// How wrong the clocks are.
struct Strength {
  double drift_ppm, wander_ppm, offset_noise_s;
};
constexpr Strength k_strengths[] = {
    {1, 5, 1e-7}, {50, 100, 1e-6}, {100, 1000, 5e-6}, {200, 5000, 5e-5}};
constexpr std::uint64_t k_seeds = 20;

class Distorted : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};

TEST_P(Distorted, is_corrected_again) {
  const auto& [name, seed] = GetParam();
  const fs::path truth =
      fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / fmt::format("{}.truth", name) / "traces.otf2";
  std::uint64_t violations = 0;
  for (const Strength& strength : k_strengths) {
    SCOPED_TRACE(
        fmt::format("drift {} ppm, wander {} ppm", strength.drift_ppm, strength.wander_ppm));
    const TempFolder scratch;
    DistortOptions options;
    options.seed = seed;
    options.drift_ppm = strength.drift_ppm;
    options.wander_ppm = strength.wander_ppm;
    options.offset_noise_s = strength.offset_noise_s;
    const auto distorted = distort(truth, scratch / "distorted", options);
    ASSERT_TRUE(distorted) << distorted.error().message;
    const CorrectReport report =
        expect_corrected(distorted->output, scratch.path(), {},
                         {.records = strength.wander_ppm == 1000, .second_run = true});
    violations += report.before.violations;
  }
  EXPECT_GT(violations, 0u);  // the strongest ones cannot go unnoticed
}

INSTANTIATE_TEST_SUITE_P(Truths, Distorted,
                         testing::Combine(testing::Values("lulesh-8", "allops-4", "amg-8"),
                                          testing::Range<std::uint64_t>(1, k_seeds + 1)),
                         [](const auto& test) {
                           std::string name = fmt::format("{}_seed_{}", std::get<0>(test.param),
                                                          std::get<1>(test.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace entrain::test
