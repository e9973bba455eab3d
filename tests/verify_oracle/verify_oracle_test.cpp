// SPDX-License-Identifier: BSD-3-Clause
// The checker counts what a verifier on top of the OTF2 library counts, before and after a
// correction.
#include <iostream>
#include <set>

#include <gtest/gtest.h>

#include "support/files.hpp"
#include "support/library_verifier.hpp"
#include "support/random_trace.hpp"
#include "support/trace_writer.hpp"

#include <entrain/entrain.hpp>

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

/// Fixed mu of the same ticks for all classes; the archives here have whole ticks per nanosecond.
CheckOptions with_mu(CheckOptions options, const fs::path& anchor, std::int64_t ticks) {
  options.mu.source = MuSource::fixed;
  const auto plain = check(anchor, {});
  const double hz = plain ? static_cast<double>(plain->resolution_hz) : 1e9;
  options.mu.seconds = static_cast<double>(ticks) / hz;
  return options;
}

/// Returns what was seen, so that a test can tell that it tested something.
VerifiedKinds expect_same(const fs::path& anchor, const CheckOptions& options) {
  const auto report = check(anchor, options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  const VerifiedKinds kinds = verify_with_library(anchor, options, report->mu_ticks);
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    const EdgeStatistics& found = report->edges[k];
    EXPECT_EQ(found.count, kinds[k].count) << name_of(static_cast<EdgeKind>(k));
    EXPECT_EQ(found.violations, kinds[k].violations) << name_of(static_cast<EdgeKind>(k));
    EXPECT_EQ(found.below_latency, kinds[k].below_latency) << name_of(static_cast<EdgeKind>(k));
  }
  return kinds;
}

/// As it is, and after a correction in both modes.
void expect_same_throughout(const fs::path& anchor, const fs::path& scratch,
                            const CheckOptions& options) {
  expect_same(anchor, options);
  expect_same(anchor, with_mu(options, anchor, 3000));
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    CorrectOptions how;
    how.check = options;
    how.mode = mode;
    fs::remove_all(scratch / "corrected");
    const auto corrected = correct(anchor, scratch / "corrected", how);
    ASSERT_TRUE(corrected) << corrected.error().message;
    expect_same(corrected->output, options);
    expect_same(corrected->output, with_mu(options, corrected->output, 3000));
  }
}

class Recorded : public testing::TestWithParam<fs::path> {};

TEST_P(Recorded, checker_and_library_agree) {
  const TempFolder scratch;
  CheckOptions options;
  SCOPED_TRACE(GetParam());
  expect_same_throughout(anchor_in(GetParam()), scratch.path(), options);
  options.alltoallv = AlltoallvRule::dense;
  options.init_finalize = true;
  const VerifiedKinds kinds = expect_same(anchor_in(GetParam()), options);
  EXPECT_GT(kinds[static_cast<std::size_t>(EdgeKind::p2p)].count, 0u);
  EXPECT_GT(kinds[static_cast<std::size_t>(EdgeKind::init_finalize)].count, 0u);
}

std::vector<fs::path> recorded() {
  std::vector<fs::path> folders;
  std::set<std::string> names;
  for (const fs::path& root :
       {fs::path(ENTRAIN_EXAMPLES_DIR) / "traces", fs::path(ENTRAIN_SHARED_TRACES_DIR)}) {
    for (const fs::path& folder : archives_under(root)) {
      if (names.insert(folder.filename()).second) folders.push_back(folder);
    }
  }
  return folders;
}

INSTANTIATE_TEST_SUITE_P(All, Recorded, testing::ValuesIn(recorded()), [](const auto& folder) {
  std::string name = folder.param.filename();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(SharedTraces, are_there) {
  if (!fs::is_directory(ENTRAIN_SHARED_TRACES_DIR)) {
    GTEST_SKIP() << "no folder " << ENTRAIN_SHARED_TRACES_DIR << ": its traces are not tested";
  }
}

/// Programs with operations of all kinds, under clocks of all kinds.
TracePlan random_plan(std::uint64_t seed) {
  TracePlan plan;
  plan.seed = seed;
  plan.processes = 2 + static_cast<std::uint32_t>(seed % 6);
  plan.threads = 1 + static_cast<std::uint32_t>(seed % 3);
  plan.sub_comms = 2;
  plan.inter_comms = static_cast<std::uint32_t>(seed % 3);
  plan.steps = 250;
  plan.mpi_threads = seed % 4 == 1;
  plan.shuffle_locations = seed % 5 == 2;
  plan.init_finalize = seed % 2 == 0;
  plan.dense_alltoallv = seed % 3 == 0;
  plan.unmatched = seed % 4 == 3;
  plan.mismatched_collective = seed % 7 == 6;
  plan.domain = seed % 3 == 1 ? ClockDomain::location : ClockDomain::process;
  plan.offset_ticks = seed % 3 == 0 ? 0 : 200;
  plan.drift_ppm = 1000;
  plan.granule_ticks = seed % 4 == 0 ? 40 : 1;
  return plan;
}

TEST(RandomPrograms, checker_and_library_agree) {
  VerifiedKinds sums{};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const TempFolder scratch;
    TracePlan plan = random_plan(seed);
    // The library's verifier pairs by order alone.
    plan.unmatched = plan.mismatched_collective = false;
    SCOPED_TRACE(plan);
    const fs::path anchor = write_trace(random_trace(plan).trace, scratch / "trace");
    CheckOptions options;
    options.alltoallv = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
    options.init_finalize = plan.init_finalize;
    expect_same_throughout(anchor, scratch.path(), options);
    const VerifiedKinds kinds = expect_same(anchor, with_mu(options, anchor, 5));
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      sums[k].count += kinds[k].count;
      sums[k].violations += kinds[k].violations;
      sums[k].below_latency += kinds[k].below_latency - kinds[k].violations;
    }
  }
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    EXPECT_GT(sums[k].count, 100u) << name_of(static_cast<EdgeKind>(k));
    EXPECT_GT(sums[k].violations, 10u) << name_of(static_cast<EdgeKind>(k));
    EXPECT_GT(sums[k].below_latency, 0u) << name_of(static_cast<EdgeKind>(k));
  }
}

}  // namespace
}  // namespace entrain::test
