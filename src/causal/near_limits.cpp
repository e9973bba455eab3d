// SPDX-License-Identifier: BSD-3-Clause
#include "causal/near_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/executor.hpp"

namespace entrain::causal {

namespace {

/// Limits that one thread looks at in a row; fewer do not pay for a thread.
constexpr std::size_t k_block = std::size_t{1} << 16;
/// Rounding errors of a limit, in shares of the largest unknown.
constexpr double k_rounding = 1e-12;

/// The numbers of limits in [begin, end) that `v` exceeds, or misses by less than `margin`.
std::vector<std::uint32_t> near(std::span<const FitLimit> limits, std::size_t begin,
                                std::size_t end, std::span<const double> v, double margin) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = begin; i < end; ++i) {
    if (limits[i].over(v) > -margin) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

}  // namespace

void NearLimits::look_among(std::span<const FitLimit> limits) {
  seen_.clear();
  limits_ = limits;
  reach_ = 2;
  for (const FitLimit& limit : limits) reach_ = std::max(reach_, limit.reach());
}

/// True if all limits that count are known where no unknown is further than `move` from those seen.
bool NearLimits::covers(double move, double largest) const {
  return move == 0 || reach_ * move + k_rounding * (largest + move) < margin_;
}

std::span<const std::uint32_t> NearLimits::at(std::span<const double> v) {
  double move = 0, largest = 0;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    move = std::max(move, std::abs(v[i] - seen_[i]));
    largest = std::max(largest, std::abs(v[i]));
  }
  if (seen_.empty() || !covers(move, largest)) look(v, 2 * reach_ * move);
  return near_;
}

std::span<const std::uint32_t> NearLimits::along(std::span<const double> v,
                                                 std::span<const double> step) {
  double move = 0, largest = 0, length = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double end = v[i] + step[i], seen = seen_.empty() ? 0 : seen_[i];
    move = std::max({move, std::abs(v[i] - seen), std::abs(end - seen)});
    largest = std::max({largest, std::abs(v[i]), std::abs(end)});
    length = std::max(length, std::abs(step[i]));
  }
  if (seen_.empty() || !covers(move, largest))
    look(v, 2 * (reach_ * length + k_rounding * largest));
  return near_;
}

void NearLimits::expect(std::span<const double> v, double step) {
  const double enough = 4 * reach_ * step;
  if (near_.size() > limits_.size() / 8 && margin_ > 4 * enough) look(v, enough);
}

void NearLimits::look(std::span<const double> v, double margin) {
  seen_.assign(v.begin(), v.end());
  margin_ = margin;
  std::vector<std::vector<std::uint32_t>> found(limits_.size() / k_block + 1);
  for_each_in_parallel(threads_, found.size(), [&](std::size_t b) {
    found[b] = near(limits_, b * k_block, std::min((b + 1) * k_block, limits_.size()), v, margin);
  });
  near_.clear();
  for (const std::vector<std::uint32_t>& of_block : found)
    near_.insert(near_.end(), of_block.begin(), of_block.end());
}

}  // namespace entrain::causal
