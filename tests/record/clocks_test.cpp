// SPDX-License-Identifier: BSD-3-Clause
// Clock sessions, on virtual nodes whose clocks go wrong in a known way.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <gmock/gmock.h>

#include "record/clock_records.hpp"
#include "record/recorded.hpp"
#include "record/samples.hpp"
#include "support/clock_truth.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

class Clocks : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  /// `count` processes on as many virtual nodes.
  void run(int count, std::map<std::string, std::string> variables,
           const std::vector<std::string>& program_arguments) {
    variables.try_emplace("ENTRAIN_VIRTUAL_NODES", std::to_string(count));
    // The launcher of Open MPI hands these on to local processes by itself, MPICH's too.
    const WithVariables with(variables);
    outcome_ =
        record(mpi_, count, trace(), std::vector<std::string>{program("ring")} + program_arguments,
               {"--sync-max-messages", "40", "--sync-fanout", "2"});
    ASSERT_EQ(outcome_.exit_code, 3) << outcome_.summary() << outcome_.err;
  }

  /// The archive is sound, and no receive is earlier than its send by more than the records admit:
  /// on a busy machine round trips are long, and so are the intervals.
  void expect_aligned() {
    printed_ = print_archive(anchor_of(trace()), true);
    EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
    // By itself it would bend clocks if, on a busy machine, the session in the middle is off.
    check_ = json_of(run_tool({"check", trace().string(), "--presync", "linear", "--json"}));
    double widest = 0;
    for (const Record& record : records_in(trace())) widest = std::max(widest, record.half_width);
    EXPECT_GT(widest, 0);
    for (const auto& [kind, edges] : check_["edges"].items()) {
      if (edges["worst_s"].is_null()) continue;
      EXPECT_GE(edges["worst_s"].get<double>(), -2e-9 * widest) << kind;
    }
  }

  ChildOutcome outcome_;
};

TEST_P(Clocks, sessions_align_virtual_nodes) {
  // Offsets are longer than a busy machine delays messages: without the records they are violated.
  run(7, {{"ENTRAIN_VIRTUAL_OFFSET", "0.5"}}, {"50", "sync"});
  if (HasFatalFailure()) return;
  EXPECT_EQ(run_tool({"check", trace().string(), "--presync", "none"}).exit_code, 1);
  expect_aligned();
  const ChildOutcome truth = run_tool({"check", (trace().string() + ".truth"), "--json"});
  EXPECT_EQ(truth.exit_code, 0) << truth.out << truth.err;
  EXPECT_EQ(json_of(truth)["presync"], "none");

  // Three sessions of 40 exchanges with everybody but rank 0, in a tree with fanout 2.
  const auto samples = samples_in(trace());
  ASSERT_EQ(samples.size(), 3u * 40u * 6u);
  std::map<std::uint64_t, int> kept;
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.parent, (sample.rank - 1) / 2);
    kept[sample.session] += static_cast<int>(sample.kept);
  }
  EXPECT_EQ(kept, (std::map<std::uint64_t, int>{{0, 216}, {1, 216}, {2, 216}}));
}

TEST_P(Clocks, bounds_of_the_offsets_hold) {
  run(4, {{"ENTRAIN_VIRTUAL_DRIFT_PPM", "200"}, {"ENTRAIN_VIRTUAL_SEED", "3"}}, {"40", "pause"});
  if (HasFatalFailure()) return;
  expect_aligned();
  EXPECT_EQ(records_in(trace()).size(), 8u);
  expect_bounds_to_hold(trace());
}

/// False if the machine was too busy for sessions that can follow a wander of `amplitude_ns` with
/// this period: there must be six, five in a period, and none much less certain than the wander.
bool can_follow(const std::vector<Record>& records, double amplitude_ns, double period_s) {
  std::vector<std::uint64_t> times;
  for (const Record& record : records) {
    if (record.half_width > amplitude_ns / 3) return false;
    if (record.location == 0) times.push_back(record.time);
  }
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (static_cast<double>(times[k] - times[k - 1]) > period_s / 5 * 1e9) return false;
  }
  return times.size() >= 6;
}

TEST_P(Clocks, spline_follows_the_wander_and_bounds_hold) {
  constexpr double k_wander_period_s = 10;
  // Waiting processes of MPICH keep their core: with more of them than cores, few exchanges work.
  const int count = GetParam() == "openmpi" ? 4 : 2;
  const WithVariables with(std::map<std::string, std::string>{
      {"ENTRAIN_VIRTUAL_NODES", std::to_string(count)},
      {"ENTRAIN_VIRTUAL_WANDER_PPM", "30"},
      {"ENTRAIN_VIRTUAL_WANDER_PERIOD", std::to_string(k_wander_period_s)}});
  outcome_ = record(mpi_, count, trace(), {program("beat"), "6", "0.5", "5"},
                    {"--sync-max-messages", "30"});
  ASSERT_EQ(outcome_.exit_code, 0) << outcome_.summary() << outcome_.err;
  const double amplitude_ns = 30e-6 * k_wander_period_s * 1e9 / (2 * std::numbers::pi);
  if (!can_follow(records_in(trace()), amplitude_ns, k_wander_period_s)) {
    GTEST_SKIP() << "the machine is too busy for sessions that follow the wander";
  }
  const auto errors = [&](Presync presync, Condensing rule, bool ends_only = false) {
    const auto result =
        clock_errors(trace(), trace().string() + ".truth", {presync, rule, ends_only});
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(ClockErrors{});
  };
  const ClockErrors two = errors(Presync::linear, Condensing::shortest, true);
  EXPECT_GT(two.events, 100u);
  EXPECT_FALSE(two.bound_us) << "two sessions know of no wander";
  const ClockErrors spline = errors(Presync::spline, Condensing::shortest);
  EXPECT_LE(spline.rms_us * 2, two.rms_us);
  const ClockErrors automatic = errors(Presync::automatic, Condensing::shortest);
  EXPECT_LE(automatic.rms_us * 2, two.rms_us);
  for (const Presync presync : {Presync::linear, Presync::regression, Presync::spline}) {
    for (const Condensing rule : {Condensing::shortest, Condensing::mean, Condensing::weighted}) {
      const ClockErrors bounded = errors(presync, rule);
      EXPECT_TRUE(bounded.bound_us);
      EXPECT_EQ(bounded.beyond, 0u) << bounded.method << ", " << static_cast<int>(rule);
    }
  }
  const ChildOutcome corrected =
      run_tool({"correct", trace().string(), "-o", (scratch_ / "corrected").string(), "--json"});
  EXPECT_EQ(corrected.exit_code, 0) << corrected.summary();
  EXPECT_EQ(json_of(corrected)["before"]["presync"], automatic.method);
  EXPECT_EQ(json_of(corrected)["after"]["violations"], 0);
  // What was corrected is left alone.
  const ChildOutcome again = run_tool({"correct", (scratch_ / "corrected").string(), "-o",
                                       (scratch_ / "again").string(), "--json"});
  EXPECT_EQ(json_of(again)["before"]["presync"], "linear");
  EXPECT_EQ(json_of(again)["moved_events"], 0);
  expect_refusal(run_tool({"check", (scratch_ / "corrected").string(), "--presync", "spline"}),
                 "was corrected already");
}

TEST_P(Clocks, processes_of_a_node_share_its_clock) {
  run(6, {{"ENTRAIN_VIRTUAL_NODES", "2"}}, {"30"});
  if (HasFatalFailure()) return;
  expect_aligned();
  // Ranks 0 to 2 are on the first node, 3 to 5 on the second: one of them measures.
  for (const Sample& sample : samples_in(trace())) {
    EXPECT_EQ(sample.rank, 3u);
    EXPECT_EQ(sample.parent, 0u);
  }
  EXPECT_EQ(samples_in(trace()).size(), 2u * 40u);
}

TEST_P(Clocks, every_process_measures_on_request) {
  run(6, {{"ENTRAIN_VIRTUAL_NODES", "2"}, {"ENTRAIN_SYNCED_HOST", "no"}}, {"30"});
  if (HasFatalFailure()) return;
  expect_aligned();
  std::map<std::uint64_t, std::uint64_t> parents;
  for (const Sample& sample : samples_in(trace())) parents[sample.rank] = sample.parent;
  EXPECT_EQ(parents,
            (std::map<std::uint64_t, std::uint64_t>{{1, 0}, {2, 0}, {3, 0}, {4, 3}, {5, 3}}));
}

TEST_P(Clocks, the_shortest_round_trips_give_a_mu) {
  run(4, {}, {"50", "sync"});
  if (HasFatalFailure()) return;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (const Sample& sample : samples_in(trace())) {
    shortest = std::min(shortest, static_cast<std::int64_t>(sample.round_trip));
  }
  const Json check = json_of(run_tool({"check", trace().string(), "--mu", "delays", "--json"}));
  EXPECT_THAT(check["mu_source"].get<std::string>(), StartsWith("clock_delays.csv (estimate)"));
  EXPECT_EQ(check["mu_s"]["same_process"], 0);
  EXPECT_EQ(check["mu_s"]["same_node"], 0);
  const std::int64_t mu = shortest / 4;
  EXPECT_NEAR(check["mu_s"]["other"].get<double>(), static_cast<double>(mu) * 1e-9, 1e-12);
  // What was corrected with it keeps it. Unasked, no mu is taken from measurements.
  const std::string corrected = (scratch_ / "corrected").string();
  ASSERT_EQ(run_tool({"correct", trace().string(), "-o", corrected, "--mu", "delays"}).exit_code,
            0);
  const Json again = json_of(run_tool({"check", corrected, "--json"}));
  EXPECT_EQ(again["mu_source"], mu == 0 ? "none" : "archive");
  EXPECT_EQ(again["mu_s"], check["mu_s"]);
  EXPECT_EQ(json_of(run_tool({"check", trace().string(), "--json"}))["mu_source"], "none");
  expect_refusal(run_tool({"check", corrected, "--mu", "delays"}),
                 "clock_delays.csv cannot be read");
  std::ofstream(trace() / "clock_delays.csv") << "nothing\n";
  expect_refusal(run_tool({"check", trace().string(), "--mu", "delays"}), "line 1: these are not");
}

TEST_P(Clocks, seconds_between_clocks_are_told) {
  run(2, {{"ENTRAIN_VIRTUAL_OFFSET", "50"}}, {"30"});
  if (HasFatalFailure()) return;
  const double offset_s =
      static_cast<double>(clock_of(trace().string() + ".truth", 1).offset_ns) * 1e-9;
  ASSERT_GT(std::fabs(offset_s), 1.5) << "another seed, please";
  const Json measured = json_of(run_tool({"check", trace().string(), "--json"}));
  ASSERT_EQ(measured["warnings"].size(), 1u) << measured["warnings"];
  EXPECT_THAT(
      measured["warnings"][0].get<std::string>(),
      HasSubstr(offset_s > 0 ? "the clock of MPI Rank 1 is" : "the clock of MPI Rank 0 is"));
  const Json stored = json_of(run_tool({"check", trace().string(), "--presync", "none", "--json"}));
  ASSERT_EQ(stored["warnings"].size(), 1u) << stored["warnings"];
  EXPECT_THAT(stored["warnings"][0].get<std::string>(), HasSubstr("nothing measured the clocks"));
  EXPECT_THAT(run_tool({"check", trace().string()}).out, HasSubstr("warning"));
  EXPECT_EQ(json_of(run_tool({"check", trace().string() + ".truth", "--json"}))["warnings"].size(),
            0u);
}

TEST_P(Clocks, one_machine_needs_no_offsets) {
  const ChildOutcome outcome = record(mpi_, 3, trace(), {program("ring"), "30", "sync"});
  ASSERT_EQ(outcome.exit_code, 3) << outcome.summary();
  expect_sound(trace());
  EXPECT_EQ(check_["presync"], "none");
  EXPECT_FALSE(fs::exists(trace() / "clock_samples.csv"));
}

TEST_P(Clocks, a_repair_covers_the_archive_with_true_times) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "3"}};
  const WithVariables with(variables);
  for (const char* how : {"exit", "kill"}) {
    const fs::path folder = scratch_ / how, truth = folder.string() + ".truth";
    EXPECT_NE(record(mpi_, 3, folder, {program("ring"), "300", how}).exit_code, 0);
    const ChildOutcome repaired = repair(folder);
    ASSERT_EQ(repaired.exit_code, 0) << repaired.summary() << repaired.err;
    EXPECT_THAT(repaired.out, HasSubstr(truth.string() + "/traces.otf2"));
    EXPECT_FALSE(fs::exists(folder / "unfinished"));
    EXPECT_FALSE(fs::exists(truth / "unfinished"));
    EXPECT_EQ(samples_in(folder).size(), 2u * 100u);
    EXPECT_NE(clock_of(truth, 2).offset_ns, 0);
    // The first session alone has no effect on readers: only the true times are in order.
    EXPECT_EQ(print_archive(anchor_of(folder), true).exit_code, 0);
    EXPECT_EQ(run_tool({"check", folder.string(), "--presync", "none"}).exit_code, 1);
    expect_sound(truth);
    for (const char* rank : {"0", "1", "2"}) {
      EXPECT_EQ(calls_of(printed_, rank)["MPI_Sendrecv"], 300);
    }
  }
}

TEST_P(Clocks, an_archive_with_true_times_is_kept) {
  fs::create_directories(trace().string() + ".truth");
  write_bytes(anchor_of(trace().string() + ".truth"), {});
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "2"}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "5"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_THAT(outcome.err, HasSubstr("trace.truth holds an archive already"));
  EXPECT_FALSE(fs::exists(trace() / "unfinished"));
}

TEST_P(Clocks, a_bad_variable_is_told) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_SYNC_FANOUT", "many"}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "30"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_THAT(outcome.err, HasSubstr("ENTRAIN_SYNC_FANOUT is 'many', but must be a whole number"));
  expect_sound(trace());
}

INSTANTIATE_TEST_SUITE_P(Mpi, Clocks, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
