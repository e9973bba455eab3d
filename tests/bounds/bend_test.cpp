// SPDX-License-Identifier: BSD-3-Clause
#include "causal/bend.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/testing.hpp"

namespace entrain::causal {
namespace {

using otf2::testing::load_example;
using ::testing::HasSubstr;

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

clocks::Presynchronised bent(const trace::LoadedTrace& loaded, clocks::Presynchronised presync) {
  const match::Graph graph = match::build_graph(loaded.trace, {});
  Solo solo;
  const auto done = bend_by_edges({.share = loaded.share(solo), .graph = graph},
                                  trace::domains_by(loaded.trace.definitions.process_of), presync);
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
  const trace::LoadedTrace skewed = load_example(GetParam().name);
  const trace::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
  const auto linear = clocks::presynchronise(skewed.trace, Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(skewed, *linear);
  EXPECT_EQ(causal.method, PresyncMethod::causal);
  const double before = rms_error(skewed.trace, truth.trace, linear->maps);
  const double after = rms_error(skewed.trace, truth.trace, causal.maps);
  EXPECT_LT(after, GetParam().with_sessions_s);
  EXPECT_LT(after * GetParam().gain, before);
  for (const ClockMap& map : causal.maps) EXPECT_TRUE(map.is_monotone());
}

TEST_P(Bent, clocks_need_no_session) {
  trace::LoadedTrace skewed = load_example(GetParam().name);
  const trace::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
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
  const trace::LoadedTrace truth = load_example(std::string(GetParam().name) + ".truth");
  trace::LoadedTrace with_sessions = load_example(std::string(GetParam().name) + ".truth");
  for (auto& location : with_sessions.trace.locations) {
    location.clock_offsets = {{location.first, 0, 0}, {location.last, 0, 0}};
  }
  const auto linear = clocks::presynchronise(with_sessions.trace, Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(with_sessions, *linear);
  EXPECT_EQ(causal.maps, linear->maps);
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
