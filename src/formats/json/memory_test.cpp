// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace {

int allocations_left = -1;  ///< number until one fails; negative: none does

}  // namespace

/// Allocator of simdjson.
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  if (allocations_left >= 0 && allocations_left-- == 0) return nullptr;
  try {
    return ::operator new[](size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace entrain::json {
namespace {

TEST(Memory, a_parser_without_memory_throws_and_works_again_later) {
  std::string text = R"({"key":"val\nue"})";
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  const simdjson::padded_string_view padded(text.data(), text.size(), text.capacity());
  int failures = 0;
  for (bool any = true; any; ++failures) {
    Parser parser;
    ondemand::document document;
    allocations_left = failures;
    bool thrown = false;
    try {
      EXPECT_TRUE(parser.begin(padded, document));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    any = allocations_left < 0;
    allocations_left = -1;
    EXPECT_EQ(thrown, any) << failures;
    std::string_view value;
    ASSERT_TRUE(parser.begin(padded, document));
    EXPECT_EQ(document["key"].get_string().get(value), simdjson::SUCCESS);
    EXPECT_EQ(value, "val\nue");
  }
  EXPECT_GT(failures, 2);
}

TEST(Memory, damaged_text_is_no_lack_of_memory) {
  const simdjson::padded_string damaged(std::string_view("{\"a\":\"\xFF\"}"));
  Parser parser;
  ondemand::document document;
  EXPECT_FALSE(parser.begin(damaged, document));
  EXPECT_EQ(unless_no_memory(Z_DATA_ERROR), Z_DATA_ERROR);
  EXPECT_THROW(unless_no_memory(Z_MEM_ERROR), std::bad_alloc);
}

}  // namespace
}  // namespace entrain::json
