// SPDX-License-Identifier: BSD-3-Clause
#include "causal/common_bends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "causal/stamp_numbers.hpp"

namespace entrain::causal {
namespace {

using Bend = CommonEnds::Bend;
using BendsOfClocks = std::vector<std::vector<Bend>>;

constexpr std::size_t k_ends_per_point = 4;
constexpr std::size_t k_most_points = 4096;
constexpr int k_bend_rounds = 12;
constexpr int k_patience = 6;        ///< doublings of the points that predict no better
constexpr double k_better = 0.9;     ///< of the spread before, to be taken
constexpr double k_wandering = 0.6;  ///< share of neighbours on one side, of noise 0.5
constexpr double k_rate_of_noise = 2e-5;

/// `next`: the first point behind.
double between(std::span<const Bend> bends, std::size_t next, std::uint64_t time) {
  if (bends.empty()) return 0;
  if (next == 0) return bends.front().offset;
  if (next == bends.size()) return bends.back().offset;
  const Bend &a = bends[next - 1], &b = bends[next];
  return a.offset + (b.offset - a.offset) * stamp_distance(a.at, time) / stamp_distance(a.at, b.at);
}

class FitBends {
 public:
  FitBends(const CallEnds& calls, std::span<const CommonEnds::Line> lines)
      : calls_(calls), of_clock_(lines.size()), rest_(calls.ends.size()), bends_(lines.size()) {
    for (const CallEnds::End& end : calls.ends) {
      const CommonEnds::Line& line = lines[end.clock];
      lined_.push_back(static_cast<std::int64_t>(end.time - lines.front().at) +
                       std::llround(line.offset + line.rate * stamp_distance(line.at, end.time)));
    }
    for (std::size_t e = 0; e < calls.ends.size(); ++e) of_clock_[calls.ends[e].clock].push_back(e);
    for (std::vector<std::size_t>& own : of_clock_) {
      std::stable_sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) {
        return calls_.ends[a].time < calls_.ends[b].time;
      });
    }
    is_even_.resize(calls.ends.size());
    for (std::size_t i = 0; i + 1 < calls.first.size(); ++i) {
      for (std::size_t e = calls.first[i]; e < calls.first[i + 1]; ++e) is_even_[e] = i % 2 == 0;
    }
  }

  Result<std::optional<CommonBends>> run(const std::function<Result<void>()>& check) {
    measure();
    if (!wanders()) return std::nullopt;
    const std::size_t most = most_points();
    double best = score();
    std::size_t best_points = 0;
    int failed = 0;
    for (std::size_t points = 2; points <= most && failed < k_patience; points *= 2) {
      TRY(fit(points, true, check));
      const double found = score();
      ++failed;
      if (found >= k_better * best) continue;
      best = found;
      best_points = points;
      failed = 0;
    }
    if (best_points == 0) return std::nullopt;
    bends_.assign(bends_.size(), {});
    for (std::size_t points = 2; points <= best_points; points *= 2) {
      TRY(fit(points, false, check));
    }
    for (std::int64_t& rest : rest_) rest = std::abs(rest);
    const std::int64_t spread = lower_median(rest_);
    return CommonBends{.of_clock = std::move(bends_), .spread = spread};
  }

 private:
  /// Distances of all ends from the middle of their calls, by the present bends.
  void measure() {
    for (std::size_t c = 0; c < of_clock_.size(); ++c) {
      std::size_t next = 0;  // the first point behind
      for (const std::size_t e : of_clock_[c]) {
        const std::uint64_t time = calls_.ends[e].time;
        while (next < bends_[c].size() && bends_[c][next].at <= time) ++next;
        rest_[e] = lined_[e] + std::llround(between(bends_[c], next, time));
      }
    }
    for (std::size_t i = 0; i + 1 < calls_.first.size(); ++i) {
      const auto own =
          std::span(rest_).subspan(calls_.first[i], calls_.first[i + 1] - calls_.first[i]);
      scratch_.assign(own.begin(), own.end());
      const std::int64_t middle = middle_median(scratch_);  // also of two ends
      for (std::int64_t& rest : own) rest -= middle;
    }
  }

  /// Noise stands on either side of a line as often as a coin falls.
  [[nodiscard]] bool wanders() const {
    std::size_t same = 0, all = 0;
    for (const std::vector<std::size_t>& own : of_clock_) {
      for (std::size_t k = 1; k < own.size(); ++k) {
        const std::int64_t a = rest_[own[k - 1]], b = rest_[own[k]];
        if (a == 0 || b == 0) continue;
        same += (a > 0) == (b > 0) ? 1 : 0;
        ++all;
      }
    }
    return all >= 8 * k_ends_per_point &&
           static_cast<double>(same) > k_wandering * static_cast<double>(all);
  }

  /// How well the ends are met that were left out: squares of each clock's median are added, so
  /// that one clock that wanders counts beside many that do not.
  [[nodiscard]] double score() {
    double sum = 0;
    for (const std::vector<std::size_t>& own : of_clock_) {
      scratch_.clear();
      for (const std::size_t e : own) {
        if (!is_even_[e]) scratch_.push_back(std::abs(rest_[e]));
      }
      const double median = scratch_.empty() ? 0 : static_cast<double>(lower_median(scratch_));
      sum += std::max(1.0, median * median);
    }
    return std::sqrt(sum);
  }

  /// Of ends from one call to the next: wander changes these little.
  [[nodiscard]] double noise() {
    scratch_.clear();
    for (const std::vector<std::size_t>& own : of_clock_) {
      for (std::size_t k = 1; k < own.size(); ++k) {
        scratch_.push_back(std::abs(rest_[own[k]] - rest_[own[k - 1]]));
      }
    }
    return scratch_.empty() ? 1 : std::max(1.0, static_cast<double>(lower_median(scratch_)));
  }

  [[nodiscard]] std::size_t most_points() {
    const double noise_of_ends = noise();
    std::size_t most = k_most_points;
    for (const std::vector<std::size_t>& own : of_clock_) {
      if (own.empty()) return 0;
      const double span =
          stamp_distance(calls_.ends[own.front()].time, calls_.ends[own.back()].time);
      const auto apart = static_cast<std::size_t>(span * k_rate_of_noise / noise_of_ends);
      most = std::min({most, own.size() / 2 / k_ends_per_point, apart});
    }
    return most;
  }

  /// New points at the middle of equal shares of each clock's ends, then medians again and again.
  Result<void> fit(std::size_t points, bool even_only, const std::function<Result<void>()>& check) {
    std::vector<std::vector<std::size_t>> used(of_clock_.size());
    for (std::size_t c = 0; c < of_clock_.size(); ++c) {
      for (const std::size_t e : of_clock_[c]) {
        if (is_even_[e] || !even_only) used[c].push_back(e);
      }
      place(c, used[c], points);
    }
    for (int round = 0; round < k_bend_rounds; ++round) {
      TRY(check());
      measure();
      std::int64_t largest = 0;
      for (std::size_t c = 0; c < used.size(); ++c) {
        for (std::size_t k = 0; k < bends_[c].size(); ++k) {
          const std::int64_t rest = median_in(share(used[c], k, bends_[c].size()));
          bends_[c][k].offset -= static_cast<double>(rest);
          largest = std::max(largest, std::abs(rest));
        }
      }
      if (largest <= 1) break;
    }
    measure();
    return {};
  }

  static std::span<const std::size_t> share(std::span<const std::size_t> own, std::size_t k,
                                            std::size_t points) {
    const std::size_t first = own.size() * k / points;
    return own.subspan(first, own.size() * (k + 1) / points - first);
  }

  void place(std::size_t c, std::span<const std::size_t> own, std::size_t points) {
    std::vector<Bend> placed;
    for (std::size_t k = 0; k < points; ++k) {
      const std::span<const std::size_t> part = share(own, k, points);
      if (part.empty()) continue;
      const std::uint64_t at = calls_.ends[part[part.size() / 2]].time;
      if (!placed.empty() && placed.back().at >= at) continue;
      placed.push_back({at, bend_at(bends_[c], at)});
    }
    bends_[c] = std::move(placed);
  }

  std::int64_t median_in(std::span<const std::size_t> part) {
    scratch_.clear();
    for (const std::size_t e : part) scratch_.push_back(rest_[e]);
    return scratch_.empty() ? 0 : lower_median(scratch_);
  }

  const CallEnds& calls_;
  std::vector<std::int64_t> lined_;                 ///< times of ends by their lines
  std::vector<std::vector<std::size_t>> of_clock_;  ///< its ends, in order of time
  std::vector<bool> is_even_;                       ///< of every other call
  std::vector<std::int64_t> rest_;                  ///< distance from the middle of the call
  BendsOfClocks bends_;
  std::vector<std::int64_t> scratch_;
};

}  // namespace

double bend_at(std::span<const Bend> bends, std::uint64_t stamp) {
  const auto next =
      std::upper_bound(bends.begin(), bends.end(), stamp,
                       [](std::uint64_t time, const Bend& bend) { return time < bend.at; });
  return between(bends, static_cast<std::size_t>(next - bends.begin()), stamp);
}

Result<std::optional<CommonBends>> find_bends(const CallEnds& calls,
                                              std::span<const CommonEnds::Line> lines,
                                              const std::function<Result<void>()>& check) {
  if (calls.ends.empty()) return std::nullopt;
  return FitBends(calls, lines).run(check);
}

}  // namespace entrain::causal
