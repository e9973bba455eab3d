// SPDX-License-Identifier: BSD-3-Clause
#include "lines/simultaneous_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/cancel.hpp"
#include "base/disjoint_sets.hpp"
#include "base/try.hpp"
#include "lines/bends_from_ends.hpp"
#include "lines/stamp_arithmetic.hpp"

namespace entrain::lines {
namespace {

/// Lines through ends; simultaneous_ends_test.cpp. Chosen, not measured.
struct EndLineThresholds {
  static constexpr std::size_t ends_of_rate = 4;  ///< least ends of a clock that show a rate
  static constexpr std::size_t ends_of_offset =
      3;  ///< least ends: their median tolerates a late one
  static constexpr int most_offset_rounds = 200;
  static constexpr int rate_rounds = 8;
  /// Without convergence, offsets are accepted if they jump by less than 1 / this of the spread.
  static constexpr std::int64_t spread_per_jump = 8;
  static constexpr double usual_rate = 1e-4;  ///< wall clocks against each other: 100 ppm
  /// Standard deviation of a normal distribution over its median absolute deviation.
  static constexpr double sigma_per_mad = 1.4826;
  static constexpr double significant = 4;  ///< standard errors
};

struct End {
  std::uint32_t clock = 0;
  std::int64_t time = 0;      ///< ticks since the first end of all
  std::int64_t residual = 0;  ///< distance from the middle of its instance
};

struct EndLine {
  std::int64_t offset = 0;  ///< ticks at `anchor`
  double rate = 0;
  std::int64_t anchor = 0;  ///< ticks since the first end of all

  [[nodiscard]] std::int64_t at(std::int64_t time) const {
    return offset + (rate == 0 ? 0 : std::llrint(rate * static_cast<double>(time - anchor)));
  }
};

class FitEnds {
 public:
  FitEnds(std::size_t clocks, const constraints::CallEnds& calls, const FitControl& control)
      : first_of_instance_(calls.first), control_(control), lines_(clocks) {
    take_ends(calls);
  }

  Result<std::optional<SimultaneousEnds>> run() {
    std::size_t rich = 0;
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      if (of_clock(c).size() < control_.least_ends) return std::nullopt;
      rich += of_clock(c).size() >= EndLineThresholds::ends_of_offset ? 1 : 0;
    }
    if (rich < 2) return std::nullopt;
    TRY_ASSIGN(bool settled, set_offsets());
    // Drift looks like noise at first.
    for (int round = 0; settled && round < EndLineThresholds::rate_rounds; ++round) {
      find_noise();
      for (std::size_t c = 0; c < lines_.size(); ++c) set_rate(c);
      TRY_ASSIGN(settled, set_offsets());
    }
    if (!settled) return std::nullopt;
    find_noise();
    return finish();
  }

 private:
  void take_ends(const constraints::CallEnds& calls) {
    const auto by_time = [](const constraints::CallEnds::End& a,
                            const constraints::CallEnds::End& b) { return a.time < b.time; };
    if (!calls.ends.empty()) {
      origin_ = std::min_element(calls.ends.begin(), calls.ends.end(), by_time)->time;
    }
    for (const constraints::CallEnds::End& end : calls.ends) {
      ends_.push_back({end.clock, static_cast<std::int64_t>(end.time - origin_), 0});
    }
    first_of_clock_.assign(lines_.size() + 1, 0);
    for (const End& end : ends_) ++first_of_clock_[end.clock + 1];
    for (std::size_t c = 0; c < lines_.size(); ++c) first_of_clock_[c + 1] += first_of_clock_[c];
    std::vector<std::size_t> next(first_of_clock_.begin(), first_of_clock_.end() - 1);
    by_clock_.resize(ends_.size());
    place_.resize(ends_.size());
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      place_[e] = next[ends_[e].clock]++;
      by_clock_[place_[e]] = e;
    }
    scratch_.resize(ends_.size());
  }

  [[nodiscard]] std::span<const std::size_t> of_clock(std::size_t c) const {
    return std::span(by_clock_).subspan(first_of_clock_[c],
                                        first_of_clock_[c + 1] - first_of_clock_[c]);
  }

  /// Finds offsets under which the median end of each clock is in the middle of its instance; false
  /// without convergence.
  Result<bool> set_offsets() {
    std::int64_t largest = 0;
    for (int round = 0; round < EndLineThresholds::most_offset_rounds; ++round) {
      TRY(control_.check());
      measure();
      const std::vector<std::int64_t> residuals = median_residuals();
      largest = 0;
      for (std::size_t c = 0; c < lines_.size(); ++c) {
        lines_[c].offset -= residuals[c];
        largest = std::max(largest, std::abs(residuals[c]));
      }
      if (largest <= 1) {
        measure();
        return true;
      }
    }
    // Where clocks wander, the medians of calls keep jumping, but not far.
    measure();
    find_noise();
    return largest <= spread_ / EndLineThresholds::spread_per_jump;
  }

  std::vector<std::int64_t> median_residuals() {
    std::vector<std::int64_t> residuals(lines_.size());
    for_each_in_parallel(threads_for(control_, ends_.size()), lines_.size(), [&](std::size_t c) {
      const std::size_t size = of_clock(c).size();
      if (size > 0)
        residuals[c] = lower_median(std::span(scratch_).subspan(first_of_clock_[c], size));
    });
    return residuals;
  }

  /// Computes the residuals, also in scratch_, where clocks find them.
  void measure() {
    for_each_block(control_, first_of_instance_, [&](std::size_t first_call, std::size_t last) {
      std::vector<std::int64_t> times;
      for (std::size_t i = first_call; i < last; ++i) {
        const auto own = std::span(ends_).subspan(
            first_of_instance_[i], first_of_instance_[i + 1] - first_of_instance_[i]);
        times.clear();
        for (End& end : own) {
          end.residual = end.time + lines_[end.clock].at(end.time);
          times.push_back(end.residual);
        }
        const std::int64_t middle = lower_median(times);
        for (std::size_t k = 0; k < own.size(); ++k) {
          own[k].residual -= middle;
          scratch_[place_[first_of_instance_[i] + k]] = own[k].residual;
        }
      }
    });
  }

  void find_noise() {
    for (std::size_t e = 0; e < ends_.size(); ++e) scratch_[e] = std::abs(ends_[e].residual);
    spread_ = lower_median(scratch_);
    noise_ = std::max(1.0, EndLineThresholds::sigma_per_mad * static_cast<double>(spread_));
  }

  /// Slope of the residuals over time, with a prior of 0 (ridge regression).
  void set_rate(std::size_t c) {
    const std::span<const std::size_t> own = of_clock(c);
    if (own.empty()) return;
    double mean = 0, square = 0, product = 0;
    for (const std::size_t e : own) mean += static_cast<double>(ends_[e].time);
    mean /= static_cast<double>(own.size());
    lines_[c].anchor = static_cast<std::int64_t>(mean);
    if (own.size() < EndLineThresholds::ends_of_rate) return;
    for (const std::size_t e : own) {
      const double x = static_cast<double>(ends_[e].time) - mean;
      square += x * x;
      product += x * static_cast<double>(ends_[e].residual);
    }
    const double prior =
        noise_ * noise_ / (EndLineThresholds::usual_rate * EndLineThresholds::usual_rate);
    lines_[c].rate = (lines_[c].rate * square - product) / (square + prior);
  }

  /// First clock that calls connect each clock with.
  [[nodiscard]] std::vector<std::uint32_t> components() const {
    DisjointSets sets(lines_.size());
    for (std::size_t i = 0; i + 1 < first_of_instance_.size(); ++i) {
      for (std::size_t e = first_of_instance_[i]; e < first_of_instance_[i + 1]; ++e) {
        sets.join(ends_[first_of_instance_[i]].clock, ends_[e].clock);
      }
    }
    std::vector<std::uint32_t> component(lines_.size());
    for (std::uint32_t c = 0; c < component.size(); ++c) component[c] = sets.find(c);
    return component;
  }

  [[nodiscard]] SimultaneousEnds finish() const {
    SimultaneousEnds result;
    result.spread = spread_;
    const std::vector<std::uint32_t> component = components();
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      const auto stamp = [&](std::size_t e) {
        return origin_ + static_cast<std::uint64_t>(ends_[e].time);
      };
      const std::span<const std::size_t> own = of_clock(c);
      const auto earlier = [&](std::size_t a, std::size_t b) {
        return ends_[a].time < ends_[b].time;
      };
      if (own.empty()) {
        result.lines.push_back({.at = origin_,
                                .events = {origin_, origin_},
                                .component = static_cast<std::uint32_t>(c)});
        continue;
      }
      const auto [first, last] = std::minmax_element(own.begin(), own.end(), earlier);
      result.lines.push_back({.offset = static_cast<double>(lines_[c].offset),
                              .rate = lines_[c].rate,
                              .at = origin_ + static_cast<std::uint64_t>(lines_[c].anchor),
                              .events = {stamp(*first), stamp(*last)},
                              .number = own.size(),
                              .component = component[c]});
    }
    return result;
  }

  /// Offset in ends_ of each instance, and the end.
  const std::vector<std::size_t>& first_of_instance_;
  const FitControl& control_;
  std::vector<EndLine> lines_;
  std::vector<End> ends_;                    ///< grouped by instance
  std::vector<std::size_t> by_clock_;        ///< numbers of ends
  std::vector<std::size_t> place_;           ///< place in by_clock_, one per end
  std::vector<std::size_t> first_of_clock_;  ///< offset in by_clock_ of each clock, and the end
  std::vector<std::int64_t> scratch_;
  std::uint64_t origin_ = 0;
  std::int64_t spread_ = 0;
  double noise_ = 1;
};

using Bends = std::span<const SimultaneousEnds::Bend>;

/// Line of a clock relative to that of a clock that keeps its time, with the bends of both.
struct Relative {
  Relative(const SimultaneousEnds::Line& line_, const SimultaneousEnds::Line& still,
           Bends bends_ = {}, Bends bends_of_still_ = {})
      : line(line_),
        bends(bends_),
        bends_of_still(bends_of_still_),
        offset((line.offset - still.offset - still.rate * stamp_distance(still.at, line.at)) /
               (1 + still.rate)),
        rate((line.rate - still.rate) / (1 + still.rate)) {}

  [[nodiscard]] double lined_at(std::uint64_t stamp) const {
    return offset + rate * stamp_distance(line.at, stamp);
  }
  [[nodiscard]] double at(std::uint64_t stamp) const {
    const double straight = lined_at(stamp);
    const auto there =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(stamp) + std::llround(straight));
    return straight + bend_at(bends, stamp) - bend_at(bends_of_still, there);
  }

  /// Stamps of the knots of its map: both ends of the events, and the knots of both clocks.
  [[nodiscard]] std::vector<std::uint64_t> stamps() const {
    const StampRange range{line.events.first, std::max(line.events.last, line.events.first + 1)};
    std::vector<std::uint64_t> all{range.first, range.last};
    const auto add = [&](std::uint64_t stamp) {
      if (stamp > range.first && stamp < range.last) all.push_back(stamp);
    };
    for (const SimultaneousEnds::Bend& bend : bends) add(bend.at);
    for (const SimultaneousEnds::Bend& bend : bends_of_still) {
      add(static_cast<std::uint64_t>(static_cast<std::int64_t>(bend.at) -
                                     std::llround(lined_at(bend.at))));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// True if the line is within the noise of a clock that needs no correction. Near its ends a line
  /// is twice as uncertain as in its middle.
  [[nodiscard]] bool is_noise(double spread) const {
    const double error = std::max(1.0, EndLineThresholds::sigma_per_mad * spread) /
                         std::sqrt(static_cast<double>(line.number));
    const auto within = [&](double value, double errors) {
      return std::abs(value) <= errors * error + spread;
    };
    const std::vector<std::uint64_t> all = stamps();
    return within(at(line.at), EndLineThresholds::significant) &&
           std::all_of(all.begin(), all.end(), [&](std::uint64_t stamp) {
             return within(at(stamp), 2 * EndLineThresholds::significant);
           });
  }

  /// True if the rate of the map between two knots exceeds `most_rate`.
  [[nodiscard]] bool is_faster_than(double most_rate) const {
    const std::vector<std::uint64_t> all = stamps();
    for (std::size_t i = 1; i < all.size(); ++i) {
      const double gained = at(all[i]) - at(all[i - 1]);
      if (std::abs(gained) > most_rate * stamp_distance(all[i - 1], all[i]) + 1) return true;
    }
    return std::abs(rate) > most_rate;
  }

  const SimultaneousEnds::Line& line;
  Bends bends, bends_of_still;
  double offset = 0;  ///< ticks at line.at
  double rate = 0;
};

}  // namespace

Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(const Clocks& clocks,
                                                               const Edges& edges, unsigned threads,
                                                               const Progress* progress) {
  constraints::CallEnds calls;
  for (const CollectiveInstance& one : edges.instances) {
    if (!one.ends_coincide || one.ends < 2) continue;
    calls.first.push_back(calls.ends.size());
    for (const InstanceMember& end : edges.members.subspan(one.first + one.begins, one.ends)) {
      calls.ends.push_back({end.clock, end.time});
    }
  }
  calls.first.push_back(calls.ends.size());
  const FitControl control{.threads = threads,
                           .check = [cancel = Cancel(progress)] { return cancel.check(); }};
  TRY_ASSIGN(std::optional<SimultaneousEnds> found,
             find_simultaneous_ends(clocks.clocks.size(), calls, control));
  if (!found) return found;
  TRY_ASSIGN(std::optional<BendsFromEnds> bends, find_bends(calls, found->lines, control));
  if (bends) {
    found->bends = std::move(bends->of_clock);
    found->spread = bends->spread;
  }
  for (std::size_t c = 0; c < clocks.clocks.size(); ++c) {
    found->lines[c].events = clocks.clocks[c].events.value_or(found->lines[c].events);
  }
  return found;
}

Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(std::size_t clocks,
                                                               const constraints::CallEnds& calls,
                                                               const FitControl& control) {
  return FitEnds(clocks, calls, control).run();
}

std::int64_t spread_of(const constraints::CallEnds& calls) {
  std::vector<std::int64_t> distances, times;
  for (std::size_t i = 0; i + 1 < calls.first.size(); ++i) {
    times.clear();
    for (std::size_t e = calls.first[i]; e < calls.first[i + 1]; ++e) {
      times.push_back(static_cast<std::int64_t>(calls.ends[e].time));
    }
    const std::int64_t middle = middle_median(times);  // also of two ends
    for (const std::int64_t time : times) distances.push_back(std::abs(time - middle));
  }
  return distances.empty() ? 0 : lower_median(distances);
}

std::vector<ClockLine> lines_of(const SimultaneousEnds& ends) {
  std::vector<ClockLine> lines;
  for (const SimultaneousEnds::Line& line : ends.lines) {
    const Relative relative(line, ends.lines[line.component]);
    lines.push_back({.base = static_cast<std::int64_t>(line.at),
                     .offset = std::llround(relative.offset),
                     .rate = relative.rate,
                     .component = line.component});
  }
  return lines;
}

std::optional<std::vector<ClockMap>> maps_of(const SimultaneousEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate) {
  const auto lower = [](const SimultaneousEnds::Line& a, const SimultaneousEnds::Line& b) {
    return a.offset < b.offset;
  };
  std::vector<SimultaneousEnds::Line> sorted;
  for (const SimultaneousEnds::Line& line : ends.lines) {
    if (line.number > 0) sorted.push_back(line);
  }
  const auto is_apart = [&](const SimultaneousEnds::Line& line) {
    return line.component != sorted.front().component;
  };
  if (std::any_of(sorted.begin(), sorted.end(), is_apart)) return std::nullopt;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end(), lower);
  const auto found =
      std::find_if(ends.lines.begin(), ends.lines.end(), [&](const SimultaneousEnds::Line& line) {
        return line.number > 0 && !lower(line, *middle) && !lower(*middle, line);
      });
  const std::size_t still =
      reference ? *reference : static_cast<std::size_t>(found - ends.lines.begin());
  if (ends.lines[still].number == 0) return std::nullopt;
  const auto bends_of = [&](std::size_t c) {
    return ends.bends.empty() ? Bends() : Bends(ends.bends[c]);
  };
  std::vector<ClockMap> maps;
  for (std::size_t c = 0; c < ends.lines.size(); ++c) {
    const SimultaneousEnds::Line& line = ends.lines[c];
    const bool is_still = c == still;
    const Relative relative(line, ends.lines[still], is_still ? Bends() : bends_of(c),
                            is_still ? Bends() : bends_of(still));
    if (line.number > 0 && relative.is_faster_than(most_rate)) return std::nullopt;
    if (line.number == 0 || relative.is_noise(static_cast<double>(ends.spread))) {
      maps.emplace_back();
      continue;
    }
    std::vector<ClockKnot> knots;
    for (const std::uint64_t stamp : relative.stamps()) {
      knots.push_back({stamp, std::llrint(relative.at(stamp))});
    }
    if (static_cast<std::int64_t>(knots.front().local) + knots.front().offset < 0) {
      return std::nullopt;
    }
    Result<ClockMap> map = ClockMap::from_knots(std::move(knots));
    if (!map) return std::nullopt;
    maps.push_back(*std::move(map));
  }
  return maps;
}

}  // namespace entrain::lines
