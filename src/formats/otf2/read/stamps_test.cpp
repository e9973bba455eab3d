// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/archive.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Archive> opened_example(const char* name) {
  auto archive = Archive::open(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name);
  EXPECT_TRUE(archive) << archive.error().message;
  return archive ? std::move(*archive) : nullptr;
}

TEST(Stamps, are_those_of_all_events_with_their_kinds) {
  const auto archive = opened_example("allops-4");
  ASSERT_NE(archive, nullptr);
  const auto events = read_stamps(*archive, 1);
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->stamps.size(), archive->definitions().locations[1].event_count);
  EXPECT_TRUE(std::is_sorted(events->stamps.begin(), events->stamps.end()));
  std::map<std::uint8_t, std::pair<int, int>> counts;  // by type: all, communication
  for (std::size_t i = 0; i < events->types.size(); ++i) {
    auto& [all, communication] = counts[events->types[i]];
    ++all;
    communication += events->communication[i];
  }
  for (const std::uint8_t type : {event::mpi_send, event::mpi_isend, event::mpi_recv,
                                  event::mpi_irecv, event::nb_collective_complete}) {
    EXPECT_GT(counts[type].first, 0) << int{type};
    EXPECT_EQ(counts[type].second, counts[type].first) << int{type};
  }
  // Communicators are created and freed by collectives that are none of the application.
  EXPECT_GT(counts[event::mpi_collective_end].second, 0);
  EXPECT_LT(counts[event::mpi_collective_end].second, counts[event::mpi_collective_end].first);
  EXPECT_EQ(counts[event::enter].second, 0);
  EXPECT_EQ(counts[event::mpi_irecv_request].second, 0);
}

/// The contents of every event, record after record.
struct EventLister {
  EventStamps events;
  std::uint64_t time = 0;

  void chunk(const std::uint8_t*, bool) {}
  bool stamp(std::size_t, std::uint64_t t) {
    time = t;
    return true;
  }
  bool record(std::uint8_t type, std::size_t, std::size_t) {
    events.stamps.push_back(time);
    events.types.push_back(type);
    return true;
  }
};

TEST(Stamps, none_is_left_out_in_a_hurry) {
  for (const char* name : {"allops-4", "lulesh-8"}) {
    const auto archive = opened_example(name);
    ASSERT_NE(archive, nullptr);
    for (LocationIndex l = 0; l < archive->definitions().locations.size(); ++l) {
      auto reader = BlockReader::open(archive->event_file(l), archive->anchor().event_chunk_size);
      ASSERT_TRUE(reader);
      EventLister lister;
      ASSERT_TRUE(walk_file<Framing::events>(*reader, lister, [](auto) { return Result<void>(); }));
      const auto events = read_stamps(*archive, l);
      ASSERT_TRUE(events) << events.error().message;
      EXPECT_EQ(events->stamps, lister.events.stamps);
      EXPECT_EQ(events->types, lister.events.types);
      EXPECT_EQ(events->communication.size(), events->types.size());
    }
  }
}

TEST(Stamps, none_without_a_file_and_an_error_for_a_damaged_one) {
  const TempFolder folder;
  fs::copy(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4", folder / "x",
           fs::copy_options::recursive);
  const auto archive = Archive::open(folder / "x");
  ASSERT_TRUE(archive);
  fs::remove((*archive)->event_file(0));
  const auto none = read_stamps(**archive, 0);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->stamps.empty() && none->types.empty() && none->communication.empty());
  folder.put("x/traces/0.evt", std::vector<std::uint8_t>(100, 0x77));
  const auto damaged = read_stamps(**archive, 0);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::input);
}

TEST(Stamps, of_a_file_that_ends_early_are_those_before_the_end) {
  const TempFolder folder;
  fs::copy(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/allops-4", folder / "x",
           fs::copy_options::recursive);
  const auto archive = Archive::open(folder / "x");
  ASSERT_TRUE(archive);
  const auto all = read_stamps(**archive, 0);
  ASSERT_TRUE(all);
  const fs::path file = (*archive)->event_file(0);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  fs::resize_file(file, fs::file_size(file) / 2);
  const auto some = read_stamps(**archive, 0);
  ASSERT_TRUE(some) << some.error().message;
  ASSERT_GT(some->stamps.size(), 0u);
  ASSERT_LT(some->stamps.size(), all->stamps.size());
  EXPECT_TRUE(std::equal(some->stamps.begin(), some->stamps.end(), all->stamps.begin()));
}

}  // namespace
}  // namespace entrain::otf2
