// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/steps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace entrain::tables {
namespace {

std::string seconds_text(std::uint64_t ticks, std::uint64_t ticks_per_second) {
  double value = static_cast<double>(ticks) / static_cast<double>(ticks_per_second);
  for (const char* const unit : {"s", "ms", "us"}) {
    if (value >= 1) return fmt::format("{:g} {}", value, unit);
    value *= 1000;
  }
  return fmt::format("{:g} ns", value);
}

/// The double nearest to a time of so many ticks per unit, ticks.
std::uint64_t nearest_double(std::uint64_t time, double unit) {
  const auto value = static_cast<double>(static_cast<long double>(time) / unit);
  return static_cast<std::uint64_t>(std::llround(static_cast<long double>(value) * unit));
}

}  // namespace

void Step::learn(std::uint64_t time) {
  if (divisor_ != 1) divisor_ = std::gcd(divisor_, time);
  if (unit_ > 0) {  // the last digit of a number stands for the divisor or more
    const std::uint64_t near = nearest_double(time, unit_);
    if (2 * (std::max(near, time) - std::min(near, time)) > divisor_ + 1) unit_ = 0;
    most_ = std::max(most_, time);
  }
  if (count_ == 0 || step_ == 1) return;
  const std::uint64_t distance = time > last_ ? time - last_ : last_ - time;
  step_ = std::gcd(step_, distance);
  equal_ += distance == 0 ? 1 : 0;
  bool is_new = distance > 0;
  for (std::size_t lag = 1; lag <= k_lags && lag < count_; ++lag) {
    const bool differs = distances_[(count_ + 1 + k_lags - lag) % k_lags] != distance;
    changes_[lag - 1] += differs ? 1 : 0;
    is_new = is_new && differs;
  }
  new_ += is_new ? 1 : 0;
  distances_[(count_ + 1) % k_lags] = distance;
}

std::uint64_t Step::step_of_doubles() const {
  constexpr double k_least_bits = 31;
  if (unit_ == 0 || most_ == 0) return 1;
  const double size = std::ldexp(unit_, std::ilogb(static_cast<double>(most_) / unit_) + 1 -
                                            std::numeric_limits<double>::digits);
  const double bits = std::log2(size / static_cast<double>(divisor_ + 1));
  return bits * static_cast<double>(count_) < k_least_bits
             ? 1
             : static_cast<std::uint64_t>(std::ceil(size));
}

std::uint64_t Step::nearest(std::uint64_t time) const {
  return step_of_doubles() == 1 ? time : nearest_double(time, unit_);
}

std::uint64_t Step::learned() const {
  constexpr std::uint64_t k_least_bits = 31;  // odds that all are multiples by chance: 2^-31
  constexpr std::uint64_t k_least_new = 11;  // odds that all are multiples of twice the step: 2^-11
  constexpr std::uint64_t k_least_stamps = 32;
  const std::uint64_t doubles = step_of_doubles();
  if (step_ <= 1 || doubles > 1) return std::max(step_, doubles);
  const auto bits = new_ * static_cast<std::uint64_t>(std::bit_width(step_) - 1);
  const bool is_shown = new_ >= k_least_new && bits >= k_least_bits;
  return is_shown || (count_ >= k_least_stamps && fewest_changes() > 2 * k_lags) ? step_ : 1;
}

std::uint64_t Step::whole() const {
  constexpr std::uint64_t k_least_stamps = 8, k_regular_share = 8;
  const std::uint64_t irregular = equal_ + fewest_changes();
  if (count_ < k_least_stamps || irregular * k_regular_share < count_) return 1;
  for (const std::uint64_t unit : {1'000'000'000U, 1'000'000U, 1'000U}) {
    if (divisor_ % unit == 0) return unit;
  }
  return 1;
}

std::uint64_t Step::fewest_changes() const { return std::ranges::min(changes_); }

void note_steps(const std::map<std::uint64_t, std::vector<std::string>>& clocks_of,
                std::uint64_t ticks_per_second, std::vector<std::string>& notes) {
  for (const auto& [step, names] : clocks_of) {
    const std::size_t others = names.size() - 1;
    notes.push_back(fmt::format(
        "clock {}{} counts in steps of {}: its effects count as at the ends of their steps",
        names.front(),
        others == 0 ? "" : fmt::format(", as {} other{},", others, others == 1 ? "" : "s"),
        seconds_text(step, ticks_per_second)));
  }
}

}  // namespace entrain::tables
