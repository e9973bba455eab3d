// SPDX-License-Identifier: BSD-3-Clause
#include "verify/places.hpp"

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;

Result<Places> agreed_places(const trace::Trace& trace) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  return Places::agree({solo, all, trace});
}

void add_events(TraceBuilder& b, LocationIndex l, int count) {
  for (int e = 0; e < count; ++e) b.add(l, 10 * static_cast<std::uint64_t>(e), K::send);
}

TEST(Places, events_are_numbered_through_the_locations_of_a_process) {
  TraceBuilder b(2, 3);
  add_events(b, 0, 3);
  add_events(b, 2, 5);  // location 1 has no events
  add_events(b, 4, 4);
  const auto places = agreed_places(b.trace());
  ASSERT_TRUE(places);
  EXPECT_EQ(places->process_count(), 2);
  EXPECT_FALSE(places->is_single(0));
  EXPECT_TRUE(places->is_single(1));
  EXPECT_EQ(places->first_number(2), 3);
  EXPECT_EQ(places->event(0, 2), (EventRef{0, 2}));
  EXPECT_EQ(places->event(0, 3), (EventRef{2, 0}));
  EXPECT_EQ(places->event(0, 7), (EventRef{2, 4}));
  EXPECT_EQ(places->event(1, 3), (EventRef{4, 3}));
}

TEST(Places, a_process_may_have_no_event_and_a_trace_no_process) {
  const auto quiet = agreed_places(TraceBuilder(2, 2).trace());
  ASSERT_TRUE(quiet);
  EXPECT_TRUE(quiet->is_single(0));
  EXPECT_EQ(quiet->locations(1).front(), 2);
  const auto empty = agreed_places(TraceBuilder(0).trace());
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->process_count(), 0);
}

TEST(Places, members_agree_on_the_numbers_of_all) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) add_events(b, l, 1 + static_cast<int>(l));
  trace::Partition partition = trace::undivided(b.trace().definitions);
  partition.owner = {0, 1, 0};
  const auto result = run_team(2, [&](Team& team) -> Result<void> {
    const auto places = Places::agree({team, partition, b.trace()});
    EXPECT_TRUE(places);
    EXPECT_EQ(places->owner(1), 1);
    EXPECT_EQ(places->owner(2), 0);
    return {};
  });
  EXPECT_TRUE(result);
}

TEST(Memberships, seats_in_both_groups_of_an_inter_communicator) {
  TraceBuilder b(4);
  const std::uint32_t inter = b.inter_comm({2, 0}, {3, 3});
  Memberships memberships(b.trace().definitions);
  EXPECT_EQ(memberships.seat_of(inter, 0)->rank, 1);
  EXPECT_EQ(memberships.seat_of(inter, 0)->group, 0);
  EXPECT_EQ(memberships.seat_of(inter, 3)->group, 1);
  EXPECT_EQ(memberships.seat_of(inter, 3)->rank, 0);  // named twice: the first seat
  EXPECT_FALSE(memberships.seat_of(inter, 1));
  EXPECT_EQ(memberships.peer_process(inter, 3, 0), 2);  // a rank of the other group
  EXPECT_EQ(memberships.peer_process(inter, 0, 1), 3);
  EXPECT_EQ(memberships.peer_process(inter, 1, 0), k_none);  // does not belong to it
}

TEST(Memberships, ranks_and_communicators_that_do_not_exist_mean_nobody) {
  TraceBuilder b(2);
  const std::uint32_t self = b.self_comm();
  const std::uint32_t odd = b.comm({1, 99});
  Memberships memberships(b.trace().definitions);
  EXPECT_EQ(memberships.peer_process(self, 1, 0), 1);
  EXPECT_EQ(memberships.peer_process(odd, 0, 0), 1);
  EXPECT_EQ(memberships.peer_process(odd, 0, 1), k_none);
  EXPECT_EQ(memberships.peer_process(odd, 0, 2), k_none);
  EXPECT_EQ(memberships.peer_process(77, 0, 0), k_none);
}

TEST(Memberships, a_process_is_in_a_group_once) {
  TraceBuilder b(3, 2);
  const std::uint32_t group = b.group({5, 0, 1, 4, 99});
  Memberships memberships(b.trace().definitions);
  EXPECT_EQ(memberships.processes_of(group), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(memberships.processes_of(group + 1).empty());
}

}  // namespace
}  // namespace entrain::verify
