// SPDX-License-Identifier: BSD-3-Clause
#include "match/delay_outliers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace entrain::match {

namespace {

/// Thresholds of outliers, in pairs; chosen, not measured one by one; delay_outliers_test.cpp
/// exercises them. With 1 % of the records lost, the trace ring-dense needs `neighbours` (1 pair of
/// 15,747 was 47 ms early), and amg-8 needs `around` (pairs 7 to 61 us early).
struct Outlier {
  static constexpr std::size_t neighbours = 8;  ///< most compared, on each side
  static constexpr std::size_t fewest = 4;      ///< least compared, on each side
  static constexpr std::size_t around = 256;    ///< most on each side for the least delays
  static constexpr std::size_t least = 8;       ///< number of least delays
};

/// Returns a - b of stored stamps, clamped: damaged stamps may be arbitrary.
std::int64_t ticks_between_stamps(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 60;
  return a >= b ? static_cast<std::int64_t>(std::min(a - b, k_most))
                : -static_cast<std::int64_t>(std::min(b - a, k_most));
}

/// Statistics of the delays around a pair, ticks.
struct Neighbours {
  std::int64_t least = 0, most = 0, median = 0;
  std::int64_t floor_moves = 0, ceiling_moves = 0;  ///< change of minimum and maximum at the pair
};

Neighbours neighbours_of(std::span<const std::int64_t> before,
                         std::span<const std::int64_t> after) {
  const auto [least_before, most_before] = std::ranges::minmax_element(before);
  const auto [least_after, most_after] = std::ranges::minmax_element(after);
  std::array<std::int64_t, 2 * Outlier::neighbours> all{};
  const auto end = std::ranges::copy(after, std::ranges::copy(before, all.begin()).out).out;
  const auto median = all.begin() + (end - all.begin()) / 2;
  std::nth_element(all.begin(), median, end);
  return {
      .least = std::min(*least_before, *least_after),
      .most = std::max(*most_before, *most_after),
      .median = *median,
      .floor_moves = std::max(*least_before, *least_after) - std::min(*least_before, *least_after),
      .ceiling_moves = std::max(*most_before, *most_after) - std::min(*most_before, *most_after)};
}

bool is_too_early(std::int64_t delay, const Neighbours& n) {
  return (n.least - delay) / 2 > n.median - n.least + n.floor_moves;
}
bool is_too_late(std::int64_t delay, const Neighbours& n) {
  return (delay - n.most) / 2 > n.most - n.median + n.ceiling_moves;
}

/// Delays of pairs, and the stamps of their first ends, ticks.
struct PairDelays {
  std::vector<std::int64_t> delay;
  std::vector<std::uint64_t> time;

  PairDelays(const Side& first, const Side& second, const Alignment& alignment) {
    delay.reserve(alignment.pairs.size());
    time.reserve(alignment.pairs.size());
    for (const auto& [a, b] : alignment.pairs) {
      time.push_back(first.records[a].time);
      delay.push_back(ticks_between_stamps(second.records[b].time, time.back()));
    }
  }
  [[nodiscard]] std::size_t size() const { return delay.size(); }
  /// True if a neighbour has a delay as low and, where late pairs count, one has a delay as high:
  /// most pairs, found soon.
  [[nodiscard]] bool is_usual(std::size_t k, DelayKind kind) const {
    const auto any = [&](auto compare) {
      const auto is_beyond = [&](std::int64_t other) { return compare(other, delay[k]); };
      return std::ranges::any_of(before(k), is_beyond) ||
             std::ranges::any_of(from(k + 1), is_beyond);
    };
    return any(std::less_equal<>()) &&
           (kind == DelayKind::above_latency || any(std::greater_equal<>()));
  }
  /// Delays of the neighbours before the k-th pair, or from it on.
  [[nodiscard]] std::span<const std::int64_t> before(std::size_t k) const {
    const std::size_t first = k - std::min(k, Outlier::neighbours);
    return std::span(delay).subspan(first, k - first);
  }
  [[nodiscard]] std::span<const std::int64_t> from(std::size_t k) const {
    return std::span(delay).subspan(k, std::min(size() - k, Outlier::neighbours));
  }

  /// True if the k-th delay is far below the least delays around it. Costly: call it only for
  /// delays below those of the neighbours.
  [[nodiscard]] bool is_below_least(std::size_t k) const {
    const std::span all(delay);
    const auto before = all.subspan(k - std::min(k, Outlier::around), std::min(k, Outlier::around));
    const auto after = all.subspan(k + 1, std::min(size() - k - 1, Outlier::around));
    if (before.size() < Outlier::neighbours || after.size() < Outlier::neighbours) return false;
    const auto is_as_low = [&](std::int64_t other) { return other <= delay[k]; };
    if (std::ranges::any_of(after, is_as_low) ||
        std::any_of(before.rbegin(), before.rend(), is_as_low)) {
      return false;  // the rest is slow
    }
    std::array<std::int64_t, 2 * Outlier::around> both{};
    const auto end = std::ranges::copy(after, std::ranges::copy(before, both.begin()).out).out;
    const std::int64_t least_before = *std::ranges::min_element(before);
    const std::int64_t least_after = *std::ranges::min_element(after);
    const std::int64_t least = std::min(least_before, least_after);
    std::nth_element(both.begin(), both.begin() + (Outlier::least - 1), end);
    const std::int64_t moves = std::max(least_before, least_after) - least;
    return (least - delay[k]) / 2 > std::max(both[Outlier::least - 1] - least, moves);
  }

  /// True if the k-th delay is off by more than half of the distance to a neighbour.
  [[nodiscard]] bool reaches_another(std::size_t k, const Neighbours& n) const {
    const std::int64_t spacing = std::min(ticks_between_stamps(time[k], time[k - 1]),
                                          ticks_between_stamps(time[k + 1], time[k]));
    return std::max(delay[k] - n.median, n.median - delay[k]) > spacing / 2;
  }
  [[nodiscard]] bool jumps_at(std::size_t k) const {
    const auto [least_before, most_before] = std::ranges::minmax_element(before(k));
    const auto [least_after, most_after] = std::ranges::minmax_element(from(k));
    const std::int64_t jump = std::max(*least_before - *most_after, *least_after - *most_before);
    const std::int64_t spread = *most_before - *least_before + *most_after - *least_after;
    return jump > spread && jump > usual_spacing(k) / 2;
  }

 private:
  /// Median distance of adjacent first ends around the k-th pair, ticks.
  [[nodiscard]] std::int64_t usual_spacing(std::size_t k) const {
    std::vector<std::int64_t> spacings;
    const std::size_t end = std::min(size(), k + Outlier::neighbours);
    for (std::size_t i = k - std::min(k, Outlier::neighbours) + 1; i < end; ++i) {
      spacings.push_back(ticks_between_stamps(time[i], time[i - 1]));
    }
    const auto median = spacings.begin() + static_cast<std::ptrdiff_t>(spacings.size() / 2);
    std::nth_element(spacings.begin(), median, spacings.end());
    return *median;
  }
};

/// Makes the marked pairs ambiguous.
void keep_others(std::span<const std::uint8_t> marked, Alignment& alignment) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < marked.size(); ++k) {
    if (marked[k] == 0) alignment.pairs[kept++] = alignment.pairs[k];
  }
  alignment.pairs.resize(kept);
  alignment.ambiguous += marked.size() - kept;
}

}  // namespace

void remove_delay_outliers(const Side& first, const Side& second, DelayKind kind,
                           Alignment& alignment) {
  const PairDelays all(first, second, alignment);
  auto& pairs = alignment.pairs;
  if (pairs.size() <= 2 * Outlier::fewest) return;
  std::vector<std::uint8_t> is_outlier(pairs.size(), 0);
  for (std::size_t k = Outlier::fewest; k + Outlier::fewest < pairs.size(); ++k) {
    if (all.is_usual(k, kind)) continue;
    const Neighbours around = neighbours_of(all.before(k), all.from(k + 1));
    const bool early = is_too_early(all.delay[k], around);
    is_outlier[k] =
        kind == DelayKind::above_latency
            ? early || (all.delay[k] < around.least && all.is_below_least(k))
            : (early || is_too_late(all.delay[k], around)) && all.reaches_another(k, around);
  }
  keep_others(is_outlier, alignment);
  if (kind == DelayKind::above_latency) return;
  const PairDelays rest(first, second, alignment);
  for (std::size_t k = Outlier::fewest; k + Outlier::fewest <= rest.size(); ++k) {
    if (!rest.jumps_at(k)) continue;
    alignment.ambiguous += pairs.size();
    pairs.clear();
    return;
  }
}

}  // namespace entrain::match
