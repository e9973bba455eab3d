// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/format.hpp"

#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::otf2 {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t k_undefined = ~std::uint64_t{0};

/// A reader of bytes on the heap, in a buffer of exactly their size.
class Payload {
 public:
  explicit Payload(Bytes bytes, bool big_endian = false)
      : bytes_(std::move(bytes)), reader(bytes_.data(), bytes_.size(), big_endian) {
    bytes_.shrink_to_fit();
  }

 private:
  Bytes bytes_;

 public:
  FieldReader reader;
};

std::uint64_t c64(Bytes bytes, bool big_endian = false) {
  Payload payload(std::move(bytes), big_endian);
  const std::uint64_t value = payload.reader.c64();
  EXPECT_TRUE(payload.reader.ok());
  EXPECT_EQ(payload.reader.left(), 0u);
  return value;
}

bool refused(Bytes bytes, bool wide) {
  Payload payload(std::move(bytes));
  const std::uint64_t value = wide ? payload.reader.c64() : payload.reader.c32();
  EXPECT_EQ(value, 0u);
  return !payload.reader.ok();
}

TEST(Compressed, lowest_byte_first_in_little_endian_chunks) {
  EXPECT_EQ(c64({0}), 0u);
  EXPECT_EQ(c64({1, 0x7F}), 0x7Fu);
  EXPECT_EQ(c64({2, 0x34, 0x12}), 0x1234u);
  EXPECT_EQ(c64({8, 8, 7, 6, 5, 4, 3, 2, 1}), 0x0102030405060708u);
}

TEST(Compressed, highest_byte_first_in_big_endian_chunks) {
  EXPECT_EQ(c64({2, 0x12, 0x34}, true), 0x1234u);
  EXPECT_EQ(c64({8, 1, 2, 3, 4, 5, 6, 7, 8}, true), 0x0102030405060708u);
}

TEST(Compressed, undefined_has_no_bytes) {
  EXPECT_EQ(c64({0xFF}), k_undefined);
  Payload payload({0xFF, 1, 5});
  EXPECT_EQ(payload.reader.c32(), 0xFFFFFFFFu);
  EXPECT_EQ(payload.reader.c32(), 5u);
  EXPECT_TRUE(payload.reader.ok());
}

TEST(Compressed, forms_longer_than_needed_are_accepted) {
  EXPECT_EQ(c64({3, 5, 0, 0}), 5u);
  EXPECT_EQ(c64({3, 0, 0, 5}, true), 5u);
  EXPECT_EQ(c64({8, 0, 0, 0, 0, 0, 0, 0, 0}), 0u);
  EXPECT_EQ(c64({8, 255, 255, 255, 255, 255, 255, 255, 255}), k_undefined);
}

TEST(Compressed, signed_numbers_are_twos_complement) {
  Payload payload({8, 0xFE, 255, 255, 255, 255, 255, 255, 255, 1, 5});
  EXPECT_EQ(payload.reader.s64(), -2);
  EXPECT_EQ(payload.reader.s64(), 5);
}

TEST(Compressed, more_bytes_than_the_type_has_are_refused) {
  EXPECT_TRUE(refused({5, 1, 0, 0, 0, 0}, false));
  EXPECT_TRUE(refused({9, 1, 0, 0, 0, 0, 0, 0, 0, 0}, true));
  EXPECT_TRUE(refused({0xFE, 1}, true));
}

TEST(Compressed, running_past_the_end_is_refused) {
  EXPECT_TRUE(refused({}, true));
  EXPECT_TRUE(refused({1}, true));
  EXPECT_TRUE(refused({4, 1, 2, 3}, false));
}

TEST(FieldReader, yields_zeros_behind_an_error) {
  Payload payload({9, 1, 1, 1});
  EXPECT_EQ(payload.reader.c64(), 0u);
  EXPECT_EQ(payload.reader.u8(), 0u);
  EXPECT_EQ(payload.reader.c32(), 0u);
  EXPECT_EQ(payload.reader.fixed64(), 0u);
  EXPECT_FALSE(payload.reader.ok());
  EXPECT_EQ(payload.reader.left(), 0u);
}

TEST(FieldReader, fixed_numbers_follow_the_byte_order) {
  EXPECT_EQ(Payload({1, 2, 3, 4, 5, 6, 7, 8}).reader.fixed64(), 0x0807060504030201u);
  EXPECT_EQ(Payload({1, 2, 3, 4, 5, 6, 7, 8}, true).reader.fixed64(), 0x0102030405060708u);
  Payload short_one({1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(short_one.reader.fixed64(), 0u);
  EXPECT_FALSE(short_one.reader.ok());
}

TEST(StoreCompressed, uses_as_few_bytes_as_possible) {
  std::uint8_t bytes[9];
  EXPECT_EQ(store_compressed(bytes, 0, false), 1u);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(store_compressed(bytes, 0xFF, false), 2u);
  EXPECT_EQ(store_compressed(bytes, 0x100, false), 3u);
  EXPECT_EQ(store_compressed(bytes, k_undefined - 1, false), 9u);
}

TEST(StoreCompressed, is_read_back) {
  for (const bool big_endian : {false, true}) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      for (const std::uint64_t value : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1,
                                        std::uint64_t{0xA5C3} << bit, ~(std::uint64_t{1} << bit)}) {
        Bytes bytes(9);
        bytes.resize(store_compressed(bytes.data(), value, big_endian));
        EXPECT_EQ(c64(bytes, big_endian), value) << value;
      }
    }
  }
}

TEST(StoreFixed, is_read_back) {
  for (const bool big_endian : {false, true}) {
    std::uint8_t bytes[9] = {};
    store_u64(bytes + 1, 0x0102030405060708u, big_endian);  // at any address
    EXPECT_EQ(bytes[1], big_endian ? 1 : 8);
    EXPECT_EQ(load_u64(bytes + 1, big_endian), 0x0102030405060708u);
  }
}

TEST(BareRecords, are_those_without_a_length_byte) {
  std::vector<int> bare;
  for (int type = 0; type < 256; ++type) {
    if (is_bare(static_cast<std::uint8_t>(type))) bare.push_back(type);
  }
  EXPECT_EQ(bare, (std::vector<int>{12, 13, 16, 17, 20, 21, 24, 28, 29, 30}));
}

}  // namespace
}  // namespace entrain::otf2
