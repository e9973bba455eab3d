// SPDX-License-Identifier: BSD-3-Clause
#include "base/text_hash.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace entrain {
namespace {

/// Summaries of other machines hold these numbers.
TEST(TextHash, is_the_same_in_every_build) {
  EXPECT_EQ(text_hash(""), 3498318357707990164u);
  EXPECT_EQ(text_hash("12 of float"), 17130600125165928138u);
  EXPECT_EQ(text_hash("a text that is longer than four words of a machine"), 4866129570692055245u);
}

TEST(TextHash, every_byte_and_the_length_count) {
  std::set<std::uint64_t> seen;
  std::size_t texts = 0;
  for (std::size_t size = 0; size < 80; ++size) {
    std::string text(size, '\0');
    seen.insert(text_hash(text));
    ++texts;
    for (char& one : text) {
      one = 'x';
      seen.insert(text_hash(text));
      one = '\0';
      ++texts;
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

}  // namespace
}  // namespace entrain
