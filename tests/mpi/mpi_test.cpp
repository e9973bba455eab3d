// SPDX-License-Identifier: BSD-3-Clause
// Several processes and several threads give the archive that one gives, byte by byte.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "mpi/run.hpp"
#include "page/html/html.hpp"
#include "support/archive_builder.hpp"
#include "support/files.hpp"
#include "support/mpi.hpp"
#include "support/process.hpp"
#include "support/repetitions.hpp"
#include "support/scanned_trace.hpp"
#include "support/small_trace.hpp"
#include "support/test_archives.hpp"
#include "trace/workers.hpp"

namespace entrain::test {
namespace {

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
    for (const unsigned count : repetitions({2u, 4u}, {1u, 3u, 7u})) {
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

/// Else tests of several threads would say nothing of teams (ENTRAIN_EVENTS_PER_MEMBER).
TEST(Members, of_an_example_are_as_many_as_its_threads) {
  const trace::Trace trace =
      scanned_trace(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/lulesh-8/traces.otf2");
  std::atomic<unsigned> members = 0;
  trace::Workers workers(3);
  EXPECT_TRUE(workers.run(trace, trace::undivided(trace.definitions),
                          [&](const trace::Share&, unsigned) -> Result<void> {
                            ++members;
                            return {};
                          }));
  EXPECT_EQ(members, 3U);
}

INSTANTIATE_TEST_SUITE_P(Archives, Workers, testing::ValuesIn(test_archives()),
                         [](const auto& archive) { return archive.param.name; });
INSTANTIATE_TEST_SUITE_P(Devices, Workers, testing::ValuesIn(accelerator_archives()),
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
  for (const unsigned count : repetitions({3u, 7u}, {2u, 4u})) {
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
      for (const unsigned count : repetitions({3u}, {1u, 6u})) {
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
  for (const unsigned count : repetitions({2u, 4u}, {3u})) {
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
  for (const unsigned count : repetitions({3u}, {2u, 9u})) {
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
  for (const unsigned count : repetitions({3u}, {1u, 2u})) {
    const std::string name = std::to_string(count);
    const ChildOutcome outcome = run_processes(count, correct(name));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
    EXPECT_EQ(comparable(outcome.out, scratch / name), comparable(expected.out, scratch / "alone"));
    EXPECT_EQ(read_bytes(scratch / (name + ".csv")), read_bytes(scratch / "alone.csv")) << count;
  }
  const ChildOutcome refused = run_processes(2, correct("alone"));  // which exists
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
  for (const unsigned count : repetitions({3u}, {2u, 5u})) {
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
    EXPECT_EQ(before["clock_quality"].size(), 4u);
    for (const unsigned count : repetitions({3u}, {2u, 5u})) {
      const fs::path output = scratch / fmt::format("{}-{}", method, count);
      const ChildOutcome outcome = run_processes(count, correct(output));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
      EXPECT_EQ(digest_tree(output), digest_tree(alone)) << method << ", " << count;
      EXPECT_EQ(comparable(outcome.out, output), comparable(expected.out, alone)) << count;
    }
  }
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
                "entrain: 2 of 3 processes rest, as one process works on one machine"}));
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

TEST(OtherVerbs, reports_have_no_colours_in_a_file) {
  // Open MPI gives processes a terminal, whatever its own output is.
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  const fs::path trace = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "lulesh-8";
  const ChildOutcome outcome = run_processes(2, {"check", trace.string()});
  ::unsetenv("TERM");
  EXPECT_NE(outcome.out.find("Violations: "), std::string::npos) << outcome.summary();
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.summary();
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
