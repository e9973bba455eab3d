// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/claims.hpp"

#include <functional>

#include <gtest/gtest.h>

namespace entrain::kineto {
namespace {

/// Three ranks with four calls each: two collectives of all, and a message from each to the next.
class Claims : public ::testing::Test {
 protected:
  Claims() {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      RankFile& file = files_.emplace_back();
      file.rank = rank;
      file.numbers = {rank};
      const auto add = [&](std::uint64_t end, Operation operation, std::uint32_t from,
                           std::uint32_t to) {
        file.calls.push_back({.begin = end - 10,
                              .end = end,
                              .size = 8,
                              .from = from,
                              .to = to,
                              .operation = operation,
                              .group = "g"});
      };
      const std::uint32_t next = (rank + 1) % 3, before = (rank + 2) % 3;
      add(100 + rank, Operation::all_reduce, k_no_rank, k_no_rank);
      add(200 + rank, Operation::all_reduce, k_no_rank, k_no_rank);
      add(300, Operation::send_receive, k_no_rank, next);
      add(400, Operation::send_receive, before, k_no_rank);
    }
    for (const std::uint32_t call : {0U, 1U}) {
      instances_.push_back(
          {.members = {{0, call}, {1, call}, {2, call}}, .operation = Operation::all_reduce});
    }
    instances_.push_back(
        {.members = {{0, 2}, {1, 3}}, .operation = Operation::send_receive, .root = 0});
    instances_.push_back(
        {.members = {{0, 3}, {2, 2}}, .operation = Operation::send_receive, .root = 2});
  }

  /// Number of calls of instances that do not hold after a change.
  std::uint64_t refuted(const std::function<void()>& change) {
    const std::vector<RankFile> files = files_;
    change();
    std::vector<Instance> instances = instances_;
    const std::uint64_t dropped = drop_refuted(instances, files_);
    files_ = files;
    return dropped;
  }

  std::vector<RankFile> files_;
  std::vector<Instance> instances_;
};

TEST_F(Claims, those_that_records_agree_with_hold) {
  EXPECT_EQ(refuted([] {}), 0U);
}

TEST_F(Claims, a_call_that_contradicts_its_instance_refutes_it) {
  Call& call = files_[1].calls[1];
  EXPECT_EQ(refuted([&] { call.group = "h"; }), 3U);
  EXPECT_EQ(refuted([&] { files_[1].calls[1].operation = Operation::barrier; }), 3U);
  EXPECT_EQ(refuted([&] { files_[1].calls[1].size = 16; }), 3U);
  EXPECT_EQ(refuted([&] { files_[1].calls[1].size = 0; }), 0U);
  EXPECT_EQ(refuted([&] { files_[1].calls[1].zero_splits = true; }), 3U);
  EXPECT_EQ(refuted([&] { files_[1].calls[0].end = 900; }), 3U);  // behind the other one
  EXPECT_EQ(refuted([&] {
              for (RankFile& file : files_) file.calls[1].number = 5;
              files_[2].calls[1].number = 6;
            }),
            3U);
  EXPECT_EQ(refuted([&] { files_[0].calls[2].to = 2; }), 2U);  // sent to another one
  EXPECT_EQ(refuted([&] { files_[1].calls[3].from = 2; }), 2U);
  EXPECT_EQ(refuted([&] {
              for (RankFile& file : files_) file.calls[0].root = 3;  // no member
            }),
            3U);
}

/// A rank counts all of its sends and receives.
TEST_F(Claims, messages_have_numbers_of_their_ranks) {
  EXPECT_EQ(refuted([&] {
              files_[0].calls[2].number = 1;
              files_[1].calls[3].number = 2;
            }),
            0U);
}

TEST_F(Claims, records_exist_and_are_of_one_instance) {
  const std::vector<Instance> right = instances_;
  const auto with = [&](std::size_t instance, std::vector<Member> members) {
    return refuted([&] {
      instances_ = right;
      instances_[instance].members = std::move(members);
    });
  };
  EXPECT_EQ(with(1, {{0, 1}, {1, 0}, {2, 1}}), 3U);  // of the first one
  EXPECT_EQ(with(1, {{0, 1}, {1, 9}, {2, 1}}), 3U);
  EXPECT_EQ(with(1, {{0, 1}, {3, 1}}), 2U);
  EXPECT_EQ(with(1, {{0, 1}, {0, 1}}), 2U);
  EXPECT_EQ(with(1, {{0, 1}}), 1U);
  EXPECT_EQ(with(2, {{0, 2}, {1, 3}, {2, 3}}), 3U);
}

TEST_F(Claims, an_arrow_joins_parts_of_its_key) {
  files_[0].arrows = {{.key = 7, .time = 10, .part = Arrow::Part::start}};
  files_[1].arrows = {{.key = 7, .time = 20, .part = Arrow::Part::step}};
  files_[2].arrows = {{.key = 7, .time = 30, .part = Arrow::Part::end},
                      {.key = 8, .time = 40, .part = Arrow::Part::end}};
  std::vector<ArrowEdge> edges{{0, 1, 10, 20, 7}, {1, 2, 20, 30, 7}, {0, 2, 10, 40, 7},
                               {0, 2, 10, 40, 8}, {2, 1, 30, 20, 7}, {1, 0, 20, 10, 7},
                               {0, 1, 11, 20, 7}};
  EXPECT_EQ(drop_refuted(edges, files_), 5U);
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[1].effect_time, 30U);
}

}  // namespace
}  // namespace entrain::kineto
