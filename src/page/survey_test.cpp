// SPDX-License-Identifier: BSD-3-Clause
#include "page/survey.hpp"

#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "page/collect.hpp"
#include "trace/layout.hpp"
#include "verify/testing.hpp"

namespace entrain::page {
namespace {

using trace::testing::TraceBuilder;

/// Three processes; the clock of the second one is late, so what it receives
/// comes too early.
TraceBuilder three_processes() {
  TraceBuilder builder(3);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t t = 10'000 * i;
    builder.message(trace::EventKind::send, 0, t + 1'000, 1, 1);
    builder.message(trace::EventKind::recv, 1, t + 400 + i, 0, 1);
    builder.message(trace::EventKind::send, 1, t + 2'000, 2, 1);
    builder.message(trace::EventKind::recv, 2, t + 3'000, 1, 1);
  }
  return builder;
}

SurveyScope scope_of(const trace::Trace& trace) {
  const trace::Layout layout = trace::make_layout(
      trace.definitions, trace::separate_domains(trace.definitions.locations.size()));
  return {.row_of = layout.row_of,
          .clock_of = layout.clock_of,
          .clocks = static_cast<std::uint32_t>(layout.clocks.size()),
          .begin = 0,
          .end = 200'000};
}

/// The survey of rank 0, by a team.
Survey survey_of(const trace::Trace& trace, unsigned members) {
  const std::vector<ClockMap> maps(trace.locations.size());
  std::optional<Survey> first;
  const trace::Partition partition = verify::testing::dealt(trace.definitions, members, false);
  const auto ran = run_team(members, [&](Team& team) -> Result<void> {
    Survey own(scope_of(trace));
    const auto report = verify::check({team, partition, trace}, {.maps = maps, .observer = &own},
                                      CheckOptions{}, Cancel(nullptr));
    EXPECT_TRUE(report);
    own.gather(team);
    if (team.rank() == 0) first = std::move(own);
    return {};
  });
  EXPECT_TRUE(ran);
  return std::move(*first);
}

TEST(Survey, counts_by_pair_and_keeps_the_worst) {
  const Survey survey = survey_of(three_processes().trace(), 1);
  const std::vector<MatrixCell> cells = survey.cells();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].from, 0u);
  EXPECT_EQ(cells[0].to, 1u);
  EXPECT_EQ(cells[0].cell.count, 20u);
  EXPECT_EQ(cells[0].cell.violations, 20u);
  ASSERT_EQ(cells[0].cell.kept, 3u);
  EXPECT_EQ(cells[0].cell.worst[0].margin_ticks, -600);
  EXPECT_EQ(cells[0].cell.worst[1].margin_ticks, -599);
  EXPECT_EQ(cells[0].cell.worst[2].margin_ticks, -598);
  EXPECT_EQ(cells[1].cell.violations, 0u);
  EXPECT_EQ(cells[1].cell.worst[0].margin_ticks, 1'000);
  const Bins bins = survey.counts().margins[static_cast<std::size_t>(EdgeKind::p2p)];
  EXPECT_EQ(bins.counts()[Bins::bin_of(1'000)], 20);
  const std::vector<KeptEdge> tight = survey.tightest(1, true);
  ASSERT_FALSE(tight.empty());
  EXPECT_EQ(tight.front().margin_ticks, -600);
  EXPECT_TRUE(survey.tightest(0, true).empty());  // it receives nothing
}

TEST(Survey, is_the_same_by_every_team) {
  const TraceBuilder builder = three_processes();
  const Survey alone = survey_of(builder.trace(), 1);
  for (const unsigned members : {2u, 3u, 5u}) {
    const Survey shared = survey_of(builder.trace(), members);
    const auto a = alone.cells(), b = shared.cells();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].cell.count, b[i].cell.count);
      EXPECT_EQ(a[i].cell.violations, b[i].cell.violations);
      EXPECT_EQ(a[i].cell.worst, b[i].cell.worst);
    }
    for (std::size_t k = 0; k < k_edge_kinds; ++k) {
      EXPECT_EQ(alone.counts().margins[k].counts(), shared.counts().margins[k].counts());
    }
    for (std::uint32_t clock = 0; clock < 3; ++clock) {
      EXPECT_EQ(alone.tightest(clock, true), shared.tightest(clock, true));
      EXPECT_EQ(alone.tightest(clock, false), shared.tightest(clock, false));
    }
  }
}

TEST(Cell, keeps_the_worst_in_any_order) {
  for (const std::vector<std::int64_t>& order : std::vector<std::vector<std::int64_t>>{
           {5, 4, 3, 2, 1}, {1, 2, 3, 4, 5}, {3, 1, 5, 2, 4}, {2, 2, 1, 3, 2}}) {
    Cell cell;
    for (const std::int64_t margin : order) {
      if (cell.wants(margin)) cell.keep({margin, {}, {}, {}});
    }
    ASSERT_EQ(cell.kept, 3u);
    EXPECT_EQ(cell.worst[0].margin_ticks, 1);
    EXPECT_EQ(cell.worst[1].margin_ticks, 2);
    EXPECT_EQ(cell.worst[2].margin_ticks, 3);
  }
}

/// The data of a page with all clocks of three processes.
Data collected(const trace::Trace& trace, const std::vector<ClockMap>& after) {
  Solo solo;
  const trace::Partition all = trace::undivided(trace.definitions);
  const trace::Share share{solo, all, trace};
  const std::vector<ClockMap> before(3);
  const Survey survey = survey_of(trace, 1);
  return collect({.share = share,
                  .before = before,
                  .after = after,
                  .edges_before = survey,
                  .edges_after = &survey},
                 trace::make_layout(trace.definitions, trace::separate_domains(3)));
}

/// Maps that bend the second clock.
std::vector<ClockMap> bent_maps() {
  std::vector<ClockMap> after(3);
  after[1] = *ClockMap::from_knots({{0, 700}, {1'000, 900}, {1'000'000, 800}});
  return after;
}

TEST(Collect, shows_clocks_edges_and_what_moved_them) {
  const TraceBuilder builder = three_processes();
  const Data data = collected(builder.trace(), bent_maps());
  ASSERT_EQ(data.clocks.size(), 3u);
  EXPECT_EQ(data.clocks[0].moved_ticks, 0);
  EXPECT_GE(data.clocks[1].moved_ticks, 700);
  ASSERT_EQ(data.curves.size(), 1u);  // straight clocks have none
  EXPECT_EQ(data.curves[0].clock, 1u);
  EXPECT_GT(data.clocks[1].bend_ticks, 2);
  EXPECT_EQ(data.curves[0].before.front().y, 0);
  EXPECT_GE(data.curves[0].after.front().y, 700);
  ASSERT_FALSE(data.edges.empty());
  EXPECT_EQ(data.edges[0].received_before - data.edges[0].sent_before, -600);
  EXPECT_GE(data.edges[0].received_after - data.edges[0].sent_after, 100);
  EXPECT_EQ(data.location_names[data.edges[0].from], "MPI Rank 0");
}

TEST(Collect, cuts_the_offsets_of_damaged_sessions) {
  for (const std::int64_t offset :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    trace::Trace trace = three_processes().trace();
    trace.locations[1].clock_offsets = {{.time = 500, .offset = offset, .stddev = 0}};
    const Data data = collected(trace, bent_maps());
    ASSERT_EQ(data.curves.size(), 1u);
    ASSERT_EQ(data.curves[0].sessions.size(), 1u);
    EXPECT_EQ(std::abs(data.curves[0].sessions[0].y), std::int64_t{1} << 60);
    EXPECT_EQ(data.curves[0].sessions[0].y > 0, offset > 0);
  }
}

}  // namespace
}  // namespace entrain::page
