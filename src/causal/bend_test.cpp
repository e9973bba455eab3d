// SPDX-License-Identifier: BSD-3-Clause
#include "causal/bend.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/team.hpp"
#include "session/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal {
namespace {

namespace fs = std::filesystem;
using session::testing::load_example;
using session::testing::loaded_of;
using ::testing::HasSubstr;
using ::testing::Not;

/// Root mean square of the error of sends and receives in seconds, one common line removed.
double rms_error(const trace::Trace& trace, const trace::Trace& truth,
                 std::span<const ClockMap> maps) {
  std::vector<std::pair<double, double>> points;  // true time, error
  const std::uint64_t begin = truth.locations[0].first;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& skewed = trace.locations[l].events;
    const auto& right = truth.locations[l].events;
    for (std::size_t e = 0; e < skewed.size(); ++e) {
      using K = trace::EventKind;
      const K kind = skewed[e].kind;
      if (kind != K::send && kind != K::isend && kind != K::recv && kind != K::irecv) continue;
      const std::int64_t error = maps[l](skewed[e].time) - static_cast<std::int64_t>(right[e].time);
      points.emplace_back(static_cast<double>(right[e].time - begin), static_cast<double>(error));
    }
  }
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto count = static_cast<double>(points.size());
  for (const auto& [time, error] : points) {
    x += time / count;
    y += error / count;
  }
  for (const auto& [time, error] : points) {
    xx += (time - x) * (time - x);
    xy += (time - x) * (error - y);
  }
  double sum = 0;
  for (const auto& [time, error] : points) {
    const double left = error - y - xy / xx * (time - x);
    sum += left * left;
  }
  return std::sqrt(sum / count) / static_cast<double>(trace.definitions.clock.resolution_hz);
}

clocks::Presynchronised bent(const session::LoadedTrace& loaded, clocks::Presynchronised presync) {
  const match::Graph graph = match::build_graph(loaded.trace, {});
  session::Workers workers(1);
  const auto done =
      bend_by_edges(workers, loaded, graph, trace::domains_by(loaded.trace.definitions.process_of),
                    {}, presync, nullptr);
  EXPECT_TRUE(done) << done.error().message;
  return presync;
}

struct Expected {
  const char* name;
  double with_sessions_s, without_s;  ///< largest error allowed
  double gain;                        ///< ... and how many times smaller than linear's
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class Bent : public ::testing::TestWithParam<Expected> {};

TEST_P(Bent, clocks_come_closer_to_the_truth) {
  const session::LoadedTrace skewed = load_example(GetParam().name);
  const session::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
  const auto linear = clocks::presynchronise(skewed.trace, Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(skewed, *linear);
  EXPECT_EQ(causal.method, "causal");
  const double before = rms_error(skewed.trace, truth.trace, linear->maps);
  const double after = rms_error(skewed.trace, truth.trace, causal.maps);
  EXPECT_LT(after, GetParam().with_sessions_s);
  EXPECT_LT(after * GetParam().gain, before);
  for (const ClockMap& map : causal.maps) EXPECT_TRUE(map.is_monotone());
}

TEST_P(Bent, clocks_need_no_session) {
  session::LoadedTrace skewed = load_example(GetParam().name);
  const session::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
  auto none = clocks::presynchronise(skewed.trace, Presync::none);
  ASSERT_TRUE(none);
  for (LocationIndex l = 0; l < none->maps.size(); ++l) {
    skewed.trace.locations[l].clock_offsets.clear();
    none->maps[l] = none->maps[l].shifted(1'234'567'891 * std::int64_t{l});  // seconds apart
  }
  const clocks::Presynchronised causal = bent(skewed, *none);
  EXPECT_THAT(causal.clocks.reason, HasSubstr("no clock was measured"));
  EXPECT_LT(rms_error(skewed.trace, truth.trace, causal.maps), GetParam().without_s)
      << causal.clocks.reason;
}

TEST_P(Bent, clean_traces_keep_their_maps) {
  const session::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
  session::LoadedTrace with_sessions = load_example(std::string(GetParam().name) + ".truth");
  for (auto& location : with_sessions.trace.locations) {
    location.clock_offsets = {{location.first, 0, 0}, {location.last, 0, 0}};
  }
  const auto linear = clocks::presynchronise(with_sessions.trace, Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(with_sessions, *linear);
  EXPECT_EQ(causal.maps, linear->maps);
}

/// Bent from time stamps as they are.
clocks::Presynchronised bent_from_nothing(const session::LoadedTrace& loaded) {
  const auto none = clocks::presynchronise(loaded.trace, Presync::none);
  EXPECT_TRUE(none);
  return bent(loaded, *none);
}

/// Two clocks 1,000,000 ticks apart of which one only writes and the other only reads.
TEST(BendByEdges, one_way_traffic_moves_a_clock_that_nobody_measured_but_does_not_bend_it) {
  trace::testing::TraceBuilder b(2);
  for (std::uint64_t t = 0; t < 50; ++t) {
    b.message(trace::EventKind::send, 0, 2'000'000 + t * 10'000, 1);
    b.message(trace::EventKind::recv, 1, 1'000'000 + t * 10'000 + t % 7 * 500, 0);
  }
  const session::LoadedTrace loaded = loaded_of(b);
  const clocks::Presynchronised causal = bent_from_nothing(loaded);
  EXPECT_EQ(causal.maps[0], ClockMap());
  for (const trace::Event& event : loaded.trace.locations[1].events) {
    EXPECT_EQ(causal.maps[1](event.time), static_cast<std::int64_t>(event.time) + 1'000'000);
  }
  EXPECT_THAT(causal.clocks.reason,
              HasSubstr("in 2 groups, between which nothing was seen to go both ways"));
}

TEST(BendByEdges, clocks_that_nobody_measured_get_no_times_before_zero) {
  trace::testing::TraceBuilder b(2);
  b.message(trace::EventKind::send, 1, 5'000'000'000, 0);  // 3 ms before the first event of 0
  for (std::uint64_t t = 0; t < 50; ++t) {
    const std::uint64_t time = 10'000 * t;
    b.message(trace::EventKind::recv, 0, time, 1);
    b.message(trace::EventKind::send, 0, time + 1'000, 1);
    b.message(trace::EventKind::recv, 1, 5'003'001'500 + time, 0);
    b.message(trace::EventKind::send, 1, 5'003'002'000 + time, 0);
  }
  const session::LoadedTrace loaded = loaded_of(b);
  const clocks::Presynchronised causal = bent_from_nothing(loaded);
  EXPECT_GE(causal.maps[1](loaded.trace.locations[1].first), 0);
  EXPECT_GE(causal.maps[0](0), 2'900'000);
}

/// Of a barrier only the latest and the earliest clock are seen, and these are always the same as
/// long as clocks are far apart.
TEST(BendByEdges, collectives_alone_bring_all_clocks_together) {
  constexpr LocationIndex k_locations = 6;
  RandomStream random(3, 9);
  trace::testing::TraceBuilder b(k_locations);
  const auto reading = [](LocationIndex l, std::uint64_t time) {
    return time + std::uint64_t{l * 7 % k_locations} * 1'000'000'000;
  };
  for (std::uint64_t t = 1'000'000; t < 60'000'000; t += 100'000) {
    std::vector<std::uint64_t> begins;
    for (LocationIndex l = 0; l < k_locations; ++l) begins.push_back(t + random.below(20'000));
    const std::uint64_t last = *std::max_element(begins.begin(), begins.end());
    for (LocationIndex l = 0; l < k_locations; ++l) {
      b.collective(l, reading(l, begins[l]), reading(l, last + 100 + random.below(2'000)),
                   trace::op::barrier, trace::k_root_none);
    }
  }
  const session::LoadedTrace loaded = loaded_of(b);
  const clocks::Presynchronised causal = bent_from_nothing(loaded);
  EXPECT_THAT(causal.clocks.reason, Not(HasSubstr("groups")));
  const std::uint64_t time = 30'000'000;
  for (LocationIndex l = 1; l < k_locations; ++l) {
    EXPECT_NEAR(static_cast<double>(causal.maps[l](reading(l, time))),
                static_cast<double>(causal.maps[0](reading(0, time))), 3'000)
        << l;
  }
}

/// Measured clocks of which one wanders, and writes only: how far it is to move at least is known,
/// how far at most is not.
TEST(BendByEdges, one_way_traffic_bends_no_clock_that_was_measured) {
  trace::testing::TraceBuilder b(2);
  for (std::uint64_t t = 0; t < 50; ++t) {
    const std::uint64_t wander = t * (49 - t);
    b.message(trace::EventKind::send, 0, 2'000'000 + t * 10'000 + wander, 1);
    b.message(trace::EventKind::recv, 1, 2'000'100 + t * 10'000, 0);
  }
  session::LoadedTrace loaded = loaded_of(b);
  for (auto& location : loaded.trace.locations) {
    location.clock_offsets = {{location.first, 0, 0}, {location.last, 0, 0}};
  }
  const auto linear = clocks::presynchronise(loaded.trace, Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(loaded, *linear);
  EXPECT_EQ(causal.maps, linear->maps);
}

TEST(BendByEdges, a_trace_without_messages_keeps_its_maps) {
  for (const int locations : {1, 3}) {
    trace::testing::TraceBuilder b(static_cast<std::uint32_t>(locations));
    b.request(trace::EventKind::irecv_request, 0, 1'000, 1);
    b.request(trace::EventKind::irecv_request, 0, 2'000, 2);
    const session::LoadedTrace loaded = loaded_of(b);
    EXPECT_EQ(bent_from_nothing(loaded).maps, std::vector<ClockMap>(b.trace().locations.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, Bent,
                         ::testing::Values(Expected{"lulesh-8", 1.4e-6, 3.0e-6, 5},
                                           Expected{"amg-8", 1.09e-6, 1.3e-6, 2},
                                           Expected{"allops-4", 70e-6, 80e-6, 3}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace entrain::causal
