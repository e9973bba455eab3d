// SPDX-License-Identifier: BSD-3-Clause
//
// Archives that lost records, corrected: a check of the result finds the pairs and the verdict of
// the correction, and hardly anything that is violated. Where all times are right, a violation is a
// pair of records that do not belong together.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <entrain/entrain.hpp>

#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

struct NamedLoss {
  std::string name;
  DropOptions options;
};

std::vector<NamedLoss> all_losses(std::uint64_t seed) {
  std::vector<NamedLoss> all(4);
  all[0].name = "random 0.1 %";
  all[0].options.random = 0.001;
  all[1].name = "random 1 %";
  all[1].options.random = 0.01;
  all[2].name = "windows of 10 % on a third";
  all[2].options.windows = {0.1, 1.0 / 3};
  all[3].name = "tails of 20 % on a half";
  all[3].options.tail = {0.2, 0.5};
  for (NamedLoss& loss : all) loss.options.seed = seed;
  return all;
}

std::uint64_t violations_of(const fs::path& archive) {
  CheckOptions options;
  options.threads = 1;
  const auto report = check(archive, options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? report->violations : 1;
}

/// Corrects an archive: the result is what a check of it finds. Returns the violations left.
std::uint64_t corrected_violations(const fs::path& archive, const fs::path& output,
                                   WriteMode mode) {
  CorrectOptions options;
  options.check.threads = 1;
  options.mode = mode;
  const auto report = correct(archive, output, options);
  EXPECT_TRUE(report) << report.error().message;
  if (!report) return 1;
  const auto again = check(output, options.check);
  EXPECT_TRUE(again) << again.error().message;
  if (!again) return 1;
  EXPECT_EQ(again->judgement.verdict, report->judgement->verdict);
  EXPECT_EQ(again->checked_edges, report->after.checked_edges);
  EXPECT_EQ(again->violations, report->after.violations);
  EXPECT_EQ(again->unmatched, report->after.unmatched);
  return again->violations;
}

/// Numbers of archives with violations: of those that lost records while their clocks were right,
/// and of the same with wrong clocks that were corrected.
struct Violated {
  int right = 0, corrected = 0;
};

/// Of an archive without loss whose clocks are right.
void try_archive(const fs::path& truth, std::uint64_t seed, Violated& violated) {
  const TempFolder folder;
  DistortOptions clocks;
  clocks.seed = seed;
  clocks.sessions = seed % 3 == 0 ? 0 : 2;
  clocks.wander_ppm = seed % 2 == 0 ? 5 : 200;
  for (const NamedLoss& loss : all_losses(seed)) {
    SCOPED_TRACE(loss.name + ", seed " + std::to_string(seed));
    const auto lossy = drop(truth, folder / "lossy", loss.options);
    ASSERT_TRUE(lossy) << lossy.error().message;
    violated.right += violations_of(folder / "lossy") > 0 ? 1 : 0;
    ASSERT_TRUE(distort(folder / "lossy", folder / "wrong", clocks));
    const WriteMode mode = seed % 2 == 0 ? WriteMode::rewrite : WriteMode::overlay;
    const std::uint64_t left = corrected_violations(folder / "wrong", folder / "corrected", mode);
    violated.corrected += left > 0 ? 1 : 0;
    for (const char* const name : {"lossy", "wrong", "corrected"}) fs::remove_all(folder / name);
  }
}

class LossyAndCorrected : public testing::TestWithParam<SynthPattern> {};

/// In short traces, windows of two partners that are equally long look like a clock that was set
/// twice. Pairs that wrong clocks do not show are not corrected (decision 51).
TEST_P(LossyAndCorrected, is_what_a_check_of_it_finds) {
  Violated violated;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const TempFolder folder;
    SynthOptions plan;
    plan.pattern = GetParam();
    plan.locations = 3 + seed % 4;
    plan.events = 6'000;
    plan.communication_share = 0.3;
    plan.seed = seed;
    const auto truth = synth(folder / "truth", plan);
    ASSERT_TRUE(truth) << truth.error().message;
    try_archive(truth->archive, seed, violated);
  }
  EXPECT_LE(violated.right, 1);
  EXPECT_LE(violated.corrected, 1);
}

INSTANTIATE_TEST_SUITE_P(Patterns, LossyAndCorrected,
                         testing::Values(SynthPattern::ring, SynthPattern::stencil2d,
                                         SynthPattern::allreduce, SynthPattern::master_worker,
                                         SynthPattern::mixed, SynthPattern::pipeline),
                         [](const auto& pattern) {
                           std::string name(name_of(pattern.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(LossyTruths, are_what_a_check_of_them_finds_once_they_are_corrected) {
  for (const char* const name : {"allops-4.truth", "amg-8.truth", "lulesh-8.truth"}) {
    SCOPED_TRACE(name);
    Violated violated;
    try_archive(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1, violated);
    EXPECT_EQ(violated.right, 0);
    EXPECT_EQ(violated.corrected, 0);
  }
}

}  // namespace
}  // namespace entrain::test
