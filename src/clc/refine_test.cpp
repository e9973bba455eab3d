// SPDX-License-Identifier: BSD-3-Clause
#include "clc/refine.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Refines curves of a whole trace whose presynchronised times are the stored stamps.
struct Refined {
  std::vector<Curve> curves;
  RefinedMaps result;
  Times times;

  Refined(const TraceBuilder& b, std::vector<Curve> given, const Times& displacement,
          const MuTicks& mu = {}, std::int64_t delta = 0)
      : curves(std::move(given)) {
    Solo solo;
    Problem problem(b, {.every_event = true});
    const std::vector<ClockMap> identity(problem.graph.location_count());
    const trace::Partition all{std::vector<std::uint32_t>(identity.size(), 0)};
    BigVector<std::int64_t> room;
    result = refine_maps({.share = {solo, all, b.trace()},
                          .problem = problem.with(mu, delta),
                          .presync_maps = identity,
                          .displacement = displacement},
                         curves, room);
    times.assign(room.begin(), room.end());
  }
};

/// Location 0 sends at 1,000, location 1 receives at `received`, among other events.
TraceBuilder one_message(std::uint64_t received) {
  TraceBuilder b(2);
  b.message(K::send, 0, 1'000, 1);
  b.request(K::irecv_request, 1, 0, 1);
  b.message(K::recv, 1, received, 0);
  b.request(K::irecv_request, 1, 2'000, 2);
  return b;
}

TEST(RefineMaps, without_curves_the_maps_stay) {
  const Refined refined(one_message(900), {{}, {}}, {0, 0, 0, 0});
  EXPECT_TRUE(refined.result.settled);
  EXPECT_EQ(refined.result.maps, std::vector<ClockMap>(2));
  EXPECT_TRUE(refined.times.empty());
}

TEST(RefineMaps, a_curve_that_keeps_everything_stays) {
  const Curve curve{{0, 0}, {900, 100}, {1'900, 0}};
  const Refined refined(one_message(900), {{}, curve}, {0, 0, 100, 0});
  EXPECT_TRUE(refined.result.settled);
  EXPECT_EQ(refined.curves[1], curve);
  EXPECT_THAT(refined.times, ElementsAre(1'000, 0, 1'000, 2'000));
  EXPECT_TRUE(refined.result.maps[0].is_identity());
  EXPECT_EQ(refined.result.maps[1](900), 1'000);
}

TEST(RefineMaps, a_broken_edge_gets_bends_at_its_nodes) {
  // The curve lacks a tick at the receive, 1,000 instead of 1,001; mu asks for it.
  const Curve curve{{0, 0}, {900, 100}, {1'900, 0}};
  const Refined refined(one_message(900), {{}, curve}, {0, 0, 101, 0}, {1, 1, 1});
  EXPECT_TRUE(refined.result.settled);
  EXPECT_THAT(refined.times, ElementsAre(1'000, 0, 1'001, 2'000));
  EXPECT_THAT(refined.curves[1],
              ElementsAre(Bend{0, 0}, Bend{900, 101}, Bend{1'900, 0}, Bend{2'000, 0}));
}

TEST(RefineMaps, a_node_that_left_c_without_reason_gets_a_bend) {
  // The ramp reaches over the node at 1,990, which has no displacement.
  TraceBuilder b = one_message(900);
  trace::testing::change_events(b.trace().locations[1], [](auto& events) { events.pop_back(); });
  b.trace().locations[1].event_count -= 1;
  b.request(K::irecv_request, 1, 1'000, 2);
  b.request(K::irecv_request, 1, 2'000, 3);
  const Curve curve{{0, 0}, {900, 100}, {1'900, 0}};
  const Refined refined(b, {{}, curve}, {0, 0, 100, 0, 0});
  EXPECT_TRUE(refined.result.settled);
  EXPECT_THAT(refined.times, ElementsAre(1'000, 0, 1'000, 1'000, 2'000));
}

TEST(RefineMaps, delta_keeps_its_distance) {
  TraceBuilder b = one_message(900);
  const Curve curve{{0, 0}, {900, 100}, {1'000, 0}};  // stands still between 900 and 1,000
  trace::testing::change_events(b.trace().locations[1],
                                [](auto& events) { events.back().time = 990; });
  b.trace().locations[1].last = 990;
  const Refined refined(b, {{}, curve}, {0, 0, 100, 15}, {}, 5);
  EXPECT_TRUE(refined.result.settled);
  EXPECT_THAT(refined.times, ElementsAre(1'000, 0, 1'000, 1'005));
}

TEST(RefineMaps, an_unmet_collective_is_mended) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) b.collective(l, 100 + 900 * l, 150 + 900 * l, 0);
  // The end of location 0 has to wait for the begin of location 1 at 1,000.
  const Curve curve{{100, 0}, {150, 840}};
  const Refined refined(b, {curve, {}}, {0, 850, 0, 0});
  EXPECT_TRUE(refined.result.settled);
  EXPECT_THAT(refined.times, ElementsAre(100, 1'000, 1'000, 1'050));
}

TEST(RefineMaps, what_no_knot_can_mend_is_not_settled) {
  // The displacements themselves break the edge.
  const Curve curve{{0, 0}, {900, 50}, {1'900, 0}};
  const Refined refined(one_message(900), {{}, curve}, {0, 0, 50, 0});
  EXPECT_FALSE(refined.result.settled);
}

TEST(RefineMaps, tied_nodes_keep_no_latency) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
  }
  Solo solo;
  Problem problem(b);
  const std::vector<ClockMap> identity(2);
  const Times displacement{5, 5};
  for (const bool tied : {false, true}) {
    if (tied) problem.cycles.tied_of = {0, 0};
    std::vector<Curve> curves{{{100, 5}}, {{100, 5}}};
    BigVector<std::int64_t> room;
    const trace::Partition all{{0, 0}};
    const RefinedMaps maps = refine_maps({.share = {solo, all, b.trace()},
                                          .problem = problem.with({7, 7, 7}),
                                          .presync_maps = identity,
                                          .displacement = displacement},
                                         curves, room);
    EXPECT_EQ(maps.settled, tied);
    EXPECT_THAT(room, ElementsAre(105, 105));
  }
}

}  // namespace
}  // namespace entrain::clc
