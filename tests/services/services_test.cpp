// SPDX-License-Identifier: BSD-3-Clause
//
// The verbs on spans of services, as a user calls them.
#include <cstdlib>
#include <map>

#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "services/generated_spans.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path k_example = fs::path(ENTRAIN_EXAMPLES_DIR) / "services" / "ascend.json";

std::string text_of(const fs::path& path) {
  const Bytes bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

fs::path put(const TempFolder& folder, const std::string& name, const std::string& text) {
  return folder.put(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// The begins of the spans of each host, as a text of OTLP lines shows them.
std::map<std::string, std::vector<std::int64_t>> begins_in(const std::string& text) {
  std::map<std::string, std::vector<std::int64_t>> begins;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Json resource = Json::parse(line)["resourceSpans"][0];
    const std::string host = resource["resource"]["attributes"][1]["value"]["stringValue"];
    for (const Json& span : resource["scopeSpans"][0]["spans"]) {
      begins[host].push_back(std::stoll(span["startTimeUnixNano"].get<std::string>()));
    }
  }
  return begins;
}

struct Outcome {
  Json report;
  std::int64_t right_moved = 0;    ///< of clocks that are right: how far, at most, ns
  std::uint64_t right_moving = 0;  ///< such clocks
  std::int64_t wrong_error = 0;    ///< of the others: error of a time that is left, at most, ns
};

Outcome corrected(const ServicesPlan& plan) {
  const TempFolder folder;
  const GeneratedSpans truth(plan);
  const fs::path input = put(folder, "spans.jsonl", truth.otlp_lines());
  const fs::path output = folder / "right";
  const ChildOutcome run =
      run_tool({"correct", "--json", "--bounds", input.string(), "-o", output.string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  Outcome outcome;
  outcome.report = json_of(run);
  const auto before = begins_in(text_of(input)), after = begins_in(text_of(output / "spans.jsonl"));
  for (std::uint32_t h = 0; h < plan.hosts; ++h) {
    const std::string host = fmt::format("host{}", h);
    const std::vector<std::int64_t> begins = truth.begins(h);
    const bool right = h < plan.hosts - plan.wrong;
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::int64_t now = after.at(host)[i];
      moved = std::max(moved, std::abs(now - before.at(host)[i]));
      const std::int64_t error = std::abs(now - GeneratedSpans::k_start - begins[i]);
      if (!right) outcome.wrong_error = std::max(outcome.wrong_error, error);
    }
    if (!right) continue;
    outcome.right_moved = std::max(outcome.right_moved, moved);
    outcome.right_moving += moved > 0 ? 1 : 0;
  }
  return outcome;
}

TEST(Services, clocks_that_are_right_stay_whoever_gives_up_or_does_not_wait) {
  for (const std::uint32_t hosts : {10u, 40u, 200u}) {
    const TempFolder folder;
    const std::string text =
        GeneratedSpans({.hosts = hosts, .spans = 150 * hosts, .seed = hosts}).otlp_lines();
    const fs::path input = put(folder, "spans.jsonl", text);
    const ChildOutcome run =
        run_tool({"correct", "--json", input.string(), "-o", (folder / "right").string()});
    EXPECT_EQ(run.exit_code, 0) << run.summary();
    const Json report = json_of(run);
    EXPECT_EQ(report["before"]["violations"], 0);
    EXPECT_GT(report["before"]["skipped"]["contradicted_ends"], hosts / 5);
    EXPECT_EQ(text_of(folder / "right" / "spans.jsonl"), text);
  }
}

/// Calls between three hosts, of which b is set back by 5 s after half of them: before all that it
/// showed. Perhaps it works across that, so that a span of it ends before it begins.
std::string calls_of_a_clock_set_back(bool works_across) {
  constexpr std::int64_t k_ms = 1'000'000, k_begin = 1'760'000'000'000 * k_ms;
  std::map<std::string, std::vector<std::string>> spans;
  int number = 0;
  const auto add = [&](const std::string& host, int trace, int parent, std::int64_t begin,
                       std::int64_t end) {
    const auto shown = [&](std::int64_t ms) {
      return k_begin + ms * k_ms - (host == "b" && ms >= 600 ? 5'000 * k_ms : 0);
    };
    spans[host].push_back(fmt::format(
        R"({{"traceId":"{:032x}","spanId":"{:016x}",{}"name":"op","kind":{},)"
        R"("startTimeUnixNano":"{}","endTimeUnixNano":"{}"}})",
        trace, ++number, parent == 0 ? "" : fmt::format(R"("parentSpanId":"{:016x}",)", parent),
        parent == 0 ? 3 : 2, shown(begin), shown(end)));
  };
  for (int call = 1; call <= 60; ++call) {
    const std::int64_t begin = 20 * call - 10;
    const std::string names = "abc";
    const std::string from(1, names[call % 3]), to(1, names[(call + 1 + call / 3 % 2) % 3]);
    add(from, call, 0, begin, begin + 8);
    add(to, call, number, begin + 2, begin + 6);
  }
  if (works_across) add("b", 61, 0, 595, 605);
  std::string text;
  for (const auto& [host, own] : spans) {
    text += fmt::format(
        R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":)"
        R"({{"stringValue":"{0}"}}}},{{"key":"host.name","value":{{"stringValue":"{0}"}}}}]}},)"
        R"("scopeSpans":[{{"spans":[{1}]}}]}}]}})",
        host, fmt::join(own, ","));
    text += '\n';
  }
  return text;
}

TEST(Services, a_clock_set_back_to_before_its_first_stamp_is_divided_unless_spans_cross_that) {
  for (const bool works_across : {false, true}) {
    const TempFolder folder;
    const std::string text = calls_of_a_clock_set_back(works_across);
    const fs::path input = put(folder, "spans.jsonl", text);
    const ChildOutcome run =
        run_tool({"correct", "--json", input.string(), "-o", (folder / "right").string()});
    EXPECT_EQ(run.exit_code, works_across ? 3 : 0) << run.summary();
    const std::string copy = text_of(folder / "right" / "spans.jsonl");
    EXPECT_EQ(copy.size(), text.size());
    if (works_across) continue;
    const auto before = begins_in(text), after = begins_in(copy);
    for (const char* right : {"a", "c"}) EXPECT_EQ(after.at(right), before.at(right));
    const std::vector<std::int64_t>&shown = before.at("b"), &now = after.at("b");
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::int64_t moved = now[i] - shown[i];
      const std::int64_t behind = shown[i] < shown[0] ? 5'000'000'000 : 0;
      EXPECT_NEAR(static_cast<double>(moved), static_cast<double>(behind), 2e6) << i;
    }
  }
}

/// A span is longer than its clock was set back there: with a map for each of its ends it was none
/// in the copy, which was refused.
TEST(Services, a_span_across_a_step_back_keeps_its_length) {
  const TempFolder folder;
  const fs::path input = fs::path(ENTRAIN_SOURCE_DIR) / "tests/services/span-across-a-step.json.gz";
  const ChildOutcome run =
      run_tool({"correct", "--json", input.string(), "-o", (folder / "right").string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_EQ(json_of(run)["after"]["violations"], 0);
}

/// A clock was slewed, and few calls show it: these are set aside. The copy does not show that, and
/// nor does a copy of it.
TEST(Services, the_doubt_of_a_correction_stays_with_its_copies) {
  const TempFolder folder;
  const fs::path input = fs::path(ENTRAIN_SOURCE_DIR) / "tests/services/slewed-few-calls.json.gz";
  const std::string once = (folder / "once").string(), twice = (folder / "twice").string();
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"correct", input.string(), "-o", once},
        {"check", once},
        {"correct", once, "-o", twice},
        {"check", twice}}) {
    const ChildOutcome run = run_tool(verb);
    EXPECT_EQ(run.exit_code, 3) << run.summary();
  }
}

/// What was moved is what differs: a copy of the same bytes has moved nothing.
TEST(Services, of_right_clocks_that_cut_their_times_nothing_has_moved) {
  const TempFolder folder;
  const std::string text = GeneratedSpans({.wrong = 0, .whole_ms = true}).otlp_lines();
  const fs::path input = put(folder, "spans.jsonl", text);
  const ChildOutcome run =
      run_tool({"correct", "--json", input.string(), "-o", (folder / "right").string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_EQ(text_of(folder / "right" / "spans.jsonl"), text);
  EXPECT_EQ(json_of(run)["moved_events"], 0);
}

TEST(Services, what_is_told_of_times_that_stay_names_no_folder_of_its_own) {
  const TempFolder folder;
  std::string text = GeneratedSpans({}).otlp_lines();
  text += R"({"resourceSpans":[{"resource":{"attributes":[{"key":"host.name","value":)"
          R"({"stringValue":"host0"}}]},"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"bb",)"
          R"("kind":1,"startTimeUnixNano":1760000000000000000,"endTimeUnixNano":)"
          R"(1760000000000000900,"events":[{"timeUnixNano":"soon"}]}]}]}]})"
          "\n";
  const fs::path input = put(folder, "spans.jsonl", text);
  const ChildOutcome run =
      run_tool({"correct", "--json", input.string(), "-o", (folder / "right").string()});
  EXPECT_THAT(run.out, HasSubstr("'soon' in "));
  EXPECT_THAT(run.out, Not(HasSubstr(".partial")));
}

TEST(Services, contradicted_ends_are_told_by_operation) {
  const TempFolder folder;
  const fs::path input = put(folder, "spans.jsonl", GeneratedSpans({}).otlp_lines());
  const ChildOutcome run = run_tool({"check", "--json", input.string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  const Json report = json_of(run);
  EXPECT_THAT(report["warnings"].dump(),
              testing::AllOf(HasSubstr("calls of \\\"slow\\\" end after"),
                             HasSubstr("calls of \\\"tell\\\" end after"),
                             testing::Not(HasSubstr("\\\"get\\\""))));
}

TEST(Services, wrong_clocks_are_set_and_the_others_stay) {
  for (const ServicesPlan& plan :
       {ServicesPlan{.hosts = 10, .wrong = 2, .offset_s = 0.008, .drift_ppm = 20},
        ServicesPlan{.hosts = 40, .wrong = 12, .offset_s = 0.008, .spans = 13'500, .seed = 3},
        ServicesPlan{
            .hosts = 40, .wrong = 16, .offset_s = 0.008, .drift_ppm = 20, .spans = 13'500}}) {
    const Outcome outcome = corrected(plan);
    EXPECT_GT(outcome.report["before"]["violations"], 100);
    EXPECT_EQ(outcome.report["after"]["violations"], 0);
    EXPECT_LE(outcome.right_moved, 50'000) << plan.wrong;
    EXPECT_LE(outcome.right_moving, 1u) << plan.wrong;
    EXPECT_LT(outcome.wrong_error, 400'000) << plan.wrong;
  }
}

/// A row of --bounds-csv: at a stamp of a clock, what is to be added to it.
struct BoundRow {
  std::uint32_t clock = 0;
  std::int64_t stamp = 0, offset = 0, least = 0, most = 0;
};

std::vector<BoundRow> rows_of(const std::string& csv) {
  std::vector<BoundRow> rows;
  std::istringstream lines(csv);
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.at(5).empty() || cells.at(6).empty()) continue;
    rows.push_back({static_cast<std::uint32_t>(std::stoul(cells[0])), std::stoll(cells[1]),
                    std::stoll(cells[4]), std::stoll(cells[5]), std::stoll(cells[6])});
  }
  return rows;
}

TEST(Services, the_truth_is_inside_the_bounds) {
  const TempFolder folder;
  const ServicesPlan plan{
      .hosts = 12, .wrong = 3, .offset_s = 0.008, .drift_ppm = 20, .spans = 6000, .seed = 5};
  const GeneratedSpans truth(plan);
  const fs::path input = put(folder, "spans.jsonl", truth.otlp_lines());
  const std::string csv = (folder / "bounds.csv").string();
  const ChildOutcome run = run_tool({"correct", "--json", input.string(), "-o",
                                     (folder / "right").string(), "--bounds-csv", csv});
  ASSERT_EQ(run.exit_code, 0) << run.summary();
  // Bounds are against the reference, one of the clocks that stay and are right.
  EXPECT_LT(json_of(run)["bounds"]["reference"], plan.hosts - plan.wrong);
  std::uint64_t rows = 0;
  for (const BoundRow& row : rows_of(text_of(csv))) {
    std::int64_t time = row.stamp - GeneratedSpans::k_start;
    time -= truth.ahead(row.clock, time);  // drift within a few ms is below a ns
    const std::int64_t offset = -truth.ahead(row.clock, time);
    EXPECT_LE(row.least, offset + 2) << row.clock << " at " << row.stamp;
    EXPECT_GE(row.most, offset - 2) << row.clock << " at " << row.stamp;
    ++rows;
  }
  EXPECT_GT(rows, 1000u);
}

TEST(Services, a_clock_that_cuts_its_times_is_not_called_wrong) {
  const TempFolder folder;
  const std::string text = GeneratedSpans({.whole_ms = true}).otlp_lines();
  const fs::path input = put(folder, "spans.jsonl", text);
  const ChildOutcome run = run_tool({"check", "--json", input.string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_GT(json_of(run)["skipped"]["edges_below_the_resolution"], 10);
}

TEST(Services, a_wrong_clock_of_a_public_example_is_set) {
  const TempFolder folder;
  const ChildOutcome check = run_tool({"check", "--json", k_example.string()});
  EXPECT_EQ(check.exit_code, 1) << check.summary();
  const Json before = json_of(check);
  EXPECT_EQ(before["checked_edges"], 4);
  EXPECT_EQ(before["violations"], 1);
  EXPECT_NEAR(before["edges"]["p2p"]["worst_s"].get<double>(), -9.246e-3, 1e-9);
  const fs::path right = folder / "right";
  const ChildOutcome run = run_tool({"correct", k_example.string(), "-o", right.string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  // Only the begins of the two spans of that host change, by the same.
  Json spans = Json::parse(text_of(k_example)), moved = Json::parse(text_of(right / "ascend.json"));
  ASSERT_EQ(spans.size(), moved.size());
  std::vector<std::int64_t> shifts;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::int64_t shift =
        moved[i]["timestamp"].get<std::int64_t>() - spans[i]["timestamp"].get<std::int64_t>();
    if (shift != 0) shifts.push_back(shift);
    moved[i]["timestamp"] = spans[i]["timestamp"];
  }
  EXPECT_EQ(spans, moved);
  ASSERT_EQ(shifts.size(), 2u);
  EXPECT_EQ(shifts[0], shifts[1]);
  EXPECT_LE(shifts[0], -9'246);
}

TEST(Services, a_folder_of_files_is_one_run_packed_or_plain_in_any_of_the_formats) {
  const TempFolder folder;
  const std::string text = GeneratedSpans({.wrong = 2, .offset_s = 0.008}).otlp_lines();
  const std::size_t half = text.find('\n', text.size() / 2) + 1;
  fs::create_directory(folder / "in");
  put(folder, "in/a.jsonl", text.substr(0, half));
  put(folder, "in/b.json", text.substr(half));
  ASSERT_EQ(std::system(("gzip " + (folder / "in/b.json").string()).c_str()), 0);
  fs::copy_file(k_example, folder / "in/c.json");
  const std::string in = (folder / "in").string(), out = (folder / "out").string();
  const auto digest = digest_tree(in);
  const ChildOutcome run = run_tool({"correct", "--json", in, "-o", out});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_EQ(json_of(run)["before"]["locations"], 13);
  EXPECT_THAT(entries_of(out),
              testing::ElementsAre(".entrain-result", "a.jsonl", "b.json.gz", "c.json"));
  EXPECT_EQ(run_tool({"check", out}).exit_code, 0);
  EXPECT_EQ(digest_tree(in), digest);
}

TEST(Services, distorted_spans_are_set_right_again) {
  const TempFolder folder;
  const fs::path input = put(folder, "spans.jsonl", GeneratedSpans({}).otlp_lines());
  const std::string skewed = (folder / "skewed").string(), right = (folder / "right").string();
  ASSERT_EQ(run_tool({"distort", input.string(), "-o", skewed, "--offset-s", "0.01"}).exit_code, 0);
  EXPECT_EQ(run_tool({"check", skewed}).exit_code, 1);
  const ChildOutcome run = run_tool({"correct", "--json", "--bounds", skewed, "-o", right});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_EQ(json_of(run)["after"]["violations"], 0);
}

/// Calls to and fro between hosts, of which each is `ahead` of the true time, in us; as Zipkin.
std::string calls_between(const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                          const std::vector<std::int64_t>& ahead) {
  Json spans = Json::array();
  const auto add = [&](const std::string& id, const char* kind, std::size_t host,
                       std::int64_t begin, std::int64_t length) {
    spans.push_back({{"traceId", "1"},
                     {"id", id},
                     {"kind", kind},
                     {"name", "get"},
                     {"timestamp", 1'700'000'000'000'003 + begin + ahead[host]},
                     {"duration", length},
                     {"localEndpoint", {{"serviceName", fmt::format("host{}", host)}}}});
  };
  for (int i = 0; i < 40 * static_cast<int>(pairs.size()); ++i) {
    auto [from, to] = pairs[static_cast<std::size_t>(i) % pairs.size()];
    if (i / static_cast<int>(pairs.size()) % 2 == 1) std::swap(from, to);
    const std::int64_t begin = std::int64_t{i} * 10'007, way = 80 + i * 37 % 211;
    const std::string id = fmt::format("{:x}", i + 1);
    add(id, "CLIENT", from, begin, 1'000 + 2 * way);
    add(id, "SERVER", to, begin + way, 1'000);
  }
  return spans.dump();
}

TEST(Services, wrong_clocks_that_only_wrong_clocks_know_are_set_after_these) {
  const TempFolder folder;
  const std::vector<std::pair<std::size_t, std::size_t>> pairs{{0, 1}, {1, 2}, {2, 3}, {3, 4},
                                                               {4, 5}, {3, 5}, {5, 6}, {6, 3}};
  const std::vector<std::int64_t> ahead{-8'000, 5'000, -3'000, 0, 0, 0, 0};
  const fs::path input = put(folder, "spans.json", calls_between(pairs, ahead));
  const ChildOutcome run = run_tool({"correct", input.string(), "-o", (folder / "right").string()});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  const Json truth = Json::parse(calls_between(pairs, std::vector<std::int64_t>(ahead.size())));
  const Json right = Json::parse(text_of(folder / "right" / "spans.json"));
  ASSERT_EQ(right.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::string host = right[i]["localEndpoint"]["serviceName"];
    const std::int64_t error =
        right[i]["timestamp"].get<std::int64_t>() - truth[i]["timestamp"].get<std::int64_t>();
    EXPECT_LE(std::abs(error), host < "host3" ? 300 : 0) << host;
  }
}

TEST(Services, a_file_needs_no_name_of_json) {
  const TempFolder folder;
  fs::copy_file(k_example, folder / "download");
  EXPECT_EQ(run_tool({"check", (folder / "download").string()}).exit_code, 1);
}

TEST(Services, spans_of_one_host_prove_nothing_and_say_so) {
  const TempFolder folder;
  const fs::path input = put(folder, "spans.jsonl", GeneratedSpans({.hosts = 1}).otlp_lines());
  const ChildOutcome run = run_tool({"check", input.string()});
  EXPECT_EQ(run.exit_code, 3) << run.summary();
  EXPECT_THAT(run.out, HasSubstr("no call between two hosts"));
}

/// What the tool says to a file, without its name; nothing may be written.
std::string refusal_of(const std::string& name, const std::string& text) {
  const TempFolder folder;
  const fs::path input = put(folder, name, text);
  const std::string out = (folder / "out").string();
  const ChildOutcome run = run_tool({"correct", input.string(), "-o", out});
  expect_refusal(run, name);
  EXPECT_THAT(entries_of(folder.path()), testing::ElementsAre(name));
  return run.err;
}

TEST(Services, a_file_whose_last_line_is_cut_off_is_named) {
  std::string line = text_of(k_example);
  std::erase(line, '\n');
  const TempFolder folder;
  const fs::path whole = put(folder, "whole.jsonl", line + "\n");
  const fs::path cut = put(folder, "cut.jsonl", line + "\n" + line.substr(0, line.size() / 2));
  EXPECT_THAT(run_tool({"check", whole.string()}).out, Not(HasSubstr("ends inside a record")));
  EXPECT_THAT(run_tool({"check", cut.string()}).out,
              HasSubstr("cut.jsonl ends inside a record: what stands before the cut counts"));
}

TEST(Services, damage_is_refused_in_a_sentence_and_nothing_is_written) {
  const std::string text = text_of(k_example);
  EXPECT_THAT(refusal_of("a.json", text.substr(0, text.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(refusal_of("a.json", text.substr(0, text.size() - 3) + "\xff]"), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal_of("a.json", text + text), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of("a.json", "[]"), HasSubstr("no span with a time"));
  EXPECT_THAT(refusal_of("a.json", R"({"data":[],"total":0})"), HasSubstr("no span with a time"));
  EXPECT_THAT(refusal_of("a.jsonl", "{\"resourceSpans\":[]}\n{\"resourceSpans\":\n{}\n"),
              HasSubstr("a.jsonl:2"));
}

TEST(Services, spans_and_chrome_traces_are_no_run) {
  const TempFolder folder;
  fs::create_directory(folder / "in");
  fs::copy_file(k_example, folder / "in/a.json");
  fs::copy_file(fs::path(ENTRAIN_EXAMPLES_DIR) / "training" / "rank0.json", folder / "in/b.json");
  expect_refusal(run_tool({"check", (folder / "in").string()}), "no files of one run");
}

TEST(Services, times_that_would_be_before_1970_are_refused) {
  const TempFolder folder;
  const auto spans = [](std::uint64_t begin) {
    return fmt::format(
        R"([{{"traceId":"1","id":"1","kind":"CLIENT","name":"x","timestamp":{},"duration":5,)"
        R"("localEndpoint":{{"serviceName":"a"}}}},{{"traceId":"1","id":"1","shared":true,)"
        R"("kind":"SERVER","name":"x","timestamp":900000,"duration":1,"localEndpoint":)"
        R"({{"serviceName":"b"}},"annotations":[{{"timestamp":1,"value":"old"}}]}}])",
        begin);
  };
  const fs::path input = put(folder, "a.json", spans(100));
  const std::string out = (folder / "out").string();
  const ChildOutcome run = run_tool({"correct", input.string(), "-o", out, "--reference", "a"});
  expect_refusal(run, "would become negative");
  EXPECT_FALSE(fs::exists(out));
}

TEST(Services, spans_that_move_say_by_how_much_on_request) {
  const TempFolder folder;
  const std::string out = (folder / "out").string();
  const ChildOutcome run = run_tool({"correct", k_example.string(), "-o", out, "--mark-offsets"});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  const Json before = Json::parse(text_of(k_example));
  std::size_t marked = 0;
  const Json after = Json::parse(text_of(folder / "out" / "ascend.json"));
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Json tags = after[i].value("tags", Json::object());
    const std::string mark = tags.value("entrain.offset_ns", "0");
    const std::int64_t moved =
        after[i]["timestamp"].get<std::int64_t>() - before[i]["timestamp"].get<std::int64_t>();
    EXPECT_NEAR(std::stod(mark), static_cast<double>(moved) * 1000, 500);
    marked += mark == "0" ? 0 : 1;
  }
  EXPECT_EQ(marked, 2u);
  const std::string archive = example("allops-4"), other = (folder / "other").string();
  expect_refusal(run_tool({"correct", archive, "-o", other, "--mark-offsets"}),
                 "--mark-offsets needs spans");
  const fs::path training = fs::path(ENTRAIN_EXAMPLES_DIR) / "training";
  expect_refusal(run_tool({"correct", training.string(), "-o", other, "--mark-offsets"}),
                 "--mark-offsets needs spans");
  EXPECT_FALSE(fs::exists(other));
}

TEST(Services, what_needs_an_archive_is_refused) {
  const TempFolder folder;
  const std::string out = (folder / "out").string();
  expect_refusal(run_tool({"correct", k_example.string(), "-o", out, "--mode", "overlay"}),
                 "--mode overlay needs an OTF2 archive");
}

TEST(Services, are_compared_with_their_hosts_by_name) {
  const TempFolder folder;
  const std::string right = (folder / "right").string(), csv = (folder / "moves.csv").string();
  ASSERT_EQ(run_tool({"correct", "-q", k_example.string(), "-o", right}).exit_code, 0);
  const ChildOutcome run =
      run_tool({"compare", "--json", k_example.string(), right, "--csv", csv, "--tolerance", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.summary();
  const Json report = json_of(run);
  EXPECT_EQ(report["schema"], "entrain.compare/1");
  ASSERT_EQ(report["locations"].size(), 3U);
  EXPECT_EQ(report["locations"][2]["name"], "auth-service@172.17.0.9");
  EXPECT_GT(report["locations"][2]["max_s"], 0.009);
  EXPECT_THAT(text_of(csv), HasSubstr("\nauth-service@172.17.0.9,"));
  const ChildOutcome text = run_tool({"compare", k_example.string(), right});
  EXPECT_THAT(text.out, HasSubstr("auth-service@172.17.0.9"));
  expect_refusal(run_tool({"compare", "--raw", k_example.string(), right}), "needs OTF2 archives");
}

}  // namespace
}  // namespace entrain::test
