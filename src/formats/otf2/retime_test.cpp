// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/retime.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/random_chunks_testing.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::ChunkBuilder;
using testing::contents;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::operator+;

constexpr std::uint64_t k_retime_chunk = 256;

ClockMap map_of(std::vector<ClockKnot> knots) { return *ClockMap::from_knots(std::move(knots)); }
ClockMap shift_of(std::int64_t ticks) { return ClockMap().shifted(ticks); }

class Retime : public ::testing::Test {
 protected:
  Result<Bytes> try_retimed(const Bytes& before, const ClockMap& map,
                            Framing framing = Framing::events, Progress* progress = nullptr) {
    const std::string number = std::to_string(++files_);
    const fs::path from = folder_.put("from" + number, before), to = folder_ / ("to" + number);
    const Result<void> done = retime_file(
        {.from = from, .to = to, .chunk_size = k_retime_chunk, .map = map, .progress = progress},
        framing);
    if (!done) return tl::unexpected(done.error());
    EXPECT_EQ(contents(from), before) << "the input was changed";
    return contents(to);
  }
  Bytes retimed(const Bytes& before, const ClockMap& map, Framing framing = Framing::events) {
    auto after = try_retimed(before, map, framing);
    EXPECT_TRUE(after) << after.error().message;
    return after.value_or(Bytes());
  }

  TempFolder folder_;

 private:
  int files_ = 0;
};

TEST_F(Retime, stamps_move_and_nothing_else) {
  const auto file = [](std::uint64_t a, std::uint64_t b) {
    return ChunkBuilder()
        .stamp(a)
        .enter(5)
        .record(mark::attribute_list, {5, 0, 0})
        .record(14, {1, 5, 1, 5, 1, 5, 1, 5})
        .stamp(b)
        .raw({40, 0xFF})
        .fixed(9)
        .raw({5, 5, 5, 5, 5, 5, 5, 5, 5})
        .record(200, {5, 1})
        .end()
        .bytes();
  };
  EXPECT_EQ(retimed(file(100, 200), map_of({{0, 0}, {1000, 1000}})), file(200, 400));
}

TEST_F(Retime, identity_is_a_copy_byte_for_byte) {
  const Bytes nonsense{1, 2, 3};  // not even looked at
  EXPECT_EQ(retimed(nonsense, {}), nonsense);
  EXPECT_EQ(retimed(nonsense, map_of({{0, 0}, {1000, 0}})), nonsense);
  EXPECT_EQ(retimed(nonsense, map_of({{0, 7}})), nonsense);  // a lone knot counts for nothing
}

TEST_F(Retime, stop_time_of_a_flush_moves_too) {
  const auto file = [](std::uint64_t a, std::uint64_t stop, std::uint64_t b) {
    return ChunkBuilder().stamp(a).flush(stop).enter(1).stamp(b).enter(2).end().bytes();
  };
  EXPECT_EQ(retimed(file(100, 180, 200), shift_of(50)), file(150, 230, 250));
}

TEST_F(Retime, stop_time_is_never_before_the_flush) {
  const auto file = [](std::uint64_t a, std::uint64_t stop) {
    return ChunkBuilder().stamp(a).flush(stop).end().bytes();
  };
  EXPECT_EQ(retimed(file(100, 90), shift_of(50)), file(150, 150));
}

TEST_F(Retime, a_stop_time_moves_the_segment_forward_as_it_does_for_a_reader) {
  // Behind the stop time 180 the reader is in the segment from 150 on, also for the event at 120.
  const ClockMap map = map_of({{0, 0}, {150, 0}, {250, 100}});
  const auto file = [](std::uint64_t a, std::uint64_t stop, std::uint64_t b) {
    return ChunkBuilder().stamp(a).flush(stop).stamp(b).enter(2).end().bytes();
  };
  EXPECT_EQ(retimed(file(100, 180, 120), map), file(100, 210, 90));
}

TEST_F(Retime, byte_order_is_that_of_each_chunk) {
  const auto file = [](std::uint64_t shift) {
    ChunkBuilder little(false), big(true);
    little.stamp(100 + shift).enter(1).next_chunk(k_retime_chunk);
    big.stamp(0x10203 + shift).flush(0x10300 + shift).enter(0x1234).end();
    return little.bytes() + big.bytes();
  };
  EXPECT_EQ(retimed(file(0), shift_of(1)), file(1));
}

TEST_F(Retime, what_follows_the_end_mark_is_kept) {
  const Bytes tail(3 * k_retime_chunk + 17, mark::stamp);
  const auto file = [&](std::uint64_t time) {
    return ChunkBuilder().stamp(time).enter(1).end().bytes() + tail;
  };
  EXPECT_EQ(retimed(file(100), shift_of(1)), file(101));
}

TEST_F(Retime, fill_of_a_chunk_and_header_numbers_are_kept) {
  const auto file = [](std::uint64_t time) {
    Bytes first = ChunkBuilder().stamp(time).enter(1).raw({mark::end_of_chunk}).bytes();
    first.resize(k_retime_chunk, mark::stamp);  // anything behind the mark
    first[3] = 0x77;                            // number of the first event
    return first + ChunkBuilder().stamp(time + 5).enter(1).end().bytes();
  };
  EXPECT_EQ(retimed(file(100), shift_of(1)), file(101));
}

TEST_F(Retime, a_truncated_file_is_moved_as_far_as_it_goes) {
  const auto file = [](std::uint64_t time) {
    return ChunkBuilder().stamp(time).enter(1).raw({mark::stamp, 1, 2}).bytes();
  };
  EXPECT_EQ(retimed(file(100), shift_of(1)), file(101));
}

TEST_F(Retime, negative_times_are_refused) {
  const auto refused =
      try_retimed(ChunkBuilder().stamp(200).stamp(100).end().bytes(), shift_of(-101));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("from1"));
  EXPECT_THAT(refused.error().message, HasSubstr("a time stamp out of range"));
  const Bytes at_zero = ChunkBuilder().stamp(0).end().bytes();
  EXPECT_EQ(retimed(ChunkBuilder().stamp(100).end().bytes(), shift_of(-100)), at_zero);
}

TEST_F(Retime, times_that_no_reader_takes_are_refused) {
  // In a chunk that is too short for a hurry, and in one that is long enough.
  constexpr std::uint64_t k_large = 2048;
  const auto file = [](std::uint64_t last, int more) {
    ChunkBuilder chunk;
    chunk.stamp(0).enter(1).stamp(last).enter(2);
    for (; more > 0; --more) chunk.enter(3);
    return chunk.end().bytes();
  };
  const auto retime = [&](const Bytes& bytes, std::int64_t shift) {
    const fs::path from = folder_.put("from", bytes), to = folder_ / "to";
    const ClockMap map = shifted(shift);
    const auto done =
        retime_file({.from = from, .to = to, .chunk_size = k_large, .map = map}, Framing::events);
    fs::remove(from);
    fs::remove(to);
    return done;
  };
  for (const int events : {1, 200}) {
    EXPECT_TRUE(retime(file(k_last_time - 7, events), 7));
    const auto refused = retime(file(k_last_time - 7, events), 8);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("a time stamp out of range"));
  }
}

TEST_F(Retime, damage_is_refused_with_its_place) {
  const auto refused =
      try_retimed(ChunkBuilder().stamp(200).raw({mark::chunk_header}).end().bytes(), shift_of(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("damaged at byte 27"));
  EXPECT_FALSE(try_retimed(ChunkBuilder().stamp(1).record(10, {1, 2, 3}).end().bytes(),
                           shift_of(1)));  // a flush without room for its time
}

TEST_F(Retime, snapshots_repeat_times_of_earlier_events) {
  const auto file = [](std::uint64_t stamp, std::uint64_t original) {
    const Bytes time = ChunkBuilder().fixed(original).bytes();
    Bytes event(time.begin() + k_chunk_header_size, time.end());
    event.push_back(7);
    ChunkBuilder chunk;
    chunk.stamp(stamp).record(10, {1, 3});  // start: a number, no time
    chunk.record(12, event).record(29, event);
    return chunk.record(11, {1, 3}).record(30, {9, 9, 9, 9, 9, 9, 9, 9}).end().bytes();
  };
  // The original event lies in an earlier segment than the snapshot.
  EXPECT_EQ(retimed(file(300, 100), map_of({{0, 0}, {200, 0}, {300, 100}}), Framing::snapshots),
            file(400, 100));
}

TEST_F(Retime, events_before_a_stop_time_that_stands_alone_are_mapped_where_they_are) {
  const auto file = [](std::uint64_t flush, std::uint64_t stop, std::uint64_t inside) {
    return ChunkBuilder().stamp(flush).flush(stop).stamp(inside).enter(2).end().bytes();
  };
  const ClockMap map = map_of({{0, 0}, {300, 0}, {301, 50}, {500, 50}});
  const fs::path from = folder_.put("from", file(100, 400, 200)), to = folder_ / "to";
  const Retiming retiming{.from = from,
                          .to = to,
                          .chunk_size = k_retime_chunk,
                          .map = map,
                          .stops = StopTimes::stand_alone};
  ASSERT_TRUE(retime_file(retiming, Framing::events));
  EXPECT_EQ(contents(to), file(100, 450, 200));
}

/// Retimes event by event, as the definition of the clock map says.
class PlainRetimer {
 public:
  explicit PlainRetimer(const ClockMap& map) : cursor_(map) {}
  void chunk(std::uint8_t* bytes, bool big_endian) {
    chunk_ = bytes;
    big_endian_ = big_endian;
  }
  bool stamp(std::size_t offset, std::uint64_t time) {
    time_ = cursor_(time);
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(time_), big_endian_);
    return is_stamp(time_);
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type != event::buffer_flush) return true;
    if (size < 8) return false;
    const std::int64_t stop = cursor_(load_u64(chunk_ + offset, big_endian_));
    store_u64(chunk_ + offset, static_cast<std::uint64_t>(std::max(stop, time_)), big_endian_);
    return true;
  }

 private:
  ClockMap::Cursor cursor_;
  std::uint8_t* chunk_ = nullptr;
  bool big_endian_ = false;
  std::int64_t time_ = 0;
};

ClockMap random_map(testing::RandomChunks& random) {
  std::vector<ClockKnot> knots;
  std::uint64_t time = random.below(2000);
  for (std::uint64_t i = 2 + random.below(20); i > 0; --i) {
    knots.push_back({time, static_cast<std::int64_t>(random.below(2000)) - 300});
    time += 1 + random.below(random.one_in(2) ? 100'000 : 1000);
  }
  return map_of(std::move(knots));
}

TEST_F(Retime, in_a_hurry_it_writes_the_same) {
  constexpr std::size_t k_large = 2048;
  testing::RandomChunks random(1);
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    Bytes bytes = random.file(k_large, 1 + random.below(6));
    if (random.one_in(3)) bytes = random.damaged(bytes);
    const ClockMap map = random_map(random);
    const fs::path from = folder_ / "from", to = folder_ / "to";
    fs::remove(from);
    folder_.put("from", bytes);
    const Retiming retiming{.from = from, .to = to, .chunk_size = k_large, .map = map};
    PlainRetimer plain(map);
    bool good = true, in_records = true;
    for (std::size_t at = 0; in_records && at < bytes.size(); at += k_large) {
      const std::size_t size = std::min(k_large, bytes.size() - at);
      const ChunkWalk walk = walk_chunk<Framing::events>(bytes.data() + at, size, plain);
      in_records = walk.end == ChunkEnd::next_chunk;
      good = walk.end != ChunkEnd::damaged &&
             (walk.end != ChunkEnd::ran_out || at + size == bytes.size());
    }
    refused += good ? 0 : 1;
    fs::remove(to);
    const auto whole = retime_file(retiming, Framing::events);
    ASSERT_EQ(whole.has_value(), good) << "round " << round;
    if (good) {
      ASSERT_EQ(contents(to), bytes) << "round " << round;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 1200);
}

TEST_F(Retime, can_be_interrupted) {
  struct Cancelled : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } progress;
  const auto refused =
      try_retimed(ChunkBuilder().stamp(1).end().bytes(), shift_of(1), Framing::events, &progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace entrain::otf2
