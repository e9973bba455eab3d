// SPDX-License-Identifier: BSD-3-Clause
// Bounds of recorded traces, whose clocks are made wrong, hold for the truth of every event.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/team.hpp"
#include "bounds/bounds_testing.hpp"
#include "bounds/proofs.hpp"
#include "bounds/prove.hpp"
#include "formats/otf2/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

namespace fs = std::filesystem;
using otf2::testing::load_example;
using testing::distorted;
using testing::outside;
using testing::processes_of;
using testing::Proof;
using testing::prove;
using testing::worst_of;

/// Looks at every communication event of every location.
testing::Contained compare(const trace::Trace& skewed, const trace::Trace& truth,
                           std::span<const ClockMap> maps, const ClockBounds& bounds) {
  std::vector<testing::KnownEvents> known(skewed.locations.size());
  for (LocationIndex l = 0; l < known.size(); ++l) {
    known[l].location = skewed.definitions.locations[l].id;
    for (std::size_t e = 0; e < skewed.locations[l].events.size(); ++e) {
      known[l].stamps.push_back(skewed.locations[l].events[e].time);
      known[l].truth.push_back(truth.locations[l].events[e].time);
    }
  }
  const testing::Contained found = testing::hold_against_truth(known, maps, bounds);
  EXPECT_TRUE(found.in_windows);
  return found;
}

class Recorded : public ::testing::TestWithParam<const char*> {};

TEST_P(Recorded, bounds_contain_the_truth_of_every_event) {
  const trace::LoadedTrace skewed = load_example(GetParam());
  const trace::LoadedTrace truth = load_example(std::string(GetParam()) + ".truth");
  for (const Presync method : {Presync::none, Presync::linear, Presync::causal}) {
    const Proof proof = prove(skewed, method);
    EXPECT_EQ(proof.bounds.reason, "");
    EXPECT_EQ(proof.bounds.max_rate_source, LimitOrigin::trace);
    EXPECT_GE(proof.bounds.max_rate_ppm, proof.bounds.least_rate_ppm);
    const testing::Contained found =
        compare(skewed.trace, truth.trace, proof.presync.maps, proof.bounds);
    EXPECT_GT(found.events, truth.trace.locations[0].events.size());
    EXPECT_LE(found.worst_excess, 0) << name_of(proof.presync.method);
    EXPECT_LE(found.worst_error, static_cast<double>(worst_of(proof.bounds)));
  }
}

TEST_P(Recorded, bounds_contain_the_truth_of_any_distortion) {
  const trace::LoadedTrace truth = load_example(std::string(GetParam()) + ".truth");
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    DistortOptions options;
    options.seed = seed;
    options.offset_s = seed % 4 == 0 ? 10 : 5e-3;
    options.drift_ppm = seed % 2 == 0 ? 100 : 1;
    options.wander_ppm = seed % 3 == 0 ? 0 : 20;
    options.wander_period_s = seed > 4 ? 0.05 : 0;
    const trace::LoadedTrace skewed = distorted(truth, options, seed % 4 > 1);
    const Proof proof = prove(skewed, Presync::automatic);
    EXPECT_EQ(proof.bounds.sessions > 0, seed % 4 > 1);
    const testing::Contained found =
        compare(skewed.trace, truth.trace, proof.presync.maps, proof.bounds);
    EXPECT_LE(found.worst_excess, 0) << "seed " << seed;
    if (seed % 4 > 1) {
      EXPECT_LT(worst_of(proof.bounds), 100'000) << "seed " << seed;
    }
  }
}

TEST_P(Recorded, bounds_hold_for_clocks_that_were_measured_once) {
  const trace::LoadedTrace truth = load_example(std::string(GetParam()) + ".truth");
  for (const double drift_ppm : {20.0, 2'000.0}) {
    DistortOptions options;
    options.drift_ppm = drift_ppm;
    trace::LoadedTrace skewed = distorted(truth, options, true);
    std::uint64_t measured = 0;
    for (auto& location : skewed.trace.locations) {
      if (location.clock_offsets.empty()) continue;
      location.clock_offsets.resize(1);
      ++measured;
    }
    const Proof proof = prove(skewed, Presync::automatic);
    EXPECT_EQ(proof.bounds.reason, "");
    EXPECT_EQ(proof.bounds.measured_once, measured - 1) << "all but the master";
    const testing::Contained found =
        compare(skewed.trace, truth.trace, proof.presync.maps, proof.bounds);
    EXPECT_LE(found.worst_excess, 0) << drift_ppm;
    if (drift_ppm < 200) {
      EXPECT_EQ(proof.bounds.mean_rate_ppm, 200);
    }
  }
}

TEST_P(Recorded, corrected_times_are_judged_too) {
  const trace::LoadedTrace skewed = load_example(GetParam());
  const trace::LoadedTrace truth = load_example(std::string(GetParam()) + ".truth");
  CorrectOptions options;
  options.check.bounds.wanted = true;
  options.check.bounds.rows = true;
  const fs::path anchor = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / GetParam();
  const fs::path output = fs::path(::testing::TempDir()) / (std::string("bounds-") + GetParam());
  fs::remove_all(output);
  const auto report = correct(anchor, output, options);
  fs::remove_all(output);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->bounds);
  ASSERT_TRUE(report->before.bounds);
  EXPECT_FALSE(report->after.bounds);
  const auto maps = clock_maps(anchor, options);
  ASSERT_TRUE(maps);
  EXPECT_LE(compare(skewed.trace, truth.trace, maps->maps, *report->bounds).worst_excess, 0);
}

TEST_P(Recorded, what_leaves_the_intervals_is_moved_inside) {
  const trace::LoadedTrace skewed = load_example(GetParam());
  const trace::LoadedTrace truth = load_example(std::string(GetParam()) + ".truth");
  const Proof proof = prove(skewed, Presync::linear);
  Solo solo;
  const constraints::Context context{.share = skewed.share(solo), .graph = proof.graph};
  const auto project = [&](std::vector<ClockMap>& maps) {
    const auto held = project_inside(context, processes_of(skewed), proof.proven, maps);
    EXPECT_TRUE(held);
    return held->moved;
  };
  std::vector<ClockMap> maps = proof.presync.maps;
  EXPECT_GE(project(maps), outside(proof.bounds));
  EXPECT_GT(outside(proof.bounds), 0);
  const ClockBounds held = judge(skewed.share(solo), proof.proven, maps, true);
  EXPECT_EQ(outside(held), 0);
  const testing::Contained found = compare(skewed.trace, truth.trace, maps, held);
  EXPECT_LE(found.worst_excess, 0);
  EXPECT_FALSE(causal::any_violation(context, maps));
  EXPECT_EQ(project(maps), 0);
}

INSTANTIATE_TEST_SUITE_P(Traces, Recorded, ::testing::Values("lulesh-8", "amg-8", "allops-4"));

}  // namespace
}  // namespace entrain::bounds
