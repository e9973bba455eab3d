// SPDX-License-Identifier: BSD-3-Clause
#include "verify/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using ::testing::HasSubstr;
using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;

/// Ten sends, one every 1000 ticks, of different lengths; all but the receive of number 4 have a
/// record, 100 ticks after the send. Times may be off by 10 ticks.
struct OneLost {
  std::vector<EndFacts> sends, receives;
  trace::ClaimedChannel claim{
      .sender = 0, .receiver = 1, .pairs = {{0, 0, 4}, {5, 4, 5}}, .ambiguous = 0};
  bool sender_has_gaps = false, receiver_has_gaps = false, by_clock_records = true;

  OneLost() {
    for (std::uint32_t k = 0; k < 10; ++k) {
      sends.push_back({.time = 1000 * k + 1000, .doubt = 10, .symbol = k});
      if (k != 4) receives.push_back({.time = 1000 * k + 1100, .doubt = 10, .symbol = k});
    }
  }
  /// "holds", or why not.
  [[nodiscard]] std::string test() const {
    const char* const why =
        refute(claim, {sends, receives, sender_has_gaps, receiver_has_gaps, by_clock_records});
    return why == nullptr ? "holds" : why;
  }
};

TEST(ChannelClaim, holds_if_records_agree) {
  EXPECT_EQ(OneLost().test(), "holds");
  OneLost none;
  none.claim.pairs.clear();
  EXPECT_EQ(none.test(), "holds");  // too few pairs are no error
}

TEST(ChannelClaim, needs_records) {
  OneLost send, receive;
  send.claim.pairs = {{0, 0, 4}, {9, 8, 2}};
  EXPECT_EQ(send.test(), "there is no such record");
  receive.claim.pairs = {{0, 0, 4}, {5, 8, 2}};
  EXPECT_EQ(receive.test(), "there is no such record");
  receive.claim.pairs = {{0, 0xFFFFFFFF, 0xFFFFFFFF}};
  EXPECT_EQ(receive.test(), "there is no such record");
}

TEST(ChannelClaim, uses_each_record_once_and_in_order) {
  OneLost send, receive, order;
  send.claim.pairs = {{0, 0, 4}, {3, 4, 1}};
  EXPECT_EQ(send.test(), "a record is in two pairs, or out of order");
  receive.claim.pairs = {{0, 0, 4}, {5, 3, 1}};
  EXPECT_EQ(receive.test(), "a record is in two pairs, or out of order");
  order.claim.pairs = {{0, 1, 1}, {1, 0, 1}};
  order.receives[1].symbol = 0;
  EXPECT_EQ(order.test(), "a record is in two pairs, or out of order");
}

TEST(ChannelClaim, compares_lengths) {
  OneLost lengths;
  lengths.claim.pairs = {{0, 0, 9}};
  EXPECT_EQ(lengths.test(), "lengths differ");
}

TEST(ChannelClaim, respects_clock_records) {
  OneLost early;
  early.receives[2].time = early.sends[2].time - 20;
  EXPECT_EQ(early.test(), "holds");  // both may be off by 10
  early.receives[2].time -= 1;
  EXPECT_EQ(early.test(), "clock records contradict a pair");
  early.by_clock_records = false;
  EXPECT_EQ(early.test(), "holds");
}

TEST(ChannelClaim, counts_no_more_ends_than_there_are) {
  OneLost left;
  left.claim.pairs = {{0, 0, 4}};
  left.claim.ambiguous = 5;
  EXPECT_EQ(left.test(), "holds");
  left.claim.ambiguous = 6;
  EXPECT_EQ(left.test(), "more messages are counted than there are");
  left.claim.ambiguous = 0;
  left.claim.sends_in_gaps = 7;
  left.receiver_has_gaps = true;
  EXPECT_EQ(left.test(), "more messages are counted than there are");
}

TEST(ChannelClaim, needs_a_gap_for_what_fell_into_one) {
  OneLost gap;
  gap.claim.sends_in_gaps = 1;
  EXPECT_EQ(gap.test(), "the other process has no gap in its records");
  gap.receiver_has_gaps = true;
  EXPECT_EQ(gap.test(), "holds");
  gap.claim.pairs.pop_back();
  gap.claim.receives_in_gaps = 1;
  EXPECT_EQ(gap.test(), "the other process has no gap in its records");
  gap.sender_has_gaps = true;
  EXPECT_EQ(gap.test(), "holds");
}

TEST(CallsClaim, is_tested_by_numbers) {
  const auto test = [](std::vector<trace::ClaimedRun> runs, std::uint32_t ambiguous = 0,
                       std::uint32_t in_gaps = 0) {
    const trace::ClaimedCalls claim{.space = 0,
                                    .process = 0,
                                    .instances = std::move(runs),
                                    .ambiguous = ambiguous,
                                    .in_gaps = in_gaps};
    const char* const why = refute(claim, 9, 10);
    return std::string(why == nullptr ? "holds" : why);
  };
  EXPECT_EQ(test({{0, 0, 4}, {4, 5, 5}}), "holds");
  EXPECT_EQ(test({{0, 0, 4}, {3, 5, 5}}), "a record is in two pairs, or out of order");
  EXPECT_EQ(test({{0, 0, 4}, {4, 3, 5}}), "a record is in two pairs, or out of order");
  EXPECT_EQ(test({{0, 0, 4}, {4, 5, 6}}), "there is no such record");
  EXPECT_EQ(test({{0, 0, 4}, {4, 6, 5}}), "there is no such record");
  EXPECT_EQ(test({{0, 0, 4}}, 5), "holds");
  EXPECT_EQ(test({{0, 0, 4}}, 6), "more calls are counted than there are");
  EXPECT_EQ(test({{0, 0, 4}}, 0, 19), "holds");
  EXPECT_EQ(test({{0, 0, 4}}, 0, 20), "more calls are counted than there are");
}

/// The same error of a check, or none, whatever the team.
std::string error_of(const TraceBuilder& b) {
  const std::vector<ClockMap> maps(b.trace().locations.size());
  std::string first;
  for (const unsigned members : {1U, 2U, 3U}) {
    const trace::Partition partition = testing::dealt(b.trace().definitions, members, true);
    const auto result = run_team(members, [&](Team& team) -> Result<void> {
      const auto report =
          check({team, partition, b.trace()}, {.maps = maps, .claims = {.witness = &b.witness}}, {},
                Cancel(nullptr));
      if (!report) return tl::unexpected<Error>(report.error());
      return {};
    });
    if (!result) {
      EXPECT_EQ(result.error().kind, ErrorKind::internal);
    }
    const std::string message = result ? "" : result.error().message;
    if (members == 1) first = message;
    EXPECT_EQ(message, first);
  }
  return first;
}

/// Three processes: 0 sends to 1, and all make barriers and a broadcast, some of which have no
/// record.
class Lossy : public TraceBuilder {
 public:
  Lossy() : TraceBuilder(3) {
    for (std::uint64_t k = 0; k < 6; ++k) {
      message(K::send, 0, 100 * k + 10, 1, 7);
      if (k != 2) message(K::recv, 1, 100 * k + 20, 0, 7);
      for (LocationIndex l = 0; l < 3; ++l) {
        if (k == 3 && l == 2) continue;
        collective(l, 100 * k + 40, 100 * k + 60, k == 4 ? op::bcast : op::barrier, 0);
      }
    }
    witness.channels = {
        {.comm = 0, .sender = 0, .receiver = 1, .tag = 7, .pairs = {{0, 0, 2}, {3, 2, 3}}}};
    witness.calls = {{.space = 0, .process = 0, .instances = {{0, 0, 6}}},
                     {.space = 0, .process = 1, .instances = {{0, 0, 6}}},
                     {.space = 0, .process = 2, .instances = {{0, 0, 3}, {3, 4, 2}}}};
  }
};

TEST(Claims, are_taken_if_they_hold) {
  const Lossy b;
  EXPECT_EQ(error_of(b), "");
  const CheckReport report = b.check();
  EXPECT_EQ(testing::edges(report, EdgeKind::p2p).count, 5);
  EXPECT_EQ(testing::edges(report, EdgeKind::n_to_n).count, 4 * 6 + 2);
  EXPECT_EQ(testing::edges(report, EdgeKind::one_to_n).count, 2);
  EXPECT_EQ(report.violations, 0);
  EXPECT_EQ(report.unmatched, (Counters{{"sends", 1}}));
}

TEST(Claims, are_not_needed_to_leave_incomplete_records_alone) {
  Lossy b;
  b.witness = {};
  const CheckReport report = b.check();
  EXPECT_EQ(testing::edges(report, EdgeKind::p2p).count, 0);
  EXPECT_EQ(testing::edges(report, EdgeKind::n_to_n).count, 0);
  EXPECT_EQ(report.unmatched,
            (Counters{{"sends", 6}, {"receives", 5}, {"collectives_incomplete", 17}}));
}

TEST(Claims, without_pairs_leave_channels_of_equal_counts_alone) {
  Lossy b;
  b.message(K::send, 0, 610, 1, 9);
  b.message(K::irecv, 1, 620, 0, 9, 70);  // its request was lost
  EXPECT_EQ(testing::edges(b.check(), EdgeKind::p2p).count, 6);
  b.witness.channels.push_back({.comm = 0, .sender = 0, .receiver = 1, .tag = 9, .pairs = {}});
  const CheckReport report = b.check();
  EXPECT_EQ(testing::edges(report, EdgeKind::p2p).count, 5);
  EXPECT_EQ(report.unmatched, (Counters{{"sends", 2}, {"receives", 1}}));
}

TEST(Claims, that_do_not_hold_are_errors) {
  Lossy length;
  length.witness.channels[0].pairs = {{0, 0, 2}, {4, 2, 3}};
  EXPECT_THAT(error_of(length), HasSubstr("there is no such record"));
  EXPECT_THAT(error_of(length), HasSubstr("messages from process 0 to 1"));
  EXPECT_THAT(error_of(length), HasSubstr("please report it"));
  Lossy strangers;
  strangers.witness.channels[0].tag = 8;
  EXPECT_THAT(error_of(strangers), HasSubstr("a claimed channel has no sends or no receives"));
  Lossy nobody;
  nobody.witness.channels[0].receiver = 77;
  EXPECT_THAT(error_of(nobody), HasSubstr("a claimed channel has no sends or no receives"));
  Lossy twice;
  twice.witness.channels.push_back(twice.witness.channels[0]);
  EXPECT_THAT(error_of(twice), HasSubstr("two claims"));
  Lossy calls;
  calls.witness.calls[2].instances = {{0, 0, 3}, {2, 4, 2}};
  EXPECT_THAT(error_of(calls), HasSubstr("a record is in two pairs"));
  Lossy no_calls;
  no_calls.witness.calls[2].space = 77;
  EXPECT_THAT(error_of(no_calls), HasSubstr("of claimed calls there are none"));
}

TEST(Claims, of_instances_must_agree_in_operation_and_root) {
  Lossy operation;
  operation.witness.calls[2].instances = {{0, 0, 5}};  // takes the broadcast for a barrier
  EXPECT_THAT(error_of(operation), HasSubstr("its calls have different operations or roots"));
  Lossy root;
  for (LocationIndex l = 0; l < 3; ++l) root.collective(l, 700, 720, op::bcast, l == 1 ? 1 : 0);
  for (trace::ClaimedCalls& claim : root.witness.calls) claim.instances.back().count += 1;
  EXPECT_THAT(error_of(root), HasSubstr("its calls have different operations or roots"));
}

TEST(Claims, must_be_those_of_order_where_no_record_is_missing) {
  TraceBuilder b(2);
  for (std::uint64_t k = 0; k < 3; ++k) {
    b.message(K::send, 0, 100 * k + 10, 1);
    b.message(K::recv, 1, 100 * k + 20, 0);
  }
  b.witness.channels = {{.comm = 0, .sender = 0, .receiver = 1, .tag = 0, .pairs = {{0, 0, 3}}}};
  EXPECT_EQ(b.check().checked_edges, 3);
  b.witness.channels[0].pairs = {{0, 0, 1}, {2, 2, 1}};
  EXPECT_THAT(error_of(b), HasSubstr("no record is missing"));
}

TEST(Claims, are_asked_for_only_where_records_are_missing) {
  TraceBuilder complete(2);
  complete.message(K::send, 0, 10, 1);
  complete.message(K::recv, 1, 20, 0);
  const Lossy lossy;
  for (const bool missing : {false, true}) {
    const TraceBuilder& b = missing ? static_cast<const TraceBuilder&>(lossy) : complete;
    const std::vector<ClockMap> maps(3);
    int asked = 0;
    const auto find = [&](const trace::Share&, bool messages_missing) -> Result<trace::Witness> {
      EXPECT_TRUE(messages_missing);
      ++asked;
      return lossy.witness;
    };
    const CheckReport report = check(b.trace(), {.maps = maps, .claims = {.find = find}}, {});
    EXPECT_EQ(asked, missing ? 1 : 0);
    EXPECT_EQ(testing::edges(report, EdgeKind::p2p).count, missing ? 5 : 1);
  }
}

}  // namespace
}  // namespace entrain::verify
