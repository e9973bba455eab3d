// SPDX-License-Identifier: BSD-3-Clause
// The recorded traces with ground truth, from check to corrected archive.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/correction.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

fs::path recorded(const std::string& name) {
  return fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name / "traces.otf2";
}

struct Expected {
  const char* name;
  std::uint64_t p2p_edges, p2p_violations;
  std::int64_t p2p_worst_ticks;
  double linear_rms_us;  ///< of communication events against the truth
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class Recorded : public testing::TestWithParam<Expected> {
 protected:
  [[nodiscard]] static fs::path trace() { return recorded(GetParam().name); }
  [[nodiscard]] static fs::path truth() {
    return recorded(std::string(GetParam().name) + ".truth");
  }
  TempFolder scratch_;
};

TEST_P(Recorded, violations_are_found_as_an_independent_reader_counts_them) {
  const auto report = check(trace(), {});
  ASSERT_TRUE(report) << report.error().message;
  const EdgeStatistics& p2p = report->edges[static_cast<std::size_t>(EdgeKind::p2p)];
  EXPECT_EQ(p2p.count, GetParam().p2p_edges);
  EXPECT_EQ(p2p.violations, GetParam().p2p_violations);
  ASSERT_TRUE(p2p.worst);
  EXPECT_EQ(p2p.worst->margin_ticks, GetParam().p2p_worst_ticks);
  EXPECT_EQ(report->presync, PresyncMethod::linear);
}

TEST_P(Recorded, truth_has_no_violation_of_any_kind) {
  CheckOptions options;
  options.init_finalize = true;
  const auto report = check(truth(), options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->violations, 0u);
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    EXPECT_EQ(report->edges[k].violations, 0u) << name_of(static_cast<EdgeKind>(k));
  }
}

TEST_P(Recorded, correction_leaves_no_violation_and_every_record) {
  const CorrectReport report = expect_corrected(trace(), scratch_.path());
  EXPECT_GT(report.before.violations, 0u);
  EXPECT_GT(report.statistics.moved_events, 0u);
}

TEST_P(Recorded, correction_keeps_its_promises_under_other_options) {
  CorrectOptions options;
  options.backward = false;
  expect_corrected(trace(), scratch_.path(), options, {.records = false});
  options = {};
  options.gamma = Decimal9{990'000'000};
  options.check.mu.source = MuSource::one_tick;
  options.delta_ticks = 10;
  expect_corrected(trace(), scratch_.path(), options, {.records = false, .second_run = false});
  options = {};
  options.check.presync = Presync::none;
  options.check.init_finalize = true;
  options.check.alltoallv = AlltoallvRule::dense;
  expect_corrected(trace(), scratch_.path(), options, {.records = false, .second_run = false});
}

TEST_P(Recorded, truth_stays_as_it_is) { expect_untouched(truth(), scratch_.path()); }

TEST_P(Recorded, result_does_not_depend_on_threads) {
  CorrectOptions options;
  options.check.threads = 1;
  const auto one = clock_maps(trace(), options);
  options.check.threads = 8;
  const auto eight = clock_maps(trace(), options);
  ASSERT_TRUE(one && eight);
  EXPECT_TRUE(one->maps == eight->maps);
}

TEST_P(Recorded, error_against_the_truth_is_reported) {
  CorrectOptions options;
  const auto corrected = correct(trace(), scratch_ / "out", options);
  ASSERT_TRUE(corrected) << corrected.error().message;
  const auto report = compare(trace(), scratch_ / "out", truth(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NEAR(report->a_error->communication.rms_s * 1e6, GetParam().linear_rms_us,
              0.005 * GetParam().linear_rms_us);
  // On these traces, whose clocks wander slowly, the correction also comes closer to the truth.
  EXPECT_LT(report->b_error->communication.rms_s, report->a_error->communication.rms_s);
  const auto raw = compare(trace(), scratch_ / "out", truth(), {.threads = 0, .raw_a = true});
  ASSERT_TRUE(raw);
  EXPECT_GT(raw->a_error->communication.rms_s, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Examples, Recorded,
                         testing::Values(Expected{"lulesh-8", 10856, 461, -33959, 8.57},
                                         Expected{"allops-4", 2254, 853, -1194588, 306},
                                         Expected{"amg-8", 27891, 55, -4126, 2.18}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace entrain::test
