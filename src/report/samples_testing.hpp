// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/compare.hpp>
#include <entrain/info.hpp>
#include <entrain/report.hpp>
#include <entrain/stragglers.hpp>

/// Reports with every field filled, for the tests of tables and JSON. Invented numbers.
namespace entrain::report::samples {

inline EdgeEnd edge_end(std::uint64_t location, const char* region, std::int64_t ticks) {
  const std::string process = "MPI Rank " + std::to_string(location);
  return {location, process, process, region, static_cast<std::uint64_t>(ticks - 1000), ticks};
}

/// A clock that was set, a slow one, one that wanders, two that are right, and one without edges.
inline ClockTable clocks() {
  ClockTable table;
  table.archive = "examples/traces/lulesh-8/traces.otf2";
  table.resolution_hz = 1'000'000'000;
  table.reference = "MPI Rank 0";
  table.begin_ticks = 1'700'000'000'000'000'000;
  const auto add = [&](const char* name, ClockState state, std::int64_t offset) -> ClockRow& {
    ClockRow row;
    row.name = name;
    row.machine = "node1";
    row.state = state;
    row.offset_ticks = row.most_ticks = offset;
    row.edges = 3'750;
    row.worst_ticks = 120;
    row.worst_with = "MPI Rank 0";
    return table.rows.emplace_back(row);
  };
  ClockRow& stepped = add("MPI Rank 10", ClockState::stepped, -12'700'000);
  stepped.most_ticks = 12'700'000;
  stepped.since_ticks = 1'700'000'005'000'000'000;
  stepped.bound_ticks = 20'000;
  stepped.worst_bound_ticks = 1'200'000;
  stepped.violations = 91;
  stepped.worst_ticks = -12'650'000;
  ClockRow& slow = add("MPI Rank 2", ClockState::slow, 8'450'000);
  slow.drift_ppm = 0.2;
  slow.bound_ticks = slow.worst_bound_ticks = 310'000;
  slow.violations = 1'204;
  slow.worst_ticks = -8'450'000;
  add("MPI Rank 4", ClockState::bent, 250).drift_ppm = -3.5;
  for (const char* name : {"MPI Rank 0", "MPI Rank 3"}) {
    ClockRow& right = add(name, ClockState::right, 0);
    right.drift_ppm = 0;
    right.bound_ticks = right.worst_bound_ticks = name[9] == '0' ? 0 : 300'000;
  }
  ClockRow& untied = add("MPI Rank 5", ClockState::untied, 0);
  untied.edges = 0;
  untied.worst_ticks = std::nullopt;
  untied.worst_with = "";
  return table;
}

/// A timer of 1 GHz; messages and Allreduces violated, MPI_Init violated but not counted.
inline CheckReport check() {
  CheckReport report;
  report.archive = "examples/traces/lulesh-8/traces.otf2";
  report.locations = 8;
  report.events = 131216;
  report.communication_events = 33104;
  report.resolution_hz = 1'000'000'000;
  report.presync = PresyncMethod::spline;
  report.estimation.reason =
      "sessions left out are missed by 24 us on average with linear, 31 us with regression, 9.1 us "
      "with spline";
  report.estimation.sessions = {
      .origin = SessionOrigin::exchanges, .condensing = Condensing::shortest, .folder = {}};
  report.estimation.clocks = {{0, 7, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0},
                              {1, 7, 630, 1, -17.25, 0, 0, 2'100.5, 4'000, 1'750.0, 6'300.0},
                              {2, 2, 180, 0, 4.5, 120, 250, 0, 0, std::nullopt, std::nullopt}};
  report.estimation.warnings = {"the clock of MPI Rank 3 is 5.003 s ahead of that of MPI Rank 0"};
  report.edges[0] = {10856, 461, 480,
                     WorstEdge{-33959, edge_end(3, "MPI_Isend", 1'700'000'000'123'456'789),
                               edge_end(4, "MPI_Wait", 1'700'000'000'123'422'830)}};
  report.edges[1] = {56, 0, 0,
                     WorstEdge{71500, edge_end(0, "MPI_Bcast", 1'700'000'001'000'000'000),
                               edge_end(7, "MPI_Bcast", 1'700'000'001'000'071'500)}};
  report.edges[3] = {44800, 12, 12,
                     WorstEdge{-512, edge_end(1, "MPI_Allreduce", 1'700'000'002'000'000'512),
                               edge_end(6, "MPI_Allreduce", 1'700'000'002'000'000'000)}};
  report.edges[7] = {112, 2, 2,
                     WorstEdge{-90, edge_end(1, "MPI_Init", 1'700'000'000'000'000'090),
                               edge_end(2, "MPI_Init", 1'700'000'000'000'000'000)}};
  report.violations = 473;
  report.below_latency = 492;
  report.edges[0].equal = report.equal = 19;
  report.mu_ticks = {0, 510, 1250};
  report.mu_source.origin = MuOrigin::round_trip;
  report.unmatched = {{"sends", 40}, {"receives", 0}};
  report.skipped = {{"alltoallv", 12}, {"cancelled requests", 3}};
  report.completeness.mpi_communication = true;
  report.coverage = {.receives = 10896,
                     .paired = 10856,
                     .ambiguous = 8,
                     .lost = 30,
                     .in_gaps = 2,
                     .collective_calls = 5720,
                     .in_instances = 5600,
                     .alltoallv_skipped = 96,
                     .neighbourhood_skipped = 16};
  report.checked_edges = 55712;
  report.min_coverage = 0.5;
  report.judgement = {Verdict::violations, Doubt::none};
  report.clocks = clocks();
  return report;
}

/// Everything was checked, and nothing is violated.
inline CheckReport clean_check() {
  CheckReport report = check();
  for (EdgeStatistics& edges : report.edges) {
    edges.violations = edges.below_latency = edges.equal = 0;
    if (edges.worst) edges.worst->margin_ticks = 512;
  }
  report.violations = report.below_latency = report.equal = 0;
  report.mu_ticks = {};
  report.mu_source = {};
  report.unmatched = report.skipped = {};
  report.coverage = {
      .receives = 10856, .paired = 10856, .collective_calls = 5600, .in_instances = 5600};
  report.judgement = {Verdict::clean, Doubt::none};
  for (ClockRow& row : report.clocks.rows) row = report.clocks.rows[3];
  return report;
}

/// Nothing but calls whose partners nobody knows.
inline CheckReport unproven_check() {
  CheckReport report = clean_check();
  report.edges = {};
  report.checked_edges = 0;
  report.skipped = {{"alltoallv_instances", 200}};
  report.completeness = {.mpi_communication = false,
                         .incomplete = {"OTF2::MPI_COMMUNICATION_COMPLETE"},
                         .filters = {{"TRACER::FILTER", "calls.txt"}}};
  report.coverage = {
      .collective_calls = 1700, .alltoallv_skipped = 1600, .neighbourhood_skipped = 100};
  report.judgement = {Verdict::unproven, Doubt::no_edges};
  return report;
}

inline ClockBounds bounds() {
  ClockBounds bounds;
  bounds.reference = 0;
  bounds.reference_process = "MPI Rank 0";
  bounds.max_rate_ppm = 58.25;
  bounds.max_rate_source = LimitOrigin::trace;
  bounds.least_rate_ppm = 4.125;
  bounds.measured_once = 1;
  bounds.clock_kind = ClockKind::timer;
  bounds.clock_kind_source = LimitOrigin::stamps;
  bounds.mean_rate_ppm = 200;
  bounds.mean_rate_source = LimitOrigin::kind;
  bounds.assumed_sessions = 2;
  bounds.assumed_half_width_ticks = 1'300;
  bounds.helpful = {1'700'000'000'060'000'000, 900, 3'200, 1'100};
  bounds.held_ticks = 1'250;
  bounds.mu_source.origin = MuOrigin::round_trip;
  bounds.sessions = 14;
  bounds.windows = 3;
  bounds.window_ticks = 40'000'000;
  bounds.locations = {{0, "MPI Rank 0", 3, 0, 0, 1'700'000'000'020'000'000, 0, 0, 0, {}},
                      {1, "MPI Rank 1", 3, 0, 3'210, 1'700'000'000'060'000'000, 2'100, 250,
                       1'700'000'000'020'000'000, 1'900},
                      {2, "MPI Rank 2", 2, 2, 0, 0, 0, 0, 0, {}},
                      {3, "MPI Rank 3", 3, 1, 1'500, 1'700'000'000'100'000'000, 1'400, 0, 0, {}}};
  bounds.rows = {{0, 1'000, 1'000, true, 1'000, 1'000, 0, {}},
                 {1, 1'020, 1'070, true, 1'066, 1'075, 3'210, 1'900},
                 {2, 1'040, 1'040, false, 0, 0, 0, {}}};
  return bounds;
}

inline CorrectReport correct() {
  CorrectReport report;
  report.clocks = clocks();
  report.before = check();
  report.before.inside_domains = InsideDomains{120, 0};
  report.timeline = {
      PresyncMethod::causal,
      "15 constraints of 3774 pairs of clocks and times hold the clocks, on 33 knots each",
      ClockDomain::automatic,
      4,
      {"the processes of a node do not share a clock in 1 of 2 cases: by one clock, "
       "something between MPI Rank 0 (location 0) and the others arrives 8.1 ms too early"},
      6350.5,
      22125};
  report.after = check();
  report.after.archive = "out/traces.otf2";
  report.after.presync = PresyncMethod::linear;
  report.after.estimation = {};
  for (EdgeStatistics& edges : report.after.edges) {
    edges.violations = 0;
    edges.below_latency = 0;
    edges.equal = 0;
    if (edges.worst && edges.worst->margin_ticks < 0) edges.worst->margin_ticks = 510;
  }
  report.after.violations = 0;
  report.after.below_latency = 0;
  report.after.edges[0].equal = report.after.equal = 1;
  report.after.judgement = {Verdict::clean, Doubt::none};
  report.judgement = report.after.judgement;
  report.verified = true;
  report.mode = WriteMode::rewrite;
  report.output = "out/traces.otf2";
  report.passes = {
      {0.99999, 0, 98000, 473, false}, {0.9, 0, 84000, 469, false}, {0.9999, 2, 92000, 470, true}};
  report.gamma = 0.9999;
  report.epsilon_ticks = 92400;
  report.measured_delta_ticks = {1, 40};
  report.clock_gammas = {{0, "MPI Rank 0", 0.9999, 92000}, {3, "MPI Rank 3", 0.9999, 51000}};
  report.error_share = 0.000031;
  report.cycles = {{"components of equal stamps", 2}, {"dropped edges", 0}};
  report.statistics.moved_events = 2345;
  report.statistics.compared_events = 30021;
  report.statistics.mean_ticks = 8123.75;
  report.statistics.p99_ticks = 61000;
  report.statistics.max_ticks = 93000;
  report.statistics.intervals = {
      {27676, 1200, 800, 300, 30, 10, 5},
      {2'500'000'000, 200'000'000, 90'000'000, 8'000'000, 900'000, 40'000, 512},
      12.5};
  report.statistics.max_slope = 0.0123;
  report.run.phases = {0.25, 0.0125, 0.001, 0.03, 0.02, 0.4, 0.3};
  report.run.peak_memory_bytes = 137'573'171;
  return report;
}

inline CorrectReport overlay() {
  CorrectReport report = correct();
  report.mode = WriteMode::overlay;
  report.links[static_cast<std::size_t>(LinkKind::symbolic)] = 8;
  return report;
}

/// 12 locations, and a truth.
inline CompareReport compare() {
  CompareReport report;
  report.a = "skewed/traces.otf2";
  report.b = "corrected/traces.otf2";
  report.truth = "truth/traces.otf2";
  for (std::uint64_t i = 0; i < 12; ++i) {
    const double scale = static_cast<double>((i * 5) % 12) * 1e-6;
    report.locations.push_back({i, {1000 + i, 4 * scale, 9 * scale, 12 * scale, -scale}});
  }
  report.all = {12066, 21.5e-6, 99e-6, 132e-6, -5.5e-6};
  report.communication = {8000, 20e-6, 98e-6, 121e-6, -5e-6};
  report.span_source = SpanOrigin::clock_offsets;
  report.a_error =
      TruthError{{12066, 30e-6, 90e-6, 140e-6, 0.25e-9},
                 {8000, 29e-6, 88e-6, 139e-6, 1e-9},
                 {{12066, 21e-6, 80e-6, 120e-6, 0}, {8000, 20e-6, 79e-6, 119e-6, 0}},
                 {{12066, 21.5e-6, 25e-6, 30e-6, 0.25e-9}, {8000, 21e-6, 24e-6, 29e-6, 1e-9}},
                 -0.00425,
                 12.75};
  report.b_error = TruthError{{12066, 3e-6, 9e-6, 14e-6, 0},
                              {8000, 2.5e-6, 8e-6, 13e-6, 0},
                              {{12066, 2e-6, 8e-6, 12e-6, 0}, {8000, 1.5e-6, 7e-6, 11e-6, 0}},
                              {{12066, 2.2e-6, 3e-6, 4e-6, 0}, {8000, 2e-6, 2.5e-6, 3e-6, 0}},
                              1e-7,
                              -0.03};
  return report;
}

inline ArchiveInfo info() {
  ArchiveInfo info;
  info.archive = "examples/traces/lulesh-8/traces.otf2";
  info.machine = "Linux";
  info.creator = "Score-P 8.4";
  info.trace_format = 3;
  info.locations = 9;
  info.empty_locations = 1;
  info.processes = 8;
  info.nodes = 1;
  info.events = 131216;
  info.communication_events = 33104;
  info.communication = {{"MpiIsend", 10856}, {"MpiIrecv", 10856}, {"MpiSend", 0}};
  info.collectives = {{"MPI_Allreduce", 800}, {"MPI_Bcast", 8}};
  info.resolution_hz = 2'693'509'000;
  info.global_offset_ticks = 12'345'678'901'234;
  info.length_ticks = 8'080'527'000;
  info.first_ticks = 12'345'678'901'240;
  info.last_ticks = 12'353'759'428'234;
  info.clock_offset_records = 16;
  info.locations_with_clock_offsets = 8;
  info.event_bytes = 3'456'789;
  info.properties = {{"ENTRAIN::CORRECTION",
                      "mode=rewrite presync=linear gamma=0.9999 delta=0 max-slope=0.01 backward=on "
                      "alltoallv=ignore init-finalize=off mu=0,510,1250"},
                     {"OTF2::MPI_COMMUNICATION_COMPLETE", "true"}};
  info.completeness.mpi_communication = true;
  info.anomalies = {{"truncated event files", 1}, {"unknown records", 0}};
  return info;
}

/// A rank that stands out, one that is last now and then, and ties of two more.
inline StragglerReport stragglers() {
  StragglerReport report;
  report.archive = "run";
  report.resolution_hz = 1'000'000'000;
  report.processes = {"rank 0", "rank 1", "rank 2", "rank 3"};
  report.operations = {"all_reduce", "broadcast"};
  report.groups = {"group world of [0, 1, 2, 3]", "group node, \"left\""};
  const auto add = [&](std::uint32_t operation, std::uint32_t last, std::int64_t wait) {
    CollectiveWait one{.operation = operation,
                       .members = 4,
                       .step = 7,
                       .known = LastArrival::proven,
                       .last = last,
                       .time_ticks = 1'700'000'000'000'000'000 + wait,
                       .alone_ticks = wait / 4,
                       .wait_ticks = wait,
                       .longest_ticks = wait / 2,
                       .certain_ticks = wait / 10};
    report.collectives.push_back(one);
  };
  add(0, 3, 2'000'000);
  add(1, 1, 2'100'000);
  report.collectives.push_back({.group = 1, .members = 2, .known = LastArrival::tie, .last = 2});
  report.rows = {
      {.process = 3,
       .collectives = 500,
       .last = 412,
       .wait_ticks = 1'930'000'000,
       .alone_ticks = 480'000'000,
       .longest_ticks = 7'500'000,
       .ties = 4},
      {.process = 1,
       .collectives = 512,
       .last = 40,
       .wait_ticks = 60'000'000,
       .alone_ticks = 9'000'000,
       .longest_ticks = 2'100'000,
       .ties = 12},
      {.process = 0, .collectives = 500, .ties = 12, .likely = 9, .likely_ticks = 800'000},
      {.process = 2, .collectives = 500}};
  report.outstanding = 1;
  report.by_group = {{.number = 0,
                      .collectives = 500,
                      .proven = 452,
                      .ties = 12,
                      .wait_ticks = 1'990'000'000,
                      .worst = 3,
                      .worst_ticks = 1'930'000'000},
                     {.number = 1, .collectives = 12}};
  report.by_step = {{.number = 7,
                     .collectives = 250,
                     .proven = 226,
                     .ties = 12,
                     .wait_ticks = 990'000'000,
                     .worst = 3,
                     .worst_ticks = 930'000'000},
                    {.number = 8,
                     .collectives = 250,
                     .proven = 226,
                     .wait_ticks = 1'000'000'000,
                     .worst = 3,
                     .worst_ticks = 1'000'000'000}};
  report.proven = 452;
  report.ties = 12;
  report.unproven = 2;
  report.incomplete = 1;
  report.contradicting = 2;
  report.wait_ticks = 1'990'000'000;
  report.left_out = {{"scans", 3}};
  report.notes = {"nothing ties rank 9 to the others"};
  return report;
}

}  // namespace entrain::report::samples
