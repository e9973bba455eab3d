// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/clocks.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/json/document.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

std::string event(const char* category, const char* name, const char* process, double begin,
                  double length, int correlation) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": 7, "ts": {}, )"
                     R"("dur": {}, "args": {{"correlation": {}}}}})",
                     category, name, process, begin, length, correlation);
}
std::string launch(double begin, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", "900", begin, 5, correlation);
}
std::string work(double begin, int correlation, const char* device = "0") {
  return event("kernel", "gemm", device, begin, 10, correlation);
}
std::string call(const char* name, double begin, double length, int correlation = 0) {
  return event("cuda_runtime", name, "900", begin, length, correlation);
}

class Devices : public Chrome {
 protected:
  RankFile file(const std::vector<std::string>& events) {
    files_.clear();
    add(file_of(events));
    auto read = read_file(files_[0]);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : RankFile();
  }
};

TEST_F(Devices, a_device_whose_launches_are_known_has_a_clock) {
  const RankFile one = file({launch(100, 1), work(90, 1), launch(300, 2), work(310, 2)});
  ASSERT_EQ(one.clocks.size(), 2U);
  const FileClock& device = one.clocks[1];
  EXPECT_EQ(device.first, 90'000U);
  EXPECT_EQ(device.last, 320'000U);
  ASSERT_EQ(device.edges.size(), 2U);
  EXPECT_EQ(device.edges[0].host, 100'000U);
  EXPECT_EQ(device.edges[0].device, 90'000U);
  EXPECT_TRUE(device.edges[0].from_host);
  // Nothing relates this one to its host: it is stamped as the host is.
  EXPECT_EQ(file({launch(100, 1), work(90, 2)}).clocks.size(), 1U);
  EXPECT_EQ(file({work(90, 0)}).clocks.size(), 1U);
}

TEST_F(Devices, of_several_calls_with_one_number_the_first_counts) {
  const RankFile one = file({launch(500, 1), launch(100, 1), work(90, 1), work(95, 1)});
  ASSERT_EQ(one.clocks[1].edges.size(), 2U);
  EXPECT_EQ(one.clocks[1].edges[0].host, 100'000U);
  EXPECT_EQ(one.clocks[1].edges[1].host, 100'000U);
}

TEST_F(Devices, a_call_that_waits_ends_after_what_was_launched_before_it) {
  const auto waits = [&](const std::vector<std::string>& more) {
    std::vector<std::string> events{launch(100, 1), work(110, 1), launch(300, 2), work(310, 2)};
    events.insert(events.end(), more.begin(), more.end());
    std::vector<InnerEdge> found = file(events).clocks[1].edges;
    std::erase_if(found, [](const InnerEdge& edge) { return edge.from_host; });
    return found;
  };
  auto edges = waits({call("cudaDeviceSynchronize", 200, 50)});
  ASSERT_EQ(edges.size(), 1U);
  EXPECT_EQ(edges[0].device, 120'000U);
  EXPECT_EQ(edges[0].host, 250'000U);
  EXPECT_EQ(waits({call("hipStreamSynchronize", 400, 50)}).size(), 1U);
  EXPECT_TRUE(waits({call("cudaDeviceSynchronize", 50, 10)}).empty());
  EXPECT_TRUE(waits({call("cudaEventQuery", 400, 50)}).empty());
  // The stream, or the device, that is waited for is not certain.
  const std::string elsewhere =
      R"({"ph": "X", "cat": "kernel", "name": "x", "pid": 0, "tid": 8, "ts": 1, "dur": 1})";
  EXPECT_TRUE(waits({call("cudaStreamSynchronize", 400, 50), elsewhere}).empty());
  EXPECT_EQ(waits({call("cudaDeviceSynchronize", 400, 50), elsewhere}).size(), 1U);
  EXPECT_TRUE(waits({call("cudaDeviceSynchronize", 400, 50), work(500, 0, "1")}).empty());
}

TEST_F(Devices, a_copy_to_the_host_ends_before_its_call) {
  const auto copies = [&](const char* name, const char* way) {
    const std::string copy = event("gpu_memcpy", way, "0", 110, 10, 3);
    return file({call(name, 100, 40, 3), copy}).clocks[1].edges.size();
  };
  EXPECT_EQ(copies("cudaMemcpy", "Memcpy DtoH (Device -> Pageable)"), 2U);
  EXPECT_EQ(copies("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)"), 1U);
  EXPECT_EQ(copies("cudaMemcpy", "Memcpy HtoD (Pageable -> Device)"), 1U);
}

TEST_F(Devices, work_at_0_far_from_all_other_is_no_work_of_1970) {
  const RankFile one = file({launch(1e15, 1), work(1e15 + 9, 1), launch(1e15 + 20, 2), work(0, 2)});
  ASSERT_EQ(one.clocks.size(), 2U);
  EXPECT_EQ(one.zeros, 1U);
  EXPECT_EQ(one.clocks[1].events, 1U);
  EXPECT_EQ(one.clocks[1].edges.size(), 1U);
  EXPECT_EQ(file({launch(0, 1), work(9, 1)}).zeros, 0U);
  // Nobody knows more of a clock that shows nothing else.
  EXPECT_EQ(file({launch(1e15, 1), work(0, 1)}).zeros, 0U);
  // Work that begins again and again at 0 does not.
  const RankFile all = file({launch(1e15, 1), work(0, 1), launch(1e15 + 20, 2), work(0, 2)});
  EXPECT_EQ(all.zeros, 2U);
  ASSERT_EQ(all.clocks.size(), 1U);
}

TEST_F(Devices, single_times_a_day_from_all_others_are_none_of_this_run) {
  const auto run = [&](double begin, double length) {
    std::vector<std::string> events;
    for (int k = 0; k < 20; ++k) {
      events.push_back(launch(1e15 + 100 * k, k + 1));
      events.push_back(event("kernel", "gemm", "0", k == 7 ? begin : 1e15 + 100 * k + 9,
                             k == 7 ? length : 10, k + 1));
    }
    return file(events);
  };
  constexpr double k_day = 86'400e6;
  for (const auto& [begin, length] :
       {std::pair{5e3, 10.0}, {4.1e15, 10.0}, {1e15 + 709, 2 * k_day}}) {
    const RankFile one = run(begin, length);
    ASSERT_EQ(one.clocks.size(), 2U);
    ASSERT_EQ(one.clocks[1].none.size(), 1U);
    EXPECT_EQ(one.clocks[1].none[0].count, length > k_day ? 1U : 2U);
    EXPECT_EQ(one.clocks[1].times, 40U);
    EXPECT_EQ(one.clocks[1].edges.size(), 19U);
    EXPECT_EQ(one.clocks[1].first, 1'000'000'000'000'009'000U);
    EXPECT_EQ(one.clocks[1].last, 1'000'000'000'001'919'000U);
    EXPECT_TRUE(one.clocks[0].none.empty());
  }
  EXPECT_EQ(run(1e15 + k_day / 2, 10).clocks[1].edges.size(), 20U);
  EXPECT_TRUE(run(1e15 + k_day / 2, 10).clocks[1].none.empty());
}

TEST_F(Devices, stray_times_on_both_sides_of_0_are_all_none_of_this_run) {
  std::vector<std::string> events;
  for (int k = 0; k < 70; ++k) {
    events.push_back(launch(1e15 + 100 * k, k + 1));
    const double stray[] = {-5, 0, 3};
    events.push_back(work(k < 3 ? stray[k] : 1e15 + 100 * k + 9, k + 1));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  for (const std::int64_t time : {-5'000, 0, 3'000}) EXPECT_TRUE(one.clocks[1].is_none(time));
  EXPECT_EQ(one.clocks[1].edges.size(), 67U);
  EXPECT_EQ(one.clocks[1].first, 1'000'000'000'000'309'000U);
}

/// Each stretch of time is but a small share of all, and all are of this run.
TEST_F(Devices, times_that_are_days_apart_each_are_of_this_run) {
  std::vector<std::string> events;
  for (int k = 0; k < 40; ++k) {
    events.push_back(launch(1e15 + 2 * 86'400e6 * k, k + 1));
    events.push_back(work(1e15 + 2 * 86'400e6 * k + 9, k + 1));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  EXPECT_TRUE(one.clocks[1].none.empty());
  EXPECT_EQ(one.clocks[1].edges.size(), 40U);
}

TEST_F(Devices, each_clock_moves_by_its_own_map) {
  const std::string arrow = R"({"ph": "f", "pid": 0, "tid": 7, "ts": 90, "id": 1, "bp": "e"})";
  add(file_of({launch(100, 1), work(90, 1), arrow}));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->clocks.clocks.size(), 2U);
  EXPECT_EQ((*run)->clocks.clocks[1].name, "rank 0 device 0");
  EXPECT_EQ((*run)->clocks.clocks[1].process, (*run)->clocks.clocks[0].process);
  const TempFolder out;
  ASSERT_TRUE((*run)->write(out.path(), std::vector<ClockMap>{{}, ClockMap().shifted(20'000)}));
  const std::string text = json::load(out.path() / "rank0.json")->text;
  EXPECT_NE(text.find("\"ts\": 100,"), std::string::npos);
  EXPECT_NE(text.find("\"ts\": 110, \"dur\": 10"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ts\": 110, \"id\": 1"), std::string::npos) << text;
}

std::string sync(const char* kind, int correlation, const std::string& more) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cuda_sync", "name": "{}", "pid": 0, "tid": 7, )"
      R"("ts": 400, "dur": 1, "args": {{"cuda_sync_kind": "{}", "correlation": {}{}}}}})",
      kind, kind, correlation, more);
}

/// The profiler tells for which stream, or event, a call waited.
TEST_F(Devices, records_of_synchronisation_say_what_a_call_waited_for) {
  const std::vector<std::string> run{
      launch(100, 1),
      work(120, 1),
      launch(140, 2),
      R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 9, "ts": 150, "dur": 90, )"
      R"("args": {"correlation": 2}})",
      call("cudaEventRecord", 160, 2, 5),
      launch(170, 3),
      work(180, 3)};
  const auto ends = [&](const std::string& wait, const std::string& record) {
    std::vector<std::string> events = run;
    events.insert(events.end(), {wait, record});
    std::vector<std::uint64_t> found;
    const RankFile read = file(events);
    for (const InnerEdge& edge : read.clocks[1].edges) {
      if (!edge.from_host) found.push_back(edge.device);
    }
    return found;
  };
  using Ends = std::vector<std::uint64_t>;
  const std::string waits = call("cudaStreamSynchronize", 300, 50, 8);
  EXPECT_EQ(ends(waits, "{}"), Ends{});
  EXPECT_EQ(ends(waits, sync("Stream Sync", 8, R"(, "stream": 7)")), Ends{190'000});
  EXPECT_EQ(ends(waits, sync("Stream Sync", 8, R"(, "stream": 9)")), Ends{240'000});
  EXPECT_EQ(ends(call("cudaDeviceSynchronize", 300, 50, 8), sync("Context Sync", 8, "")),
            Ends{240'000});
  EXPECT_EQ(ends(call("cudaEventSynchronize", 300, 50, 8),
                 sync("Event Sync", 8,
                      R"(, "wait_on_stream": 7, )"
                      R"("wait_on_cuda_event_record_corr_id": 5)")),
            Ends{130'000});
}

/// The clock of host and device is set back by 5 ms between two launches that are 2 ms apart.
TEST_F(Devices, times_that_a_clock_shows_twice_count_on_in_the_order_of_records) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const double time = 1e6 + 2'000.0 * k - (k > 20 ? 5'000 : 0);
    events.push_back(launch(time, k));
    events.push_back(work(time + 20, k));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  for (const FileClock& clock : one.clocks) {
    ASSERT_EQ(clock.falls.all.size(), 1U);
    EXPECT_EQ(clock.falls.all[0].from - clock.falls.all[0].to, 3'000'000);
  }
  const std::vector<InnerEdge>& edges = one.clocks[1].edges;
  ASSERT_EQ(edges.size(), 40U);
  for (std::size_t k = 1; k < edges.size(); ++k) EXPECT_GT(edges[k].host, edges[k - 1].host);
  const auto run = open();
  ASSERT_TRUE(run);
  const TempFolder out;
  const std::vector<ClockKnot> knots{{1'000'000'000, 0},
                                     {1'040'030'000, 0},
                                     {1'090'010'000, -48'010'000},
                                     {1'190'000'000, -48'010'000}};
  const ClockMap map = ClockMap::from_knots(knots).value();
  const std::vector<ClockMap> maps{map, map};
  ASSERT_TRUE((*run)->write(out.path(), maps));
  const auto copy = (*run)->read_back(out.path(), maps);
  EXPECT_TRUE(copy) << copy.error().message;
  const std::string text = json::load(out.path() / "rank0.json")->text;
  for (int k = 1; k <= 40; ++k) {
    const std::string time = fmt::format("\"ts\": {}, \"dur\": 5", 1'000'000 + 2'000 * k);
    EXPECT_NE(text.find(time), std::string::npos) << time;
  }
  // Blocks of a file that begin anew are no clock that was set.
  std::vector<std::string> twice = events;
  twice.insert(twice.end(), events.begin(), events.end());
  EXPECT_TRUE(file(twice).clocks[0].falls.all.empty());
}

/// Launches come five at a time, 10 ms apart: the host shows no fall where the device does.
TEST_F(Devices, a_host_is_set_back_with_its_device) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const double launched = 10'000 * ((k - 1) / 5) + 10 * k, begun = 12'000 + 2'000 * k;
    const auto shown = [](double time) { return 1e6 + time - (time > 53'000 ? 5'000 : 0); };
    events.push_back(launch(shown(launched), k));
    events.push_back(work(shown(begun), k));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  for (const FileClock& clock : one.clocks) ASSERT_EQ(clock.falls.all.size(), 1U);
  ASSERT_EQ(one.clocks[1].edges.size(), 30U);  // without those of calls in flight
  for (const InnerEdge& edge : one.clocks[1].edges) {
    EXPECT_GT(edge.device, edge.host + 13'000'000);
    EXPECT_LT(edge.device, edge.host + 23'000'000);
  }
}

/// Launches go on, and work begins 5 ms sooner after them than before.
TEST_F(Devices, a_device_is_set_back_without_its_host) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    events.push_back(launch(1e6 + 2'000.0 * k, k));
    events.push_back(work(1e6 + 2'000.0 * k + (k > 20 ? 1'000 : 6'000), k));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  EXPECT_TRUE(one.clocks[0].falls.all.empty());
  EXPECT_EQ(one.clocks[1].falls.all.size(), 1U);
}

/// What follows is shorter than what repeats: numbers of launches tell that time went on.
TEST_F(Devices, a_clock_that_was_set_back_near_the_end_counts_on) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const double time = 1e6 + 2'000.0 * k - (k > 38 ? 25'000 : 0);
    events.push_back(launch(time, k));
    events.push_back(work(time + 20, k));
  }
  for (const FileClock& clock : file(events).clocks) {
    ASSERT_EQ(clock.falls.all.size(), 1U);
    EXPECT_EQ(clock.falls.all[0].from - clock.falls.all[0].to, 23'000'000);
  }
  // Blocks of a file in another order.
  events.clear();
  for (int k = 1; k <= 40; ++k) {
    const int number = k > 38 ? k - 38 : k + 2;
    events.push_back(launch(1e6 + 2'000.0 * number, number));
    events.push_back(work(1e6 + 2'000.0 * number + 20, number));
  }
  for (const FileClock& clock : file(events).clocks) EXPECT_TRUE(clock.falls.all.empty());
  // Marks of another clock on the rows of the kernels, which do not fall.
  events.clear();
  for (int k = 1; k <= 8; ++k) {
    events.push_back(event("gpu_user_annotation", "step", "0", 1e6 + 2'000.0 * k, 20, 0));
    events.push_back(launch(1e6 + 2'000.0 * k, k));
    events.push_back(work(1e6 + 2'000.0 * k + 5'020, k));
  }
  for (const FileClock& clock : file(events).clocks) EXPECT_TRUE(clock.falls.all.empty());
}

TEST(RowOrder, an_end_that_no_clock_shows_hides_no_fall) {
  RowOrder order;
  order.see(5'000'000, 5'010'000);
  order.see(6'000'000, k_last_time + 1);
  order.see(1'000'000, 1'010'000);
  ASSERT_EQ(order.falls().size(), 1U);
  EXPECT_EQ(order.falls().front().until, 5'010'000);
}

/// Host and device are set back while a call waits: its begin is before that, that of the kernel it
/// waits for after.
TEST_F(Devices, calls_in_flight_when_a_clock_was_set_back_are_no_edges) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const double before = 1e6 + 2'000.0 * k, after = before - 5'000;
    const double begin = k > 21 ? after : before, kernel = k > 20 ? after : before;
    events.push_back(launch(begin, k));
    events.push_back(call("cudaDeviceSynchronize", begin + 10, k == 21 ? 15 : 500, 100 + k));
    events.push_back(work(kernel + 20, k));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 2U);
  const std::vector<InnerEdge>& edges = one.clocks[1].edges;
  EXPECT_EQ(std::ranges::count(edges, true, &InnerEdge::from_host), 39);
  for (const InnerEdge& edge : edges) {
    const auto apart = static_cast<std::int64_t>(edge.device - edge.host);
    EXPECT_LT(std::abs(apart), 3'000'000) << edge.host;
  }
}

/// The host is set back; a device that no launch names is not, and nothing ties it to its host.
TEST_F(Devices, a_device_that_nothing_ties_to_its_host_does_not_fall_with_it) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const double time = 1e6 + 2'000.0 * k;
    events.push_back(launch(time - (k > 20 ? 5'000 : 0), k));
    events.push_back(work(time + 300, 0, "1"));
  }
  const RankFile one = file(events);
  ASSERT_EQ(one.clocks.size(), 1U);
  ASSERT_EQ(one.clocks[0].falls.all.size(), 1U);
  const auto run = open();
  ASSERT_TRUE(run);
  const TempFolder out;
  const std::vector<ClockMap> maps(1);
  ASSERT_TRUE((*run)->write(out.path(), maps));
  const auto copy = (*run)->read_back(out.path(), maps);
  EXPECT_TRUE(copy) << copy.error().message;
  const std::string text = json::load(out.path() / "rank0.json")->text;
  for (int k = 1; k <= 40; ++k) {
    const std::string time = fmt::format("\"ts\": {}, \"dur\": 10", 1'000'300 + 2'000 * k);
    EXPECT_NE(text.find(time), std::string::npos) << time;
  }
}

/// A launch and its collective kernel of a rank, whose host is process 100 + rank, in a file of
/// several ranks.
std::vector<std::string> collective(int rank, int number, double begin, int correlation) {
  return {
      fmt::format(R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": {}, )"
                  R"("tid": 1, "ts": {}, "dur": 5, "args": {{"correlation": {}}}}})",
                  100 + rank, begin, correlation),
      fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": {}, )"
                  R"("tid": 7, "ts": {}, "dur": 100, "args": {{"correlation": {}, "stream": 7, )"
                  R"("Comms Id": 1, "Seq": {}}}}})",
                  rank, begin + 20, correlation, number)};
}

/// `own`: no correlation occurs at both ranks.
std::vector<std::string> run_of_two_ranks(bool own) {
  std::vector<std::string> events;
  for (int number = 1; number <= 4; ++number) {
    for (int rank = 0; rank < 2; ++rank) {
      for (auto& one : collective(rank, number, 1e6 + 1000 * number + 5000 * rank,
                                  number + (own ? 100 * rank : 0))) {
        events.push_back(std::move(one));
      }
    }
  }
  return events;
}

TEST_F(Devices, a_file_may_hold_several_ranks) {
  add(file_of(run_of_two_ranks(true)));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->clocks.clocks.size(), 4U);
  EXPECT_EQ((*run)->clocks.clocks[3].name, "rank 1 device 1");
  EXPECT_EQ((*run)->list.instances.size(), 4U);
  EXPECT_EQ((*run)->list.cause_clock.size(), 8U);
  const auto written = folder_.path() / "written";
  std::filesystem::create_directory(written);
  const ClockMap back = ClockMap().shifted(-5'000'000);
  const std::vector<ClockMap> maps{ClockMap(), back, ClockMap(), back};
  ASSERT_TRUE((*run)->write(written, maps));
  const auto copy = (*run)->read_back(written, maps);
  ASSERT_TRUE(copy) << copy.error().message;
  const auto before = (*run)->event_times(), after = (*copy)->event_times();
  ASSERT_TRUE(before && after);
  for (std::size_t clock = 0; clock < 4; ++clock) {
    ASSERT_EQ(after->of_clock[clock].size(), before->of_clock[clock].size());
    const std::int64_t moved = clock % 2 == 1 ? 5'000'000 : 0;
    EXPECT_EQ(after->of_clock[clock][0].time(), before->of_clock[clock][0].time() - moved);
  }
}

TEST_F(Devices, ranks_that_nothing_tells_apart_stay_merged) {
  add(file_of(run_of_two_ranks(false)));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_TRUE((*run)->list.cause_clock.empty());  // launches may be those of the other rank
  EXPECT_EQ(count_of((*run)->unmatched, "calls_of_several_processes"), 8U);
}

}  // namespace
}  // namespace entrain::kineto
