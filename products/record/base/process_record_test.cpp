// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/process_record.hpp"

#include <gtest/gtest.h>

#include "record/base/journal.hpp"

namespace entrain::record {
namespace {

const char* const k_process = "process\t3\t8\thost\tTSC\t1\t17\t18\t\n";

TEST(ProcessRecord, is_read_from_a_journal) {
  Journal journal;
  journal.add({"process", "3", "8", clean_word("a\tb"), "TSC", "1", "17", "18", ""});
  journal.add({"location", "3", "Master thread"});
  journal.add({"region", "12", "u", "solve"});
  journal.add({"comm", "0", "x", "world:0", "MPI_COMM_WORLD", "0-7", "", ""});
  journal.add({"comm", "2", "x", "world:0/0:0", "", "", "", "0"});
  journal.add({"name", "0", "all"});
  journal.add({"window", "4", "0", "world:0/window2"});
  journal.add({"window_name", "4", "board"});
  journal.add({"group", "1", "2,3"});
  journal.add({"partners", "0", "to 1-2 from"});
  journal.add({"partners_full"});
  journal.add({"clock", "1", "m"});
  journal.add({"limit", k_limit_size});
  journal.add({"sample", "2", "1000", "2000", "30", "0"});
  journal.add({"span", "3", "5", "10", "20", "11", "21"});
  ProcessRecord record;
  ASSERT_TRUE(parse_journal(journal.text(), record));
  EXPECT_EQ(record.rank, 3u);
  EXPECT_EQ(record.size, 8u);
  EXPECT_EQ(record.host, "a b");
  EXPECT_EQ(record.regions.at(12).name, "solve");
  EXPECT_EQ(record.comms.at(0).name, "all");
  EXPECT_EQ(record.comms.at(0).group_a, "0-7");
  EXPECT_EQ(record.comms.at(0).parent, std::nullopt);
  EXPECT_EQ(record.comms.at(2).parent, 0u);
  EXPECT_EQ(record.windows.at(4).key, "world:0/window2");
  EXPECT_EQ(record.windows.at(4).name, "board");
  EXPECT_EQ(record.groups.at(1), "2,3");
  EXPECT_EQ(record.partners.at(0), "to 1-2 from");
  EXPECT_TRUE(record.partners_full);
  EXPECT_EQ(record.parent, 1u);
  EXPECT_EQ(record.limit, k_limit_size);
  ASSERT_EQ(record.samples.size(), 1u);
  EXPECT_FALSE(record.samples[0].kept);
  EXPECT_EQ(record.locations.at(3).name, "Master thread");
  EXPECT_EQ(record.locations.at(3).truth_last, 21u);
}

TEST(ProcessRecord, broken_lines_are_left_out) {
  ProcessRecord record;
  EXPECT_FALSE(parse_journal("", record));
  EXPECT_FALSE(parse_journal("process\t3\n", record));
  EXPECT_TRUE(
      parse_journal(std::string(k_process) + "sample\t1\tx\nsample\t1\t2\t3\t4\t1", record));
  EXPECT_TRUE(record.samples.empty());
}

}  // namespace
}  // namespace entrain::record
