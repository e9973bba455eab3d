// SPDX-License-Identifier: BSD-3-Clause
#include "record/journal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "record/event_file.hpp"

namespace entrain::record {
namespace {

const char* const k_process = "process\t3\t8\thost\tTSC\t1\t17\t18\t\n";

TEST(Journal, is_taken_apart) {
  Journal journal;
  journal.tell({"process", "3", "8", clean_word("a\tb"), "TSC", "1", "17", "18", ""});
  journal.tell({"location", "3", "Master thread"});
  journal.tell({"region", "12", "u", "solve"});
  journal.tell({"comm", "0", "x", "world:0", "MPI_COMM_WORLD", "0-7", "", ""});
  journal.tell({"comm", "2", "x", "world:0/0:0", "", "", "", "0"});
  journal.tell({"name", "0", "all"});
  journal.tell({"window", "4", "0", "world:0/window2"});
  journal.tell({"window_name", "4", "board"});
  journal.tell({"group", "1", "2,3"});
  journal.tell({"clock", "1", "m"});
  journal.tell({"limit", k_limit_size});
  journal.tell({"sample", "2", "1000", "2000", "30", "0"});
  journal.tell({"span", "3", "5", "10", "20", "11", "21"});
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
  EXPECT_EQ(record.parent, 1u);
  EXPECT_EQ(record.limit, k_limit_size);
  ASSERT_EQ(record.samples.size(), 1u);
  EXPECT_FALSE(record.samples[0].kept);
  EXPECT_EQ(record.locations.at(3).name, "Master thread");
  EXPECT_EQ(record.locations.at(3).truth_last, 21u);
}

TEST(Journal, broken_lines_are_left_out) {
  ProcessRecord record;
  EXPECT_FALSE(parse_journal("", record));
  EXPECT_FALSE(parse_journal("process\t3\n", record));
  EXPECT_TRUE(
      parse_journal(std::string(k_process) + "sample\t1\tx\nsample\t1\t2\t3\t4\t1", record));
  EXPECT_TRUE(record.samples.empty());
}

TEST(Journal, ranks_are_written_short) {
  EXPECT_EQ(join_ranks({0, 1, 2, 3, 7, 9, 8}), "0-3,7,9,8");
  EXPECT_EQ(split_ranks("0-3,7"), (std::vector<std::uint32_t>{0, 1, 2, 3, 7}));
  EXPECT_TRUE(split_ranks("3-1").empty());
  EXPECT_TRUE(split_ranks("0-99999999999").empty());
}

RC_GTEST_PROP(Journal, ranks_come_back, (std::vector<std::uint16_t> drawn)) {
  std::vector<int> ranks(drawn.begin(), drawn.end());
  const std::vector<std::uint32_t> back = split_ranks(join_ranks(ranks));
  RC_ASSERT(std::vector<int>(back.begin(), back.end()) == ranks);
}

/// A chunk as the library has it in memory, with Enter records of region 7.
std::string chunk_of(std::uint64_t first, int events, std::size_t size) {
  std::string chunk{'\x03', '\x42'};
  chunk.append(reinterpret_cast<const char*>(&first), 8);
  chunk.append(8, '\0');
  for (int i = 0; i < events; ++i) {
    const std::uint64_t time = 1000 * first + static_cast<std::uint64_t>(i);
    chunk += '\x05';
    chunk.append(reinterpret_cast<const char*>(&time), 8);
    chunk += {'\x0c', '\x01', '\x07'};
  }
  chunk.resize(size, '\0');
  return chunk;
}

TEST(EventFile, chunks_in_memory_become_a_file) {
  constexpr std::size_t k_size = 256;
  EventSpan span;
  // In any order; the last one of a killed process has no end.
  const std::string file = restored_event_file(
      chunk_of(11, 3, k_size) + chunk_of(1, 10, k_size) + std::string(k_size, '\0'), k_size, span);
  EXPECT_EQ(span.events, 13u);
  EXPECT_EQ(span.first, 1000u);
  EXPECT_EQ(span.last, 11002u);
  ASSERT_EQ(file.size(), k_size + 18 + 3 * 12 + 2);
  EXPECT_EQ(file.substr(file.size() - 2), "\x02\x01");
  EXPECT_EQ(file[k_size + 10], 13);  // number of the last event
}

TEST(EventFile, nothing_behind_a_gap_and_nothing_from_nothing) {
  constexpr std::size_t k_size = 256;
  EventSpan span;
  restored_event_file(chunk_of(1, 10, k_size) + chunk_of(20, 3, k_size), k_size, span);
  EXPECT_EQ(span.events, 10u);
  EventSpan none;
  EXPECT_EQ(restored_event_file("", k_size, none).size(), 20u);
  EXPECT_EQ(none.events, 0u);
}

RC_GTEST_PROP(EventFile, any_bytes_are_survived, (std::vector<unsigned char> bytes)) {
  EventSpan span;
  std::string chunk = chunk_of(1, 1, 64) + std::string(bytes.begin(), bytes.end());
  chunk.insert(30, std::string(bytes.begin(), bytes.end()));
  restored_event_file(chunk, 64, span);
  RC_SUCCEED();
}

TEST(Journal, keys_stay_short) {
  EXPECT_EQ(short_key("world:0/1:0"), "world:0/1:0");
  std::string key = "world:0", other = "world:1";
  std::set<std::string> keys;
  for (int i = 0; i < 2000; ++i) {
    key = short_key(key + "/0:0");
    other = short_key(other + "/0:0");
    EXPECT_LE(key.size(), 120u);
    keys.insert(key);
    keys.insert(other);
  }
  EXPECT_EQ(keys.size(), 4000u);
}

}  // namespace
}  // namespace entrain::record
