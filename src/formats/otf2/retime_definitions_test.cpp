// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/retime.hpp"

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::ChunkBuilder;
using testing::contents;
using ::testing::HasSubstr;
using testing::TempFolder;

constexpr std::uint64_t k_definition_chunk = 256 * 1024;
constexpr std::uint64_t k_undefined = ~std::uint64_t{0};

class RetimeDefinitions : public ::testing::Test {
 protected:
  /// The global definition file with times that now span [first, last].
  Bytes global(const Bytes& before, std::int64_t first, std::int64_t last) {
    return rewritten(before, [&](const fs::path& from, const fs::path& to) {
      return write_global_definitions({from, k_definition_chunk}, to, {first, last});
    });
  }
  Bytes neutral(const Bytes& before) {
    return rewritten(before, [&](const fs::path& from, const fs::path& to) {
      return write_neutral_definitions(records(from), {from, k_definition_chunk}, to);
    });
  }
  Bytes local(const Bytes& before, const std::vector<trace::ClockOffset>& offsets) {
    return rewritten(before, [&](const fs::path& from, const fs::path& to) {
      return write_local_definitions(records(from), {from, k_definition_chunk}, to, false, offsets);
    });
  }

  static std::optional<DefinitionFile> records(const fs::path& path) {
    return read_definition_file_if_any(path, k_definition_chunk).value();
  }

  TempFolder folder_;

 private:
  template <class Write>
  Bytes rewritten(const Bytes& before, const Write& write) {
    const std::string number = std::to_string(++files_);
    const fs::path to = folder_ / ("to" + number);
    const Result<void> done = write(folder_.put("from" + number, before), to);
    EXPECT_TRUE(done) << done.error().message;
    return contents(to);
  }
  int files_ = 0;
};

/// ClockProperties between two other records.
Bytes global_file(const Bytes& clock, bool big_endian = false) {
  return ChunkBuilder(big_endian)
      .record(10, {1, 1, 'x', 0})
      .record(def::clock_properties, clock)
      .record(10, {1, 2, 'y', 0})
      .end()
      .bytes();
}

TEST_F(RetimeDefinitions, a_range_that_holds_the_times_stays) {
  // 1000 ticks per second, offset 0x1000, length 0x20, real time unknown.
  const Bytes before = global_file({2, 0xE8, 3, 2, 0, 0x10, 1, 0x20, 0xFF});
  EXPECT_EQ(global(before, 0x1000, 0x1020), before);
  EXPECT_EQ(global(before, 0x1005, 0x1006), before);  // too wide is no mistake
}

TEST_F(RetimeDefinitions, new_numbers_are_packed_as_the_library_does) {
  EXPECT_EQ(global(global_file({2, 0xE8, 3, 2, 0, 0x10, 1, 0x20, 0xFF}), 2, 0x1030),
            global_file({2, 0xE8, 3, 1, 2, 2, 0x2E, 0x10, 0xFF}));
  EXPECT_EQ(global(global_file({2, 3, 0xE8, 2, 0x10, 0, 3, 0, 0, 0x20, 0xFF}, true), 2, 0x1030),
            global_file({2, 3, 0xE8, 1, 2, 2, 0x10, 0x2E, 0xFF}, true));
  EXPECT_EQ(global(global_file({2, 0xE8, 3, 2, 0, 0x10, 1, 0x20, 0xFF}), 0x1000, 0x11000),
            global_file({2, 0xE8, 3, 2, 0, 0x10, 3, 0, 0, 1, 0xFF}));
  EXPECT_EQ(global(global_file({2, 0xE8, 3, 2, 0, 0x10, 1, 0x20, 1, 5}), 0x1000, 0x1100),
            global_file({2, 0xE8, 3, 2, 0, 0x10, 2, 0, 1, 1, 5}));
  EXPECT_EQ(global(global_file({2, 0xE8, 3, 2, 0, 0x10, 1, 0x20}), 0x1000, 0x1100),
            global_file({2, 0xE8, 3, 2, 0, 0x10, 2, 0, 1}));  // before OTF2 3.0
}

TEST_F(RetimeDefinitions, real_time_moves_with_the_offset) {
  // 1000 ticks per second: 0x100 ticks earlier are 256 ms.
  const std::uint64_t realtime = 1'700'000'000'000'000'000;
  const auto clock = [](std::uint64_t offset, std::uint64_t length, std::uint64_t real) {
    const Bytes bytes = ChunkBuilder()
                            .compressed(1000)
                            .compressed(offset)
                            .compressed(length)
                            .compressed(real)
                            .bytes();
    return Bytes(bytes.begin() + k_chunk_header_size, bytes.end());
  };
  EXPECT_EQ(global(global_file(clock(0x1200, 0x5000, realtime)), 0x1100, 0x1300),
            global_file(clock(0x1100, 0x5100, realtime - 256'000'000)));
  EXPECT_EQ(global(global_file(clock(0x1200, 0x5000, realtime)), 0x1200, 0x6300),
            global_file(clock(0x1200, 0x5100, realtime)));
}

/// Time, offset, deviation of a ClockOffset record.
Bytes offset_record(std::uint64_t time, const Bytes& offset) {
  const Bytes head = ChunkBuilder().fixed(time).bytes();
  Bytes bytes(head.begin() + k_chunk_header_size, head.end());
  bytes.insert(bytes.end(), offset.begin(), offset.end());
  bytes.resize(bytes.size() + 8);  // deviation 0
  return bytes;
}

TEST_F(RetimeDefinitions, clock_offsets_are_neutralised_in_place) {
  const auto file = [](const Bytes& first, const Bytes& second, const Bytes& third) {
    return ChunkBuilder()
        .record(def::local_mapping_table, {6, 1, 1, 0, 1, 5})
        .record(def::local_clock_offset, offset_record(10, first))
        .record(def::local_clock_offset, offset_record(20, second))
        .record(def::local_clock_offset, offset_record(30, third))
        .end()
        .bytes();
  };
  EXPECT_EQ(neutral(file({2, 0x34, 0x12}, {8, 0xFE, 255, 255, 255, 255, 255, 255, 255}, {0xFF})),
            file({2, 0, 0}, {8, 0, 0, 0, 0, 0, 0, 0, 0}, {0}));
  EXPECT_EQ(neutral(file({0}, {1, 0}, {0})), file({0}, {1, 0}, {0}));
}

// No reader takes such a file, whatever the offsets are.
TEST_F(RetimeDefinitions, clock_offsets_out_of_order_are_left_out) {
  const Bytes table{6, 1, 1, 0, 1, 5};
  for (const std::uint64_t second : {10u, 9u}) {
    const Bytes before = ChunkBuilder()
                             .record(def::local_clock_offset, offset_record(10, {1, 7}))
                             .record(def::local_mapping_table, table)
                             .record(def::local_clock_offset, offset_record(second, {1, 8}))
                             .end()
                             .bytes();
    EXPECT_EQ(neutral(before),
              ChunkBuilder().record(def::local_mapping_table, table).end().bytes());
  }
}

TEST_F(RetimeDefinitions, a_missing_file_stays_missing) {
  const fs::path from = folder_ / "none", to = folder_ / "to";
  EXPECT_TRUE(write_neutral_definitions(records(from), {from, k_definition_chunk}, to));
  EXPECT_TRUE(write_local_definitions(records(from), {from, k_definition_chunk}, to, false, {}));
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(RetimeDefinitions, new_clock_offsets_replace_the_old_ones) {
  const Bytes table{6, 1, 1, 0, 1, 5};
  const Bytes before = ChunkBuilder()
                           .record(def::local_clock_offset, offset_record(10, {1, 7}))
                           .record(def::local_mapping_table, table)
                           .record(def::local_clock_offset, offset_record(20, {1, 8}))
                           .end()
                           .bytes();
  EXPECT_EQ(local(before, {{100, 300, 0}, {200, -1, 0}}),
            ChunkBuilder()
                .record(def::local_mapping_table, table)
                .record(def::local_clock_offset, offset_record(100, {2, 44, 1}))
                // Signed: -1 is eight bytes, not "undefined".
                .record(def::local_clock_offset,
                        offset_record(200, {8, 255, 255, 255, 255, 255, 255, 255, 255}))
                .end()
                .bytes());
  // Exactly the old ones: nothing is touched, not even their places.
  EXPECT_EQ(local(before, {{10, 7, 0}, {20, 8, 0}}), before);
  EXPECT_EQ(local(before, {}),
            ChunkBuilder().record(def::local_mapping_table, table).end().bytes());
}

TEST_F(RetimeDefinitions, clock_offsets_without_a_file_make_one) {
  for (const bool big_endian : {false, true}) {
    const fs::path to = folder_ / (big_endian ? "big" : "little");
    const std::vector<trace::ClockOffset> offsets{{1, 2, 0.5}};
    ASSERT_TRUE(write_local_definitions({}, {folder_ / "none", k_definition_chunk}, to, big_endian,
                                        offsets));
    const Bytes payload = ChunkBuilder(big_endian)
                              .fixed(1)
                              .compressed(2)
                              .fixed(std::bit_cast<std::uint64_t>(0.5))
                              .bytes();
    EXPECT_EQ(contents(to), ChunkBuilder(big_endian)
                                .record(def::local_clock_offset,
                                        {payload.begin() + k_chunk_header_size, payload.end()})
                                .end()
                                .bytes());
  }
}

/// A copy of a recorded archive with a marker file.
class Markers : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(testing::example("allops-4", ""), folder_ / "a", fs::copy_options::recursive);
    fs::permissions(folder_ / "a", fs::perms::owner_all, fs::perm_options::add);
  }
  Bytes written(const std::vector<Bytes>& markers,
                const std::function<std::int64_t(LocationIndex, std::uint64_t)>& time) {
    folder_.put("a/traces.marker", file(markers));
    auto archive = Archive::open(folder_ / "a");
    EXPECT_TRUE(archive);
    std::vector<std::int64_t> times;
    if (time) {
      const auto old = read_marker_times(**archive);
      EXPECT_TRUE(old);
      for (const MarkerTime& marker : *old) times.push_back(time(marker.location, marker.time));
    }
    const Result<void> done = write_markers(**archive, folder_ / "to", times);
    EXPECT_TRUE(done) << done.error().message;
    Bytes bytes = contents(folder_ / "to");
    fs::remove(folder_ / "to");
    fs::remove(folder_ / "a" / "traces.marker");
    return bytes;
  }
  static Bytes file(const std::vector<Bytes>& markers) {
    ChunkBuilder chunk;
    chunk.record(5, {1, 2, 3});  // the definition of a marker
    for (const Bytes& marker : markers) chunk.record(6, marker);
    return chunk.end().bytes();
  }
  static Bytes marker(std::uint64_t time, std::uint64_t duration, int scope,
                      std::uint64_t location) {
    const Bytes bytes = ChunkBuilder()
                            .compressed(time)
                            .compressed(duration)
                            .raw({1, 7, scope})
                            .compressed(location)
                            .raw({'h', 'i', 0})
                            .bytes();
    return {bytes.begin() + k_chunk_header_size, bytes.end()};
  }

  TempFolder folder_;
};

TEST_F(Markers, move_with_their_location_and_keep_the_rest) {
  const auto time = [](LocationIndex location, std::uint64_t t) {
    if (location == k_none) return static_cast<std::int64_t>(t) - 1;
    return static_cast<std::int64_t>(2 * t + 1'000 * location);
  };
  constexpr int k_global = 0, k_location = 1, k_location_group = 2;
  EXPECT_EQ(written({marker(300, 10, k_location, 2), marker(300, 0, k_global, 0),
                     marker(300, 10, k_location_group, 2), marker(0, 0, k_global, 0)},
                    time),
            file({marker(2'600, 20, k_location, 2), marker(299, 0, k_global, 0),
                  marker(299, 10, k_location_group, 2), marker(0, 0, k_global, 0)}));
}

TEST_F(Markers, stay_byte_for_byte_if_no_time_changes) {
  const Bytes wide{3, 5, 0, 0, 0, 1, 7, 0, 0, 0};  // a time in more bytes than it needs
  EXPECT_EQ(
      written({wide}, [](LocationIndex, std::uint64_t t) { return static_cast<std::int64_t>(t); }),
      file({wide}));
  EXPECT_EQ(written({wide}, nullptr), file({wide}));
}

TEST_F(Markers, too_short_ones_are_refused) {
  folder_.put("a/traces.marker", file({{2, 1}}));
  auto archive = Archive::open(folder_ / "a");
  ASSERT_TRUE(archive);
  const auto refused = read_marker_times(**archive);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("traces.marker is damaged"));
}

}  // namespace
}  // namespace entrain::otf2
