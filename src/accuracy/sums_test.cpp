// SPDX-License-Identifier: BSD-3-Clause
#include "accuracy/sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::accuracy {
namespace {

constexpr std::uint64_t k_ns = 1'000'000'000;

/// Columns of one location, cut into blocks as a reader would.
struct Columns {
  std::vector<std::int64_t> a, b, truth;
  std::vector<std::uint8_t> flags;

  void add(std::int64_t ta, std::int64_t tb, std::int64_t t, bool communicates = true) {
    a.push_back(ta);
    b.push_back(tb);
    truth.push_back(t);
    flags.push_back(communicates ? k_in_communication : 0);
  }
  template <class Sums>
  void feed(Sums& sums, std::size_t block, bool with_truth = true) const {
    for (std::size_t i = 0; i < a.size(); i += block) {
      const std::size_t n = std::min(block, a.size() - i);
      const auto part = [&]<class T>(const std::vector<T>& all) {
        return std::vector<T>(all.data() + i, all.data() + i + n);
      };
      LocationTimes times{part(a), part(b), {}, part(flags)};
      if (with_truth) times.truth = part(truth);
      sums.add(times);
    }
  }
};

CompareReport compared(const std::vector<Columns>& locations, std::size_t block = 1000) {
  TruthFit fit;
  for (const Columns& columns : locations) {
    TruthFit one;
    columns.feed(one, block);
    fit.merge(one);
  }
  DifferenceSums sums(fit);
  for (const Columns& columns : locations) {
    DifferenceSums one(fit);
    columns.feed(one, block);
    sums.merge(one);
  }
  CompareReport report;
  sums.fill(report, k_ns);
  return report;
}

TEST(Distribution, is_zero_without_values) {
  const DifferenceStatistics none = Distribution().statistics(k_ns);
  EXPECT_EQ(none.events, 0u);
  EXPECT_EQ(none.rms_s, 0);
  EXPECT_EQ(none.p99_s, 0);
}

TEST(Distribution, small_sets_are_exact) {
  Distribution d;
  for (int i = 1; i <= 200; ++i) d.add(i % 2 == 0 ? i : -i);
  const DifferenceStatistics s = d.statistics(1);
  EXPECT_EQ(s.events, 200u);
  EXPECT_DOUBLE_EQ(s.max_s, 200);
  EXPECT_DOUBLE_EQ(s.p99_s, 198);  // rank ceil(0.99 * 200)
  EXPECT_DOUBLE_EQ(s.mean_s, 0.5);
  EXPECT_DOUBLE_EQ(s.rms_s, std::sqrt(201.0 * 401.0 / 6.0));
}

TEST(Distribution, one_value_is_its_own_percentile) {
  Distribution d;
  d.add(-7);
  EXPECT_DOUBLE_EQ(d.statistics(1).p99_s, 7);
  EXPECT_DOUBLE_EQ(d.statistics(1).mean_s, -7);
}

/// Values over many orders of magnitude, more of them than are kept.
std::vector<double> wide_values(std::size_t n) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back((random() & 1u ? 1 : -1) * std::exp(30 * u));
  }
  return values;
}

double exact_p99(std::vector<double> values) {
  for (double& v : values) v = std::fabs(v);
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(values.size()))) - 1];
}

TEST(Distribution, large_sets_keep_the_percentile_within_its_bound) {
  const std::vector<double> values = wide_values(3 * Distribution::k_exact);
  Distribution d;
  for (const double v : values) d.add(v);
  const double exact = exact_p99(values);
  EXPECT_NEAR(d.statistics(1).p99_s, exact, 0.004 * exact);
}

TEST(Distribution, merging_equals_adding) {
  const std::vector<double> values = wide_values(Distribution::k_exact + 100);
  const std::size_t n = values.size();
  for (const std::size_t cut : {std::size_t{0}, std::size_t{50}, n / 2, n}) {
    Distribution whole, left, right;
    for (std::size_t i = 0; i < n; ++i) {
      whole.add(values[i]);
      (i < cut ? left : right).add(values[i]);
    }
    left.merge(right);
    const DifferenceStatistics x = whole.statistics(1), y = left.statistics(1);
    EXPECT_EQ(x.events, y.events);
    EXPECT_EQ(x.p99_s, y.p99_s);
    EXPECT_EQ(x.max_s, y.max_s);
    EXPECT_NEAR(x.rms_s, y.rms_s, 1e-12 * x.rms_s);
  }
}

TEST(AffineFit, finds_a_line_far_from_the_origin) {
  // 10^18 ticks from 0 and a window of one second: squares of raw times would lose everything.
  constexpr std::int64_t base = 1'000'000'000'000'000'000;
  AffineFit fit, first, second;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const std::int64_t x = i * 50'000;
    const std::int64_t error = -4'000'000'000'000 + x / 1000 + (i % 2 == 0 ? 3 : -3);
    fit.add(base + x, error);
    (i < 300 ? first : second).add(base + x, error);
  }
  EXPECT_NEAR(fit.line().rate, 1e-3, 1e-9);
  EXPECT_NEAR(fit.line()(base), -4e12, 1);
  first.merge(second);
  EXPECT_NEAR(first.line().rate, fit.line().rate, 1e-15);
  EXPECT_NEAR(first.line()(base), fit.line()(base), 1e-2);
}

TEST(AffineFit, degenerate_sets_have_no_rate) {
  EXPECT_EQ(AffineFit().line()(123), 0);
  AffineFit fit;
  fit.add(50, 10);
  fit.add(50, 20);
  EXPECT_EQ(fit.line().rate, 0);
  EXPECT_DOUBLE_EQ(fit.line()(999), 15);
}

TEST(Difference, sign_is_b_minus_a) {
  Columns c;
  c.add(100, 107, 100);
  c.add(200, 203, 200, false);
  DifferenceSums sums;
  c.feed(sums, 1, false);
  CompareReport report;
  sums.fill(report, 1);
  EXPECT_DOUBLE_EQ(report.all.mean_s, 5);
  EXPECT_DOUBLE_EQ(report.communication.mean_s, 7);
  EXPECT_EQ(report.communication.events, 1u);
  EXPECT_FALSE(report.a_error.has_value());
}

TEST(Difference, common_affine_function_is_no_error) {
  std::vector<Columns> locations(3);
  for (std::int64_t i = 0; i < 5000; ++i) {
    const std::int64_t t = 1'800'000'000'000 + i * 10'000;
    Columns& c = locations[static_cast<std::size_t>(i % 3)];
    c.add(t + 5'000'000 + i, t, t, i % 5 == 0);  // A: 5 ms late and 100 ppm fast, all alike
  }
  const CompareReport report = compared(locations);
  ASSERT_TRUE(report.a_error && report.b_error);
  EXPECT_LT(report.a_error->all.max_s, 1e-12);
  EXPECT_NEAR(report.a_error->affine_ppm, 100, 1e-6);
  EXPECT_NEAR(report.a_error->affine_offset_s, 5e-3, 1e-12);
  EXPECT_EQ(report.b_error->all.max_s, 0);
  EXPECT_NEAR(report.all.mean_s, -5e-3 - 2.4995e-6, 1e-12);
}

TEST(Difference, errors_of_one_location_stay) {
  // Two locations, one of them 10 us late: the mean goes, +-5 us stay.
  std::vector<Columns> locations(2);
  for (std::int64_t i = 0; i < 1000; ++i) {
    locations[0].add(i * 1000, i * 1000, i * 1000);
    locations[1].add(i * 1000 + 10'000, i * 1000, i * 1000);
  }
  const CompareReport report = compared(locations);
  EXPECT_NEAR(report.a_error->communication.rms_s, 5e-6, 1e-12);
  EXPECT_NEAR(report.a_error->communication.p99_s, 5e-6, 1e-12);
  EXPECT_NEAR(report.a_error->communication.mean_s, 0, 1e-15);
}

TEST(Difference, line_is_fitted_over_communication_only) {
  // Everything before the first session is wildly wrong; that must not reach the figure.
  std::vector<Columns> locations(1);
  for (std::int64_t i = 0; i < 100; ++i) locations[0].add(i + 1'000'000 * (100 - i), i, i, false);
  for (std::int64_t i = 100; i < 200; ++i) locations[0].add(i + 77, i, i, true);
  const CompareReport report = compared(locations);
  EXPECT_LT(report.a_error->communication.max_s, 1e-15);
  EXPECT_GT(report.a_error->all.max_s, 0.09);
}

TEST(Difference, without_communication_the_line_is_fitted_over_everything) {
  std::vector<Columns> locations(1);
  for (std::int64_t i = 0; i < 100; ++i) locations[0].add(i * 1000 + 77, i * 1000, i * 1000, false);
  const CompareReport report = compared(locations);
  EXPECT_EQ(report.a_error->communication.events, 0u);
  EXPECT_LT(report.a_error->all.max_s, 1e-15);
}

TEST(Difference, size_of_blocks_does_not_matter) {
  std::vector<Columns> locations(2);
  std::mt19937_64 random(3);
  for (std::int64_t i = 0; i < 20'000; ++i) {
    const auto noise = static_cast<std::int64_t>(random() % 10'000);
    locations[i % 2 == 0 ? 0 : 1].add(i * 500 + noise, i * 500, i * 500, i % 3 == 0);
  }
  const CompareReport x = compared(locations, 1), y = compared(locations, 4097);
  EXPECT_EQ(x.a_error->communication.rms_s, y.a_error->communication.rms_s);
  EXPECT_EQ(x.a_error->all.p99_s, y.a_error->all.p99_s);
  EXPECT_EQ(x.all.mean_s, y.all.mean_s);
}

}  // namespace
}  // namespace entrain::accuracy
