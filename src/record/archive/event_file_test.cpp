// SPDX-License-Identifier: BSD-3-Clause
// Chunks whose thread was stopped in the middle of a record.
#include "record/archive/event_file.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_size = 256;

std::string word(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string stamp(std::uint64_t time) { return '\x05' + word(time); }

/// A chunk with these records; the bytes after them were never written.
std::string chunk(const std::string& records) {
  std::string bytes = std::string("\x03\x42") + word(1) + word(0) + records;
  bytes.resize(k_size, '\0');
  return bytes;
}

const std::string k_enter("\x0c\x01\x07"), k_leave("\x0d\x01\x07");
const std::string k_collective_begin("\x16\x00", 2);
const std::string k_comm_create("\x57\x02\x01\x03");

std::uint64_t events_in(const std::string& records) {
  EventSpan span;
  restored_event_file(chunk(records), k_size, span);
  return span.events;
}

TEST(EventFile, whole_records_are_kept) {
  EventSpan span;
  const std::string records =
      stamp(10) + k_enter + k_collective_begin + stamp(12) + k_comm_create + k_leave;
  const std::string file = restored_event_file(chunk(records), k_size, span);
  EXPECT_EQ(span.events, 4u);
  EXPECT_EQ(span.first, 10u);
  EXPECT_EQ(span.last, 12u);
  EXPECT_EQ(file, std::string("\x03\x42") + word(1) + word(4) + records + "\x02\x01");
}

TEST(EventFile, a_record_that_was_begun_is_left_out) {
  const std::string whole = stamp(10) + k_enter;
  const std::string no_length("\x57\x00\x01\x03", 4);
  EXPECT_EQ(events_in(whole + no_length), 1u);           // the length comes last
  EXPECT_EQ(events_in(whole + stamp(12) + "\x0d"), 1u);  // no region yet
  EXPECT_EQ(events_in(whole + '\x05' + word(0)), 1u);
  EXPECT_EQ(events_in(whole + stamp(9) + k_leave), 1u);  // half of a stamp, from the past
  EXPECT_EQ(events_in(whole + stamp(12)), 1u);
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

}  // namespace
}  // namespace entrain::record
