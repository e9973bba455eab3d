// SPDX-License-Identifier: BSD-3-Clause
//
// Names in files may hold what a terminal obeys or what turns the text around them: people must see
// that it is there, and programs must get the name as it is.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "support/archive_builder.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Override, isolate, zero width, line separator, Arabic letter mark, tag, colour, delete.
const std::vector<std::string> k_foreign{"\u202E", "\u2066", "\u200B",     "\u2028",
                                         "\u061C", "\x1B",   "\U000E0041", "\x7F"};

std::string odd_name(const std::string& begin) {
  std::string name = begin;
  for (const std::string& one : k_foreign) name += one + "x";
  return name;
}

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  write_bytes(path, {text.begin(), text.end()});
}

fs::path edge_table(const fs::path& folder) {
  const std::string a = odd_name("a"), b = odd_name("b");
  std::string text = "cause_clock,cause_time,effect_clock,effect_time\n";
  for (int i = 1; i <= 30; ++i) {
    text +=
        a + "," + std::to_string(1000 * i) + "," + b + "," + std::to_string(1000 * i - 5) + "\n";
    text += b + "," + std::to_string(1000 * i + 100) + "," + a + "," +
            std::to_string(1000 * i + 200) + "\n";
  }
  put(folder / "edges.csv", text);
  return folder / "edges.csv";
}

fs::path spans(const fs::path& folder) {
  Json all = Json::array();
  for (int i = 1; i <= 30; ++i) {
    const std::string trace = "000000000000000" + std::to_string(1000 + i);
    for (const bool server : {false, true}) {
      Json span = {{"traceId", trace},
                   {"id", std::to_string(1000 + (server ? 500 : 0) + i) + "000000000000"},
                   {"kind", server ? "SERVER" : "CLIENT"},
                   {"name", odd_name("call")},
                   {"timestamp", 1'700'000'000'000'000 + 1000 * i + (server ? -50 : 0)},
                   {"duration", server ? 100 : 300},
                   {"localEndpoint", {{"serviceName", odd_name(server ? "b" : "a")}}}};
      if (server) span["parentId"] = std::to_string(1000 + i) + "000000000000";
      all.push_back(span);
    }
  }
  put(folder / "spans.json", all.dump());
  return folder / "spans.json";
}

fs::path training_run(const fs::path& folder) {
  for (int rank = 0; rank < 2; ++rank) {
    Json events = Json::array();
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", rank},
                      {"args", {{"name", odd_name("p")}}}});
    for (int i = 0; i < 20; ++i) {
      events.push_back({{"ph", "X"},
                        {"cat", "kernel"},
                        {"name", odd_name("ncclDevKernel_AllReduce_Sum")},
                        {"pid", rank},
                        {"tid", 7},
                        {"ts", 1000 * i + 900 * rank},
                        {"dur", 100},
                        {"args",
                         {{"Collective name", "allreduce"},
                          {"stream", 7},
                          {"Process Group Name", odd_name("g")},
                          {"Process Group Ranks", "[0, 1]"}}}});
    }
    const Json file = {{"traceEvents", events},
                       {"distributedInfo", {{"rank", rank}, {"world_size", 2}}}};
    put(folder / odd_name("run") / (odd_name("rank" + std::to_string(rank)) + ".json"),
        file.dump());
  }
  return folder / odd_name("run");
}

fs::path archive(const fs::path& folder) {
  ArchiveBuilder builder(folder / "in");
  for (std::uint64_t l = 0; l < 2; ++l) {
    const auto node = builder.node(odd_name("n" + std::to_string(l)));
    builder.location(l, builder.process(odd_name("p"), node), odd_name("thread"));
  }
  const auto world = builder.comm(odd_name("world"), {0, 1});
  const auto region = builder.region(odd_name("MPI_Send"));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    builder.at(0)
        .enter(1000 * i, region)
        .send(1000 * i + 1, 1, world, 7)
        .leave(1000 * i + 2, region);
    builder.at(1)
        .enter(1000 * i - 20, region)
        .recv(1000 * i - 10, 0, world, 7)
        .leave(1000 * i, region);
  }
  return builder.finish();
}

/// Runs the tool; what it says must show what is foreign, and hold none of it.
std::string said(const std::vector<std::string>& arguments) {
  const ChildOutcome outcome = run_tool(arguments);
  EXPECT_EQ(outcome.signal, 0) << outcome.summary();
  for (const std::string& one : k_foreign) {
    EXPECT_THAT(outcome.out, Not(HasSubstr(one))) << arguments[0] << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr(one))) << arguments[0];
  }
  if (std::count(arguments.begin(), arguments.end(), "--json") > 0 && !outcome.out.empty()) {
    EXPECT_FALSE(Json::parse(outcome.out, nullptr, false).is_discarded()) << outcome.out;
  }
  return outcome.out + outcome.err;
}

struct Input {
  std::string name;
  std::function<fs::path(const fs::path&)> make;
};

class Names : public testing::TestWithParam<Input> {};

TEST_P(Names, never_reach_the_terminal_as_they_are) {
  const TempFolder folder;
  const std::string input = GetParam().make(folder.path()).string();
  const std::string output = folder / odd_name("out");
  std::string all;
  for (const char* json : {"--json", "--verbose"}) {
    if (GetParam().name == "edge_table") {
      all += said({"align", input, "-o", output + ".csv", "--bounds", json});
      all += said({"align", input, json});
      all += said({"align", input, "--clocks", input, json});
    } else {
      all += said({"info", input, json});
      all += said({"check", input, "--bounds", json});
      all += said({"check", input, "--presync", "causal", json});
      all += said({"stragglers", input, json});
      all += said({"correct", input, "-o", output, "--force", json});
      all += said({"correct", input, "-o", output, json});  // which is refused
      all += said({"compare", input, output, json});
      all += said({"compare", input, output, "--per-location", json});
      all += said({"edges", input, "-o", output + ".csv", json});
      all += said({"export", input, "-o", output + ".perfetto", json});
      all += said({"merge", input, "-o", output + ".pftrace", json});
      all += said({"distort", input, "-o", output + "-2", "--force", json});
    }
    fs::remove_all(output + ".csv");
  }
  all += said({"check", input + odd_name("none")});
  all += said({odd_name("verb"), input});
  all += said({"check", input, odd_name("--mu")});
  EXPECT_THAT(all,
              HasSubstr("\\u202ex\\u2066x\\u200bx\\u2028x\\u061cx\\u001bx\\udb40\\udc41x\\u007fx"));
}

INSTANTIATE_TEST_SUITE_P(Inputs, Names,
                         testing::Values(Input{"edge_table", edge_table}, Input{"spans", spans},
                                         Input{"training_run", training_run},
                                         Input{"archive", archive}),
                         [](const auto& input) { return input.param.name; });

TEST(NamesInJson, are_exact) {
  const TempFolder folder;
  const std::string input = archive(folder.path()).string();
  const ChildOutcome outcome = run_tool({"check", input, "--json"});
  const Json json = Json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.summary();
  EXPECT_EQ(json["edges"]["p2p"]["worst"]["send"]["process"], odd_name("p"));
  EXPECT_EQ(json["edges"]["p2p"]["worst"]["send"]["region"], odd_name("MPI_Send"));
}

}  // namespace
}  // namespace entrain::test
