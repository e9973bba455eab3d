// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/event_writer.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "formats/otf2/format/testing.hpp"
#include "formats/otf2/format/walk.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::contents;
using testing::TempFolder;

constexpr std::uint64_t k_writer_chunk =
    8192;  // writers do not ask for the sizes that readers want
constexpr std::uint64_t k_start = 1'000'000;

// The example in format.hpp.
TEST(EventWriter, writes_the_bytes_of_the_example) {
  const TempFolder folder;
  EventWriter out(folder / "0.evt", k_writer_chunk, EventWriter::k_least_buffer);
  out.enter(1000, 7);
  out.mpi_send(1010, {3, 0, 5, 4096});
  ASSERT_TRUE(out.close());
  EXPECT_EQ(contents(folder / "0.evt"),
            (Bytes{0x03, 0x42, 1,    0,    0, 0,    0, 0, 0, 0, 2,    0, 0, 0,    0,    0,    0,
                   0,    0x05, 0xE8, 0x03, 0, 0,    0, 0, 0, 0, 0x0C, 1, 7, 0x05, 0xF2, 0x03, 0,
                   0,    0,    0,    0,    0, 0x0E, 8, 1, 3, 0, 1,    5, 2, 0,    0x10, 2,    1}));
}

/// A stream with all kinds of records, small and large numbers, and equal stamps. Writes a whole
/// number of rounds.
void write_rounds(EventWriter& out, std::uint64_t rounds) {
  std::uint64_t t = k_start;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const auto n = static_cast<std::uint32_t>(i * 2'654'435'761u);
    out.enter(t += 1 + i % 3, static_cast<std::uint32_t>(i % 300));
    out.mpi_collective_begin(t);
    out.mpi_collective_end(t += 5, {11, n, i % 2 == 0 ? k_none : n, ~std::uint64_t{i}, i});
    out.mpi_irecv_request(t += 7, i);
    out.mpi_isend(t += 1, {n, 0, 1, i << 20}, ~std::uint64_t{0} - i);
    out.mpi_irecv(t += 1, {1, n, 2, 0}, i);
    out.mpi_isend_complete(t, ~std::uint64_t{0} - i);
    out.mpi_send(t += 1'000'000'000'000, {3, 4, 5, 6});
    out.mpi_recv(t += 1, {n, n, n, ~std::uint64_t{1}});
    out.nb_collective_request(t += 1, 9);
    out.nb_collective_complete(t += 1, {1, 2, 0, 77, 78}, 9);
    out.leave(t += 1, static_cast<std::uint32_t>(i % 300));
  }
}
constexpr std::uint64_t k_per_round = 12;

/// The findings of a walk over a file.
struct Found {
  std::vector<std::uint64_t> times;  ///< times of records
  std::vector<int> types;
  std::uint64_t now = 0;
  bool stamped = false;  ///< the chunk has shown a stamp
  std::uint64_t first = 0, last = 0;

  void chunk(const std::uint8_t* bytes, bool big_endian) {
    EXPECT_FALSE(big_endian);
    first = load_u64(bytes + 2, false);
    last = load_u64(bytes + 10, false);
    EXPECT_EQ(first, times.size() + 1);
    stamped = false;
  }
  bool stamp(std::size_t, std::uint64_t time) {
    EXPECT_TRUE(time > now || !stamped) << "a stamp that says nothing new";
    EXPECT_GE(time, now);
    now = time;
    stamped = true;
    return true;
  }
  bool record(std::uint8_t type, std::size_t, std::size_t) {
    EXPECT_TRUE(stamped) << "every chunk can be read alone";
    times.push_back(now);
    types.push_back(type);
    return true;
  }
};

/// Walks all chunks and holds them to the format.
Found walk_all(Bytes bytes, std::uint64_t chunk_size) {
  Found found;
  for (std::size_t at = 0; at < bytes.size(); at += chunk_size) {
    const std::size_t size = std::min<std::size_t>(chunk_size, bytes.size() - at);
    const ChunkWalk walk = walk_chunk<Framing::events>(bytes.data() + at, size, found);
    const bool is_last = at + size == bytes.size();
    EXPECT_EQ(walk.end, is_last ? ChunkEnd::end_of_file : ChunkEnd::next_chunk) << walk.problem;
    EXPECT_EQ(found.last, found.times.size());
    if (is_last) {
      EXPECT_EQ(walk.offset + 1, size);  // the mark behind the mark
    }
  }
  return found;
}

Bytes written(std::uint64_t rounds, std::uint64_t chunk_size, std::size_t buffer_size) {
  const TempFolder folder;
  EventWriter out(folder / "0.evt", chunk_size, buffer_size);
  write_rounds(out, rounds);
  EXPECT_EQ(out.events(), rounds * k_per_round);
  EXPECT_TRUE(out.close());
  Bytes bytes = contents(folder / "0.evt");
  EXPECT_EQ(out.size(), bytes.size());
  return bytes;
}

TEST(EventWriter, writes_chunks_that_can_be_read) {
  for (const std::uint64_t rounds : {0, 1, 30, 2000}) {
    const Bytes bytes = written(rounds, k_writer_chunk, k_writer_chunk);
    EXPECT_EQ(walk_all(bytes, k_writer_chunk).times.size(), rounds * k_per_round);
  }
}

TEST(EventWriter, writes_the_bytes_of_the_format) {
  const TempFolder folder;
  EventWriter out(folder / "0.evt", k_writer_chunk, k_writer_chunk);
  out.enter(5, 0);
  out.mpi_collective_begin(5);
  out.leave(0x0102, 7);
  out.mpi_collective_end(0x0102, {11, 0, k_none, 256, 8});
  out.mpi_send(0x0103, {1, 0, 2, 0});
  ASSERT_TRUE(out.close());
  testing::ChunkBuilder expected;
  expected.stamp(5).raw({12, 0}).raw({22, 0});
  expected.stamp(0x0102).raw({13, 1, 7}).raw({23, 8, 11, 0, 0xFF, 2, 0, 1, 1, 8});
  expected.stamp(0x0103).raw({14, 6, 1, 1, 0, 1, 2, 0}).end();
  Bytes bytes = expected.bytes();
  bytes[10] = 5;  // number of the last event
  EXPECT_EQ(contents(folder / "0.evt"), bytes);
}

TEST(EventWriter, gives_the_same_bytes_with_any_buffer) {
  const Bytes expected = written(3000, 4 * k_writer_chunk, 4 * k_writer_chunk);
  for (const std::size_t buffer : {0, 4096, 5000, 12345, 1 << 20}) {
    EXPECT_EQ(written(3000, 4 * k_writer_chunk, buffer), expected) << buffer;
  }
}

TEST(EventWriter, raw_records_share_stamps_and_fill_chunks) {
  const TempFolder folder;
  constexpr std::uint64_t k_small_chunk = 4096;
  EventWriter out(folder / "0.evt", k_small_chunk, k_small_chunk);
  const Bytes enter{event::enter, 1, 3};
  for (int i = 0; i < 4000; ++i) EXPECT_TRUE(out.raw(7 + i / 2, enter));
  EXPECT_FALSE(out.raw(1, Bytes(k_small_chunk - 28, 0))) << "too large with its stamp";
  ASSERT_TRUE(out.close());
  const Found found = walk_all(contents(folder / "0.evt"), k_small_chunk);
  EXPECT_EQ(found.times.size(), 4000u);
  EXPECT_EQ(found.now, 7 + 1999u);
}

TEST(EventWriter, chunks_have_one_byte_order) {
  const TempFolder folder;
  EventWriter out(folder / "0.evt", k_writer_chunk, k_writer_chunk);
  out.set_byte_order(true);
  EXPECT_TRUE(out.raw(0x0102, Bytes{event::enter, 1, 3}));
  out.set_byte_order(false);
  EXPECT_TRUE(out.raw(0x0102, Bytes{event::leave, 1, 3}));
  ASSERT_TRUE(out.close(false));
  const Bytes bytes = contents(folder / "0.evt");
  ASSERT_EQ(bytes.size(), k_writer_chunk + k_chunk_header_size + 9 + 3);
  EXPECT_EQ(bytes[1], k_big_endian);
  EXPECT_EQ(load_u64(bytes.data() + k_last_event_field, true), 1u);
  EXPECT_EQ(load_u64(bytes.data() + k_chunk_header_size + 1, true), 0x0102u);
  EXPECT_EQ(bytes[k_writer_chunk + 1], k_little_endian);
  EXPECT_EQ(load_u64(bytes.data() + k_writer_chunk + 2, false), 2u);
}

TEST(EventWriter, a_file_without_events_and_end_is_empty) {
  const TempFolder folder;
  EventWriter out(folder / "0.evt", k_writer_chunk, k_writer_chunk);
  ASSERT_TRUE(out.close(false));
  EXPECT_TRUE(contents(folder / "0.evt").empty());
}

TEST(EventWriter, reports_a_file_that_cannot_be_written) {
  const TempFolder folder;
  EventWriter out(folder / "missing/0.evt", k_writer_chunk, EventWriter::k_least_buffer);
  EXPECT_TRUE(out.ok());
  write_rounds(out, 2000);
  EXPECT_FALSE(out.ok());
  const auto closed = out.close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().kind, ErrorKind::output);
  EXPECT_NE(closed.error().message.find("0.evt"), std::string::npos);
}

TEST(EventWriter, does_not_write_over_a_file) {
  const TempFolder folder;
  const auto path = folder.put("0.evt", Bytes{1, 2, 3});
  EventWriter out(path, k_writer_chunk, k_writer_chunk);
  EXPECT_FALSE(out.close());
  EXPECT_EQ(contents(path), (Bytes{1, 2, 3}));
}

}  // namespace
}  // namespace entrain::otf2
