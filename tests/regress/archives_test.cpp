// SPDX-License-Identifier: BSD-3-Clause
// Archives whose records contradict each other or leave an order open. The names say how. What the
// correction pairs the checker must pair too, whatever the correction did to the stamps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> archives() {
  std::vector<std::string> names;
  const fs::path folder = fs::path(ENTRAIN_SOURCE_DIR) / "tests" / "regress" / "archives";
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Contradiction : public testing::TestWithParam<std::string> {};

TEST_P(Contradiction, leaves_no_violation) {
  const fs::path archive =
      fs::path(ENTRAIN_SOURCE_DIR) / "tests" / "regress" / "archives" / GetParam();
  const TempFolder folder;
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    for (const MuSource mu : {MuSource::automatic, MuSource::one_tick}) {
      CorrectOptions options;
      options.check.threads = 1;
      options.check.init_finalize = true;
      options.check.alltoallv = AlltoallvRule::dense;
      options.check.mu.source = mu;
      options.mode = mode;
      options.force = true;
      const auto report = correct(archive, folder.path() / "out", options);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_TRUE(report->verified);
      EXPECT_EQ(report->after.violations, 0u);
      EXPECT_EQ(report->after.below_latency, 0u);
      EXPECT_EQ(report->statistics.order_broken, 0u);
      EXPECT_EQ(report->before.unmatched, report->after.unmatched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Contradiction, testing::ValuesIn(archives()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

Result<CorrectReport> correct_limit(const std::string& name, const fs::path& output, WriteMode mode,
                                    ClockDomain domain = ClockDomain::location,
                                    Presync presync = Presync::none) {
  CorrectOptions options;
  options.check.threads = 1;
  options.check.clock_domain = domain;
  options.check.presync = presync;
  options.mode = mode;
  return correct(fs::path(ENTRAIN_SOURCE_DIR) / "tests" / "regress" / "limits" / name, output,
                 options);
}

TEST(Limits, only_rewrite_moves_events_inside_a_buffer_flush) {
  const TempFolder folder;
  const std::string name = "messages-inside-a-buffer-flush";
  const auto rewritten = correct_limit(name, folder.path() / "rewritten", WriteMode::rewrite);
  ASSERT_TRUE(rewritten) << rewritten.error().message;
  EXPECT_GT(rewritten->before.violations, 0u);
  EXPECT_EQ(rewritten->after.violations, 0u);
  const auto overlay = correct_limit(name, folder.path() / "overlay", WriteMode::overlay);
  ASSERT_TRUE(overlay) << overlay.error().message;
  EXPECT_GT(overlay->after.violations, 0u);
  EXPECT_THAT(overlay->after.skipped,
              testing::Contains(Counters::value_type("events_in_flushes", 3)));
}

// Sends and receives of this archive are in no proportion: which belong together, nobody knows.
TEST(Limits, threads_whose_messages_do_not_add_up_violate_nothing) {
  const TempFolder folder;
  const std::string name = "threads-of-one-process-receive";
  for (const WriteMode mode : {WriteMode::overlay, WriteMode::rewrite}) {
    const fs::path output = folder.path() / (mode == WriteMode::overlay ? "overlay" : "rewritten");
    const auto report = correct_limit(name, output, mode);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->verified);
    EXPECT_EQ(report->before.violations, 0u);
    ASSERT_TRUE(report->judgement);
    EXPECT_EQ(report->judgement->verdict, Verdict::unproven);
    const auto again = check(output, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->violations, 0u);
  }
}

TEST(Limits, clocks_too_far_apart_are_refused) {
  const TempFolder folder;
  const auto report = correct_limit("shift-beyond-the-precision-of-a-double", folder.path() / "out",
                                    WriteMode::rewrite);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::input);
  EXPECT_THAT(report.error().message, testing::HasSubstr("more than a clock map can tell"));
  EXPECT_FALSE(fs::exists(folder.path() / "out"));
  // Clocks that messages align need no such shift.
  const auto aligned =
      correct_limit("shift-beyond-the-precision-of-a-double", folder.path() / "out",
                    WriteMode::rewrite, ClockDomain::automatic, Presync::automatic);
  ASSERT_TRUE(aligned) << aligned.error().message;
  EXPECT_EQ(aligned->after.violations, 0u);
}

}  // namespace
}  // namespace entrain::test
