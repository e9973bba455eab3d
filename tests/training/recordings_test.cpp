// SPDX-License-Identifier: BSD-3-Clause
#include "engine/verbs.hpp"
#include "formats/registry/open_testing.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/file.hpp"
#include "base/temp_folder_testing.hpp"

namespace entrain::engine {
namespace {

namespace fs = std::filesystem;

const fs::path k_example = fs::path(ENTRAIN_EXAMPLES_DIR) / "training";

DistortOptions skewed() {
  DistortOptions options;
  options.seed = 7;
  options.offset_s = 0.01;
  options.drift_ppm = 50;
  options.wander_ppm = 0;
  return options;
}

std::string text_of_file(const fs::path& path) {
  constexpr std::uint64_t k_limit = 1 << 26;
  const auto bytes = read_file(path, k_limit);
  EXPECT_TRUE(bytes) << path;
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

TEST(Recordings, a_run_on_one_host_is_clean_and_stays_as_it_is) {
  const TempFolder folder;
  const auto report = entrain::correct(k_example, folder / "same", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  EXPECT_EQ(report->after.checked_edges, 128U);
  EXPECT_GT(report->run.phases.scan, 0);
  EXPECT_GT(report->run.phases.write, 0);
  EXPECT_GT(report->run.peak_memory_bytes, 1'000'000U);
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + ".json";
    EXPECT_EQ(text_of_file(folder / "same" / name), text_of_file(k_example / name));
  }
}

TEST(Recordings, a_rank_that_nothing_ties_to_the_others_is_named) {
  const TempFolder folder;
  for (const char* name : {"rank0.json", "rank1.json"}) {
    fs::copy_file(k_example / name, folder / name);
  }
  const std::string alone = R"({"traceEvents": [{"ph": "X", "name": "step", "ts": 1, "dur": 5}]})";
  folder.put("rank2.json", {reinterpret_cast<const std::uint8_t*>(alone.data()), alone.size()});
  const auto report = entrain::check(folder.path(), {});
  ASSERT_TRUE(report) << report.error().message;
  const auto tells = [](const std::string& warning) {
    return warning.find("nothing ties rank 2 to the 4 other clocks") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(report->estimation.warnings, tells));
  const auto tied = entrain::check(k_example, {});
  ASSERT_TRUE(tied);
  EXPECT_FALSE(std::ranges::any_of(tied->estimation.warnings, [](const std::string& warning) {
    return warning.find("nothing ties") != std::string::npos;
  }));
}

TEST(Recordings, skewed_clocks_are_set_within_the_spread_of_ends_and_inside_the_bounds) {
  const TempFolder folder;
  ASSERT_TRUE(entrain::distort(k_example, folder / "skewed", skewed()));
  const auto before = entrain::check(folder / "skewed", {});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->judgement.verdict, Verdict::violations);
  CorrectOptions options;
  options.check.bounds.wanted = true;
  const auto report = entrain::correct(folder / "skewed", folder / "fixed", options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  for (const LocationBounds& one : report->bounds->locations) EXPECT_EQ(one.outside_ticks, 0);

  const auto truth = formats::open_recording({k_example}, 1);
  const auto fixed = formats::open_recording({folder / "fixed"}, 1);
  ASSERT_TRUE(truth && fixed);
  ASSERT_EQ((*truth)->list.members.size(), (*fixed)->list.members.size());
  // What all clocks have in common nobody can know: errors against those of the first member.
  std::int64_t common = 0, largest = 0;
  for (std::size_t i = 0; i < (*truth)->list.members.size(); ++i) {
    const auto error =
        static_cast<std::int64_t>((*fixed)->list.members[i].time - (*truth)->list.members[i].time);
    if (i == 0) common = error;
    largest = std::max(largest, std::abs(error - common));
  }
  EXPECT_LT(largest, 5'000);
}

/// The clock of rank 1 is set back by 25 ms amid calls that are 10 ms apart: its stamps count on
/// while clocks are estimated, but what is told of violations and moves is true of the file.
TEST(Recordings, violations_of_a_clock_that_was_set_back_are_those_of_the_file) {
  TempFolder original;
  const TempFolder folder;
  constexpr int k_calls = 60, k_set_at = 30, k_ranks = 3;
  const auto begin_us = [](int rank, int call) {
    return 1'000'000'000'000'000 + call * 10'000 + rank * 7 -
           (rank == 1 && call >= k_set_at ? 25'000 : 0);
  };
  std::uint64_t violated = 0;
  for (int rank = 0; rank < k_ranks; ++rank) {
    std::vector<std::string> events;
    for (int call = 0; call < k_calls; ++call) {
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
          R"("ts": {}, "dur": 2, "args": {{"correlation": {}}}}})",
          begin_us(rank, call) - 5, call + 1));
      events.push_back(fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, )"
          R"("ts": {}, "dur": 30, "args": {{"device": 0, "stream": 7, "correlation": {}, )"
          R"("Collective name": "allreduce", "Rank": {}, "Comms Id": 7, "Seq": {}, )"
          R"("Process Group Ranks": "[0, 1, 2]"}}}})",
          begin_us(rank, call), call + 1, rank, call + 1));
      for (int other = 0; other < k_ranks; ++other) {
        if (other != rank && begin_us(rank, call) + 30 < begin_us(other, call)) ++violated;
      }
    }
    const std::string text = fmt::format("[{}]", fmt::join(events, ","));
    original.put(fmt::format("rank{}.json", rank),
                 {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  const auto check = entrain::check(original.path(), {});
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->checked_edges, k_calls * 9U);  // 6 of a call, 3 launches
  EXPECT_EQ(check->violations, violated);
  const auto& worst = check->edges[static_cast<std::size_t>(EdgeKind::n_to_n)].worst;
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->margin_ticks, -(25'000 - 30 + 7) * 1000);
  EXPECT_EQ(worst->receive.region, "ncclDevKernel_AllReduce on stream 7");

  const auto report = entrain::correct(original.path(), folder / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->before.violations, violated);
  EXPECT_NEAR(static_cast<double>(report->statistics.max_ticks), 25e6, 50e3);
}

/// A run of 20 ms proves no rates. Wall clocks are within 500 ppm: 10 us.
TEST(Recordings, clocks_are_not_turned_by_more_than_their_kind_does) {
  for (const std::uint64_t seed : {1U, 10U, 15U, 21U}) {
    const TempFolder folder;
    DistortOptions how = skewed();
    how.seed = seed;
    ASSERT_TRUE(entrain::distort(k_example, folder / "skewed", how));
    CorrectOptions options;
    options.check.presync = Presync::causal;
    options.amortize = false;
    const auto report = entrain::correct(folder / "skewed", folder / "fixed", options);
    ASSERT_TRUE(report) << seed << report.error().message;
    EXPECT_EQ(report->judgement->verdict, Verdict::clean) << seed;
    const auto before = formats::open_recording({folder / "skewed"}, 1);
    const auto after = formats::open_recording({folder / "fixed"}, 1);
    ASSERT_TRUE(before && after);
    std::map<std::uint32_t, std::set<std::int64_t>> shifts;  // per clock
    for (std::size_t i = 0; i < (*before)->list.members.size(); ++i) {
      const InstanceMember& member = (*before)->list.members[i];
      shifts[member.clock].insert(
          static_cast<std::int64_t>((*after)->list.members[i].time - member.time));
    }
    for (const auto& [clock, own] : shifts) {
      EXPECT_LT(*own.rbegin() - *own.begin(), 10'100) << seed << ' ' << clock;
    }
  }
}

/// Files of two runs, or times in another unit, may be paired and met by clocks that none has.
TEST(Recordings, wall_clocks_beyond_a_thousand_ppm_prove_nothing) {
  for (const double rate : {1.0005, 1.03}) {
    TempFolder original;
    const TempFolder folder;
    for (int rank = 0; rank < 2; ++rank) {
      std::vector<std::string> events;
      for (int call = 0; call < 40; ++call) {
        const double us = 1e15 + call * 10'000 * (rank == 1 ? rate : 1);
        events.push_back(fmt::format(
            R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": {:.3f}, "dur": 10, )"
            R"("args": {{"Collective name": "allreduce", "Rank": {}, "Comms Id": 7, "Seq": {}, )"
            R"("Process Group Ranks": "[0, 1]"}}}})",
            us, rank, call + 1));
      }
      const std::string text = fmt::format("[{}]", fmt::join(events, ","));
      original.put(fmt::format("rank{}.json", rank),
                   {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }
    const auto report = entrain::correct(original.path(), folder / "fixed", {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->before.checked_edges, 80U);
    EXPECT_EQ(report->after.violations, 0U);
    const Judgement expected = rate < 1.001 ? Judgement{Verdict::clean, Doubt::none}
                                            : Judgement{Verdict::unproven, Doubt::fast_clocks};
    EXPECT_EQ(report->judgement->verdict, expected.verdict) << rate;
    EXPECT_EQ(report->judgement->doubt, expected.doubt) << rate;
  }
}

/// A file of a rank whose calls end at these times, ms, and which has another event.
void put_calls(TempFolder& folder, int rank, const std::vector<int>& ends,
               const std::string& other = "") {
  std::vector<std::string> events;
  if (!other.empty()) events.push_back(other);
  for (const int end : ends) {
    events.push_back(fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", )"
                                 R"("ts": {}, "dur": 10, "args": {{}}}})",
                                 1'000'000'000'000'000 + end * 1000 - 10));
  }
  const std::string text = fmt::format("[{}]", fmt::join(events, ","));
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  folder.put(fmt::format("rank{}.json", rank), {bytes, text.size()});
}

/// In steps of 40 ms a clock that is 30 ms late may as well be 10 ms early.
TEST(Recordings, pairs_that_a_correction_would_make_ambiguous_are_none) {
  TempFolder original;
  const TempFolder folder;
  put_calls(original, 0, {0, 40, 80, 120, 160, 200, 240});
  put_calls(original, 1, {190, 230, 270});  // 30 late; one call earlier they were 70 late
  const auto report = entrain::correct(original.path(), folder / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->judgement->verdict, Verdict::unproven);
  const auto again = entrain::check(folder / "fixed", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->judgement.verdict, Verdict::unproven);
}

/// Two ranks whose windows overlap, by clocks 45 ms apart after each other: only a broadcast says
/// that they are not. Once clocks are set by that, the calls of both belong together.
TEST(Recordings, calls_that_only_corrected_times_pair_are_corrected_too) {
  TempFolder original;
  const TempFolder folder;
  const std::string broadcast =
      R"({{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": {}, "dur": {}, "args": )"
      R"({{"Collective name": "broadcast", "Rank": 1, "Comms Id": 7, "Seq": 1, )"
      R"("Process Group Ranks": "[0, 1]"}}}})";
  const auto us = [](int ms) { return 1'000'000'000'000'000 + ms * 1000; };
  put_calls(original, 0, {100, 105, 112, 114, 130, 131, 137, 155, 158, 171},
            fmt::format(fmt::runtime(broadcast), us(120), 1000));
  put_calls(original, 1, {175, 176, 182, 200, 203, 216, 225, 229, 239},
            fmt::format(fmt::runtime(broadcast), us(165), 10));
  const auto report = entrain::correct(original.path(), folder / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->before.checked_edges, 1U);
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  const auto again = entrain::check(folder / "fixed", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->judgement.verdict, Verdict::clean);
  EXPECT_EQ(again->checked_edges, 13U);
  EXPECT_EQ(report->after.checked_edges, 13U);
}

void put_text(TempFolder& folder, const char* name, std::string_view text) {
  folder.put(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Recordings, stray_files_of_a_folder_are_left_out_and_named) {
  TempFolder folder;
  put_calls(folder, 0, {0, 7, 9, 20, 33, 37});
  put_calls(folder, 1, {0, 7, 9, 20, 33, 37});
  put_text(folder, "package.json", R"({"name": "x", "version": "1"})");
  put_text(folder, "rank2.json", "");
  fs::create_directory(folder / "sub.json");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->checked_edges, 12U);
  ASSERT_FALSE(report->estimation.warnings.empty());
  const std::string& last = report->estimation.warnings.back();
  EXPECT_NE(last.find("2 of the files"), std::string::npos) << last;
  EXPECT_NE(last.find("package.json, rank2.json"), std::string::npos) << last;
}

TEST(Recordings, a_file_that_the_system_cannot_read_is_not_left_out) {
  TempFolder folder;
  put_calls(folder, 0, {0, 7, 9, 20, 33, 37});
  put_calls(folder, 1, {0, 7, 9, 20, 33, 37});
  fs::create_symlink("rank2.json", folder / "rank2.json");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("rank2.json"), std::string::npos) << report.error().message;
}

TEST(Recordings, lists_and_answers_without_a_span_are_left_out_of_a_training_run) {
  TempFolder folder;
  put_calls(folder, 0, {0, 7, 9, 20, 33, 37});
  put_calls(folder, 1, {0, 7, 9, 20, 33, 37});
  put_text(folder, "a.json", "[]");
  put_text(folder, "b.json", "[[]]");
  put_text(folder, "c.json", R"({"data":[]})");
  put_text(folder, "d.json", R"({"resourceSpans":[]})");
  put_text(folder, "e.json", R"({"traceEvents":[{"ph": "M", "name": "process_name", "pid": 1}]})");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->checked_edges, 12U);
  const auto tells = [&](const char* what) {
    return std::ranges::any_of(report->estimation.warnings, [&](const std::string& warning) {
      return warning.find(what) != std::string::npos;
    });
  };
  EXPECT_TRUE(tells("4 of the files hold no events and are left out: a.json, b.json, c.json, ..."));
  EXPECT_TRUE(tells("1 of the files holds no events and is left out: e.json"));
}

TEST(Recordings, a_trace_without_events_is_left_out_of_spans) {
  TempFolder folder;
  fs::copy_file(fs::path(ENTRAIN_EXAMPLES_DIR) / "services" / "ascend.json", folder / "a.json");
  put_text(folder, "b.json", R"({"traceEvents":[]})");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->checked_edges, 0U);
  put_calls(folder, 0, {0, 7, 9, 20});
  const auto mixed = entrain::check(folder.path(), {});
  ASSERT_FALSE(mixed);
  EXPECT_NE(mixed.error().message.find("they are no files of one run"), std::string::npos);
}

TEST(Recordings, a_folder_of_empty_lists_is_told_in_a_true_sentence) {
  TempFolder folder;
  put_text(folder, "a.json", "[]");
  put_text(folder, "b.json", R"({"data":[]})");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::input);
  EXPECT_NE(report.error().message.find("a.json and 1 more hold no span"), std::string::npos)
      << report.error().message;
}

/// A broadcast from rank 0 of two, which no file says that it is.
std::string broadcast_of(int begin, int end) {
  return fmt::format(R"([{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": {}, )"
                     R"("dur": {}, "args": {{"Collective name": "broadcast", "Rank": 0, )"
                     R"("Comms Id": 7, "Seq": 1, "Process Group Ranks": "[0, 1]"}}}}])",
                     1'000'000 + begin, end - begin);
}

/// By their folders the file that begins first is the root, by their names the other one.
TEST(Recordings, ranks_of_files_of_several_folders_stay_when_they_are_written) {
  TempFolder first, second;
  const TempFolder out;
  put_text(first, "zed.json", broadcast_of(0, 50));
  put_text(second, "wim.json", broadcast_of(100, 150));
  const bool in_order = first.path() < second.path();
  const Paths files{(in_order ? first : second).path() / (in_order ? "zed.json" : "wim.json"),
                    (in_order ? second : first).path() / (in_order ? "wim.json" : "zed.json")};
  Solo solo;
  const auto report = correct({.processes = solo}, files, out / "fixed", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->before.violations, 1U);
  EXPECT_EQ(report->judgement->verdict, Verdict::clean);
  const auto again = entrain::check(out / "fixed", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->judgement.verdict, Verdict::clean);
  EXPECT_EQ(again->checked_edges, report->after.checked_edges);
}

TEST(Recordings, info_tells_what_a_check_warns_of) {
  TempFolder folder;
  put_text(folder, "a.json",
           R"({"distributedInfo": {"rank": 4, "world_size": 4}, )"
           R"("traceEvents": [{"ph": "i", "ts": 5}]})");
  const auto info = entrain::inspect(folder.path());
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_TRUE(std::ranges::any_of(info->notes, [](const std::string& note) {
    return note.find("rank 4 of 4 ranks") != std::string::npos;
  }));
}

TEST(Recordings, a_folder_without_a_trace_is_told_what_is_read) {
  TempFolder folder;
  put_text(folder, "a.csv", "a,b");
  const auto report = entrain::check(folder.path(), {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("(.otf2, or its folder), a training run (JSON"),
            std::string::npos);
}

fs::path rank_file(int rank) { return k_example / fmt::format("rank{}.json", rank); }

TEST(Recordings, files_that_are_given_one_by_one_are_one_run) {
  Solo solo;
  const engine::Run run{.processes = solo};
  const auto all = check(run, {rank_file(0), rank_file(1), rank_file(2), rank_file(3)}, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->checked_edges, 128U);
  ASSERT_EQ(all->estimation.warnings.size(), 2U);
  EXPECT_NE(all->estimation.warnings[0].find("(4, 5, 6, 7)"), std::string::npos);
  EXPECT_NE(all->estimation.warnings[1].find("name no process group"), std::string::npos);
  const auto some = check(run, {rank_file(3), rank_file(1)}, {});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->checked_edges, 32U);
}

TEST(Recordings, files_that_are_no_run_are_refused_in_a_sentence) {
  Solo solo;
  const engine::Run run{.processes = solo};
  const auto twice = check(run, {rank_file(0), rank_file(0)}, {});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("are both of rank 0"), std::string::npos);
  const auto other = check(run, {rank_file(0), k_example / "LICENSE"}, {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::usage);
  EXPECT_NE(other.error().message.find("is no trace of the kind that"), std::string::npos);
}

TEST(Recordings, copies_of_files_of_one_name_are_refused) {
  const TempFolder folder;
  const fs::path file = fs::path(ENTRAIN_EXAMPLES_DIR) / "services" / "ascend.json";
  fs::copy_file(file, folder / file.filename());
  Solo solo;
  const auto report =
      correct({.processes = solo}, {file, folder / file.filename()}, folder / "out", {});
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("have one name"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(Recordings, info_tells_ranks_calls_and_groups) {
  const auto found = entrain::inspect(k_example);
  ASSERT_TRUE(found);
  const ArchiveInfo& info = *found;
  EXPECT_EQ(info.locations, 8U);
  EXPECT_EQ(info.processes, 4U);
  EXPECT_EQ(info.format, "Chrome JSON");
  EXPECT_GT(info.last_ticks, info.first_ticks);
  EXPECT_EQ(info.event_bytes, 11'671U + 11'670U + 11'670U + 11'671U);
  EXPECT_EQ(count_of(info.collectives, "all_to_all") + count_of(info.collectives, "all_reduce"),
            info.communication_events);
  EXPECT_FALSE(info.groups.empty());
}

fs::path skewed_example(const TempFolder& folder) {
  EXPECT_TRUE(entrain::distort(k_example, folder / "skewed", skewed()));
  return folder / "skewed";
}

TEST(Recordings, an_overlay_shifts_untouched_files_as_a_whole) {
  const TempFolder folder;
  const fs::path input = skewed_example(folder), out = folder / "out";
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  const auto report = entrain::correct(input, out, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->mode, WriteMode::overlay);
  EXPECT_NE(report->links, LinkCounts{});
  EXPECT_GT(report->before.violations, 0U);
  EXPECT_EQ(report->after.violations, 0U);
  const bool tells_rest = std::any_of(
      report->timeline.notes.begin(), report->timeline.notes.end(), [](const std::string& note) {
        return note.find("an overlay shifts each file as a whole") != std::string::npos;
      });
  EXPECT_TRUE(tells_rest);
  const std::string manifest = text_of_file(out / "perfetto_manifest.json");
  std::vector<ClockMap> shifts(4);
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = fmt::format("rank{}.json", rank);
    EXPECT_EQ(text_of_file(out / name), text_of_file(input / name));
    const std::size_t entry = manifest.find(fmt::format("\"path\": \"{}\"", name));
    const std::size_t next = manifest.find("\"path\"", entry + 1);
    const std::size_t offset = manifest.find("\"offset_ns\": ", entry);
    ASSERT_NE(entry, std::string::npos);
    if (offset > next) continue;  // the file that the others are shifted to
    shifts[static_cast<std::size_t>(rank)] =
        ClockMap().shifted(std::stoll(manifest.substr(offset + 13)));
  }
  const std::vector<ClockMap> hosts = shifts;
  shifts.insert(shifts.end(), hosts.begin(), hosts.end());  // devices
  // Shifted by what the manifest says, nothing is violated.
  const auto recording = formats::open_recording({input}, 1);
  fs::create_directory(folder / "as_shown");
  ASSERT_TRUE(recording && (*recording)->write(folder / "as_shown", shifts));
  const auto shown = entrain::check(folder / "as_shown", {});
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->violations, 0U);
  EXPECT_GT(shown->checked_edges, 0U);
}

TEST(Recordings, a_manifest_is_no_file_of_a_run) {
  const TempFolder folder;
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  ASSERT_TRUE(entrain::correct(skewed_example(folder), folder / "out", options));
  const auto info = entrain::inspect(folder / "out");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->locations, 8U);
  ASSERT_FALSE(info->notes.empty());
  EXPECT_NE(info->notes.back().find("not applied"), std::string::npos);
}

TEST(Recordings, files_of_an_overlay_are_unpacked) {
  const TempFolder folder;
  for (int rank = 0; rank < 4; ++rank) {
    const fs::path packed = folder / fmt::format("rank{}.json.gz", rank);
    const std::string pack =
        fmt::format("gzip -c {} > {}", rank_file(rank).string(), packed.string());
    ASSERT_EQ(std::system(pack.c_str()), 0);
  }
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  const TempFolder other;
  const auto report = entrain::correct(folder.path(), other / "out", options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->links, LinkCounts{});
  EXPECT_EQ(text_of_file(other / "out" / "rank2.json"), text_of_file(rank_file(2)));
}

TEST(Recordings, what_needs_an_archive_is_refused_in_a_sentence) {
  const TempFolder folder;
  const fs::path spans = fs::path(ENTRAIN_EXAMPLES_DIR) / "services" / "ascend.json";
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  EXPECT_EQ(entrain::correct(spans, folder / "x", options).error().message,
            "--mode overlay needs an OTF2 archive, a training run or CTF traces");
  options.mark_offsets = true;
  EXPECT_EQ(entrain::correct(spans, folder / "x", options).error().kind, ErrorKind::usage);
  options = {};
  options.check.clock_domain = ClockDomain::node;
  EXPECT_FALSE(entrain::correct(k_example, folder / "x", options));
  options = {};
  options.check.clock_records = ClockRecords::add;
  EXPECT_FALSE(entrain::correct(k_example, folder / "x", options));
  EXPECT_FALSE(fs::exists(folder / "x"));
}

/// Report of an export of a recording.
ExportReport exported(const fs::path& input, const fs::path& output, ExportOptions options = {}) {
  const auto report = entrain::export_trace(input, output, options);
  EXPECT_TRUE(report) << report.error().message;
  return report.value_or(ExportReport{});
}

TEST(Recordings, pictures_have_calls_and_an_arrow_for_each_end_that_waits) {
  const TempFolder folder;
  const ExportReport right = exported(k_example, folder / "right.pftrace");
  EXPECT_GT(right.slices, 100U);
  EXPECT_EQ(right.backward, 0U);
  EXPECT_EQ(right.counts.checked_edges, 128U);
  EXPECT_EQ(right.bytes, fs::file_size(folder / "right.pftrace"));
  ASSERT_TRUE(entrain::distort(k_example, folder / "skewed", skewed()));
  ExportOptions both;
  both.both = true;
  both.format = ExportFormat::chrome;
  const ExportReport twice = exported(folder / "skewed", folder / "both.json", both);
  EXPECT_EQ(twice.slices, 2 * right.slices);
  EXPECT_EQ(twice.flows, 2 * right.flows);
  const ExportReport before = exported(folder / "skewed", folder / "before.pftrace");
  EXPECT_GT(before.backward, 0U);
  EXPECT_EQ(twice.backward, before.backward);  // none after the correction
  EXPECT_EQ(before.violations, before.backward);
}

TEST(Recordings, tables_and_pictures_of_files_one_by_one_are_those_of_their_folder) {
  const TempFolder folder;
  const auto ranks = fs::directory_iterator(k_example);
  Paths files;
  for (const auto& entry : ranks) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  ASSERT_GE(files.size(), 2U);
  const auto text_of = [&](const char* name) { return text_of_file(folder / name); };
  ASSERT_TRUE(write_edges(files, folder / "files.csv", {}, false, nullptr));
  ASSERT_TRUE(entrain::write_edges(k_example, folder / "folder.csv", {}));
  EXPECT_EQ(text_of("files.csv"), text_of("folder.csv"));
  EXPECT_EQ(text_of("files.clocks.csv"), text_of("folder.clocks.csv"));
  ExportOptions chrome;
  chrome.format = ExportFormat::chrome;
  ASSERT_TRUE(export_trace(files, folder / "files.json", chrome, nullptr));
  exported(k_example, folder / "folder.json", chrome);
  EXPECT_EQ(text_of("files.json"), text_of("folder.json"));
  files.emplace_back(k_example / "LICENSE");
  EXPECT_EQ(write_edges(files, folder / "x.csv", {}, false, nullptr).error().kind,
            ErrorKind::usage);
  EXPECT_EQ(export_trace(files, folder / "x.json", chrome, nullptr).error().kind, ErrorKind::usage);
}

TEST(Recordings, spans_that_overlap_stand_in_rows_of_their_own) {
  const TempFolder folder;
  const fs::path spans = fs::path(ENTRAIN_EXAMPLES_DIR) / "services" / "ascend.json";
  const ExportReport report = exported(spans, folder / "spans.pftrace");
  const auto check = entrain::check(spans, {});
  ASSERT_TRUE(check);
  EXPECT_EQ(report.slices, 8U);
  EXPECT_EQ(report.flows, check->checked_edges);
  EXPECT_EQ(report.violations, 1U);
}

TEST(Recordings, tables_of_edges_give_align_what_check_sees) {
  const TempFolder folder;
  ASSERT_TRUE(entrain::distort(k_example, folder / "skewed", skewed()));
  ASSERT_TRUE(entrain::write_edges(folder / "skewed", folder / "e.csv", {}));
  const auto check = entrain::check(folder / "skewed", {});
  AlignFiles files;
  files.edges = folder / "e.csv";
  const auto aligned = entrain::align(files, {});
  ASSERT_TRUE(check && aligned);
  EXPECT_EQ(aligned->before.checked_edges, check->checked_edges);
  EXPECT_EQ(aligned->before.violations, check->violations);
  EXPECT_EQ(aligned->after.violations, 0U);
}

TEST(Recordings, verbs_that_read_archives_only_name_those_that_do_not) {
  for (const fs::path& path : {k_example, rank_file(0)}) {
    const auto report = entrain::drop(path, "dropped", {});
    ASSERT_FALSE(report);
    EXPECT_NE(
        report.error().message.find("is no OTF2 archive, and this verb reads OTF2 archives only"),
        std::string::npos)
        << report.error().message;
  }
}

TEST(Recordings, a_folder_with_other_files_is_never_replaced) {
  TempFolder folder;
  folder.put("notes.txt", {});
  CorrectOptions options;
  options.force = true;
  EXPECT_FALSE(entrain::correct(k_example, folder.path(), options));
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
}

}  // namespace
}  // namespace entrain::engine
