// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/counters.hpp"
#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/paraver/calls.hpp"
#include "formats/paraver/labels.hpp"
#include "formats/paraver/recording.hpp"
#include "formats/paraver/trace.hpp"

namespace entrain::paraver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two nodes, the second one with two tasks, of which one has two threads.
constexpr const char* k_header =
    "#Paraver (10/10/2025 at 12:30):9000_ns:2(1,2):1:3(1:1,2:2,1:2),2\n"
    "c:1:1:3:1:2:3\nc:1:2:2:3:1\n";

class Paraver : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path put(const std::string& name, const std::string& text) const {
    return folder_.put(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  [[nodiscard]] std::unique_ptr<formats::Recording> read(const std::string& text) const {
    auto run = paraver::read(put("run.prv", text));
    EXPECT_TRUE(run) << run.error().message;
    return *std::move(run);
  }
  [[nodiscard]] std::string error_of(const std::string& text) const {
    const auto run = paraver::read(put("run.prv", text));
    return run ? "" : run.error().message;
  }
  /// The text with the clocks of both nodes moved.
  [[nodiscard]] std::string moved(const std::string& text, std::int64_t first,
                                  std::int64_t second) const {
    const auto run = read(text);
    const std::vector<ClockMap> maps{ClockMap().shifted(first), ClockMap().shifted(second)};
    std::filesystem::create_directory(folder_ / "out");
    EXPECT_TRUE(run->write(folder_ / "out", maps));
    const auto bytes = read_file(folder_ / "out/run.prv", 1 << 20);
    EXPECT_TRUE(run->read_back(folder_ / "out", maps));
    std::filesystem::remove_all(folder_ / "out");
    return {bytes->begin(), bytes->end()};
  }

  TempFolder folder_;
};

/// Edges as text, e.g. "0:100 -> 1:90".
std::vector<std::string> edges_of(const formats::Recording& run) {
  std::vector<std::string> lines;
  const EdgeList& list = run.list;
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    lines.push_back(fmt::format("{}:{} -> {}:{}", list.cause_clock[i], list.cause_time[i],
                                list.effect_clock[i], list.effect_time[i]));
  }
  return lines;
}

/// Begins and ends of instances as text, e.g. "n_to_n 0:100 1:90 | 0:120 1:130".
std::vector<std::string> instances_of(const formats::Recording& run) {
  std::vector<std::string> lines;
  for (const CollectiveInstance& one : run.list.instances) {
    std::string line = name_of(one.kind);
    for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
      const InstanceMember& member = run.list.members[one.first + m];
      line += fmt::format("{} {}:{}", m == one.begins ? " |" : "", member.clock, member.time);
    }
    lines.push_back(line);
  }
  return lines;
}

/// A call of task 1, 2 or 3 on a communicator.
std::string call(int task, int begin, int end, int operation, const std::string& more = "",
                 int communicator = 1) {
  return fmt::format(
      "2:{0}:1:{0}:1:{1}:50000002:{3}{4}:50100004:{5}\n2:{0}:1:{0}:1:{2}:50000002:0\n", task, begin,
      end, operation, more, communicator);
}

/// MPI_Init of all tasks.
constexpr const char* k_inits =
    "2:1:1:1:1:1:50000003:31\n2:2:1:2:1:1:50000003:31\n2:3:1:3:1:1:50000003:31\n";

TEST_F(Paraver, a_receive_ends_after_its_send_begins) {
  const auto run = read(std::string(k_header) +
                        "3:1:1:1:1:100:150:2:1:2:2:40:90:8:7\n3:2:1:2:1:5:6:3:1:3:1:7:8:8:7\n");
  EXPECT_THAT(edges_of(*run), ElementsAre("0:100 -> 1:90"));
  EXPECT_EQ(run->coverage.receives, 2U);
  EXPECT_EQ(run->events, 8U);
  EXPECT_EQ(run->clocks.resolution_hz, 1'000'000'000U);
  EXPECT_EQ(run->clocks.clocks[1].events->first, 5U);
  EXPECT_EQ(run->clocks.clocks[1].events->last, 90U);
}

TEST_F(Paraver, of_a_node_the_last_begin_and_the_first_end_count) {
  const auto run = read(std::string(k_header) + k_inits + call(1, 10, 50, 8) + call(2, 30, 45, 8) +
                        call(3, 20, 41, 8));
  EXPECT_THAT(instances_of(*run), ElementsAre("n_to_n 0:10 1:30 | 0:50 1:41"));
  EXPECT_TRUE(run->list.instances[0].ends_coincide);
  EXPECT_THAT(run->unmatched, IsEmpty());
  EXPECT_THAT(run->skipped, IsEmpty());
}

TEST_F(Paraver, a_root_and_bytes_tell_who_waits) {
  const std::string root = ":50100003:1", nothing = ":50100001:0:50100002:0";
  EXPECT_THAT(instances_of(*read(std::string(k_header) + k_inits + call(1, 10, 50, 7, root) +
                                 call(2, 30, 45, 7) + call(3, 20, 41, 7, nothing))),
              ElementsAre("one_to_n 0:10 | 1:45"));
  EXPECT_THAT(instances_of(*read(std::string(k_header) + k_inits + call(1, 10, 50, 9, root) +
                                 call(2, 30, 45, 9, nothing) + call(3, 20, 41, 9))),
              ElementsAre("n_to_one 0:10 1:20 | 0:50"));
  EXPECT_THAT(instances_of(*read(std::string(k_header) + k_inits + call(1, 10, 50, 10, nothing) +
                                 call(2, 30, 45, 10, nothing) + call(3, 20, 41, 10, nothing))),
              IsEmpty());
  const auto rootless = read(std::string(k_header) + k_inits + call(1, 10, 50, 9) +
                             call(2, 3, 4, 9) + call(3, 5, 6, 9));
  EXPECT_THAT(instances_of(*rootless), IsEmpty());
  EXPECT_EQ(count_of(rootless->skipped, "calls_without_a_root"), 3U);
}

TEST_F(Paraver, a_scan_has_edges_to_higher_ranks) {
  const auto run = read(std::string(k_header) + k_inits + call(1, 10, 50, 30) +
                        call(2, 30, 45, 30) + call(3, 20, 41, 30));
  EXPECT_THAT(instances_of(*run), ElementsAre("scan 0:10 1:30 | 0:50 1:41"));
  EXPECT_EQ(run->list.members[3].rank, 2U);
}

TEST_F(Paraver, calls_without_known_partners_have_no_edges) {
  const auto run = read(std::string(k_header) + k_inits + call(1, 10, 50, 12) + call(2, 3, 4, 12) +
                        call(3, 5, 6, 12) + call(1, 60, 61, 155) + call(2, 62, 63, 155) +
                        call(3, 64, 65, 155) + call(1, 70, 71, 8, "", 9));
  EXPECT_THAT(instances_of(*run), IsEmpty());
  EXPECT_EQ(count_of(run->skipped, "calls_of_alltoallv"), 3U);
  EXPECT_EQ(count_of(run->skipped, "calls_without_edges"), 3U);
  EXPECT_EQ(count_of(run->unmatched, "calls_without_a_communicator"), 1U);
}

/// A barrier of all tasks.
std::string barrier() { return call(1, 10, 50, 8) + call(2, 30, 45, 8) + call(3, 20, 41, 8); }

/// Where the begin of a run is missing, the calls of one number need not belong together.
TEST_F(Paraver, calls_of_a_part_of_a_run_are_ambiguous) {
  EXPECT_THAT(instances_of(*read(k_header + barrier())), IsEmpty());
  const auto part = read(k_header + barrier() + "2:1:1:1:1:55:50000002:0\n");
  EXPECT_THAT(instances_of(*part), IsEmpty());
  EXPECT_EQ(count_of(part->unmatched, "calls_ambiguous"), 3U);
  EXPECT_EQ(count_of(part->unmatched, "collective_ends_without_begin"), 1U);
  EXPECT_THAT(part->warnings, ElementsAre(HasSubstr("give the whole trace")));
}

/// It cannot be told which one is lost, but for a file that is cut: there the last one is.
TEST_F(Paraver, all_calls_are_ambiguous_if_one_is_lost) {
  const std::string text = k_header + std::string(k_inits) + barrier() + call(1, 60, 70, 8);
  const auto lost = read(text);
  EXPECT_THAT(instances_of(*lost), IsEmpty());
  EXPECT_EQ(count_of(lost->unmatched, "calls_ambiguous"), 4U);
  const auto cut = read(text + "2:2:1:2:1:6");
  EXPECT_THAT(instances_of(*cut), SizeIs(1));
  EXPECT_EQ(count_of(cut->unmatched, "calls_ambiguous"), 1U);
}

TEST_F(Paraver, other_operations_of_one_number_are_ambiguous) {
  const auto run = read(k_header + std::string(k_inits) + barrier() + call(1, 60, 61, 8) +
                        call(2, 60, 61, 10) + call(3, 60, 61, 8));
  EXPECT_THAT(instances_of(*run), IsEmpty());
  EXPECT_EQ(count_of(run->unmatched, "calls_ambiguous"), 6U);
}

TEST_F(Paraver, calls_that_overlap_in_a_task_are_ambiguous) {
  const auto of_thread = [](int thread, int begin, int end) {
    return fmt::format("2:2:1:2:{0}:{1}:50000002:8:50100004:1\n2:2:1:2:{0}:{2}:50000002:0\n",
                       thread, begin, end);
  };
  const std::string others = k_header + std::string(k_inits) + call(1, 10, 20, 8) +
                             call(1, 30, 40, 8) + call(3, 10, 20, 8) + call(3, 30, 40, 8);
  const auto overlap = read(others + of_thread(1, 10, 40) + of_thread(2, 15, 20));
  EXPECT_THAT(instances_of(*overlap), IsEmpty());
  EXPECT_EQ(count_of(overlap->unmatched, "calls_ambiguous"), 6U);
  EXPECT_THAT(instances_of(*read(others + of_thread(2, 30, 40) + of_thread(1, 15, 20))), SizeIs(2));
}

/// Their order may change in a copy.
TEST_F(Paraver, a_communicator_may_be_defined_behind_its_calls) {
  const std::string header = std::string(k_header).substr(0, std::string(k_header).find('\n') + 1);
  const std::string text = header + k_inits + barrier();
  EXPECT_THAT(instances_of(*read(text + "c:1:1:3:1:2:3\n")), SizeIs(1));
  EXPECT_THAT(moved(text + "c:1:1:3:1:2:3\n", 1000, 0), HasSubstr("2\nc:1:1:3:1:2:3\n2:2:"));
}

TEST_F(Paraver, values_with_a_sign_or_decimals_are_passed_over) {
  const auto run = read(k_header + std::string(k_inits) + barrier() +
                        call(1, 60, 70, 8, ":42000050:-5") + call(2, 60, 70, 8, ":7:0.25") +
                        call(3, 60, 70, 8) + "2:1:1:1:1:80:7:8:9:x\n2:1:1:1:1:80:7\n");
  EXPECT_THAT(instances_of(*run), SizeIs(2));
  EXPECT_EQ(count_of(run->skipped, "unread_rests_of_events"), 2U);
}

/// A copy differs from its original only if a record changed its clock or what it says.
TEST_F(Paraver, a_copy_must_hold_the_records_of_each_clock) {
  const std::string text = k_header + std::string("2:1:1:1:1:5:1:2\n2:1:1:1:1:6:1:3\n") +
                           "3:1:1:1:1:10:15:2:1:2:2:94:95:8:7\n";
  const auto accepts = [&](const std::string& was, const std::string& is) {
    std::string changed = text;
    changed.replace(changed.find(was), was.size(), is);
    const auto run = read(text);
    std::filesystem::create_directory(folder_ / "out");
    static_cast<void>(put("out/run.prv", changed));
    return run->read_back(folder_ / "out", {}).has_value();
  };
  EXPECT_TRUE(accepts(":10:15:", ":20:25:"));
  EXPECT_FALSE(accepts("5:1:2", "5:1:3"));
  EXPECT_FALSE(accepts("2:1:2:2:94", "1:1:1:1:94"));
}

TEST_F(Paraver, records_move_with_their_nodes_and_stay_in_order_of_time) {
  const std::string head = "#Paraver (10/10/2025 at 12:30):", rest = ":2(1,2):1:3(1:1,2:2,1:2),2\n";
  const std::string groups = "c:1:1:3:1:2:3\nc:1:2:2:3:1\n# a note\n";
  const std::string text = head + "9000_ns" + rest + groups +
                           "1:1:1:1:1:0:100:1\n2:2:1:2:1:10:1:2:3:4\n"
                           "3:1:1:1:1:100:150:2:1:2:2:940:950:8:7\r\n4:1:1:1:1:100\n"
                           "2:2:1:2:2:990:1:18446744073709551615\n2:1:1:1:1:995:7:8";
  EXPECT_EQ(moved(text, 1000, 0), head + "10000_ns" + rest + groups +
                                      "2:2:1:2:1:10:1:2:3:4\n2:2:1:2:2:990:1:18446744073709551615\n"
                                      "1:1:1:1:1:1000:1100:1\n"
                                      "3:1:1:1:1:1100:1150:2:1:2:2:940:950:8:7\r\n4:1:1:1:1:100\n"
                                      "2:1:1:1:1:1995:7:8");
  EXPECT_EQ(moved(text, 0, 0), text);
}

TEST_F(Paraver, a_last_line_that_is_cut_stays_last) {
  const std::string text = k_header + std::string("2:1:1:1:1:5:1:2\n2:2:1:2:1:9:1:2\n2:2:1:2:2:99");
  EXPECT_THAT(moved(text, 1000, 0), testing::EndsWith("\n2:1:1:1:1:1005:1:2\n2:2:1:2:2:99"));
}

TEST_F(Paraver, times_below_zero_move_the_whole_copy) {
  const std::string text = std::string(k_header) + "2:1:1:1:1:0:1:2\n2:2:1:2:1:10:1:2\n";
  const std::string groups = "c:1:1:3:1:2:3\nc:1:2:2:3:1\n";
  EXPECT_EQ(moved(text, -300, 0),
            "#Paraver (10/10/2025 at 12:30):9300_ns:2(1,2):1:3(1:1,2:2,1:2),2\n" + groups +
                "2:1:1:1:1:0:1:2\n2:2:1:2:1:310:1:2\n");
}

TEST_F(Paraver, lines_that_are_no_records_are_counted) {
  const auto run = read(std::string(k_header) +
                        "2:1:1:1:1:5:1:2\n"
                        "2:1:1:4:1:5:1:2\n2:1:2:1:1:5:1:2\n2:1:1:1:2:5:1:2\n2:1:1:0:1:5:1:2\n"
                        "2:1:1:1:1:4611686018427387905:1:2\n2:1:1:1:1:99999999999999999999:1:2\n"
                        "1:1:1:1:1:-5:7:8\n7:1:1:1:1:5:1\n3:1:1:1:1:1:2:1:1:1:1:3\nx\n"
                        "2:1:1:1:1:6:1:2\n1:1:1:1:1:6:");
  EXPECT_EQ(count_of(run->skipped, "unread_lines"), 10U);
  EXPECT_EQ(count_of(run->skipped, "truncated_files"), 1U);
  EXPECT_EQ(run->events, 2U);
  EXPECT_THAT(run->warnings, testing::Contains(HasSubstr("run.prv ends inside a record")));
}

TEST_F(Paraver, headers_that_cannot_be_read_are_refused) {
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of(k_header), HasSubstr("holds no record"));
  const std::string record = "\n2:1:1:1:1:5:1:2\n";
  const auto with = [&](const std::string& more) {
    return error_of("#Paraver (10/10/2025 at 12:30):" + more + record);
  };
  EXPECT_THAT(error_of("2:1:1:1:1:5:1:2\n"), HasSubstr("run.prv: no date in its first line"));
  EXPECT_THAT(with("x"), HasSubstr("no time of the end"));
  EXPECT_THAT(with("4611686018427387905:0:1:1(1:0)"), HasSubstr("after 2^62"));
  EXPECT_THAT(with("5_h:0:1:1(1:0)"), HasSubstr("unknown unit"));
  EXPECT_THAT(with("5:2(1):1:1(1:1)"), HasSubstr("no list of nodes"));
  EXPECT_THAT(with("5:4000000000(1):1:1(1:1)"), HasSubstr("no list of nodes"));
  EXPECT_THAT(with("5:1(1):0:"), HasSubstr("no number of applications"));
  EXPECT_THAT(with("5:1(1):4000000000:1(1:1)"), HasSubstr("too few applications"));
  EXPECT_THAT(with("5:1(1):1:4000000000(1:1)"), HasSubstr("too few tasks"));
  EXPECT_THAT(with("5:1(1):1:1(1:2)"), HasSubstr("a node that is not listed"));
  EXPECT_THAT(with("5:1(1):1:1(1:0)"), HasSubstr("a node that is not listed"));
  EXPECT_THAT(with("5:1(1):1:1(1:1,1:1)"), HasSubstr("too many tasks"));
  EXPECT_EQ(with("5:1(1):2:1(1:1):1(1:1)"), "");
  EXPECT_EQ(with("5:1(1):2:1(1:1),1(4000000000000:1),0"), "");
  EXPECT_EQ(with("5:0:1:1(1:0)"), "");
}

TEST_F(Paraver, headers_of_other_tools_are_read) {
  const auto clocks_of = [&](const std::string& more) {
    return read("#Paraver (11/08/2026 at 23:07):50_ns:" + more + "\n2:1:1:1:1:5:1:2\n")
        ->clocks.clocks;
  };
  EXPECT_THAT(clocks_of("2(1,1,):1:2(1:1,1:2),3"), SizeIs(2));           // Dimemas
  const std::vector<Clock> of_nodes = clocks_of("0:1:3:(1:1,6:1,1:2)");  // nsys2prv
  EXPECT_THAT(of_nodes, SizeIs(2));
  EXPECT_EQ(of_nodes[1].name, "node 2");
  EXPECT_THAT(clocks_of("0:1:3(1:1,6:0,1:2)"), SizeIs(3));
  EXPECT_THAT(clocks_of("0:1:3(1:1,6:1,1:4000000000)"), SizeIs(3));
}

TEST_F(Paraver, labels_name_nodes_states_and_calls) {
  static_cast<void>(put("run.pcf",
                        "STATES\n0    Idle\n1    Running\n\nEVENT_TYPE\n9    50000002    MPI\n"
                        "9 77 mine\nVALUES\n7   MPI_Bcast\n\nEVENT_TYPE\n9 50000001 MPI\n"));
  static_cast<void>(put("run.row", "LEVEL CPU SIZE 1\nx\n\nLEVEL NODE SIZE 2\nfast\nslow\n\nL\n"));
  const auto run =
      read(std::string(k_header) + "1:1:1:1:1:5:6:1\n1:2:1:2:1:7:8:4\n" + call(1, 10, 50, 7));
  EXPECT_EQ(run->clocks.clocks[0].name, "fast");
  EXPECT_EQ(run->clocks.clocks[1].name, "slow");
  EXPECT_THAT(run->files, SizeIs(3));
  std::vector<std::string> work;
  EXPECT_TRUE(run->for_each_work([&](const formats::Work& one) -> Result<void> {
    work.push_back(fmt::format("{} {}-{} {} {}", one.clock, one.begin, one.end, one.name, one.row));
    return {};
  }));
  EXPECT_THAT(work,
              ElementsAre("0 5-6 Running 1.1.1", "1 7-8 state 4 1.2.1", "0 10-50 MPI_Bcast 1.1.1"));
}

TEST_F(Paraver, names_of_nodes_must_tell_them_apart) {
  static_cast<void>(put("run.row", "LEVEL NODE SIZE 2\nsame\nsame\n"));
  const auto run = read(std::string(k_header) + "1:1:1:1:1:5:6:1\n");
  EXPECT_EQ(run->clocks.clocks[1].name, "node 2");
  EXPECT_EQ(read("#Paraver (x):5:0:1:2(1:0,1:0)\n1:1:1:1:1:5:6:1\n")->clocks.clocks[1].name,
            "task 1.2");
}

/// How calls were paired plays no part in the check.
TEST_F(Paraver, pairs_that_calls_contradict_are_dropped) {
  Calls calls;
  calls.communicators = {{.application = 0, .id = 1, .tasks = {0, 1}}};
  for (const std::uint32_t task : {0, 1, 0, 1}) {
    calls.all.push_back({.begin = 10 + calls.all.size(),
                         .end = 20,
                         .operation = calls.all.size() == 3 ? 10U : 8U,
                         .task = task,
                         .communicator = 0});
  }
  const auto dropped = [&](std::vector<std::uint32_t> members) {
    Instances instances;
    instances.members.assign(members.begin(), members.end());
    instances.all.push_back({.first = 0, .members = 2, .communicator = 0, .operation = 8});
    return drop_refuted(instances, calls);
  };
  EXPECT_EQ(dropped({0, 1}), 0U);
  EXPECT_EQ(dropped({1, 0}), 2U);  // ranks of others
  EXPECT_EQ(dropped({0, 2}), 2U);  // one task twice
  EXPECT_EQ(dropped({0, 0}), 2U);  // one call twice
  EXPECT_EQ(dropped({0, 3}), 2U);  // of another operation
  EXPECT_EQ(dropped({0, 4}), 2U);  // no call
  calls.all[1].end = 5;
  EXPECT_EQ(dropped({0, 1}), 2U);
}

}  // namespace
}  // namespace entrain::paraver
