// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::json {
namespace {

TEST(Tree, finds_members_by_their_last_name) {
  Tree tree;
  const std::string text =
      R"( {"a": 1.50, "b\u0063": "x\"y", "a": [true, {"k": -2}], "d": {}} rest)";
  EXPECT_EQ(tree.parse(text, 0), text.size() - 5);
  EXPECT_EQ(tree.text(0, {"bc"}), "x\"y");
  EXPECT_EQ(tree.text(0, {"none"}), "");
  const Tree::Node list = tree.find(0, {"a", "none"});
  ASSERT_TRUE(tree.is_list(list));
  std::vector<std::string> elements;
  tree.for_each(list, [&](Tree::Node one) {
    elements.emplace_back(tree.is_object(one) ? tree.text(one, {"k"}) : tree.text(one));
  });
  EXPECT_THAT(elements, testing::ElementsAre("true", "-2"));
  EXPECT_TRUE(tree.is_object(tree.find(0, {"d"})));
  EXPECT_EQ(tree.find(list, {"k"}), Tree::k_none);
}

TEST(Tree, tells_what_is_cut_off_or_damaged) {
  Tree tree;
  for (const char* text : {"", " ", "{", R"({"a)", R"({"a")", R"({"a":)", R"({"a":1)", R"({"a":[1]",
                           "[1,", "12", "{1:2}", R"(["a\")",
                           "]"}) {
    EXPECT_EQ(tree.parse(text, 0), std::string_view::npos) << text;
  }
  EXPECT_EQ(tree.parse("[[], 12 ,{}]x", 0), 12U);
}

TEST(Scaled, is_exact) {
  EXPECT_EQ(scaled("1700000000000000.1239", 3), 1'700'000'000'000'000'123);
  EXPECT_EQ(scaled("1700000000000000000", 0), 1'700'000'000'000'000'000);
  EXPECT_EQ(scaled("12.5", 0), 12);
  EXPECT_EQ(scaled("1.25e2", 3), 125'000);
  EXPECT_EQ(scaled("125E-1", 3), 12'500);
  EXPECT_EQ(scaled("1.5e+3", 0), 1500);
  EXPECT_EQ(scaled("-0.5", 3), -500);
  EXPECT_EQ(scaled("0e40", 3), 0);
  for (const char* text : {"", "x", "1x", "9e30", "99999999999999999999"}) {
    EXPECT_FALSE(scaled(text, 3)) << text;
  }
}

}  // namespace
}  // namespace entrain::json
