// SPDX-License-Identifier: BSD-3-Clause
// Archives whose edges no clocks can meet: why, and that nothing else moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include <entrain/entrain.hpp>

#include "cli/tool.hpp"
#include "support/archive_builder.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"
#include "trace/event.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t k_us = 1000, k_ms = 1'000'000;
constexpr int k_rounds = 200;

/// Three ranks of which rank 0 exchanges messages with the others, in turn. The clock of rank 2 is
/// set after half of the run; each round takes 5 ms.
void write_stepped(const fs::path& folder, std::int64_t step) {
  ArchiveBuilder archive(folder);
  const auto node = archive.node("n0");
  for (std::uint64_t r = 0; r < 3; ++r) {
    archive.location(r, archive.process("MPI Rank " + std::to_string(r), node));
  }
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1, 2});
  const auto shown = [&](std::uint32_t rank, std::int64_t time) {
    return static_cast<std::uint64_t>(1'000 * k_ms + time +
                                      (rank == 2 && time > k_rounds * 5 * k_ms / 2 ? step : 0));
  };
  for (int n = 0; n < k_rounds; ++n) {
    const std::uint32_t other = 1 + static_cast<std::uint32_t>(n % 2);
    const std::int64_t t = n * 5 * k_ms;
    const std::int64_t way = 5 * k_us + n % 7 * 300;
    archive.at(0).send(shown(0, t), other, world, 7);
    archive.at(other).recv(shown(other, t + way), 0, world, 7);
    archive.at(other).send(shown(other, t + 20 * k_us), 0, world, 8);
    archive.at(0).recv(shown(0, t + 20 * k_us + way), other, world, 8);
  }
  archive.finish();
}

TEST(ExplainedArchives, a_clock_that_was_set_is_named_and_moves_no_other) {
  for (const std::int64_t step : {30 * k_ms, 3 * k_ms}) {
    const TempFolder scratch;
    write_stepped(scratch / "in", step);
    const auto report = correct(scratch / "in", scratch / "out", {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->after.violations, 0U);
    ASSERT_EQ(report->before.explanations.size(), 1U);
    const ClockExplanation& found = report->before.explanations[0];
    EXPECT_EQ(found.kind, ExplanationKind::step);
    EXPECT_THAT(found.clocks, ElementsAre("MPI Rank 2"));
    EXPECT_NEAR(static_cast<double>(*found.size_ticks), static_cast<double>(step), 20. * k_us);
    const auto before = library_times(scratch / "in/traces.otf2");
    const auto after = library_times(report->output);
    for (std::size_t l = 0; l < 3; ++l) {
      std::int64_t least = INT64_MAX, most = INT64_MIN;
      for (std::size_t e = 0; e < before[l].times.size(); ++e) {
        const auto stamp = static_cast<std::int64_t>(before[l].times[e]);
        const std::int64_t truth =
            l == 2 && stamp - 1'000 * k_ms > k_rounds * 5 * k_ms / 2 ? stamp - step : stamp;
        const std::int64_t off = static_cast<std::int64_t>(after[l].times[e]) - truth;
        least = std::min(least, off);
        most = std::max(most, off);
      }
      EXPECT_LT(most - least, 20 * k_us) << l;
    }
  }
}

/// Two machines of two ranks each; ranks 0 and 2 exchange messages, and all meet in one collective.
/// The clock of the second machine is set ahead after half of the run.
TEST(ExplainedArchives, a_clock_of_two_ranks_that_meet_in_a_collective_is_named) {
  constexpr std::int64_t k_step = 1'000 * k_ms;
  const TempFolder scratch;
  ArchiveBuilder archive(scratch / "in");
  const std::vector nodes{archive.node("n0"), archive.node("n1")};
  for (std::uint64_t r = 0; r < 4; ++r) {
    archive.location(r, archive.process("MPI Rank " + std::to_string(r), nodes[r / 2]));
  }
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1, 2, 3});
  const auto shown = [&](std::uint32_t rank, std::int64_t time) {
    return static_cast<std::uint64_t>(1'000 * k_ms + time +
                                      (rank >= 2 && time > k_rounds * 5 * k_ms / 2 ? k_step : 0));
  };
  for (int n = 0; n < k_rounds; ++n) {
    const std::int64_t t = n * 5 * k_ms, way = 5 * k_us + n % 7 * 300;
    archive.at(0).send(shown(0, t), 2, world, 7);
    archive.at(2).recv(shown(2, t + way), 0, world, 7);
    archive.at(2).send(shown(2, t + 20 * k_us), 0, world, 8);
    archive.at(0).recv(shown(0, t + 20 * k_us + way), 2, world, 8);
    for (std::uint32_t r = 0; r < 4 && n == 20; ++r) {
      archive.at(r).collective_begin(shown(r, t + 40 * k_us + r * k_us));
      archive.at(r).collective_end(shown(r, t + 60 * k_us), trace::op::allreduce, world,
                                   trace::k_root_none);
    }
  }
  archive.finish();
  const auto report = correct(scratch / "in", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  ASSERT_EQ(report->before.explanations.size(), 1U);
  EXPECT_NEAR(static_cast<double>(*report->before.explanations[0].size_ticks),
              static_cast<double>(k_step), 20. * k_us);
}

/// Two processes that talk both ways; the second one's clock is ahead by so much at each round.
template <class Ahead>
void write_talk(const fs::path& folder, Ahead ahead) {
  ArchiveBuilder archive(folder);
  for (std::uint64_t r = 0; r < 2; ++r) {
    const auto node = archive.node("n" + std::to_string(r));
    archive.location(r, archive.process("MPI Rank " + std::to_string(r), node));
  }
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1});
  for (int n = 0; n < k_rounds; ++n) {
    const std::int64_t t = 1'000 * k_ms + n * 5 * k_ms, u = t + ahead(n);
    archive.at(0).send(static_cast<std::uint64_t>(t), 1, world, 7);
    archive.at(1).recv(static_cast<std::uint64_t>(u + 5 * k_us), 0, world, 7);
    archive.at(1).send(static_cast<std::uint64_t>(u + 20 * k_us), 0, world, 8);
    archive.at(0).recv(static_cast<std::uint64_t>(t + 25 * k_us), 1, world, 8);
  }
  archive.finish();
}

TEST(ExplainedArchives, limits_that_no_clocks_keep_are_refused_with_the_least_that_is_possible) {
  const TempFolder scratch;
  write_talk(scratch / "in", [](int n) { return n * 5 * 500 * k_us / 1000; });
  const fs::path output = scratch / "out";
  const auto run = [&](const std::string& mean_ppm) {
    return run_tool({"correct", (scratch / "in").string(), "-o", output.string(), "--bounds",
                     "--max-mean-rate-ppm", mean_ppm, "--max-rate-ppm", "30"});
  };
  const ChildOutcome refused = run("20");
  EXPECT_EQ(refused.exit_code, 2) << refused.summary();
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("--max-mean-rate-ppm 20 is too small for"),
                                          HasSubstr("MPI Rank 1 at 1."),
                                          HasSubstr("need at least --max-mean-rate-ppm ")));
  const std::size_t at = refused.err.rfind("-ppm ");
  ASSERT_NE(at, std::string::npos);
  std::string least = refused.err.substr(at + 5);
  least.erase(least.find_last_not_of("\n.") + 1);
  EXPECT_NEAR(std::stod(least), 500, 20);  // no wander makes the mean rate smaller
  const ChildOutcome taken = run(least);
  EXPECT_NE(taken.exit_code, 2) << taken.summary();
}

/// The limit on wander is only assumed beside a given one on means: it is raised.
TEST(ExplainedArchives, a_limit_that_is_assumed_makes_no_given_one_be_refused) {
  const TempFolder scratch;
  // 300 ppm fast in the first half, and as slow in the second one.
  write_talk(scratch / "in",
             [](int n) { return std::min(n, k_rounds - n) * 5 * 300 * k_us / 1000; });
  const fs::path output = scratch / "out";
  const ChildOutcome taken = run_tool(
      {"correct", (scratch / "in").string(), "-o", output.string(), "--max-mean-rate-ppm", "20"});
  EXPECT_EQ(taken.exit_code, 0) << taken.summary();
  write_talk(scratch / "fast", [](int n) { return n * 5 * 500 * k_us / 1000; });
  const ChildOutcome refused = run_tool({"correct", (scratch / "fast").string(), "-o",
                                         output.string(), "--max-mean-rate-ppm", "20", "--force"});
  EXPECT_EQ(refused.exit_code, 2) << refused.summary();
  EXPECT_THAT(refused.err, HasSubstr("need at least --max-mean-rate-ppm "));
}

/// Four ranks that exchange messages in turn, 1 ms apart on average; `shown`: what the clock of
/// rank 2 shows at a time, as which the others show.
template <class Shown>
void write_turns(const fs::path& folder, Shown shown) {
  ArchiveBuilder archive(folder);
  for (std::uint64_t r = 0; r < 4; ++r) {
    const auto node = archive.node("n" + std::to_string(r));
    archive.location(r, archive.process("MPI Rank " + std::to_string(r), node));
  }
  const auto world = archive.comm("MPI_COMM_WORLD", {0, 1, 2, 3});
  const auto stamp = [&](std::uint32_t rank, std::int64_t time) {
    return static_cast<std::uint64_t>(rank == 2 ? shown(time) : time);
  };
  std::mt19937_64 random(1);  // NOLINT: the same times every time
  std::int64_t t = 1'000'000 * k_ms;
  for (std::uint32_t n = 0; n < 400; ++n) {
    const std::uint32_t from = n % 4, to = (from + 1 + n / 4 % 3) % 4;
    t += 20 * k_us + static_cast<std::int64_t>(random() % (2 * k_ms));
    archive.at(from).send(stamp(from, t), to, world, 7);
    archive.at(to).recv(stamp(to, t + 5 * k_us + n % 7 * 100), from, world, 7);
  }
  archive.finish();
}

/// Records behind a wrong stamp have it, too, as stamps do not fall. All clocks moved by 0.8 to 15
/// ms.
TEST(ExplainedArchives, a_wrong_stamp_moves_no_clock) {
  for (const std::int64_t by : {6 * k_ms, 15 * k_ms}) {
    const TempFolder scratch;
    const std::int64_t from = 1'000'200 * k_ms;
    write_turns(scratch / "in", [&](std::int64_t time) {
      return time > from && time < from + by ? from + by : time;
    });
    const auto report = correct(scratch / "in", scratch / "out", {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->after.violations, 0U);
    EXPECT_EQ(report->judgement->verdict, Verdict::unproven);
    ASSERT_FALSE(report->before.explanations.empty());
    EXPECT_THAT(report->before.explanations[0].text, HasSubstr("contradict the others"));
    const auto before = library_times(scratch / "in/traces.otf2");
    const auto after = library_times(report->output);
    for (const std::size_t l : {0U, 1U, 3U}) {
      for (std::size_t e = 0; e < before[l].times.size(); ++e) {
        const auto stamp = static_cast<std::int64_t>(before[l].times[e]);
        EXPECT_LT(std::abs(static_cast<std::int64_t>(after[l].times[e]) - stamp), k_us) << l;
      }
    }
  }
}

/// Pairs that were guessed in a window without records contradicted each other, and took 293 right
/// edges along.
TEST(ExplainedArchives, wrong_guesses_take_no_right_edges_along) {
  for (const char* seed : {"19", "51"}) {
    const TempFolder scratch;
    const std::string lossy = (scratch / "lossy").string();
    const ChildOutcome dropped = run_tool(
        {"drop", example("allops-4.truth"), "-o", lossy, "--windows", "10%", "--seed", seed});
    ASSERT_EQ(dropped.exit_code, 0) << dropped.summary();
    const auto report = check(lossy, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->violations, 0U);
    EXPECT_LE(count_of(report->skipped, "dropped_edges"), 0U) << seed;
  }
}

}  // namespace
}  // namespace entrain::test
