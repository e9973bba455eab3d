// SPDX-License-Identifier: BSD-3-Clause
#include "verify/latency.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

namespace entrain::verify {
namespace {

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

/// The two locations without regard to the direction.
auto unordered_pair(const OneWayDelay& delay) {
  return std::tuple(delay.latency_class, std::min(delay.from, delay.to),
                    std::max(delay.from, delay.to));
}

/// Smallest delay there plus smallest delay back; empty when one direction has no message.
std::optional<std::int64_t> round_trip(std::span<const OneWayDelay> between) {
  std::optional<std::int64_t> up, down;
  for (const OneWayDelay& delay : between) {
    auto& smallest = delay.from < delay.to ? up : down;
    smallest = std::min(smallest.value_or(delay.delay_ticks), delay.delay_ticks);
  }
  if (!up || !down) return std::nullopt;
  return saturating_sum(*up, *down);
}

}  // namespace

MuTicks estimate_round_trip_mu(std::vector<OneWayDelay> delays) {
  std::erase_if(delays, [](const OneWayDelay& delay) { return delay.from == delay.to; });
  std::sort(delays.begin(), delays.end(), [](const OneWayDelay& a, const OneWayDelay& b) {
    return unordered_pair(a) < unordered_pair(b);
  });
  std::array<std::optional<std::int64_t>, k_latency_classes> smallest;
  for (auto first = delays.begin(); first != delays.end();) {
    const auto last = std::find_if(first, delays.end(), [&](const OneWayDelay& delay) {
      return unordered_pair(delay) != unordered_pair(*first);
    });
    if (const auto sum = round_trip({first, last})) {
      auto& of_class = smallest[static_cast<std::size_t>(first->latency_class)];
      of_class = std::min(of_class.value_or(*sum), *sum);
    }
    first = last;
  }
  MuTicks mu{};
  for (std::size_t i = 0; i < mu.size(); ++i) {
    mu[i] = std::max<std::int64_t>(smallest[i].value_or(0), 0) / 4;
  }
  return mu;
}

}  // namespace entrain::verify
