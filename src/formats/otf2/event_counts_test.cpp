// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/retime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::contents;
using ::testing::HasSubstr;
using testing::TempFolder;

constexpr std::uint64_t k_chunk = 256;

Bytes packed(const DefinitionFile& file) {
  return pack_definition_file(file, k_chunk, "x").value();
}

/// A location of id 5, name 1, type 1, with 0x0203 events, in group 9; and a string.
DefinitionFile file_of(const Bytes& count) {
  Bytes location{1, 5, 1, 1, 1};
  location.insert(location.end(), count.begin(), count.end());
  location.insert(location.end(), {1, 9});
  DefinitionFile file;
  file.records.push_back({def::string, {1, 1, 'a', 0}});
  file.records.push_back({def::location, location});
  return file;
}

class EventCounts : public ::testing::Test {
 protected:
  Result<void> write(const Bytes& before,
                     const std::unordered_map<std::uint64_t, std::uint64_t>& counts) {
    return write_global_definitions({folder_.put("from", before), k_chunk}, folder_ / "to",
                                    {0, 0, counts});
  }
  TempFolder folder_;
};

TEST_F(EventCounts, take_the_place_of_the_old_ones) {
  ASSERT_TRUE(write(packed(file_of({2, 3, 2})), {{5, 7}, {6, 8}}));
  EXPECT_EQ(contents(folder_ / "to"), packed(file_of({1, 7})));
}

TEST_F(EventCounts, may_be_longer_than_the_old_ones) {
  ASSERT_TRUE(write(packed(file_of({0})), {{5, 0x10203}}));
  EXPECT_EQ(contents(folder_ / "to"), packed(file_of({3, 3, 2, 1})));
}

TEST_F(EventCounts, of_other_locations_stay) {
  const Bytes before = packed(file_of({2, 3, 2}));
  ASSERT_TRUE(write(before, {{4, 7}}));
  EXPECT_EQ(contents(folder_ / "to"), before);
}

TEST_F(EventCounts, of_a_location_that_is_too_short_are_damage) {
  DefinitionFile file;
  file.records.push_back({def::location, {1, 5, 1}});
  const auto refused = write(packed(file), {{5, 7}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("location"));
}

}  // namespace
}  // namespace entrain::otf2
