// SPDX-License-Identifier: BSD-3-Clause
#include "fit/work_estimate.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Eigen/SparseCore>

#include "base/flat_map.hpp"
#include "fit/sparse_factor.hpp"

namespace entrain::fit {

namespace {

constexpr std::size_t k_as_one = 8;  ///< least knots merged into one; work_estimate_test.cpp
constexpr std::size_t k_coarse_size = 1024;  ///< unknowns left after merging, approximately

}  // namespace

double estimate_work(std::size_t clocks, std::size_t knots,
                     std::span<const FitConstraint> constraints) {
  const std::size_t as_one =
      std::clamp(clocks * knots / k_coarse_size, std::min(k_as_one, knots), knots);
  const std::size_t pieces = (knots + as_one - 1) / as_one;
  const std::size_t size = clocks * pieces;
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](std::size_t row, std::size_t column) {
    entries.emplace_back(static_cast<int>(row), static_cast<int>(column), 1);
  };
  for (std::size_t i = 0; i < size; ++i) {
    add(i, i);
    if (i % pieces != 0) add(i, i - 1);
  }
  FlatMap<std::uint64_t, std::uint8_t, IntegerHash> seen;
  const auto piece_of = [&](std::uint32_t unknown) {
    return unknown / knots * pieces + unknown % knots / as_one;
  };
  for (const FitConstraint& constraint : constraints) {
    const auto [low, high] = std::minmax({piece_of(constraint.from), piece_of(constraint.to)});
    if (seen.insert(std::uint64_t{low} * size + high, 0).second) add(high, low);
  }
  SparseFactor::Matrix lower(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
  lower.setFromTriplets(entries.begin(), entries.end());
  SparseFactor factor;
  factor.analyse(lower);
  return static_cast<double>(as_one * as_one * as_one) * factor.work();
}

}  // namespace entrain::fit
