// SPDX-License-Identifier: BSD-3-Clause
#include "causal/common_ends.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/try.hpp"
#include "causal/clock_domains.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::causal {

namespace {

/// By which clocks' rates may differ where nothing is assumed: time must not run backward.
constexpr double k_most_rate = 0.5;
constexpr double k_us_per_s = 1e6;

/// By how many spreads of ends bends may leave edges violated, which amortization removes.
constexpr std::int64_t k_tolerated_spreads = 32;

/// Times at which maps are compared.
constexpr std::size_t k_times = 65;

/// Violations that a fit may leave, ticks: beyond, times are of no one run.
constexpr std::int64_t k_most_left = std::int64_t{1} << 60;

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
    if (by > k_most_left) return;
  }
}

std::vector<std::size_t> CommonEnds::clocks_that_agree() const {
  const std::vector<trace::LocationSkeleton>& locations = context_.trace().locations;
  const std::vector<ClockMap>& maps = presync_.maps;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  std::vector<std::size_t> clocks;
  for (std::size_t l = 0; l < maps.size(); ++l) {
    if (locations[l].event_count == 0) continue;
    clocks.push_back(l);
    first = std::min(first, locations[l].first);
    last = std::max(last, locations[l].last);
  }
  std::vector<std::array<std::int64_t, k_times>> shown(maps.size());
  for (const std::size_t l : clocks) {
    for (std::size_t k = 0; k < k_times; ++k) {
      shown[l][k] = maps[l](first + (last - first) / (k_times - 1) * k);
    }
  }
  const auto middle = [&](std::size_t l) { return shown[l][k_times / 2]; };
  std::ranges::stable_sort(clocks, {}, middle);
  const std::int64_t most = k_tolerated_spreads * std::max<std::int64_t>(ends_->spread, 1);
  const auto agree = [&](std::int64_t a, std::int64_t b) { return std::abs(a - b) <= most; };
  std::vector<std::size_t> best;
  for (std::size_t k = 0; k < clocks.size(); ++k) {  // those near to a clock come after it
    std::vector<std::size_t> own;
    for (std::size_t n = k; n < clocks.size() && agree(middle(clocks[n]), middle(clocks[k])); ++n) {
      if (std::ranges::equal(shown[clocks[n]], shown[clocks[k]], agree)) own.push_back(clocks[n]);
    }
    if (own.size() > best.size()) best = std::move(own);
  }
  return best;
}

void CommonEnds::let_most_stay() {
  if (!ends_ || !context_.reference.consensus || context_.reference.location != k_none) return;
  const std::vector<ClockMap>& maps = presync_.maps;
  for (std::size_t l = 0; l < maps.size(); ++l) {
    if (context_.trace().locations[l].event_count > 0 && maps[l].is_identity()) return;
  }
  const std::vector<std::size_t> staying = clocks_that_agree();
  if (staying.size() < 2) return;
  const ClockMap reference = maps[staying[staying.size() / 2]];
  std::vector<ClockMap> referred;
  for (const ClockMap& map : maps) referred.push_back(trace::seen_from(reference, map));
  std::vector<ClockMap> kept = referred;
  for (const std::size_t l : staying) kept[l] = ClockMap();
  std::int64_t by = 0;  // what the fit leaves, which is removed later
  while (any_violation(context_, maps, by)) {
    by = std::max(2 * by, ends_->spread + 1);
    if (by > k_most_left) return;
  }
  for (std::vector<ClockMap>* const found : {&kept, &referred}) {
    if (any_violation(context_, *found, by)) continue;
    presync_.maps = std::move(*found);
    return;
  }
}

}  // namespace entrain::causal
