// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "record/base/scratch_testing.hpp"

namespace entrain::record {
namespace {

constexpr std::size_t k_chunk = 64 << 10;

TEST(ChunkPool, chunks_of_a_mapped_file_keep_their_content) {
  const ScratchFolder scratch;
  const std::string path = scratch / "0.buffer";
  {
    ChunkPool pool(path, 2 * k_chunk);  // most of them leave memory
    std::vector<char*> chunks;
    for (int i = 0; i < 20; ++i) {
      chunks.push_back(static_cast<char*>(pool.allocate(k_chunk)));
      ASSERT_NE(chunks.back(), nullptr);
      std::memset(chunks.back(), 'a' + i, k_chunk);
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      EXPECT_EQ(chunks[i][0], static_cast<char>('a' + i));
      EXPECT_EQ(chunks[i][k_chunk - 1], static_cast<char>('a' + i));
      EXPECT_EQ(content_of(path)[i * k_chunk], static_cast<char>('a' + i));
    }
    EXPECT_FALSE(pool.out_of_room());
    EXPECT_EQ(pool.problem(), 0);
    pool.release();
    EXPECT_EQ(pool.written(), 20u);
    EXPECT_EQ(pool.allocate(k_chunk), chunks[0]);  // free again
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ChunkPool, the_file_stays_if_asked_for) {
  const ScratchFolder scratch;
  const std::string path = scratch / "0.buffer";
  {
    ChunkPool pool(path, k_chunk);
    std::memset(pool.allocate(k_chunk), 'x', k_chunk);
    pool.keep_file();
  }
  EXPECT_EQ(content_of(path), std::string(k_chunk, 'x'));
}

TEST(ChunkPool, plain_memory_ends_at_the_limit_but_holds_two_chunks) {
  ChunkPool pool("", 3 * k_chunk), small("", 1);
  for (int i = 0; i < 3; ++i) EXPECT_NE(pool.allocate(k_chunk), nullptr);
  EXPECT_EQ(pool.allocate(k_chunk), nullptr);
  EXPECT_FALSE(pool.out_of_room());  // only a disk can be full
  for (int i = 0; i < 2; ++i) EXPECT_NE(small.allocate(k_chunk), nullptr);
  EXPECT_EQ(small.allocate(k_chunk), nullptr);
}

TEST(ChunkPool, without_a_file_plain_memory_serves) {
  const ScratchFolder scratch;
  ChunkPool pool(scratch / "missing/0.buffer", 2 * k_chunk);
  for (int i = 0; i < 2; ++i) EXPECT_NE(pool.allocate(k_chunk), nullptr);
  EXPECT_EQ(pool.allocate(k_chunk), nullptr);
}

TEST(ChunkPool, a_file_that_cannot_grow_is_out_of_room) {
  const ScratchFolder scratch;
  const std::string path = scratch / "0.buffer";
  ChunkPool pool(path, 100 * k_chunk);
  ASSERT_NE(pool.allocate(k_chunk), nullptr);
  std::filesystem::remove(path);  // it can be opened no more
  EXPECT_EQ(pool.allocate(k_chunk), nullptr);
  EXPECT_TRUE(pool.out_of_room());
  EXPECT_EQ(pool.problem(), ENOENT);
}

}  // namespace
}  // namespace entrain::record
