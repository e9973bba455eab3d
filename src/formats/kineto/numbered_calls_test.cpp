// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/numbered_calls.hpp"

#include <string>

#include <gtest/gtest.h>

namespace entrain::kineto {
namespace {

/// The calls of each number, as file.call.
std::string text_of(const NumberedCalls& calls) {
  std::string text;
  calls.for_each([&](std::span<const NumberedCall> same) {
    text += '[';
    for (const NumberedCall& one : same) {
      text += std::to_string(one.file) + '.' + std::to_string(one.call) + ' ';
    }
    text += ']';
  });
  return text;
}

TEST(NumberedCalls, come_by_number_in_order_of_its_text) {
  NumberedCalls calls;
  EXPECT_EQ(text_of(calls), "");
  calls.add("b 1", {0, 0});
  calls.add("a 2", {0, 1});
  calls.add("a 10", {1, 7});
  calls.add("b 1", {1, 2});
  calls.add("b 1", {1, 3});
  EXPECT_EQ(text_of(calls), "[1.7 ][0.1 ][0.0 1.2 1.3 ]");
}

}  // namespace
}  // namespace entrain::kineto
