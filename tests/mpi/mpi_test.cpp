// SPDX-License-Identifier: BSD-3-Clause
// Several processes and several threads give the archive that one gives, byte by byte.
#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "page/html/html.hpp"
#include "support/archive_builder.hpp"
#include "support/files.hpp"
#include "support/mpi.hpp"
#include "support/process.hpp"
#include "support/small_trace.hpp"
#include "support/test_archives.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr unsigned k_timeout_s = 100;

#ifdef ENTRAIN_MPIEXEC
/// Several processes of the tool on this machine, however few cores it has.
ChildOutcome run_processes(unsigned count, const Arguments& arguments) {
  prepare_mpi();
  Arguments command{ENTRAIN_MPIEXEC, "-n", std::to_string(count), ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, {.timeout_s = k_timeout_s});
}
#endif

ChildOutcome run_alone(const Arguments& arguments) {
  Arguments command{ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, {.timeout_s = k_timeout_s});
}

/// A report without what differs from run to run.
nlohmann::json comparable(const std::string& text, const fs::path& output) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return text;
  json.erase("phases_s");
  json.erase("peak_memory_bytes");
  std::string plain = json.dump();
  const std::string name = output.string();
  for (std::size_t at = plain.find(name); at != std::string::npos; at = plain.find(name, at)) {
    plain.replace(at, name.size(), "OUTPUT");
  }
  return nlohmann::json::parse(plain);
}

#ifdef ENTRAIN_MPIEXEC
/// Lines of the tool itself: launchers add some of their own when a process fails.
std::vector<std::string> own_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (text.compare(begin, 9, "entrain: ") == 0) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}
#endif

/// The archive was written and nothing in it is violated. Archives of every record there is pair
/// too little to be clean.
bool corrects(const ChildOutcome& outcome) {
  return outcome.exit_code == 0 || outcome.exit_code == 3;
}

class Workers : public testing::TestWithParam<TestArchive> {
 protected:
  void SetUp() override { anchor_ = GetParam().make(scratch_ / "in"); }

  Arguments correct(const fs::path& output, const char* mode) const {
    return {"correct", anchor_.string(), "-o", output.string(), "--mode", mode, "--json"};
  }

  TempFolder scratch_;
  fs::path anchor_;
};

#ifdef ENTRAIN_MPIEXEC
TEST_P(Workers, any_number_of_processes_writes_the_same_archive) {
  for (const char* mode : {"rewrite", "overlay"}) {
    const fs::path alone = scratch_ / fmt::format("{}-alone", mode);
    const ChildOutcome expected = run_alone(correct(alone, mode));
    ASSERT_TRUE(corrects(expected)) << expected.summary();
    for (const unsigned count : {1u, 2u, 3u, 4u, 7u}) {
      const fs::path output = scratch_ / fmt::format("{}-{}", mode, count);
      const ChildOutcome outcome = run_processes(count, correct(output, mode));
      ASSERT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
      EXPECT_EQ(digest_tree(output), digest_tree(alone)) << count << " processes, " << mode;
      EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
    }
  }
}

#endif

TEST_P(Workers, any_number_of_threads_writes_the_same_archive) {
  const fs::path alone = scratch_ / "alone";
  Arguments arguments = correct(alone, "rewrite");
  arguments.insert(arguments.end(), {"--threads", "1"});
  const ChildOutcome expected = run_alone(arguments);
  ASSERT_TRUE(corrects(expected)) << expected.summary();
  for (const char* threads : {"2", "3", "8"}) {
    const fs::path output = scratch_ / threads;
    arguments = correct(output, "rewrite");
    arguments.insert(arguments.end(), {"--threads", threads});
    const ChildOutcome outcome = run_alone(arguments);
    ASSERT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
    EXPECT_EQ(digest_tree(output), digest_tree(alone)) << threads;
    EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Archives, Workers, testing::ValuesIn(test_archives()),
                         [](const auto& archive) { return archive.param.name; });

#ifdef ENTRAIN_MPIEXEC

/// Makes a trace of all kinds of operations with wrong clocks, by these options; returns its path.
std::string make_skewed(const TempFolder& scratch, const Arguments& synth,
                        const Arguments& distort) {
  const std::string truth = scratch / "truth", skewed = scratch / "skewed";
  fs::remove_all(truth);
  fs::remove_all(skewed);
  Arguments make{"synth", "-o", truth, "--pattern", "mixed"};
  make.insert(make.end(), synth.begin(), synth.end());
  EXPECT_EQ(run_alone(make).exit_code, 0);
  Arguments skew{"distort", truth, "-o", skewed};
  skew.insert(skew.end(), distort.begin(), distort.end());
  EXPECT_EQ(run_alone(skew).exit_code, 0);
  return skewed;
}

/// Half a thousand locations with collectives on sub-communicators and messages of every kind.
TEST(ManyLocations, any_number_of_processes_writes_the_same_archive) {
  TempFolder scratch;
  const std::string skewed =
      make_skewed(scratch, {"--locations", "512", "--events", "200000", "--seed", "3"},
                  {"--seed", "3", "--wander-ppm", "500", "--wander-period-s", "0.01"});
  const auto correct = [&](const fs::path& output) {
    return Arguments{"correct", skewed, "-o", output.string(), "--json"};
  };
  const fs::path alone = scratch / "alone";
  const ChildOutcome expected = run_alone(correct(alone));
  ASSERT_EQ(expected.exit_code, 0) << expected.summary();
  EXPECT_GT(nlohmann::json::parse(expected.out)["before"]["violations"], 0);
  for (const unsigned count : {2u, 3u, 4u, 7u}) {
    const fs::path output = scratch / std::to_string(count);
    const ChildOutcome outcome = run_processes(count, correct(output));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(digest_tree(output), digest_tree(alone)) << count;
    EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
  }
}

/// A domain that is parted among processes must not change what is proven.
TEST(ClockDomains, any_number_of_processes_proves_the_same_bounds) {
  TempFolder scratch;
  for (const char* sessions : {"5", "0"}) {
    const std::string skewed =
        make_skewed(scratch,
                    {"--locations", "8", "--events", "20000", "--locations-per-node", "4",
                     "--communication-share", "0.2"},
                    {"--per", "node", "--sessions", sessions});
    const Arguments check{"check", skewed, "--clock-domain", "node", "--bounds", "--json"};
    const ChildOutcome expected = run_alone(check);
    ASSERT_NE(nlohmann::json::parse(expected.out)["bounds"], nullptr) << expected.summary();
    for (const unsigned count : {2u, 3u}) {
      const ChildOutcome outcome = run_processes(count, check);
      EXPECT_EQ(comparable(outcome.out, skewed), comparable(expected.out, skewed)) << count;
    }
  }
}

/// Nodes that have a clock each are not parted, so the locations are shared out anew.
TEST(ClockDomains, any_number_of_processes_writes_the_same_archive) {
  TempFolder scratch;
  for (const char* per : {"node", "process"}) {  // the system tree is right, and wrong
    const std::string skewed = make_skewed(
        scratch,
        {"--locations", "20", "--events", "40000", "--locations-per-node", "5", "--seed", "8"},
        {"--seed", "3", "--per", per, "--wander-ppm", "200", "--wander-period-s", "0.02"});
    for (const char* mode : {"rewrite", "overlay"}) {
      const auto correct = [&](const fs::path& output) {
        return Arguments{"correct", skewed, "-o", output.string(), "--mode", mode, "--json"};
      };
      const fs::path alone = scratch / fmt::format("{}-{}-alone", per, mode);
      const ChildOutcome expected = run_alone(correct(alone));
      ASSERT_EQ(expected.exit_code, 0) << expected.summary();
      const auto report = nlohmann::json::parse(expected.out);
      EXPECT_EQ(report["timeline"]["clocks"], per == std::string("node") ? 4 : 20);
      EXPECT_GT(report["before"]["violations"], 0);
      for (const unsigned count : {1u, 3u, 6u}) {
        const fs::path output = scratch / fmt::format("{}-{}-{}", per, mode, count);
        const ChildOutcome outcome = run_processes(count, correct(output));
        ASSERT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
        EXPECT_EQ(digest_tree(output), digest_tree(alone)) << count << per << mode;
        EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
      }
    }
  }
}

/// Neighbours of a ring whose ranks jump to and fro: processes exchange what they read.
TEST(Placement, any_number_of_processes_writes_the_same_archive) {
  TempFolder scratch;
  constexpr std::uint64_t k_ranks = 12, k_rounds = 300;
  const auto rank_at = [](std::uint64_t place) { return place % k_ranks * 5 % k_ranks; };
  ArchiveBuilder archive(scratch / "in");
  for (std::uint64_t l = 0; l < k_ranks; ++l) {
    archive.location(l, archive.process("MPI Rank", archive.node("n" + std::to_string(l))));
  }
  std::vector<std::uint64_t> all;
  for (std::uint64_t l = 0; l < k_ranks; ++l) all.push_back(l);
  const auto world = archive.comm("MPI_COMM_WORLD", all);
  for (std::uint64_t k = 1; k <= k_rounds; ++k) {
    for (std::uint64_t place = 0; place < k_ranks; ++place) {
      const auto next = static_cast<std::uint32_t>(rank_at(place + 1));
      const auto before = static_cast<std::uint32_t>(rank_at(place + k_ranks - 1));
      auto events = archive.at(rank_at(place));
      // Every third message arrives before it is sent.
      const bool early = place % 3 == 0;
      if (early) events.recv(1'000 * k + 250, before, world, 0, 8);
      events.send(1'000 * k + 300, next, world, 0, 8);
      if (!early) events.recv(1'000 * k + 400, before, world, 0, 8);
    }
  }
  const std::string trace = archive.finish().string();
  const auto correct = [&](const fs::path& output) {
    return Arguments{"correct", trace, "-o", output.string(), "--json"};
  };
  const fs::path alone = scratch / "alone";
  const ChildOutcome expected = run_alone(correct(alone));
  ASSERT_TRUE(corrects(expected)) << expected.summary();
  for (const unsigned count : {2u, 3u, 4u}) {
    const fs::path output = scratch / std::to_string(count);
    const ChildOutcome outcome = run_processes(count, correct(output));
    ASSERT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
    EXPECT_EQ(digest_tree(output), digest_tree(alone)) << count;
    EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
  }
}

TEST(CausalFit, any_number_of_processes_makes_the_same_maps) {
  TempFolder scratch;
  const fs::path trace = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8";
  const auto correct = [&](const fs::path& output) {
    return Arguments{"correct", trace.string(), "-o",    output.string(),
                     "--json",  "--presync",    "causal"};
  };
  const fs::path alone = scratch / "alone";
  const ChildOutcome expected = run_alone(correct(alone));
  ASSERT_EQ(expected.exit_code, 0) << expected.summary();
  EXPECT_EQ(nlohmann::json::parse(expected.out)["timeline"]["presync"], "causal");
  for (const unsigned count : {2u, 3u, 9u}) {
    const fs::path output = scratch / std::to_string(count);
    const ChildOutcome outcome = run_processes(count, correct(output));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(digest_tree(output), digest_tree(alone)) << count;
    EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
  }
}

TEST(Bounds, any_number_of_processes_proves_the_same) {
  TempFolder scratch;
  const fs::path trace = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8";
  const auto correct = [&](const std::string& name) {
    return Arguments{"correct",
                     trace.string(),
                     "-o",
                     (scratch / name).string(),
                     "--json",
                     "--bounds-csv",
                     (scratch / (name + ".csv")).string()};
  };
  const ChildOutcome expected = run_alone(correct("alone"));
  ASSERT_EQ(expected.exit_code, 0) << expected.summary();
  EXPECT_GT(nlohmann::json::parse(expected.out)["bounds"]["windows"], 0);
  for (const unsigned count : {1u, 2u, 3u}) {
    const std::string name = std::to_string(count);
    const ChildOutcome outcome = run_processes(count, correct(name));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(comparable(outcome.out, scratch / name), comparable(expected.out, scratch / "alone"));
    EXPECT_EQ(read_bytes(scratch / (name + ".csv")), read_bytes(scratch / "alone.csv")) << count;
  }
  const ChildOutcome refused = run_processes(2, correct("2"));
  EXPECT_EQ(refused.exit_code, 2) << refused.summary();
  EXPECT_EQ(own_lines(refused.err).size(), 1u) << refused.err;
}

TEST(Page, any_number_of_processes_writes_the_same) {
  if (!page::can_write_pages()) GTEST_SKIP() << "this build has no page";
  TempFolder scratch;
  const std::string trace = (fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8").string();
  const auto report = [&](const std::string& name) {
    return Arguments{"report", trace, "-o", (scratch / name).string(), "--json"};
  };
  const ChildOutcome expected = run_alone(report("alone.html"));
  ASSERT_EQ(expected.exit_code, 1) << expected.summary();
  for (const unsigned count : {2u, 3u, 5u}) {
    const std::string name = std::to_string(count) + ".html";
    const ChildOutcome outcome = run_processes(count, report(name));
    EXPECT_EQ(own_lines(outcome.err).size(), 0u) << outcome.err;
    EXPECT_EQ(comparable(outcome.out, scratch.path()), comparable(expected.out, scratch.path()))
        << count;
    EXPECT_TRUE(read_bytes(scratch / name) == read_bytes(scratch / "alone.html")) << count;
  }
}

TEST(ClockSessions, any_number_of_processes_makes_the_same_maps) {
  TempFolder scratch;
  const fs::path trace =
      write_small_trace(scratch / "in", {.rounds = 20, .filler_pairs = 10, .sessions = 9});
  for (const char* method : {"auto", "regression", "spline"}) {
    const auto correct = [&](const fs::path& output) {
      return Arguments{"correct", trace.string(), "-o",  output.string(),
                       "--json",  "--presync",    method};
    };
    const fs::path alone = scratch / fmt::format("{}-alone", method);
    const ChildOutcome expected = run_alone(correct(alone));
    ASSERT_EQ(expected.exit_code, 0) << expected.summary();
    const auto before = nlohmann::json::parse(expected.out)["before"];
    EXPECT_NE(before["presync"], "linear");
    EXPECT_EQ(before["clocks"].size(), 4u);
    for (const unsigned count : {2u, 3u, 5u}) {
      const fs::path output = scratch / fmt::format("{}-{}", method, count);
      const ChildOutcome outcome = run_processes(count, correct(output));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
      EXPECT_EQ(digest_tree(output), digest_tree(alone)) << method << ", " << count;
      EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
    }
  }
}

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    copy_tree(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/lulesh-8", scratch_ / "in");
  }
  /// One sentence of the tool, exit code 2, nothing left behind.
  void expect_refused(const ChildOutcome& outcome, const std::string& sentence) {
    EXPECT_NE(outcome.exit_code, 0) << outcome.summary();
    EXPECT_FALSE(outcome.timed_out) << outcome.summary();
    const std::vector<std::string> lines = own_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1u) << outcome.err;
    EXPECT_NE(lines[0].find(sentence), std::string::npos) << lines[0];
    EXPECT_EQ(entries_of(scratch_.path()), (std::vector<std::string>{"in"}));
  }
  ChildOutcome correct(unsigned count) {
    return run_processes(
        count, {"correct", (scratch_ / "in").string(), "-o", (scratch_ / "out").string()});
  }

  TempFolder scratch_;
};

TEST_F(Failures, a_missing_archive) {
  expect_refused(run_processes(3, {"correct", (scratch_ / "none").string(), "-o",
                                   (scratch_ / "out").string()}),
                 "none");
}

TEST_F(Failures, damage_that_one_process_sees) {
  for (const char* victim : {"0.evt", "5.evt", "7.evt"}) {
    const fs::path file = scratch_ / "in/traces" / victim;
    const Bytes good = read_bytes(file);
    Bytes bad = good;
    std::fill_n(bad.begin() + 3000, 400, std::uint8_t{3});  // no record begins like this
    write_bytes(file, bad);
    expect_refused(correct(4), victim);
    write_bytes(file, good);
  }
}

TEST_F(Failures, a_file_that_one_process_may_not_read) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  fs::permissions(scratch_ / "in/traces/6.evt", fs::perms::none);
  expect_refused(correct(4), "6.evt");
}

TEST_F(Failures, an_existing_output_is_not_touched) {
  write_bytes(scratch_ / "out", {1, 2, 3});
  const ChildOutcome outcome = correct(3);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(own_lines(outcome.err).size(), 1u) << outcome.err;
  EXPECT_EQ(read_bytes(scratch_ / "out"), (Bytes{1, 2, 3}));
}

TEST_F(Failures, wrong_usage_is_told_once) {
  const ChildOutcome outcome = run_processes(3, {"correct", "--frobnicate"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(own_lines(outcome.err).size(), 1u) << outcome.err;
}

TEST_F(Failures, unmatched_and_truncated_traces_do_not_block) {
  fs::remove(scratch_ / "in/traces/2.evt");
  fs::resize_file(scratch_ / "in/traces/4.evt", fs::file_size(scratch_ / "in/traces/4.evt") / 3);
  const Arguments arguments{"correct", (scratch_ / "in").string(), "-o"};
  Arguments alone = arguments, shared = arguments;
  alone.push_back((scratch_ / "alone").string());
  shared.push_back((scratch_ / "shared").string());
  const ChildOutcome expected = run_alone(alone);
  const ChildOutcome outcome = run_processes(4, shared);
  EXPECT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
  EXPECT_EQ(digest_tree(scratch_ / "shared"), digest_tree(scratch_ / "alone"));
}

/// Processes of one run that are started with a command each.
ChildOutcome run_started(const std::vector<Arguments>& commands) {
  prepare_mpi();
  Arguments command{ENTRAIN_MPIEXEC};
  for (const Arguments& one : commands) {
    if (command.size() > 1) command.push_back(":");
    command.insert(command.end(), {"-n", "1"});
    command.insert(command.end(), one.begin(), one.end());
  }
  return run_program(command, {.timeout_s = k_timeout_s});
}

class Starts : public Failures {
 protected:
  /// Processes with these arguments end with code 2 and one sentence with these words.
  void expect_told(const std::vector<Arguments>& arguments, const std::string& words) {
    std::vector<Arguments> commands = arguments;
    for (Arguments& command : commands) command.insert(command.begin(), ENTRAIN_BINARY);
    expect_refused_start(commands, words);
  }
  void expect_refused_start(const std::vector<Arguments>& commands, const std::string& words) {
    const ChildOutcome outcome = run_started(commands);
    expect_refused(outcome, words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
    EXPECT_EQ(outcome.out, "");
  }

  const std::string in_ = scratch_ / "in", out_ = scratch_ / "out";
};

TEST_F(Starts, other_options) {
  const Arguments correct{"correct", in_, "-o", out_};
  Arguments other = correct;
  other.insert(other.end(), {"--mu", "1e-3"});
  expect_told({correct, other}, "process 1 has '--mu 1e-3' where process 0 has nothing");
  expect_told({other, correct}, "process 1 has nothing where process 0 has '--mu 1e-3'");
  Arguments third = correct;
  third.insert(third.end(), {"--mu", "2e-3"});
  expect_told({other, other, third}, "process 2 has '--mu 2e-3' where process 0 has '--mu 1e-3'");
}

TEST_F(Starts, other_verbs) {
  expect_told({{"correct", in_, "-o", out_}, {"check", in_}}, "process 1 has 'check");
  expect_told({{"check", in_}, {"info", in_}}, "process 1 has 'info' where process 0 has 'check'");
  expect_told({{"info", in_}, {"info", in_, "--json"}}, "process 1 has '--json'");  // done by one
  expect_told({{"info", in_}, {"check", in_}}, "process 1 has 'check' where process 0 has 'info'");
}

TEST_F(Starts, wrong_usage_of_one_process) {
  expect_told({{"check", in_}, {"check", in_, "--frobnicate"}}, "process 1 has '--frobnicate'");
  expect_told({{"check", "--frobnicate"}, {"check", in_}}, "process 1 has '" + in_);
  expect_told({{"check", in_}, {"chekc", in_}},
              "process 1 has 'chekc' where process 0 has 'check'");
  expect_told({{"check", in_}, {"check"}}, "process 1 has nothing where process 0 has '" + in_);
  expect_told({{"check", in_}, {}}, "process 1 has nothing");
  expect_told({{"check", in_}, {"check", "--help"}}, "process 1 has '--help'");
  expect_told({{"--help"}, {"check", in_}}, "where process 0 has '--help'");
}

TEST_F(Starts, other_inputs) {
  expect_told({{"check", in_}, {"check", in_, in_}}, "process 1 has '" + in_);
  expect_told({{"check", in_}, {"check", in_ + "/none"}}, "/none' where process 0 has '");
}

TEST_F(Starts, other_settings_and_folders) {
  expect_refused_start({{ENTRAIN_BINARY, "check", in_},
                        {"env", "-u", "ENTRAIN_PROCESSES", ENTRAIN_BINARY, "check", in_}},
                       "process 1 has nothing where process 0 has 'ENTRAIN_PROCESSES=all'");
  const std::string here = scratch_.path();
  expect_refused_start({{"env", "-C", here, ENTRAIN_BINARY, "check", "in"},
                        {"env", "-C", in_, ENTRAIN_BINARY, "check", "in"}},
                       "process 1 was started in ");
  const ChildOutcome outcome = run_started({{"env", "-C", here, ENTRAIN_BINARY, "check", in_},
                                            {"env", "-C", in_, ENTRAIN_BINARY, "check", in_}});
  EXPECT_EQ(own_lines(outcome.err).size(), 0u) << outcome.summary();  // absolute paths are the same
}

/// One path, under which the processes see different files.
TEST_F(Starts, one_process_misses_the_input_or_sees_another) {
  const std::string seen = "/proc/self/cwd/seen";
  fs::create_directory(scratch_ / "in/json");
  const Arguments places{scratch_ / "in", scratch_ / "in/traces", scratch_ / "in/json"};
  fs::create_directory_symlink("..", scratch_ / "in/traces/seen");  // the archive
  copy_tree(fs::path(ENTRAIN_EXAMPLES_DIR) / "services", scratch_ / "in/json/seen");
  for (const Arguments& verb : {Arguments{"check", seen}, Arguments{"correct", seen, "-o", out_}}) {
    for (std::size_t first = 0; first < places.size(); ++first) {
      for (std::size_t second = 0; second < places.size(); ++second) {
        if (first == second) continue;
        std::vector<Arguments> commands{{"env", "-C", places[first], ENTRAIN_BINARY},
                                        {"env", "-C", places[second], ENTRAIN_BINARY}};
        for (Arguments& command : commands) {
          command.insert(command.end(), verb.begin(), verb.end());
        }
        expect_refused_start(commands, "entrain: ");
      }
    }
  }
}

/// A process that dies takes the others with it; what is there under the final name is complete.
TEST_F(Failures, a_process_that_is_killed) {
  const fs::path alone = scratch_ / "alone", output = scratch_ / "out";
  ASSERT_TRUE(corrects(run_alone({"correct", (scratch_ / "in").string(), "-o", alone.string()})));
  for (const char* seconds : {"0", "0.15", "0.4"}) {
    for (const char* victim : {"0", "1", "2"}) {
      const std::string script = fmt::format(
          "test \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" != {} || (sleep {}; kill -9 $$) & "
          "exec \"$0\" \"$@\"",
          victim, seconds);
      prepare_mpi();
      const ChildOutcome outcome =
          run_program({ENTRAIN_MPIEXEC, "-n", "3", "sh", "-c", script, ENTRAIN_BINARY, "correct",
                       scratch_ / "in", "-o", output},
                      {.timeout_s = k_timeout_s});
      EXPECT_FALSE(outcome.timed_out) << outcome.summary();
      if (fs::exists(output)) {
        EXPECT_EQ(digest_tree(output), digest_tree(alone)) << outcome.summary();
        fs::remove_all(output);
      } else {
        EXPECT_NE(outcome.exit_code, 0) << outcome.summary();
      }
    }
  }
  ASSERT_TRUE(corrects(correct(3)));
  EXPECT_EQ(digest_tree(output), digest_tree(alone));
  std::vector<std::string> left = entries_of(scratch_.path());
  // What a killed run left stays as long as the system knows its process.
  std::erase_if(left, [](const std::string& name) { return name.starts_with(".out.partial-"); });
  EXPECT_EQ(left, (std::vector<std::string>{"alone", "in", "out"}));
}

/// Three processes of the tool, all of which the system keeps on one core.
ChildOutcome run_on_one_core(const Arguments& arguments) {
  prepare_mpi();
  Arguments command{"env", "-u", "ENTRAIN_PROCESSES", "taskset", "-c", "0", ENTRAIN_MPIEXEC,
                    "-n",  "3",  ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, {.timeout_s = k_timeout_s});
}

TEST(Resting, processes_without_a_core_leave_the_work_to_the_first) {
  TempFolder scratch;
  const fs::path trace = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8";
  const auto correct = [&](const fs::path& output) {
    return Arguments{"correct", trace.string(), "-o", output.string(), "--json"};
  };
  const ChildOutcome expected = run_alone(correct(scratch / "alone"));
  const ChildOutcome outcome = run_on_one_core(correct(scratch / "shared"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(own_lines(outcome.err),
            (std::vector<std::string>{
                "entrain: 2 of 3 processes rest, as their machines have no cores for them"}));
  EXPECT_EQ(digest_tree(scratch / "shared"), digest_tree(scratch / "alone"));
  EXPECT_EQ(comparable(outcome.out, scratch / "shared"),
            comparable(expected.out, scratch / "alone"));
}

TEST(Resting, processes_end_with_one_that_fails) {
  const ChildOutcome outcome = run_on_one_core({"correct", "nowhere", "-o", "nothing"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_FALSE(outcome.timed_out) << outcome.summary();
  // The launcher may interrupt the others before they hear of it.
  std::vector<std::string> lines = own_lines(outcome.err);
  std::erase(lines, "entrain: interrupted; nothing was written");
  EXPECT_EQ(lines.size(), 2u) << outcome.err;
}

TEST(OtherVerbs, are_done_by_one_process) {
  const std::string archive = (fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/lulesh-8").string();
  const ChildOutcome expected = run_alone({"info", archive, "--json"});
  const ChildOutcome outcome = run_processes(3, {"info", archive, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.out, expected.out);
}

TEST(OtherVerbs, an_unproven_check_ends_with_its_code_in_every_process) {
  const TempFolder scratch;
  ArchiveBuilder archive(scratch / "in");
  const auto node = archive.node("n0");
  for (std::uint64_t l = 0; l < 3; ++l) archive.location(l, archive.process("MPI Rank", node));
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1, 2});
  constexpr std::uint8_t k_alltoallv = 9;
  for (std::uint64_t l = 0; l < 3; ++l) {
    for (std::uint64_t k = 0; k < 200; ++k) {
      archive.at(l).collective_begin(100 * k).collective_end(100 * k + 50 + l, k_alltoallv, world,
                                                             0xFFFFFFFFu);
    }
  }
  const Arguments check{"check", archive.finish().string(), "--json"};
  const ChildOutcome expected = run_alone(check);
  EXPECT_EQ(expected.exit_code, 3) << expected.summary();
  for (const unsigned count : {2u, 3u}) {
    const ChildOutcome outcome = run_processes(count, check);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
    EXPECT_EQ(outcome.out, expected.out);
  }
}

TEST(OtherVerbs, check_is_done_by_all_and_told_by_one) {
  const std::string archive = (fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/amg-8").string();
  const ChildOutcome expected = run_alone({"check", archive, "--json"});
  for (const unsigned count : {2u, 5u}) {
    const ChildOutcome outcome = run_processes(count, {"check", archive, "--json"});
    EXPECT_NE(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(outcome.out, expected.out);
  }
}

#endif

}  // namespace
}  // namespace entrain::test
