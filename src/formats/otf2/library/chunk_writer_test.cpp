// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/chunk_writer.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using testing::contents;
using testing::TempFolder;

constexpr std::size_t k_chunk = 64;

TEST(ChunkWriter, an_empty_file_is_a_header_and_an_end) {
  const TempFolder folder;
  ChunkWriter file(folder / "x", k_chunk);
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(contents(folder / "x"), ChunkBuilder().end().bytes());
}

TEST(ChunkWriter, equal_times_share_a_stamp) {
  const TempFolder folder;
  ChunkWriter file(folder / "x", k_chunk);
  file.event(7, event::enter, Fields().c32(3));
  file.event(7, event::leave, Fields().c32(3));
  file.event(0, event::mpi_collective_begin, Fields());
  ASSERT_TRUE(file.finish());
  EXPECT_EQ(contents(folder / "x"), ChunkBuilder()
                                        .stamp(7)
                                        .enter(3)
                                        .raw({event::leave, 1, 3})
                                        .stamp(0)
                                        .record(event::mpi_collective_begin, {})
                                        .end()
                                        .bytes());
}

TEST(ChunkWriter, every_chunk_begins_with_a_stamp_and_fits) {
  const TempFolder folder;
  ChunkWriter file(folder / "x", k_chunk);
  for (std::uint32_t i = 0; i < 100; ++i) file.event(5, event::enter, Fields().c32(i));
  ASSERT_TRUE(file.finish());
  const Bytes bytes = contents(folder / "x");
  ASSERT_GT(bytes.size(), 2 * k_chunk);
  for (std::size_t at = 0; at < bytes.size(); at += k_chunk) {
    EXPECT_EQ(bytes[at], mark::chunk_header);
    EXPECT_EQ(bytes[at + k_chunk_header_size], mark::stamp);
  }
}

TEST(ChunkWriter, definitions_are_read_back) {
  const TempFolder folder;
  ChunkWriter file(folder / "x", 1024);
  file.record(def::string, Fields().text("short"));
  file.record(def::string, Fields().text(std::string(300, 'x')));
  file.record(def::comm, Fields().c32(~0u).c64(~std::uint64_t{0}).fixed64(1).u8(2));
  ASSERT_TRUE(file.finish());
  const auto read = read_definition_file(folder / "x", 1024);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->records.size(), 3u);
  EXPECT_EQ(read->records[0].payload, (Bytes{'s', 'h', 'o', 'r', 't', 0}));
  EXPECT_EQ(read->records[1].payload.size(), 301u);
  EXPECT_EQ(read->records[2].payload, (Bytes{0xFF, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0, 2}));
}

TEST(ChunkWriter, a_record_above_the_chunk_size_fails_the_file) {
  const TempFolder folder;
  ChunkWriter file(folder / "x", k_chunk);
  file.record(def::string, Fields().text(std::string(k_chunk, 'x')));
  EXPECT_FALSE(file.finish());
}

TEST(ChunkWriter, a_file_that_cannot_be_made_fails) {
  const TempFolder folder;
  ChunkWriter missing(folder / "none" / "x", k_chunk);
  missing.event(1, event::enter, Fields().c32(1));
  EXPECT_FALSE(missing.finish());
  folder.put("there", Bytes{});
  EXPECT_FALSE(ChunkWriter(folder / "there", k_chunk).finish());
}

}  // namespace
}  // namespace entrain::otf2
