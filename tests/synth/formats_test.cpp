// SPDX-License-Identifier: BSD-3-Clause
//
// Training runs and services from `synth`: clean as written, wrong after `distort`, and right again
// after `correct`.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "output/mark.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> synth_of(const std::string& format, const fs::path& output,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"synth", "--format", format, "-o", output.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Json run_json(std::vector<std::string> arguments, int exit_code) {
  arguments.emplace_back("--json");
  const ChildOutcome outcome = run_tool(arguments);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.summary();
  return json_of(outcome);
}

std::string text_of(const fs::path& path) {
  const Bytes bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

Json json_in(const fs::path& path) { return Json::parse(text_of(path)); }

class SynthFormats : public testing::TestWithParam<const char*> {};

TEST_P(SynthFormats, tell_what_they_wrote_and_are_clean) {
  const TempFolder scratch;
  const Json report =
      run_json(synth_of(GetParam(), scratch / "a", {"--events", "20004", "--locations", "11"}), 0);
  EXPECT_EQ(report["schema"], "entrain.synth/1");
  EXPECT_EQ(report["format"], GetParam());
  EXPECT_EQ(report["archive"], (scratch / "a").string());
  EXPECT_EQ(report["locations"], 11);
  EXPECT_EQ(report["events"], 20004);
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "a")) {
    if (entry.path().filename() != k_folder_mark) bytes += entry.file_size();
  }
  EXPECT_EQ(report["event_bytes"], bytes);
  const Json info = run_json({"info", (scratch / "a").string()}, 0);
  const int per_location = std::string(GetParam()) == "chrome" ? 2 : 1;  // a host and its device
  EXPECT_EQ(info["locations"], 11 * per_location);
  EXPECT_EQ(info["events"], 20004);
  EXPECT_EQ(info["communication_events"], report["communication_events"]);
  const Json check = run_json({"check", (scratch / "a").string()}, 0);
  EXPECT_EQ(check["violations"], 0);
  EXPECT_GT(check["checked_edges"], 1000);
  EXPECT_TRUE(check["unmatched"].empty()) << check["unmatched"];
}

/// Devices tie to their host from both sides.
TEST(SynthTraining, ranks_have_several_devices) {
  const TempFolder scratch;
  const auto truth = (scratch / "truth").string(), wrong = (scratch / "wrong").string(),
             right = (scratch / "right").string();
  ASSERT_EQ(run_tool(synth_of("chrome", truth,
                              {"--events", "20003", "--locations", "4", "--devices", "3"}))
                .exit_code,
            0);
  const Json info = run_json({"info", truth}, 0);
  EXPECT_EQ(info["locations"], 4 * (1 + 3));
  EXPECT_EQ(info["events"], 20003);
  run_json({"check", truth}, 0);
  run_json({"distort", truth, "-o", wrong, "--per", "location", "--offset-s", "0.0004"}, 0);
  run_json({"check", wrong}, 1);
  run_json({"correct", wrong, "-o", right}, 0);
}

TEST_P(SynthFormats, are_the_same_for_the_same_options_and_others_for_another_seed) {
  const TempFolder scratch;
  const auto digest = [&](const char* name, const std::vector<std::string>& more) {
    std::vector<std::string> options{"--events", "12000", "--locations", "10"};
    options.insert(options.end(), more.begin(), more.end());
    EXPECT_EQ(run_tool(synth_of(GetParam(), scratch / name, options)).exit_code, 0);
    return digest_tree(scratch / name);
  };
  const auto first = digest("a", {"--threads", "1"});
  EXPECT_EQ(digest("b", {"--threads", "3"}), first);
  EXPECT_NE(digest("c", {"--seed", "2"}), first);
}

TEST_P(SynthFormats, refuse_a_folder_that_exists) {
  const TempFolder scratch;
  const std::vector<std::string> options{"--events", "5000"};
  ASSERT_EQ(run_tool(synth_of(GetParam(), scratch / "a", options)).exit_code, 0);
  const auto before = digest_tree(scratch.path());
  const std::vector<std::string> other{"--events", "6000"};
  expect_refusal(run_tool(synth_of(GetParam(), scratch / "a", other)), "exists already");
  EXPECT_EQ(digest_tree(scratch.path()), before);
  const std::vector<std::string> forced{"--events", "6000", "--force"};
  EXPECT_EQ(run_tool(synth_of(GetParam(), scratch / "a", forced)).exit_code, 0);
  EXPECT_NE(digest_tree(scratch.path()), before);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"a"});
}

TEST_P(SynthFormats, refuse_what_does_not_concern_them) {
  const TempFolder scratch;
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& part) {
    expect_refusal(run_tool(synth_of(GetParam(), scratch / "a", more)), part);
    EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
  };
  expect_refused({"--pattern", "ring"}, "--pattern does not concern --format");
  expect_refused({"--locations", "1"}, "2 to 1024 locations");
  expect_refused({"--locations", "1025"}, "2 to 1024 locations");
  expect_refused({"--events", "100000000000"}, "at most 100000000 per location");
  if (std::string_view(GetParam()) == "chrome") {
    expect_refused({"--events", "100"}, "ask for");
    expect_refused({"--events", "800000000", "--communication-share", "1", "--iteration-s", "1000"},
                   "too long");
    return;
  }
  expect_refused({"--devices", "2"}, "--devices does not concern --format otlp");
  for (const char* const option :
       {"--communication-share", "--locations-per-node", "--latency-s", "--tail-s",
        "--back-latency-s", "--back-tail-s", "--iteration-s", "--imbalance"}) {
    expect_refused({option, "1"}, fmt::format("{} does not concern --format otlp", option));
  }
}

TEST_P(SynthFormats, leave_nothing_when_the_disk_is_full) {
  const TempFolder scratch;
  std::vector<std::string> command{ENTRAIN_BINARY};
  const auto arguments = synth_of(GetParam(), scratch / "a", {"--events", "100000"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ChildOutcome outcome = run_program(command, {.timeout_s = 60, .file_size = 100'000});
  expect_refusal(outcome, ".json");
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Formats, SynthFormats, testing::Values("chrome", "otlp"));

TEST(SynthFormat, of_unknown_name_is_refused) {
  const TempFolder scratch;
  expect_refusal(run_tool(synth_of("jaeger", scratch / "a")), "otf2, chrome or otlp");
}

std::int64_t ns_of(const Json& us) { return std::llround(us.get<double>() * 1000); }

/// A kernel, and what is known of it.
struct Kernel {
  std::uint64_t rank = 0;
  std::int64_t begin = 0, end = 0;  ///< ns since the base
  Json arguments;
};

/// The kernels of all ranks by communicator and sequence number.
std::map<std::string, std::vector<Kernel>> kernels_in(const fs::path& folder) {
  std::map<std::string, std::vector<Kernel>> kernels;
  for (const std::string& name : entries_of(folder)) {
    if (name == k_folder_mark) continue;
    const Json file = json_in(folder / name);
    for (const Json& event : file["traceEvents"]) {
      if (event.value("cat", "") != "kernel") continue;
      const Json& arguments = event["args"];
      const std::int64_t begin = ns_of(event["ts"]);
      kernels[arguments["Comms Id"].get<std::string>() + " " + arguments["Seq"].dump()].push_back(
          {file["distributedInfo"]["rank"], begin, begin + ns_of(event["dur"]), arguments});
    }
  }
  return kernels;
}

TEST(SynthTraining, groups_are_complete_and_leave_together) {
  const TempFolder scratch;
  const Json report =
      run_json(synth_of("chrome", scratch / "a",
                        {"--locations", "19", "--locations-per-node", "4", "--events", "60000",
                         "--latency-s", "1e-6", "--tail-s", "0.2e-6", "--imbalance", "0.5"}),
               0);
  std::map<std::string, std::uint64_t> calls;
  std::uint64_t all = 0;
  std::int64_t widest = 0;
  for (const auto& [number, members] : kernels_in(scratch / "a")) {
    all += members.size();
    const std::string name = members.front().arguments["Collective name"];
    ++calls[name == "recv" ? "send" : name];
    EXPECT_EQ(members.front().arguments["Group size"], members.size()) << number;
    std::int64_t first = members.front().begin, last = first, end = members.front().end;
    for (const Kernel& kernel : members) {
      first = std::min(first, kernel.begin);
      last = std::max(last, kernel.begin);
      end = std::min(end, kernel.end);
    }
    widest = std::max(widest, last - first);
    if (name == "broadcast") continue;  // the root does not wait
    EXPECT_GE(end, last + 1000) << number;
    for (const Kernel& kernel : members) EXPECT_LE(kernel.end, end + 15'000) << number;
  }
  EXPECT_EQ(report["communication_events"], all);
  EXPECT_GT(widest, 100'000);
  const std::uint64_t steps = report["iterations"];
  // 5 nodes of up to 4 ranks, 4 groups across them, 9 pairs.
  const std::map<std::string, std::uint64_t> expected{
      {"broadcast", steps},           {"allreduce", 2 * steps},
      {"_allgather_base", 5 * steps}, {"_reduce_scatter_base", 5 * steps},
      {"all_to_all", 4 * steps},      {"send", 18 * steps}};
  EXPECT_EQ(calls, expected);
}

std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

/// Distorted by up to 10 ms and 50 ppm and corrected again: errors of the ends against those of
/// rank 0, whose own time nobody can know.
TEST(SynthTraining, ends_come_within_5_us_after_distort_and_correct) {
  const TempFolder scratch;
  const fs::path truth = scratch / "truth", skewed = scratch / "skewed", right = scratch / "right";
  ASSERT_EQ(
      run_tool(synth_of("chrome", truth, {"--locations", "16", "--events", "60000"})).exit_code, 0);
  ASSERT_EQ(run_tool({"distort", truth.string(), "-o", skewed.string(), "--offset-s", "0.01",
                      "--drift-ppm", "50", "--wander-ppm", "0"})
                .exit_code,
            0);
  run_json({"check", skewed.string()}, 1);
  const Json report = run_json({"correct", skewed.string(), "-o", right.string()}, 0);
  EXPECT_EQ(report["after"]["violations"], 0);
  const auto before = kernels_in(truth), after = kernels_in(right);
  ASSERT_EQ(before.size(), after.size());
  std::vector<std::int64_t> errors;
  for (const auto& [number, members] : before) {
    const std::vector<Kernel>& moved = after.at(number);
    ASSERT_EQ(moved.size(), members.size());
    for (std::size_t m = 1; m < members.size(); ++m) {
      if (members[0].rank != 0) continue;
      errors.push_back(std::abs((moved[m].end - members[m].end) - (moved[0].end - members[0].end)));
    }
  }
  EXPECT_LT(median(errors), 5000);
}

}  // namespace
}  // namespace entrain::test
