// SPDX-License-Identifier: BSD-3-Clause
#include "verify/relation.hpp"

#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;

/// The relation as one thread sees it, in stored stamps.
Relation relation_of(const trace::Trace& trace, const trace::Witness& witness = {}) {
  static const std::vector<ClockMap> maps(16);
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  return std::move(*Relation::build({solo, all, trace}, maps, AlltoallvRule::ignore,
                                    {.witness = &witness}, Cancel(nullptr)));
}

/// All single edges, one per line.
std::string pairs_of(const Relation& relation) {
  std::string text;
  relation.for_each_pair([&](const Pair& pair) {
    text += fmt::format("{}@{} -> {}@{}\n", pair.send.location, pair.send_time,
                        pair.receive.location, pair.receive_time);
  });
  return text;
}

/// All instances, one per line.
std::string instances_of(const Relation& relation) {
  std::string text;
  relation.for_each_instance([&](const Instance& instance) {
    for (const Moment& send : instance.sends) {
      text += fmt::format("{}@{} ", send.event.location, send.time);
    }
    text += "->";
    for (const Moment& receive : instance.receives) {
      text += fmt::format(" {}@{}", receive.event.location, receive.time);
    }
    text += '\n';
  });
  return text;
}

TEST(Relation, example_of_the_header) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1000, 1, 7);
  b.message(K::send, 0, 1200, 1, 7);
  b.message(K::send, 0, 1300, 1, 8);
  b.message(K::recv, 1, 500, 0, 7);
  b.message(K::recv, 1, 1300, 0, 7);
  const Relation relation = relation_of(b.trace());
  EXPECT_EQ(pairs_of(relation), "0@1000 -> 1@500\n0@1200 -> 1@1300\n");
  EXPECT_EQ(relation.unmatched().sends, 1);
  EXPECT_EQ(relation.unmatched().receives, 0);
  ASSERT_EQ(relation.channels().size(), 1);
  EXPECT_EQ(relation.channels()[0].pairs, 2);
}

TEST(Relation, tags_and_communicators_are_channels_of_their_own) {
  TraceBuilder b(2);
  const std::uint32_t other = b.comm({0, 1});
  b.message(K::send, 0, 10, 1, 1);
  b.message(K::send, 0, 20, 1, 2);
  b.message(K::send, 0, 30, 1, 1, 0, other);
  b.message(K::recv, 1, 41, 0, 1, 0, other);
  b.message(K::recv, 1, 42, 0, 2);
  b.message(K::recv, 1, 43, 0, 1);
  EXPECT_EQ(pairs_of(relation_of(b.trace())), "0@10 -> 1@43\n0@20 -> 1@42\n0@30 -> 1@41\n");
}

TEST(Relation, receives_pair_in_posting_order) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::send, 0, 20, 1);
  b.request(K::irecv_request, 1, 1, 1);
  b.request(K::irecv_request, 1, 2, 2);
  b.message(K::irecv, 1, 30, 0, 0, 2);
  b.message(K::irecv, 1, 40, 0, 0, 1);
  EXPECT_EQ(pairs_of(relation_of(b.trace())), "0@10 -> 1@40\n0@20 -> 1@30\n");
}

TEST(Relation, a_message_to_oneself_is_no_edge) {
  TraceBuilder b(1);
  b.message(K::send, 0, 10, 0);
  b.message(K::recv, 0, 20, 0);
  const Relation relation = relation_of(b.trace());
  EXPECT_EQ(pairs_of(relation), "");
  EXPECT_EQ(relation.channels().size(), 1);
  EXPECT_EQ(relation.unmatched().sends, 0);
}

TEST(Relation, a_lost_call_leaves_its_instance_to_the_others) {
  TraceBuilder b(3);
  std::uint64_t time = 0;
  constexpr std::uint32_t k_calls = 192, k_lost = 71;
  for (std::uint64_t k = 0; k < k_calls; ++k) {
    time += 100 + k * k % 37;
    for (LocationIndex l = 0; l < 3; ++l) {
      if (l == 2 && k == k_lost) continue;
      b.collective(l, time + l, time + 50 + l, trace::op::barrier);
    }
  }
  trace::Witness witness;
  witness.calls = {
      {.space = 0, .process = 0, .instances = {{0, 0, k_calls}}},
      {.space = 0, .process = 1, .instances = {{0, 0, k_calls}}},
      {.space = 0, .process = 2, .instances = {{0, 0, k_lost}, {k_lost + 1, k_lost + 2, 60}}}};
  const Relation relation = relation_of(b.trace(), witness);
  std::uint64_t of_two = 0, of_three = 0;
  relation.for_each_instance([&](const Instance& instance) {
    ++(instance.sends.size() == 2 ? of_two : of_three);
    for (const Moment& send : instance.sends) {
      EXPECT_EQ(send.time, instance.sends[0].time + send.event.location);
    }
  });
  EXPECT_EQ(of_two + of_three, k_calls);
  EXPECT_EQ(of_three, k_lost + 60);
  EXPECT_EQ(relation.unmatched().collectives_incomplete,
            static_cast<std::int64_t>(k_calls - 1 - (k_lost + 60)));
}

TEST(Relation, each_member_forms_a_range_of_the_instances) {
  TraceBuilder b(2);
  std::vector<std::string> expected(3);
  for (std::uint64_t k = 0; k < 5; ++k) {
    for (LocationIndex l = 0; l < 2; ++l) {
      b.collective(l, 100 * k + l, 100 * k + 50 + l, trace::op::barrier);
    }
    expected[k < 1   ? 0
             : k < 3 ? 1
                     : 2] +=
        fmt::format("0@{} 1@{} -> 0@{} 1@{}\n", 100 * k, 100 * k + 1, 100 * k + 50, 100 * k + 51);
  }
  EXPECT_EQ(instances_of(relation_of(b.trace())), expected[0] + expected[1] + expected[2]);
  trace::Partition partition;
  partition.owner = {0, 2};
  const std::vector<ClockMap> maps(2);
  const auto result = run_team(3, [&](Team& team) -> Result<void> {
    const auto relation = Relation::build({team, partition, b.trace()}, maps, AlltoallvRule::ignore,
                                          {}, Cancel(nullptr));
    EXPECT_EQ(instances_of(*relation), expected[team.rank()]);
    return {};
  });
  EXPECT_TRUE(result);
}

TEST(Relation, initialisation_is_an_instance_of_all_processes) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10 + l, K::init_enter);
    b.add(l, 20 + l, K::init_leave);
  }
  b.add(2, 12, K::init_enter);  // never leaves
  const Relation relation = relation_of(b.trace());
  EXPECT_EQ(instances_of(relation), "0@10 1@11 -> 0@20 1@21\n");
  EXPECT_EQ(relation.unmatched().init_finalize, 1);
}

TEST(Relation, knows_of_decreasing_stamps) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  EXPECT_FALSE(relation_of(b.trace()).decreasing());
  b.message(K::send, 0, 9, 1);
  EXPECT_TRUE(relation_of(b.trace()).decreasing());
}

TEST(Relation, of_nothing) {
  const TraceBuilder empty(0), quiet(3, 2);
  for (const TraceBuilder* b : {&empty, &quiet}) {
    const Relation relation = relation_of(b->trace());
    EXPECT_EQ(pairs_of(relation) + instances_of(relation), "");
    EXPECT_TRUE(relation.channels().empty());
  }
}

TEST(Relation, channels_meet_at_the_owner_of_the_receiver) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 1, 20, 0);
  b.message(K::send, 1, 30, 0);
  b.message(K::recv, 0, 40, 1);
  trace::Partition partition;
  partition.owner = {0, 1};
  const std::vector<ClockMap> maps(2);
  const auto result = run_team(2, [&](Team& team) -> Result<void> {
    const auto relation = Relation::build({team, partition, b.trace()}, maps, AlltoallvRule::ignore,
                                          {}, Cancel(nullptr));
    EXPECT_EQ(pairs_of(*relation), team.rank() == 0 ? "1@30 -> 0@40\n" : "0@10 -> 1@20\n");
    return {};
  });
  EXPECT_TRUE(result);
}

}  // namespace
}  // namespace entrain::verify
