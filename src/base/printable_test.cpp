// SPDX-License-Identifier: BSD-3-Clause
#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/utf8.hpp"

namespace entrain {
namespace {

/// A code point as UTF-8, surrogates too.
std::string utf8_of(std::uint32_t code) {
  std::string text;
  const auto more = [&](std::uint32_t bits) { text += static_cast<char>(0x80 | (bits & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    more(code);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    more(code >> 6);
    more(code);
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    more(code >> 12);
    more(code >> 6);
    more(code);
  }
  return text;
}

std::string number_of(std::uint32_t code) {
  char text[16];
  if (code < 0x10000) {
    std::snprintf(text, sizeof text, "\\u%04x", code);
  } else {
    const std::uint32_t offset = code - 0x10000;
    std::snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD800 + offset / 1024,
                  0xDC00 + offset % 1024);
  }
  return text;
}

constexpr const char* k_replacement = "\xEF\xBF\xBD";

TEST(Printable, numbers_stand_for_what_does_not_show_as_itself) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> unseen{
      {0x00, 0x1F},       {0x7F, 0x9F},        // control characters of both kinds, ESC and CSI
      {0xAD, 0xAD},       {0x061C, 0x061C},    // soft hyphen, Arabic letter mark
      {0x200B, 0x200D},   {0x200E, 0x200F},    // zero width, marks of direction
      {0x2028, 0x2029},   {0x202A, 0x202E},    // separators, embeddings and overrides
      {0x2060, 0x2064},   {0x2066, 0x2069},    // word joiner, isolates
      {0x206A, 0x206F},   {0xFEFF, 0xFEFF},    // deprecated formats, byte order mark
      {0xFFF9, 0xFFFB},   {0x180E, 0x180E},    // annotations, vowel separator
      {0xFE00, 0xFE0F},   {0xE0100, 0xE01EF},  // variation selectors
      {0xE0001, 0xE0001}, {0xE0020, 0xE007F},  // tags
      {0x115F, 0x1160},   {0x3164, 0x3164},    // fillers
      {0xFDD0, 0xFDEF},   {0x1D173, 0x1D17A}};
  for (const auto& [first, last] : unseen) {
    for (std::uint32_t code = first; code <= last; ++code) {
      EXPECT_EQ(printable("a" + utf8_of(code) + "b"), "a" + number_of(code) + "b");
    }
  }
  for (std::uint32_t plane = 0; plane <= 0x10; ++plane) {
    for (const std::uint32_t last : {0xFFFEu, 0xFFFFu}) {
      EXPECT_EQ(printable(utf8_of(plane << 16 | last)), number_of(plane << 16 | last));
    }
  }
}

TEST(Printable, other_text_stays) {
  for (const std::uint32_t code :
       {0x20u, 0x7Eu, 0xA0u, 0xE4u, 0x5D0u, 0x627u, 0x200Au, 0x2010u, 0x202Fu, 0x205Fu, 0x4E2Du,
        0xFDCFu, 0xFDF0u, 0xFE10u, 0xFFFCu, 0x1F600u, 0xDFFFDu, 0xE1000u, 0x10FFFDu}) {
    EXPECT_EQ(printable(utf8_of(code)), utf8_of(code)) << code;
  }
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("C:\\u\"'<&>"), "C:\\u\"'<&>");
}

/// Over all code points: the result is UTF-8, and is not changed again.
TEST(Printable, is_settled_and_utf8_for_every_code_point) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    const std::string shown = printable(utf8_of(code));
    ASSERT_TRUE(is_utf8(shown)) << code;
    ASSERT_EQ(printable(shown), shown) << code;
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    ASSERT_EQ(shown.starts_with(k_replacement), surrogate || code == 0xFFFD) << code;
  }
}

TEST(Printable, bytes_that_are_no_utf8_are_replaced) {
  EXPECT_EQ(printable("\xC0\xAF"), std::string(k_replacement) + k_replacement);  // overlong
  EXPECT_EQ(printable("\xF4\x90\x80\x80").find(k_replacement), 0u);              // beyond U+10FFFF
  // A right-to-left override that is cut off, at the end and before another byte.
  EXPECT_EQ(printable("a\xE2\x80"), std::string("a") + k_replacement + k_replacement);
  EXPECT_EQ(printable("\xE2\x1B"), std::string(k_replacement) + "\\u001b");
  for (int byte = 0x80; byte <= 0xFF; ++byte) {
    EXPECT_EQ(printable(std::string(1, static_cast<char>(byte))), k_replacement) << byte;
  }
}

TEST(Printable, keeps_what_it_is_told_to) {
  EXPECT_EQ(printable("a\nb\t\x1B", "\n"), "a\nb\\u0009\\u001b");
}

TEST(Shortened, cuts_in_the_middle_between_characters) {
  EXPECT_EQ(shortened("MPI_Allreduce", 13), "MPI_Allreduce");
  EXPECT_EQ(shortened("MPI_Allreduce", 10), "MPI_A...ce");
  EXPECT_EQ(shortened("MPI_Allreduce", 2), "MP");
  EXPECT_EQ(shortened("\xC3\xA4\xC3\xB6\xC3\xBC", 1), "\xC3\xA4");
  std::string umlauts;
  for (int i = 0; i < 20; ++i) umlauts += "\xC3\xA4";
  for (std::size_t columns = 0; columns <= 21; ++columns) {
    const std::string text = shortened(umlauts, columns);
    EXPECT_TRUE(is_utf8(text)) << columns;
    EXPECT_EQ(width_of(text), std::min<std::size_t>(columns, 20));
  }
}

TEST(Presentable, words_and_sentences_have_a_limit) {
  EXPECT_EQ(presentable("cannot read a/b: no such file"), "cannot read a/b: no such file");
  const std::string path = presentable("cannot read " + std::string(100'000, 'x') + ": too long");
  EXPECT_EQ(path.find("cannot read xxx"), 0u);
  EXPECT_EQ(path.substr(path.size() - 10), ": too long");
  EXPECT_LE(width_of(path), 230u);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "a\x1B[31m ";
  EXPECT_EQ(width_of(presentable(many)), 380u);
  EXPECT_EQ(presentable(many).find('\x1B'), std::string::npos);
  EXPECT_EQ(presentable("two\nlines\r\n"), "two\\u000alines\\u000d\\u000a");
}

}  // namespace
}  // namespace entrain
