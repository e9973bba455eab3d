// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otf2/new_archive.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "formats/otf2/format/event_writer.hpp"
#include "formats/otf2/format/testing.hpp"
#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::contents;
using testing::example;
using testing::TempFolder;

/// Two nodes, `processes` processes in turn on them, two communicators.
trace::Definitions made_up(std::uint32_t processes) {
  trace::Definitions definitions;
  definitions.clock = {1'000'000'000, 5'000'000'000, 77, ~std::uint64_t{0}};
  definitions.tree_nodes.push_back({0, "machine", "machine", k_none, false});
  definitions.tree_nodes.push_back({1, "a", "node", 0, true});
  definitions.tree_nodes.push_back({2, "b", "node", 0, true});
  trace::Comm world{0, "world", false, false, {}, {}}, odd{1, "odd ones", false, false, {}, {}};
  for (std::uint32_t p = 0; p < processes; ++p) {
    definitions.location_groups.push_back({p, "process " + std::to_string(p), k_none, 1 + p % 2});
    definitions.locations.push_back(
        {7 + std::uint64_t{p} * 3, "thread", trace::LocationType::cpu_thread, p, p});
    world.group_a.push_back(p);
    if (p % 2 == 1) odd.group_a.push_back(p);
  }
  definitions.comms = {world, odd};
  definitions.regions.push_back({0, "main", 1, 1});
  definitions.regions.push_back({1, "MPI_Send", 28, 4});
  return definitions;
}

/// Writes an archive with one event per location.
Result<std::filesystem::path> write_archive(const std::filesystem::path& folder,
                                            const trace::Definitions& definitions) {
  auto archive = NewArchive::create(folder, {});
  if (!archive) return tl::unexpected<Error>(archive.error());
  for (const trace::Location& location : definitions.locations) {
    EventWriter out(archive->event_file(location.id), NewArchive::k_event_chunk, 4096);
    out.enter(5'000'000'000 + location.id, 1);
    EXPECT_TRUE(out.close());
    EXPECT_TRUE(archive->write_local_definitions(location.id));
  }
  return archive->commit(definitions, "a test", "what it is");
}

TEST(NewArchive, is_read_back) {
  const TempFolder folder;
  const trace::Definitions expected = made_up(5);
  const auto path = write_archive(folder / "new", expected);
  ASSERT_TRUE(path) << path.error().message;
  const auto archive = Archive::open(*path);
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ((*archive)->anchor().creator, "a test");
  EXPECT_EQ((*archive)->anchor().description, "what it is");
  EXPECT_EQ((*archive)->anchor().location_count, 5u);
  const trace::Definitions& read = (*archive)->definitions();
  EXPECT_EQ(read.clock.resolution_hz, 1'000'000'000u);
  EXPECT_EQ(read.clock.global_offset, 5'000'000'000u);
  EXPECT_EQ(read.clock.length, 77u);
  EXPECT_EQ(read.clock.realtime_ns, ~std::uint64_t{0});
  ASSERT_EQ(read.locations.size(), 5u);
  EXPECT_EQ(read.locations[4].id, 19u);
  EXPECT_EQ(read.locations[4].name, "thread");
  EXPECT_EQ(read.locations[4].event_count, 4u);
  EXPECT_EQ(read.location_groups[4].name, "process 4");
  EXPECT_EQ(read.node_of, (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(read.process_of, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  ASSERT_EQ(read.comms.size(), 2u);
  EXPECT_EQ(read.comms[0].group_a, (std::vector<LocationIndex>{0, 1, 2, 3, 4}));
  EXPECT_EQ(read.comms[1].group_a, (std::vector<LocationIndex>{1, 3}));
  EXPECT_EQ(read.comms[1].name, "odd ones");
  ASSERT_EQ(read.regions.size(), 2u);
  EXPECT_EQ(read.regions[1].name, "MPI_Send");
  EXPECT_EQ(read.regions[1].role, 28u);
  EXPECT_EQ(read.regions[1].paradigm, 4u);
  for (LocationIndex l = 0; l < 5; ++l) {
    const auto skeleton = (*archive)->scan(l);
    ASSERT_TRUE(skeleton) << skeleton.error().message;
    EXPECT_EQ(skeleton->event_count, 1u);
    EXPECT_FALSE(skeleton->definition_file_missing);
  }
}

TEST(NewArchive, holds_groups_larger_than_the_smallest_chunk) {
  constexpr std::uint32_t k_many = 100'000;
  const DefinitionFile file = new_global_definitions(made_up(k_many));
  std::size_t largest = 0;
  for (const DefinitionRecord& record : file.records) {
    largest = std::max(largest, record.payload.size());
  }
  EXPECT_GT(largest, k_min_chunk_size);
  EXPECT_LT(largest, k_max_chunk_size);
}

TEST(NewArchive, leaves_nothing_unless_it_is_committed) {
  const TempFolder folder;
  {
    const auto archive = NewArchive::create(folder / "new", {});
    ASSERT_TRUE(archive);
    ASSERT_TRUE(archive->write_local_definitions(0));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(NewArchive, refuses_a_folder_that_exists) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "new");
  const auto archive = NewArchive::create(folder / "new", {});
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().kind, ErrorKind::output);
}

TEST(PackAnchor, gives_the_bytes_of_a_recorded_anchor) {
  constexpr std::ptrdiff_t k_version = 9;  // of the OTF2 library that wrote it
  Bytes recorded = contents(example("lulesh-8", "traces.otf2"));
  const auto anchor = parse_anchor(recorded, "recorded");
  ASSERT_TRUE(anchor) << anchor.error().message;
  auto packed = pack_anchor(*anchor);
  ASSERT_TRUE(packed) << packed.error().message;
  ASSERT_EQ(packed->size(), recorded.size());
  std::copy_n(recorded.begin() + k_version, 3, packed->begin() + k_version);
  EXPECT_EQ(*packed, recorded);
}

TEST(PackAnchor, refuses_zero_bytes_in_texts) {
  Anchor anchor;
  anchor.creator = std::string("a\0b", 3);
  EXPECT_FALSE(pack_anchor(anchor));
}

}  // namespace
}  // namespace entrain::otf2
