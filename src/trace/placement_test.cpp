// SPDX-License-Identifier: BSD-3-Clause
#include "trace/placement.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Processes of one location each that all weigh the same, and messages between them.
struct World {
  Definitions definitions;
  std::vector<std::uint64_t> weight;
  std::vector<Traffic> traffic;

  explicit World(std::uint32_t processes) : weight(processes, 1'000) {
    definitions.locations.resize(processes);
    definitions.process_of.resize(processes);
    std::iota(definitions.process_of.begin(), definitions.process_of.end(), 0u);
  }
  void exchange(std::uint32_t a, std::uint32_t b, std::uint64_t messages = 1) {
    traffic.push_back({std::min(a, b), std::max(a, b), messages});
    traffic = sum_of(std::move(traffic));
  }
  [[nodiscard]] Partition placed(unsigned members,
                                 std::span<const std::uint32_t> together = {}) const {
    return place({definitions, weight, members, together, traffic});
  }
  [[nodiscard]] std::uint64_t crossing_of(const Partition& partition) const {
    return crossing(definitions, partition, traffic);
  }
  [[nodiscard]] std::vector<std::uint64_t> loads(const Partition& partition,
                                                 unsigned members) const {
    std::vector<std::uint64_t> loads(members, 0);
    for (LocationIndex l = 0; l < weight.size(); ++l) loads[partition.owner[l]] += weight[l];
    return loads;
  }
};

TEST(Placement, a_ring_that_is_numbered_across_stays_together) {
  World world(8);
  const std::vector<std::uint32_t> ring{0, 4, 1, 5, 2, 6, 3, 7};
  for (std::uint32_t i = 0; i < 8; ++i) world.exchange(ring[i], ring[(i + 1) % 8]);
  EXPECT_EQ(world.crossing_of(divide(world.definitions, world.weight, 2)), 8u);
  const Partition placed = world.placed(2);
  EXPECT_EQ(world.crossing_of(placed), 2u);
  EXPECT_THAT(world.loads(placed, 2), ElementsAre(4'000, 4'000));
}

TEST(Placement, a_square_in_any_numbering_is_cut_about_as_well_as_by_rows) {
  constexpr std::uint32_t k_side = 20;
  std::mt19937 random(7);
  std::vector<std::uint32_t> number(k_side * k_side);
  std::iota(number.begin(), number.end(), 0u);
  for (int round = 0; round < 5; ++round) {
    World world(k_side * k_side);
    std::vector<Traffic> traffic;
    const auto link = [&](std::uint32_t i, std::uint32_t j) {
      traffic.push_back({std::min(number[i], number[j]), std::max(number[i], number[j]), 10});
    };
    for (std::uint32_t y = 0; y < k_side; ++y) {
      for (std::uint32_t x = 0; x < k_side; ++x) {
        if (x + 1 < k_side) link(y * k_side + x, y * k_side + x + 1);
        if (y + 1 < k_side) link(y * k_side + x, (y + 1) * k_side + x);
      }
    }
    world.traffic = sum_of(std::move(traffic));
    const std::uint64_t rows = 3 * k_side * 10;  // cuts of four blocks of rows
    const Partition placed = world.placed(4);
    EXPECT_LE(world.crossing_of(placed), rows * 5 / 4) << round;
    for (const std::uint64_t load : world.loads(placed, 4)) {
      EXPECT_LE(load, k_side * k_side * 1'000 / 4 * 21 / 20) << round;
    }
    std::shuffle(number.begin(), number.end(), random);
  }
}

TEST(Placement, no_member_gets_more_than_the_blocks_have) {
  std::mt19937 engine(3);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 200; ++round) {
    World world(1 + random() % 40);
    const auto processes = static_cast<std::uint32_t>(world.weight.size());
    for (std::uint64_t& weight : world.weight) weight = random() % 3 == 0 ? 0 : random() % 100'000;
    for (unsigned i = 0; i < random() % 200; ++i) {
      const std::uint32_t a = random() % processes, b = random() % processes;
      if (a != b) world.exchange(a, b, 1 + random() % 1'000);
    }
    const unsigned members = 1 + random() % 9;
    const Partition divided = divide(world.definitions, world.weight, members);
    const Partition placed = world.placed(members);
    EXPECT_EQ(placed.owner, world.placed(members).owner);
    EXPECT_LE(world.crossing_of(placed), world.crossing_of(divided)) << round;
    const auto most = [&](const Partition& partition) {
      return std::ranges::max(world.loads(partition, members));
    };
    const std::uint64_t total =
        std::accumulate(world.weight.begin(), world.weight.end(), std::uint64_t{0});
    // A location weighs one more than its file.
    EXPECT_LE(most(placed), std::max(most(divided), total / members * 21 / 20) + processes)
        << round;
  }
}

TEST(Placement, what_belongs_together_stays_together) {
  World world(6);
  for (std::uint32_t p = 0; p < 3; ++p) world.exchange(p, p + 3, 100);
  world.exchange(0, 5, 1);
  const std::vector<std::uint32_t> together{0, 1, 2, 3, 4, 0};
  const Partition placed = world.placed(3, together);
  EXPECT_EQ(placed.owner[0], placed.owner[5]);
}

TEST(Placement, nothing_is_moved_for_nothing) {
  World world(4);
  EXPECT_EQ(world.placed(2).owner, divide(world.definitions, world.weight, 2).owner);
  World empty(0);
  EXPECT_THAT(empty.placed(3).owner, IsEmpty());
}

TEST(Traffic, messages_are_counted_by_pair_of_processes) {
  testing::TraceBuilder b(3);
  using Kind = EventKind;
  b.message(Kind::send, 0, 100, 1);
  b.message(Kind::isend, 1, 100, 0);
  b.message(Kind::isend, 1, 110, 2);
  b.message(Kind::recv, 1, 120, 0);  // its send counts
  b.message(Kind::send, 2, 100, 2);  // to itself
  b.message(Kind::send, 2, 110, 9);  // nobody has this rank
  const std::vector<LocationIndex> first{0}, others{1, 2};
  const Trace& trace = b.trace();
  EXPECT_THAT(traffic_of(trace, first), ElementsAre(Traffic{0, 1, 1}));
  EXPECT_THAT(traffic_of(trace, others), ElementsAre(Traffic{0, 1, 1}, Traffic{1, 2, 1}));
  EXPECT_THAT(sum_of({{1, 2, 1}, {0, 1, 1}, {0, 1, 4}}),
              ElementsAre(Traffic{0, 1, 5}, Traffic{1, 2, 1}));
}

}  // namespace
}  // namespace entrain::trace
