// SPDX-License-Identifier: BSD-3-Clause
#include "causal/common_ends.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "causal/clock_domains.hpp"

namespace entrain::causal {

namespace {

/// By which clocks' rates may differ where nothing is assumed: time must not run backward.
constexpr double k_most_rate = 0.5;
constexpr double k_us_per_s = 1e6;

/// By how many spreads of ends bends may leave edges violated, which amortization removes.
constexpr std::int64_t k_tolerated_spreads = 32;

}  // namespace

Result<void> CommonEnds::find(const Clocks& clocks, const Edges& edges) {
  TRY_ASSIGN(ends_,
             lines::find_simultaneous_ends(clocks, edges, context_.threads, context_.progress));
  return {};
}

bool CommonEnds::set(std::span<const char> votes) {
  if (!ends_) return false;
  const lines::SimultaneousEnds& ends = *ends_;
  std::optional<std::uint32_t> reference;
  if (!context_.reference.consensus) {
    reference = context_.reference.location == k_none ? 0 : context_.reference.location;
  }
  std::optional<std::vector<ClockMap>> maps = lines::maps_of(
      ends, reference, context_.prior.limited ? context_.prior.mean() : k_most_rate, votes);
  if (!maps) return false;
  // The rest that bends leave is small and amortized later; a fit by edges would lose the bends.
  const std::int64_t tolerance = ends.bends.empty() ? 0 : k_tolerated_spreads * ends.spread;
  if (any_violation(context_, *maps, tolerance)) {
    if (!ends.bends.empty()) set_aside_ = std::move(maps);
    return false;
  }
  take(*std::move(maps));
  return true;
}

void CommonEnds::take(std::vector<ClockMap> maps) {
  const lines::SimultaneousEnds& ends = *ends_;
  const auto kept = std::count_if(maps.begin(), maps.end(),
                                  [](const ClockMap& map) { return map.is_identity(); });
  const double us_per_tick =
      k_us_per_s / static_cast<double>(context_.trace().definitions.clock.resolution_hz);
  presync_.clocks.reason =
      fmt::format("ends of collectives coincide within {:.3g} us (median): {}; {} of {} clocks {}",
                  static_cast<double>(ends.spread) * us_per_tick,
                  ends.bends.empty() ? "straight lines" : "lines with bends", kept, maps.size(),
                  kept == 1 ? "stays" : "stay");
  presync_.method = PresyncMethod::causal;
  presync_.provenance = fmt::format("causal base={} ends", measured_.provenance);
  presync_.maps = std::move(maps);
}

void CommonEnds::choose_less_violated() {
  if (!set_aside_) return;
  const auto violated = [&](std::span<const ClockMap> maps, std::int64_t by) {
    return any_violation(context_, maps, by);
  };
  std::int64_t by = std::max<std::int64_t>(ends_->spread, 1);
  while (violated(presync_.maps, by)) {
    if (!violated(*set_aside_, by)) return take(*std::move(set_aside_));
    by *= 2;
  }
}

}  // namespace entrain::causal
