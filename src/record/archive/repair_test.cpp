// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/repair.hpp"

#include <gmock/gmock.h>

#include "record/archive/archive.hpp"
#include "record/archive/folders.hpp"
#include "record/base/journal.hpp"
#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

using testing::HasSubstr;

/// A chunk with `count` Enter records of region 1 and their stamps.
std::string chunk_with(int count) {
  std::string chunk{'\x03', '\x42', '\x01'};
  chunk.append(15, '\0');
  for (int i = 0; i < count; ++i) {
    const std::uint64_t time = 1000 + static_cast<std::uint64_t>(i);
    chunk += '\x05';
    chunk.append(reinterpret_cast<const char*>(&time), 8);
    chunk += {'\x0c', '\x01', '\x01'};
  }
  chunk.resize(k_event_chunk, '\0');
  return chunk;
}

/// The files that process 0 of two leaves when it crashes.
void leave_unfinished(const std::string& directory) {
  put_file(journal_path(directory, 0),
           "process\t0\t2\thost\tTSC\t1\t17\t18\t\nlocation\t0\tMaster thread\n"
           "region\t1\tm\tMPI_Send\ncomm\t0\tx\tworld:0\tMPI_COMM_WORLD\t0-1\t\t\n"
           "comm\t1\ts\tself\tMPI_COMM_SELF\t\t\t\nlimit\tsize\nsam");
  put_file(buffer_path(directory, 0), chunk_with(3));
}

TEST(Repair, makes_an_archive_of_what_is_there) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  leave_unfinished(directory);
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_EQ(report.processes, 1u);
  EXPECT_EQ(report.missing, 1u);
  EXPECT_EQ(report.limited, 1u);
  EXPECT_EQ(report.locations, 2u);
  EXPECT_EQ(report.events, 3u);
  EXPECT_FALSE(report.truth);
  EXPECT_TRUE(std::filesystem::exists(anchor_path(directory)));
  EXPECT_FALSE(std::filesystem::exists(unfinished_folder(directory)));
  EXPECT_TRUE(std::filesystem::exists(directory + "/traces/0.evt"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/traces/1.evt"));
  EXPECT_THAT(repair_archive(directory, report), HasSubstr("there is nothing to repair"));
}

TEST(Repair, needs_an_unfinished_recording_with_a_journal) {
  const ScratchFolder scratch;
  RepairReport report;
  EXPECT_THAT(repair_archive(scratch / "none", report), HasSubstr("holds no unfinished recording"));
  std::filesystem::create_directories(unfinished_folder(scratch / "empty"));
  EXPECT_THAT(repair_archive(scratch / "empty", report), HasSubstr("no process left anything"));
}

TEST(Repair, waits_for_the_end_of_the_program) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  std::filesystem::create_directories(unfinished_folder(directory));
  Journal running;
  ASSERT_TRUE(running.open(journal_path(directory, 0)));
  RepairReport report;
  EXPECT_THAT(repair_archive(directory, report), HasSubstr("is running"));
}

}  // namespace
}  // namespace entrain::record
