// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/drop_testing.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::sim {
namespace {

using trace::EventKind;
using trace::testing::TraceBuilder;

constexpr std::uint64_t k_step = 10;

/// Processes that send and receive in turn, with an Allreduce at every tenth step and a Bcast at
/// every fifteenth, one event per k_step ticks, between MPI_Init and MPI_Finalize.
trace::Trace make_trace(std::uint32_t processes, std::uint32_t steps) {
  TraceBuilder builder(processes);
  for (LocationIndex l = 0; l < processes; ++l) {
    std::uint64_t time = 1000 + l;
    const auto next = [&] { return time += k_step; };
    builder.add(l, time, EventKind::init_enter);
    builder.add(l, next(), EventKind::init_leave);
    for (std::uint32_t i = 0; i < steps; ++i) {
      builder.message(EventKind::send, l, next(), (l + 1) % processes, i);
      builder.request(EventKind::irecv_request, l, next(), i);
      builder.message(EventKind::irecv, l, next(), (l + processes - 1) % processes, i, i);
      if (i % 10 == 9) builder.collective(l, next(), next(), trace::op::allreduce);
      if (i % 15 == 14) builder.collective(l, next(), next(), trace::op::bcast, 0);
    }
    builder.add(l, next(), EventKind::finalize_enter);
    builder.add(l, next(), EventKind::finalize_leave);
  }
  return builder.trace();
}

DroppedTrace dropped(const trace::Trace& trace, const DropOptions& options) {
  return drop(trace, options).value();
}

/// All fields of an event, to compare.
auto fields(const trace::Event& e) {
  return std::tuple(e.time, e.id, e.comm, e.peer, e.tag, e.kind, e.op, e.flags, e.more);
}

/// Indices of the events that a location lost.
std::set<std::size_t> lost_of(const trace::Trace& trace, const DroppedTrace& result,
                              LocationIndex l) {
  std::set<std::size_t> lost;
  for (std::size_t i = 0; i < trace.locations[l].events.size(); ++i) lost.insert(i);
  for (const std::size_t i : result.original[l]) lost.erase(i);
  return lost;
}

std::vector<std::set<std::size_t>> all_lost(const trace::Trace& trace, const DropOptions& options) {
  const DroppedTrace result = dropped(trace, options);
  std::vector<std::set<std::size_t>> lost;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    lost.push_back(lost_of(trace, result, l));
  }
  return lost;
}

bool refused(const trace::Trace& trace, const DropOptions& options) {
  const auto result = drop(trace, options);
  return !result && result.error().kind == ErrorKind::usage;
}

TEST(Drop, loses_nothing_without_a_way) {
  const trace::Trace trace = make_trace(3, 50);
  const DroppedTrace result = dropped(trace, {});
  for (LocationIndex l = 0; l < 3; ++l) EXPECT_TRUE(lost_of(trace, result, l).empty());
  EXPECT_EQ(result.report.lost, 0u);
  EXPECT_EQ(result.report.events, 3 * trace.locations[0].event_count);
}

TEST(Drop, names_the_original_of_each_event_that_stayed) {
  const trace::Trace trace = make_trace(2, 500);
  DropOptions options;
  options.random = 0.2;
  const DroppedTrace result = dropped(trace, options);
  for (LocationIndex l = 0; l < 2; ++l) {
    const auto& before = trace.locations[l].events;
    const auto& after = result.trace.locations[l].events;
    ASSERT_EQ(after.size(), result.original[l].size());
    EXPECT_LT(after.size(), before.size());
    EXPECT_TRUE(std::is_sorted(result.original[l].begin(), result.original[l].end()));
    for (std::size_t i = 0; i < after.size(); ++i) {
      ASSERT_EQ(fields(after[i]), fields(before[result.original[l][i]]));
    }
    EXPECT_EQ(result.trace.locations[l].event_count,
              trace.locations[l].event_count - (before.size() - after.size()));
  }
}

TEST(Drop, at_random_depends_on_seed_and_location_only) {
  const trace::Trace trace = make_trace(3, 300);
  DropOptions options;
  options.random = 0.1;
  options.seed = 5;
  const auto lost = all_lost(trace, options);
  EXPECT_EQ(lost, all_lost(trace, options));
  EXPECT_NE(lost[0], lost[1]);
  // The other locations may hold anything.
  trace::Trace other = trace;
  other.locations[0].events = {};
  EXPECT_EQ(all_lost(other, options)[1], lost[1]);
  // Events that are no communication do not count.
  trace::Trace longer = trace;
  trace::testing::change_events(
      longer.locations[1], [](auto& events) { events.insert(events.begin(), events.front()); });
  std::set<std::size_t> moved;
  for (const std::size_t i : lost[1]) moved.insert(i + 1);
  EXPECT_EQ(all_lost(longer, options)[1], moved);
  options.seed = 6;
  EXPECT_NE(all_lost(trace, options), lost);
}

TEST(Drop, at_random_loses_the_share_asked_for_of_every_kind) {
  const trace::Trace trace = make_trace(2, 20'000);
  DropOptions options;
  options.random = 0.03;
  const DropReport report = dropped(trace, options).report;
  for (const RecordKind kind : {RecordKind::send, RecordKind::irecv_request, RecordKind::irecv,
                                RecordKind::collective_begin, RecordKind::collective_end}) {
    const DropCount& count = report.kinds[static_cast<std::size_t>(kind)];
    const double expected = options.random * static_cast<double>(count.records);
    ASSERT_GT(count.records, 5000u);
    EXPECT_NEAR(static_cast<double>(count.lost), expected, 5 * std::sqrt(expected));
  }
  options.random = 1;
  const DroppedTrace all = dropped(trace, options);
  EXPECT_EQ(all.trace.locations[0].events.size(), 4u);  // MPI_Init and MPI_Finalize
}

TEST(Drop, at_random_loses_more_with_a_larger_share_of_the_same_seed) {
  const trace::Trace trace = make_trace(1, 2000);
  DropOptions few, many;
  few.random = 0.01;
  many.random = 0.05;
  const auto a = all_lost(trace, few)[0], b = all_lost(trace, many)[0];
  EXPECT_LT(a.size(), b.size());
  EXPECT_TRUE(std::includes(b.begin(), b.end(), a.begin(), a.end()));
}

TEST(Drop, windows_lose_the_communication_of_a_stretch) {
  trace::Trace trace = make_trace(9, 400);
  DropOptions options;
  options.windows = {0.1, 1.0 / 3};
  std::set<std::uint64_t> begins;
  std::set<LocationIndex> chosen;
  for (options.seed = 0; options.seed < 30; ++options.seed) {
    const DroppedTrace result = dropped(trace, options);
    std::size_t windows = 0;
    for (LocationIndex l = 0; l < 9; ++l) {
      const auto& window = result.report.locations[l].window;
      const auto lost = lost_of(trace, result, l);
      if (!window) {
        EXPECT_TRUE(lost.empty());
        continue;
      }
      ++windows;
      begins.insert(window->begin);
      chosen.insert(l);
      const trace::LocationSkeleton& location = trace.locations[l];
      EXPECT_GE(window->begin, location.first);
      EXPECT_LE(window->end, location.last + 1);
      EXPECT_NEAR(static_cast<double>(window->end - window->begin),
                  0.1 * static_cast<double>(location.last - location.first), 2);
      for (std::size_t i = 0; i < location.events.size(); ++i) {
        const trace::Event& event = location.events[i];
        const bool inside = event.time >= window->begin && event.time < window->end;
        EXPECT_EQ(lost.contains(i), inside && record_kind(event.kind).has_value());
      }
    }
    EXPECT_EQ(windows, 3u);
  }
  EXPECT_GT(begins.size(), 80u);  // of 90
  EXPECT_EQ(chosen.size(), 9u);
}

TEST(Drop, windows_fall_to_locations_that_communicate) {
  trace::Trace trace = make_trace(6, 100);
  for (LocationIndex l = 0; l < 5; ++l) {
    trace::testing::change_events(trace.locations[l], [](auto& events) {
      std::erase_if(events, [](const auto& e) { return record_kind(e.kind).has_value(); });
    });
  }
  DropOptions options;
  options.windows = {0.2, 0.1};  // 0.1 of one location: at least one
  options.tail = {0.2, 1};
  for (options.seed = 0; options.seed < 10; ++options.seed) {
    const DropReport report = dropped(trace, options).report;
    for (LocationIndex l = 0; l < 6; ++l) {
      EXPECT_EQ(report.locations[l].window.has_value(), l == 5);
      EXPECT_EQ(report.locations[l].end.has_value(), l == 5);
    }
  }
}

TEST(Drop, a_tail_loses_every_record_after_a_point) {
  trace::Trace trace = make_trace(4, 100);
  for (trace::LocationSkeleton& location : trace.locations) {
    location.flushes = {{location.first + 50, location.first + 60},
                        {location.last - 50, location.last - 40}};
  }
  DropOptions options;
  options.tail = {0.25, 0.5};
  const DroppedTrace result = dropped(trace, options);
  std::size_t ends = 0;
  for (LocationIndex l = 0; l < 4; ++l) {
    const DropLocation& line = result.report.locations[l];
    const trace::LocationSkeleton& before = trace.locations[l];
    const trace::LocationSkeleton& after = result.trace.locations[l];
    if (!line.end) {
      EXPECT_TRUE(lost_of(trace, result, l).empty());
      EXPECT_EQ(after.last, before.last);
      continue;
    }
    ++ends;
    EXPECT_NEAR(static_cast<double>(before.last - *line.end),
                0.25 * static_cast<double>(before.last - before.first), 2);
    EXPECT_EQ(line.others_lost, 2u);  // Enter and Leave of MPI_Finalize
    EXPECT_EQ(after.last, *line.end - 1);
    EXPECT_EQ(after.flushes.size(), 1u);
    for (std::size_t i = 0; i < before.events.size(); ++i) {
      const bool stays =
          std::binary_search(result.original[l].begin(), result.original[l].end(), i);
      EXPECT_EQ(stays, before.events[i].time < *line.end);
    }
  }
  EXPECT_EQ(ends, 2u);
}

TEST(Drop, a_share_of_one_loses_everything) {
  const trace::Trace trace = make_trace(2, 10);
  DropOptions options;
  options.tail = {1, 1};
  const DroppedTrace none = dropped(trace, options);
  EXPECT_TRUE(none.trace.locations[1].events.empty());
  EXPECT_EQ(none.trace.locations[1].event_count, 0u);
  options.tail = {};
  options.windows = {1, 1};
  EXPECT_EQ(dropped(trace, options).trace.locations[1].events.size(), 4u);
}

TEST(Drop, ways_add_up) {
  const trace::Trace trace = make_trace(3, 300);
  DropOptions random, windows, calls, all;
  random.random = all.random = 0.05;
  windows.windows = all.windows = {0.1, 1};
  calls.calls = all.calls = {"Bcast"};
  const auto a = all_lost(trace, random), b = all_lost(trace, windows), c = all_lost(trace, calls);
  const auto together = all_lost(trace, all);
  for (LocationIndex l = 0; l < 3; ++l) {
    std::set<std::size_t> either = a[l];
    either.insert(b[l].begin(), b[l].end());
    either.insert(c[l].begin(), c[l].end());
    EXPECT_EQ(together[l], either);
  }
}

TEST(Drop, calls_are_named_by_kind) {
  const trace::Trace trace = make_trace(1, 30);
  const auto kinds_lost = [&](const char* name) {
    DropOptions options;
    options.calls = {name};
    std::set<RecordKind> kinds;
    const DropReport report = dropped(trace, options).report;
    for (std::size_t k = 0; k < k_record_kinds; ++k) {
      const DropCount& count = report.kinds[k];
      if (count.lost == 0) continue;
      EXPECT_EQ(count.lost, count.records);
      kinds.insert(static_cast<RecordKind>(k));
    }
    return kinds;
  };
  EXPECT_EQ(kinds_lost("send"), (std::set{RecordKind::send}));
  EXPECT_EQ(kinds_lost("irecv"), (std::set{RecordKind::irecv_request, RecordKind::irecv}));
  EXPECT_EQ(kinds_lost("collective"),
            (std::set{RecordKind::collective_begin, RecordKind::collective_end}));
  EXPECT_TRUE(kinds_lost("recv").empty());
}

TEST(Drop, an_operation_is_lost_with_its_beginning) {
  TraceBuilder builder(1);
  builder.collective(0, 10, 20, trace::op::bcast);                                     // 0, 1
  builder.request(EventKind::nb_request, 0, 30, 7);                                    // 2
  builder.request(EventKind::nb_request, 0, 31, 8);                                    // 3
  builder.collective(0, 40, 50, trace::op::allreduce);                                 // 4, 5
  builder.collective_end(EventKind::nb_complete, 0, 60, trace::op::allreduce).id = 8;  // 6
  builder.collective_end(EventKind::nb_complete, 0, 61, trace::op::bcast).id = 7;      // 7
  builder.request(EventKind::nb_request, 0, 70, 7);                                    // 8
  builder.add(0, 80, EventKind::collective_begin);  // never ends                       // 9
  DropOptions options;
  options.calls = {"allreduce"};
  EXPECT_EQ(all_lost(builder.trace(), options)[0], (std::set<std::size_t>{3, 4, 5, 6}));
  options.calls = {"Bcast"};
  EXPECT_EQ(all_lost(builder.trace(), options)[0], (std::set<std::size_t>{0, 1, 2, 7}));
}

TEST(Drop, records_outside_skeletons_do_not_disturb_the_others) {
  DropPlan plan;
  plan.random = 0.3;
  plan.locations.resize(1);
  DropStream alone(plan, 0), mixed(plan, 0);
  std::size_t lost = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const DropRecord isend{.kind = RecordKind::isend, .time = i};
    const DropRecord complete{.kind = RecordKind::isend_complete, .time = i};
    const DropRecord test{.kind = RecordKind::request_test, .time = i};
    if (mixed.loses(complete)) ++lost;
    mixed.loses(test);
    ASSERT_EQ(alone.loses(isend), mixed.loses(isend));
  }
  EXPECT_NEAR(static_cast<double>(lost), 300, 75);
}

TEST(Drop, regions_name_the_records_in_them) {
  trace::Definitions definitions;
  definitions.locations.resize(1);
  definitions.regions.resize(3);
  definitions.regions[1].name = definitions.regions[2].name = "MPI_Ssend";
  DropOptions options;
  options.calls = {"MPI_Ssend"};
  const DropPlan plan = plan_drop(definitions, options).value();
  DropStream stream(plan, 0);
  for (std::uint32_t region = 0; region < 3; ++region) {
    EXPECT_EQ(stream.loses({.kind = RecordKind::send, .region = region}), region > 0);
  }
  EXPECT_FALSE(stream.loses({.kind = RecordKind::send}));
  trace::Trace trace;
  trace.definitions = definitions;
  trace.locations.resize(1);
  EXPECT_TRUE(refused(trace, options));  // no regions in memory
}

TEST(Drop, refuses_wrong_options) {
  const trace::Trace trace = make_trace(1, 1);
  const auto refuses = [&](auto change) {
    DropOptions options;
    change(options);
    return refused(trace, options);
  };
  EXPECT_TRUE(refuses([](DropOptions& o) { o.random = 1.1; }));
  EXPECT_TRUE(refuses([](DropOptions& o) { o.random = std::nan(""); }));
  EXPECT_TRUE(refuses([](DropOptions& o) { o.windows.share = -0.1; }));
  EXPECT_TRUE(refuses([](DropOptions& o) { o.windows = {0.1, 0}; }));
  EXPECT_TRUE(refuses([](DropOptions& o) { o.tail = {0.1, 2}; }));
  EXPECT_TRUE(refuses([](DropOptions& o) { o.calls = {"Sendd"}; }));
}

}  // namespace
}  // namespace entrain::sim
