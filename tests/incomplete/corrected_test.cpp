// SPDX-License-Identifier: BSD-3-Clause
//
// Archives that lost records, corrected: a check of the result finds the pairs and the verdict of
// the correction, and nothing that is violated. The same before clocks went wrong: where all times
// are right, a violation is a pair of records that do not belong together.
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <entrain/entrain.hpp>
#include <gtest/gtest.h>

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

void expect_no_violation(const fs::path& archive) {
  CheckOptions options;
  options.threads = 1;
  const auto report = check(archive, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->violations, 0u);
}

/// `settles`: wrong clocks show the same pairs as right ones.
void expect_same_verdict(const fs::path& archive, const fs::path& output, WriteMode mode,
                         bool settles) {
  CorrectOptions options;
  options.check.threads = 1;
  options.mode = mode;
  options.force = true;
  const auto report = correct(archive, output, options);
  ASSERT_TRUE(report) << report.error().message;
  const auto again = check(output, options.check);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->judgement.verdict, report->judgement->verdict);
  EXPECT_EQ(again->checked_edges, report->after.checked_edges);
  EXPECT_EQ(again->violations, report->after.violations);
  if (settles) {
    EXPECT_EQ(again->violations, 0u);
  }
  EXPECT_EQ(again->unmatched, report->after.unmatched);
}

/// Of an archive without loss whose clocks are right.
void try_archive(const fs::path& truth, std::uint64_t seed, bool settles = true) {
  const TempFolder folder;
  DistortOptions clocks;
  clocks.seed = seed;
  clocks.sessions = seed % 3 == 0 ? 0 : 2;
  clocks.wander_ppm = seed % 2 == 0 ? 5 : 200;
  for (const NamedLoss& loss : all_losses(seed)) {
    SCOPED_TRACE(loss.name + ", seed " + std::to_string(seed));
    const auto lossy = drop(truth, folder / "lossy", loss.options);
    ASSERT_TRUE(lossy) << lossy.error().message;
    expect_no_violation(folder / "lossy");
    ASSERT_TRUE(distort(folder / "lossy", folder / "wrong", clocks));
    expect_same_verdict(folder / "wrong", folder / "corrected",
                        seed % 2 == 0 ? WriteMode::rewrite : WriteMode::overlay, settles);
    for (const char* const name : {"lossy", "wrong", "corrected"}) fs::remove_all(folder / name);
  }
}

class LossyAndCorrected : public testing::TestWithParam<SynthPattern> {};

TEST_P(LossyAndCorrected, is_what_a_check_of_it_finds) {
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
    // Workers are served as they come: only delays tell which message was lost.
    try_archive(truth->archive, seed, GetParam() != SynthPattern::master_worker);
  }
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
    try_archive(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name, 1);
  }
}

}  // namespace
}  // namespace entrain::test
