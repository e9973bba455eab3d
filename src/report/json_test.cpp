// SPDX-License-Identifier: BSD-3-Clause
#include "report/json.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/samples_testing.hpp"

namespace entrain::report {
namespace {

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

void expect_members(const Json& object, const std::vector<std::string>& names) {
  for (const std::string& name : names) EXPECT_TRUE(object.contains(name)) << name;
}

TEST(Json, texts_are_exact_and_show_what_they_hold) {
  const std::string name = "a\u202E\u200B\x1B\x7F\U000E0041\\u202e\u00e4";
  const std::string text = dump({{"name", name}});
  EXPECT_EQ(Json::parse(text)["name"], name);
  EXPECT_EQ(text,
            "{\n  \"name\": \"a\\u202e\\u200b\\u001b\\u007f\\udb40\\udc41\\\\u202e\u00e4\"\n}\n");
}

TEST(Json, rows_of_csv_quote_what_a_reader_would_take_for_something_else) {
  const Json row{
      {"clock", "#1"}, {"host", "a,\"b\""}, {"state", nullptr}, {"ticks", -5}, {"of", ""}};
  EXPECT_EQ(csv_heading(row), "clock,host,state,ticks,of\n");
  EXPECT_EQ(csv_line(row), "\"#1\",\"a,\"\"b\"\"\",,-5,\n");
}

TEST(Json, check_has_the_documented_members) {
  const Json json = to_json(samples::check());
  EXPECT_EQ(json["schema"], "entrain.check/1");
  expect_members(json, {"archive", "locations", "events", "resolution_hz", "presync", "edges",
                        "violations", "below_latency", "mu_s", "unmatched", "skipped"});
  EXPECT_EQ(keys_of(json["edges"]),
            (std::vector<std::string>{"p2p", "one_to_n", "n_to_one", "n_to_n", "scan", "thread",
                                      "rma", "init_finalize"}));
  const Json& p2p = json["edges"]["p2p"];
  EXPECT_EQ(keys_of(p2p), (std::vector<std::string>{"count", "violations", "below_latency", "equal",
                                                    "worst_s", "worst"}));
  EXPECT_DOUBLE_EQ(p2p["worst_s"].get<double>(), -33.959e-6);
  const Json& send = p2p["worst"]["send"];
  expect_members(send, {"location", "process", "region", "time_s", "ticks"});
  EXPECT_EQ(send["ticks"].get<std::int64_t>(), 1'700'000'000'123'456'789);
  EXPECT_EQ(send["process"], "MPI Rank 3");
  EXPECT_TRUE(json["edges"]["rma"]["worst_s"].is_null());
  EXPECT_DOUBLE_EQ(json["mu_s"]["same_node"].get<double>(), 510e-9);
  EXPECT_EQ(json["unmatched"]["sends"], 40);
}

TEST(Json, correct_has_the_documented_members) {
  const Json json = to_json(samples::correct());
  EXPECT_EQ(json["schema"], "entrain.correct/1");
  expect_members(json, {"before", "after", "mode", "passes", "moved_events", "displacement_s",
                        "interval_change", "max_slope", "phases_s", "peak_memory_bytes"});
  EXPECT_EQ(json["before"]["schema"], "entrain.check/1");
  EXPECT_EQ(json["after"]["violations"], 0);
  expect_members(json["displacement_s"], {"mean", "p99", "max"});
  EXPECT_DOUBLE_EQ(json["displacement_s"]["mean"].get<double>(), 8123.75e-9);
  EXPECT_EQ(keys_of(json["phases_s"]),
            (std::vector<std::string>{"scan", "match", "presync", "forward", "backward", "write",
                                      "verify"}));
}

TEST(Json, passes_tell_the_error_relative_to_the_span) {
  const Json passes = to_json(samples::correct())["passes"];
  ASSERT_EQ(passes.size(), 3u);
  expect_members(passes[2], {"gamma", "clocks", "error", "max_displacement_s", "violations"});
  EXPECT_DOUBLE_EQ(passes[2]["error"].get<double>(), 0.000031);
  EXPECT_DOUBLE_EQ(passes[0]["error"].get<double>(), 0.000031 * 98 / 92);
  EXPECT_DOUBLE_EQ(passes[2]["max_displacement_s"].get<double>(), 92e-6);
  EXPECT_EQ(passes[2]["chosen"], true);

  CorrectReport unknown = samples::correct();
  unknown.error_share = 0;
  EXPECT_TRUE(to_json(unknown)["passes"][0]["error"].is_null());
  for (AmortizationPass& pass : unknown.passes) pass.error_ticks = 0;
  EXPECT_EQ(to_json(unknown)["passes"][0]["error"], 0.0);
}

TEST(Json, histogram_bins_have_limits) {
  const Json change = to_json(samples::correct())["interval_change"];
  const Json& bins = change["histogram"];
  ASSERT_EQ(bins.size(), 7u);
  EXPECT_EQ(bins[0]["up_to_share"], 0.0);
  EXPECT_EQ(bins[1]["up_to_share"], 1e-4);
  EXPECT_EQ(bins[5]["up_to_share"], 1.0);
  EXPECT_TRUE(bins[6]["up_to_share"].is_null());
  EXPECT_EQ(bins[6]["intervals"], 5);
  EXPECT_DOUBLE_EQ(bins[0]["time_s"].get<double>(), 2.5);
  EXPECT_DOUBLE_EQ(change["max_share"].get<double>(), 12.5);
}

TEST(Json, after_is_null_without_verification) {
  CorrectReport report = samples::correct();
  report.verified = false;
  EXPECT_TRUE(to_json(report)["after"].is_null());
  EXPECT_EQ(to_json(report)["verified"], false);
  for (const char* measured : {"moved_events", "compared_events", "displacement_s",
                               "interval_change", "max_slope", "moved_backward", "order_broken"}) {
    EXPECT_TRUE(to_json(report)[measured].is_null()) << measured;
    EXPECT_FALSE(to_json(samples::correct())[measured].is_null()) << measured;
  }
}

TEST(Json, compare_has_the_documented_members) {
  const Json json = to_json(samples::compare());
  EXPECT_EQ(json["schema"], "entrain.compare/1");
  ASSERT_EQ(json["locations"].size(), 12u);
  expect_members(json["locations"][0], {"id", "rms_s", "p99_s", "max_s", "mean_s"});
  expect_members(json["all"], {"rms_s", "p99_s", "max_s", "mean_s"});
  expect_members(json["communication"], {"rms_s", "p99_s", "max_s", "mean_s"});
  expect_members(json["a_error"], {"all", "communication", "between_clocks", "common"});
  EXPECT_DOUBLE_EQ(json["a_error"]["between_clocks"]["communication"]["rms_s"].get<double>(),
                   20e-6);
  EXPECT_DOUBLE_EQ(json["a_error"]["common"]["all"]["rms_s"].get<double>(), 21.5e-6);
  EXPECT_DOUBLE_EQ(json["b_error"]["communication"]["rms_s"].get<double>(), 2.5e-6);

  CompareReport report = samples::compare();
  report.truth.clear();
  report.a_error.reset();
  report.b_error.reset();
  EXPECT_TRUE(to_json(report)["a_error"].is_null());
  EXPECT_TRUE(to_json(report)["truth"].is_null());
}

TEST(Json, info_names_its_schema) {
  EXPECT_EQ(to_json(samples::info())["schema"], "entrain.info/1");
  EXPECT_EQ(to_json(samples::info())["communication"]["MpiIsend"], 10856);
  EXPECT_NEAR(to_json(samples::info())["length_s"].get<double>(), 3, 1e-12);
}

TEST(Json, numbers_are_finite_or_null) {
  EXPECT_TRUE(number(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(number(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_EQ(number(0.1).get<double>(), 0.1);
}

TEST(Json, any_bytes_in_names_are_survived) {
  CheckReport report = samples::check();
  report.archive = "caf\xE9/traces.otf2";
  report.edges[0].worst->send.process = "\xFF\xFE";
  report.skipped.push_back({"\xC3", 1});
  const std::string text = dump(to_json(report));
  const Json parsed = Json::parse(text);
  EXPECT_EQ(parsed["archive"], "caf\xEF\xBF\xBD/traces.otf2");
  EXPECT_EQ(text.back(), '\n');
}

TEST(Json, no_control_character_reaches_a_terminal) {
  const std::string text = dump(Json{{"creator", "syn\x7Fh\x1B"}});
  EXPECT_EQ(text, "{\n  \"creator\": \"syn\\u007fh\\u001b\"\n}\n");
  EXPECT_EQ(Json::parse(text)["creator"], "syn\x7Fh\x1B");
}

TEST(Json, counters_of_one_name_are_added_up) {
  EXPECT_EQ(counters({{"b", 1}, {"a", 2}, {"b", 3}}).dump(), R"({"b":4,"a":2})");
}

}  // namespace
}  // namespace entrain::report
