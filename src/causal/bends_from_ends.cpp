// SPDX-License-Identifier: BSD-3-Clause
#include "causal/bends_from_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "causal/stamp_arithmetic.hpp"

namespace entrain::causal {
namespace {

using Bend = SimultaneousEnds::Bend;
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

/// Ends are met in two orders: call by call for the middle of each, and clock by clock in order of
/// time for the medians of a clock. Both are gone through from the begin to the end, so each rest
/// is kept where its clock finds it.
class FitBends {
 public:
  FitBends(const CallEnds& calls, std::span<const SimultaneousEnds::Line> lines,
           const FitControl& control)
      : calls_(calls),
        control_(control),
        order_(calls.ends.size()),
        place_(calls.ends.size()),
        rest_(calls.ends.size()),
        scratch_(calls.ends.size()),
        used_(lines.size()),
        bends_(lines.size()) {
    for (const CallEnds::End& end : calls.ends) {
      const SimultaneousEnds::Line& line = lines[end.clock];
      lined_.push_back(static_cast<std::int64_t>(end.time - lines.front().at) +
                       std::llround(line.offset + line.rate * stamp_distance(line.at, end.time)));
    }
    sort_by_clock();
    is_even_.resize(calls.ends.size());
    for (std::size_t i = 0; i + 1 < calls.first.size(); ++i) {
      for (std::size_t e = calls.first[i]; e < calls.first[i + 1]; ++e) {
        is_even_[place_[e]] = i % 2 == 0 ? 1 : 0;
      }
    }
  }

  Result<std::optional<BendsFromEnds>> run() {
    measure();
    if (!wanders()) return std::nullopt;
    const std::size_t most = most_points();
    double best = score();
    std::size_t best_points = 0;
    int failed = 0;
    use(true);
    for (std::size_t points = 2; points <= most && failed < k_patience; points *= 2) {
      TRY(fit(points));
      const double found = score();
      ++failed;
      if (found >= k_better * best) continue;
      best = found;
      best_points = points;
      failed = 0;
    }
    if (best_points == 0) return std::nullopt;
    bends_.assign(bends_.size(), {});
    use(false);
    for (std::size_t points = 2; points <= best_points; points *= 2) TRY(fit(points));
    for (std::int64_t& rest : rest_) rest = std::abs(rest);
    const std::int64_t spread = lower_median(rest_);
    return BendsFromEnds{.of_clock = std::move(bends_), .spread = spread};
  }

 private:
  [[nodiscard]] std::size_t clocks() const { return bends_.size(); }
  [[nodiscard]] std::uint64_t time_at(std::size_t place) const {
    return calls_.ends[order_[place]].time;
  }

  void sort_by_clock() {
    first_.assign(clocks() + 1, 0);
    for (const CallEnds::End& end : calls_.ends) ++first_[end.clock + 1];
    for (std::size_t c = 0; c < clocks(); ++c) first_[c + 1] += first_[c];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < calls_.ends.size(); ++e) order_[next[calls_.ends[e].clock]++] = e;
    for_each_clock([&](std::size_t c) {
      const std::span<std::size_t> own = std::span(order_).subspan(first_[c], size_of(c));
      std::stable_sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) {
        return calls_.ends[a].time < calls_.ends[b].time;
      });
      for (std::size_t k = first_[c]; k < first_[c + 1]; ++k) place_[order_[k]] = k;
    });
  }
  /// Clocks with few ends keep their lines, and do not hold up the others.
  [[nodiscard]] bool may_bend(std::size_t c) const { return size_of(c) >= 4 * k_ends_per_point; }
  [[nodiscard]] std::size_t size_of(std::size_t c) const { return first_[c + 1] - first_[c]; }

  template <class Body>
  void for_each_clock(const Body& body) const {
    for_each_in_parallel(threads_for(control_, calls_.ends.size()), clocks(), body);
  }

  /// The bend of an end that follows others of its clock, mostly. `next`: the first point behind
  /// the end before.
  [[nodiscard]] double bend_of(const CallEnds::End& end, std::size_t& next) const {
    const std::vector<Bend>& bends = bends_[end.clock];
    while (next < bends.size() && bends[next].at <= end.time) ++next;
    while (next > 0 && bends[next - 1].at > end.time) --next;
    return between(bends, next, end.time);
  }

  /// Distances of all ends from the middle of their calls, by the present bends.
  void measure() {
    for_each_block(control_, calls_.first, [&](std::size_t first_call, std::size_t last_call) {
      std::vector<std::size_t> next(clocks(), 0);
      std::vector<std::int64_t> times, copy;
      for (std::size_t i = first_call; i < last_call; ++i) {
        times.clear();
        for (std::size_t e = calls_.first[i]; e < calls_.first[i + 1]; ++e) {
          const CallEnds::End& end = calls_.ends[e];
          times.push_back(lined_[e] + std::llround(bend_of(end, next[end.clock])));
        }
        copy = times;
        const std::int64_t middle = middle_median(copy);  // also of two ends
        for (std::size_t k = 0; k < times.size(); ++k) {
          rest_[place_[calls_.first[i] + k]] = times[k] - middle;
        }
      }
    });
  }

  /// Noise stands on either side of a line as often as a coin falls.
  [[nodiscard]] bool wanders() const {
    std::size_t same = 0, all = 0;
    for (std::size_t c = 0; c < clocks(); ++c) {
      for (std::size_t k = first_[c] + 1; k < first_[c + 1]; ++k) {
        const std::int64_t a = rest_[k - 1], b = rest_[k];
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
    std::vector<double> medians(clocks());
    for_each_clock([&](std::size_t c) {
      std::size_t count = 0;
      const std::span<std::int64_t> scratch = std::span(scratch_).subspan(first_[c], size_of(c));
      for (std::size_t k = first_[c]; k < first_[c + 1]; ++k) {
        if (is_even_[k] == 0) scratch[count++] = std::abs(rest_[k]);
      }
      medians[c] = count == 0 ? 0 : static_cast<double>(lower_median(scratch.first(count)));
    });
    double sum = 0;
    for (const double median : medians) sum += std::max(1.0, median * median);
    return std::sqrt(sum);
  }

  /// Of ends from one call to the next: wander changes these little.
  [[nodiscard]] double noise() {
    std::size_t count = 0;
    for (std::size_t c = 0; c < clocks(); ++c) {
      for (std::size_t k = first_[c] + 1; k < first_[c + 1]; ++k) {
        scratch_[count++] = std::abs(rest_[k] - rest_[k - 1]);
      }
    }
    if (count == 0) return 1;
    return std::max(1.0, static_cast<double>(lower_median(std::span(scratch_).first(count))));
  }

  [[nodiscard]] std::size_t most_points() {
    const double noise_of_ends = noise();
    std::size_t most = k_most_points;
    for (std::size_t c = 0; c < clocks(); ++c) {
      if (!may_bend(c)) continue;
      const double span = stamp_distance(time_at(first_[c]), time_at(first_[c + 1] - 1));
      const auto apart = static_cast<std::size_t>(span * k_rate_of_noise / noise_of_ends);
      most = std::min({most, size_of(c) / 2 / k_ends_per_point, apart});
    }
    return most;
  }

  /// Fits by these ends of each clock: of every other call, or of all.
  void use(bool even_only) {
    for (std::size_t c = 0; c < clocks(); ++c) {
      used_[c].clear();
      for (std::size_t k = first_[c]; k < first_[c + 1]; ++k) {
        if (is_even_[k] != 0 || !even_only) used_[c].push_back(k);
      }
    }
  }

  /// New points at the middle of equal shares of each clock's ends, then medians again and again.
  Result<void> fit(std::size_t points) {
    for (std::size_t c = 0; c < clocks(); ++c) {
      if (may_bend(c)) place(c, points);
    }
    for (int round = 0; round < k_bend_rounds; ++round) {
      TRY(control_.check());
      measure();
      if (draw_nearer() <= 1) break;
    }
    measure();
    return {};
  }

  /// Takes from each point the median of its ends. The largest of these.
  std::int64_t draw_nearer() {
    std::vector<std::int64_t> largest(clocks());
    for_each_clock([&](std::size_t c) {
      for (std::size_t k = 0; k < bends_[c].size(); ++k) {
        const std::int64_t rest = median_in(c, share(c, k, bends_[c].size()));
        bends_[c][k].offset -= static_cast<double>(rest);
        largest[c] = std::max(largest[c], std::abs(rest));
      }
    });
    return *std::max_element(largest.begin(), largest.end());
  }

  [[nodiscard]] std::span<const std::size_t> share(std::size_t c, std::size_t k,
                                                   std::size_t points) const {
    const std::span<const std::size_t> own = used_[c];
    const std::size_t first = own.size() * k / points;
    return own.subspan(first, own.size() * (k + 1) / points - first);
  }

  void place(std::size_t c, std::size_t points) {
    std::vector<Bend> placed;
    for (std::size_t k = 0; k < points; ++k) {
      const std::span<const std::size_t> part = share(c, k, points);
      if (part.empty()) continue;
      const std::uint64_t at = time_at(part[part.size() / 2]);
      if (!placed.empty() && placed.back().at >= at) continue;
      placed.push_back({at, bend_at(bends_[c], at)});
    }
    bends_[c] = std::move(placed);
  }

  std::int64_t median_in(std::size_t c, std::span<const std::size_t> part) {
    const std::span<std::int64_t> scratch = std::span(scratch_).subspan(first_[c], part.size());
    for (std::size_t k = 0; k < part.size(); ++k) scratch[k] = rest_[part[k]];
    return part.empty() ? 0 : lower_median(scratch);
  }

  const CallEnds& calls_;
  const FitControl& control_;
  std::vector<std::int64_t> lined_;             ///< per end its time by its line
  std::vector<std::size_t> first_;              ///< per clock its first place
  std::vector<std::size_t> order_, place_;      ///< per place its end, and per end its place
  std::vector<std::uint8_t> is_even_;           ///< per place: of every other call
  std::vector<std::int64_t> rest_;              ///< per place: distance from the middle of the call
  std::vector<std::int64_t> scratch_;           ///< per place
  std::vector<std::vector<std::size_t>> used_;  ///< per clock the places it is fitted by
  BendsOfClocks bends_;
};

}  // namespace

double bend_at(std::span<const Bend> bends, std::uint64_t stamp) {
  const auto next =
      std::upper_bound(bends.begin(), bends.end(), stamp,
                       [](std::uint64_t time, const Bend& bend) { return time < bend.at; });
  return between(bends, static_cast<std::size_t>(next - bends.begin()), stamp);
}

Result<std::optional<BendsFromEnds>> find_bends(const CallEnds& calls,
                                                std::span<const SimultaneousEnds::Line> lines,
                                                const FitControl& control) {
  if (calls.ends.empty()) return std::nullopt;
  return FitBends(calls, lines, control).run();
}

}  // namespace entrain::causal
