// SPDX-License-Identifier: BSD-3-Clause
#include "fit/block_band.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "base/random.hpp"

namespace entrain::fit {
namespace {

using BandValue = BlockBand::Value;

/// A band and the same matrix as a whole.
struct BandAndWhole {
  BandAndWhole(std::size_t all_clocks, std::size_t all_knots, std::uint64_t seed)
      : clocks(all_clocks),
        whole(Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(clocks * all_knots),
                                    static_cast<Eigen::Index>(clocks * all_knots))) {
    RandomStream random(seed, 0);
    band.clear(clocks, all_knots);
    for (std::size_t a = 0; a < clocks * all_knots; ++a) {
      add(value(a), value(a), 8.0 * static_cast<double>(clocks));
      for (std::size_t b = 0; b < a; ++b) {
        if (value(a).knot - value(b).knot <= BlockBand::k_reach && random.below(3) != 0)
          add(value(a), value(b), random.uniform(-1, 1));
      }
    }
  }
  [[nodiscard]] BandValue value(std::size_t i) const { return {i / clocks, i % clocks}; }
  [[nodiscard]] Eigen::Index at(const BandValue& v) const {
    return static_cast<Eigen::Index>(v.knot * clocks + v.clock);
  }
  void add(const BandValue& a, const BandValue& b, double x) {
    band.add(a, b, x);
    whole(at(a), at(b)) += x;
    if (at(a) != at(b)) whole(at(b), at(a)) += x;
  }

  std::size_t clocks;
  BlockBand band;
  Eigen::MatrixXd whole;
};

TEST(BlockBand, solves_the_equations_of_the_whole_matrix) {
  for (const std::size_t clocks : {1u, 2u, 4u, 7u, 13u}) {
    for (const std::size_t knots : {3u, 4u, 5u, 12u}) {
      BandAndWhole both(clocks, knots, clocks * 100 + knots);
      ASSERT_TRUE(both.band.factorise());
      RandomStream random(3, clocks);
      Eigen::VectorXd right(both.whole.rows());
      for (Eigen::Index i = 0; i < right.size(); ++i) right[i] = random.uniform(-1, 1);
      const Eigen::VectorXd expected = both.whole.ldlt().solve(right);
      std::vector<double> solved(right.data(), right.data() + right.size());
      both.band.solve(solved);
      for (std::size_t i = 0; i < solved.size(); ++i)
        EXPECT_NEAR(solved[i], expected[static_cast<Eigen::Index>(i)], 1e-12);
      EXPECT_NEAR(both.band.log_determinant(), both.whole.ldlt().vectorD().array().log().sum(),
                  1e-9);
    }
  }
}

TEST(BlockBand, a_matrix_that_is_not_definite_is_refused) {
  for (const std::size_t knot : {0u, 3u, 7u}) {
    BandAndWhole both(3, 8, 7);
    both.add({knot, 1}, {knot, 1}, -100);
    EXPECT_FALSE(both.band.factorise()) << knot;
  }
}

TEST(BlockBand, begins_anew) {
  BandAndWhole used(5, 6, 1);
  ASSERT_TRUE(used.band.factorise());
  used.band.clear(2, 4);
  for (std::size_t i = 0; i < 8; ++i) used.band.add({i / 2, i % 2}, {i / 2, i % 2}, 4);
  ASSERT_TRUE(used.band.factorise());
  std::vector<double> v(8, 1.0);
  used.band.solve(v);
  EXPECT_EQ(v, std::vector<double>(8, 0.25));
}

}  // namespace
}  // namespace entrain::fit
