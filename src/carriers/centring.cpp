// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/centring.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/order.hpp"
#include "base/try.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::carriers {

namespace {

/// How far the smallest quarter of some limits is apart from the closest one, of the distances of
/// the others from it.
double spread(std::vector<std::int64_t> values) {
  if (values.empty()) return static_cast<double>(k_any);
  const auto fourth = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, fourth);
  return static_cast<double>(*fourth) + 1;
}

/// The way from the least to the most that limits allow at which the clock likely is, of which
/// `below` and `above` are the spreads: the shortest time from a launch to its kernel, and from a
/// kernel to the call that waits for it, is about as long as the shortest of these times vary.
double likely_share(double below, double above) {
  return below * below / (below * below + above * above);
}

}  // namespace

std::int64_t Inner::likely() const {
  const std::int64_t low = least(), high = most();
  if (upper.empty()) return low;
  if (lower.empty()) return high;
  std::vector<std::int64_t> below, above;  // but for the limits themselves
  for (const Limit& one : lower) below.push_back(low - one.ticks);
  for (const Limit& one : upper) above.push_back(one.ticks - high);
  const auto leave_one_out = [](std::vector<std::int64_t>& values) {
    values.erase(std::ranges::find(values, 0));
  };
  leave_one_out(below), leave_one_out(above);
  const double share = likely_share(spread(std::move(below)), spread(std::move(above)));
  return low + std::llround(share * static_cast<double>(high - low));
}

namespace {

/// Centres a clock within what its edges allow from time to time: an alignment by edges alone may
/// lie anywhere between them.
class Centring {
 public:
  /// `inner`: edges in the times of the alignment.
  explicit Centring(Inner inner) : inner_(std::move(inner)) {
    std::ranges::stable_sort(inner_.lower, {}, &Limit::time);
    std::ranges::stable_sort(inner_.upper, {}, &Limit::time);
  }

  /// The correction of the clock's times; the identity if edges are too few. A clock that moves
  /// within windows shows their limits too close in the first pass. Errors: those of
  /// ClockMap::from_knots().
  Result<ClockMap> find() {
    ClockMap all;
    constexpr int k_passes = 3;
    for (int pass = 0; pass < k_passes; ++pass) {
      TRY_ASSIGN(const ClockMap step, ClockMap::from_knots(knots()));
      // Limits that contradict each other by more than their distance in time show nothing.
      if (step.is_identity() || !step.is_monotone()) break;
      TRY_ASSIGN(all, trace::composed(all, step));
      for (auto* limits : {&inner_.lower, &inner_.upper}) {
        for (Limit& one : *limits) {
          const std::int64_t before = one.time;
          one.time = step(static_cast<std::uint64_t>(before));
          one.ticks -= one.time - before;
        }
      }
    }
    return all;
  }

  /// True if windows leave more room than all edges together do, by more than limits vary: the
  /// clock moves, even where a constant meets the edges.
  [[nodiscard]] bool moves() const {
    const auto [all, below, above] = limits_of_windows();
    if (all.size() < 2) return false;
    std::vector<std::int64_t> widths;
    for (const Window& one : all) widths.push_back(one.high - one.low);
    const std::int64_t room = median(std::move(widths)) - (inner_.most() - inner_.least());
    return static_cast<double>(room) > 2 * (below + above);
  }

 private:
  /// The limits between two times: positions in Inner::lower and Inner::upper.
  struct Window {
    std::size_t low_begin = 0, low_end = 0, high_begin = 0, high_end = 0;
    std::int64_t low = 0, high = 0;  ///< the limits
  };
  static constexpr std::size_t k_least = 4;  ///< limits of each side that make a window

  /// Windows one after the other, each as short as it can be.
  [[nodiscard]] std::vector<Window> windows() const {
    std::vector<Window> found;
    std::size_t l = 0, h = 0;
    while (inner_.lower.size() - l >= k_least && inner_.upper.size() - h >= k_least) {
      Window window{.low_begin = l, .high_begin = h};
      const std::int64_t end =
          std::max(inner_.lower[l + k_least - 1].time, inner_.upper[h + k_least - 1].time);
      l += k_least, h += k_least;
      while (l < inner_.lower.size() && inner_.lower[l].time <= end) ++l;
      while (h < inner_.upper.size() && inner_.upper[h].time <= end) ++h;
      window.low_end = l, window.high_end = h;
      found.push_back(window);
    }
    if (!found.empty()) {
      found.back().low_end = inner_.lower.size(), found.back().high_end = inner_.upper.size();
    }
    return found;
  }

  struct Limits {
    std::vector<Window> windows;
    double below = 0, above = 0;  ///< spreads of the others beside those of their windows
  };
  [[nodiscard]] Limits limits_of_windows() const {
    Limits found{.windows = windows()};
    std::vector<std::int64_t> below, above;
    for (Window& one : found.windows) {
      const auto lower =
          std::span(inner_.lower).subspan(one.low_begin, one.low_end - one.low_begin);
      const auto upper =
          std::span(inner_.upper).subspan(one.high_begin, one.high_end - one.high_begin);
      const auto low = std::ranges::max_element(lower, {}, &Limit::ticks);
      const auto high = std::ranges::min_element(upper, {}, &Limit::ticks);
      one.low = low->ticks, one.high = high->ticks;
      for (auto l = lower.begin(); l != lower.end(); ++l) {
        if (l != low) below.push_back(one.low - l->ticks);
      }
      for (auto h = upper.begin(); h != upper.end(); ++h) {
        if (h != high) above.push_back(h->ticks - one.high);
      }
    }
    found.below = spread(std::move(below)), found.above = spread(std::move(above));
    return found;
  }

  /// Also where a clock moves so much within a window that no constant meets the limits.
  [[nodiscard]] std::vector<ClockKnot> knots() const {
    const Limits limits = limits_of_windows();
    const double share = likely_share(limits.below, limits.above);
    std::vector<ClockKnot> knots;
    for (const Window& one : limits.windows) {
      const std::int64_t middle = inner_.upper[(one.high_begin + one.high_end) / 2].time;
      const auto local = static_cast<std::uint64_t>(std::max<std::int64_t>(0, middle));
      if (!knots.empty() && local <= knots.back().local) continue;
      const auto width = static_cast<double>(one.high - one.low);
      knots.push_back({local, one.low + std::llround(share * width)});
    }
    if (knots.size() < 2) knots.clear();
    return knots;
  }

  Inner inner_;
};

}  // namespace

Result<ClockMap> centre(Inner inner) { return Centring(std::move(inner)).find(); }

Result<ClockMap> centre_if_it_moves(Inner inner) {
  Centring centring(std::move(inner));
  return centring.moves() ? centring.find() : ClockMap();
}

Result<ClockMap> drift_of_one_sided(const Inner& inner) {
  struct Thresholds {
    std::size_t windows = 16, least_windows = 4;
    std::size_t least_edges = 4;  ///< edges per window; centring_test.cpp
    double most_rate = 500e-6;    ///< queues of work grow faster
    double noise_to_drift = 16;   ///< least ratio of the drift to the noise of the limits
  } constexpr k_thresholds;
  // An upper limit is a lower one of the reversed direction.
  const bool is_lower = inner.upper.empty();
  std::vector<Limit> limits = is_lower ? inner.lower : inner.upper;
  const std::size_t count =
      std::min(k_thresholds.windows, limits.size() / k_thresholds.least_edges);
  if (count < k_thresholds.least_windows || !(inner.lower.empty() || inner.upper.empty())) {
    return ClockMap();
  }
  std::ranges::stable_sort(limits, {}, &Limit::time);
  const auto is_closer = [&](const Limit& a, const Limit& b) {
    return is_lower ? a.ticks < b.ticks : a.ticks > b.ticks;
  };
  std::vector<Limit> closest;
  for (std::size_t w = 0; w < count; ++w) {
    const std::size_t from = w * limits.size() / count, to = (w + 1) * limits.size() / count;
    closest.push_back(*std::max_element(limits.begin() + static_cast<std::ptrdiff_t>(from),
                                        limits.begin() + static_cast<std::ptrdiff_t>(to),
                                        is_closer));
  }
  const Limit origin = limits.front();
  const auto time = [&](const Limit& one) { return static_cast<double>(one.time - origin.time); };
  const auto ticks = [&](const Limit& one) {
    return static_cast<double>(one.ticks - origin.ticks);
  };
  std::vector<double> slopes;  // Theil-Sen
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i + 1; k < count; ++k) {
      const double apart = time(closest[k]) - time(closest[i]);
      if (apart > 0) slopes.push_back((ticks(closest[k]) - ticks(closest[i])) / apart);
    }
  }
  if (slopes.empty()) return ClockMap();
  const double rate = median(std::move(slopes));
  std::vector<double> levels;
  for (const Limit& one : closest) levels.push_back(ticks(one) - rate * time(one));
  const double level = median(levels);
  for (double& one : levels) one = std::abs(one - level);
  const double noise = std::max(1.0, median(std::move(levels)));
  const double drift = std::abs(rate) * time(limits.back());
  if (std::abs(rate) > k_thresholds.most_rate || drift < k_thresholds.noise_to_drift * noise) {
    return ClockMap();
  }
  double offset = is_lower ? -static_cast<double>(k_any) : static_cast<double>(k_any);
  for (const Limit& one : limits) {
    const double own = ticks(one) - rate * time(one);
    offset = is_lower ? std::max(offset, own) : std::min(offset, own);
  }
  const auto knot_at = [&](const Limit& one) {
    return ClockKnot{static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.time)),
                     origin.ticks + std::llround(offset + rate * time(one)) + (is_lower ? 1 : -1)};
  };
  return ClockMap::from_knots({knot_at(limits.front()), knot_at(limits.back())});
}

}  // namespace entrain::carriers
