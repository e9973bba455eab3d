// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otf2/filter_events.hpp"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

constexpr std::uint64_t k_filter_chunk = 96;

/// A filter made of a function.
class Chosen final : public EventFilter {
 public:
  using Choice = std::function<bool(const EventRecord&)>;
  explicit Chosen(Choice keeps, std::vector<MeasurementMark> marks = {})
      : keeps_(std::move(keeps)), marks_(std::move(marks)) {}
  bool keeps(const EventRecord& record) override { return keeps_(record); }
  [[nodiscard]] bool wants_regions() const override { return true; }
  [[nodiscard]] std::vector<MeasurementMark> marks() const override { return marks_; }

 private:
  Choice keeps_;
  std::vector<MeasurementMark> marks_;
};

bool all(const EventRecord&) { return true; }
bool no_message(const EventRecord& record) { return !record.kind; }

/// The two numbers of a chunk header.
Bytes numbered(Bytes chunk, std::uint64_t first, std::uint64_t last, bool big_endian = false) {
  store_chunk_header(chunk.data(), {first, last}, big_endian);
  return chunk;
}

class FilterEvents : public ::testing::Test {
 protected:
  Result<Bytes> try_filtered(const Bytes& before, EventFilter& filter,
                             Progress* progress = nullptr) {
    const std::string number = std::to_string(++files_);
    const fs::path from = folder_.put("from" + number, before), to = folder_ / ("to" + number);
    const auto done = filter_events(
        {.path = from, .chunk_size = k_filter_chunk, .local = local_, .references = references_},
        to, filter, progress);
    if (!done) return tl::unexpected(done.error());
    written_ = *done;
    EXPECT_EQ(contents(from), before) << "the input was changed";
    return contents(to);
  }
  Bytes filtered(const Bytes& before, Chosen::Choice keeps,
                 std::vector<MeasurementMark> marks = {}) {
    Chosen filter(std::move(keeps), std::move(marks));
    auto after = try_filtered(before, filter);
    EXPECT_TRUE(after) << after.error().message;
    return after.value_or(Bytes());
  }

  TempFolder folder_;
  LocalDefinitions local_;
  References references_;
  FilteredEvents written_;

 private:
  int files_ = 0;
};

TEST_F(FilterEvents, a_lost_record_leaves_its_stamp_to_the_next_one) {
  const Bytes send{1, 3, 0, 1, 5, 0};
  const Bytes before = ChunkBuilder()
                           .stamp(1000)
                           .enter(7)
                           .stamp(1010)
                           .record(event::mpi_send, send)
                           .raw({event::leave, 1, 7})
                           .stamp(1020)
                           .record(event::mpi_send, send)
                           .stamp(1030)
                           .enter(8)
                           .end()
                           .bytes();
  const Bytes after = ChunkBuilder()
                          .stamp(1000)
                          .enter(7)
                          .stamp(1010)
                          .raw({event::leave, 1, 7})
                          .stamp(1030)
                          .enter(8)
                          .end()
                          .bytes();
  EXPECT_EQ(filtered(before, no_message), numbered(after, 1, 3));
  EXPECT_EQ(written_.events, 3u);
}

TEST_F(FilterEvents, attribute_lists_go_with_their_records) {
  const auto file = [](bool with_send) {
    ChunkBuilder chunk;
    chunk.stamp(10).record(mark::attribute_list, {1, 1}).enter(1);
    if (with_send) {
      chunk.record(mark::attribute_list, {2, 2})
          .record(event::mpi_send, {0, 0, 0, 0})
          .record(mark::attribute_list, {3});  // of the next record, whose stamp comes after it
    } else {
      chunk.stamp(20).record(mark::attribute_list, {3});
      return chunk.enter(2).end().bytes();
    }
    return chunk.stamp(20).enter(2).end().bytes();
  };
  EXPECT_EQ(filtered(file(true), no_message), numbered(file(false), 1, 2));
}

TEST_F(FilterEvents, unknown_records_and_long_lengths_stay) {
  const Bytes before = ChunkBuilder()
                           .stamp(10)
                           .raw({200, 0xFF})
                           .fixed(3)
                           .raw({7, 8, 9})
                           .raw({event::enter, 0xFF})
                           .end()
                           .bytes();
  EXPECT_EQ(filtered(before, all), numbered(before, 1, 2));
}

TEST_F(FilterEvents, chunks_are_filled_up_again_and_count_their_events) {
  // Four events of 12 bytes and a message between any two; a chunk has room for 76 bytes.
  ChunkBuilder first, second;
  Bytes message{0, 0, 0, 0};
  for (std::uint64_t i = 0; i < 3; ++i) {
    first.stamp(100 + i).enter(i + 1).record(event::mpi_send, message);
  }
  for (std::uint64_t i = 3; i < 7; ++i) {
    second.stamp(100 + i).enter(i + 1).record(event::mpi_send, message);
  }
  const Bytes before = first.next_chunk(k_filter_chunk).bytes() + second.end().bytes();
  ChunkBuilder left, rest;
  for (std::uint64_t i = 0; i < 6; ++i) left.stamp(100 + i).enter(i + 1);
  rest.stamp(106).enter(7);
  EXPECT_EQ(filtered(before, no_message), numbered(left.next_chunk(k_filter_chunk).bytes(), 1, 6) +
                                              numbered(rest.end().bytes(), 7, 7));
}

TEST_F(FilterEvents, every_chunk_begins_with_a_stamp) {
  ChunkBuilder first, second;
  first.stamp(100);
  for (int i = 0; i < 22; ++i) first.raw({event::enter, 1, i});  // up to 3 bytes before the end
  second.stamp(100).raw({event::enter, 1, 22});
  const Bytes before = numbered(first.next_chunk(k_filter_chunk).bytes(), 1, 22) +
                       numbered(second.end().bytes(), 23, 23);
  EXPECT_EQ(filtered(before, all), before);
}

TEST_F(FilterEvents, byte_order_is_that_of_each_chunk) {
  ChunkBuilder little(false), big(true);
  little.stamp(100).enter(1).record(event::mpi_send, {0, 0, 0, 0}).next_chunk(k_filter_chunk);
  big.stamp(0x10203).enter(0x1234).end();
  ChunkBuilder left(false);
  left.stamp(100).enter(1).next_chunk(k_filter_chunk);
  EXPECT_EQ(filtered(little.bytes() + big.bytes(), no_message),
            numbered(left.bytes(), 1, 1) + numbered(big.bytes(), 2, 2, true));
}

TEST_F(FilterEvents, what_is_told_of_a_record_is_right) {
  references_.regions = {{70, 0}, {80, 1}};
  const Bytes before = ChunkBuilder()
                           .stamp(10)
                           .record(event::mpi_isend, {0, 0, 0, 0, 1, 9})
                           .enter(70)
                           .raw({event::mpi_isend_complete, 1, 9})
                           .enter(80)
                           .record(event::mpi_collective_end, {11, 0, 0xFF, 0, 0})
                           .raw({event::leave, 1, 80})
                           .record(event::nb_collective_complete, {1, 0, 0xFF, 0, 0, 1, 4})
                           .end()
                           .bytes();
  std::vector<EventRecord> seen;
  filtered(before, [&](const EventRecord& record) {
    if (record.kind) seen.push_back(record);
    return true;
  });
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].kind, RecordKind::isend);
  EXPECT_EQ(seen[0].request, 9u);
  EXPECT_EQ(seen[0].region, k_none);
  EXPECT_EQ(seen[0].time, 10u);
  EXPECT_EQ(seen[1].kind, RecordKind::isend_complete);
  EXPECT_EQ(seen[1].request, 9u);
  EXPECT_EQ(seen[1].region, 0u);
  EXPECT_EQ(seen[2].op, 11);
  EXPECT_EQ(seen[2].region, 1u);
  EXPECT_EQ(seen[3].kind, RecordKind::nb_complete);
  EXPECT_EQ(seen[3].op, 1);
  EXPECT_EQ(seen[3].request, 4u);
  EXPECT_EQ(seen[3].region, 0u);
}

TEST_F(FilterEvents, marks_stand_before_the_first_record_of_their_time) {
  const Bytes before = ChunkBuilder().stamp(10).enter(1).stamp(30).enter(2).end().bytes();
  const std::vector<MeasurementMark> marks{{20, false}, {30, true}, {31, false}};
  const Bytes after = ChunkBuilder()
                          .stamp(10)
                          .enter(1)
                          .stamp(20)
                          .record(event::measurement_on_off, {2})
                          .stamp(30)
                          .record(event::measurement_on_off, {1})
                          .enter(2)
                          .end()
                          .bytes();
  EXPECT_EQ(filtered(before, all, marks), numbered(after, 1, 4));
  EXPECT_EQ(written_.marks, 2u);
}

TEST_F(FilterEvents, an_empty_file_stays_empty) {
  const Bytes nothing = ChunkBuilder().end().bytes();
  EXPECT_EQ(filtered(nothing, all), nothing);
  const Bytes one = ChunkBuilder().stamp(10).record(event::mpi_send, {0, 0, 0, 0}).end().bytes();
  EXPECT_EQ(filtered(one, no_message), nothing);
}

TEST_F(FilterEvents, a_truncated_file_stays_truncated) {
  const auto cut = [](Bytes bytes) {
    bytes.resize(bytes.size() - 3);
    return bytes;
  };
  const Bytes before = cut(ChunkBuilder().stamp(10).enter(1).enter(2).bytes());
  const Bytes after = ChunkBuilder().stamp(10).enter(1).bytes();
  EXPECT_EQ(filtered(before, all), numbered(after, 1, 1));
  EXPECT_EQ(filtered(cut(after), all), Bytes());
}

TEST_F(FilterEvents, what_follows_the_end_mark_is_left_out) {
  const Bytes file = ChunkBuilder().stamp(10).enter(1).end().bytes();
  EXPECT_EQ(filtered(file + Bytes(200, 7), all), numbered(file, 1, 1));
}

TEST_F(FilterEvents, damage_is_named) {
  const auto refusal = [&](const Bytes& bytes) {
    Chosen filter(all);
    const auto result = try_filtered(bytes, filter);
    EXPECT_FALSE(result);
    if (result) return std::string();
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    return result.error().message;
  };
  EXPECT_THAT(refusal(Bytes(30, 7)), HasSubstr("damaged"));
  EXPECT_THAT(refusal(ChunkBuilder().enter(1).end().bytes()), HasSubstr("damaged"));  // no time
  EXPECT_THAT(refusal(ChunkBuilder().stamp(k_last_time + 1).enter(1).end().bytes()),
              HasSubstr("damaged"));
  EXPECT_THAT(refusal(ChunkBuilder().stamp(1).record(event::mpi_collective_end, {}).end().bytes()),
              HasSubstr("damaged"));
}

TEST_F(FilterEvents, an_event_that_fits_only_without_a_stamp_of_its_own_is_refused) {
  // The time comes from the chunk before.
  const Bytes first = ChunkBuilder().stamp(10).enter(1).next_chunk(k_filter_chunk).bytes();
  ChunkBuilder second;
  second.record(200, Bytes(k_filter_chunk - k_chunk_header_size - 2 - 2)).end();
  ASSERT_EQ(second.bytes().size(), k_filter_chunk);
  Chosen filter(all);
  const auto result = try_filtered(first + second.bytes(), filter);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("does not fit"));
}

TEST_F(FilterEvents, can_be_interrupted) {
  struct Never final : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } never;
  Chosen filter(all);
  const auto result = try_filtered(ChunkBuilder().stamp(1).enter(1).end().bytes(), filter, &never);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
}

TEST_F(FilterEvents, time_that_runs_backward_is_refused) {
  Chosen filter(all);
  const auto refused =
      try_filtered(ChunkBuilder().stamp(10).enter(1).stamp(9).enter(2).end().bytes(), filter);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("time runs backward"));
}

}  // namespace
}  // namespace entrain::otf2
