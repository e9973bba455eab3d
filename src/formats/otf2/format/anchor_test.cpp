// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/anchor.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;

// Positions of fields in the file.
constexpr std::size_t k_format_at = 7, k_trace_format_at = 8, k_event_chunk_at = 12,
                      k_definition_chunk_at = 20, k_substrate_at = 28, k_compression_at = 29;

struct AnchorFields {
  bool big_endian = false;
  int format = 3;
  std::vector<trace::Property> properties{{"A", "1"}, {"B::C", ""}};
};

Bytes anchor_bytes(const AnchorFields& fields = {}) {
  Bytes bytes;
  const auto number = [&](std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (fields.big_endian ? size - 1 - i : i);
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  };
  const auto string = [&](std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back(0);
  };
  bytes.push_back(mark::chunk_header);
  bytes.push_back(fields.big_endian ? k_big_endian : k_little_endian);
  string("OTF2");
  number(static_cast<std::uint64_t>(fields.format), 1);
  for (const unsigned n : {2u, 3u, 0u, 3u}) number(n, 1);  // trace format and version
  number(1024 * 1024, 8);
  number(256 * 1024, 8);
  number(1, 1);
  number(1, 1);
  number(16, 8);
  number(12345, 8);
  string("Linux");
  string("Score-P 8.4");
  string("a description");
  if (fields.format >= 2) {
    number(fields.properties.size(), 4);
    for (const trace::Property& property : fields.properties) {
      string(property.name);
      string(property.value);
    }
    number(0x1122334455667788, 8);
  }
  if (fields.format >= 3) {
    number(2, 4);
    number(3, 4);
  }
  for (const unsigned n : {2u, 1u, 0u}) number(n, 1);
  return bytes;
}

std::string refusal(const Bytes& bytes) {
  const auto anchor = parse_anchor(bytes, "x/traces.otf2");
  if (anchor) return "";
  EXPECT_EQ(anchor.error().kind, ErrorKind::input);
  EXPECT_THAT(anchor.error().message, HasSubstr("x/traces.otf2"));
  return anchor.error().message;
}

TEST(ParseAnchor, reads_every_field_in_both_byte_orders) {
  for (const bool big_endian : {false, true}) {
    const auto anchor = parse_anchor(anchor_bytes({.big_endian = big_endian}), "a.otf2");
    ASSERT_TRUE(anchor) << anchor.error().message;
    EXPECT_EQ(anchor->trace_format, 2);
    EXPECT_EQ(anchor->event_chunk_size, 1024u * 1024u);
    EXPECT_EQ(anchor->definition_chunk_size, 256u * 1024u);
    EXPECT_EQ(anchor->location_count, 16u);
    EXPECT_EQ(anchor->definition_count, 12345u);
    EXPECT_EQ(anchor->machine, "Linux");
    EXPECT_EQ(anchor->creator, "Score-P 8.4");
    EXPECT_EQ(anchor->description, "a description");
    ASSERT_EQ(anchor->properties.size(), 2u);
    EXPECT_EQ(anchor->properties[1].name, "B::C");
    EXPECT_EQ(anchor->properties[1].value, "");
    EXPECT_EQ(anchor->trace_id, 0x1122334455667788u);
    EXPECT_EQ(anchor->snapshot_count, 2u);
    EXPECT_EQ(anchor->thumbnail_count, 3u);
    EXPECT_EQ(anchor->big_endian, big_endian);
  }
}

TEST(ParseAnchor, old_formats_end_earlier) {
  const auto first = parse_anchor(anchor_bytes({.format = 1}), "a.otf2");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->properties_end, 0u);
  EXPECT_EQ(first->trace_id, 0u);
  const auto second = parse_anchor(anchor_bytes({.format = 2}), "a.otf2");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->properties.size(), 2u);
  EXPECT_EQ(second->snapshot_count, 0u);
}

TEST(ParseAnchor, refuses_what_is_no_anchor) {
  EXPECT_THAT(refusal({}), HasSubstr("it is empty"));
  EXPECT_THAT(refusal({'P', 'K', 3, 4, 0, 0, 0, 0, 0}), HasSubstr("name the .otf2 file"));
  for (std::size_t at = 0; at < k_format_at; ++at) {
    Bytes bytes = anchor_bytes();
    bytes[at] ^= 0x80;
    EXPECT_THAT(refusal(bytes), HasSubstr("not the anchor file")) << at;
  }
}

/// The error where one byte has this value.
std::string refusal_of(std::size_t at, std::uint8_t value) {
  Bytes bytes = anchor_bytes();
  bytes[at] = value;
  const auto anchor = parse_anchor(bytes, "a.otf2");
  return anchor ? "" : anchor.error().message;
}

TEST(ParseAnchor, names_what_is_not_read) {
  EXPECT_EQ(refusal_of(k_format_at, 3), "");
  EXPECT_EQ(refusal_of(k_format_at, 4),
            "a.otf2: the archive has anchor format 4, which is not read; convert it to the POSIX "
            "substrate and trace format 2 or 3");
  for (std::uint8_t format = 1; format <= 3; ++format) {
    EXPECT_EQ(refusal_of(k_trace_format_at, format), "");
  }
  EXPECT_THAT(refusal_of(k_trace_format_at, 4), HasSubstr("has trace format 4"));
  EXPECT_THAT(refusal_of(k_substrate_at, 2), HasSubstr("uses the SIONlib substrate"));
  EXPECT_THAT(refusal_of(k_substrate_at, 3), HasSubstr("uses substrate 3"));
}

TEST(ParseAnchor, refuses_compression) {
  Bytes zlib = anchor_bytes();
  zlib[k_compression_at] = 2;
  EXPECT_THAT(refusal(zlib), HasSubstr("compressed"));
}

TEST(ParseAnchor, refuses_impossible_chunk_sizes) {
  for (const std::size_t at : {k_event_chunk_at, k_definition_chunk_at}) {
    for (const std::uint64_t size :
         {std::uint64_t{0}, k_min_chunk_size - 1, k_max_chunk_size + 1, ~std::uint64_t{0}}) {
      Bytes bytes = anchor_bytes();
      store_u64(bytes.data() + at, size, false);
      EXPECT_THAT(refusal(bytes), HasSubstr("chunk sizes")) << size;
    }
    for (const std::uint64_t size : {k_min_chunk_size, k_max_chunk_size}) {
      Bytes bytes = anchor_bytes();
      store_u64(bytes.data() + at, size, false);
      EXPECT_EQ(refusal(bytes), "");
    }
  }
}

TEST(ParseAnchor, too_short_at_every_length_is_refused) {
  for (const int format : {1, 2, 3}) {
    const Bytes whole = anchor_bytes({.format = format});
    const std::size_t needed = whole.size() - 2;  // the end mark is the last byte read
    for (std::size_t size = 0; size < needed; ++size) {
      Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      bytes.shrink_to_fit();
      EXPECT_NE(refusal(bytes), "") << size;
    }
    EXPECT_EQ(refusal({whole.begin(), whole.end() - 2}), "");
  }
}

TEST(ParseAnchor, an_absurd_number_of_properties_is_no_crash) {
  Bytes bytes = anchor_bytes();
  const auto anchor = parse_anchor(bytes, "a.otf2");
  for (std::size_t i = 0; i < 4; ++i) bytes[anchor->properties_begin + i] = 0xFF;
  EXPECT_THAT(refusal(bytes), HasSubstr("ends too early"));
}

Bytes with(const Bytes& bytes, const std::vector<trace::Property>& properties) {
  const auto anchor = parse_anchor(bytes, "a.otf2");
  if (!anchor) throw std::runtime_error(anchor.error().message);
  return with_properties(bytes, *anchor, properties);
}

TEST(WithProperties, replaces_and_appends_and_keeps_the_rest) {
  for (const bool big_endian : {false, true}) {
    const Bytes result =
        with(anchor_bytes({.big_endian = big_endian}), {{"NEW", "a longer value"}, {"A", "22"}});
    EXPECT_EQ(result,
              anchor_bytes({.big_endian = big_endian,
                            .properties = {{"A", "22"}, {"B::C", ""}, {"NEW", "a longer value"}}}));
  }
}

TEST(WithProperties, the_first_property_of_an_archive) {
  EXPECT_EQ(with(anchor_bytes({.properties = {}}), {{"A", "1"}}),
            anchor_bytes({.properties = {{"A", "1"}}}));
}

TEST(WithProperties, nothing_to_set_changes_nothing) {
  EXPECT_EQ(with(anchor_bytes(), {}), anchor_bytes());
}

TEST(WithProperties, formats_without_properties_stay_as_they_are) {
  EXPECT_EQ(with(anchor_bytes({.format = 1}), {{"A", "1"}}), anchor_bytes({.format = 1}));
}

}  // namespace
}  // namespace entrain::otf2
