// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/message.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>

namespace entrain::perfetto {
namespace {

/// Tag, number, and position and size of the bytes.
using FieldSeen = std::tuple<std::uint32_t, std::uint64_t, std::ptrdiff_t, std::size_t>;

/// The fields up to the first damage; the last one is 0 where there is some.
std::vector<FieldSeen> fields_of(const std::string& message) {
  std::vector<FieldSeen> seen;
  try {
    for_each_field<std::uint32_t>(message, [&](std::uint32_t field, const Value& value) {
      const char* const bytes = value.bytes.data();
      seen.emplace_back(field, value.number, bytes == nullptr ? -1 : bytes - message.data(),
                        value.bytes.size());
    });
  } catch (const protozero::exception&) {
    seen.emplace_back();
  }
  return seen;
}

std::vector<FieldSeen> fields_by_protozero(const std::string& message) {
  std::vector<FieldSeen> seen;
  try {
    for (protozero::pbf_reader reader(message); reader.next();) {
      const std::uint32_t tag = reader.tag();
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint:
          seen.emplace_back(tag, reader.get_uint64(), -1, 0);
          break;
        case protozero::pbf_wire_type::fixed64:
          seen.emplace_back(tag, reader.get_fixed64(), -1, 0);
          break;
        case protozero::pbf_wire_type::fixed32:
          seen.emplace_back(tag, reader.get_fixed32(), -1, 0);
          break;
        default: {
          const protozero::data_view bytes = reader.get_view();
          seen.emplace_back(tag, 0, bytes.data() - message.data(), bytes.size());
          break;
        }
      }
    }
  } catch (const protozero::exception&) {
    seen.emplace_back();
  }
  return seen;
}

TEST(PerfettoMessage, fields_are_those_that_protozero_reads_also_of_damaged_bytes) {
  std::mt19937_64 random(7);
  // Tags, lengths and ends of varints are small numbers, so that many messages go on for a while.
  const auto byte = [&] {
    const std::uint64_t any = random();
    return static_cast<char>(any % 4 == 0 ? any >> 8 : any >> 8 & 0x1F);
  };
  std::size_t whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string message(random() % 24, '\0');
    for (char& one : message) one = byte();
    const std::vector<FieldSeen> seen = fields_of(message);
    ASSERT_EQ(seen, fields_by_protozero(message)) << testing::PrintToString(message);
    whole += seen.empty() || std::get<0>(seen.back()) != 0 ? 1 : 0;
  }
  EXPECT_GT(whole, 500U);
}

}  // namespace
}  // namespace entrain::perfetto
