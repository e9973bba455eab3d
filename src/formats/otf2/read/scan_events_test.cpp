// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/event_file.hpp"

#include <string>

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/random_chunks_testing.hpp"
#include "formats/otf2/read/scanner.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using testing::RandomChunks;
using testing::TempFolder;
using testing::Unhurried;
using testing::operator+;

constexpr std::size_t k_event_chunk = 2048;

/// Regions 0 to 12 have all the roles, if any has one; ids from 100 on are no definition. Attribute
/// 5 names partners and attribute 6 accelerators, if there are roles.
References some_references(bool roles) {
  References references;
  for (std::uint32_t id = 0; id < 100; ++id) {
    references.regions[id] = id;
    references.region_roles.push_back(roles && id < 13 ? static_cast<RegionRole>(id)
                                                       : RegionRole::other);
    if (id % 3 > 0) references.comms[id] = references.windows[id] = references.groups[id] = id + 1;
    if (id % 4 > 0) references.partners[id] = id + 2;
  }
  references.any_region_role = roles;
  if (roles) references.partners_attribute = 5;
  if (roles) references.stream_attribute = 6;
  for (std::uint64_t id = 0; id < 100; id += 3) references.accelerators[id] = 7;
  return references;
}

std::string as_text(const trace::LocationSkeleton& s) {
  std::string text = fmt::format("{} events {}..{} granule {} unknown {} undefined {} {} '{}'\n",
                                 s.event_count, s.first, s.last, s.granule, s.unknown_records,
                                 s.undefined_references, s.truncated, s.decreasing);
  for (const trace::Event& e : s.events) {
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", e.time, static_cast<int>(e.kind), e.id,
                        e.comm, e.peer, e.tag, e.op, e.flags, e.more);
  }
  for (const trace::Gap& g : s.gaps) text += fmt::format("gap {}-{}\n", g.begin, g.end);
  for (const trace::FlushInterval& f : s.flushes) text += fmt::format("{}-{}\n", f.begin, f.end);
  return text;
}

template <class Result>
std::string as_text(const Result& result) {
  return result ? as_text(*result) : result.error().message;
}

/// Scans one chunk and tells everything that came of it.
std::string scan_chunk(Bytes bytes, const References& references, bool hurried) {
  const LocalDefinitions local;
  trace::LocationSkeleton skeleton;
  Scanner scanner(local, references, skeleton);
  Unhurried<Scanner> unhurried{scanner};
  const ChunkWalk walk = hurried
                             ? walk_chunk<Framing::events>(bytes.data(), bytes.size(), scanner)
                             : walk_chunk<Framing::events>(bytes.data(), bytes.size(), unhurried);
  const std::string end =
      fmt::format("end {} at {} {}\n", static_cast<int>(walk.end), walk.offset, walk.problem);
  // What a damaged file yields is thrown away.
  return walk.end == ChunkEnd::damaged ? end : end + as_text(skeleton);
}

static_assert(Hurries<Scanner> && !Hurries<Unhurried<Scanner>>);

TEST(Scan, in_a_hurry_it_finds_the_same_in_any_chunk) {
  RandomChunks random(1);
  for (int round = 0; round < 3000; ++round) {
    const References references = some_references(round % 4 > 0);
    Bytes bytes = random.file(k_event_chunk, 1);
    if (random.one_in(2)) bytes = random.damaged(bytes);
    ASSERT_EQ(scan_chunk(bytes, references, true), scan_chunk(bytes, references, false))
        << "round " << round;
  }
}

/// A file of one chunk: a call whose partners are string 9, then one without a list.
Bytes named_calls(bool big_endian) {
  ChunkBuilder chunk(big_endian);
  const auto end_record = [&](std::uint8_t operation, std::uint32_t comm) {
    ChunkBuilder fields(big_endian);
    fields.raw({operation}).compressed(comm).raw({0xFF}).compressed(8).compressed(8);
    chunk.record(event::mpi_collective_end,
                 {fields.bytes().begin() + k_chunk_header_size, fields.bytes().end()});
  };
  ChunkBuilder list(big_endian);
  list.compressed(2).compressed(7).raw({attribute_type::uint8, 99});
  list.compressed(5).raw({attribute_type::string}).compressed(9);
  const Bytes attributes(list.bytes().begin() + k_chunk_header_size, list.bytes().end());
  for (const std::uint8_t operation : {trace::op::alltoallv, trace::op::bcast}) {
    chunk.stamp(10).record(mark::attribute_list, attributes);
    end_record(operation, 1);
    chunk.stamp(20);
    end_record(operation, 1);
  }
  return chunk.end().bytes() + Bytes(400, 0);
}

TEST(Scan, partners_belong_to_the_next_record_and_to_calls_without_a_root) {
  for (const bool big_endian : {false, true}) {
    Bytes bytes = named_calls(big_endian);
    const LocalDefinitions local;
    const References references = some_references(true);
    trace::LocationSkeleton skeleton;
    Scanner scanner(local, references, skeleton);
    walk_chunk<Framing::events>(bytes.data(), bytes.size(), scanner);
    const auto& events = skeleton.events;
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[0].flags, trace::k_sent | trace::k_received | trace::k_partners);
    EXPECT_EQ(events[0].peer, references.partners.at(9));
    for (const std::size_t without : {1, 2, 3}) {
      EXPECT_EQ(events[without].flags, trace::k_sent | trace::k_received) << without;
      EXPECT_EQ(events[without].peer, trace::k_root_none) << without;
    }
  }
}

TEST(Scan, measurement_off_begins_a_gap_that_the_next_on_ends) {
  const std::uint8_t on = 1, off = 2;
  ChunkBuilder chunk(false);
  for (const auto& [time, mode] :
       {std::pair{10, on}, {20, off}, {30, off}, {40, on}, {50, on}, {60, off}}) {
    chunk.stamp(static_cast<std::uint64_t>(time)).record(event::measurement_on_off, {mode});
  }
  Bytes bytes = chunk.end().bytes() + Bytes(400, 0);
  const LocalDefinitions local;
  trace::LocationSkeleton skeleton;
  const References references = some_references(false);
  Scanner scanner(local, references, skeleton);
  walk_chunk<Framing::events>(bytes.data(), bytes.size(), scanner);
  const auto& gaps = skeleton.gaps;
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].begin, 20u);
  EXPECT_EQ(gaps[0].end, 40u);
  EXPECT_EQ(gaps[1].begin, 60u);
  EXPECT_EQ(gaps[1].end, trace::Gap::k_open);
}

/// Scans a file with these bytes.
Result<trace::LocationSkeleton> scan(const TempFolder& folder, const Bytes& bytes,
                                     const References& references) {
  std::filesystem::remove(folder / "x.evt");
  const auto path = folder.put("x.evt", bytes);
  return scan_events({path, k_event_chunk, LocalDefinitions(), references}, nullptr);
}

TEST(Scan, a_window_call_may_reach_over_several_chunks) {
  const auto start = static_cast<std::uint64_t>(RegionRole::win_start);
  const Bytes sync{1, 0, 1, 1, 1, 1};
  const auto chunk = [&](std::uint64_t time) {
    ChunkBuilder builder;
    builder.stamp(time).record(event::rma_group_sync, sync);
    return builder;
  };
  const Bytes bytes =
      chunk(10).enter(start).record(event::rma_group_sync, sync).next_chunk(k_event_chunk).bytes() +
      chunk(20).next_chunk(k_event_chunk).bytes() +
      chunk(30).raw({event::leave}).compressed(start).next_chunk(k_event_chunk).bytes() +
      chunk(40).end().bytes();
  const auto skeleton = scan(TempFolder(), bytes, some_references(true));
  ASSERT_TRUE(skeleton) << skeleton.error().message;
  std::vector<std::pair<std::uint64_t, trace::RmaGroupRole>> syncs;
  for (const trace::Event& e : skeleton->events) {
    syncs.emplace_back(e.time, static_cast<trace::RmaGroupRole>(e.op));
  }
  const auto none = trace::RmaGroupRole::unknown, waits = trace::RmaGroupRole::start;
  EXPECT_THAT(
      syncs, ::testing::ElementsAre(std::pair(10, none), std::pair(30, waits), std::pair(30, waits),
                                    std::pair(30, waits), std::pair(40, none)));
}

/// A launch reads its stream, whatever partners the same list names, and nothing else.
TEST(Scan, streams_and_partners_of_one_list_are_not_mistaken_for_each_other) {
  constexpr std::uint32_t k_launch = static_cast<std::uint32_t>(RegionRole::kernel_launch);
  for (const bool names_stream : {true, false}) {
    ChunkBuilder list;
    list.compressed(names_stream ? 2 : 1).compressed(5).raw({attribute_type::string}).compressed(9);
    if (names_stream) list.compressed(6).raw({attribute_type::location}).compressed(3);
    const Bytes attributes(list.bytes().begin() + k_chunk_header_size, list.bytes().end());
    const auto skeleton = scan(TempFolder(),
                               ChunkBuilder()
                                   .stamp(10)
                                   .record(mark::attribute_list, attributes)
                                   .enter(k_launch)
                                   .end()
                                   .bytes(),
                               some_references(true));
    ASSERT_TRUE(skeleton) << skeleton.error().message;
    ASSERT_EQ(skeleton->events.size(), 1U);
    EXPECT_EQ(skeleton->events[0].kind, trace::EventKind::kernel_launch);
    EXPECT_EQ(skeleton->events[0].peer, names_stream ? 7U : k_none);
  }
}

TEST(Scan, a_chunk_that_begins_without_a_stamp_has_the_time_of_the_one_before) {
  const auto skeleton = scan(
      TempFolder(),
      ChunkBuilder().stamp(10).enter(20).next_chunk(k_event_chunk).bytes() +
          ChunkBuilder().record(event::mpi_collective_begin, {}).next_chunk(k_event_chunk).bytes() +
          ChunkBuilder().enter(20).stamp(15).enter(20).end().bytes(),
      some_references(true));
  ASSERT_TRUE(skeleton) << skeleton.error().message;
  ASSERT_EQ(skeleton->events.size(), 1u);
  EXPECT_EQ(skeleton->events[0].time, 10u);
  EXPECT_EQ(skeleton->event_count, 4u);
  EXPECT_EQ(skeleton->last, 15u);
}

TEST(Scan, a_clock_that_begins_below_0_is_named) {
  const auto skeleton =
      scan(TempFolder(), ChunkBuilder().stamp(~std::uint64_t{0} - 99).enter(20).end().bytes(),
           some_references(false));
  ASSERT_FALSE(skeleton);
  EXPECT_THAT(skeleton.error().message,
              ::testing::HasSubstr("begins at -100 ticks, stored as 2^64 - 100"));
}

TEST(Scan, tells_the_first_stamp_that_decreases) {
  const auto decreasing = [&](const Bytes& bytes) {
    const auto skeleton = scan(TempFolder(), bytes, some_references(false));
    return skeleton ? skeleton->decreasing : skeleton.error().message;
  };
  const Bytes begin =
      ChunkBuilder().stamp(10).enter(1).enter(2).stamp(12).next_chunk(k_event_chunk).bytes();
  EXPECT_EQ(decreasing(begin + ChunkBuilder().stamp(7).enter(1).stamp(5).end().bytes()),
            "event 3 at 7 after 12");
  EXPECT_EQ(decreasing(begin + ChunkBuilder().stamp(12).enter(1).stamp(5).end().bytes()),
            "event 4 at 5 after 12");
}

/// Region ids of the calls that are open at stamp `wanted`, told in the plainest way.
struct PlainFinder {
  std::uint64_t wanted;
  std::vector<std::uint32_t> open;
  std::uint64_t time = 0;
  const std::uint8_t* bytes = nullptr;
  bool big_endian = false;

  void chunk(const std::uint8_t* b, bool big) {
    bytes = b;
    big_endian = big;
  }
  bool stamp(std::size_t, std::uint64_t t) {
    const bool passed = time == wanted && t > wanted;
    time = t;
    return !passed && t <= wanted;
  }
  bool record(std::uint8_t type, std::size_t offset, std::size_t size) {
    if (type == event::enter) open.push_back(FieldReader(bytes + offset, size, big_endian).c32());
    if (time == wanted) return type == event::enter;
    if (type == event::leave && !open.empty()) open.pop_back();
    return true;
  }
};

TEST(FindRegionOfChunks, in_a_hurry_it_finds_the_same) {
  RandomChunks random(5);
  const References references = some_references(true);
  const TempFolder folder;
  std::size_t found = 0;
  for (int round = 0; round < 500; ++round) {
    std::filesystem::remove(folder / "x.evt");
    Bytes bytes = random.file(k_event_chunk, 1 + random.below(6));
    const auto path = folder.put("x.evt", bytes);
    const LocalDefinitions local;
    const auto all = scan_events({path, k_event_chunk, local, references}, nullptr);
    if (!all || !all->decreasing.empty() || all->events.empty()) continue;
    const trace::Event event = all->events[random.below(all->events.size())];
    PlainFinder finder{event.time, {}};
    for (std::size_t at = 0; at < bytes.size(); at += k_event_chunk) {
      const std::size_t size = std::min(k_event_chunk, bytes.size() - at);
      if (walk_chunk<Framing::events>(bytes.data() + at, size, finder).end !=
          ChunkEnd::next_chunk) {
        break;
      }
    }
    const std::uint32_t expected =
        finder.open.empty() || finder.open.back() >= 100 ? k_none : finder.open.back();
    EXPECT_EQ(find_region({path, k_event_chunk, local, references}, event.time).value(), expected)
        << round;
    ++found;
  }
  EXPECT_GT(found, 50u);
}

TEST(Scan, can_be_interrupted) {
  const TempFolder folder;
  struct Cancelled : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } progress;
  const auto path = folder.put("x.evt", ChunkBuilder().stamp(1).end().bytes());
  const LocalDefinitions local;
  const References references;
  const auto refused = scan_events({path, k_event_chunk, local, references}, &progress);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
}

/// Chunks with so many sends, so many in each.
Bytes file_of_sends(std::size_t count, std::size_t in_chunk) {
  const Bytes all = ChunkBuilder().compressed(1).compressed(1).compressed(0).compressed(8).bytes();
  const Bytes payload(all.begin() + k_chunk_header_size, all.end());
  Bytes file;
  ChunkBuilder chunk;
  for (std::size_t i = 0; i < count; ++i) {
    chunk.stamp(i).record(event::mpi_send, payload);
    if (i % in_chunk + 1 < in_chunk || i + 1 == count) continue;
    file = file + chunk.next_chunk(k_event_chunk).bytes();
    chunk = ChunkBuilder();
  }
  return file + chunk.end().bytes();
}

TEST(Scan, the_first_chunk_foretells_the_room_of_the_others) {
  for (const std::size_t count : {1'000u, 50'000u}) {
    const auto skeleton = scan(TempFolder(), file_of_sends(count, 100), some_references(false));
    ASSERT_TRUE(skeleton) << skeleton.error().message;
    EXPECT_EQ(skeleton->events.size(), count);
    const std::size_t room = skeleton->events.capacity();
    EXPECT_LE(room, count == 1'000u ? count : count + count / 8) << "doubling takes more";
  }
}

}  // namespace
}  // namespace entrain::otf2
