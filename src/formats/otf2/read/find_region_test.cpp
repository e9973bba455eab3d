// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/event_file.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using testing::TempFolder;
using testing::operator+;

constexpr std::uint64_t k_chunk = 128;

class FindRegion : public ::testing::Test {
 protected:
  FindRegion() {
    for (std::uint32_t id = 0; id < 10; ++id) references_.regions[id] = 100 + id;
  }
  std::uint32_t at(const Bytes& bytes, std::uint64_t time) {
    const EventFile file{folder_.put("0.evt", bytes), k_chunk, local_, references_};
    return find_region(file, time).value();
  }

  TempFolder folder_;
  LocalDefinitions local_;
  References references_;
};

ChunkBuilder& leave(ChunkBuilder& chunk, std::uint64_t region) {
  return chunk.raw({event::leave}).compressed(region);
}

TEST_F(FindRegion, is_the_innermost_open_one) {
  ChunkBuilder chunk;
  chunk.stamp(10).enter(1).stamp(20).enter(2).stamp(30);
  leave(chunk, 2).stamp(40);
  const Bytes bytes = leave(chunk, 1).end().bytes();
  EXPECT_EQ(at(bytes, 10), 101u);  // the event enters it
  EXPECT_EQ(at(bytes, 15), 102u);  // the first event that is not earlier
  EXPECT_EQ(at(bytes, 30), 102u);  // the event leaves it
  EXPECT_EQ(at(bytes, 40), 101u);
  EXPECT_EQ(at(bytes, 41), k_none);
}

TEST_F(FindRegion, may_have_begun_chunks_ago) {
  ChunkBuilder second, third;
  second.stamp(30).enter(2).stamp(31);
  leave(second, 2).next_chunk(k_chunk);
  third.stamp(50).enter(3).stamp(51);
  leave(third, 3).stamp(60).record(event::mpi_send, {0, 0, 0, 0}).end();
  const Bytes bytes = ChunkBuilder().stamp(10).enter(1).next_chunk(k_chunk).bytes() +
                      second.bytes() + third.bytes();
  EXPECT_EQ(at(bytes, 60), 101u);
  EXPECT_EQ(at(bytes, 51), 103u);
  EXPECT_EQ(at(bytes, 30), 102u);
}

TEST_F(FindRegion, skips_calls_that_a_later_chunk_leaves) {
  ChunkBuilder second;
  second.stamp(30);
  leave(second, 2).stamp(40).record(event::mpi_send, {0, 0, 0, 0}).end();
  const Bytes bytes =
      ChunkBuilder().stamp(10).enter(1).stamp(20).enter(2).next_chunk(k_chunk).bytes() +
      second.bytes();
  EXPECT_EQ(at(bytes, 30), 102u);
  EXPECT_EQ(at(bytes, 40), 101u);
}

std::vector<std::uint64_t> times_of(const std::vector<trace::RegionRecord>& records) {
  std::vector<std::uint64_t> times;
  for (const trace::RegionRecord& record : records) times.push_back(record.time);
  return times;
}

TEST_F(FindRegion, shows_the_calls_around_a_time) {
  ChunkBuilder second;
  second.stamp(30).enter(2).stamp(31);
  leave(second, 2).stamp(40).record(event::mpi_send, {0, 0, 0, 0}).stamp(50);
  leave(second, 1).end();
  const Bytes bytes =
      ChunkBuilder().stamp(10).enter(1).stamp(20).enter(3).next_chunk(k_chunk).bytes() +
      second.bytes();
  const EventFile file{folder_.put("0.evt", bytes), k_chunk, local_, references_};
  EXPECT_EQ(times_of(*find_regions_around(file, 40, 2)), (std::vector<std::uint64_t>{30, 31, 50}));
  EXPECT_EQ(times_of(*find_regions_around(file, 30, 1)), (std::vector<std::uint64_t>{20, 30}));
  const auto all = find_regions_around(file, 31, 9).value();
  EXPECT_EQ(times_of(all), (std::vector<std::uint64_t>{10, 20, 30, 31, 50}));
  EXPECT_EQ(all.front().region, 101u);
  EXPECT_TRUE(all.front().enter);
  EXPECT_FALSE(all.back().enter);
}

TEST_F(FindRegion, is_nothing_without_files_events_or_definitions) {
  EXPECT_EQ(find_region({folder_ / "none.evt", k_chunk, local_, references_}, 10).value(), k_none);
  EXPECT_EQ(at({}, 10), k_none);
  EXPECT_EQ(at(ChunkBuilder().end().bytes(), 10), k_none);
  EXPECT_EQ(at(ChunkBuilder().stamp(10).enter(77).end().bytes(), 10), k_none);
}

TEST_F(FindRegion, a_file_that_cannot_be_read_is_an_error) {
  std::filesystem::create_directory(folder_ / "0.evt");
  const EventFile file{folder_ / "0.evt", k_chunk, local_, references_};
  EXPECT_EQ(find_region(file, 10).error().kind, ErrorKind::input);
  EXPECT_EQ(find_regions_around(file, 10, 9).error().kind, ErrorKind::input);
}

TEST_F(FindRegion, is_nothing_after_too_many_leaves) {
  ChunkBuilder chunk;
  chunk.stamp(10);
  leave(leave(chunk, 1), 1).stamp(20).record(event::mpi_send, {0, 0, 0, 0});
  EXPECT_EQ(at(chunk.end().bytes(), 20), k_none);
}

TEST_F(FindRegion, ids_are_those_of_the_location) {
  local_.regions.add(1, 5);
  EXPECT_EQ(at(ChunkBuilder().stamp(10).enter(1).end().bytes(), 10), 105u);
}

}  // namespace
}  // namespace entrain::otf2
