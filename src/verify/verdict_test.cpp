// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <gtest/gtest.h>

#include "verify/check.hpp"
#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;

/// 10 edges, none violated, from 8 of 10 receives.
CheckReport some_report() {
  CheckReport report;
  report.checked_edges = 10;
  report.coverage.receives = 10;
  report.coverage.paired = 8;
  report.coverage.lost = 2;
  report.min_coverage = 0.5;
  return report;
}

void expect_judgement(const CheckReport& report, Verdict verdict, Doubt doubt,
                      bool strict_latency = false) {
  const Judgement found = judge(report, strict_latency);
  EXPECT_STREQ(name_of(found.verdict), name_of(verdict));
  EXPECT_STREQ(name_of(found.doubt), name_of(doubt));
}

TEST(Judge, clean_needs_evidence_that_was_not_set_aside) {
  CheckReport report = some_report();
  report.set_aside = {{.kind = "no_time", .clock = "a", .records = 1, .total = 40, .reason = "x"}};
  expect_judgement(report, Verdict::clean, Doubt::none);
  report.set_aside[0].is_decisive = true;
  expect_judgement(report, Verdict::unproven, Doubt::set_aside);
  report.violations = 1;
  expect_judgement(report, Verdict::violations, Doubt::none);
}

TEST(Judge, clean_needs_enough_coverage) {
  CheckReport report = some_report();
  expect_judgement(report, Verdict::clean, Doubt::none);
  report.min_coverage = 0.8;  // exactly
  expect_judgement(report, Verdict::clean, Doubt::none);
  report.min_coverage = 0.81;
  expect_judgement(report, Verdict::unproven, Doubt::low_coverage);
  report.min_coverage = std::numeric_limits<double>::quiet_NaN();
  expect_judgement(report, Verdict::unproven, Doubt::low_coverage);
}

TEST(Judge, a_violation_decides_alone) {
  CheckReport report = some_report();
  report.violations = 1;
  report.coverage.paired = 1;
  report.skipped = {{"dropped_edges", 3}};
  expect_judgement(report, Verdict::violations, Doubt::none);
}

TEST(Judge, edges_below_the_latency_count_on_demand) {
  CheckReport report = some_report();
  report.below_latency = 1;
  expect_judgement(report, Verdict::clean, Doubt::none);
  expect_judgement(report, Verdict::violations, Doubt::none, true);
}

TEST(Judge, dropped_edges_are_never_clean) {
  CheckReport report = some_report();
  report.skipped = {{"cyclic_components", 1}};  // explained by equal stamps
  expect_judgement(report, Verdict::clean, Doubt::none);
  report.skipped = {{"dropped_edges", 1}};
  expect_judgement(report, Verdict::unproven, Doubt::contradictory_edges);
  report.checked_edges = 0;
  expect_judgement(report, Verdict::unproven, Doubt::contradictory_edges);
}

TEST(Judge, communication_without_any_edge_is_unproven_at_any_minimum) {
  CheckReport report = some_report();
  report.checked_edges = 0;
  report.min_coverage = 0;
  expect_judgement(report, Verdict::unproven, Doubt::no_edges);
  report.coverage = {};
  for (const char* name : {"rma_locks", "rma_group_sync", "rma_without_process_sync"}) {
    report.skipped = {{name, 1}};
    expect_judgement(report, Verdict::unproven, Doubt::no_edges);
  }
  report.skipped = {};
  report.unmatched = {{"sends", 1}};
  expect_judgement(report, Verdict::unproven, Doubt::no_edges);
}

TEST(Judge, without_communication_there_is_nothing_to_violate) {
  CheckReport report;
  expect_judgement(report, Verdict::clean, Doubt::none);
  report.skipped = {{"cancelled_sends", 2}, {"unknown_records", 5}};
  report.unmatched = {{"init_finalize", 1}};
  expect_judgement(report, Verdict::clean, Doubt::none);
  for (const char* name : {"missing_event_files", "truncated_event_files"}) {
    report.skipped = {{name, 1}};  // it may have been there
    expect_judgement(report, Verdict::unproven, Doubt::no_edges);
  }
}

TEST(Judge, edges_that_need_no_receive_are_enough) {
  CheckReport report;
  report.checked_edges = 4;  // between threads
  report.min_coverage = 1;
  expect_judgement(report, Verdict::clean, Doubt::none);
}

TEST(Verdict, of_a_check_depends_on_the_options) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 1, 11, 0);
  for (const std::uint64_t time : {12, 13}) b.message(K::recv, 1, time, 0, 5);
  CheckOptions options;
  EXPECT_EQ(b.check(options).judgement.doubt, Doubt::low_coverage);
  options.min_coverage = 1.0 / 3;
  EXPECT_EQ(b.check(options).judgement.verdict, Verdict::clean);
  EXPECT_EQ(b.check(options, MuTicks{9, 9, 9}).judgement.verdict, Verdict::clean);
  options.strict_latency = true;
  EXPECT_EQ(b.check(options, MuTicks{9, 9, 9}).judgement.verdict, Verdict::violations);
}

TEST(Verdict, only_kinds_in_force_are_checked_edges) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.add(l, 10, K::init_enter);
    b.add(l, 20, K::init_leave);
  }
  CheckOptions options;
  EXPECT_EQ(b.check(options).checked_edges, 0);
  EXPECT_EQ(b.check(options).judgement.verdict, Verdict::clean);
  options.init_finalize = true;
  EXPECT_EQ(b.check(options).checked_edges, 2);
}

TEST(Verdict, of_a_cycle_that_no_clocks_can_meet_is_unproven) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::send, l, 103, 1 - l);
  }
  EXPECT_EQ(b.check().judgement.verdict, Verdict::unproven);
  EXPECT_EQ(b.check().judgement.doubt, Doubt::contradictory_edges);
}

TEST(Verdict, comes_with_what_the_archive_says_of_its_completeness) {
  TraceBuilder b(2);
  b.trace().definitions.properties = {{"OTF2::MPI_COMMUNICATION_COMPLETE", "false"}};
  EXPECT_EQ(b.check().completeness.mpi_communication, false);
}

}  // namespace
}  // namespace entrain::verify
