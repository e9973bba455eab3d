// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/strings.hpp"

#include <gtest/gtest.h>

namespace entrain::json {
namespace {

TEST(Unescape, says_what_a_string_means) {
  EXPECT_EQ(unescaped(R"(plain)"), "plain");
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\n)"), "a\"b\\c/d\n");
  EXPECT_EQ(unescaped(R"(\u003clambda\u003E)"), "<lambda>");
  EXPECT_EQ(unescaped(R"(\u00e4\u20AC\ud83d\ude00)"), "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(unescaped(""), "");
}

TEST(Unescape, what_is_no_escape_stays) {
  for (const char* text : {R"(\x)", R"(\)", R"(\u12)", R"(\u12g4)", R"(\ud83d)", R"(\ud83dx)",
                           R"(\ude00)", R"(\ud83d\u0041)"}) {
    EXPECT_EQ(unescaped(text), text);
  }
}

}  // namespace
}  // namespace entrain::json
