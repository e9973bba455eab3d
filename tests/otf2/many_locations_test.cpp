// SPDX-License-Identifier: BSD-3-Clause
// Many more locations than open files are allowed: 2,000 and 128, in `make soak` 20,000 and 1,024.
// (100,000 work as well: 4 s to scan, 15 s to write, and a minute for the files around it.)
#include <gtest/gtest.h>

#include <cstdio>

#include "formats/otf2/read/archive.hpp"
#include "formats/otf2/testing.hpp"
#include "support/files.hpp"
#include "support/many_locations.hpp"
#include "support/process.hpp"
#include "support/repetitions.hpp"

namespace entrain::test {
namespace {

const std::uint32_t k_count = every_repetition() ? 20'000 : 2'000;
const ChildLimits k_limits{.timeout_s = 100, .open_files = every_repetition() ? 1024u : 128u};

#define ENSURE(condition)                               \
  do {                                                  \
    if (!(condition)) {                                 \
      std::fprintf(stderr, "not so: %s\n", #condition); \
      return 1;                                         \
    }                                                   \
  } while (false)

/// Scans everything; 0 if it is all there.
int scan_all(const std::filesystem::path& anchor) {
  const auto archive = otf2::Archive::open(anchor);
  if (!archive) std::fprintf(stderr, "%s\n", archive.error().message.c_str());
  ENSURE(archive);
  ENSURE((*archive)->definitions().locations.size() == k_count);
  ENSURE((*archive)->definitions().comms.at(0).group_a.size() == k_count);
  for (LocationIndex i = 0; i < k_count; ++i) {
    const auto skeleton = (*archive)->scan(i);
    if (!skeleton) std::fprintf(stderr, "%s\n", skeleton.error().message.c_str());
    ENSURE(skeleton);
    ENSURE(skeleton->event_count == 4 && skeleton->events.size() == 2);
    ENSURE(skeleton->events[0].peer == (i + 1) % k_count);
  }
  return 0;
}

/// Writes with every location moved by its number, four threads.
int write_all(const std::filesystem::path& anchor, const std::filesystem::path& output) {
  const auto archive = otf2::Archive::open(anchor);
  ENSURE(archive);
  otf2::WritePlan plan;
  for (std::uint32_t i = 0; i < k_count; ++i) plan.maps.push_back(ClockMap().shifted(i));
  plan.first_time = 1'000'000;
  plan.last_time = 1'000'306 + k_count;
  plan.threads = 4;
  const auto written = otf2::testing::write_archive(**archive, plan, output);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  ENSURE(written);
  return 0;
}

TEST(ManyLocations, are_scanned_and_written_with_few_open_files) {
  const TempFolder scratch;
  const auto anchor = write_many_locations(scratch / "many", k_count, false);
  const auto scanned = run_in_child([&] { return scan_all(anchor); }, k_limits);
  ASSERT_EQ(scanned.exit_code, 0) << scanned.summary();
  const auto written = run_in_child([&] { return write_all(anchor, scratch / "out"); }, k_limits);
  ASSERT_EQ(written.exit_code, 0) << written.summary();

  for (std::uint32_t rank = 0; rank < k_count; rank += k_count / 20 - 1) {
    const auto file = std::to_string(many_location_id(rank)) + ".evt";
    ASSERT_EQ(read_bytes(scratch / "out" / "traces" / file), many_event_file(rank, k_count, rank))
        << file;
  }
  std::printf("scan %.2f s, write %.2f s\n", scanned.seconds, written.seconds);
}

}  // namespace
}  // namespace entrain::test
