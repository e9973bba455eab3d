// SPDX-License-Identifier: BSD-3-Clause
// Chunks whose thread was stopped in the middle of a record.
#include "record/event_file.hpp"

#include <gtest/gtest.h>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_size = 256;

std::string word(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string stamp(std::uint64_t time) { return '\x05' + word(time); }

/// One chunk with these records; what is behind them was never written.
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

}  // namespace
}  // namespace entrain::record
