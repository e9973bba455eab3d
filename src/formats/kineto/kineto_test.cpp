// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/kineto.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

TEST_F(Chrome, a_text_that_ends_too_early_is_read_to_the_last_whole_event) {
  const std::string whole = file_of({kernel(1000), kernel(2000), kernel(3000)});
  add(whole.substr(0, whole.size() - 20));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->events, 2U);
  EXPECT_EQ(count_of((*run)->skipped, "truncated_files"), 1U);
  ASSERT_FALSE((*run)->warnings.empty());
  EXPECT_NE((*run)->warnings.front().find("rank0.json ends inside a record"), std::string::npos);
}

TEST_F(Chrome, a_packed_text_that_ends_too_early_is_read_like_a_plain_one) {
  std::vector<std::string> calls;
  for (int k = 1; k < 2000; ++k) calls.push_back(kernel(1000.0 * k * k));
  const std::string whole = file_of(calls);
  const std::filesystem::path packed = folder_ / "rank0.json.gz";
  ASSERT_TRUE(json::save(packed, whole, json::Packing::gzip));
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
  files_.push_back(packed);
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_GT((*run)->events, 100U);
  EXPECT_LT((*run)->events, 1999U);
  EXPECT_EQ(count_of((*run)->skipped, "truncated_files"), 1U);
}

TEST_F(Chrome, a_text_may_end_inside_a_character) {
  add("[" + kernel(1000) + R"(, {"name": ")" + "\xC3");
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(count_of((*run)->skipped, "truncated_files"), 1U);
}

TEST_F(Chrome, what_follows_a_trace_is_reported) {
  const std::string trace = file_of({kernel(1000)});
  for (const std::string& more : {trace, std::string("]"), std::string("x"), "\n\n" + trace,
                                  std::string(1, '\0'), '\n' + std::string(1 << 20, '\0')}) {
    files_.clear();
    add(trace + more);
    EXPECT_NE(error().find("something else follows; give every trace"), std::string::npos)
        << error();
  }
  files_.clear();
  add("[" + kernel(1000) + "] []");
  EXPECT_NE(error().find("something else follows"), std::string::npos) << error();
  files_.clear();
  add(trace + " \n\t" + std::string(1 << 20, ' '));
  EXPECT_EQ(error(), "");
}

TEST_F(Chrome, what_follows_a_trace_is_told_also_where_the_packed_text_is_cut) {
  const std::filesystem::path packed = folder_ / "rank0.json.gz";
  std::string more;
  for (int i = 0; i < 1'000; ++i) more += kernel(1000 + i) + "\n";
  ASSERT_TRUE(json::save(packed, file_of({kernel(1000)}) + more, json::Packing::gzip));
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
  files_.push_back(packed);
  EXPECT_NE(error().find("something else follows; give every trace"), std::string::npos) << error();
}

TEST_F(Chrome, bytes_that_are_0_are_no_end) {
  add("[" + kernel(1000) + std::string(1, '\0') + ", " + kernel(2000) + "]");
  EXPECT_NE(error().find("cannot stand there in JSON"), std::string::npos) << error();
}

TEST_F(Chrome, files_without_a_trace_are_reported) {
  const auto told = [&](const char* text) {
    files_.clear();
    add(text);
    return error();
  };
  EXPECT_NE(told("").find("it is empty"), std::string::npos);
  EXPECT_NE(told("\n").find("it is empty"), std::string::npos);
  EXPECT_NE(told("null").find("no object and no list"), std::string::npos);
  EXPECT_NE(told("[1, 2, 3]").find("is no event"), std::string::npos);
  EXPECT_NE(told("{}").find("is no Chrome trace"), std::string::npos);
  EXPECT_NE(told(R"({"a":1}{"b":2})").find("is no Chrome trace"), std::string::npos);
}

TEST_F(Chrome, the_begin_of_a_file_tells_if_it_may_be_a_trace) {
  const auto may_be = [](const char* text) { return may_hold_events(text); };
  for (const char* text :
       {R"({"a": {"b": 1}, "traceEvents": [)", R"([{"name": "x", "ph": "X")", "[]"}) {
    EXPECT_TRUE(may_be(text)) << text;
  }
  for (const char* text : {"", "\n", "{}", "null", "[1, 2]", R"({"name": "x", "version": "1"})",
                           R"([{"name": "x"}])"}) {
    EXPECT_FALSE(may_be(text)) << text;
  }
  EXPECT_TRUE(may_hold_events(R"({"schemaVersion": 1, )"));
}

TEST_F(Chrome, a_file_that_is_cut_in_its_header_is_a_rank_without_events) {
  add_calls({100, 200});
  add_calls({100, 200});
  add(R"({"schemaVersion": 1, "deviceProp)");
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->files.size(), 3U);
  EXPECT_EQ((*run)->clocks.clocks.size(), 3U);
  ASSERT_FALSE((*run)->warnings.empty());
  EXPECT_EQ((*run)->warnings.front(),
            "rank2.json ends before its first event: nothing is known of rank 2");
}

TEST_F(Chrome, times_of_a_rank_in_another_unit_are_set_aside) {
  const auto calls = [](double per_us) {
    std::vector<std::string> events{fmt::format(
        R"({{"ph": "{}", "cat": "rpc", "name": "message", "id": 1, "pid": 1, "tid": 1, )"
        R"("ts": {:.3f}, "bp": "e"}})",
        per_us < 1 ? 's' : 'f', 1.76e15 * per_us)};
    for (int k = 1; k <= 9; ++k) {
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", "ts": {:.3f}, )"
          R"("dur": {:.3f}, "args": {{"stream": 7, "Comms Id": 1, "Seq": {}}}}})",
          (1.76e15 + 1000 * k) * per_us, 50 * per_us, k));
    }
    return file_of(events);
  };
  for (const double per_us : {1.0, 1.0, 1e-3}) add(calls(per_us));
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->set_aside.size(), 1U);
  EXPECT_EQ((*run)->set_aside[0].clock, "rank 2");
  EXPECT_NE((*run)->set_aside[0].reason.find("1,000 times too small"), std::string::npos);
  ASSERT_EQ((*run)->list.instances.size(), 9U);
  EXPECT_EQ((*run)->list.instances[0].ends, 2U);
  EXPECT_TRUE((*run)->list.cause_clock.empty());  // an arrow from this rank is no message
}

TEST_F(Chrome, times_in_ns_are_no_times_in_us) {
  const auto calls = [](int in_ns) {
    std::vector<std::string> events;
    for (int k = 1; k <= 40; ++k) {
      const double scale = k <= in_ns ? 1e3 : 1, time = (1.76e15 + 1000 * k) * scale;
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", "ts": {}, )"
          R"("dur": {}, "args": {{"stream": 7, "Comms Id": 1, "Seq": {}}}}})",
          k % 2 == 0 ? fmt::format("{:.3f}", time) : fmt::format("{:.14e}", time), 50 * scale, k));
    }
    return file_of(events);
  };
  for (const int in_ns : {1, 40}) {
    files_.clear();
    for (const int own : {0, 0, in_ns}) add(calls(own));
    const auto run = open();
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ((*run)->set_aside.size(), 1U);
    const SetAside& one = (*run)->set_aside[0];
    EXPECT_EQ(one.clock, "rank 2");
    EXPECT_EQ(one.records, 2U * static_cast<unsigned>(in_ns));
    EXPECT_EQ(one.total, 80U);
    EXPECT_EQ(one.is_decisive, in_ns == 40);
    EXPECT_NE(one.reason.find("another unit is likely"), std::string::npos) << one.reason;
    EXPECT_EQ((*run)->list.instances.size(), 40U);
    const TempFolder out;
    std::vector<ClockMap> maps((*run)->clocks.clocks.size(), ClockMap().shifted(1000));
    ASSERT_TRUE((*run)->write(out.path(), maps));
    const std::string text = json::load(out.path() / "rank2.json")->text;
    EXPECT_NE(text.find("1.76000000000100e+18"), std::string::npos);  // stays
    EXPECT_EQ(text.find("1760000000003001") != std::string::npos, in_ns == 1) << text;
  }
}

TEST_F(Chrome, times_with_exponents_are_read) {
  bool cut = false;
  const auto ns = [&](const char* text) { return parse_time(text, cut).value_or(-7); };
  EXPECT_EQ(ns("9.9e2"), 990'000);
  EXPECT_EQ(ns("-1.25E+1"), -12'500);
  EXPECT_EQ(ns("2500e-3"), 2'500);
  EXPECT_EQ(ns("1.76000000000000012e+15"), 1'760'000'000'000'000'120);
  EXPECT_FALSE(cut);
  EXPECT_EQ(ns("2.75e-3"), 2);
  EXPECT_TRUE(cut);
  EXPECT_TRUE(is_beyond(ns("1.8446744073709552e+16")) && is_beyond(ns("-9223372036854775.808")));
  EXPECT_TRUE(is_beyond(ns("1e400")) && is_beyond(ns("-2.5e+99999999999")));
  EXPECT_EQ(ns("1e-2147483648"), 0);
  EXPECT_EQ(ns("0e400"), 0);
  for (const char* text : {"e2", "1e", "1e2e3", ".5e1", "1.e5", "1e+-5", "x", ""}) {
    EXPECT_FALSE(parse_time(text, cut)) << text;
  }
}

TEST_F(Chrome, a_rank_whose_calls_all_have_no_end_is_set_aside) {
  const auto calls = [](int count, double length) {
    std::vector<std::string> events{
        R"({"ph": "X", "cat": "cpu_op", "name": "mul", "pid": 9, "tid": 9, "ts": 1e15, "dur": 1})"};
    events.front().replace(events.front().find("1e15"), 4, "1000000000000000");
    for (int k = 1; k <= count; ++k) {
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", "ts": {:.3f}, )"
          R"("dur": {}, "args": {{"stream": 7, "Comms Id": 1, "Seq": {}, "Group size": 3}}}})",
          1e15 + 1000 * k, length, k));
    }
    return file_of(events);
  };
  for (const bool recorded : {true, false}) {
    files_.clear();
    add(calls(9, 50));
    add(calls(9, 50));
    add(calls(recorded ? 9 : 0, -1));
    const auto run = open();
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ((*run)->set_aside.size(), 1U);
    EXPECT_EQ((*run)->set_aside[0].clock, "rank 2");
    EXPECT_EQ((*run)->set_aside[0].records, recorded ? 9U : 0U);
    EXPECT_TRUE((*run)->set_aside[0].is_decisive);
  }
}

TEST_F(Chrome, a_rank_whose_times_are_all_0_is_set_aside) {
  add(file_of({kernel(1000), kernel(2000)}));
  add(file_of({kernel(1000), kernel(2000)}));
  add(file_of({kernel(10), kernel(10)}));  // they begin at 0
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_FALSE((*run)->set_aside.empty());
  EXPECT_EQ((*run)->set_aside[0].clock, "rank 2");
  EXPECT_TRUE((*run)->set_aside[0].is_decisive);
  EXPECT_NE((*run)->set_aside[0].reason.find("all times of rank 2 are 0"), std::string::npos);
}

TEST_F(Chrome, two_files_of_a_rank_of_which_one_has_no_events_do_not_overlap) {
  const std::string rank = R"("distributedInfo": {"rank": 0, "world_size": 2}, )";
  add(file_of({kernel(1000)}, rank));
  add(file_of({}, rank));
  EXPECT_NE(error().find("both of rank 0, and rank1.json holds no events"), std::string::npos)
      << error();
}

TEST_F(Chrome, ranks_beyond_the_run_are_reported) {
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 4, "world_size": 4}, )"));
  auto run = open();
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->warnings.size(), 1U);
  EXPECT_NE((*run)->warnings[0].find("rank 4 of 4 ranks"), std::string::npos);
}

TEST_F(Chrome, an_event_with_two_times_is_refused) {
  add(R"([{"ph": "i", "ts": 1, "ts": 2}])");
  EXPECT_NE(error().find("has ts or dur twice"), std::string::npos) << error();
  files_.clear();
  add(R"([{"ph": "i", "ts": 1, "ts": ""}])");
  EXPECT_NE(error().find("of ts '', has ts"), std::string::npos) << error();
}

TEST_F(Chrome, escapes_in_keys_are_read) {
  add(R"([{"ph": "i", "t\u0073": 5}])");
  auto run = open();
  ASSERT_TRUE(run);
  const TempFolder out;
  ASSERT_TRUE((*run)->write(out.path(), std::vector<ClockMap>{ClockMap().shifted(1000)}));
  EXPECT_EQ(json::load(out.path() / "rank0.json")->text, R"([{"ph": "i", "t\u0073": 6}])");
}

TEST_F(Chrome, asynchronous_events_of_one_id_are_a_call) {
  for (const int late : {0, 2}) {
    std::vector<std::string> events;
    for (const int begin : {1000, 5000, 12000, 14700, 29100, 31000}) {
      for (const char* phase : {"b", "e"}) {
        events.push_back(fmt::format(
            R"({{"ph": "{}", "cat": "kernel", "id": 7, "pid": 0, "ts": {}, "name": "ncclX_AllReduce"}})",
            phase, begin + late + (*phase == 'e' ? 50 : 0)));
      }
    }
    add(file_of(events));
  }
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->list.instances.size(), 6U);
  EXPECT_EQ((*run)->list.members[2].time, 1'050'000U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_without_an_end"), 0U);
}

std::string async(const char* phase, int process, int time, const std::string& id) {
  return fmt::format(R"({{"ph": "{}", "cat": "kernel", {}"pid": {}, "ts": {}, )"
                     R"("name": "ncclX_AllReduce"}})",
                     phase, id, process, time);
}

/// Two calls overlap: by name alone the second begin and the first end would be one.
TEST_F(Chrome, asynchronous_events_may_have_the_second_kind_of_id) {
  const std::string a = R"("id2": {"local": "0xa"}, )", b = R"("id2": {"local": "0xb"}, )";
  add(file_of({async("b", 0, 1000, a), async("b", 0, 1020, b), async("e", 0, 1050, a),
               async("e", 0, 1090, b)}));
  const auto file = read_file(files_[0]);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->calls.size(), 2U);
  EXPECT_EQ(file->calls[0].end, 1'050'000U);
  EXPECT_EQ(file->calls[1].end, 1'090'000U);
  files_.clear();
  // Local ids are of their process; without any id nobody knows what belongs together.
  add(file_of({async("b", 0, 1000, a), async("e", 1, 1050, a), async("b", 0, 2000, ""),
               async("e", 0, 2050, "")}));
  const auto apart = read_file(files_[0]);
  ASSERT_TRUE(apart);
  EXPECT_TRUE(apart->calls.empty());
  EXPECT_EQ(apart->endless_calls, 2U);
}

TEST_F(Chrome, kernels_without_a_length_are_counted_and_never_paired) {
  const std::vector<std::string> odd{
      R"({"ph": "B", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", "ts": 1500.000})",
      R"({"ph": "E", "cat": "kernel", "tid": 7, "name": "ncclKernel_AllReduce_RING", "ts": 1501})",
      R"({"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING", "ts": 1600, "dur": -1})"};
  for (const double end : {1'000.0, 1'002.0}) {
    std::vector<std::string> all = odd;
    for (const double later : {0, 5'000, 9'000, 14'700, 29'100, 31'000}) {
      all.push_back(kernel(end + later));
    }
    add(file_of(all));
  }
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->list.instances.size(), 6U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_without_an_end"), 4U);
  EXPECT_EQ((*run)->coverage.collective_calls, 16);
  // They move with their clocks, and a length that is none stays what it is.
  const std::vector<ClockMap> maps{ClockMap().shifted(1'000'000), ClockMap()};
  const std::filesystem::path out = folder_ / "out";
  std::filesystem::create_directory(out);
  ASSERT_TRUE((*run)->write(out, maps));
  const std::string text = json::load(out / "rank0.json")->text;
  EXPECT_NE(text.find(R"("ts": 2500})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("ts": 2600, "dur": -1})"), std::string::npos) << text;
}

std::string half(const char* phase, double time, const char* more = "") {
  return fmt::format(R"({{"ph": "{}", "pid": 0, "tid": 7, "ts": {:.3f}{}}})", phase, time, more);
}
constexpr const char* k_nccl = R"(, "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum")";

TEST_F(Chrome, an_end_belongs_to_what_began_last_on_its_thread) {
  for (const double late : {0.0, 2.0}) {
    std::vector<std::string> events;
    for (const double begin : {1000., 5000., 12000., 14700., 29100., 31000.}) {
      events.push_back(half("B", begin + late, R"(, "cat": "cpu_op", "name": "step")"));
      events.push_back(half("B", begin + 10 + late, k_nccl));
      events.push_back(R"({"ph": "E", "pid": 0, "tid": 8, "ts": 1})");  // of another thread
      events.push_back(half("E", begin + 60 + late));
      events.push_back(half("E", begin + 90 + late));
    }
    events.push_back(half("B", 40000 + late, k_nccl));
    add(file_of(events));
  }
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->list.instances.size(), 6U);
  EXPECT_EQ((*run)->list.members[0].time, 1'010'000U);
  EXPECT_EQ((*run)->list.members[2].time, 1'060'000U);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_without_an_end"), 2U);
}

TEST_F(Chrome, an_end_before_its_begin_makes_no_call) {
  add(file_of({half("B", 1000, k_nccl), half("E", 900)}));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_without_an_end"), 1U);
}

TEST_F(Chrome, kernels_of_several_processes_are_reported_and_ignored) {
  const auto calls = [](double late) {
    std::vector<std::string> events;
    for (const double begin : {1000., 5000., 12000., 14700., 29100., 31000.}) {
      for (const int process : {0, 1}) {
        events.push_back(fmt::format(R"({{"ph": "X", "pid": {}, "ts": {}, "dur": 10{}}})", process,
                                     begin + late, k_nccl));
      }
    }
    return file_of(events);
  };
  add(calls(0));
  add(calls(1));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_of_several_processes"), 24U);
  ASSERT_EQ((*run)->warnings.size(), 2U);
  EXPECT_NE((*run)->warnings[0].find("give a file per rank"), std::string::npos);
}

/// Each rank of a worker of its own, which sees one device: number 0.
TEST_F(Chrome, ranks_that_were_merged_onto_one_stream_are_reported_and_ignored) {
  const auto calls = [](int ranks) {
    std::vector<std::string> events;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const int end : {1000, 5000, 12000, 14000}) events.push_back(kernel(end + rank));
    }
    return file_of(events);
  };
  add(calls(2));
  add(calls(1));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.instances.empty());
  EXPECT_EQ(count_of((*run)->unmatched, "calls_of_several_processes"), 8U);
  ASSERT_EQ((*run)->warnings.size(), 1U);
  EXPECT_NE((*run)->warnings[0].find("at one time on one stream"), std::string::npos);
}

TEST_F(Chrome, streams_of_one_thread_may_run_at_one_time) {
  for (const double late : {0.0, 2.0}) {
    std::vector<std::string> events;
    for (const double end : {1000.0, 5000.0, 12000.0, 14700.0, 29100.0, 31000.0}) {
      events.push_back(kernel(end + late));
      events.push_back(kernel(end + late + 1));
      std::string& other = events.back();
      other.replace(other.find("\"stream\": 7"), 11, "\"stream\": 8");
    }
    add(file_of(events));
  }
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.instances.size(), 12U);
  EXPECT_TRUE((*run)->warnings.empty());
}

TEST_F(Chrome, kernels_that_overlap_and_name_no_stream_are_of_one_rank) {
  for (const double late : {0., 2.}) {
    std::vector<std::string> events;
    for (const double begin : {1000., 5000., 12000., 14700., 29100., 31000.}) {
      for (const double shift : {0., 150.}) {
        events.push_back(fmt::format(R"({{"ph": "X", "pid": 0, "ts": {}, "dur": 400{}}})",
                                     begin + shift + late, k_nccl));
      }
    }
    add(file_of(events));
  }
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ(count_of((*run)->unmatched, "calls_of_several_processes"), 0U);
  EXPECT_TRUE((*run)->warnings.empty());
}

TEST_F(Chrome, times_that_no_run_has_are_set_aside) {
  for (const char* ts : {"-9000000000000000", "4700000000000000"}) {
    files_.clear();
    add(file_of({fmt::format(R"({{"ph": "X", "ts": {}, "dur": 1{}}})", ts, k_nccl), kernel(1000),
                 R"({"ph": "X", "ts": 9000000000000, "dur": 1, "name": "x"})"}));
    const auto run = open();
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ((*run)->set_aside.size(), 1U);
    EXPECT_EQ((*run)->set_aside[0].kind, "no_times_of_this_run");
  }
  files_.clear();
  add(file_of({kernel(-1000), kernel(1000)}));
  EXPECT_NE(error().find("between 0 and 2^62 ns"), std::string::npos) << error();
}

TEST_F(Chrome, a_list_of_traces_is_reported) {
  add(R"([{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2}]}, {"traceEvents": []}])");
  EXPECT_NE(error().find("holds a list of traces; give each"), std::string::npos) << error();
}

TEST_F(Chrome, times_may_be_strings_and_stay_strings) {
  add(R"([{"ph": "X", "ts": "10.5", "dur": "2", "name": "a"}, {"ph": "i", "ts": "11", "s": "t"}])");
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->clocks.clocks[0].events->last, 12'500U);
  const TempFolder out;
  ASSERT_TRUE((*run)->write(out.path(), std::vector<ClockMap>{ClockMap().shifted(250)}));
  EXPECT_EQ(json::load(out.path() / "rank0.json")->text,
            R"([{"ph": "X", "ts": "10.75", "dur": "2", "name": "a"}, )"
            R"({"ph": "i", "ts": "11.25", "s": "t"}])");
}

TEST_F(Chrome, names_of_work_have_no_escapes) {
  add(R"([{"ph": "X", "ts": 1, "dur": 2, "tid": "a\/b", "name": "\u003clambda\u003e \"x\""}])");
  const auto run = open();
  ASSERT_TRUE(run);
  std::string name, row;
  ASSERT_TRUE((*run)->for_each_work([&](const formats::Work& work) -> Result<void> {
    name = work.name;
    row = work.row;
    return {};
  }));
  EXPECT_EQ(name, "<lambda> \"x\"");
  EXPECT_EQ(row, "a/b");
}

TEST_F(Chrome, two_files_of_one_rank_are_refused) {
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 3}, )"));
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 3}, )"));
  EXPECT_NE(error().find("both of rank 3"), std::string::npos) << error();
}

TEST_F(Chrome, windows_of_one_rank_are_of_one_clock_and_stay_files_of_their_own) {
  const auto window = [](double from, double late, int first) {
    std::vector<std::string> events;
    for (int k = 0; k < 8; ++k) {
      events.push_back(kernel(from + 1000.0 * k * k + late,
                              fmt::format(R"(, "Comms Id": 3, "Seq": {})", first + k)));
    }
    return events;
  };
  for (const int rank : {0, 1}) {
    for (const int part : {1, 0}) {  // names are in no order of time
      add(file_of(window(1e6 + 1e6 * part, 500.0 * rank, 10 * part),
                  fmt::format(R"("distributedInfo": {{"rank": {}}}, )", rank)));
    }
  }
  const auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->clocks.clocks.size(), 2U);
  EXPECT_EQ((*run)->list.instances.size(), 16U);
  EXPECT_EQ((*run)->files.size(), 4U);
  EXPECT_EQ((*run)->event_times()->of_clock[0].size(), 32U);
  const TempFolder out;
  ASSERT_TRUE((*run)->write(out.path(), std::vector<ClockMap>{{}, ClockMap().shifted(-500'000)}));
  for (const int file : {0, 1}) {
    const auto text = [&](int f) {
      return json::load(out.path() / fmt::format("rank{}.json", f))->text.substr(30);
    };
    EXPECT_EQ(json::load(files_[file])->text.substr(30), text(file));
    const char* const moved = file == 0 ? "\"ts\": 1999990" : "\"ts\": 999990";
    EXPECT_NE(text(file + 2).find(moved), std::string::npos) << text(file + 2);
  }
}

TEST_F(Chrome, missing_ranks_are_reported) {
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 0, "world_size": 4}, )"));
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 2, "world_size": 4}, )"));
  auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ(count_of((*run)->anomalies, "missing_ranks"), 2U);
  ASSERT_EQ((*run)->notes.size(), 1U);
  EXPECT_NE((*run)->notes.front().find("of 4 ranks of the run 2 are missing (1, 3)"),
            std::string::npos);
}

TEST_F(Chrome, files_of_different_runs_are_refused) {
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 0, "world_size": 2}, )"));
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 1, "world_size": 4}, )"));
  EXPECT_NE(error().find("a run of 2 ranks"), std::string::npos) << error();
}

TEST_F(Chrome, times_that_are_none_are_refused) {
  for (const char* time : {"\"soon\"", "\"\"", "12.", "null"}) {
    files_.clear();
    add(fmt::format(R"([{{"ph": "i", "ts": {}}}])", time));
    EXPECT_NE(error().find("is no time"), std::string::npos) << time;
  }
}

TEST_F(Chrome, an_empty_length_is_refused) {
  add(R"([{"ph": "X", "ts": 1, "dur": ""}])");
  EXPECT_NE(error().find("'' is no time"), std::string::npos) << error();
}

TEST_F(Chrome, an_end_out_of_range_is_reported_with_its_begin_and_length) {
  add(R"([{"ph": "X", "ts": 4611686018427387.904, "dur": 4611686018427387.904}])");
  EXPECT_NE(error().find("begins at '4611686018427387.904' us and takes '4611686018427387.904' us"),
            std::string::npos)
      << error();
}

TEST_F(Chrome, damage_and_other_json_are_reported) {
  add(R"({"traceEvents": [{"ph": "X" "ts": 1}, {}]})");
  EXPECT_NE(error().find("cannot stand there"), std::string::npos) << error();
  files_.clear();
  for (const char* const other : {R"({"spans": []})", R"([{"traceId": "1", "timestamp": 2}])",
                                  R"([[{"trace_id": 1}]])", R"(["a"])"}) {
    files_.clear();
    add(other);
    EXPECT_NE(error().find("is no Chrome trace"), std::string::npos) << error();
  }
}

TEST_F(Chrome, only_times_change_and_durations_follow_the_map) {
  add(R"({"baseTimeNanoseconds": 1000, "traceEvents": [ {"ph":"M","ts":0}, )"
      R"({"dur": 2.500,"ts": 10.000, "name": "ts" ,"ph":"X"},{"ph":"C","ts":11}],"ts":10})");
  auto run = open();
  ASSERT_TRUE(run);
  const std::vector<ClockMap> maps{*ClockMap::from_knots({{11'000, 1}, {13'500, 26}})};
  const TempFolder out;
  ASSERT_TRUE((*run)->write(out.path(), maps));
  EXPECT_EQ(
      json::load(out.path() / "rank0.json")->text,
      R"({"baseTimeNanoseconds": 1000, "traceEvents": [ {"ph":"M","ts":0}, )"
      R"({"dur": 2.525,"ts": 10.001, "name": "ts" ,"ph":"X"},{"ph":"C","ts":11.011}],"ts":10})");
}

TEST(Times, have_3_decimals_and_end_in_2116) {
  bool cut = false;
  EXPECT_EQ(parse_time("1694128201429795.123", cut), 1694128201429795123);
  EXPECT_EQ(parse_time("4611686018427387.904", cut), k_last_time);
  EXPECT_EQ(parse_time("4611686018427387.905", cut), k_last_time + 1);
  EXPECT_EQ(parse_time("9223372036854775.808", cut), k_last_time + 1);
  EXPECT_EQ(parse_time("-1.5", cut), -1500);
  EXPECT_FALSE(cut);
  EXPECT_EQ(parse_time("1.0009", cut), 1000);
  EXPECT_TRUE(cut);
  EXPECT_EQ(time_text(1500), "1.5");
  EXPECT_EQ(time_text(-2000), "-2");
}

}  // namespace
}  // namespace entrain::kineto
