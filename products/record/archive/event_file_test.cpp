// SPDX-License-Identifier: BSD-3-Clause
// Chunks whose thread was stopped in the middle of a record.
#include "record/archive/event_file.hpp"

#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "formats/otf2/format/walk.hpp"
#include "record/archive/event_fields.hpp"

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

/// Measurement ends.
const std::string k_off("\x0b\x01\x02");

/// Records kept of these, without the one that says that measurement ends.
std::uint64_t events_in(const std::string& records) {
  EventSpan span;
  restored_event_file(chunk(records), k_size, span);
  return span.events - (span.events > 0 ? 1 : 0);
}

TEST(EventFile, whole_records_are_kept_and_the_end_of_measurement_is_told) {
  EventSpan span;
  const std::string records =
      stamp(10) + k_enter + k_collective_begin + stamp(12) + k_comm_create + k_leave;
  const std::string file = restored_event_file(chunk(records), k_size, span);
  EXPECT_EQ(span.events, 5u);
  EXPECT_EQ(span.first, 10u);
  EXPECT_EQ(span.last, 12u);
  EXPECT_EQ(file, std::string("\x03\x42") + word(1) + word(5) + records + k_off + "\x02\x01");
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

TEST(EventFile, ends_at_the_first_record_that_the_recorder_cannot_have_written) {
  const std::string whole = stamp(10) + k_enter;
  for (const std::string& damaged :
       {std::string("\x07\xb4\x0d\xdf"),              // no such record
        std::string("\x0c\x09\x01\x02\x03\x04\x05"),  // a region of 9 bytes
        std::string("\x0e\x04\x01\x00\x00\x00", 6),   // a message of too few bytes
        std::string("\x57\x03\x01\x03\x01"),          // a communicator and more
        std::string("\x06\x02\x01\x07"),              // an attribute that ends early
        stamp(~std::uint64_t{0})}) {
    EventSpan span;
    restored_event_file(chunk(whole + damaged + stamp(12) + k_leave), k_size, span);
    EXPECT_EQ(span.events, 2u);
    EXPECT_EQ(span.lost_bytes, damaged.size() + 12);
  }
  EXPECT_EQ(events_in(k_enter), 0u);  // without a time
}

TEST(EventFile, counts_what_lies_behind_a_gap) {
  EventSpan span;
  restored_event_file(chunk_of(1, 10, k_size) + chunk_of(20, 3, k_size) + "garbage", k_size, span);
  EXPECT_EQ(span.lost_bytes, 18u + 3 * 12 + 7);
}

/// Types of records whose payload the recorder cannot have written.
struct Refused {
  void chunk(std::uint8_t* bytes, bool) { bytes_ = bytes; }
  bool stamp(std::size_t, std::uint64_t) { return true; }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (!is_event_payload(type, {bytes_ + offset, size})) types.insert(type);
    ++records;
    return true;
  }
  std::set<int> types;
  int records = 0;

 private:
  std::uint8_t* bytes_ = nullptr;
};

/// Another tracer wrote the calls of all sorts of operations. It knows all records of the recorder,
/// and three more: the begin and the end of the program, and attributes of the process.
TEST(EventFile, the_fields_of_records_are_those_of_the_format) {
  Refused refused;
  for (const char* name : {"0", "1", "2", "3"}) {
    std::ifstream in(ENTRAIN_EXAMPLES_DIR "/traces/allops-4/traces/" + std::string(name) + ".evt",
                     std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    otf2::walk_chunk<otf2::Framing::events>(reinterpret_cast<std::uint8_t*>(bytes.data()),
                                            bytes.size(), refused);
  }
  EXPECT_GT(refused.records, 1000);
  EXPECT_THAT(refused.types, testing::ElementsAre(83, 84));
}

TEST(EventFile, chunks_in_memory_become_a_file) {
  EventSpan span;
  // In any order; the last one of a killed process has no end.
  const std::string file = restored_event_file(
      chunk_of(11, 3, k_size) + chunk_of(1, 10, k_size) + std::string(k_size, '\0'), k_size, span);
  EXPECT_EQ(span.events, 14u);
  EXPECT_EQ(span.first, 1000u);
  EXPECT_EQ(span.last, 11002u);
  ASSERT_EQ(file.size(), k_size + 18 + 3 * 12 + 3 + 2);
  EXPECT_EQ(file.substr(file.size() - 5), k_off + "\x02\x01");
  EXPECT_EQ(file[k_size + 10], 14);  // number of the last event
}

TEST(EventFile, nothing_behind_a_gap_and_nothing_from_nothing) {
  EventSpan span;
  restored_event_file(chunk_of(1, 10, k_size) + chunk_of(20, 3, k_size), k_size, span);
  EXPECT_EQ(span.events, 11u);
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
