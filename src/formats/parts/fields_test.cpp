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
