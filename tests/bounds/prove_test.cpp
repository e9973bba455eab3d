// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <entrain/entrain.hpp>

#include "base/random.hpp"
#include "base/team.hpp"
#include "bounds/bounds_testing.hpp"
#include "bounds/proofs.hpp"
#include "causal/bend.hpp"
#include "causal/clock_domains.hpp"
#include "formats/otf2/testing.hpp"
#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using otf2::testing::load_example;
using testing::distorted;
using ::testing::HasSubstr;
using testing::outside;
using testing::processes_of;
using testing::Proof;
using testing::prove;
using testing::worst_of;
using trace::testing::loaded_of;

/// Rows and locations as comparable values.
std::vector<std::vector<std::int64_t>> figures(const ClockBounds& bounds) {
  std::vector<std::vector<std::int64_t>> all;
  for (const LocationBounds& of : bounds.locations) {
    all.push_back({static_cast<std::int64_t>(of.location), of.worst_ticks, of.worst_time_ticks,
                   of.median_ticks, of.outside_ticks, static_cast<std::int64_t>(of.unbounded)});
  }
  for (const BoundsRow& row : bounds.rows) {
    all.push_back({static_cast<std::int64_t>(row.location),
                   static_cast<std::int64_t>(row.local_ticks), row.time_ticks, row.bounded ? 1 : 0,
                   row.earliest_ticks, row.latest_ticks, row.bound_ticks});
  }
  return all;
}

/// Messages one way, at the given times of the receiver's clock; both clocks were measured once.
trace::LoadedTrace one_way(std::int64_t late_by) {
  trace::testing::TraceBuilder b(2);
  for (std::uint64_t t = 0; t <= 1'000'000'000; t += 10'000'000) {
    b.message(trace::EventKind::send, 0, 1'000'000 + t, 1);
    const auto drifted =
        static_cast<std::int64_t>(t) + late_by * static_cast<std::int64_t>(t / 10'000'000);
    b.message(trace::EventKind::recv, 1, static_cast<std::uint64_t>(1'500'000 + drifted), 0);
  }
  b.trace().locations[0].clock_offsets = {{1'000'000, 0, 0}};
  b.trace().locations[1].clock_offsets = {{1'000'000, 0, 700}};
  trace::LoadedTrace loaded;
  loaded.trace = b.trace();
  loaded.partition = trace::undivided(loaded.trace.definitions);
  return loaded;
}

TEST(ProveIntervals, a_single_session_bounds_a_clock_by_its_distance) {
  const ClockBounds bounds = prove(one_way(0), Presync::automatic).bounds;
  EXPECT_EQ(bounds.measured_once, 1u);
  ASSERT_EQ(bounds.mean_rate_ppm, 200);
  // 200 ppm for the mean rate and 50 ppm around it, over a second of a nanosecond each.
  EXPECT_GT(worst_of(bounds), 250'000);
  EXPECT_LT(worst_of(bounds), 275'000);
}

/// Records may say anything.
TEST(ProveIntervals, records_of_a_clock_that_is_half_as_fast_again_give_no_bounds_but_a_reason) {
  for (const std::int64_t gained : {500'000'000, 2'000'000'000, -600'000'000}) {
    trace::LoadedTrace loaded = one_way(0);
    loaded.trace.locations[1].clock_offsets = {{1'500'000, 700, 700}, {1'001'500'000, gained, 700}};
    const ClockBounds bounds = prove(loaded, Presync::linear).bounds;
    EXPECT_THAT(bounds.reason,
                ::testing::HasSubstr("a clock is fast or slow by more than a tenth"));
  }
}

TEST(ProveIntervals, a_rate_that_no_clock_has_is_not_assumed_away) {
  // The receiver gets ever earlier, by 1,000 ppm.
  BoundsOption option;
  option.max_rate_ppm = 50;
  const ClockBounds bounds = prove(one_way(-10'000), Presync::automatic, option).bounds;
  EXPECT_EQ(bounds.reason, "");
  EXPECT_EQ(bounds.measured_once, 1u);
  EXPECT_EQ(bounds.mean_rate_source, LimitOrigin::trace);
  // The session fixes the clock to 700 ns at first, and the last message is received 500 us before
  // it was sent, a second later.
  ASSERT_TRUE(bounds.least_mean_rate_ppm);
  EXPECT_NEAR(*bounds.least_mean_rate_ppm, 500, 1);
  EXPECT_EQ(bounds.mean_rate_ppm, 2 * *bounds.least_mean_rate_ppm);
}

/// Two equal clocks that exchange messages of 10 us for a millisecond, and have an event each a
/// second before.
trace::LoadedTrace late_messages() {
  trace::testing::TraceBuilder b(2);
  using K = trace::EventKind;
  for (const LocationIndex l : {0u, 1u}) {
    b.message(K::send, l, 1'000'000, 1 - l);  // nobody receives it
  }
  for (std::uint64_t t = 1'000'000'000; t < 1'001'000'000; t += 100'000) {
    b.message(K::send, 0, t, 1, 7);
    b.message(K::recv, 1, t + 10'000, 0, 7);
    b.message(K::send, 1, t + 50'000, 0, 7);
    b.message(K::recv, 0, t + 60'000, 1, 7);
  }
  return loaded_of(b);
}

Proof prove_with(const trace::LoadedTrace& loaded, const ClockPriorOption& option,
                 const BoundsOption& bounds = {}) {
  Solo solo;
  Proof proof;
  proof.presync = clocks::presynchronise(loaded.trace, Presync::linear).value();
  proof.graph = match::build_graph(loaded.trace, {});
  const constraints::Context context{.share = loaded.share(solo),
                                     .graph = proof.graph,
                                     .prior = clocks::rate_prior(loaded.share(solo), option)};
  proof.proven = prove_intervals(context, processes_of(loaded), proof.presync, bounds).value();
  proof.bounds = judge(loaded.share(solo), proof.proven, proof.presync.maps, true);
  return proof;
}

TEST(ProveIntervals, the_kind_of_clocks_limits_their_mean_rates) {
  const trace::LoadedTrace loaded = late_messages();
  const auto bound = [&](const ClockPriorOption& option, LimitOrigin source) {
    const ClockBounds bounds = prove_with(loaded, option).bounds;
    EXPECT_EQ(bounds.mean_rate_source, source);
    return worst_of(bounds);
  };
  // A second before the messages: the limit, and 50 ppm around it; 10 us where messages are.
  EXPECT_NEAR(static_cast<double>(bound({}, LimitOrigin::kind)), 260'000, 10'000);
  EXPECT_NEAR(static_cast<double>(
                  bound({.kind = ClockKind::wall, .max_mean_rate_ppm = {}}, LimitOrigin::kind)),
              560'000, 10'000);
  // A given one also bounds what errors change by over the run of two seconds.
  EXPECT_NEAR(static_cast<double>(bound({.max_mean_rate_ppm = 20}, LimitOrigin::given)), 55'000,
              5'000);
  EXPECT_GT(bound({.max_mean_rate_ppm = {}, .any_mean_rate = true}, LimitOrigin::off), 1'000'000);
}

TEST(ProveIntervals, mean_rates_that_no_clock_has_are_told_though_wander_would_allow_them) {
  // Clock 1 is fast by 1,000 ppm: bounds of 100 ppm about its line contain only such rates.
  trace::testing::TraceBuilder b(2);
  using K = trace::EventKind;
  const auto fast = [](std::uint64_t t) { return t + t / 1'000; };
  for (std::uint64_t t = 1'000'000; t < 2'000'000; t += 10'000) {
    b.message(K::send, 0, t, 1);
    b.message(K::recv, 1, fast(t + 10), 0);
    b.message(K::send, 1, fast(t + 500), 0);
    b.message(K::recv, 0, t + 510, 1);
  }
  const ClockBounds bounds = prove_with(loaded_of(b), {}).bounds;
  EXPECT_EQ(bounds.mean_rate_source, LimitOrigin::trace);
  ASSERT_TRUE(bounds.least_mean_rate_ppm);
  EXPECT_GT(*bounds.least_mean_rate_ppm, 900);
  EXPECT_LT(*bounds.least_mean_rate_ppm, 1'001);
}

/// A clock whose mean rate is at one end of its limit, and whose rate leaves it by as much as it
/// may: above it in every other part of the run, below it in between.
class ClockAtLimits {
 public:
  ClockAtLimits(double mean, double wander, double part, double offset)
      : mean_(mean), wander_(wander), part_(part), offset_(offset) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t truth) const {
    const auto time = static_cast<double>(truth);
    const double within = std::fmod(time, 2 * part_);
    const double strayed = wander_ * std::min(within, 2 * part_ - within);
    return k_begin + static_cast<std::uint64_t>(time + mean_ * time + strayed + offset_);
  }

 private:
  static constexpr std::uint64_t k_begin = 1'000'000'000;
  double mean_, wander_, part_, offset_;
};

TEST(ProveIntervals, hold_for_clocks_at_their_limits) {
  constexpr std::uint64_t k_length = 1'000'000'000;
  constexpr double k_mean = 100e-6, k_wander = 20e-6;
  const BoundsOption option{.max_rate_ppm = k_wander * 1e6};
  std::size_t held = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomStream random(seed, 3);
    const auto count = static_cast<std::uint32_t>(2 + random.below(5));
    std::vector<ClockAtLimits> clocks{{0, 0, k_length, 0}};
    while (clocks.size() < count) {
      // Whole periods, so that the mean is that of the run.
      const auto part = static_cast<double>(k_length) / static_cast<double>(2 << random.below(3));
      clocks.emplace_back(random.below(2) == 0 ? k_mean : -k_mean,
                          random.below(2) == 0 ? k_wander : -k_wander, part,
                          static_cast<double>(random.below(1'000'000)));
    }
    struct Happening {
      std::uint64_t truth = 0;
      LocationIndex location = 0, peer = 0;
      trace::EventKind kind = trace::EventKind::send;
      std::uint32_t tag = 0;
    };
    std::vector<Happening> all;
    std::uint32_t tag = 0;
    // Every clock is there from the begin to the end; nobody receives that.
    for (LocationIndex l = 0; l < count; ++l) {
      for (const std::uint64_t t : {std::uint64_t{0}, k_length}) {
        all.push_back({t, l, (l + 1) % count, trace::EventKind::send, tag++});
      }
    }
    for (std::uint64_t n = (4 + random.below(20)) * count; n > 0; --n) {
      const auto from = static_cast<LocationIndex>(random.below(count));
      const auto to = static_cast<LocationIndex>((from + 1 + random.below(count - 1)) % count);
      const std::uint64_t sent = random.below(k_length - 30'000);
      all.push_back({sent, from, to, trace::EventKind::send, tag});
      all.push_back({sent + random.below(30'000), to, from, trace::EventKind::recv, tag++});
    }
    std::ranges::stable_sort(all, {}, &Happening::truth);
    trace::testing::TraceBuilder b(count);
    for (const Happening& one : all) {
      b.message(one.kind, one.location, clocks[one.location](one.truth), one.peer, one.tag);
    }
    const Proof proof = prove_with(loaded_of(b), {.max_mean_rate_ppm = k_mean * 1e6}, option);
    const ProvenIntervals& proven = proof.proven;
    ASSERT_EQ(proven.about.reason, "");
    EXPECT_FALSE(proven.about.least_mean_rate_ppm) << "the limit is not contradicted";
    for (const Happening& one : all) {
      const std::uint32_t clock = proven.clock_of[one.location];
      const std::int64_t shown = proven.lines[clock](clocks[one.location](one.truth));
      const std::int64_t error =
          shown - proven.lines[proven.clock_of[proven.reference]](clocks[0](one.truth));
      const Interval interval = proven.errors[clock].interval(shown);
      if (!interval.bounded() || clock == proven.clock_of[proven.reference]) continue;
      ++held;
      const std::int64_t reach = proven.quantum[clock] + 1;
      EXPECT_GE(error, interval.lower - reach) << seed;
      EXPECT_LE(error, interval.upper + reach) << seed;
    }
  }
  EXPECT_GT(held, 10'000u);
}

TEST(ProveIntervals, a_session_that_would_help_is_told) {
  const ClockBounds bounds = prove_with(late_messages(), {}).bounds;
  ASSERT_TRUE(bounds.helpful);
  EXPECT_LT(bounds.helpful->time_ticks, 10'000'000);
  EXPECT_NEAR(static_cast<double>(bounds.helpful->before_ticks), 260'000, 10'000);
  // In the middle between the session and the messages, a quarter of that.
  EXPECT_LT(bounds.helpful->after_ticks, bounds.helpful->before_ticks / 3);
}

TEST(ProveIntervals, offsets_without_half_width_are_told_apart) {
  trace::LoadedTrace loaded = late_messages();
  EXPECT_EQ(prove_with(loaded, {}).bounds.assumed_sessions, 0u);
  for (auto& location : loaded.trace.locations) {
    location.clock_offsets = {{900'000, 0, 0}, {1'002'000'000, 0, 0}};
  }
  const ClockBounds bare = prove_with(loaded, {}).bounds;
  // Records that are all 0 and exact are a master's, not measurements.
  EXPECT_EQ(bare.sessions, 0u);
  loaded.trace.locations[1].clock_offsets = {{900'000, 500, 0}, {1'002'000'000, -500, 0}};
  const ClockBounds bounds = prove_with(loaded, {}).bounds;
  EXPECT_EQ(bounds.sessions, 0u);
  EXPECT_EQ(bounds.assumed_sessions, 2u);
  EXPECT_GT(bounds.assumed_half_width_ticks, 9'000);
  EXPECT_GT(worst_of(bounds), 240'000);
  ASSERT_TRUE(bounds.locations[1].assumed_ticks);
  EXPECT_LT(*bounds.locations[1].assumed_ticks, worst_of(bounds) / 2);
  const auto row = std::find_if(bounds.rows.begin(), bounds.rows.end(), [&](const BoundsRow& r) {
    return r.location == bounds.locations[1].location && r.bounded;
  });
  ASSERT_NE(row, bounds.rows.end());
  ASSERT_TRUE(row->assumed_ticks);
  EXPECT_LE(*row->assumed_ticks, row->bound_ticks);
}

TEST(ProveIntervals, any_team_finds_the_same) {
  const trace::LoadedTrace whole = load_example("lulesh-8");
  Proof alone = prove(whole, Presync::automatic);
  const auto expected = figures(alone.bounds);
  Solo solo;
  const auto moved = project_inside({.share = whole.share(solo), .graph = alone.graph},
                                    processes_of(whole), alone.proven, alone.presync.maps);
  ASSERT_TRUE(moved);
  EXPECT_GT(moved->moved, 0);
  const auto held = figures(judge(whole.share(solo), alone.proven, alone.presync.maps, true));
  for (const unsigned members : {2u, 3u}) {
    const auto done = run_team(members, [&](Team& team) -> Result<void> {
      trace::LoadedTrace part;
      part.trace = whole.trace;
      for (const std::uint32_t process : whole.trace.definitions.process_of) {
        part.partition.owner.push_back(process * 5 % 7 % members);
      }
      for (LocationIndex l = 0; l < part.trace.locations.size(); ++l) {
        if (!part.partition.owns(team.rank(), l)) part.trace.locations[l] = {};
      }
      auto presync = clocks::presynchronise(part.share(team), Presync::automatic);
      auto graph = match::build_graph(part.share(team), {});
      if (!presync || !graph) return fail(ErrorKind::input, "no graph");
      const constraints::Context context{
          .share = part.share(team), .graph = *graph, .threads = members};
      auto proven = prove_intervals(context, processes_of(part), *presync, {});
      if (!proven) return fail(ErrorKind::input, proven.error().message);
      EXPECT_EQ(figures(judge(part.share(team), *proven, presync->maps, true)), expected)
          << members;
      if (!project_inside(context, processes_of(part), *proven, presync->maps)) {
        return fail(ErrorKind::input, "not projected");
      }
      EXPECT_EQ(figures(judge(part.share(team), *proven, presync->maps, true)), held) << members;
      return {};
    });
    EXPECT_TRUE(done) << done.error().message;
  }
}

TEST(ProveIntervals, a_limit_that_is_too_small_is_refused_by_name) {
  const trace::LoadedTrace skewed = load_example("lulesh-8");
  const auto presync = clocks::presynchronise(skewed.trace, Presync::linear);
  ASSERT_TRUE(presync);
  Solo solo;
  const match::Graph graph = match::build_graph(skewed.trace, {});
  BoundsOption option;
  option.max_rate_ppm = 1;
  const auto proven = prove_intervals({.share = skewed.share(solo), .graph = graph},
                                      processes_of(skewed), *presync, option);
  ASSERT_FALSE(proven);
  EXPECT_THAT(proven.error().message, HasSubstr("--max-rate-ppm 1 is too small for"));
  EXPECT_THAT(proven.error().message, HasSubstr("MPI Rank "));
}

TEST(ProveIntervals, a_smaller_limit_gives_tighter_bounds) {
  const trace::LoadedTrace truth = load_example("amg-8.truth");
  const trace::LoadedTrace skewed = distorted(truth, {}, true);
  std::int64_t tighter = 0;
  for (const double ppm : {5.0, 20.0, 200.0}) {
    BoundsOption option;
    option.max_rate_ppm = ppm;
    const Proof proof = prove(skewed, Presync::automatic, option);
    EXPECT_EQ(proof.bounds.max_rate_source, LimitOrigin::given);
    EXPECT_GT(worst_of(proof.bounds), tighter);
    tighter = worst_of(proof.bounds);
  }
}

/// Two processes that exchange messages of 10 ticks every 1,000, on equal clocks.
trace::testing::TraceBuilder ping_pong(bool both_ways) {
  trace::testing::TraceBuilder b(2);
  using K = trace::EventKind;
  for (std::uint64_t t = 1'000; t < 100'000; t += 1'000) {
    b.message(K::send, 0, t, 1);
    b.message(K::recv, 1, t + 10, 0);
    if (!both_ways) continue;
    b.message(K::send, 1, t + 500, 0);
    b.message(K::recv, 0, t + 510, 1);
  }
  return b;
}

TEST(ProveIntervals, a_round_trip_bounds_the_offset) {
  const Proof proof = prove(loaded_of(ping_pong(true)), Presync::none);
  ASSERT_EQ(proof.bounds.locations.size(), 2u);
  EXPECT_EQ(proof.bounds.locations[0].worst_ticks, 0);
  // Half a round trip is 10; stamps and lines are rounded.
  EXPECT_GE(proof.bounds.locations[1].median_ticks, 10);
  EXPECT_LE(proof.bounds.locations[1].median_ticks, 30);
  EXPECT_EQ(proof.bounds.locations[1].outside_ticks, 0);
  const auto mu = prove(loaded_of(ping_pong(true)), Presync::none, {}, {10, 10, 10});
  EXPECT_LT(mu.bounds.locations[1].median_ticks, proof.bounds.locations[1].median_ticks);
}

TEST(ProveIntervals, one_way_traffic_bounds_nothing) {
  const Proof proof = prove(loaded_of(ping_pong(false)), Presync::none);
  ASSERT_EQ(proof.bounds.locations.size(), 2u);
  EXPECT_EQ(proof.bounds.locations[1].unbounded, proof.bounds.locations[1].windows);
  for (const BoundsRow& row : proof.bounds.rows) EXPECT_EQ(row.bounded, row.location == 100);
}

TEST(ProveIntervals, a_latency_that_cannot_be_is_a_contradiction_with_a_reason) {
  const Proof proof = prove(loaded_of(ping_pong(true)), Presync::none, {}, {99, 99, 99});
  EXPECT_THAT(proof.bounds.reason, HasSubstr("contradicts itself"));
  EXPECT_THAT(proof.bounds.reason, HasSubstr("mu is too large"));
  EXPECT_TRUE(proof.bounds.locations.empty());
}

TEST(ProveIntervals, sessions_count_with_an_interval_only) {
  for (const double half_width : {0.0, 3.0}) {
    trace::testing::TraceBuilder b = ping_pong(false);
    b.trace().locations[0].clock_offsets = {{1'000, 0, 0}, {99'000, 0, 0}};
    b.trace().locations[1].clock_offsets = {{1'000, 2, half_width}, {99'000, 2, half_width}};
    const Proof proof = prove(loaded_of(b), Presync::linear);
    EXPECT_EQ(proof.bounds.sessions, half_width > 0 ? 2u : 0u);
    EXPECT_EQ(proof.bounds.locations[1].unbounded > 0, half_width == 0);
    if (half_width > 0) {
      EXPECT_LE(worst_of(proof.bounds), 30);
    }
  }
}

TEST(ProveIntervals, sessions_of_a_master_that_is_no_location_tie_clocks_to_each_other) {
  trace::testing::TraceBuilder b = ping_pong(false);
  b.trace().locations[0].clock_offsets = {{1'000, 7'000, 4}, {99'000, 7'000, 4}};
  b.trace().locations[1].clock_offsets = {{1'000, 7'002, 3}, {99'000, 7'002, 3}};
  const Proof proof = prove(loaded_of(b), Presync::linear);
  EXPECT_EQ(proof.bounds.sessions, 4u);
  EXPECT_EQ(proof.bounds.locations[1].unbounded, 0u);
  EXPECT_GE(worst_of(proof.bounds), 7);
  EXPECT_LE(worst_of(proof.bounds), 50);
}

TEST(ProveIntervals, a_rewritten_archive_has_no_clocks) {
  trace::LoadedTrace trace = loaded_of(ping_pong(true));
  trace.trace.definitions.properties = {
      {trace::k_property_correction, "mode=rewrite presync=linear"}};
  EXPECT_THAT(prove(trace, Presync::none).bounds.reason, HasSubstr("rewritten by a correction"));
}

TEST(ProveIntervals, a_trace_without_events_has_no_bounds) {
  const trace::LoadedTrace empty = loaded_of(trace::testing::TraceBuilder(2));
  EXPECT_EQ(prove(empty, Presync::none).bounds.reason, "there are no events");
}

TEST(Judge, what_all_maps_have_in_common_is_no_error_and_what_one_has_is) {
  const trace::LoadedTrace trace = loaded_of(ping_pong(true));
  const Proof proof = prove(trace, Presync::none);
  Solo solo;
  std::vector<ClockMap> maps;
  for (const ClockMap& map : proof.presync.maps) maps.push_back(map.shifted(12'345));
  const ClockBounds same = judge(trace.share(solo), proof.proven, maps, true);
  EXPECT_EQ(worst_of(same), worst_of(proof.bounds));
  EXPECT_EQ(same.locations[1].outside_ticks, 0);
  maps[1] = maps[1].shifted(500);
  const ClockBounds off = judge(trace.share(solo), proof.proven, maps, true);
  EXPECT_GE(worst_of(off), 500);
  EXPECT_LE(worst_of(off), 500 + worst_of(same) + 1);
  EXPECT_GE(off.locations[1].outside_ticks, 500 - 30);
  EXPECT_EQ(off.locations[0].worst_ticks, 0);
}

TEST(ProjectInside, threads_of_which_nothing_is_known_stay_with_their_process) {
  trace::testing::TraceBuilder b(3, 2);  // two threads each, of which the first ones communicate
  for (std::uint64_t t = 1'000; t < 100'000; t += 1'000) {
    b.message(trace::EventKind::send, 0, t, 1);
    b.message(trace::EventKind::recv, 2, t + 10, 0);
    b.message(trace::EventKind::send, 2, t + 500, 0);
    b.message(trace::EventKind::recv, 0, t + 510, 1);
    for (const LocationIndex silent : {1, 3, 5}) {
      b.request(trace::EventKind::irecv_request, silent, t, t);
    }
  }
  const trace::LoadedTrace trace = loaded_of(b);
  const trace::ClockDomains apart = trace::separate_domains(6);
  Solo solo;
  const match::Graph graph = match::build_graph(trace.trace, {});
  const auto presync = clocks::presynchronise(trace.trace, Presync::none);
  ASSERT_TRUE(presync);
  const auto proven =
      prove_intervals({.share = trace.share(solo), .graph = graph}, apart, *presync, {});
  ASSERT_TRUE(proven) << proven.error().message;
  const ClockMap late = *ClockMap::from_knots({{1'000, 5'000}, {99'000, 5'000}});
  std::vector<ClockMap> maps(6);
  maps[2] = maps[3] = late;
  const auto held =
      project_inside({.share = trace.share(solo), .graph = graph}, apart, *proven, maps);
  ASSERT_TRUE(held);
  EXPECT_GT(held->moved, 4'900);
  EXPECT_LT(held->moved, 5'000);
  for (const std::uint64_t t : {1'000, 50'000, 98'000}) {
    EXPECT_NEAR(static_cast<double>(maps[2](t)), static_cast<double>(t), 100);
    EXPECT_EQ(maps[3](t), maps[2](t)) << t;
  }
  for (const LocationIndex l : {0, 1, 4, 5}) EXPECT_EQ(maps[l], ClockMap()) << l;
}

TEST(ProjectInside, traces_of_no_events_and_of_one_clock_stay) {
  for (const bool empty : {true, false}) {
    trace::testing::TraceBuilder b(1);
    if (!empty) {
      b.request(trace::EventKind::irecv_request, 0, 1'000, 1);
      b.request(trace::EventKind::irecv_request, 0, 2'000, 2);
    }
    const trace::LoadedTrace trace = loaded_of(b);
    const Proof proof = prove(trace, Presync::none);
    Solo solo;
    std::vector<ClockMap> maps = proof.presync.maps;
    const auto held = project_inside({.share = trace.share(solo), .graph = proof.graph},
                                     processes_of(trace), proof.proven, maps);
    ASSERT_TRUE(held) << empty;
    EXPECT_EQ(held->moved, 0) << empty;
    EXPECT_EQ(maps, proof.presync.maps);
  }
}

TEST(Judge, a_jump_counts_in_its_window) {
  const trace::LoadedTrace trace = loaded_of(ping_pong(true));
  const Proof proof = prove(trace, Presync::none);
  Solo solo;
  std::vector<ClockMap> maps = proof.presync.maps;
  maps[1] =
      *ClockMap::from_knots({{1'000, 0}, {50'000, 0}, {50'010, 300}, {50'020, 0}, {60'000, 0}});
  const ClockBounds bent = judge(trace.share(solo), proof.proven, maps, true);
  EXPECT_GE(worst_of(bent), 300 - worst_of(proof.bounds));
  EXPECT_NEAR(static_cast<double>(bent.locations[1].worst_time_ticks), 50'010, 400);
  EXPECT_LE(bent.locations[1].median_ticks, proof.bounds.locations[1].median_ticks + 1);
}

}  // namespace
}  // namespace entrain::bounds
