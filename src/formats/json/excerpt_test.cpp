// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "formats/json/strings.hpp"

namespace entrain::json {
namespace {

TEST(Excerpt, a_piece_of_a_text_is_one_short_line) {
  EXPECT_EQ(excerpt(""), "''");
  EXPECT_EQ(excerpt("so\non\x1B[1m"), "'so\\u000aon\\u001b[1m'");
  EXPECT_EQ(excerpt(std::string(50, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(excerpt(std::string(39, 'a') + "\u00e4"), "'" + std::string(39, 'a') + "'");
}

}  // namespace
}  // namespace entrain::json
