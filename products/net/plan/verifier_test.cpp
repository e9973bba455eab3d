// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/verifier.hpp"

#include <gmock/gmock.h>

#include "net/model/generators.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule.hpp"
#include "net/plan/schedule_skew.hpp"

namespace entrain::net {
namespace {

using testing::HasSubstr;

struct Case {
  Topology topology = full_tree(3, 3).value();  // n0..n5, two per switch s1, s2, s3
  Schedule schedule = plan(topology, SpanningTree(topology), Method::hss).value();
};

std::vector<Message>::iterator message_of(Schedule& schedule, std::int64_t slot,
                                          InterfaceIndex source) {
  return std::find_if(schedule.messages.begin(), schedule.messages.end(),
                      [&](const Message& m) { return m.slot == slot && m.source == source; });
}

TEST(Verifier, accepts_a_good_schedule) {
  const Case good;
  EXPECT_TRUE(verify(good.topology, good.schedule).holds());
  EXPECT_EQ(verify(good.topology, good.schedule).sentence(), "");
}

TEST(Verifier, names_the_link_that_two_messages_take) {
  const Topology topology = full_tree(3, 3).value();
  const Schedule schedule = plan(topology, SpanningTree(topology), Method::sss).value();
  const Verification verification = verify(topology, schedule);
  EXPECT_GT(verification.conflicts, 0);
  // Slot 2 of the pattern moves by three: n0 and n1, both on s1, send to s2 and to s3.
  EXPECT_THAT(verification.conflict_example, HasSubstr("in slot 2 both n0 =>2 n3 and n1 =>2 n4"));
  EXPECT_THAT(verification.conflict_example, HasSubstr("s1 -> s0"));
}

TEST(Verifier, names_the_pair_that_is_not_connected_in_time) {
  Case broken;
  // Without the last slot the leaders do not reach their neighbours.
  const std::int64_t last = broken.schedule.slots - 1;
  std::erase_if(broken.schedule.messages, [&](const Message& m) { return m.slot == last; });
  const Verification verification = verify(broken.topology, broken.schedule);
  EXPECT_EQ(verification.conflicts, 0);
  EXPECT_GT(verification.missing, 0);
  EXPECT_THAT(verification.missing_example, HasSubstr("n2 does not precede n1"));
}

TEST(Verifier, every_message_of_sss_is_needed) {
  const Topology topology = single_switch(5).value();
  const Schedule schedule = plan(topology, SpanningTree(topology), Method::sss).value();
  for (std::size_t i = 0; i < schedule.messages.size(); ++i) {
    Schedule without = schedule;
    without.messages.erase(without.messages.begin() + static_cast<std::ptrdiff_t>(i));
    // Chains may still lead around it, direct precedences do not.
    EXPECT_EQ(verify(topology, without).conflicts, 0);
    EXPECT_GT(skew_of_schedule(without, 5, {}, Reading::published),
              skew_of_sss({}, Reading::published));
  }
}

TEST(Verifier, chains_must_rise_in_time) {
  // n1 precedes n0 at slot 0, n2 precedes n1 only afterwards: n2 does not precede n0.
  const Topology topology = single_switch(3).value();
  const SpanningTree tree(topology);
  Schedule schedule = plan(topology, tree, Method::sss).value();
  std::vector<Message> kept;
  const auto keep = [&](std::int64_t slot, InterfaceIndex s, InterfaceIndex d) {
    Message message = schedule.messages.front();
    const auto route = tree.route(topology.interfaces()[s], topology.interfaces()[d]);
    message.slot = slot;
    message.source = s;
    message.destination = d;
    message.route_begin = static_cast<std::uint32_t>(schedule.route_nodes.size());
    schedule.route_nodes.insert(schedule.route_nodes.end(), route.begin(), route.end());
    message.route_end = static_cast<std::uint32_t>(schedule.route_nodes.size());
    kept.push_back(message);
  };
  keep(0, 1, 0);
  keep(0, 2, 2);
  keep(1, 0, 0);
  keep(1, 1, 2);
  schedule.messages = kept;
  const Verification verification = verify(topology, schedule);
  EXPECT_EQ(verification.missing, 9 - 3 - 2);
  EXPECT_THAT(verification.missing_example, HasSubstr("n2 does not precede n0"));
}

TEST(Verifier, refuses_messages_that_are_none) {
  const auto malformed = [](auto change) {
    Case broken;
    change(broken);
    return verify(broken.topology, broken.schedule).malformed_example;
  };
  EXPECT_THAT(malformed([](Case& c) { message_of(c.schedule, 0, 2)->destination = 0; }),
              HasSubstr("n2 =>0 n0 has a route that does not exist"));
  EXPECT_THAT(malformed([](Case& c) { message_of(c.schedule, 0, 2)->source = 1; }),
              HasSubstr("shares its slot"));
  EXPECT_THAT(malformed([](Case& c) { message_of(c.schedule, 0, 2)->destination = 17; }),
              HasSubstr("names an interface that does not exist"));
  EXPECT_THAT(malformed([](Case& c) { c.schedule.slots = 2; }),
              HasSubstr("outside of the schedule"));
  EXPECT_THAT(malformed([](Case& c) {
                std::swap(c.schedule.messages.front(), c.schedule.messages.back());
              }),
              HasSubstr("slot"));
}

}  // namespace
}  // namespace entrain::net
