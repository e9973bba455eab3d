// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"
#include "page/html/html.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::string page_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The data inside of a page.
Json data_of(const fs::path& path) {
  const std::string text = page_text(path);
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const std::size_t from = text.find(begin);
  if (from == text.npos) return {};
  const std::size_t at = from + begin.size();
  return Json::parse(text.substr(at, text.find("</script>", at) - at), nullptr, false);
}

class ReportFile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!page::can_write_pages()) GTEST_SKIP() << "this build has no page";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  TempFolder folder_;
};

TEST_F(ReportFile, stragglers_of_an_archive_are_those_of_the_verb) {
  const ChildOutcome written =
      run_tool({"report", example("lulesh-8"), "-o", path("page.html"), "-q"});
  EXPECT_EQ(written.exit_code, 1) << written.summary();
  const Json page = data_of(path("page.html"))["stragglers"];
  const Json alone = json_of(run_tool({"stragglers", example("lulesh-8"), "--json"}));
  ASSERT_TRUE(page.is_object());
  for (const char* figure : {"collectives", "proven", "ties", "wait_s", "longest"}) {
    EXPECT_EQ(page[figure], alone[figure]) << figure;
  }
}

TEST_F(ReportFile, of_a_plan_says_what_correct_would_do) {
  const std::string page = path("a.html"), corrected = path("corrected");
  const Json plan = json_of(run_tool({"report", example("lulesh-8"), "-o", page, "--json"}));
  const Json real =
      json_of(run_tool({"correct", example("lulesh-8"), "-o", corrected, "--bounds", "--json"}));
  EXPECT_EQ(plan["mode"], "planned");
  EXPECT_EQ(plan["before"], real["before"]);
  EXPECT_EQ(plan["after"]["edges"]["p2p"], real["after"]["edges"]["p2p"]);
  EXPECT_EQ(plan["displacement_s"], real["displacement_s"]);
  EXPECT_EQ(data_of(page)["correct"]["after"]["violations"], 0);
  EXPECT_EQ(data_of(page)["correct"]["before"]["violations"], real["before"]["violations"]);
}

TEST_F(ReportFile, has_a_name_of_its_own) {
  const std::string archive = example("lulesh-8"), out = path("out"), inside = out + "/page.html";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"correct", archive, "-o", out, "--report", out},
           {"correct", archive, "-o", out, "--report", inside},
           {"correct", archive, "-o", out, "--bounds-csv", out},
           {"check", archive, "--report", out, "--bounds-csv", out},
           {"report", archive, "-o", out, "--bounds-csv", out}}) {
    const ChildOutcome outcome = run_tool(args);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
    EXPECT_THAT(outcome.err, testing::HasSubstr("; choose ")) << outcome.summary();
    EXPECT_FALSE(std::filesystem::exists(out)) << outcome.summary();
  }
}

TEST_F(ReportFile, of_edges_is_that_of_their_archive) {
  const std::string archive = path("archive.html"), edges = path("edges.html");
  ASSERT_EQ(run_tool({"edges", example("lulesh-8"), "-o", path("e.csv")}).exit_code, 0);
  const std::vector<std::string> align{"align", path("e.csv"), "--report", edges, "--json"};
  const ChildOutcome outcome = run_tool(align);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
  run_tool({"check", example("lulesh-8"), "--report", archive});
  const Json of_edges = data_of(edges), of_archive = data_of(archive);
  EXPECT_EQ(of_edges["matrix"]["before"], of_archive["matrix"]["before"]);
  EXPECT_EQ(of_edges["margins"]["before"], of_archive["margins"]["before"]);
  EXPECT_EQ(of_edges["align"]["after"]["violations"], 0);
  EXPECT_EQ(of_edges["align"]["left_out"], json_of(outcome)["left_out"]);
  expect_refusal(run_tool(align), "exists");
}

TEST_F(ReportFile, matrix_and_margins_add_up_to_the_messages_of_the_check) {
  const std::string page = path("a.html");
  const ChildOutcome outcome = run_tool({"check", example("lulesh-8"), "--report", page, "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json check = json_of(outcome), data = data_of(page);
  std::uint64_t edges = 0, violations = 0, counted = 0;
  for (const Json& cell : data["matrix"]["before"]) {
    if (cell[2] != 0) continue;
    edges += cell[3].get<std::uint64_t>();
    violations += cell[4].get<std::uint64_t>();
  }
  for (const Json& bin : data["margins"]["before"]["p2p"]) counted += bin[1].get<std::uint64_t>();
  EXPECT_EQ(edges, check["edges"]["p2p"]["count"]);
  EXPECT_EQ(violations, check["edges"]["p2p"]["violations"]);
  EXPECT_EQ(counted, edges);
}

/// The edges, or the violations, of all cells of a matrix of a page.
std::uint64_t sum_of(const Json& matrix, int family, int column) {
  std::uint64_t sum = 0;
  for (const Json& cell : matrix) sum += cell[2] != family ? 0 : cell[column].get<std::uint64_t>();
  return sum;
}

TEST_F(ReportFile, of_spans_says_what_correct_would_do) {
  const std::string spans = ENTRAIN_EXAMPLES_DIR "/services/ascend.json";
  const std::string page = path("a.html"), corrected = path("b.html"), right = path("right");
  const ChildOutcome outcome = run_tool({"report", spans, "-o", page, "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json plan = json_of(outcome);
  const Json real = json_of(
      run_tool({"correct", spans, "-o", right, "--bounds", "--json", "--report", corrected}));
  EXPECT_EQ(plan["mode"], "planned");
  EXPECT_EQ(plan["before"]["edges"], real["before"]["edges"]);
  EXPECT_EQ(plan["after"]["violations"], real["after"]["violations"]);
  const double planned = plan["displacement_s"]["max"], written = real["displacement_s"]["max"];
  EXPECT_NEAR(planned, written, 1e-6);  // what is written are whole us
  for (const std::string& file : {page, corrected}) {
    const Json data = data_of(file);
    EXPECT_EQ(sum_of(data["matrix"]["before"], 0, 3), plan["before"]["checked_edges"]);
    EXPECT_EQ(sum_of(data["matrix"]["before"], 0, 4), plan["before"]["violations"]);
    EXPECT_GT(sum_of(data["matrix"]["before"], 0, 4), 0U);
    EXPECT_EQ(sum_of(data["matrix"]["after"], 0, 4), 0U);
    EXPECT_EQ(data["matrix"]["names"].size(), 3U);
    EXPECT_TRUE(data["curves"].empty());  // straight clocks have none
    EXPECT_FALSE(data["time_lines"]["regions"].empty());
    EXPECT_FALSE(data["time_lines"]["lines"][0]["receiver"].empty());
  }
}

TEST_F(ReportFile, of_a_training_run_counts_each_end_once_and_samples_its_collectives) {
  const std::string skewed = path("skewed"), page = path("a.html");
  run_tool({"distort", ENTRAIN_EXAMPLES_DIR "/training", "-o", skewed, "--offset-s", "0.01",
            "--drift-ppm", "50", "--seed", "7"});
  const ChildOutcome outcome =
      run_tool({"check", skewed, "--report", page, "--json", "--threads", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json check = json_of(outcome), data = data_of(page);
  EXPECT_EQ(sum_of(data["matrix"]["before"], 0, 3), 4U * 8);  // launches of kernels
  EXPECT_EQ(sum_of(data["matrix"]["before"], 1, 3), 4U * 8);  // 8 collectives of 4 ranks
  EXPECT_GT(sum_of(data["matrix"]["before"], 1, 4), 0U);
  EXPECT_EQ(data["collectives"]["count"], 8);
  EXPECT_EQ(data["check"]["violations"], check["violations"]);
  run_tool({"check", skewed, "--report", path("3.html"), "--threads", "3"});
  EXPECT_TRUE(page_text(page) == page_text(path("3.html")));
  expect_refusal(run_tool({"report", ENTRAIN_EXAMPLES_DIR "/training/rank0.json",
                           ENTRAIN_EXAMPLES_DIR "/training/LICENSE", "-o", path("c.html")}),
                 "is no trace of the kind that");
  EXPECT_FALSE(fs::exists(path("c.html")));
}

TEST_F(ReportFile, does_not_depend_on_threads) {
  run_tool({"check", example("lulesh-8"), "--report", path("1.html"), "--threads", "1"});
  run_tool({"check", example("lulesh-8"), "--report", path("5.html"), "--threads", "5"});
  EXPECT_GT(page_text(path("1.html")).size(), 10'000u);
  EXPECT_TRUE(page_text(path("1.html")) == page_text(path("5.html")));
}

TEST_F(ReportFile, is_never_replaced_without_force) {
  const std::string page = path("a.html");
  std::ofstream(page) << "mine";
  expect_refusal(run_tool({"report", example("lulesh-8"), "-o", page}), "exists");
  expect_refusal(run_tool({"check", example("lulesh-8"), "--report", page}), "exists");
  expect_refusal(run_tool({"report", example("lulesh-8"), "-o", path("none/a.html")}), "no folder");
  expect_refusal(run_tool({"report", example("lulesh-8"), "-o", page, "--force"}), "no mark");
  EXPECT_EQ(page_text(page), "mine");
  fs::remove(page);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_tool({"report", example("lulesh-8"), "-o", page, "--force"}).exit_code, 1);
  }
  EXPECT_THAT(page_text(page), ::testing::HasSubstr("content=\"written by entrain "));
}

TEST_F(ReportFile, is_not_left_behind_by_a_failure) {
  expect_refusal(run_tool({"report", path("no-archive"), "-o", path("a.html")}), "no-archive");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST(ReportVerb, says_that_a_build_has_no_page) {
  if (page::can_write_pages()) GTEST_SKIP() << "this build has pages";
  expect_refusal(run_tool({"report", example("lulesh-8")}), "built without the HTML report");
  expect_refusal(run_tool({"check", example("lulesh-8"), "--report", "a.html"}),
                 "built without the HTML report");
}

}  // namespace
}  // namespace entrain::test
