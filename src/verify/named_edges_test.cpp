// SPDX-License-Identifier: BSD-3-Clause
#include "verify/named_edges.hpp"

#include <gtest/gtest.h>

#include "base/team.hpp"
#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::edges;
using testing::p2p;

/// Edges by hand.
class Named : public NamedEdges {
 public:
  void for_each_edge(const std::function<bool(LocationIndex)>& is_wanted,
                     const std::function<void(const NamedEdge&)>& use) const override {
    std::uint64_t number = 0;
    for (NamedEdge edge : single) {
      edge.number = number++;
      if (is_wanted(edge.receive.location)) use(edge);
    }
  }
  void for_each_instance(const std::function<void(const NamedInstance&)>& use) const override {
    for (const NamedInstance& instance : instances) use(instance);
  }

  std::vector<NamedEdge> single;
  std::vector<NamedInstance> instances;
};

/// Each location has ends of edges at 100, 200 and 300.
trace::testing::TraceBuilder with_ends(std::uint32_t locations) {
  trace::testing::TraceBuilder b(locations);
  for (LocationIndex l = 0; l < locations; ++l) {
    for (const std::uint64_t stamp : {100, 200, 300}) {
      b.add(l, stamp, trace::EventKind::edge_end);
    }
  }
  return b;
}

/// The report of a team of one, which must be that of every other team of threads.
CheckReport checked(const trace::Trace& trace, const Named& named, const MuTicks& mu = {}) {
  const std::vector<ClockMap> maps(trace.locations.size());
  const TimesToCheck times{.maps = maps, .mu = mu, .named_edges = &named};
  const CheckReport alone = check(trace, times, {});
  for (const unsigned members : {2U, 3U}) {
    const trace::Partition partition = testing::dealt(trace.definitions, members, true);
    EXPECT_TRUE(run_team(members, [&](Team& team) -> Result<void> {
      const auto report = check({team, partition, trace}, times, {}, Cancel(nullptr));
      if (!report) return tl::unexpected<Error>(report.error());
      EXPECT_EQ(testing::text_of(*report), testing::text_of(alone)) << members;
      return {};
    }));
  }
  return alone;
}

TEST(NamedEdges, none_are_no_edges) {
  const CheckReport report = checked(with_ends(3).trace(), {});
  EXPECT_EQ(report.checked_edges, 0U);
  EXPECT_EQ(report.communication_events, 9U);
  EXPECT_EQ(checked(with_ends(0).trace(), {}).checked_edges, 0U);
}

TEST(NamedEdges, are_counted_as_they_are_in_any_order) {
  Named named;
  named.single = {{.send = {0, 1}, .receive = {1, 0}},   // 200 -> 100
                  {.send = {0, 0}, .receive = {1, 0}},   // at the same time
                  {.send = {2, 0}, .receive = {1, 2}}};  // 100 -> 300
  const CheckReport report = checked(with_ends(3).trace(), named);
  EXPECT_EQ(p2p(report).count, 3U);
  EXPECT_EQ(p2p(report).violations, 1U);
  EXPECT_EQ(p2p(report).equal, 1U);
  ASSERT_TRUE(p2p(report).worst);
  EXPECT_EQ(p2p(report).worst->margin_ticks, -100);
  EXPECT_EQ(p2p(report).worst->send.local_ticks, 200U);
  EXPECT_EQ(report.coverage.paired, 3U);
}

TEST(NamedEdges, may_ask_for_more_than_their_latency_class) {
  Named named;
  named.single = {{.send = {0, 0}, .receive = {1, 1}, .extra_mu = 90},
                  {.send = {0, 0}, .receive = {1, 1}, .extra_mu = 91}};
  const CheckReport report = checked(with_ends(2).trace(), named, {10, 10, 10});
  EXPECT_EQ(p2p(report).violations, 0U);
  EXPECT_EQ(p2p(report).below_latency, 1U);
}

TEST(NamedEdges, around_in_a_circle_are_all_counted) {
  Named named;
  named.single = {{.send = {0, 0}, .receive = {1, 0}}, {.send = {1, 0}, .receive = {0, 0}}};
  const CheckReport report = checked(with_ends(2).trace(), named);
  EXPECT_EQ(p2p(report).count, 2U);
  EXPECT_EQ(testing::count(report.skipped, "dropped_edges"), 0U);
}

TEST(NamedEdges, of_an_instance_lead_to_all_other_locations) {
  Named named;
  named.instances = {{.kind = EdgeKind::n_to_n,
                      .begins = {{{0, 0}}, {{1, 1}}, {{2, 0}}},
                      .ends = {{{0, 1}}, {{1, 2}}, {{2, 0}}}}};
  const CheckReport report = checked(with_ends(3).trace(), named);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).count, 6U);
  EXPECT_EQ(edges(report, EdgeKind::n_to_n).violations, 1U);  // 200 of location 1 -> 100 of 2
  EXPECT_EQ(report.coverage.in_instances, 3U);
  named.instances.front().ordered = true;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    named.instances.front().begins[rank].rank = named.instances.front().ends[rank].rank = rank;
  }
  EXPECT_EQ(edges(checked(with_ends(3).trace(), named), EdgeKind::n_to_n).count, 3U);
}

}  // namespace
}  // namespace entrain::verify
