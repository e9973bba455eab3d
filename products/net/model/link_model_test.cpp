// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/link_model.hpp"

#include <gtest/gtest.h>

#include "net/model/topology_dot.hpp"

namespace entrain::net {
namespace {

constexpr Femtoseconds k_us = std::chrono::microseconds(1);

TEST(LinkModel, only_physical_links_need_idle_flits) {
  const Parameters myrinet;
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_switch, 1000 * k_us), 0);
  // 16 flits pile up in 100 ns: 20 with a quarter more.
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_link, Femtoseconds(0)), 20);
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_link, myrinet.ld), 20);
  // ceil(2 (100 + 1000 + 3.26) / 6.25) - 17 - 2.
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_link, k_us), 335);
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_link, 3 * k_us), 975);
}

TEST(LinkModel, a_packet_stays_longer_than_a_buffer) {
  const Parameters myrinet;
  EXPECT_EQ(usual_guard_flits(myrinet, LinkModel::at_link, 1000 * k_us), 2000 - 64 - 1);
}

TEST(LinkModel, delays_of_links_without_one_are_those_of_the_parameters) {
  const auto delays = [](const char* dot) {
    return link_delays(topology_from_dot(dot, "t").value(), {});
  };
  EXPECT_TRUE(delays("graph { a -- s; b -- s }").are_alike());
  EXPECT_EQ(delays("graph { a -- s; b -- s }").most.count(), 17'000'000);
  EXPECT_TRUE(delays("graph { a -- s [delay=\"17ns\"]; b -- s }").are_alike());
  const DelayRange range =
      delays("graph { a -- s [delay=\"1us\"]; b -- s; c -- s [delay=\"0ns\"] }");
  EXPECT_FALSE(range.are_alike());
  EXPECT_EQ(range.least, Femtoseconds(0));
  EXPECT_EQ(range.most, k_us);
}

}  // namespace
}  // namespace entrain::net
