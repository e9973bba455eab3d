// SPDX-License-Identifier: BSD-3-Clause
#include "trace/properties.hpp"

#include <gtest/gtest.h>

namespace entrain::trace {
namespace {

TEST(FindProperty, gives_the_value_or_nothing) {
  Definitions definitions;
  definitions.properties = {{"A", "1"}, {"B", ""}};
  EXPECT_EQ(*find_property(definitions, "A"), "1");
  EXPECT_EQ(*find_property(definitions, "B"), "");
  EXPECT_EQ(find_property(definitions, "C"), nullptr);
}

}  // namespace
}  // namespace entrain::trace
