// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/delays.hpp"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string k_delay_head =
    "# units\n"
    "child_node,parent_node,min_round_trip_ticks,min_to_parent_ticks,min_to_child_ticks\n";

class ClockDelays : public testing::Test {
 protected:
  ClockDelays() {
    definitions_.clock.resolution_hz = 1'000'000'000;
    definitions_.tree_nodes.push_back({0, "cluster", "machine"});
    for (const char* node : {"n0", "n1", "n2"}) {
      definitions_.tree_nodes.push_back({1, node, "node", 0, true});
    }
  }

  [[nodiscard]] Result<MuTicks> mu_of(const std::string& text) const {
    std::ofstream(folder_ / k_clock_delays, std::ios::binary) << text;
    return read().map([](const DelayMu& mu) { return mu.by_class; });
  }
  [[nodiscard]] Result<DelayMu> read() const { return read_delay_mu(folder_.path(), definitions_); }

  TempFolder folder_;
  trace::Definitions definitions_;
};

TEST_F(ClockDelays, are_a_quarter_of_the_shortest_round_trip_per_class) {
  EXPECT_EQ(mu_of(k_delay_head), (MuTicks{0, 0, 0}));
  // The ways themselves are those of clocks that are 4 ms apart: they count for nothing.
  EXPECT_EQ(
      mu_of(k_delay_head + "n1,n0,2003,-4000000,4001000\nn2,n0,1901,900,901\nn2,n1,3000,1,1\n"),
      (MuTicks{0, 0, 475}));
  EXPECT_EQ(mu_of(k_delay_head + "n1,n0,2003,1,1\nn0,n0,403,200,200\nn1,n1,399,200,199\n"),
            (MuTicks{0, 99, 500}));
  EXPECT_EQ(mu_of(k_delay_head + "n1,n0,0,0,0\n"), (MuTicks{0, 0, 0}));
  EXPECT_EQ(mu_of(k_delay_head + "n1,n0,9223372036854775807,0,0\n"),
            (MuTicks{0, 0, trace::k_largest_mu}));
}

TEST_F(ClockDelays, beside_another_tracer_machines_may_have_other_names) {
  std::ofstream(folder_ / k_clock_delays, std::ios::binary) << k_delay_head << "x,y,400,1,1\n";
  definitions_.clock.resolution_hz = 2'300'000'000;
  EXPECT_FALSE(read_delay_mu(folder_.path(), definitions_));
  const auto mu = read_delay_mu(folder_.path(), definitions_, true);
  ASSERT_TRUE(mu) << mu.error().message;
  EXPECT_EQ(mu->by_class, (MuTicks{0, 0, 100}));
}

TEST_F(ClockDelays, every_pair_of_machines_has_its_own) {
  for (const std::uint32_t machine : {1u, 2u, 3u, 3u}) {  // tree nodes n0, n1, n2
    const auto l = static_cast<std::uint32_t>(definitions_.locations.size());
    definitions_.location_groups.push_back({});
    definitions_.location_groups.back().tree_node = machine;
    definitions_.locations.push_back({});
    definitions_.locations.back().group = l;
    definitions_.process_of.push_back(l);
    definitions_.node_of.push_back(machine - 1);
  }
  ASSERT_TRUE(
      mu_of(k_delay_head + "n1,n0,2003,1,1\nn2,n0,4000,1,1\nn0,n1,2400,1,1\nn2,n2,404,1,1\n"));
  const trace::PairMu pairs = read()->of_pairs;
  EXPECT_EQ(pairs.all().size(), 3u);
  EXPECT_EQ(pairs.of(0, 1, 0), 500);
  EXPECT_EQ(pairs.of(1, 0, 0), 500);
  EXPECT_EQ(pairs.of(0, 2, 500), 1000);
  EXPECT_EQ(pairs.of(2, 2, 101), 101);
  EXPECT_EQ(pairs.of(1, 2, 500), 500);  // never measured
}

TEST_F(ClockDelays, of_another_archive_are_refused) {
  const auto expect_refused = [&](const std::string& text) {
    const auto refused = mu_of(text);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_THAT(refused.error().message,
                AllOf(HasSubstr("clock_delays.csv, line 3: the file belongs to another archive"),
                      HasSubstr("--mu auto")));
  };
  expect_refused(k_delay_head + "n1,n7,2003,1,1\n");
  expect_refused(k_delay_head + "cluster,n0,2003,1,1\n");
  definitions_.clock.resolution_hz = 1'000'000;
  expect_refused(k_delay_head + "n1,n0,2003,1,1\n");
}

TEST_F(ClockDelays, that_are_damaged_are_refused_with_the_line) {
  const std::string none = "line 3: this is no pair of nodes";
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "ends before the names of its columns"},
           {"# only a comment\n", "ends before the names of its columns"},
           {"a,b\n", "line 1: these are not the columns"},
           {k_delay_head + "\n", none},
           {k_delay_head + "n1,n0,2003,1\n", none},
           {k_delay_head + "n1,n0,2003,1,1,1\n", none},
           {k_delay_head + ",n0,2003,1,1\n", none},
           {k_delay_head + "n1,n0,-1,1,1\n", none},
           {k_delay_head + "n1,n0,20x,1,1\n", none},
           {k_delay_head + "n1,n0,99999999999999999999,1,1\n", none},
           {k_delay_head + "n1,n0,2003,1,\n", none}}) {
    const auto refused = mu_of(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("clock_delays.csv"), HasSubstr(why)));
  }
  const auto missing = read_delay_mu(folder_ / "none", definitions_);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("cannot be read"));
  std::filesystem::remove(folder_ / k_clock_delays);
  std::filesystem::create_directory(folder_ / k_clock_delays);
  EXPECT_FALSE(read_delay_mu(folder_.path(), definitions_)) << "a folder is no file";
}

}  // namespace
}  // namespace entrain::clocks
