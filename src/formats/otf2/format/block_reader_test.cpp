// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/block_reader.hpp"

#include <gmock/gmock.h>

#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using testing::TempFolder;
using testing::operator+;
using ::testing::HasSubstr;

constexpr std::uint64_t k_chunk = 64;  // no real one is so small, but nothing asks for more

TEST(BlockReader, reads_a_range_and_says_that_the_file_goes_on) {
  const TempFolder folder;
  const auto path = folder.put("x", Bytes(3 * k_chunk + 10, 7));
  auto reader = BlockReader::open(path, k_chunk, {1, 2});
  ASSERT_TRUE(reader);
  for (const std::uint64_t offset : {k_chunk, 2 * k_chunk}) {
    EXPECT_FALSE(reader->at_end_of_range());
    const auto block = reader->next();
    ASSERT_TRUE(block);
    EXPECT_EQ(block->size(), k_chunk);
    EXPECT_EQ(reader->offset(), offset);
  }
  EXPECT_TRUE(reader->at_end_of_range());
  EXPECT_TRUE(reader->next()->empty());
}

TEST(BlockReader, the_last_block_is_shorter) {
  const TempFolder folder;
  auto reader = BlockReader::open(folder.put("x", Bytes(k_chunk + 10, 7)), k_chunk);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->next()->size(), k_chunk);
  EXPECT_EQ(reader->next()->size(), 10u);
  EXPECT_TRUE(reader->next()->empty());
  EXPECT_FALSE(reader->at_end_of_range());  // the file ended, not the range
}

TEST(BlockReader, an_empty_file_and_a_range_after_the_end_yield_nothing) {
  const TempFolder folder;
  auto empty = BlockReader::open(folder.put("empty", Bytes{}), k_chunk);
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->next()->empty());
  auto after = BlockReader::open(folder.put("x", Bytes(10, 7)), k_chunk, {5, 1});
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->next()->empty());
}

TEST(BlockReader, a_missing_file_is_named) {
  const auto reader = BlockReader::open("/nowhere/0.evt", k_chunk);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("/nowhere/0.evt"));
}

/// Counts records, refuses none.
struct Counter {
  std::size_t records = 0;
  static void chunk(std::uint8_t*, bool) {}
  static bool stamp(std::size_t, std::uint64_t) { return true; }
  bool record(std::uint8_t, std::size_t, std::size_t) { return ++records > 0; }
};

Result<bool> walk(const std::filesystem::path& path, Counter& counter) {
  auto reader = BlockReader::open(path, k_chunk);
  if (!reader) return tl::unexpected(reader.error());
  return walk_file<Framing::events>(*reader, counter, [](auto) { return Result<void>(); });
}

TEST(WalkFile, goes_from_block_to_block) {
  const TempFolder folder;
  const Bytes bytes = ChunkBuilder().stamp(1).enter(1).next_chunk(k_chunk).bytes() +
                      ChunkBuilder().stamp(2).enter(2).enter(3).end().bytes();
  Counter counter;
  const auto end = walk(folder.put("0.evt", bytes), counter);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(counter.records, 3u);
}

TEST(WalkFile, a_file_that_ends_early_is_truncated_not_damaged) {
  const TempFolder folder;
  const Bytes first = ChunkBuilder().stamp(1).enter(1).next_chunk(k_chunk).bytes();
  Counter at_border, in_record;
  const auto border = walk(folder.put("0.evt", first), at_border);
  ASSERT_TRUE(border);
  EXPECT_TRUE(*border);
  const auto record =
      walk(folder.put("1.evt", first + ChunkBuilder().stamp(2).raw({12, 4, 1}).bytes()), in_record);
  ASSERT_TRUE(record);
  EXPECT_TRUE(*record);
  EXPECT_EQ(in_record.records, 1u);
}

TEST(WalkFile, a_record_across_a_chunk_border_is_damage) {
  const TempFolder folder;
  Bytes first = ChunkBuilder().stamp(1).bytes();
  first = first + Bytes{40, 100};
  first.resize(k_chunk, 1);
  Counter counter;
  const auto end =
      walk(folder.put("0.evt", first + ChunkBuilder().stamp(2).end().bytes()), counter);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("past the end of its chunk"));
}

TEST(WalkFile, an_error_of_the_caller_ends_the_walk) {
  const TempFolder folder;
  const Bytes bytes = ChunkBuilder().stamp(1).enter(1).next_chunk(k_chunk).bytes() +
                      ChunkBuilder().stamp(2).enter(2).end().bytes();
  auto reader = BlockReader::open(folder.put("0.evt", bytes), k_chunk);
  ASSERT_TRUE(reader);
  Counter counter;
  const auto end = walk_file<Framing::events>(*reader, counter, [](auto) -> Result<void> {
    return fail(ErrorKind::interrupted, "enough");
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "enough");
  EXPECT_EQ(counter.records, 1u);
}

}  // namespace
}  // namespace entrain::otf2
