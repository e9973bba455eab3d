// SPDX-License-Identifier: BSD-3-Clause
#include "causal/constraint_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/executor.hpp"

namespace entrain::causal {

namespace {

constexpr std::size_t k_cache_block = std::size_t{1} << 16;  ///< constraints per task of a thread
constexpr double k_cache_rounding = 1e-12;  ///< rounding of excess(), share of the largest unknown

/// Numbers of the constraints in [begin, end) that `v` exceeds, or misses by less than `margin`.
std::vector<std::uint32_t> constraints_near(std::span<const FitConstraint> constraints,
                                            std::size_t begin, std::size_t end,
                                            std::span<const double> v, double margin) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = begin; i < end; ++i) {
    if (constraints[i].excess(v) > -margin) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

}  // namespace

void ConstraintCache::reset(std::span<const FitConstraint> constraints) {
  seen_.clear();
  constraints_ = constraints;
  sensitivity_ = 2;
  for (const FitConstraint& constraint : constraints)
    sensitivity_ = std::max(sensitivity_, constraint.sensitivity());
}

/// True if the cache holds all constraints that are active where no unknown is further than `move`
/// from `seen_`.
bool ConstraintCache::covers(double move, double largest) const {
  return move == 0 || sensitivity_ * move + k_cache_rounding * (largest + move) < margin_;
}

std::span<const std::uint32_t> ConstraintCache::at(std::span<const double> v) {
  double move = 0, largest = 0;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    move = std::max(move, std::abs(v[i] - seen_[i]));
    largest = std::max(largest, std::abs(v[i]));
  }
  if (seen_.empty() || !covers(move, largest)) look(v, 2 * sensitivity_ * move);
  return near_;
}

std::span<const std::uint32_t> ConstraintCache::along(std::span<const double> v,
                                                      std::span<const double> step) {
  double move = 0, largest = 0, length = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double end = v[i] + step[i], seen = seen_.empty() ? 0 : seen_[i];
    move = std::max({move, std::abs(v[i] - seen), std::abs(end - seen)});
    largest = std::max({largest, std::abs(v[i]), std::abs(end)});
    length = std::max(length, std::abs(step[i]));
  }
  if (seen_.empty() || !covers(move, largest))
    look(v, 2 * (sensitivity_ * length + k_cache_rounding * largest));
  return near_;
}

void ConstraintCache::expect(std::span<const double> v, double step) {
  const double enough = 4 * sensitivity_ * step;
  if (near_.size() > constraints_.size() / 8 && margin_ > 4 * enough) look(v, enough);
}

void ConstraintCache::look(std::span<const double> v, double margin) {
  seen_.assign(v.begin(), v.end());
  margin_ = margin;
  std::vector<std::vector<std::uint32_t>> found(constraints_.size() / k_cache_block + 1);
  for_each_in_parallel(threads_, found.size(), [&](std::size_t b) {
    found[b] = constraints_near(constraints_, b * k_cache_block,
                                std::min((b + 1) * k_cache_block, constraints_.size()), v, margin);
  });
  near_.clear();
  for (const std::vector<std::uint32_t>& of_block : found)
    near_.insert(near_.end(), of_block.begin(), of_block.end());
}

}  // namespace entrain::causal
