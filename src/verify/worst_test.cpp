// SPDX-License-Identifier: BSD-3-Clause
#include "verify/worst.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;

const std::optional<WorstEdge>& worst_of(const CheckReport& report, EdgeKind kind) {
  return report.edges[static_cast<std::size_t>(kind)].worst;
}

/// Three locations with events at 100 l + 10 e.
trace::Trace three_locations() {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) {
    for (std::uint64_t e = 0; e < 3; ++e) b.add(l, 100 * l + 10 * e, K::send);
  }
  return b.trace();
}

std::string name(LocationIndex location, std::uint64_t stamp) {
  return location == 1 ? std::string() : fmt::format("region {}/{}", location, stamp);
}

CheckReport described(WorstEdges worst, const trace::Trace& trace, bool names = true) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  const std::vector<ClockMap> maps(3, *ClockMap::from_knots({{0, 1000}, {1000, 1000}}));
  CheckReport report;
  worst.agree(solo);
  worst.describe({solo, all, trace}, maps, names ? name : decltype (&name)(nullptr), report);
  return report;
}

TEST(WorstEdges, keeps_the_smallest_margin_and_of_equals_the_first) {
  WorstEdges worst;
  EXPECT_EQ(worst.limit(EdgeKind::p2p), std::numeric_limits<std::int64_t>::max());
  worst.note(EdgeKind::p2p, 5, {0, 2, 0, 0}, {0, 0}, {1, 0});
  worst.note(EdgeKind::p2p, -7, {0, 3, 0, 1}, {0, 1}, {1, 1});
  worst.note(EdgeKind::p2p, -7, {0, 3, 0, 0}, {0, 2}, {1, 2});  // earlier in order
  worst.note(EdgeKind::p2p, -7, {0, 3, 0, 2}, {0, 0}, {1, 0});
  worst.note(EdgeKind::p2p, 0, {0, 0, 0, 0}, {0, 0}, {1, 0});
  EXPECT_EQ(worst.limit(EdgeKind::p2p), -7);
  EXPECT_EQ(worst.limit(EdgeKind::scan), std::numeric_limits<std::int64_t>::max());
  const CheckReport report = described(worst, three_locations());
  ASSERT_TRUE(worst_of(report, EdgeKind::p2p));
  EXPECT_EQ(worst_of(report, EdgeKind::p2p)->send.local_ticks, 20);
  EXPECT_FALSE(worst_of(report, EdgeKind::scan));
}

TEST(WorstEdges, describes_both_ends) {
  WorstEdges worst;
  worst.note(EdgeKind::n_to_n, 90, {}, {2, 1}, {1, 2});
  const auto edge = worst_of(described(worst, three_locations()), EdgeKind::n_to_n);
  ASSERT_TRUE(edge);
  EXPECT_EQ(edge->margin_ticks, 90);
  EXPECT_EQ(edge->send.location, 102);
  EXPECT_EQ(edge->send.process, "MPI Rank 2");
  EXPECT_EQ(edge->send.region, "region 2/210");
  EXPECT_EQ(edge->send.local_ticks, 210);
  EXPECT_EQ(edge->send.ticks, 1210);
  EXPECT_EQ(edge->receive.location, 101);
  EXPECT_EQ(edge->receive.region, "");
  EXPECT_EQ(edge->receive.local_ticks, 120);
  EXPECT_EQ(worst_of(described(worst, three_locations(), false), EdgeKind::n_to_n)->send.region,
            "");
}

TEST(WorstEdges, a_location_may_have_no_group) {
  trace::Trace trace = three_locations();
  trace.definitions.locations[0].group = 99;
  WorstEdges worst;
  worst.note(EdgeKind::p2p, 1, {}, {0, 0}, {1, 0});
  EXPECT_EQ(worst_of(described(worst, trace), EdgeKind::p2p)->send.process, "");
}

TEST(WorstEdges, members_tell_each_other_about_their_own_locations) {
  const trace::Trace trace = three_locations();
  trace::Partition partition;
  partition.owner = {0, 1, 2};
  const std::vector<ClockMap> maps(3);
  const auto result = run_team(3, [&](Team& team) -> Result<void> {
    WorstEdges worst;
    // Member 0 finds the worst edge, member 2 another kind, member 1 none.
    if (team.rank() == 0) worst.note(EdgeKind::p2p, -3, {}, {2, 0}, {1, 1});
    if (team.rank() == 2) worst.note(EdgeKind::p2p, -2, {}, {0, 0}, {1, 1});
    if (team.rank() == 2) worst.note(EdgeKind::scan, 4, {}, {0, 1}, {2, 2});
    CheckReport report;
    worst.agree(team);
    worst.describe({team, partition, trace}, maps, name, report);
    EXPECT_EQ(worst_of(report, EdgeKind::p2p)->margin_ticks, -3);
    EXPECT_EQ(worst_of(report, EdgeKind::p2p)->send.region, "region 2/200");
    EXPECT_EQ(worst_of(report, EdgeKind::p2p)->receive.local_ticks, 110);
    EXPECT_EQ(worst_of(report, EdgeKind::scan)->send.region, "region 0/10");
    EXPECT_EQ(worst_of(report, EdgeKind::scan)->receive.region, "region 2/220");
    return {};
  });
  EXPECT_TRUE(result);
}

TEST(WorstEdges, none) {
  const CheckReport report = described({}, three_locations());
  for (const EdgeStatistics& edges : report.edges) EXPECT_FALSE(edges.worst);
}

}  // namespace
}  // namespace entrain::verify
