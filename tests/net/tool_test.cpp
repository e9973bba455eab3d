// SPDX-License-Identifier: BSD-3-Clause
//
// The verb `net` as users meet it.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;

std::string write(const TempFolder& folder, const std::string& name, const std::string& text) {
  const auto path = folder.path() / name;
  std::ofstream(path) << text;
  return path.string();
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(NetTool, every_verb_has_a_manual_page) {
  const std::map<std::string, std::vector<std::string>> options{
      {"bound", {"--levels", "--ports", "--drift", "--preset", "--parameters", "--cp", "--bl"}},
      {"schedule", {"--method", "--tree", "--drift", "--seed", "-o, --output", "--ks"}},
      {"simulate",
       {"--link-model", "--guard", "--interval", "--synchronisations", "--phase", "--load",
        "--seed", "--no-skip", "--limit", "--csv", "--svg", "--method", "--slot-flits"}},
      {"tables", {"--svg"}}};
  for (const auto& [verb, names] : options) {
    const ChildOutcome outcome = run_tool({"net", verb, "--help-all"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_THAT(outcome.out, testing::StartsWith("NAME\n    entrain net " + verb + " - "));
    for (const std::string& name : names) EXPECT_THAT(outcome.out, HasSubstr("\n    " + name));
    EXPECT_EQ(outcome.out, run_tool({"help", "net", verb}).out);
    std::istringstream page(outcome.out);
    for (std::string line; std::getline(page, line);) EXPECT_LE(line.size(), 80u) << line;
  }
  expect_refusal(run_tool({"net"}), "VERB is required");
  expect_refusal(run_tool({"net", "plan"}), "'net plan'");
  expect_refusal(run_tool({"net", "plan", "--frob"}), "'net plan'");
}

TEST(NetTool, the_overview_of_the_tool_shows_every_verb_with_its_summary) {
  const std::string overview = run_tool({"--help"}).out;
  for (const std::string verb : {"net bound", "net schedule", "net simulate", "net tables"}) {
    const std::string page = run_tool({"help", "net", verb.substr(4)}).out;
    const std::string name = "entrain " + verb + " - ";
    const std::size_t begin = page.find(name) + name.size();
    const std::string summary = page.substr(begin, page.find('\n', begin) - begin);
    EXPECT_THAT(overview, testing::ContainsRegex("\n  " + verb + " +" + summary + "\n"));
  }
}

TEST(NetTool, bound_shows_both_readings) {
  const ChildOutcome text = run_tool({"net", "bound", "--levels", "4"});
  EXPECT_EQ(text.exit_code, 0) << text.summary();
  EXPECT_THAT(text.out, HasSubstr("4.023 us"));
  const Json json =
      json_of(run_tool({"net", "bound", "--levels", "4", "--cp", "640Mbps", "--json"}));
  EXPECT_EQ(json["schema"], "entrain.net.bound/1");
  EXPECT_NEAR(json["hss"]["published_s"].get<double>(), 9.22324e-6, 1e-14);
  EXPECT_LT(json["sss"]["printed_s"].get<double>(), json["sss"]["published_s"].get<double>());
  EXPECT_EQ(json["slots"], 36);
  EXPECT_EQ(json["drifts"].size(), 5u);
  const Json one = json_of(run_tool({"net", "bound", "--drift", "100ppm", "--json"}));
  EXPECT_EQ(one["drifts"][0]["interval_slots"], 4810);
}

TEST(NetTool, parameters_come_from_preset_file_and_options_in_this_order) {
  const TempFolder folder;
  const std::string file =
      write(folder, "p.json", R"({"preset": "ib-ndr", "ld": "25ns", "bl": 300})");
  const Json json =
      json_of(run_tool({"net", "bound", "--parameters", file, "--bl", "400", "--json"}));
  EXPECT_NEAR(json["parameters"]["ld_s"].get<double>(), 25e-9, 1e-15);
  EXPECT_NEAR(json["parameters"]["cp_s"].get<double>(), 1.28e-9, 1e-15);
  EXPECT_EQ(json["parameters"]["bl"], 400);
}

TEST(NetTool, the_preset_of_the_options_beats_that_of_the_file) {
  const TempFolder folder;
  const std::string file = write(folder, "p.json", R"({"preset": "ib-ndr", "bl": 300})");
  const Json json = json_of(run_tool({"net", "bound", "--preset", "omni-path-cn5000",
                                      "--parameters", file, "--ks", "280", "--kg", "1", "--json"}));
  EXPECT_NEAR(json["parameters"]["cp_s"].get<double>(), 0.16e-9, 1e-15);
  EXPECT_EQ(json["parameters"]["bl"], 300);
  // Also if it is the one that holds without either.
  const Json usual = json_of(
      run_tool({"net", "bound", "--preset", "myrinet-1280", "--parameters", file, "--json"}));
  EXPECT_NEAR(usual["parameters"]["cp_s"].get<double>(), 6.25e-9, 1e-15);
}

TEST(NetTool, without_drift_any_interval_will_do) {
  const ChildOutcome text = run_tool({"net", "bound", "--drift", "0ppm"});
  EXPECT_THAT(text.out, HasSubstr("0 ppm       any         -"));
  const Json json = json_of(run_tool({"net", "bound", "--drift", "0ppm", "--json"}));
  EXPECT_TRUE(json["drifts"][0]["interval_slots"].is_null());
}

TEST(NetTool, an_interval_shorter_than_the_schedule_is_none) {
  const Json json =
      json_of(run_tool({"net", "schedule", "single:64", "--drift", "10000ppm", "--json"}));
  for (const Json& row : json["methods"]) {
    const bool fits = row["method"] == "doubling";  // 7 slots
    EXPECT_EQ(row["drift"]["interval_slots"].get<int>() > 0, fits) << row;
    EXPECT_EQ(row["drift"]["overhead_share"].is_null(), !fits) << row;
  }
  EXPECT_EQ(json["least_overhead"], "doubling");
  const ChildOutcome bound = run_tool({"net", "bound", "--ports", "1024", "--levels", "4",
                                       "--slot-flits", "20000", "--drift", "500ppm"});
  EXPECT_THAT(bound.out, HasSubstr("500 ppm      none         -"));
}

TEST(NetTool, bounds_count_the_delays_of_the_links) {
  const TempFolder folder;
  const std::string slow = write(
      folder, "slow.dot", "graph { edge [delay=\"3us\"]; a -- s; b -- s; c -- s [delay=\"1us\"] }");
  const ChildOutcome text = run_tool({"net", "schedule", slow});
  EXPECT_EQ(text.exit_code, 0) << text.summary();
  EXPECT_THAT(text.out, HasSubstr("link delays  1.000 us to 3.000 us; the bounds count each"));
  const Json json = json_of(run_tool({"net", "schedule", slow, "--json"}));
  EXPECT_GT(json["methods"][0]["bound"]["published_s"].get<double>(), 2e-6);
  EXPECT_NEAR(json["link_delays"]["most_s"].get<double>(), 3e-6, 1e-12);
  const std::string far =
      write(folder, "far.dot", "graph { a -- s [delay=\"900us\"]; b -- s; c -- s }");
  expect_refusal(run_tool({"net", "simulate", far}), "equation (11)");
}

TEST(NetTool, tables_match) {
  const TempFolder folder;
  const std::string figures = (folder.path() / "figures").string();
  const ChildOutcome outcome = run_tool({"net", "tables", "--svg", figures});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_THAT(outcome.out, HasSubstr("0 differ"));
  for (const char* name : {"figure-4", "figure-5-rate", "figure-5-buffer", "figure-6"}) {
    const std::string svg = contents(folder.path() / "figures" / (std::string(name) + ".svg"));
    EXPECT_THAT(svg, testing::StartsWith("<svg "));
    EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  }
  const ChildOutcome again = run_tool({"net", "tables", "--svg", figures});
  expect_refusal(again, figures + " exists already; choose another name, or remove it");
  const Json json = json_of(run_tool({"net", "tables", "--json"}));
  EXPECT_EQ(json["differing"], 0);
  EXPECT_EQ(json["figures"].size(), 4u);
}

TEST(NetTool, schedules_are_compared_and_written) {
  const TempFolder folder;
  const std::string csv = (folder.path() / "plan.csv").string();
  const std::string plan = (folder.path() / "plan.json").string();
  const ChildOutcome outcome =
      run_tool({"net", "schedule", "tree:3x3", "--method", "hss", "-o", csv});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_THAT(contents(csv), testing::StartsWith("interface,slot,destination,route\n"
                                                 "n0,0,n0,n0 s1 n0\n"
                                                 "n0,1,n1,n0 s1 n1\n"));
  EXPECT_EQ(run_tool({"net", "schedule", "tree:3x3", "--method", "hss", "-o", plan}).exit_code, 0);
  const Json json = Json::parse(contents(plan));
  EXPECT_EQ(json["schema"], "entrain.net.plan/1");
  EXPECT_EQ(json["interfaces"].size(), 6u);
  EXPECT_EQ(json["interfaces"][1]["messages"][0]["destination"], "n1");
  expect_refusal(run_tool({"net", "schedule", "tree:3x3", "-o", csv}), "exists");
  expect_refusal(run_tool({"net", "schedule", "tree:3x3", "-o", "plan.txt"}), ".csv or .json");

  const ChildOutcome conflict = run_tool({"net", "schedule", "tree:3x3", "--method", "sss"});
  EXPECT_EQ(conflict.exit_code, 1);
  EXPECT_THAT(conflict.out, HasSubstr("take the link"));
}

/// The tree of figure 2 of the paper.
std::string figure2() { return std::string(ENTRAIN_SOURCE_DIR) + "/examples/net/figure-2.dot"; }

TEST(NetTool, the_example_tree_has_the_schedule_of_the_papers_table2) {
  const TempFolder folder;
  const std::string plan = (folder.path() / "plan.csv").string();
  EXPECT_EQ(run_tool({"net", "schedule", figure2(), "-o", plan}).exit_code, 0);
  // Slot by slot where interface n4 sends to, but for the misprint of slot 6 (4 => 5 for 4 => 4).
  std::string receivers;
  std::istringstream lines(contents(plan));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("n4,")) receivers += line.substr(0, line.rfind(',')) + " ";
  EXPECT_EQ(receivers,
            "n4,0,n4 n4,1,n5 n4,2,n4 n4,3,n6 n4,4,n4 n4,5,n0 n4,6,n4 n4,7,n6 n4,8,n4 n4,9,n5 ");
}

TEST(NetTool, the_plan_with_the_least_bound_is_taken_and_the_report_says_why) {
  const ChildOutcome text = run_tool({"net", "schedule", figure2()});
  EXPECT_THAT(text.out, HasSubstr("Taken: hss, the least bound of 4 plans that hold; alternating "
                                  "has it too, in no fewer slots.\n"));
  const Json tree = json_of(run_tool({"net", "schedule", "tree:3x4", "--json"}));
  EXPECT_EQ(tree["chosen"], "alternating");
  EXPECT_EQ(tree["chosen_by"]["by"], "least_bound");
  EXPECT_EQ(tree["chosen_by"]["plans_compared"], 4);
  EXPECT_EQ(json_of(run_tool({"net", "schedule", "single:8", "--json"}))["chosen"], "sss");
  const Json simulated = json_of(
      run_tool({"net", "simulate", figure2(), "--ks", "42", "--synchronisations", "2", "--json"}));
  EXPECT_EQ(simulated["method"]["method"], "hss");
  EXPECT_EQ(simulated["chosen_by"]["equal_bounds"], Json::array({"alternating"}));
  const ChildOutcome named = run_tool({"net", "schedule", figure2(), "--method", "joined"});
  EXPECT_THAT(named.out, HasSubstr("Taken: joined, named by --method.\n"));
}

TEST(NetTool, flits_that_would_be_lost_are_a_failure) {
  const ChildOutcome lost = run_tool({"net", "simulate", figure2()});
  EXPECT_EQ(lost.exit_code, 1) << lost.summary();
  EXPECT_THAT(lost.out, HasSubstr("overrun seen        e -> a (73 flits in 64, 81 without room)"));
  EXPECT_THAT(lost.out, HasSubstr("synchrony           kept"));
  EXPECT_EQ(run_tool({"net", "simulate", figure2(), "--ks", "42"}).exit_code, 0);
}

TEST(NetTool, a_bound_that_the_skew_exceeds_is_named_and_a_failure) {
  const ChildOutcome slightly = run_tool({"net", "simulate", "single:16", "--drift", "500ppm"});
  EXPECT_EQ(slightly.exit_code, 1) << slightly.summary();
  EXPECT_THAT(slightly.out,
              HasSubstr("bound exceeded      by 0.503 ns, within the drift during the "
                        "schedule (100 ns)"));
  const ChildOutcome beyond = run_tool({"net", "simulate", "single:8", "--cp", "3.13ns"});
  EXPECT_EQ(beyond.exit_code, 1) << beyond.summary();
  EXPECT_THAT(beyond.out, HasSubstr("more than the drift during the schedule (15.02 ns)"));
  const Json fine = json_of(run_tool({"net", "simulate", "single:8", "--json"}));
  EXPECT_EQ(fine["bound_exceeded_s"], 0);
}

TEST(NetTool, simulations_show_skew_and_bound) {
  const TempFolder folder;
  const std::string csv = (folder.path() / "skew.csv").string();
  const std::string svg = (folder.path() / "skew.svg").string();
  const Json json = json_of(run_tool({"net", "simulate", "single:4", "--synchronisations", "3",
                                      "--csv", csv, "--svg", svg, "--limit", "--json"}));
  EXPECT_EQ(json["schema"], "entrain.net.simulate/1");
  EXPECT_EQ(json["synchronised"], true);
  EXPECT_EQ(json["would_be_lost_flits"], 0);
  EXPECT_EQ(json["interval_slots"], 1603);
  EXPECT_LT(json["skew_after_s"].get<double>(), 260e-9);
  EXPECT_GT(json["limit"]["margin"].get<double>(), 1);
  EXPECT_EQ(line_count(contents(csv)), 1u + 3 * 5);
  EXPECT_THAT(contents(csv),
              testing::StartsWith("synchronisation,slot,earliest_ns,skew_ns,n0,n1,n2,n3\n"));
  EXPECT_THAT(contents(svg), testing::EndsWith("</svg>\n"));
}

TEST(NetTool, a_plan_that_fails_is_reported_even_if_synchrony_is_kept) {
  const std::vector<std::string> arguments{"net",
                                           "simulate",
                                           "random:4x3x4",
                                           "--method",
                                           "sss",
                                           "--seed",
                                           "2",
                                           "--phase",
                                           "0s",
                                           "--drift",
                                           "1ppm",
                                           "--interval",
                                           "100",
                                           "--synchronisations",
                                           "1"};
  const ChildOutcome text = run_tool(arguments);
  EXPECT_EQ(text.exit_code, 1) << text.summary();
  EXPECT_THAT(text.out, HasSubstr("synchrony          kept"));
  EXPECT_THAT(text.out, HasSubstr("verification       fails: in slot 3 both n1 =>3 n3 and"));
  EXPECT_THAT(text.out, HasSubstr("bound              none: the plan fails"));
}

TEST(NetTool, written_files_are_named) {
  const TempFolder folder;
  const std::string csv = (folder.path() / "a.csv").string();
  const ChildOutcome text = run_tool({"net", "simulate", "single:2", "--csv", csv});
  EXPECT_THAT(text.out, HasSubstr("written"));
  EXPECT_THAT(text.out, HasSubstr(csv));
  const std::string json_csv = (folder.path() / "b.csv").string();
  EXPECT_EQ(
      json_of(run_tool({"net", "simulate", "single:2", "--csv", json_csv, "--json"}))["written"],
      Json::array({json_csv}));
  const std::string both = (folder.path() / "c").string();
  expect_refusal(run_tool({"net", "simulate", "single:2", "--csv", both, "--svg",
                           (folder.path() / "." / "c").string()}),
                 "choose two names");
}

TEST(NetTool, lost_synchrony_is_noticed) {
  const ChildOutcome outcome = run_tool({"net", "simulate", "single:3", "--interval", "6000",
                                         "--synchronisations", "2", "--drift", "500ppm"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.summary();
  EXPECT_THAT(outcome.out, HasSubstr("lost: "));
}

TEST(NetTool, a_limit_that_was_not_found_is_no_limit) {
  const Json json =
      json_of(run_tool({"net", "simulate", "single:2", "--drift", "0ppm", "--interval", "50",
                        "--synchronisations", "1", "--slot-flits", "200", "--limit", "--json"}));
  EXPECT_EQ(json["limit"]["lost_beyond"], false);
  EXPECT_EQ(json["limit"]["interval_slots"], 10'000'000);
  EXPECT_TRUE(json["limit"]["margin"].is_null());
}

TEST(NetTool, overruns_are_predicted_and_seen) {
  const ChildOutcome outcome =
      run_tool({"net", "simulate", "single:4", "--cp", "3.13ns", "--synchronisations", "2"});
  EXPECT_THAT(outcome.out, HasSubstr("overrun predicted   n0 -> s0 (room for 11 flits"));
  EXPECT_THAT(outcome.out, HasSubstr("overrun seen"));
  EXPECT_THAT(outcome.out, HasSubstr("packets; would be lost: "));
}

struct BadInput {
  std::vector<std::string> arguments;
  std::string part;
};

class NetRefusal : public testing::TestWithParam<BadInput> {};

TEST_P(NetRefusal, is_one_sentence) {
  std::vector<std::string> arguments{"net"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  expect_refusal(run_tool(arguments), GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, NetRefusal,
    testing::ValuesIn(std::vector<BadInput>{
        {{"bound", "--ld=-1ns"}, "parameter ld: '-1ns' is negative"},
        {{"bound", "--kg", "60"}, "parameter kg"},
        {{"bound", "--ks", "65"}, "parameter ks"},
        {{"bound", "--slot-flits", "64"}, "parameter slot-flits"},
        {{"bound", "--cp", "6.25"}, "has no unit"},
        {{"bound", "--levels", "1"}, "--levels '1'"},
        {{"bound", "--preset", "arcnet"}, "--preset 'arcnet'"},
        {{"bound", "--drift", "300"}, "--drift '300'"},
        {{"bound", "--parameters", "/nonexistent"}, "/nonexistent"},
        {{"schedule"}, "TOPOLOGY is required"},
        {{"schedule", "single:1"}, "number of interfaces 1"},
        {{"schedule", "ring:5"}, "'ring:5' is not a topology"},
        {{"schedule", "no-such-file.dot"}, "no-such-file.dot"},
        {{"schedule", "torus:4x4", "--tree", "given"}, "closes a cycle"},
        {{"schedule", "single:4", "--method", "best"},
         "auto, sss, hss, joined, alternating or doubling"},
        {{"simulate", "single:4", "--load", "2"}, "--load '2'"},
        {{"simulate", "single:4", "--interval", "2"}, "shorter than the schedule"},
        {{"simulate", "single:4", "--guard", "1940"}, "idle flits"},
        {{"simulate", "single:4", "--link-model", "bus"}, "switch or link"},
        {{"simulate", "tree:8x4", "--method", "doubling"}, "equation (11)"},
        {{"simulate", "single:4", "--phase", "1ms"}, "more than a slot"},
        {{"simulate", "single:4", "--drift", "0ppm"}, "say with --interval"},
        {{"simulate", "single:4", "--csv", "/nonexistent/a.csv"},
         "cannot write /nonexistent/a.csv: there is no folder /nonexistent"},
        {{"schedule", "single:4", "-o", "/proc/a.csv"}, "cannot write /proc/a.csv: "},
        {{"tables", "--svg", "/dev/null/a"}, "/dev/null is no folder"},
    }));

TEST(NetTool, bad_files_are_one_sentence) {
  const TempFolder folder;
  const auto refuse = [&](const std::string& name, const std::string& text,
                          const std::string& part) {
    expect_refusal(run_tool({"net", "schedule", write(folder, name, text)}), part);
  };
  refuse("a.dot", "graph { a -- s; b -- s; c [type=interface] }", "'c' is connected to nothing");
  refuse("b.dot", "graph { a -- s; b -- t; c -- s; d -- t }", "is not connected with");
  refuse("c.json", "{\"interfaces\": 3}", "not an array");
  refuse("d.json",
         R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 0}],
             "links": [["a", "s"], ["b", "s"]]})",
         "has 0 ports");
  refuse("e.txt", "x", ".json, .dot or .gv");
  refuse("f.dot", "graph { a [type=interface]; a -- s; s -- t [x=1]; t [type=switch] }",
         "there is one interface;");
  refuse("g.json",
         R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 2, "ports": 3}],
             "links": [["a", "s"], ["b", "s"]]})",
         "g.json: the key 'ports' stands twice");
  expect_refusal(run_tool({"net", "bound", "--parameters",
                           write(folder, "r.json", R"({"ld": "1ns", "ld": "2ns"})")}),
                 "r.json: the key 'ld' stands twice");
  expect_refusal(run_tool({"net", "bound", "--parameters", write(folder, "p.json", "[1]")}),
                 "p.json: this is no JSON object");
  refuse("h.dot", "graph { a -- s; b -- s } }", "h.dot, line 1: '}' stands after the graph");
  refuse("i.json",
         R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 2}],
             "links": [["a", "s"], {"ends": ["b", "s"], "dealy": "1us"}]})",
         "i.json: a link has no member 'dealy'");
  expect_refusal(run_tool({"net", "bound", "--parameters",
                           write(folder, "s.json", R"({"preset": "arcnet"})")}),
                 "s.json: preset 'arcnet' is not one of");
  expect_refusal(
      run_tool({"net", "bound", "--parameters", write(folder, "t.json", "{\"cp\": 6.25}")}),
      "t.json: the value of 'cp' is neither a whole number, as for counts, nor a text with a unit");
  expect_refusal(run_tool({"net", "bound", "--parameters", write(folder, "q.json", "{\"x\": 1}")}),
                 "there is no parameter 'x'");
}

}  // namespace
}  // namespace entrain::test
