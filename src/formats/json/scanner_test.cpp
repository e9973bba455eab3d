// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/scanner.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"

namespace entrain::json {
namespace {

/// A string with quotes, brackets and backslashes in it, as JSON writes them.
std::string random_string(RandomStream& random) {
  constexpr std::string_view k_letters = "ab{}[]:, \x01\x21\x23\x5B\x5D\xC3\xA9";
  std::string text = "\"";
  for (std::uint64_t i = random.below(20); i > 0; --i) {
    switch (random.below(6)) {
      case 0:
        text += "\\\"";
        break;
      case 1:
        text += "\\\\";
        break;
      default:
        text += k_letters[random.below(k_letters.size())];
        break;
    }
  }
  return text + "\"";
}

std::string random_value(RandomStream& random, int depth) {
  const std::uint64_t kind = random.below(depth > 0 ? 4 : 2);
  if (kind == 0) return std::to_string(random.below(1'000'000'000'000));
  if (kind == 1) return random_string(random);
  std::string text(1, kind == 2 ? '[' : '{');
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    if (text.size() > 1) text += ", ";
    if (kind == 3) text += random_string(random) + ": ";
    text += random_value(random, depth - 1);
  }
  return text + (kind == 2 ? "]" : "}");
}

TEST(Scanner, finds_the_ends_of_values_wherever_they_lie) {
  RandomStream random(1, 1);
  for (int round = 0; round < 20'000; ++round) {
    const std::string value = random_value(random, 3);
    const std::string whole = "[" + std::string(random.below(9), ' ') + value + ", 7]";
    Scanner scanner(whole);
    std::string_view found;
    ASSERT_TRUE(scanner.open('[') && scanner.next_element() && scanner.value(found)) << whole;
    EXPECT_EQ(found, value);
    EXPECT_TRUE(scanner.next_element() && scanner.value(found)) << whole;
    EXPECT_EQ(found, "7");
    EXPECT_FALSE(scanner.next_element());
    EXPECT_FALSE(scanner.failed());
  }
}

}  // namespace
}  // namespace entrain::json
