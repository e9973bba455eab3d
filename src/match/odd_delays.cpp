// SPDX-License-Identifier: BSD-3-Clause
#include "match/odd_delays.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace entrain::match {

namespace {

constexpr std::size_t k_neighbours = 8;  ///< on each side, at most
constexpr std::size_t k_fewest = 4;      ///< on each side
constexpr std::size_t k_around = 256;    ///< on each side, for the low end of delays
constexpr std::size_t k_low = 8;         ///< delays that make up the low end

constexpr std::uint32_t k_unknown = trace::RecordedClock::k_unknown;
constexpr std::size_t k_few = 16;  ///< one in so many pairs may contradict the clocks

/// a - b of stored stamps, at most what fits: damaged ones lie anywhere.
std::int64_t ticks_between_stamps(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 60;
  return a >= b ? static_cast<std::int64_t>(std::min(a - b, k_most))
                : -static_cast<std::int64_t>(std::min(b - a, k_most));
}

/// What the neighbours of a pair say.
struct Neighbours {
  std::int64_t least = 0, most = 0, middle = 0;
  std::int64_t floor_moves = 0, ceiling_moves = 0;  ///< between those before and those after
};

Neighbours look_at(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
  const auto [least_before, most_before] = std::minmax_element(before.begin(), before.end());
  const auto [least_after, most_after] = std::minmax_element(after.begin(), after.end());
  std::array<std::int64_t, 2 * k_neighbours> all{};
  const auto end =
      std::copy(after.begin(), after.end(), std::copy(before.begin(), before.end(), all.begin()));
  const auto middle = all.begin() + (end - all.begin()) / 2;
  std::nth_element(all.begin(), middle, end);
  return {
      .least = std::min(*least_before, *least_after),
      .most = std::max(*most_before, *most_after),
      .middle = *middle,
      .floor_moves = std::max(*least_before, *least_after) - std::min(*least_before, *least_after),
      .ceiling_moves = std::max(*most_before, *most_after) - std::min(*most_before, *most_after)};
}

bool is_too_early(std::int64_t delay, const Neighbours& n) {
  return (n.least - delay) / 2 > n.middle - n.least + n.floor_moves;
}
bool is_too_late(std::int64_t delay, const Neighbours& n) {
  return (delay - n.most) / 2 > n.most - n.middle + n.ceiling_moves;
}

/// Delays of pairs, and the stamps of their first ends.
struct PairDelays {
  std::vector<std::int64_t> delay;
  std::vector<std::uint64_t> time;

  PairDelays(const Side& first, const Side& second, const Alignment& alignment) {
    for (const auto& [a, b] : alignment.pairs) {
      time.push_back(first.traits[a].time);
      delay.push_back(ticks_between_stamps(second.traits[b].time, time.back()));
    }
  }
  [[nodiscard]] std::size_t size() const { return delay.size(); }
  /// PairDelays before the k-th one, and from it on.
  [[nodiscard]] std::span<const std::int64_t> before(std::size_t k) const {
    const std::size_t first = k - std::min(k, k_neighbours);
    return std::span(delay).subspan(first, k - first);
  }
  [[nodiscard]] std::span<const std::int64_t> from(std::size_t k) const {
    return std::span(delay).subspan(k, std::min(size() - k, k_neighbours));
  }

  /// True if the k-th one is far below the low end of those around it: the eight least of them lie
  /// closer together, and the least of those before and of those after differ by less. To be asked
  /// of pairs below their neighbours only, as it looks at many.
  [[nodiscard]] bool below_the_low_end(std::size_t k) const {
    const std::span all(delay);
    const auto before = all.subspan(k - std::min(k, k_around), std::min(k, k_around));
    const auto after = all.subspan(k + 1, std::min(size() - k - 1, k_around));
    if (before.size() < k_neighbours || after.size() < k_neighbours) return false;
    const auto as_low = [&](std::int64_t other) { return other <= delay[k]; };
    if (std::any_of(after.begin(), after.end(), as_low) ||
        std::any_of(before.rbegin(), before.rend(), as_low)) {
      return false;  // the rest takes time
    }
    std::array<std::int64_t, 2 * k_around> both{};
    const auto end = std::copy(after.begin(), after.end(),
                               std::copy(before.begin(), before.end(), both.begin()));
    const std::int64_t least_before = *std::min_element(before.begin(), before.end());
    const std::int64_t least_after = *std::min_element(after.begin(), after.end());
    const std::int64_t least = std::min(least_before, least_after);
    std::nth_element(both.begin(), both.begin() + (k_low - 1), end);
    const std::int64_t moves = std::max(least_before, least_after) - least;
    return (least - delay[k]) / 2 > std::max(both[k_low - 1] - least, moves);
  }

  /// True if the k-th one is off by more than half of the way to a neighbour.
  [[nodiscard]] bool reaches_another(std::size_t k, const Neighbours& n) const {
    const std::int64_t way = std::min(ticks_between_stamps(time[k], time[k - 1]),
                                      ticks_between_stamps(time[k + 1], time[k]));
    return std::max(delay[k] - n.middle, n.middle - delay[k]) > way / 2;
  }
  /// True if delays jump between the k-th one and the one before.
  [[nodiscard]] bool jump(std::size_t k) const {
    const auto [least_before, most_before] =
        std::minmax_element(before(k).begin(), before(k).end());
    const auto [least_after, most_after] = std::minmax_element(from(k).begin(), from(k).end());
    const std::int64_t way = std::max(*least_before - *most_after, *least_after - *most_before);
    const std::int64_t apart = *most_before - *least_before + *most_after - *least_after;
    return way > apart && way > usual_way(k) / 2;
  }

 private:
  /// The middle one of the ways from one to the next around the k-th one.
  [[nodiscard]] std::int64_t usual_way(std::size_t k) const {
    std::vector<std::int64_t> ways;
    const std::size_t end = std::min(size(), k + k_neighbours);
    for (std::size_t i = k - std::min(k, k_neighbours) + 1; i < end; ++i) {
      ways.push_back(ticks_between_stamps(time[i], time[i - 1]));
    }
    const auto middle = ways.begin() + static_cast<std::ptrdiff_t>(ways.size() / 2);
    std::nth_element(ways.begin(), middle, ways.end());
    return *middle;
  }
};

/// True if an effect `ticks` after its cause, by clocks as far off as they may be, comes before it.
bool is_impossible(std::int64_t ticks, const Trait& a, const Trait& b) {
  return a.doubt != k_unknown && b.doubt != k_unknown &&
         ticks < -(std::int64_t{a.doubt} + std::int64_t{b.doubt});
}
bool is_impossible(const Trait& a, const Trait& b, DelayKind kind) {
  const std::int64_t ticks = ticks_between_stamps(b.time, a.time);
  if (kind == DelayKind::have_a_floor) return is_impossible(ticks, a, b);
  return a.lasted != k_unknown && b.lasted != k_unknown &&
         (a.heard > b.time || b.heard > a.time || is_impossible(ticks + a.lasted, a, b) ||
          is_impossible(b.lasted - ticks, a, b));
}

/// Takes out pairs that records of clocks contradict; all, if these are more than a few.
void take_out_impossible(const Side& first, const Side& second, DelayKind kind,
                         Alignment& alignment) {
  auto& pairs = alignment.pairs;
  const std::size_t before = pairs.size();
  std::erase_if(pairs, [&](const auto& pair) {
    return is_impossible(first.traits[pair.first], second.traits[pair.second], kind);
  });
  if ((before - pairs.size()) * k_few > before) pairs.clear();
  alignment.ambiguous += before - pairs.size();
}

}  // namespace

void take_out_odd(const Side& first, const Side& second, DelayKind kind, Alignment& alignment) {
  take_out_impossible(first, second, kind, alignment);
  auto& pairs = alignment.pairs;
  if (pairs.size() <= 2 * k_fewest) return;
  const PairDelays all(first, second, alignment);
  std::vector<std::uint8_t> odd(pairs.size(), 0);
  for (std::size_t k = k_fewest; k + k_fewest < pairs.size(); ++k) {
    const Neighbours around = look_at(all.before(k), all.from(k + 1));
    const bool early = is_too_early(all.delay[k], around);
    odd[k] = kind == DelayKind::have_a_floor
                 ? early || (all.delay[k] < around.least && all.below_the_low_end(k))
                 : (early || is_too_late(all.delay[k], around)) && all.reaches_another(k, around);
  }
  std::size_t kept = 0;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (odd[k] == 0) pairs[kept++] = pairs[k];
  }
  alignment.ambiguous += pairs.size() - kept;
  pairs.resize(kept);
  if (kind == DelayKind::have_a_floor) return;
  const PairDelays rest(first, second, alignment);
  for (std::size_t k = k_fewest; k + k_fewest <= rest.size(); ++k) {
    if (!rest.jump(k)) continue;
    alignment.ambiguous += pairs.size();
    pairs.clear();
    return;
  }
}

}  // namespace entrain::match
