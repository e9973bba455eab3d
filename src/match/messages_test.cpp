// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::IsEmpty;
using testing::pair_count;
using testing::Pairs;
using testing::pairs_of;
using testing::TraceBuilder;
using K = trace::EventKind;

Pairs messages(const TraceBuilder& b) { return pairs_of(b, EdgeKind::p2p); }

TEST(Messages, send_happens_before_receive) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 140, 0);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p), (Pairs{{{0, 100}, {1, 140}}}));
  EXPECT_EQ(pair_count(graph), 1u);
  EXPECT_THAT(graph.unmatched, IsEmpty());
  EXPECT_THAT(graph.skipped, IsEmpty());
}

TEST(Messages, stamps_decide_nothing) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 1);
  b.message(K::recv, 1, 10, 0);
  b.message(K::recv, 1, 1'000, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 100}, {1, 10}}, {{0, 200}, {1, 1'000}}}));
}

TEST(Messages, channel_is_sender_receiver_communicator_and_tag) {
  TraceBuilder b(3);
  const auto other = b.comm({2, 1, 0});  // ranks the other way round
  b.message(K::send, 0, 1, 1, 7);
  b.message(K::send, 0, 2, 1, 8);
  b.message(K::send, 0, 3, 1, 7, 0, other);
  b.message(K::send, 2, 4, 1, 7);
  b.message(K::recv, 1, 14, 2, 7);
  b.message(K::recv, 1, 13, 2, 7, 0, other);
  b.message(K::recv, 1, 12, 0, 8);
  b.message(K::recv, 1, 11, 0, 7);
  EXPECT_EQ(messages(b),
            (Pairs{{{0, 1}, {1, 11}}, {{0, 2}, {1, 12}}, {{0, 3}, {1, 13}}, {{2, 4}, {1, 14}}}));
}

TEST(Messages, receives_match_in_posting_order_and_end_at_completion) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 1, 1, 0, 5);
  b.message(K::isend, 0, 2, 1, 0, 6);
  b.request(K::irecv_request, 1, 10, 70);
  b.request(K::irecv_request, 1, 11, 71);
  b.message(K::irecv, 1, 20, 0, 0, 71);  // posted second, completed first
  b.message(K::irecv, 1, 21, 0, 0, 70);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {1, 21}}, {{0, 2}, {1, 20}}}));
}

TEST(Messages, a_posted_receive_comes_before_later_blocking_ones) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1, 1);
  b.message(K::send, 0, 2, 1);
  b.request(K::irecv_request, 1, 10, 70);
  b.message(K::recv, 1, 11, 0);
  b.message(K::irecv, 1, 12, 0, 0, 70);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {1, 12}}, {{0, 2}, {1, 11}}}));
}

TEST(Messages, a_persistent_request_is_posted_again_and_again) {
  TraceBuilder b(2);
  for (std::uint64_t round = 0; round < 3; ++round) {
    b.message(K::isend, 0, round, 1, 0, 5);
    b.request(K::irecv_request, 1, 10 + 10 * round, 70);
    b.message(K::irecv, 1, 15 + 10 * round, 0, 0, 70);
  }
  EXPECT_EQ(messages(b), (Pairs{{{0, 0}, {1, 15}}, {{0, 1}, {1, 25}}, {{0, 2}, {1, 35}}}));
}

TEST(Messages, a_completion_without_request_counts_where_it_stands) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1, 1);
  b.message(K::send, 0, 2, 1);
  b.message(K::irecv, 1, 10, 0, 0, 70);  // its request was lost
  b.message(K::recv, 1, 11, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {1, 10}}, {{0, 2}, {1, 11}}}));
}

TEST(Messages, cancelled_operations_take_no_message) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 1, 1, 0, 5);
  b.request(K::request_cancelled, 0, 2, 5);
  b.message(K::send, 0, 3, 1);
  b.request(K::irecv_request, 1, 10, 70);
  b.request(K::request_cancelled, 1, 11, 70);
  b.message(K::recv, 1, 12, 0);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p), (Pairs{{{0, 3}, {1, 12}}}));
  EXPECT_EQ(graph.skipped, (Counters{{"cancelled_sends", 1}, {"cancelled_receives", 1}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Messages, cancelling_hits_the_latest_use_of_a_request) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 1, 1, 0, 5);
  b.message(K::isend, 0, 2, 1, 0, 5);  // the first one was completed in between
  b.request(K::request_cancelled, 0, 3, 5);
  b.message(K::recv, 1, 10, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {1, 10}}}));
}

TEST(Messages, a_request_never_completed_takes_no_message) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1, 1);
  b.request(K::irecv_request, 1, 10, 70);
  b.message(K::recv, 1, 11, 0);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p), (Pairs{{{0, 1}, {1, 11}}}));
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Messages, what_is_left_over_is_counted) {
  TraceBuilder b(3);
  b.message(K::send, 0, 1, 1);
  b.message(K::send, 0, 2, 1);
  b.message(K::recv, 1, 10, 0);  // of the first send or of the second one
  b.message(K::recv, 1, 11, 2);
  b.message(K::send, 0, 3, 9);                 // no such rank
  b.message(K::recv, 1, 12, 0, 0, 0, k_none);  // undefined communicator
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p), Pairs{});
  EXPECT_EQ(graph.unmatched, (Counters{{"sends", 3}, {"receives", 3}, {"ambiguous_receives", 1}}));
}

TEST(Messages, a_message_to_oneself_is_matched_but_no_edge) {
  TraceBuilder b(2);
  const auto self = b.self_comm();
  b.message(K::isend, 1, 1, 1, 0, 5);
  b.message(K::recv, 1, 2, 1);
  b.message(K::isend, 1, 3, 0, 0, 6, self);
  b.message(K::recv, 1, 4, 0, 0, 0, self);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pair_count(graph), 0u);
  EXPECT_THAT(graph.unmatched, IsEmpty());
}

TEST(Messages, ranks_of_an_inter_communicator_name_the_other_group) {
  TraceBuilder b(4);
  const auto inter = b.inter_comm({0, 1}, {2, 3});
  b.message(K::send, 0, 1, 1, 0, 0, inter);   // to location 3
  b.message(K::recv, 3, 10, 0, 0, 0, inter);  // from location 0
  b.message(K::send, 2, 2, 1, 0, 0, inter);   // to location 1
  b.message(K::recv, 1, 11, 0, 0, 0, inter);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {3, 10}}, {{2, 2}, {1, 11}}}));
}

TEST(Messages, threads_of_a_process_share_its_channels) {
  TraceBuilder b(2, 2);  // locations 2 and 3: process 1
  b.message(K::send, 0, 1, 1);
  b.message(K::send, 1, 2, 1);
  b.message(K::recv, 3, 10, 0);  // the earlier one by the process's common clock
  b.message(K::recv, 2, 11, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {3, 10}}, {{1, 2}, {2, 11}}}));
}

TEST(Messages, posting_order_holds_across_threads) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 1, 1);
  b.message(K::send, 0, 2, 1);
  b.message(K::recv, 2, 11, 0);
  b.request(K::irecv_request, 3, 10, 70);  // posted first
  b.message(K::irecv, 3, 12, 0, 0, 70);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {3, 12}}, {{0, 2}, {2, 11}}}));
}

TEST(Messages, nobody_knows_which_of_two_receives_has_the_only_send) {
  TraceBuilder b(2, 2);
  b.message(K::send, 0, 5, 1);
  b.message(K::recv, 3, 8, 0);
  b.message(K::recv, 2, 9, 0);
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p), Pairs{});
  EXPECT_EQ(count_of(graph.unmatched, "receives"), 2u);
  EXPECT_EQ(count_of(graph.unmatched, "sends"), 1u);
}

/// 400 rounds of three messages from 0 to 1, of which one receive has no record. Clocks were
/// measured at begin and end, where they agree; in between, that of 1 is `late` ticks behind.
Pairs measured_messages(std::uint64_t late) {
  constexpr std::uint64_t k_rounds = 400, k_round = 2'000;
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < k_rounds; ++k) {
    for (std::uint32_t tag = 0; tag < 3; ++tag) {
      const std::uint64_t at = 100'000 + k_round * k + 10 * tag;
      b.message(K::send, 0, at, 1, tag);
      if (k != 170 || tag != 0) b.message(K::recv, 1, at + 50 - late, 0, tag);
    }
  }
  for (trace::LocationSkeleton& location : b.trace().locations) {
    location.clock_offsets = {{.time = 0}, {.time = 200'000 + k_rounds * k_round}};
  }
  return messages(b);
}

TEST(Messages, clock_records_that_certain_messages_contradict_decide_nothing) {
  for (const std::uint64_t late : {0, 7'000}) {
    const Pairs found = measured_messages(late);
    EXPECT_EQ(found.size(), 3 * 400 - 1u) << late;
    for (const auto& [send, receive] : found) {
      EXPECT_EQ(receive.time, send.time + 50 - late);
    }
  }
}

TEST(Messages, of_a_row_of_sends_nobody_knows_which_is_lost) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 400; ++k) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t at = 100'000 + 2'000 * k + 10 * i;
      if (k != 100 || i != 0) b.message(K::send, 0, at, 1);
      b.message(K::recv, 1, at + 50, 0);
    }
    for (std::uint32_t tag = 1; tag < 4; ++tag) {
      b.message(K::send, 1, 101'000 + 2'000 * k + 10 * tag, 0, tag);
      b.message(K::recv, 0, 101'050 + 2'000 * k + 10 * tag, 1, tag);
    }
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(count_of(graph.unmatched, "ambiguous_receives"), 2u);  // one more has no send
  const Pairs found = pairs_of(graph, EdgeKind::p2p);
  EXPECT_EQ(found.size(), 6 * 400 - 3u);
  for (const auto& [send, receive] : found) EXPECT_EQ(receive.time, send.time + 50);
}

/// Process 0 lost its first round, and process 1 its last one: all messages from 0 to 1 seem to be
/// received a round before they were sent.
TraceBuilder rounds_off(bool measured) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k <= 400; ++k) {
    const std::uint64_t at = 100'000 + 2'000 * k + k * k * 37 % 900;
    for (std::uint32_t tag = 0; tag < 3; ++tag) {
      if (k > 0) b.message(K::send, 0, at + 10 * tag, 1, tag);
      if (k < 400) b.message(K::recv, 1, at + 10 * tag + 50, 0, tag);
    }
    if (k < 400) b.message(K::send, 1, at + 100, 0);
    b.message(K::recv, 0, at + 150, 1);
  }
  for (trace::LocationSkeleton& location : b.trace().locations) {
    if (measured) location.clock_offsets = {{.time = 0}, {.time = 1'100'000}};
  }
  return b;
}

TEST(Messages, clock_records_stay_where_first_and_last_records_may_be_missing) {
  const auto off = [](const auto& pair) { return pair.receive.time < pair.send.time; };
  EXPECT_GT(std::ranges::count_if(messages(rounds_off(false)), off), 1'000);
  EXPECT_EQ(std::ranges::count_if(messages(rounds_off(true)), off), 0);
}

TEST(Messages, a_channel_of_receives_without_requests_has_no_pairs) {
  // A routine of tags 0 to 2; the only receive of tag 7 lost its request, and a receive is missing.
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 400; ++k) {
    const std::uint64_t at = 1'000 * (k + 1);
    for (std::uint32_t tag = 0; tag < 3; ++tag) {
      b.message(K::send, 0, at + 10 * tag, 1, tag);
      if (k == 170 && tag == 0) continue;
      b.request(K::irecv_request, 1, at + 10 * tag + 1, 70);
      b.message(K::irecv, 1, at + 10 * tag + 5, 0, tag, 70);
    }
    if (k != 200) continue;
    b.message(K::send, 0, at + 100, 1, 7);
    b.message(K::irecv, 1, at + 105, 0, 7, 71);
  }
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(pairs_of(graph, EdgeKind::p2p).size(), 3 * 400 - 1u);
  const auto& claims = graph.witness.channels;
  const auto of_tag_7 = std::ranges::find(claims, 7u, &trace::ClaimedChannel::tag);
  ASSERT_NE(of_tag_7, claims.end()) << "without a claim a channel is complete";
  EXPECT_THAT(of_tag_7->pairs, IsEmpty());
}

TEST(Messages, clocks_of_threads_do_not_decide_which_records_belong_together) {
  // A receive of tag 0 is lost; process 0 has no records of its end, and half of one of a receive.
  // Whether the threads of process 1 received tag 0 before tag 5 depends on their clocks.
  const auto paired = [](std::uint64_t apart) {
    TraceBuilder b(2, 2);
    b.request(K::irecv_request, 0, 900, 70);
    for (std::uint64_t k = 0; k < 4; ++k) {
      b.message(K::send, 0, 1'000 + 10 * k, 1, 0);
      if (k != 2) b.message(K::recv, 2, 1'005 + 10 * k + apart, 0, 0);
    }
    b.message(K::send, 0, 1'100, 1, 5);
    b.message(K::recv, 3, 1'105, 0, 5);
    b.trace().locations[0].truncated = true;
    const Graph graph = build_graph(b.trace(), {});
    return std::pair(pairs_of(graph, EdgeKind::p2p).size(), graph.witness.channels.size());
  };
  EXPECT_EQ(paired(0), paired(1'000));
}

TEST(Messages, clock_records_are_tested_before_they_decide_between_gaps) {
  // The clock of 1 is 7 ms late between its records, which exclude all right pairs. Two gaps of 0
  // hide two sends each; irregular rounds show which. Messages from 2 are complete.
  constexpr std::uint64_t k_rounds = 400, k_round = 2'000, k_late = 7'000;
  TraceBuilder b(3);
  for (std::uint64_t k = 0; k < k_rounds; ++k) {
    const std::uint64_t at = 100'000 + k_round * k + k * k * 37 % 900;
    const bool recorded = k < 100 || (k >= 102 && k < 300) || k >= 302;
    for (std::uint32_t tag = 0; tag < 2; ++tag) {
      if (recorded) b.message(K::send, 0, at + tag, 1, tag);
      b.message(K::recv, 1, at + tag + 50 - k_late, 0, tag);
    }
    b.message(K::send, 2, at + 2, 1);
    b.message(K::recv, 1, at + 52 - k_late, 2);
  }
  for (trace::LocationSkeleton& location : b.trace().locations) {
    location.clock_offsets = {{.time = 0}, {.time = 200'000 + k_rounds * k_round}};
  }
  const auto gap = [](std::uint64_t first) {
    return trace::Gap{.begin = 99'000 + k_round * first, .end = 99'000 + k_round * (first + 2)};
  };
  b.trace().locations[0].gaps = {gap(100), gap(300)};
  const Pairs found = messages(b);
  EXPECT_GE(found.size(), k_rounds + 2 * 390u);
  for (const auto& [send, receive] : found) EXPECT_EQ(receive.time, send.time + 50 - k_late);
}

TEST(Messages, before_a_receive_that_never_completed_none_is_counted_from_the_end) {
  // The last receive of 100 never completed. Ten sends lie in a gap; the other process has none.
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 100; ++k) {
    const std::uint64_t at = 1'000 * (k + 1);
    if (k < 40 || k >= 50) b.message(K::send, 0, at, 1);
    b.request(K::irecv_request, 1, at + 1, 70);
    if (k < 99) b.message(K::irecv, 1, at + 10, 0, 0, 70);
  }
  b.trace().locations[0].gaps = {{.begin = 40'500, .end = 50'500}};
  const Pairs found = messages(b);
  EXPECT_GE(found.size(), 40u);
  for (const auto& [send, receive] : found) EXPECT_EQ(receive.time, send.time + 10);
}

TEST(Messages, sends_of_threads_match_what_one_thread_has_posted) {
  TraceBuilder b(2, 2);
  b.message(K::send, 1, 1, 1);
  b.message(K::send, 0, 2, 1);
  b.request(K::irecv_request, 2, 10, 70);
  b.request(K::irecv_request, 2, 11, 71);
  b.message(K::irecv, 2, 12, 0, 0, 71);
  b.message(K::irecv, 2, 20, 0, 0, 70);
  EXPECT_EQ(messages(b), (Pairs{{{0, 2}, {2, 12}}, {{1, 1}, {2, 20}}}));
}

TEST(Messages, threads_write_to_their_own_process) {
  TraceBuilder b(1, 3);
  b.message(K::send, 0, 2, 0);
  b.message(K::send, 1, 1, 0);
  b.message(K::recv, 2, 10, 0);
  b.message(K::recv, 2, 11, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 2}, {2, 11}}, {{1, 1}, {2, 10}}}));
}

TEST(Messages, requests_of_all_operations_share_their_ids) {
  TraceBuilder b(2);
  b.message(K::isend, 0, 1, 1, 0, 7);
  b.request(K::nb_request, 0, 2, 7);  // takes the id over
  b.request(K::request_cancelled, 0, 3, 7);
  b.message(K::isend, 0, 4, 1, 0, 8);
  b.collective_end(K::nb_complete, 0, 5, trace::op::barrier).id = 8;
  b.request(K::request_cancelled, 0, 6, 8);
  b.message(K::recv, 1, 10, 0);
  b.message(K::recv, 1, 11, 0);
  EXPECT_EQ(messages(b), (Pairs{{{0, 1}, {1, 10}}, {{0, 4}, {1, 11}}}));
}

TEST(Graph, one_node_per_distinct_stamp) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 0, 100, 1);
  b.message(K::send, 0, 101, 0);
  b.message(K::recv, 0, 101, 0);
  b.message(K::send, 1, 100, 0);
  b.message(K::recv, 1, 107, 0);
  Options options;
  options.every_event = true;
  const Graph every = build_graph(b.trace(), options);
  EXPECT_EQ(every.first_node, (std::vector<NodeIndex>{0, 2, 4}));
  EXPECT_EQ(every.stamp, (std::vector<std::uint64_t>{100, 101, 100, 107}));
  // Both messages of number 0 have one channel; the second one has no receive.
  const Graph graph = build_graph(b.trace(), {});
  EXPECT_EQ(graph.first_node, (std::vector<NodeIndex>{0, 1, 3}));
  EXPECT_EQ(graph.stamp, (std::vector<std::uint64_t>{100, 100, 107}));
  ASSERT_EQ(graph.edges.size(), 2u);
  EXPECT_EQ(graph.edges[0].receive, 0u);
  EXPECT_EQ(graph.edges[0].send, 1u);
  EXPECT_EQ(graph.edges[1].receive, 2u);
  EXPECT_EQ(graph.edges[1].send, 0u);
}

TEST(Graph, what_32_bits_cannot_number_is_refused) {
  constexpr std::uint64_t k_fits = 0xFFFF'0000u, k_too_much = std::uint64_t{1} << 32;
  EXPECT_TRUE(require_countable({}, "traces.otf2"));
  EXPECT_TRUE(require_countable({.events = k_fits, .nodes = k_fits, .edges = k_fits}, ""));
  for (const GraphSize& size :
       {GraphSize{.events = k_too_much}, GraphSize{.nodes = k_too_much},
        GraphSize{.edges = k_too_much}, GraphSize{.exchanges = k_too_much},
        GraphSize{.participants = k_too_much}, GraphSize{.nodes = k_fits, .participants = k_fits},
        GraphSize{.events = ~std::uint64_t{0}},
        GraphSize{.nodes = ~std::uint64_t{0}, .participants = 1}}) {
    const auto result = require_countable(size, "traces.otf2");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_EQ(result.error().message,
              "traces.otf2 has more than 4294967039 communication events, or relations between "
              "them, on one worker; share them out among more threads or processes");
  }
}

TEST(Graph, edges_know_their_latency_class) {
  TraceBuilder b(3, 2, 2);  // two threads per process, two processes per node
  b.message(K::send, 1, 10, 0);
  b.message(K::send, 0, 11, 1);
  b.message(K::send, 0, 12, 2);
  b.message(K::recv, 0, 20, 0);
  b.message(K::recv, 2, 21, 0);
  b.message(K::recv, 4, 22, 0);
  const Graph graph = build_graph(b.trace(), {});
  ASSERT_EQ(graph.edges.size(), 3u);  // sorted by receive node
  EXPECT_EQ(graph.edges[0].latency_class, LatencyClass::same_process);
  EXPECT_EQ(graph.edges[1].latency_class, LatencyClass::same_node);
  EXPECT_EQ(graph.edges[2].latency_class, LatencyClass::other);
}

}  // namespace
}  // namespace entrain::match
