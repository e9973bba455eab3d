// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/testing.hpp"

namespace entrain::verify {
namespace {

using testing::TraceBuilder;
using K = trace::EventKind;
namespace op = trace::op;

CheckReport report_of(const TraceBuilder& b, AlltoallvRule rule = AlltoallvRule::ignore) {
  CheckOptions options;
  options.alltoallv = rule;
  return b.check(options);
}

const EdgeStatistics& n_to_n(const CheckReport& report) {
  return testing::edges(report, EdgeKind::n_to_n);
}

TEST(NamedPartners, only_those_who_exchanged_data_wait_for_each_other) {
  TraceBuilder b(3);
  b.exchange(0, 100, 200, {1}, {1});
  b.exchange(1, 101, 120, {0}, {0});
  b.exchange(2, 150, 160, {}, {});  // begins after 1 has left: they exchange nothing
  const CheckReport report = report_of(b);
  EXPECT_EQ(n_to_n(report).count, 2u);
  EXPECT_EQ(n_to_n(report).violations, 0u);
}

TEST(NamedPartners, who_leave_too_early_are_found) {
  TraceBuilder b(4);
  b.exchange(0, 100, 200, {1}, {1});
  b.exchange(1, 10, 90, {0}, {0});
  b.exchange(2, 10, 40, {2, 3}, {3});
  b.exchange(3, 10, 90, {2}, {2});
  const CheckReport report = report_of(b);
  EXPECT_EQ(n_to_n(report).count, 4u);
  EXPECT_EQ(n_to_n(report).violations, 1u);
  ASSERT_TRUE(n_to_n(report).worst);
  EXPECT_EQ(n_to_n(report).worst->margin_ticks, -10);
}

TEST(NamedPartners, contradicting_each_other_are_counted) {
  TraceBuilder b(3);
  b.exchange(0, 100, 200, {1, 2}, {});
  b.exchange(1, 100, 200, {}, {2});
  b.exchange(2, 100, 200, {}, {0});
  const CheckReport report = report_of(b);
  EXPECT_EQ(n_to_n(report).count, 1u);
  EXPECT_EQ(report.skipped, (Counters{{"partners_contradicting", 2}}));
}

TEST(NamedPartners, may_be_missing_in_some_calls) {
  TraceBuilder b(3);
  b.exchange(0, 10, 20, {1, 2}, {1});
  b.exchange(1, 11, 21, {0}, {0, 2});
  b.collective(2, 12, 22, op::alltoallv);
  EXPECT_EQ(n_to_n(report_of(b)).count, 2u);
  EXPECT_EQ(report_of(b).skipped, (Counters{{"alltoallv_instances", 1}}));
  EXPECT_EQ(n_to_n(report_of(b, AlltoallvRule::dense)).count, 4u);
}

TEST(Neighbours, without_records_are_counted) {
  TraceBuilder b(2);
  b.add(0, 10, K::neighbours_enter);
  b.add(0, 11, K::neighbours_leave);
  b.add(1, 10, K::neighbours_enter);
  b.request(K::nb_request, 1, 11, 7);
  b.add(1, 12, K::neighbours_leave);
  EXPECT_EQ(report_of(b).skipped, (Counters{{"neighbourhood_instances", 1}}));
}

}  // namespace
}  // namespace entrain::verify
