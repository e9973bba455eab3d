// SPDX-License-Identifier: BSD-3-Clause
//
// What the tool says about itself, and how it refuses what it cannot do.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>

#include "cli/tool.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> k_verbs{
    "info",    "check", "clocks", "correct", "edges", "export",     "merge", "align", "compare",
    "distort", "drop",  "synth",  "record",  "net",   "stragglers", "fit",   "apply", "summarise"};

/// Options that every help of a verb must explain.
const std::map<std::string, std::vector<std::string>> k_options{
    {"info", {}},
    {"clocks", {"--sort", "--max-offset", "--csv"}},
    {"stragglers", {"--csv", "--presync", "--max-rate-ppm"}},
    {"check",
     {"--presync", "--sessions", "--clock-domain", "--mu", "--alltoallv", "--init-finalize",
      "--strict-latency", "--bounds", "--bounds-csv", "--max-rate-ppm", "--clock-kind",
      "--max-mean-rate-ppm", "--reference"}},
    {"correct", {"-o, --output",     "--mode",
                 "--link",           "--force",
                 "--mark-offsets",   "--no-verify",
                 "--gamma",          "--epsilon",
                 "--delta",          "--max-slope",
                 "--ramp",           "--spline",
                 "--backward",       "--amortize",
                 "--presync",        "--sessions",
                 "--clock-domain",   "--mu",
                 "--alltoallv",      "--init-finalize",
                 "--strict-latency", "--bounds",
                 "--bounds-csv",     "--max-rate-ppm",
                 "--clock-kind",     "--max-mean-rate-ppm",
                 "--reference"}},
    {"edges", {"-o, --output", "--force", "--presync", "--mu", "--init-finalize"}},
    {"export",
     {"-o, --output", "--force", "--to", "--correct", "--both", "--around", "--window", "--from",
      "--until", "--presync", "--mu"}},
    {"merge", {"-o, --output", "--force", "--presync", "--bounds", "--bounds-csv", "--reference"}},
    {"summarise", {"-o, --output", "--force", "--max-unpacked"}},
    {"fit",
     {"-o, --output", "--csv", "--force", "--gamma", "--presync", "--bounds", "--reference"}},
    {"apply", {"-o, --output", "--force", "--mark-offsets", "--max-unpacked"}},
    {"align",
     {"-o, --output", "--force", "--clocks", "--resolution", "--apply", "--time-column",
      "--clock-column", "--bounds", "--presync", "--clock-domain"}},
    {"compare", {"--truth", "--tolerance", "--csv", "--points", "--raw"}},
    {"distort",
     {"-o, --output", "--force", "--seed", "--per", "--offset-s", "--drift-ppm", "--wander-ppm",
      "--wander-period-s", "--wander-kind", "--master", "--sessions", "--offset-noise-s"}},
    {"drop",
     {"-o, --output", "--force", "--seed", "--random", "--windows", "--mark-windows", "--tail",
      "--call"}},
    {"synth",
     {"-o, --output", "--force", "--pattern", "--locations", "--events", "--communication-share",
      "--locations-per-node", "--seed", "--latency-s", "--tail-s", "--iteration-s", "--imbalance"}},
    {"record",
     {"-o, --output", "--repair", "--mpi", "--buffer", "--max-size", "--max-locations", "--timer",
      "--sync-max-messages", "--sync-max-duration", "--sync-drop", "--sync-fanout", "--synced-host",
      "--synced-cluster", "--no-sync"}},
    {"net", {}}};

TEST(Usage, without_arguments_shows_the_verbs_and_fails) {
  const ChildOutcome outcome = run_tool({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  for (const std::string& verb : k_verbs) EXPECT_THAT(outcome.err, HasSubstr("\n  " + verb + " "));
}

TEST(Usage, help_and_version_go_to_standard_output) {
  for (const char* option : {"--help", "-h", "help"}) {
    const ChildOutcome outcome = run_tool({option});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    for (const std::string& verb : k_verbs) EXPECT_THAT(outcome.out, HasSubstr(verb));
  }
  const ChildOutcome outcome = run_tool({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("entrain [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Usage, every_verb_has_a_manual_page) {
  for (const auto& [verb, options] : k_options) {
    const ChildOutcome outcome = run_tool({verb, "--help-all"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, testing::StartsWith("NAME\n    entrain " + verb + " - "));
    for (const char* part : {"SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"})
      EXPECT_THAT(outcome.out, HasSubstr("\n" + std::string(part) + "\n    "));
    EXPECT_THAT(outcome.out, HasSubstr("\n    -h, --help"));
    for (const std::string& option : options) EXPECT_THAT(outcome.out, HasSubstr("    " + option));
    if (verb == "record") continue;  // output and exit code are those of the program it runs
    for (const char* common : {"--json", "--threads", "-q, --quiet", "-v, --verbose"})
      EXPECT_THAT(outcome.out, HasSubstr(std::string("\n    ") + common));
    for (const char* code : {"\n      0  ", "\n      2  ", "\n    130  "})
      EXPECT_THAT(outcome.out, HasSubstr(code));
  }
}

TEST(Usage, help_is_read_at_once) {
  for (const std::string& verb : k_verbs) {
    const ChildOutcome outcome = run_tool({verb, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_THAT(outcome.out, testing::StartsWith("entrain " + verb + " - "));
    EXPECT_THAT(outcome.out, HasSubstr("--help-all"));
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 80) << outcome.out;
  }
}

/// Who has spans, or a training run, must see that they can be given.
TEST(Usage, help_says_what_an_archive_may_be) {
  const std::string overview = run_tool({"--help"}).out;
  for (const char* word : {"entrain clocks ARCHIVE", "OTF2", "training", "OTLP", "Protobuf", "CSV",
                           "Paraver", "CTF", "align"}) {
    EXPECT_THAT(overview, HasSubstr(word));
  }
  for (const char* verb : {"check", "clocks", "correct", "report"}) {
    const std::string page = run_tool({verb, "--help"}).out;
    EXPECT_THAT(page, HasSubstr("spans"));
    EXPECT_THAT(page, HasSubstr("training"));
  }
}

TEST(Usage, help_on_a_verb_is_its_manual_page) {
  for (const std::string& verb : k_verbs) {
    const ChildOutcome outcome = run_tool({"help", verb});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, run_tool({verb, "--help-all"}).out);
  }
  expect_refusal(run_tool({"help", "frobnicate"}), "'frobnicate'");
}

TEST(Usage, manual_pages_fit_a_terminal) {
  for (const std::string& verb : k_verbs) {
    std::istringstream page(run_tool({verb, "--help-all"}).out);
    for (std::string line; std::getline(page, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(Usage, short_help_has_the_first_sentence_and_the_default_of_an_option) {
  const std::string page = run_tool({"check", "--help"}).out;
  EXPECT_THAT(page, HasSubstr("\n      Which locations share one clock. Default: auto.\n"));
  EXPECT_THAT(run_tool({"synth", "--help"}).out, HasSubstr("What to simulate. Default: otf2.\n"));
}

TEST(Usage, every_option_that_takes_a_value_names_its_default) {
  for (const std::string verb : {"check", "correct", "distort", "drop", "synth"}) {
    const std::string page = run_tool({verb, "--help-all"}).out;
    for (const std::string& option : k_options.at(verb)) {
      const std::size_t begin = page.find("\n    " + option);
      ASSERT_NE(begin, std::string::npos) << option;
      const std::string text = page.substr(begin, page.find("\n\n", begin) - begin);
      if (option == "-o, --output") continue;  // required
      EXPECT_THAT(text, HasSubstr("Default:")) << verb;
    }
  }
}

TEST(Usage, what_is_no_verb_is_refused) {
  expect_refusal(run_tool({"frobnicate"}), "'frobnicate'");
  expect_refusal(run_tool({"--json", "check", "x"}), "'--json'");
  expect_refusal(run_tool({""}), "''");
}

struct BadUsage {
  std::vector<std::string> arguments;
  std::string part;  ///< of the sentence
};

void PrintTo(const BadUsage& usage, std::ostream* out) {
  for (const std::string& argument : usage.arguments) *out << argument << ' ';
}

class Refusal : public testing::TestWithParam<BadUsage> {};

TEST_P(Refusal, is_one_sentence) {
  expect_refusal(run_tool(GetParam().arguments), GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(Arguments, Refusal,
                         testing::ValuesIn(std::vector<BadUsage>{
                             {{"info"}, "ARCHIVE is required"},
                             {{"check"}, "ARCHIVE is required"},
                             {{"check", ""}, "ARCHIVE: nothing is given"},
                             {{"correct", "a", "-o", ""}, "--output: nothing is given"},
                             {{"compare", "a", "b", "--truth", ""}, "--truth: nothing is given"},
                             {{"drop", "a", "b", "-o", "c"}, "'b' is one argument too many"},
                             {{"check", "a", "b"}, "cannot open a: No such file or directory"},
                             {{"check", "--frob", "a"}, "'--frob'"},
                             {{"drop", "a\nb", "c\nd", "-o", "e"}, "too many"},
                             {{"check", "--presync=", "a"}, "--presync needs a value"},
                             {{"check", "a", "--json=7"}, "'json' takes no value"},
                             {{"correct", "a"}, "--output is required"},
                             {{"correct", "a", "-o"}, "--output needs a value"},
                             {{"compare", "a"}, "B is required"},
                             {{"compare", "a", "b", "--truth"}, "--truth needs a value"},
                             {{"distort", "a"}, "--output is required"},
                             {{"drop", "a", "--random", "0.1"}, "--output is required"},
                             {{"drop", "a", "-o", "b"}, "nothing would be lost"},
                             {{"synth"}, "--output is required"},
                             {{"replay"}, "'replay'"},
                         }));

INSTANTIATE_TEST_SUITE_P(
    Values, Refusal,
    testing::ValuesIn(std::vector<BadUsage>{
        {{"check", "a", "--presync", "Linear"}, "auto, none, linear, regression, spline or causal"},
        {{"check", "a", "--sessions", "best"}, "shortest, mean or weighted"},
        {{"check", "a", "--mu", "-1e-6"}, "--mu '-1e-6'"},
        {{"check", "a", "--mu", "nan"}, "--mu 'nan'"},
        {{"check", "a", "--mu", "inf"}, "--mu 'inf'"},
        {{"check", "a", "--mu", "1us"}, "--mu '1us'"},
        {{"check", "a", "--mu", "1001"}, "0 to 1000"},
        {{"check", "a", "--mu", ""}, "--mu"},
        {{"check", "a", "--alltoallv", "sparse"}, "ignore or dense"},
        {{"check", "a", "--init-finalize", "yes"}, "on or off"},
        {{"check", "a", "--threads", "-1"}, "0 to 4096"},
        {{"check", "a", "--threads", "4097"}, "0 to 4096"},
        {{"check", "a", "--threads", "two"}, "0 to 4096"},
        {{"correct", "a", "-o", "b", "--gamma", "0"}, "above 0"},
        {{"check", "a", "--max-rate-ppm", "-1"},
         "neither auto nor a number of ppm from 0 to 100000"},
        {{"check", "a", "--max-rate-ppm", "nan"}, "--max-rate-ppm 'nan'"},
        {{"check", "a", "--clock-kind", "sun"}, "--clock-kind 'sun'"},
        {{"check", "a", "--max-mean-rate-ppm", "on"}, "--max-mean-rate-ppm 'on'"},
        {{"check", "a", "--bounds-csv", ""}, "--bounds-csv: nothing is given"},
        {{"correct", "a", "-o", "b", "--gamma", "1.000000001"}, "at most 1"},
        {{"correct", "a", "-o", "b", "--gamma", "0.9999999999"}, "9 decimals"},
        {{"correct", "a", "-o", "b", "--gamma", "1e-1"}, "no exponent"},
        {{"correct", "a", "-o", "b", "--gamma", "."}, "--gamma '.'"},
        {{"correct", "a", "-o", "b", "--gamma", "-0.5"}, "--gamma '-0.5'"},
        {{"correct", "a", "-o", "b", "--max-slope", "0"}, "above 0"},
        {{"correct", "a", "-o", "b", "--max-slope", "1000.1"}, "at most 1000"},
        {{"correct", "a", "-o", "b", "--max-slope", "99999999999999999999"}, "at most 1000"},
        {{"correct", "a", "-o", "b", "--delta", "-1"}, "--delta '-1'"},
        {{"correct", "a", "-o", "b", "--delta", "1.5"}, "whole number"},
        {{"correct", "a", "-o", "b", "--mode", "copy"}, "rewrite or overlay"},
        {{"correct", "a", "-o", "b", "--link", "soft"}, "auto, reflink, symbolic or hard"},
        {{"correct", "a", "-o", "b", "--backward", "1"}, "on or off"},
        {{"correct", "a", "-o", "b", "--link", "hard"}, "--link needs --mode overlay"},
        {{"correct", "a", "-o", "b", "--link", "hard", "--mode", "rewrite"}, "--mode overlay"},
        {{"correct", "a", "-o", "b", "--epsilon", "-1"}, "seconds"},
        {{"correct", "a", "-o", "b", "--epsilon", "1e-6", "--gamma", "0.9"}, "--gamma N"},
        {{"correct", "a", "-o", "b", "--max-slope", "0.1", "--backward", "off"}, "--backward off"},
        {{"correct", "a", "-o", "b", "--ramp", "paper", "--backward", "off"}, "--backward off"},
        {{"correct", "a", "-o", "b", "--ramp", "line"}, "taut or paper"},
        {{"check", "a", "--spline", "some"}, "undisturbed or all"},
        {{"compare", "a", "b", "--tolerance", "-1"}, "--tolerance '-1'"},
        {{"correct", "a", "-o", "b", "--amortize", "off", "--gamma", "0.9"}, "--amortize off"},
        {{"correct", "a", "-o", "b", "--amortize", "no"}, "on or off"},
        {{"compare", "a", "b", "--points", "10"}, "--csv"},
        {{"compare", "a", "b", "--csv", "f", "--points", "1"}, "--points '1'"},
        {{"distort", "a", "-o", "b", "--sessions", "1"}, "neither 0 nor"},
        {{"distort", "a", "-o", "b", "--master", "slow"}, "wander or steady"},
        {{"distort", "a", "-o", "b", "--wander-kind", "jump"}, "cycle or walk"},
        {{"distort", "a", "-o", "b", "--per", "rank"}, "location, process or node"},
        {{"distort", "a", "-o", "b", "--seed", "18446744073709551616"}, "--seed"},
        {{"distort", "a", "-o", "b", "--offset-s", "1e7"}, "0 to 1e+06"},
        {{"distort", "a", "-o", "b", "--drift-ppm", "-5"}, "--drift-ppm"},
        {{"drop", "a", "-o", "b", "--random", "2"}, "--random '2' is not a share"},
        {{"drop", "a", "-o", "b", "--random", "101%"}, "from 0% to 100%"},
        {{"drop", "a", "-o", "b", "--windows", "0.1:"}, "such as 0.1:0.5"},
        {{"drop", "a", "-o", "b", "--tail", "0.1:0"}, "such as 0.1:0.5"},
        {{"drop", "a", "-o", "b", "--tail", "0.1", "--mark-windows"}, "needs --windows"},
    }));

TEST(Output, that_cannot_be_written_is_a_failure) {
  expect_refusal(run_shell("\"$0\" --help > /dev/full"), "standard output");
  expect_refusal(run_shell("\"$0\" check --help >&-"), "standard output");
  expect_refusal(run_shell("\"$0\" --version > /dev/full"), "standard output");
}

TEST(Output, to_a_closed_pipe_is_a_failure_not_a_signal) {
  // The reader is gone before the tool starts.
  const ChildOutcome outcome =
      run_shell("{ sleep 0.2; \"$0\" --help; echo \"code $?\" >&2; } | true; sleep 0.4");
  EXPECT_THAT(outcome.err, HasSubstr("standard output"));
  EXPECT_THAT(outcome.err, HasSubstr("code 2"));
}

}  // namespace
}  // namespace entrain::test
