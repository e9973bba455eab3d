// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/json/document.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

std::string numbered(const std::string& operation, int end, int number,
                     const std::string& more = "") {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_{}", "ts": {}.125, )"
                     R"("dur": 10, "args": {{"Comms Id": 5, "Seq": {}, "dtype": "Float"{}}}}})",
                     operation, 1'000'000'000 + end, number, more);
}

class Claims : public Chrome {
 protected:
  void add_run() {
    for (const int late : {0, 3}) {
      add(file_of({numbered("AllReduce", 100 + late, 1), numbered("AllReduce", 200 + late, 2),
                   numbered("AllGather", 300 + late, 3, R"(, "Process Group Name": "a")")},
                  R"("baseTimeNanoseconds": 1700000000000000000, )"));
    }
  }
  /// Why the claims do not hold, after a change; empty: they hold.
  template <class Change>
  std::string refuted(const Change& change) {
    const auto run = open();
    EXPECT_TRUE(run) << run.error().message;
    EXPECT_EQ((*run)->list.instances.size(), 3U);
    change((*run)->list);
    const Result<void> verified = (*run)->verify_claims();
    if (verified) return "";
    EXPECT_EQ(verified.error().kind, ErrorKind::internal);
    return verified.error().message;
  }
};

constexpr auto k_as_it_is = [](tables::EdgeList&) {};

TEST_F(Claims, of_the_reader_hold) {
  add_run();
  EXPECT_EQ(refuted(k_as_it_is), "");
}

TEST_F(Claims, with_another_time_are_refuted) {
  add_run();
  for (const std::size_t member : {0U, 3U, 11U}) {
    EXPECT_THAT(refuted([&](auto& list) { ++list.members[member].time; }),
                testing::HasSubstr("there is no such call"));
  }
}

TEST_F(Claims, with_another_clock_are_refuted) {
  add_run();
  EXPECT_THAT(refuted([](auto& list) { std::swap(list.members[0].clock, list.members[1].clock); }),
              testing::HasSubstr("there is no such call"));
  EXPECT_THAT(refuted([](auto& list) { list.members[1].clock = 0; }),
              testing::HasSubstr("two calls"));
  EXPECT_THAT(refuted([](auto& list) { list.members[1].clock = 7; }),
              testing::HasSubstr("there is no such call"));
}

TEST_F(Claims, that_use_a_call_twice_are_refuted) {
  add_run();
  EXPECT_THAT(refuted([](auto& list) { list.instances[1] = list.instances[0]; }),
              testing::HasSubstr("used twice"));
}

/// Calls of rank 1 that are paired with others: the times exist, and each is used once.
TEST_F(Claims, whose_calls_have_other_numbers_or_operations_are_refuted) {
  add_run();
  const auto exchange = [](auto& list, std::size_t a, std::size_t b) {
    for (const std::size_t side : {1U, 3U}) {  // the begin and the end of rank 1
      std::swap(list.members[list.instances[a].first + side].time,
                list.members[list.instances[b].first + side].time);
    }
  };
  EXPECT_THAT(refuted([&](auto& list) { exchange(list, 0, 1); }), testing::HasSubstr("agree"));
  EXPECT_THAT(refuted([&](auto& list) { exchange(list, 1, 2); }), testing::HasSubstr("agree"));
}

/// The claims are those of files that are then replaced.
TEST_F(Claims, are_tested_against_the_files_as_they_are) {
  add_run();
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  const auto replace = [&](const std::string& call) {
    const std::string text =
        file_of({numbered("AllReduce", 103, 1), call,
                 numbered("AllGather", 303, 3, R"(, "Process Group Name": "a")")},
                R"("baseTimeNanoseconds": 1700000000000000000, )");
    std::filesystem::remove(files_[1]);
    EXPECT_TRUE(json::save(files_[1], text, false));
    const Result<void> verified = (*run)->verify_claims();
    return verified ? "" : verified.error().message;
  };
  EXPECT_EQ(replace(numbered("AllReduce", 203, 2)), "");
  EXPECT_EQ(replace(numbered("AllReduce", 203, 2, R"(, "Process Group Name": "b")")), "");
  EXPECT_THAT(replace(numbered("AllReduce", 203, 4)), testing::HasSubstr("agree"));
  EXPECT_THAT(replace(numbered("AllGather", 203, 2)), testing::HasSubstr("agree"));
  EXPECT_THAT(replace(numbered("AllReduce", 204, 2)), testing::HasSubstr("no such call"));
  EXPECT_THAT(replace(R"({"ph": "i", "ts": 1})"), testing::HasSubstr("no such call"));
}

TEST_F(Claims, about_groups_are_tested) {
  add_run();
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  const std::string text =
      file_of({numbered("AllReduce", 103, 1), numbered("AllReduce", 203, 2),
               numbered("AllGather", 303, 3, R"(, "Process Group Name": "b")")},
              R"("baseTimeNanoseconds": 1700000000000000000, )");
  std::filesystem::remove(files_[1]);
  ASSERT_TRUE(json::save(files_[1], text, false));
  EXPECT_THAT((*run)->verify_claims().error().message, testing::HasSubstr("agree"));
}

/// Begins and ends as events of their own, a text that is cut off, a packed file, and facts at its
/// end.
TEST_F(Claims, hold_in_files_of_other_forms) {
  add(R"([{"ph": "B", "cat": "kernel", "name": "ncclKernel_AllReduce", "pid": 1, "tid": 2, "ts": 5,
"args": {"Comms Id": 5, "Seq": 1}}, {"ph": "E", "pid": 1, "tid": 2, "ts": "9.25"},
{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", "pid": 1, "tid": 2, "ts": 12, "dur": 2,
"args": {"Comms Id": 5, "Seq": 2}}, {"ph": "X", "cat": "ker)");
  const std::string packed = file_of({R"({"ph": "X", "cat": "kernel", "name": "nccl AllReduce",
"\u0074s": 6, "dur": 3, "args": {"Comms Id": "5", "Seq": "1"}})",
                                      R"({"ph": "X", "cat": "kernel",
"name": "nccl\u0020all_reduce", "ts": 13, "dur": 1.5, "args": {"Comms Id": 5, "Seq": 2}})"});
  const std::string with_base =
      packed.substr(0, packed.size() - 1) + R"(, "baseTimeNanoseconds": 7})";
  files_.push_back(folder_ / "rank1.json.gz");
  ASSERT_TRUE(json::save(files_.back(), with_base, true));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->list.instances.size(), 2U);
  EXPECT_EQ((*run)->list.members[1].time, 6007U);
  const Result<void> verified = (*run)->verify_claims();
  EXPECT_TRUE(verified) << verified.error().message;
  (*run)->list.members[1].time = 6000;
  EXPECT_FALSE((*run)->verify_claims());
}

TEST_F(Claims, about_messages_are_tested) {
  std::vector<std::string> sends, receives;
  for (int i = 0; i < 12; ++i) {
    const int at = 1'000'000 + 100'000 * i + i * i * 1'000;
    const auto message = [&](int late) {
      return fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv", "ts": {}, )"
          R"("dur": 10, "args": {{"Collective name": "{}", "Src Rank": 0, )"
          R"("Dst Rank": 1, "Seq": {}, "Comms Id": 5}}}})",
          at + late, late > 0 ? "recv" : "send", i + late);
    };
    sends.push_back(message(0));
    receives.push_back(message(1));
  }
  add(file_of(sends));
  add(file_of(receives));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->list.cause_time.size(), 12U);
  const Result<void> verified = (*run)->verify_claims();
  EXPECT_TRUE(verified) << verified.error().message;
  (*run)->list.cause_time[3] = (*run)->list.cause_time[4];
  EXPECT_THAT((*run)->verify_claims().error().message, testing::HasSubstr("used twice"));
  (*run)->list.cause_time[3] = 1;
  EXPECT_THAT((*run)->verify_claims().error().message, testing::HasSubstr("no such call"));
}

}  // namespace
}  // namespace entrain::kineto
