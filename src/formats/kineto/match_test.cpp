// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

TEST_F(Chrome, windows_that_begin_at_different_calls_are_aligned) {
  add_calls({1000, 5000, 12000, 14000, 30000, 36700, 51900, 53300});
  add_calls({12003, 14001, 30002, 36700, 51901, 53300});
  auto run = open();
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->list.instances.size(), 6U);
  EXPECT_EQ((*run)->list.members[0].time, 1'000'000'000'011'990'000U);
  EXPECT_EQ((*run)->list.members[1].time, 1'000'000'000'011'993'000U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_alone"), 2U);
}

/// The clock is set by 70 ms before the last calls. With others instead of these the rank is named.
TEST_F(Chrome, calls_after_a_clock_was_set_are_paired_or_named) {
  Ends ends, there, others;
  for (std::uint64_t c = 0, at = 0; c < 40; ++c) {
    at += 700 + c * c * 37 % 1900;
    ends.push_back(static_cast<double>(at));
    there.push_back(static_cast<double>(at + (c < 35 ? 3 : 70'000)));
    others.push_back(static_cast<double>(at + (c < 35 ? 3 : 70'000 + c * c * 1013 % 9000)));
  }
  for (const Ends& second : {there, others}) {
    files_.clear();
    add_calls(ends);
    add_calls(second);
    const auto run = open();
    ASSERT_TRUE(run);
    const bool fit = second == there;
    EXPECT_EQ((*run)->list.instances.size(), fit ? 40U : 35U);
    EXPECT_EQ(count_of((*run)->unmatched, "ranks_apart"), fit ? 0U : 1U);
    const bool is_named = std::ranges::any_of((*run)->warnings, [](const std::string& text) {
      return text.find("the last 5 calls of rank 1 fit none of rank 0") != std::string::npos;
    });
    EXPECT_EQ(is_named, !fit);
  }
}

TEST_F(Chrome, calls_in_even_steps_that_may_be_shifted_stay_unpaired) {
  add_calls({1000, 2000, 3000, 4000, 5000});
  add_calls({1000, 2000, 3000, 4000, 5000});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_ambiguous"), 5U);
}

TEST_F(Chrome, calls_without_a_group_are_reported) {
  const std::string group = R"(, "Process Group Name": "1")";
  for (const bool named : {false, true}) {
    files_.clear();
    for (int rank = 0; rank < 3; ++rank) add(file_of({kernel(1000, named ? group : "")}));
    const auto run = open();
    ASSERT_TRUE(run);
    const auto& notes = (*run)->notes;
    const bool told = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("3 calls name no process group") != std::string::npos;
    });
    EXPECT_EQ(told, !named);
  }
}

/// Each of two sizes may be that of a call without one, but one collective has one size.
TEST_F(Chrome, calls_of_two_sizes_are_not_paired_by_a_call_without_any) {
  for (const char* size : {"", R"(, "In msg nelems": 8)", R"(, "In msg nelems": 9)"}) {
    add(file_of({kernel(1000, std::string(R"(, "Comms Id": 1, "Seq": 1)") + size)}));
  }
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_ambiguous"), 3U);
}

/// Clocks that are a step apart show nothing of it.
TEST_F(Chrome, offsets_at_which_a_loop_fits_are_named) {
  Ends even, uneven;
  for (int step = 1; step <= 20; ++step) {
    even.push_back(100'000. * step);
    uneven.push_back(100'000. * step + 70. * step * step);
  }
  for (const bool is_even : {true, false}) {
    files_.clear();
    add_calls(is_even ? even : uneven);
    add_calls(is_even ? even : uneven);
    const auto run = open();
    ASSERT_TRUE(run);
    EXPECT_EQ((*run)->list.instances.size(), is_even ? 0U : 20U);
    EXPECT_EQ(count_of((*run)->unmatched, "ranks_apart"), is_even ? 1U : 0U);
    ASSERT_EQ((*run)->warnings.size(), is_even ? 1U : 0U);
    if (is_even) {
      EXPECT_NE((*run)->warnings[0].find("offsets of their clocks"), std::string::npos);
    }
  }
}

/// A killed run: its only calls are the first ones of the others, and look like their third one.
TEST_F(Chrome, windows_of_one_and_two_calls_are_not_paired) {
  add_calls({1000, 5000, 12000, 14000, 30000});
  add_calls({1001});
  add_calls({1001, 5002});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_alone"), 8U);
}

/// The longest sequence, with which all are aligned, has lost a call as well.
TEST_F(Chrome, a_call_that_one_rank_lost_stays_paired_at_the_others) {
  add_calls({1000, 5170, 12000, 30390, 37550, 55020, 61930});
  add_calls({1001, 5171, 14000, 30391, 37550, 55020, 61931});
  add_calls({1002, 5170, 14001, 30390, 37551, 55021, 61930});
  auto run = open();
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->list.instances.size(), 7U);
  EXPECT_EQ((*run)->coverage.in_instances, 20U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_alone"), 1U);
}

/// Of a loop of 1.3 ms, one rank has the steps 1 to 3 and the other one 3 and 4: steps differ by
/// some ten microseconds.
TEST_F(Chrome, steps_that_are_alike_but_not_as_close_as_ends_are_not_paired) {
  add_calls({1481, 1680, 2848, 3005});
  add_calls({5594, 5751, 6850, 7036});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_ambiguous"), 4U);
}

TEST_F(Chrome, windows_of_other_calls_are_not_paired) {
  add_calls({1000, 5000, 12000, 14000, 30000});
  add_calls({2000, 9000, 9500, 21000, 22000});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
}

TEST_F(Chrome, windows_of_equal_calls_far_apart_are_not_paired) {
  add_calls({1000, 5000, 12000, 14000, 30000});
  add_calls({201000, 205000, 212000, 214000, 230000});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
}

/// A loop of 30 ms: the end of the first window looks like the begin of the second, 30 ms later.
TEST_F(Chrome, windows_one_after_the_other_are_not_paired) {
  add_calls({1000, 3000, 8000, 20000, 31000, 33000, 38000, 50000});
  add_calls({61000, 63000, 68000, 80000, 91000, 93000, 98000, 110000});
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_ambiguous"), 8U);
}

/// In even steps, whose types are not: one shift is left.
TEST_F(Chrome, types_of_data_tell_calls_apart) {
  const auto calls = [](double late) {
    std::vector<std::string> events;
    const std::vector<const char*> types{"int", "float", "float", "int", "float", "int", "int",
                                         "int", "bool",  "int",   "int", "half",  "half"};
    for (std::size_t k = 0; k < types.size(); ++k) {
      events.push_back(kernel(1000 * static_cast<double>(k + 1) + late,
                              fmt::format(R"(, "dtype": "{}")", types[k])));
    }
    return file_of(events);
  };
  add(calls(0));
  add(calls(1));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.instances.size(), 13U);
}

TEST_F(Chrome, numbers_of_calls_decide) {
  const auto call = [](double end, int number) {
    return kernel(end, fmt::format(R"(, "Comms Id": "c", "Seq": {})", number));
  };
  add(file_of({call(1000, 1), call(2000, 2), call(3000, 3)}));
  add(file_of({call(2000, 2), call(3000, 3), call(4000, 4)}));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.instances.size(), 2U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_alone"), 2U);
}

/// A loop in even steps may be shifted, unless other calls say how the clocks are.
TEST_F(Chrome, numbered_calls_tell_how_others_lie_to_each_other) {
  const auto calls = [](double late) {
    std::vector<std::string> events;
    for (int k = 1; k <= 5; ++k) events.push_back(kernel(1000 * k + late));
    events.push_back(kernel(6500 + late, R"(, "Comms Id": "c", "Seq": 1)"));
    return file_of(events);
  };
  add(calls(0));
  add(calls(1003));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.instances.size(), 6U);
  EXPECT_EQ((*run)->coverage.in_instances, 12U);
}

/// The longest sequence, with which others are aligned, may be of any rank.
TEST_F(Chrome, calls_of_one_group_tell_how_those_of_another_lie_to_each_other) {
  const auto calls = [](int rank) {
    std::vector<std::string> events;
    for (const int end : {1000, 5200, 12000, 14100, 30000, 36700, 51900, 53300}) {
      if (end > 1000 || rank == 1)
        events.push_back(kernel(end + 3 * rank, R"(, "Process Group Name": "1")"));
    }
    for (int k = 1; k <= 5 + (rank == 2 ? 1 : 0); ++k) {
      events.push_back(kernel(2000 * k + 3 * rank, R"(, "Process Group Name": "2")"));
    }
    return file_of(events);
  };
  for (int rank = 0; rank < 3; ++rank) add(calls(rank));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.instances.size(), 7U + 5U);
  EXPECT_EQ((*run)->coverage.in_instances, 3U * (7 + 5));
}

/// A call of three ranks whose root is the second one of its group.
std::string rooted(const char* name, double end, int place, int number = 1) {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": {:.3f}, )"
                     R"("dur": 10, "args": {{"Collective name": "{}", "Rank": {}, "Seq": {}, )"
                     R"("Comms Id": 7, "Process Group Ranks": "[0, 1, 2]"}}}})",
                     end - 10, name, place, number);
}

TEST_F(Chrome, a_broadcast_ends_after_its_root_began) {
  for (const double end : {1000, 990, 1020}) {
    add(file_of({rooted("broadcast", end, 1), rooted("scatter", end + 100, 1, 2)}));
  }
  auto run = open();
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->list.instances.size(), 2U);
  const CollectiveInstance& one = (*run)->list.instances[0];
  EXPECT_EQ(one.kind, EdgeKind::one_to_n);
  EXPECT_FALSE(one.ends_coincide);
  ASSERT_EQ(one.begins, 1U);
  ASSERT_EQ(one.ends, 2U);
  const auto& members = (*run)->list.members;
  EXPECT_EQ(members[0].clock, 1U);
  EXPECT_EQ(members[0].time, 980'000U);
  EXPECT_EQ(members[1].clock, 0U);
  EXPECT_EQ(members[1].time, 1'000'000U);
  EXPECT_EQ(members[2].clock, 2U);
  EXPECT_EQ((*run)->coverage.in_instances, 6U);
}

TEST_F(Chrome, a_reduction_ends_at_its_root_after_all_began) {
  for (const double end : {1000, 990, 1020}) {
    add(file_of({rooted("reduce", end, 1), rooted("gather", end + 100, 1, 2)}));
  }
  auto run = open();
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->list.instances.size(), 2U);
  const CollectiveInstance& one = (*run)->list.instances[0];
  EXPECT_EQ(one.kind, EdgeKind::n_to_one);
  ASSERT_EQ(one.begins, 2U);
  ASSERT_EQ(one.ends, 1U);
  EXPECT_EQ((*run)->list.members[2].clock, 1U);
  EXPECT_EQ((*run)->list.members[2].time, 990'000U);
}

/// Receivers are late, each time by something else. Shifted by five calls three ends coincide.
TEST_F(Chrome, broadcasts_are_not_paired_by_few_ends_that_happen_to_coincide) {
  const auto call = [](double end) {
    return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": {:.3f}, )"
                       R"("dur": 10, "args": {{"Collective name": "broadcast", "Rank": 0, )"
                       R"("Process Group Ranks": "[0, 1]"}}}})",
                       end - 10);
  };
  std::vector<std::string> root, receiver;
  for (const double end : {1000, 2100, 3300, 4000, 5000, 6000, 7200, 8000}) {
    root.push_back(call(end));
  }
  for (const double end : {1020, 2220, 3020, 4700, 5900, 6300, 7900, 8700}) {
    receiver.push_back(call(end));
  }
  add(file_of(root));
  add(file_of(receiver));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
}

/// Some recorders write a rank's own place as "Rank".
TEST_F(Chrome, a_root_on_which_ranks_disagree_is_none) {
  for (const int place : {0, 1, 2}) add(file_of({rooted("broadcast", 1000, place)}));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->skipped, "calls_without_edges"), 3U);
}

TEST_F(Chrome, a_root_without_a_file_makes_no_edges) {
  add(file_of({rooted("broadcast", 1000, 2)}, R"("distributedInfo": {"rank": 0}, )"));
  add(file_of({rooted("broadcast", 1000, 2)}, R"("distributedInfo": {"rank": 1}, )"));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->skipped, "calls_without_edges"), 2U);
}

std::string message(double end, const std::string& partner, int size) {
  return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", )"
                     R"("ts": {:.3f}, "dur": 10, "args": {{"Collective name": "{}", {}, )"
                     R"("In msg nelems": {}, "Seq": 5, "Comms Id": 7, )"
                     R"("Process Group Name": "0"}}}})",
                     end - 10, partner.starts_with("\"Dst") ? "send" : "recv", partner, size);
}

TEST_F(Chrome, a_receive_ends_after_its_send_began) {
  const std::string to = R"("Dst Rank": 1)", from = R"("Src Rank": 0)";
  std::vector<std::string> sends;
  // The first one is not sent here, and the last one is for another rank.
  std::vector<std::string> receives{message(500, from, 3)};
  for (int k = 1; k <= 6; ++k) {
    sends.push_back(message(1000 * k * k, to, 4 + k));
    receives.push_back(message(1000 * k * k + k, from, 4 + k));
  }
  receives.push_back(message(40'000, R"("Dst Rank": 2)", 7));
  add(file_of(sends));
  add(file_of(receives));
  auto run = open();
  ASSERT_TRUE(run);
  const EdgeList& list = (*run)->list;
  ASSERT_EQ(list.cause_clock.size(), 6U);
  ASSERT_EQ(list.effect_clock.size(), 6U);
  EXPECT_EQ(list.cause_clock[1], 0U);
  EXPECT_EQ(list.cause_time[1], 3'990'000U);
  EXPECT_EQ(list.effect_clock[1], 1U);
  EXPECT_EQ(list.effect_time[1], 4'002'000U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_alone"), 2U);
}

TEST_F(Chrome, messages_that_name_no_partner_make_no_edges) {
  add(file_of({message(1000, R"("Dst Rank": -1)", 4), message(2000, R"("Dst Rank": 0)", 4)}));
  add(file_of({message(1000, R"("Src Rank": "x")", 4)}));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.cause_clock.empty());
  EXPECT_EQ(count_of((*run)->skipped, "calls_without_edges"), 3U);
}

}  // namespace
}  // namespace entrain::kineto
