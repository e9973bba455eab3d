// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/walk.hpp"

#include <ostream>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// An item that the visitor saw: a record, or a stamp (type 5).
struct Seen {
  int type = 0;
  std::uint64_t time = 0;
  Bytes payload;
  friend bool operator==(const Seen&, const Seen&) = default;
};
void PrintTo(const Seen& seen, std::ostream* out) {
  *out << "type " << seen.type << " at " << seen.time << ", " << seen.payload.size() << " bytes";
}

struct Visitor {
  std::vector<Seen> seen;
  std::uint64_t time = 0;
  int refused = -1;  ///< type of the record to refuse
  std::uint64_t last_time = ~std::uint64_t{0};
  const std::uint8_t* bytes = nullptr;
  bool big_endian = false;

  void chunk(std::uint8_t* b, bool big) {
    bytes = b;
    big_endian = big;
  }
  bool stamp(std::size_t offset, std::uint64_t t) {
    EXPECT_EQ(load_u64(bytes + offset, big_endian), t);
    time = t;
    return t <= last_time;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    seen.push_back({type, time, {bytes + offset, bytes + offset + size}});
    return type != refused;
  }
};

/// Walks a copy of the bytes in a heap buffer of exactly their size.
template <Framing framing = Framing::events>
ChunkWalk walk(const Bytes& bytes, Visitor& visitor) {
  std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  exact.shrink_to_fit();
  return walk_chunk<framing>(exact.data(), exact.size(), visitor);
}

ChunkWalk walk(const Bytes& bytes) {
  Visitor visitor;
  return walk(bytes, visitor);
}

TEST(WalkChunk, end_of_file_mark_ends_the_file) {
  const ChunkWalk result = walk(ChunkBuilder().stamp(5).enter(7).end().bytes());
  EXPECT_EQ(result.end, ChunkEnd::end_of_file);
  EXPECT_EQ(result.offset, k_chunk_header_size + 9 + 3 + 1);
}

TEST(WalkChunk, end_of_chunk_mark_leads_to_the_next_block) {
  const ChunkWalk result = walk(ChunkBuilder().stamp(5).next_chunk(64).bytes());
  EXPECT_EQ(result.end, ChunkEnd::next_chunk);
  EXPECT_EQ(result.offset, k_chunk_header_size + 9 + 1);
}

TEST(WalkChunk, without_a_mark_the_bytes_run_out) {
  EXPECT_EQ(walk(ChunkBuilder().stamp(5).bytes()).end, ChunkEnd::ran_out);
  EXPECT_EQ(walk(ChunkBuilder().bytes()).offset, k_chunk_header_size);
  EXPECT_EQ(walk({}).end, ChunkEnd::ran_out);
}

TEST(WalkChunk, only_a_chunk_header_can_begin_a_chunk) {
  for (const std::size_t at : {0u, 1u}) {
    Bytes bytes = ChunkBuilder().end().bytes();
    bytes[at] = 0x55;
    const ChunkWalk result = walk(bytes);
    EXPECT_EQ(result.end, ChunkEnd::damaged);
    EXPECT_EQ(result.offset, 0u);
    EXPECT_STREQ(result.problem, "no chunk header where one must be");
  }
}

TEST(WalkChunk, records_keep_the_time_of_the_last_stamp) {
  Visitor visitor;
  walk(ChunkBuilder().stamp(5).enter(7).record(22, {}).stamp(9).record(40, {1, 2}).end().bytes(),
       visitor);
  EXPECT_THAT(visitor.seen, ElementsAre(Seen{12, 5, {1, 7}}, Seen{22, 5, {}}, Seen{40, 9, {1, 2}}));
}

TEST(WalkChunk, byte_order_is_that_of_the_chunk) {
  Visitor visitor;
  walk(ChunkBuilder(true).stamp(0x0102).enter(0x0304).end().bytes(), visitor);
  EXPECT_TRUE(visitor.big_endian);
  EXPECT_THAT(visitor.seen, ElementsAre(Seen{12, 0x0102, {2, 3, 4}}));
}

TEST(WalkChunk, long_lengths_are_fixed_numbers) {
  for (const bool big_endian : {false, true}) {
    // The long form may hold a small number, and records of 255 bytes and more need it.
    ChunkBuilder chunk(big_endian);
    chunk.raw({40, 0xFF}).fixed(2).raw({8, 9});
    chunk.raw({41, 0xFF}).fixed(300);
    for (int i = 0; i < 300; ++i) chunk.raw({5});  // looks like stamps
    Visitor visitor;
    EXPECT_EQ(walk(chunk.end().bytes(), visitor).end, ChunkEnd::end_of_file);
    EXPECT_THAT(visitor.seen, ElementsAre(Seen{40, 0, {8, 9}}, Seen{41, 0, Bytes(300, 5)}));
  }
}

TEST(WalkChunk, a_length_beyond_the_chunk_runs_out) {
  for (const std::uint64_t length : {std::uint64_t{3}, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    const ChunkWalk result = walk(ChunkBuilder().raw({40, 0xFF}).fixed(length).raw({1, 2}).bytes());
    EXPECT_EQ(result.end, ChunkEnd::ran_out);
    EXPECT_EQ(result.offset, k_chunk_header_size);
  }
}

TEST(WalkChunk, bare_records_are_one_compressed_integer) {
  Visitor visitor;
  ChunkBuilder chunk;
  chunk.raw({17, 0}).raw({17, 0xFF}).raw({17, 8, 1, 2, 3, 4, 5, 6, 7, 8}).raw({24, 1, 2});
  EXPECT_EQ(walk(chunk.end().bytes(), visitor).end, ChunkEnd::end_of_file);
  EXPECT_THAT(visitor.seen,
              ElementsAre(Seen{17, 0, {0}}, Seen{17, 0, {0xFF}},
                          Seen{17, 0, {8, 1, 2, 3, 4, 5, 6, 7, 8}}, Seen{24, 0, {1, 2}}));
}

TEST(WalkChunk, a_bare_integer_has_no_more_than_eight_bytes) {
  const ChunkWalk result = walk(ChunkBuilder().raw({12, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}).bytes());
  EXPECT_EQ(result.end, ChunkEnd::damaged);
  EXPECT_EQ(result.offset, k_chunk_header_size);
}

TEST(WalkChunk, attribute_lists_are_passed_over_before_and_behind_a_stamp) {
  Visitor visitor;
  ChunkBuilder chunk;
  chunk.stamp(5).record(mark::attribute_list, {1, 2, 3}).enter(1);
  chunk.record(mark::attribute_list, {5, 0, 2}).stamp(6).enter(2);
  chunk.raw({mark::attribute_list, 0xFF}).fixed(2).raw({1, 2}).enter(3);
  EXPECT_EQ(walk(chunk.end().bytes(), visitor).end, ChunkEnd::end_of_file);
  EXPECT_THAT(visitor.seen,
              ElementsAre(Seen{12, 5, {1, 1}}, Seen{12, 6, {1, 2}}, Seen{12, 6, {1, 3}}));
}

TEST(WalkChunk, snapshots_have_no_bare_records) {
  Visitor visitor;
  const Bytes bytes = ChunkBuilder().stamp(5).record(12, {1, 2, 3}).end().bytes();
  EXPECT_EQ(walk<Framing::snapshots>(bytes, visitor).end, ChunkEnd::end_of_file);
  EXPECT_THAT(visitor.seen, ElementsAre(Seen{12, 5, {1, 2, 3}}));
}

TEST(WalkChunk, definitions_have_neither_stamps_nor_attribute_lists) {
  Visitor visitor;
  const Bytes bytes = ChunkBuilder().record(5, {1}).record(6, {2, 3}).record(12, {}).end().bytes();
  EXPECT_EQ(walk<Framing::plain>(bytes, visitor).end, ChunkEnd::end_of_file);
  EXPECT_THAT(visitor.seen, ElementsAre(Seen{5, 0, {1}}, Seen{6, 0, {2, 3}}, Seen{12, 0, {}}));
}

TEST(WalkChunk, other_marks_between_records_are_damage) {
  for (const int type : {1, 3}) {
    const ChunkWalk result = walk(ChunkBuilder().enter(1).raw({type, 0, 0}).bytes());
    EXPECT_EQ(result.end, ChunkEnd::damaged);
    EXPECT_EQ(result.offset, k_chunk_header_size + 3);
  }
}

TEST(WalkChunk, the_visitor_may_refuse) {
  Visitor visitor;
  visitor.refused = 40;
  visitor.last_time = 100;
  const Bytes record = ChunkBuilder().enter(1).record(40, {}).enter(2).end().bytes();
  EXPECT_EQ(walk(record, visitor).end, ChunkEnd::damaged);
  EXPECT_EQ(visitor.seen.size(), 2u);
  visitor.refused = 12;
  EXPECT_EQ(walk(record, visitor).end, ChunkEnd::damaged);
  const ChunkWalk late = walk(ChunkBuilder().stamp(100).stamp(101).end().bytes(), visitor);
  EXPECT_EQ(late.end, ChunkEnd::damaged);
  EXPECT_EQ(late.offset, k_chunk_header_size + 9);
  EXPECT_STREQ(late.problem, "a time stamp out of range, before or after the correction");
}

TEST(WalkChunk, changes_by_the_visitor_stay) {
  struct Setter {
    std::uint8_t* bytes = nullptr;
    void chunk(std::uint8_t* b, bool) { bytes = b; }
    bool stamp(std::size_t offset, std::uint64_t time) {
      store_u64(bytes + offset, time + 1, false);
      return true;
    }
    static bool record(std::uint8_t, std::size_t, std::size_t) { return true; }
  } setter;
  Bytes bytes = ChunkBuilder().stamp(5).enter(1).end().bytes();
  walk_chunk<Framing::events>(bytes.data(), bytes.size(), setter);
  EXPECT_EQ(bytes, ChunkBuilder().stamp(6).enter(1).end().bytes());
}

TEST(WalkChunk, truncated_at_any_byte_it_runs_out_and_reads_no_further) {
  ChunkBuilder chunk;
  chunk.stamp(5).enter(0x1234).record(mark::attribute_list, {1, 2, 3}).stamp(6);
  chunk.record(14, {1, 2, 3, 4}).raw({40, 0xFF}).fixed(3).raw({1, 2, 3}).flush(8).raw({17, 0xFF});
  const Bytes whole = Bytes(chunk.end().bytes());
  Visitor all;
  ASSERT_EQ(walk(whole, all).end, ChunkEnd::end_of_file);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    Visitor visitor;
    const ChunkWalk result = walk({whole.begin(), whole.begin() + static_cast<int>(size)}, visitor);
    EXPECT_EQ(result.end, ChunkEnd::ran_out) << size;
    EXPECT_LE(result.offset, size);
    ASSERT_LE(visitor.seen.size(), all.seen.size());
    for (std::size_t i = 0; i < visitor.seen.size(); ++i) EXPECT_EQ(visitor.seen[i], all.seen[i]);
  }
}

TEST(WalkChunk, any_byte_may_be_any_other) {
  ChunkBuilder chunk;
  chunk.stamp(5).enter(0x1234).record(14, {1, 2, 3, 4}).raw({40, 0xFF}).fixed(3).raw({1, 2, 3});
  const Bytes whole = Bytes(chunk.end().bytes());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      Visitor visitor;
      const ChunkWalk result = walk(bytes, visitor);  // must not read outside
      EXPECT_LE(result.offset, bytes.size());
      EXPECT_EQ(result.end == ChunkEnd::damaged, *result.problem != '\0');
    }
  }
}

}  // namespace
}  // namespace entrain::otf2
