// SPDX-License-Identifier: BSD-3-Clause
#include "formats/parts/fields.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace entrain::parts {
namespace {

struct Sample {
  std::uint64_t time = 0;
  std::int32_t shift = 0;
  bool is_odd = false;
  friend bool operator==(const Sample&, const Sample&) = default;
};

struct Everything {
  std::uint64_t large = 0;
  std::int64_t negative = 0;
  std::uint8_t small = 0;
  std::string text;
  std::optional<std::uint32_t> some, none;
  std::uint64_t hash = 0;
  std::vector<std::string> names;
  std::vector<Sample> samples;
  std::map<std::string, std::uint32_t> map;
  friend bool operator==(const Everything&, const Everything&) = default;
};

template <class Fields>
void visit(Fields& fields, Everything& all) {
  fields(all.large);
  fields(all.negative);
  fields(all.small);
  fields(all.text);
  fields(all.some);
  fields(all.none);
  fields.hash(all.hash);
  list(fields, all.names, [](Fields& inner, std::string& name) { inner.repeated(name); });
  fields.size(all.samples);
  columns(fields, all.samples, &Sample::time, &Sample::shift, &Sample::is_odd);
  entries(fields, all.map, [](Fields& inner, std::string& key, std::uint32_t& value) {
    inner(key);
    inner(value);
  });
}

Everything sample() {
  return {.large = std::numeric_limits<std::uint64_t>::max(),
          .negative = std::numeric_limits<std::int64_t>::min(),
          .small = 200,
          .text = std::string("a\0b", 3),
          .some = 7,
          .none = std::nullopt,
          .hash = 0x8000000000000001u,
          .names = {"x", "y", "x", "", "x"},
          .samples = {{5, -3, true}, {std::uint64_t{1} << 63, 8, false}, {0, -9, true}},
          .map = {{"one", 1}, {"two", 2}}};
}

std::string written(Everything all) {
  FieldWriter writer;
  visit(writer, all);
  return writer.take();
}

TEST(Fields, are_read_as_written) {
  const std::string text = written(sample());
  FieldReader reader(text);
  Everything read;
  visit(reader, read);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(read, sample());
}

TEST(Fields, of_a_text_that_is_cut_are_refused) {
  const std::string text = written(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    FieldReader reader(std::string_view(text).substr(0, size));
    Everything read;
    visit(reader, read);
    EXPECT_FALSE(reader.fine()) << size;
  }
}

TEST(Fields, that_do_not_fit_are_refused) {
  FieldWriter writer;
  writer(std::uint64_t{300});
  const std::string text = writer.take();
  std::uint8_t small = 0;
  FieldReader reader(text);
  reader(small);
  EXPECT_FALSE(reader.fine());
}

TEST(Fields, lists_are_no_longer_than_the_text) {
  FieldWriter writer;
  writer(std::uint64_t{1} << 40);
  const std::string text = writer.take() + "abc";
  FieldReader reader(text);
  std::vector<Sample> samples;
  reader.size(samples);
  EXPECT_FALSE(reader.fine());
  EXPECT_TRUE(samples.empty());
}

/// True if `visit` reads what it wrote with the byte at `at` changed to `byte`.
template <class Visit>
bool is_read_with(const Visit& visit, std::size_t at, char byte) {
  FieldWriter writer;
  visit(writer);
  std::string text = writer.take();
  text[at] = byte;
  FieldReader reader(text);
  visit(reader);
  return reader.fine();
}

TEST(Fields, that_no_member_can_hold_are_refused) {
  const auto shifts = [](auto& fields) {
    std::vector<Sample> samples{{1, 2, true}};
    columns(fields, samples, &Sample::shift);
  };
  const auto flags = [](auto& fields) {
    std::vector<Sample> samples{{1, 2, true}};
    columns(fields, samples, &Sample::is_odd);
  };
  EXPECT_TRUE(is_read_with(shifts, 0, 6));
  EXPECT_TRUE(is_read_with(flags, 0, 0));
  EXPECT_FALSE(is_read_with(flags, 0, 4));  // 2 is neither true nor false
  FieldWriter writer;
  writer(std::int64_t{1} << 40);
  const std::string text = writer.take();
  FieldReader reader(text);
  std::vector<Sample> samples(1);
  columns(reader, samples, &Sample::shift);
  EXPECT_FALSE(reader.fine());
}

TEST(Fields, numbers_of_texts_that_were_not_given_are_refused) {
  FieldWriter writer;
  writer.repeated("x");
  writer(std::uint64_t{2});  // of the third text
  const std::string text = writer.take();
  FieldReader reader(text);
  std::string read;
  reader.repeated(read);
  EXPECT_EQ(read, "x");
  EXPECT_TRUE(reader.fine());
  reader.repeated(read);
  EXPECT_FALSE(reader.fine());
}

TEST(Fields, numbers_longer_than_64_bits_are_refused) {
  for (const std::size_t bytes : {10, 11, 1000}) {
    const std::string text(bytes, '\xFF');
    FieldReader reader(text);
    std::uint64_t value = 1;
    reader(value);
    EXPECT_FALSE(reader.fine());
    EXPECT_EQ(value, 0u);
  }
}

TEST(Fields, after_damage_all_values_are_empty) {
  FieldWriter writer;
  writer(std::uint64_t{300});
  writer(std::string("text"));
  const std::string text = writer.take();
  FieldReader reader(text);
  std::uint8_t small = 7;
  reader(small);
  ASSERT_FALSE(reader.fine());
  Everything read = sample();
  read.map.clear();  // entries are added
  visit(reader, read);
  EXPECT_EQ(read.large, 0u);
  EXPECT_EQ(read.text, "");
  EXPECT_EQ(read.some, std::nullopt);
  EXPECT_EQ(read.hash, 0u);
  EXPECT_EQ(read.none, std::nullopt);
  EXPECT_TRUE(read.names.empty() && read.samples.empty() && read.map.empty());
  EXPECT_FALSE(reader.at_end());
}

TEST(Fields, elements_take_the_bytes_that_they_need) {
  FieldWriter writer;
  writer(std::uint64_t{3});
  const std::string text = writer.take() + "abcdefgh";
  std::vector<Sample> samples;
  FieldReader two(text), three(text);
  two.size(samples, 2);
  EXPECT_TRUE(two.fine());
  three.size(samples, 3);
  EXPECT_FALSE(three.fine());
}

}  // namespace
}  // namespace entrain::parts
