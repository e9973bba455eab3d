// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_domains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Four processes on two nodes; a message there and back inside each node, and one between them.
TraceBuilder two_nodes(std::uint64_t early = 0) {
  TraceBuilder b(4, 1, 2);
  b.message(K::send, 0, 1'000, 1);
  b.message(K::recv, 1, 1'010 - early, 0);
  b.message(K::send, 1, 2'000, 0);
  b.message(K::recv, 0, 2'020, 1);
  b.message(K::send, 2, 501'000, 3);
  b.message(K::recv, 3, 501'005, 2);
  b.message(K::send, 3, 502'000, 2);
  b.message(K::recv, 2, 502'005, 3);
  b.message(K::send, 2, 503'000, 0, 7);
  b.message(K::recv, 0, 3'000, 2, 7);
  return b;
}

void measure(TraceBuilder& b, LocationIndex l, std::int64_t offset, double half_width = 0) {
  b.trace().locations[l].clock_offsets = {{0, offset, half_width}, {10'000, offset, half_width}};
}

DomainChoice choose(const TraceBuilder& b, ClockDomain rule = ClockDomain::automatic,
                    const MuTicks& mu = {}) {
  return choose_domains(constraints::testing::WholeTrace(b.trace(), mu).context(), rule);
}

TEST(ChooseDomains, unmeasured_nodes_that_nothing_contradicts_are_clocks) {
  const DomainChoice choice = choose(two_nodes());
  EXPECT_THAT(choice.domains.of, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(choice.notes, IsEmpty());
  EXPECT_TRUE(choice.automatic);
}

TEST(ChooseDomains, a_message_that_would_arrive_too_early_splits_its_node_only) {
  const DomainChoice choice = choose(two_nodes(30));
  EXPECT_THAT(choice.domains.of, ElementsAre(0, 1, 2, 2));
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_THAT(choice.notes[0], HasSubstr("in 1 of 2 cases"));
  EXPECT_THAT(choice.notes[0], HasSubstr("arrives 20 us too early"));
}

/// A node of two processes, each with a thread and a stream; kernels begin `late` after launch.
TraceBuilder with_accelerators(std::int64_t late) {
  TraceBuilder b(2, 2, 2);
  for (const LocationIndex l : {0u, 2u}) {
    b.trace().definitions.locations[l + 1].type = trace::LocationType::accelerator;
    b.add(l, 1'000, K::kernel_launch).peer = l + 1;
    b.add(l + 1, static_cast<std::uint64_t>(1'000 + (l == 2 ? late : 5)), K::kernel_begin);
    b.add(l + 1, 1'500, K::kernel_end);
  }
  return b;
}

TEST(ChooseDomains, an_accelerator_that_contradicts_its_process_is_a_clock_of_its_own) {
  EXPECT_THAT(choose(with_accelerators(5)).domains.of, ElementsAre(0, 0, 0, 0));
  const DomainChoice choice = choose(with_accelerators(-30));
  EXPECT_THAT(choice.domains.of, ElementsAre(0, 0, 0, 1)) << "the processes still share one";
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_THAT(choice.notes[0], HasSubstr("the threads and the accelerators of a process"));
}

TEST(ChooseDomains, the_minimum_latency_counts) {
  EXPECT_THAT(choose(two_nodes(), ClockDomain::automatic, {0, 7, 7}).domains.of,
              ElementsAre(0, 0, 1, 2));
}

TEST(ChooseDomains, what_the_tracer_proved_is_not_split) {
  TraceBuilder b = two_nodes(30);
  b.trace().definitions.properties = {{"ENTRAIN::CLOCKS", "0-1"}};
  const DomainChoice half = choose(b);
  EXPECT_THAT(half.domains.of, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(half.notes, IsEmpty());
  EXPECT_FALSE(half.proved);  // the other node is a guess
  b.trace().definitions.properties = {{"ENTRAIN::CLOCKS", "0-1 2,3"}};
  EXPECT_TRUE(choose(b).proved);
  // Both nodes have one clock, although nothing else says so.
  b.trace().definitions.properties = {{"ENTRAIN::CLOCKS", "0,2"}};
  EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 1, 0, 0));
}

TEST(ChooseDomains, a_proof_that_cannot_be_understood_proves_nothing) {
  for (const char* text : {"0-", "0-9", "0 0", "a", "1-0", "0;1"}) {
    TraceBuilder b = two_nodes(30);
    b.trace().definitions.properties = {{"ENTRAIN::CLOCKS", text}};
    EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 1, 2, 2)) << text;
  }
}

TEST(ChooseDomains, offsets_may_differ_by_their_half_widths) {
  TraceBuilder b = two_nodes();
  measure(b, 0, 0);
  measure(b, 1, 9, 10);
  measure(b, 2, -500'000, 5);
  measure(b, 3, -500'011, 5);
  const DomainChoice choice = choose(b);
  EXPECT_THAT(choice.domains.of, ElementsAre(0, 0, 1, 2));
  ASSERT_EQ(choice.notes.size(), 1u);
  EXPECT_THAT(choice.notes[0], HasSubstr("differ by 1 us more than they may"));
}

TEST(ChooseDomains, unknown_half_widths_leave_what_messages_leave) {
  TraceBuilder b = two_nodes();
  measure(b, 0, 4);  // 10 + 20 ticks are open
  measure(b, 1, 34);
  measure(b, 2, -500'000);  // 5 + 5 ticks
  measure(b, 3, -500'011);
  EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 0, 1, 2));
  TraceBuilder silent(2, 1, 2);
  silent.request(K::irecv_request, 0, 10, 1);
  silent.request(K::irecv_request, 1, 10, 1);
  measure(silent, 0, 4);
  measure(silent, 1, 5);
  EXPECT_THAT(choose(silent).domains.of, ElementsAre(0, 1));
  measure(silent, 1, 4);
  EXPECT_THAT(choose(silent).domains.of, ElementsAre(0, 0));
}

/// The third process talks to the second one only, which leaves 10 ticks open; from the first one
/// on it is 40.
TEST(ChooseDomains, messages_by_way_of_others_leave_more) {
  TraceBuilder b(3, 1, 3);
  const auto talk = [&](LocationIndex from, LocationIndex to, std::uint64_t at, std::uint64_t way) {
    b.message(K::send, from, at, to);
    b.message(K::recv, to, at + way, from);
  };
  talk(0, 1, 1'000, 10);
  talk(1, 0, 2'000, 20);
  talk(1, 2, 3'000, 5);
  talk(2, 1, 4'000, 5);
  measure(b, 0, 4);
  measure(b, 2, 44);
  EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 0, 0));
  measure(b, 2, 45);
  EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 1, 2));
}

TEST(ChooseDomains, contradicting_threads_split_process_and_node) {
  TraceBuilder b(2, 2, 2);
  measure(b, 0, 0);
  measure(b, 1, 1'000, 1);
  EXPECT_THAT(choose(b).domains.of, ElementsAre(0, 1, 2, 2));
}

TEST(ChooseDomains, rules_are_obeyed_whatever_speaks_against_them) {
  const TraceBuilder b = two_nodes(30);
  const DomainChoice node = choose(b, ClockDomain::node);
  EXPECT_THAT(node.domains.of, ElementsAre(0, 0, 1, 1));
  EXPECT_FALSE(node.automatic);
  EXPECT_EQ(node.notes.size(), 1u);
  EXPECT_THAT(choose(b, ClockDomain::process).domains.of, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(choose(b, ClockDomain::location).domains.trivial());
}

TEST(ShareMaps, the_best_measured_clock_speaks_for_its_domain) {
  TraceBuilder b = two_nodes();
  measure(b, 0, 500, 8);
  measure(b, 1, 503, 2);
  const auto map = [](std::int64_t offset) {
    return *ClockMap::from_knots({{0, offset}, {10'000, offset}});
  };
  std::vector<ClockMap> maps{map(500), map(503), {}, {}};
  share_maps(constraints::testing::WholeTrace(b.trace()).share(),
             trace::domains_by(b.trace().definitions.node_of), maps);
  EXPECT_THAT(maps, ElementsAre(map(503), map(503), ClockMap(), ClockMap()));
}

}  // namespace
}  // namespace entrain::causal
