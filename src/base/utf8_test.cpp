// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace {

TEST(Utf8, is_told_from_other_bytes) {
  for (const char* good :
       {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xC3(",
                          "\xE2\x82"
                          "x"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(Utf8, is_looked_at_everywhere_in_long_texts) {
  const std::string plain(20, 'a');
  EXPECT_TRUE(is_utf8(plain));
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    EXPECT_FALSE(is_utf8(plain.substr(0, at) + "\xFF" + plain.substr(at))) << at;
    EXPECT_TRUE(is_utf8(plain.substr(0, at) + "\xC3\xBC" + plain.substr(at))) << at;
  }
}

}  // namespace
}  // namespace entrain
