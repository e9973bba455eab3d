// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/base_line.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/exact.hpp"

namespace entrain::constraints {

namespace {

/// Smallest and largest time, ticks: the difference of any two fits into 64 bits.
constexpr std::int64_t k_least_time = -(std::int64_t{1} << 61), k_most_time = std::int64_t{1} << 62;

std::int64_t clamped(Int128 time) {
  return static_cast<std::int64_t>(std::clamp<Int128>(time, k_least_time, k_most_time));
}

/// rint() of a product that need not fit into an integer.
Int128 rounded(double value) {
  constexpr double k_large = 0x1p100;
  return static_cast<Int128>(std::rint(std::clamp(value, -k_large, k_large)));
}

}  // namespace

std::int64_t BaseLine::operator()(std::uint64_t local) const {
  const Int128 distance = static_cast<Int128>(local) - anchor;
  return clamped(value + distance + rounded(rate * static_cast<double>(distance)));
}

std::uint64_t BaseLine::local_at(std::int64_t time) const {
  const Int128 distance = static_cast<Int128>(time) - value;
  // x = d / (1 + rate) = d - d * rate / (1 + rate): the second part is small.
  const Int128 local =
      distance + anchor - rounded(static_cast<double>(distance) * (rate / (1 + rate)));
  return static_cast<std::uint64_t>(
      std::clamp<Int128>(local, 0, static_cast<Int128>(k_most_time) * 2 - 1));
}

BaseLine chord(const ClockMap& map, std::uint64_t first, std::uint64_t last) {
  BaseLine line;
  line.anchor = first;
  line.value = clamped(map(first));
  if (last > first) {
    const Int128 length = static_cast<Int128>(last) - first;
    const Int128 change = static_cast<Int128>(clamped(map(last))) - line.value - length;
    line.rate = std::max(static_cast<double>(change) / static_cast<double>(length), -0.5);
  }
  return line;
}

double largest_rate(const ClockMap& map, const BaseLine& line, std::uint64_t first,
                    std::uint64_t last) {
  std::vector<std::uint64_t> stamps{first};
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > first && knot.local < last) stamps.push_back(knot.local);
  }
  stamps.push_back(last);
  double largest = 0;
  for (std::size_t k = 1; k < stamps.size(); ++k) {
    if (stamps[k] <= stamps[k - 1]) continue;
    const auto distance = [&](std::uint64_t x) { return static_cast<Int128>(map(x)) - line(x); };
    const auto change = static_cast<double>(distance(stamps[k]) - distance(stamps[k - 1]));
    largest =
        std::max(largest, (std::abs(change) - 2) / static_cast<double>(stamps[k] - stamps[k - 1]));
  }
  return largest;
}

}  // namespace entrain::constraints
