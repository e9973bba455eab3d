// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/repair.hpp"

#include <sys/stat.h>

#include <gmock/gmock.h>

#include "record/archive/archive.hpp"
#include "record/archive/folders.hpp"
#include "record/archive/read_back.hpp"
#include "record/base/journal.hpp"
#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

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
  EXPECT_EQ(report.events, 3u + 1);  // and the end of measurement
  EXPECT_FALSE(report.truth);
  EXPECT_TRUE(std::filesystem::exists(anchor_path(directory)));
  EXPECT_FALSE(std::filesystem::exists(unfinished_folder(directory)));
  EXPECT_TRUE(std::filesystem::exists(directory + "/traces/0.evt"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/traces/1.evt"));
  EXPECT_THAT(repair_archive(directory, report), HasSubstr("there is nothing to repair"));
}

/// Files in which random bytes were changed, which is worse than what a crash leaves.
TEST(Repair, keeps_what_is_whole_in_damaged_files) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  std::filesystem::create_directory(directory);
  std::filesystem::copy(ENTRAIN_SOURCE_DIR "/tests/regress/unfinished/random-bytes",
                        unfinished_folder(directory), std::filesystem::copy_options::recursive);
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_EQ(read_back(anchor_path(directory)), "");
  EXPECT_EQ(report.processes, 2u);
  EXPECT_GT(report.events, 100u);
  EXPECT_THAT(
      report.left_out,
      Contains(HasSubstr("location 1: 1824 bytes of events, the first of which is damaged")));
}

TEST(Repair, does_without_what_cannot_be_read) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  leave_unfinished(directory);
  std::filesystem::create_directory(journal_path(directory, 1));
  std::filesystem::create_directory(buffer_path(directory, 1));
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_EQ(report.events, 3u + 1);  // and the end of measurement
  EXPECT_EQ(report.missing, 1u);
  EXPECT_THAT(report.left_out,
              UnorderedElementsAre("1.journal: cannot be read: not a regular file",
                                   "1.buffer: cannot be read: not a regular file"));
}

TEST(Repair, names_journals_that_tell_nothing) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  put_file(journal_path(directory, 0), "location\t0\tMaster thread\n");
  RepairReport report;
  EXPECT_THAT(repair_archive(directory, report),
              AllOf(HasSubstr("no process left anything"),
                    HasSubstr("0.journal: does not say which process wrote it")));
}

/// A journal of process 0 of two with more lines.
std::string journal_with(const std::string& lines) {
  return "process\t0\t2\thost\tTSC\t1\t17\t18\t\n" + lines;
}

TEST(Repair, leaves_out_what_a_journal_cannot_mean) {
  const ScratchFolder scratch;
  const auto left_out_of = [&](const std::string& name, const std::string& lines) {
    const std::string directory = scratch / name;
    put_file(journal_path(directory, 0), journal_with(lines));
    put_file(journal_path(directory, 1), "process\t1\t2\thost\tTSC\t1\t17\t18\t\n");
    RepairReport report;
    EXPECT_EQ(repair_archive(directory, report), "");
    EXPECT_EQ(report.locations, 2u);
    return report.left_out;
  };
  EXPECT_THAT(left_out_of("whole", "location\t0\tmain\n"), IsEmpty());
  EXPECT_THAT(left_out_of("begun", "locat"), IsEmpty());  // a crash leaves that
  EXPECT_THAT(left_out_of("broken", "location\tx\tmain\nlo\x01\n"),
              ElementsAre("0.journal: 2 lines that cannot be understood"));
  EXPECT_THAT(left_out_of("location", "location\t1\tmain\n"),
              ElementsAre("0.journal: 1 location of other processes"));
  EXPECT_THAT(left_out_of("group", "comm\t0\tx\tworld:0\tMPI_COMM_WORLD\t0-9\t\t\n"),
              ElementsAre("0.journal: 1 group of processes that do not exist"));
  EXPECT_THAT(left_out_of("parent", "clock\t7\to\nsample\t0\t100\t200\t20\t1\n"),
              ElementsAre("0.journal: 1 clock measurement that cannot be"));
}

TEST(Repair, leaves_out_measurements_by_which_a_clock_runs_backward) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  put_file(journal_path(directory, 0), journal_with(""));
  put_file(journal_path(directory, 1),
           "process\t1\t2\thost\tTSC\t1\t17\t18\t\nclock\t0\to\n"
           "sample\t0\t1000\t9000\t20\t1\nsample\t1\t2000\t3000\t20\t1\n");
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_THAT(report.left_out, ElementsAre("1.journal: 2 clock measurements by which its clock "
                                           "would run backward"));
}

TEST(Repair, does_not_believe_a_size_far_beyond_the_journals) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  for (const char* rank : {"0", "1"}) {
    put_file(journal_path(directory, rank[0] - '0'),
             std::string("process\t") + rank + "\t255000\thost\tTSC\t1\t17\t18\t\n");
  }
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_EQ(report.locations, 2u);
  EXPECT_THAT(report.left_out,
              ElementsAre("0.journal: its number of processes, which is not that of the others",
                          "1.journal: its number of processes, which is not that of the others"));
}

TEST(Repair, takes_the_number_of_processes_that_most_journals_name) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  for (const char* rank : {"0", "1", "2"}) {
    const std::string size = *rank == '1' ? "4000000000" : "3";
    put_file(journal_path(directory, std::stoul(rank)),
             "process\t" + std::string(rank) + '\t' + size + "\thost\tTSC\t1\t17\t18\t\n");
  }
  put_file(unfinished_folder(directory) + "/5.journal", "process\t6\t3\thost\tTSC\t1\t17\t18\t\n");
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_EQ(report.processes, 3u);
  EXPECT_EQ(report.locations, 3u);
  EXPECT_THAT(report.left_out, UnorderedElementsAre(HasSubstr("1.journal: its number of processes"),
                                                    "5.journal: says that process 6 wrote it"));
}

TEST(Repair, needs_an_unfinished_recording_with_a_journal) {
  const ScratchFolder scratch;
  RepairReport report;
  EXPECT_THAT(repair_archive(scratch / "none", report), HasSubstr("holds no unfinished recording"));
  std::filesystem::create_directories(unfinished_folder(scratch / "empty"));
  EXPECT_THAT(repair_archive(scratch / "empty", report), HasSubstr("no process left anything"));
}

TEST(Repair, waits_for_no_pipe_and_reads_no_device) {
  const ScratchFolder scratch;
  const auto left_out_with = [&](const std::string& name, const auto& make) {
    const std::string directory = scratch / name;
    leave_unfinished(directory);
    ASSERT_EQ(::mkfifo(journal_path(directory, 1).c_str(), 0600), 0);
    const std::string buffer = buffer_path(directory, 0);
    std::filesystem::remove(buffer);
    make(buffer);
    RepairReport report;
    EXPECT_EQ(repair_archive(directory, report), "");
    EXPECT_THAT(report.left_out,
                UnorderedElementsAre("1.journal: cannot be read: not a regular file",
                                     "0.buffer: cannot be read: not a regular file"));
    EXPECT_TRUE(std::filesystem::exists(anchor_path(directory)));
  };
  left_out_with("pipe", [](const std::string& path) { ::mkfifo(path.c_str(), 0600); });
  left_out_with("device", [](const std::string& path) {
    std::filesystem::create_symlink("/dev/zero", path);
  });
}

/// A loop of links stands for a disk that fails for a while: what cannot be read now is not lost.
TEST(Repair, changes_nothing_while_the_system_refuses_a_file) {
  for (const bool journal : {true, false}) {
    const ScratchFolder scratch;
    const std::string directory = scratch / "trace";
    leave_unfinished(directory);
    const std::string path = journal ? journal_path(directory, 0) : buffer_path(directory, 0);
    std::filesystem::rename(path, path + ".kept");
    std::filesystem::create_symlink(path, path);
    RepairReport report;
    const std::string problem = repair_archive(directory, report);
    EXPECT_THAT(problem, HasSubstr("is left as it is"));
    EXPECT_THAT(problem, HasSubstr(journal ? "0.journal" : "0.buffer"));
    EXPECT_FALSE(std::filesystem::exists(anchor_path(directory)));
    std::filesystem::remove(path);
    std::filesystem::rename(path + ".kept", path);
    RepairReport again;
    EXPECT_EQ(repair_archive(directory, again), "");
    EXPECT_TRUE(again.left_out.empty());
  }
}

TEST(Repair, writes_nothing_through_a_link) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace", elsewhere = scratch / "elsewhere";
  leave_unfinished(directory);
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_symlink(elsewhere, directory + "/traces");
  RepairReport report;
  EXPECT_THAT(repair_archive(directory, report), HasSubstr("traces is a link"));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
  EXPECT_FALSE(std::filesystem::exists(anchor_path(directory)));
  std::filesystem::remove(directory + "/traces");
  RepairReport again;
  EXPECT_EQ(repair_archive(directory, again), "");
}

TEST(Repair, leaves_out_a_file_that_memory_does_not_hold) {
  const ScratchFolder scratch;
  const std::string directory = scratch / "trace";
  leave_unfinished(directory);
  std::filesystem::resize_file(buffer_path(directory, 0), std::uint64_t{1} << 42);
  RepairReport report;
  EXPECT_EQ(repair_archive(directory, report), "");
  EXPECT_THAT(report.left_out,
              ElementsAre(HasSubstr("0.buffer: cannot be read: it has 4398046511104 bytes")));
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
