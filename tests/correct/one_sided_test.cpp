// SPDX-License-Identifier: BSD-3-Clause
// Post-start-complete-wait as Score-P records it: every RmaGroupSync has the stamp of its Enter.
#include <otf2/otf2.h>

#include <gtest/gtest.h>

#include "support/archive_builder.hpp"
#include "support/correction.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

class PostStartCompleteWait : public testing::Test {
 protected:
  /// Rank 1 exposes its window to rank 0 and begins to wait long before rank 0 completes. `shift`
  /// is added to the clock of rank 1.
  std::filesystem::path write(std::int64_t shift) {
    ArchiveBuilder archive(scratch_ / "in");
    const auto node = archive.node("n0");
    archive.location(0, archive.process("MPI Rank 0", node));
    archive.location(1, archive.process("MPI Rank 1", node));
    const auto world = archive.comm("MPI_COMM_WORLD", {0, 1});
    const auto window = archive.window("window", world);
    const auto origin = archive.group({0}), target = archive.group({1});
    const auto call = [&](std::uint64_t location, const char* name, std::uint64_t enter,
                          std::uint64_t leave, std::uint32_t group) {
      const std::uint64_t moved = location == 1 ? static_cast<std::uint64_t>(shift) : 0;
      const auto region = archive.region(name);
      auto at = archive.at(location);
      at.enter(enter + moved, region);
      archive.note_time(location, enter + moved);
      OTF2_EvtWriter_RmaGroupSync(at.writer, nullptr, enter + moved, OTF2_RMA_SYNC_LEVEL_PROCESS,
                                  window, group);
      at.leave(leave + moved, region);
    };
    call(1, "MPI_Win_post", 100'000, 101'000, origin);
    call(0, "MPI_Win_start", 100'500, 102'000, target);
    call(1, "MPI_Win_wait", 103'000, 160'000, origin);
    call(0, "MPI_Win_complete", 150'000, 158'000, target);
    return archive.finish();
  }
  TempFolder scratch_;
};

TEST_F(PostStartCompleteWait, waiting_from_early_on_is_no_violation) {
  const auto report = check(write(0), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->edges[static_cast<std::size_t>(EdgeKind::rma)].count, 2u);
  EXPECT_EQ(report->violations, 0u);
}

TEST_F(PostStartCompleteWait, wait_that_ends_before_complete_is_corrected) {
  const CorrectReport report = expect_corrected(write(-20'000), scratch_.path());
  EXPECT_EQ(report.before.violations, 1u);
}

}  // namespace
}  // namespace entrain::test
