// SPDX-License-Identifier: BSD-3-Clause
//
// `entrain export --to chrome` and `--to csv`, and parts and both times of a trace.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"
#include "support/archive_builder.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class ExportFormats : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  Json exported(const std::string& archive, const std::string& file,
                const std::vector<std::string>& more) const {
    std::vector<std::string> words{"export", archive, "-o", at(file), "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ChildOutcome outcome = run_tool(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    return json_of(outcome);
  }
  Json chrome(const std::string& archive, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"--to", "chrome", "--force"};
    words.insert(words.end(), more.begin(), more.end());
    report_ = exported(archive, "t.json", words);
    const Json picture = Json::parse(text_of(at("t.json")), nullptr, false);
    EXPECT_FALSE(picture.is_discarded());
    return picture.is_discarded() ? Json::array() : picture["traceEvents"];
  }

  TempFolder folder_;
  Json report_;
};

/// Number of events of a phase; of a process only if it is not 0.
std::size_t count(const Json& events, const std::string& phase, int process = 0) {
  std::size_t found = 0;
  for (const Json& e : events) {
    if (e["ph"] == phase && (process == 0 || e["pid"] == process)) ++found;
  }
  return found;
}

TEST_F(ExportFormats, writes_json_of_trace_events) {
  ArchiveBuilder archive(folder_ / "a");
  const auto node = archive.node("n0");
  archive.location(0, archive.process("rank \"zero\"", node), "main");
  archive.location(1, archive.process("rank one", node), "main");
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1});
  const auto outer = archive.region("a\\b\n");
  archive.at(0).enter(1000, outer).send(2100, 1, world, 7).leave(9000, outer);
  archive.at(1).recv(2090, 0, world, 7).enter(2095, outer).leave(2099, outer);
  archive.finish();
  const Json events = chrome(at("a"));
  std::vector<std::string> lines;
  for (const Json& e : events) lines.push_back(e.dump());
  EXPECT_THAT(
      lines,
      ElementsAre(
          R"({"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"rank \"zero\""}})",
          R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"main"}})",
          R"({"ph":"M","pid":2,"tid":2,"name":"process_name","args":{"name":"rank one"}})",
          R"({"ph":"M","pid":2,"tid":2,"name":"thread_name","args":{"name":"main"}})",
          R"({"ph":"B","pid":1,"tid":1,"ts":0.0,"cat":"call","name":"a\\b\n"})",
          R"({"ph":"i","pid":1,"tid":1,"ts":1.1,"s":"t","cat":"message","name":"send"})",
          R"({"ph":"f","pid":1,"tid":1,"ts":1.1,"bp":"e","cat":"message","name":"message","id":1})",
          R"({"ph":"E","pid":1,"tid":1,"ts":8.0})",
          R"({"ph":"i","pid":2,"tid":2,"ts":1.09,"s":"t","cat":"message","name":"receive"})",
          R"({"ph":"s","pid":2,"tid":2,"ts":1.09,"cat":"message","name":"message","id":1})",
          R"({"ph":"i","pid":2,"tid":2,"ts":1.09,"s":"t","cat":"violation","name":"violation",)"
          R"("args":{"margin_ns":-10,"bound_ns":0,"kind":"p2p","cause":"rank \"zero\""}})",
          R"({"ph":"B","pid":2,"tid":2,"ts":1.095,"cat":"call","name":"a\\b\n"})",
          R"({"ph":"E","pid":2,"tid":2,"ts":1.099})"));
}

TEST_F(ExportFormats, gives_every_arrow_two_ends) {
  const Json events = chrome(example("allops-4"));
  std::map<std::uint64_t, std::string> ends;
  for (const Json& e : events) {
    if (e["ph"] == "s" || e["ph"] == "f") ends[e["id"]] += e["ph"].get<std::string>();
  }
  EXPECT_EQ(ends.size(), report_["flows"].get<std::size_t>());
  EXPECT_GT(ends.size(), 100u);
  for (const auto& [id, phases] : ends) EXPECT_TRUE(phases == "sf" || phases == "fs") << id;
  // Viewers drop arrows that end before they begin, and those are what people look for.
  EXPECT_GT(report_["backward"], 0);
  std::map<std::uint64_t, double> begins;
  for (const Json& e : events) {
    if (e["ph"] == "s") begins[e["id"]] = e["ts"];
  }
  for (const Json& e : events) {
    if (e["ph"] != "f") continue;
    EXPECT_LE(begins[e["id"]], e["ts"].get<double>()) << e;
  }
  EXPECT_EQ(count(events, "B"), report_["slices"].get<std::size_t>());
  EXPECT_EQ(count(events, "E"), count(events, "B"));
}

TEST_F(ExportFormats, shows_the_times_before_and_after) {
  const Json events = chrome(example("lulesh-8"), {"--both"});
  EXPECT_EQ(report_["tracks"], 16);
  std::set<std::string> names;
  for (const Json& e : events) {
    if (e.value("name", "") == "process_name") names.insert(e["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(names.size(), 16u);
  EXPECT_TRUE(names.contains("before: MPI Rank 0")) << Json(names).dump();
  EXPECT_TRUE(names.contains("after: MPI Rank 0"));
  // Processes 1 to 8 are those before, 9 to 16 those after.
  std::map<bool, std::size_t> violations, arrows, calls;
  for (const Json& e : events) {
    const bool after = e["pid"].get<int>() > 8;
    if (e["ph"] == "i" && e["name"] == "violation") ++violations[after];
    if (e["ph"] == "s") ++arrows[after];
    if (e["ph"] == "B") ++calls[after];
  }
  EXPECT_GT(violations[false], 100u);
  EXPECT_EQ(violations[true], 0u);
  EXPECT_EQ(arrows[false], arrows[true]);
  EXPECT_EQ(calls[false], calls[true]);

  ASSERT_EQ(run_tool({"correct", example("lulesh-8"), "-o", at("fixed")}).exit_code, 0);
  expect_refusal(run_tool({"export", at("fixed"), "-o", at("x"), "--both"}),
                 "is corrected already");
  EXPECT_FALSE(fs::exists(at("x")));
}

TEST_F(ExportFormats, writes_what_is_around_the_worst_edges) {
  const Json whole = chrome(example("lulesh-8"));
  const std::size_t slices = report_["slices"];
  const Json part = chrome(example("lulesh-8"), {"--around", "worst:1", "--window", "100us"});
  EXPECT_LT(report_["slices"].get<std::size_t>(), slices / 10);
  EXPECT_GE(report_["marked_violations"], 1);
  const auto smallest_margin = [](const Json& events) {
    std::int64_t smallest = 0;
    for (const Json& e : events) {
      if (e["ph"] != "i" || e["name"] != "violation") continue;
      const std::int64_t bound = e["args"]["bound_ns"], margin = e["args"]["margin_ns"];
      smallest = std::min(smallest, margin - bound);
    }
    return smallest;
  };
  EXPECT_EQ(smallest_margin(part), smallest_margin(whole));
  EXPECT_EQ(count(part, "E"), count(part, "B"));
}

TEST_F(ExportFormats, do_not_depend_on_threads) {
  for (const char* format : {"perfetto", "chrome", "csv"}) {
    exported(example("allops-4"), "one", {"--to", format, "--force", "--threads", "1"});
    exported(example("allops-4"), "many", {"--to", format, "--force", "--threads", "7"});
    EXPECT_EQ(text_of(at("one")), text_of(at("many"))) << format;
  }
}

TEST_F(ExportFormats, writes_the_table_of_edges) {
  const Json report = exported(example("lulesh-8"), "e.csv", {"--to", "csv"});
  EXPECT_EQ(report["format"], "csv");
  EXPECT_EQ(report["bytes"], fs::file_size(at("e.csv")));
  ASSERT_EQ(run_tool({"edges", example("lulesh-8"), "-o", at("same.csv")}).exit_code, 0);
  EXPECT_EQ(text_of(at("e.csv")), text_of(at("same.csv")));
  EXPECT_THAT(text_of(at("e.csv")), HasSubstr("rank,margin,written by entrain "));
}

TEST_F(ExportFormats, refuse_what_they_cannot_do) {
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    std::vector<std::string> words{"export", example("lulesh-8"), "-o", at("x")};
    words.insert(words.end(), more.begin(), more.end());
    expect_refusal(run_tool(words), part);
    EXPECT_FALSE(fs::exists(at("x")));
  };
  refused({"--to", "csv", "--from", "1"}, "always written whole");
  refused({"--to", "csv", "--both"}, "always written whole");
  refused({"--around", "10"}, "is not worst:N");
  refused({"--around", "worst:0"}, "is not worst:N");
  refused({"--around", "worst:3", "--from", "1"}, "leave out --from");
  refused({"--window", "10"}, "is not a duration with a unit");
  refused({"--window", "-1ms"}, "is not a duration with a unit");
  refused({"--bounds"}, "of no use here");
  refused({"--to", "csv", "--window", "1ms"}, "of no use here");
  refused({"--from", "0", "--window", "1ms"}, "of no use beside");
  expect_refusal(run_tool({"export", example("lulesh-8"), "-o", "-"}), "names no file");
  expect_refusal(run_tool({"export", example("lulesh-8"), "-o", "/dev/null"}), "is a device");
}

TEST_F(ExportFormats, say_what_they_do_not_show) {
  const Json late = exported(example("lulesh-8"), "late.json", {"--from", "100"});
  ASSERT_EQ(late["notes"].size(), 1u);
  EXPECT_THAT(std::string(late["notes"][0]), HasSubstr("the trace lasts 0.38"));
  fs::copy(example("lulesh-8"), at("cut"), fs::copy_options::recursive);
  fs::resize_file(at("cut") + "/traces/0.evt", 100'000);
  fs::remove(at("cut") + "/traces/3.evt");
  for (const char* verb : {"export", "edges"}) {
    const std::string file = at(std::string("of.") + verb);
    const ChildOutcome outcome = run_tool({verb, at("cut"), "-o", file});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_THAT(outcome.out, HasSubstr("1 event file is missing, 1 event file is truncated"));
  }
}

}  // namespace
}  // namespace entrain::test
