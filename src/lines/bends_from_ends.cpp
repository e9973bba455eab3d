// SPDX-License-Identifier: BSD-3-Clause
#include "lines/bends_from_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/try.hpp"

namespace entrain::lines {
namespace {

using Bend = SimultaneousEnds::Bend;

/// Knots from ends; tests: bends_from_ends_test.cpp, measurements: docs/decisions/41.
struct WanderThresholds {
  static constexpr std::size_t ends_per_point = 4;  ///< least ends per knot
  static constexpr std::size_t most_points = 4096;  ///< knots per clock
  static constexpr int rounds = 12;                 ///< iterations of medians per number of knots
  static constexpr int patience = 6;     ///< doublings of the knots without a better prediction
  static constexpr double better = 0.9;  ///< least factor on the error of prediction
  /// Share of neighbouring residuals with equal sign above which clocks wander; noise gives 0.5.
  static constexpr double wandering = 0.6;
  static constexpr double rate_of_noise = 2e-5;  ///< largest rate that noise between knots feigns
};

/// `next`: first knot after `time`.
double between(std::span<const Bend> bends, std::size_t next, std::uint64_t time) {
  if (bends.empty()) return 0;
  if (next == 0) return bends.front().offset;
  if (next == bends.size()) return bends.back().offset;
  const Bend &a = bends[next - 1], &b = bends[next];
  return a.offset + (b.offset - a.offset) * stamp_distance(a.at, time) / stamp_distance(a.at, b.at);
}

class FitBends {
 public:
  FitBends(const constraints::CallEnds& calls, std::span<const SimultaneousEnds::Line> lines,
           const FitControl& control)
      : calls_(calls),
        control_(control),
        table_(calls, lines.size(), control),
        used_(lines.size()),
        bends_(lines.size()) {
    for (const constraints::CallEnds::End& end : calls.ends) {
      const SimultaneousEnds::Line& line = lines[end.clock];
      lined_.push_back(static_cast<std::int64_t>(end.time - lines.front().at) +
                       std::llround(line.offset + line.rate * stamp_distance(line.at, end.time)));
    }
    is_even_.resize(calls.ends.size());
    for (std::size_t i = 0; i + 1 < calls.first.size(); ++i) {
      for (std::size_t e = calls.first[i]; e < calls.first[i + 1]; ++e) {
        is_even_[table_.place(e)] = i % 2 == 0 ? 1 : 0;
      }
    }
  }

  Result<bool> run(SimultaneousEnds& ends) {
    measure();
    if (!wanders()) return false;
    const std::size_t most = most_points();
    double best = score();
    std::size_t best_points = 0;
    int failed = 0;
    use(true);
    for (std::size_t points = 2; points <= most && failed < WanderThresholds::patience;
         points *= 2) {
      TRY(fit(points));
      const double found = score();
      ++failed;
      if (found >= WanderThresholds::better * best) continue;
      best = found;
      best_points = points;
      failed = 0;
    }
    if (best_points == 0) return false;
    bends_.assign(bends_.size(), {});
    use(false);
    for (std::size_t points = 2; points <= best_points; points *= 2) TRY(fit(points));
    ends.bends = std::move(bends_);
    ends.spread = table_.spread();
    return true;
  }

 private:
  [[nodiscard]] std::size_t clocks() const { return bends_.size(); }
  /// Clocks with few ends keep their lines, and do not limit the others.
  [[nodiscard]] bool may_bend(std::size_t c) const {
    return table_.size_of(c) >= 4 * WanderThresholds::ends_per_point;
  }
  /// Bend at an end, mostly after the previous end of its clock. `next`: first knot after that.
  [[nodiscard]] double bend_of(const constraints::CallEnds::End& end, std::size_t& next) const {
    const std::vector<Bend>& bends = bends_[end.clock];
    while (next < bends.size() && bends[next].at <= end.time) ++next;
    while (next > 0 && bends[next - 1].at > end.time) --next;
    return between(bends, next, end.time);
  }

  /// Computes the distances of all ends from the middle of their calls, with the present bends.
  void measure() {
    const auto times_of = [&] {
      return [this, next = std::vector<std::size_t>(clocks(), 0)](std::size_t e) mutable {
        const constraints::CallEnds::End& end = calls_.ends[e];
        return lined_[e] + std::llround(bend_of(end, next[end.clock]));
      };
    };
    table_.measure(times_of, middle_median);  // also of two ends
  }

  /// Sign test: residuals of pure noise have equal signs with probability 1/2.
  [[nodiscard]] bool wanders() const {
    std::size_t same = 0, all = 0;
    for (std::size_t c = 0; c < clocks(); ++c) {
      for (std::size_t k = table_.first(c) + 1; k < table_.last(c); ++k) {
        const std::int64_t a = table_.residuals()[k - 1], b = table_.residuals()[k];
        if (a == 0 || b == 0) continue;
        same += (a > 0) == (b > 0) ? 1 : 0;
        ++all;
      }
    }
    return all >= 8 * WanderThresholds::ends_per_point &&
           static_cast<double>(same) > WanderThresholds::wandering * static_cast<double>(all);
  }

  /// Error of prediction of the held-out ends: root of the sum of squared medians per clock, so
  /// that one wandering clock counts among many that do not.
  [[nodiscard]] double score() {
    std::vector<double> medians(clocks());
    table_.for_each_clock([&](std::size_t c) {
      std::size_t count = 0;
      const std::span<std::int64_t> scratch = table_.scratch(c);
      for (std::size_t k = table_.first(c); k < table_.last(c); ++k) {
        if (is_even_[k] == 0) scratch[count++] = std::abs(table_.residuals()[k]);
      }
      medians[c] = count == 0 ? 0 : static_cast<double>(lower_median(scratch.first(count)));
    });
    double sum = 0;
    for (const double median : medians) sum += std::max(1.0, median * median);
    return std::sqrt(sum);
  }

  /// Noise of ends: median change between calls, which wander hardly affects.
  [[nodiscard]] double noise() {
    std::size_t count = 0;
    for (std::size_t c = 0; c < clocks(); ++c) {
      for (std::size_t k = table_.first(c) + 1; k < table_.last(c); ++k) {
        table_.scratch()[count++] = std::abs(table_.residuals()[k] - table_.residuals()[k - 1]);
      }
    }
    if (count == 0) return 1;
    return std::max(1.0, static_cast<double>(lower_median(table_.scratch().first(count))));
  }

  [[nodiscard]] std::size_t most_points() {
    const double noise_of_ends = noise();
    std::size_t most = WanderThresholds::most_points;
    for (std::size_t c = 0; c < clocks(); ++c) {
      if (!may_bend(c)) continue;
      const double span =
          stamp_distance(table_.time_at(table_.first(c)), table_.time_at(table_.last(c) - 1));
      const auto apart =
          static_cast<std::size_t>(span * WanderThresholds::rate_of_noise / noise_of_ends);
      most = std::min({most, table_.size_of(c) / 2 / WanderThresholds::ends_per_point, apart});
    }
    return most;
  }

  /// Selects the ends to fit: those of every other call, or all.
  void use(bool even_only) {
    for (std::size_t c = 0; c < clocks(); ++c) {
      used_[c].clear();
      for (std::size_t k = table_.first(c); k < table_.last(c); ++k) {
        if (is_even_[k] != 0 || !even_only) used_[c].push_back(k);
      }
    }
  }

  /// Places knots at the middle of equal shares of each clock's ends, then iterates medians.
  Result<void> fit(std::size_t points) {
    for (std::size_t c = 0; c < clocks(); ++c) {
      if (may_bend(c)) place(c, points);
    }
    for (int round = 0; round < WanderThresholds::rounds; ++round) {
      TRY(control_.check());
      measure();
      if (draw_nearer() <= 1) break;
    }
    measure();
    return {};
  }

  /// Subtracts the median residual at each knot. Returns the largest one.
  std::int64_t draw_nearer() {
    std::vector<std::int64_t> largest(clocks());
    table_.for_each_clock([&](std::size_t c) {
      for (std::size_t k = 0; k < bends_[c].size(); ++k) {
        const std::int64_t residual = median_in(c, share(c, k, bends_[c].size()));
        bends_[c][k].offset -= static_cast<double>(residual);
        largest[c] = std::max(largest[c], std::abs(residual));
      }
    });
    return *std::ranges::max_element(largest);
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
      const std::uint64_t at = table_.time_at(part[part.size() / 2]);
      if (!placed.empty() && placed.back().at >= at) continue;
      placed.push_back({at, bend_at(bends_[c], at)});
    }
    bends_[c] = std::move(placed);
  }

  std::int64_t median_in(std::size_t c, std::span<const std::size_t> part) {
    const std::span<std::int64_t> scratch = table_.scratch(c).first(part.size());
    for (std::size_t k = 0; k < part.size(); ++k) scratch[k] = table_.residuals()[part[k]];
    return part.empty() ? 0 : lower_median(scratch);
  }

  const constraints::CallEnds& calls_;
  const FitControl& control_;
  EndTable table_;
  std::vector<std::int64_t> lined_;    ///< time by its line, one per end
  std::vector<std::uint8_t> is_even_;  ///< 1 if its call is fitted, 0 if held out; one per place
  std::vector<std::vector<std::size_t>> used_;  ///< places fitted, one list per clock
  std::vector<std::vector<Bend>> bends_;        ///< one list per clock
};

}  // namespace

double bend_at(std::span<const Bend> bends, std::uint64_t stamp) {
  const auto next =
      std::upper_bound(bends.begin(), bends.end(), stamp,
                       [](std::uint64_t time, const Bend& bend) { return time < bend.at; });
  return between(bends, static_cast<std::size_t>(next - bends.begin()), stamp);
}

Result<bool> find_bends(const constraints::CallEnds& calls, SimultaneousEnds& ends,
                        const FitControl& control) {
  if (calls.ends.empty()) return false;
  return FitBends(calls, ends.lines, control).run(ends);
}

}  // namespace entrain::lines
