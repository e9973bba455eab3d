// SPDX-License-Identifier: BSD-3-Clause
// Archives of which a correction once made something that no reader took, or of which it said what
// a check of the result did not find. The names say what is odd about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <entrain/entrain.hpp>

#include "support/files.hpp"
#include "support/otf2_print.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_archives() {
  return fs::path(ENTRAIN_SOURCE_DIR) / "tests" / "regress" / "doubtful";
}

using Setting = std::tuple<std::string, Presync, bool>;  // archive, presync, init_finalize

class Doubtful : public testing::TestWithParam<Setting> {
 protected:
  static CorrectOptions options(WriteMode mode) {
    CorrectOptions options;
    options.check.threads = 1;
    options.check.presync = std::get<1>(GetParam());
    options.check.init_finalize = std::get<2>(GetParam());
    options.backward = options.check.presync != Presync::linear;
    options.delta_ticks = options.backward ? 0 : 1;
    options.mode = mode;
    return options;
  }

  static fs::path input() { return folder_of_archives() / std::get<0>(GetParam()); }

  /// The archive as corrected is what the report says of it, to every reader; or there is none.
  /// Returns false if it was refused.
  bool correct_to(const std::string& name, WriteMode mode) {
    const auto report = correct(input(), folder_ / name, options(mode));
    if (!report) {
      EXPECT_THAT(report.error().kind, testing::AnyOf(ErrorKind::input, ErrorKind::output));
      EXPECT_THAT(report.error().message, testing::Not(testing::HasSubstr(".partial")));
      EXPECT_FALSE(fs::exists(folder_ / name));
      return false;
    }
    CheckOptions as_written = options(mode).check;
    as_written.presync = Presync::automatic;
    const auto again = check(folder_ / name, as_written);
    EXPECT_TRUE(again) << again.error().message;
    if (!again) return true;
    EXPECT_EQ(again->violations, report->after.violations);
    EXPECT_EQ(again->judgement.verdict, report->judgement->verdict);
    EXPECT_EQ(again->checked_edges, report->after.checked_edges);
    EXPECT_EQ(again->unmatched, report->after.unmatched);
    EXPECT_EQ(again->skipped, report->after.skipped);
    // otf2-print crashes on one of the originals.
    if (print_archive(input() / "traces.otf2", false).exit_code >= 0) {
      const PrintedArchive printed = print_archive(report->output, false);
      EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    }
    return true;
  }

  TempFolder folder_;
};

TEST_P(Doubtful, corrected_is_what_a_check_of_it_finds) {
  const bool rewritten = correct_to("rewritten", WriteMode::rewrite);
  const bool overlay = correct_to("overlay", WriteMode::overlay);
  if (!rewritten || !overlay) return;
  const auto difference = compare(folder_ / "rewritten", folder_ / "overlay", std::nullopt, {});
  ASSERT_TRUE(difference) << difference.error().message;
  EXPECT_EQ(difference->all.max_s, 0);
  EXPECT_THAT(entries_of(folder_.path()), testing::ElementsAre("overlay", "rewritten"));
}

TEST(DoubtfulTimes, that_no_stamp_can_hold_are_not_rewritten) {
  const TempFolder folder;
  const fs::path input = folder_of_archives() / "clock-offsets-out-of-range";
  CorrectOptions options;
  options.check.threads = 1;
  options.amortize = false;
  const auto refused = correct(input, folder / "rewritten", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("traces.otf2 would get a time stamp out of range (40000010000"));
  EXPECT_TRUE(entries_of(folder.path()).empty());
  // What the sentence advises.
  options.mode = WriteMode::overlay;
  EXPECT_TRUE(correct(input, folder / "overlay", options));
  EXPECT_TRUE(check(folder / "overlay", {}));
  options.mode = WriteMode::rewrite;
  options.check.presync = Presync::none;
  EXPECT_TRUE(correct(input, folder / "rewritten", options));
  EXPECT_TRUE(check(folder / "rewritten", {}));
}

/// The clocks of this archive wander far beyond what their records say: these must not decide which
/// records belong together.
TEST(DoubtfulPairs, are_judged_as_a_check_of_the_result_judges_them) {
  const fs::path whole = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "allops-4";
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const TempFolder folder;
    DropOptions losses;
    losses.seed = seed;
    losses.random = 0.0005;
    ASSERT_TRUE(drop(whole, folder / "lossy", losses));
    for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
      CorrectOptions options;
      options.check.threads = 1;
      options.mode = mode;
      const fs::path result = folder / name_of(mode);
      const auto report = correct(folder / "lossy", result, options);
      ASSERT_TRUE(report) << report.error().message;
      const auto again = check(result, options.check);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->violations, report->after.violations) << seed;
      EXPECT_EQ(again->checked_edges, report->after.checked_edges) << seed;
      EXPECT_EQ(again->judgement.verdict, report->judgement->verdict) << seed;
      EXPECT_EQ(again->violations, 0u) << seed;
      EXPECT_GT(again->checked_edges, 5'000u) << seed;
    }
  }
}

std::vector<std::string> doubtful_archives() { return entries_of(folder_of_archives()); }

INSTANTIATE_TEST_SUITE_P(All, Doubtful,
                         testing::Combine(testing::ValuesIn(doubtful_archives()),
                                          testing::Values(Presync::automatic, Presync::none,
                                                          Presync::linear, Presync::regression),
                                          testing::Bool()));

}  // namespace
}  // namespace entrain::test
