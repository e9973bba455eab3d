// SPDX-License-Identifier: BSD-3-Clause
#include "lines/simultaneous_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/cancel.hpp"
#include "base/disjoint_sets.hpp"
#include "base/try.hpp"
#include "lines/bends_from_ends.hpp"

namespace entrain::lines {
namespace {

/// Lines through ends; simultaneous_ends_test.cpp. Chosen, not measured.
struct EndLineThresholds {
  static constexpr std::size_t ends_of_rate = 4;  ///< least ends of a clock that show a rate
  static constexpr std::size_t ends_of_offset =
      3;                                   ///< least ends: their median tolerates a late one
  static constexpr int most_rounds = 200;  ///< of offsets, at first and at last
  static constexpr int most_rounds_between_rates = 50;
  static constexpr int rate_rounds = 8;
  /// Without convergence, offsets are accepted if they jump by less than 1 / this of the spread.
  static constexpr std::int64_t spread_per_jump = 8;
  static constexpr double usual_rate = 1e-4;  ///< wall clocks against each other: 100 ppm
  /// Standard deviation of a normal distribution over its median absolute deviation.
  static constexpr double sigma_per_mad = 1.4826;
  /// The same of an exponential one: a rank is late more often by much than early.
  static constexpr double sigma_per_mad_of_delays = 2.08;
  static constexpr double significant = 4;  ///< standard errors
  /// Clocks near the median of which one stays; a comparison with all others takes 0.1 us each.
  static constexpr std::size_t most_compared = 64;
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
      : calls_(calls), control_(control), table_(calls, clocks, control), lines_(clocks) {
    for (const constraints::CallEnds::End& end : calls.ends) origin_ = std::min(origin_, end.time);
  }

  Result<std::optional<SimultaneousEnds>> run() {
    std::size_t rich = 0;
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      if (table_.size_of(c) < control_.least_ends) return std::nullopt;
      rich += table_.size_of(c) >= EndLineThresholds::ends_of_offset ? 1 : 0;
    }
    if (rich < 2) return std::nullopt;
    // Drift looks like noise at first, and may keep offsets from converging.
    TRY(set_offsets(EndLineThresholds::most_rounds));
    for (int round = 1; round <= EndLineThresholds::rate_rounds; ++round) {
      find_noise();
      for (std::size_t c = 0; c < lines_.size(); ++c) set_rate(c);
      if (round < EndLineThresholds::rate_rounds) {
        TRY(set_offsets(EndLineThresholds::most_rounds_between_rates));
      }
    }
    TRY_ASSIGN(const bool settled, set_offsets(EndLineThresholds::most_rounds));
    if (!settled) return std::nullopt;
    find_noise();
    return finish();
  }

 private:
  /// Ticks since the first end of all.
  [[nodiscard]] std::int64_t since_first(std::uint64_t time) const {
    return static_cast<std::int64_t>(time - origin_);
  }

  /// Finds offsets under which the median end of each clock is in the middle of its instance; false
  /// without convergence.
  Result<bool> set_offsets(int most_rounds) {
    std::int64_t largest = 0;
    for (int round = 0; round < most_rounds; ++round) {
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
    std::vector<std::int64_t> medians(lines_.size());
    table_.for_each_clock([&](std::size_t c) {
      if (table_.size_of(c) == 0) return;
      const std::span<std::int64_t> own = table_.scratch(c);
      std::ranges::copy(table_.residuals().subspan(table_.first(c), own.size()), own.begin());
      medians[c] = lower_median(own);
    });
    return medians;
  }

  void measure() {
    const auto times_of = [&] {
      return [this](std::size_t e) {
        const constraints::CallEnds::End& end = calls_.ends[e];
        const std::int64_t time = since_first(end.time);
        return time + lines_[end.clock].at(time);
      };
    };
    table_.measure(times_of, lower_median);
  }

  void find_noise() {
    spread_ = table_.spread();
    noise_ = std::max(1.0, EndLineThresholds::sigma_per_mad * static_cast<double>(spread_));
  }

  /// Slope of the residuals over time, with a prior of 0 (ridge regression).
  void set_rate(std::size_t c) {
    const auto count = static_cast<double>(table_.size_of(c));
    if (count == 0) return;
    double mean = 0, square = 0, product = 0;
    const auto time_at = [&](std::size_t place) {
      return static_cast<double>(since_first(table_.time_at(place)));
    };
    for (std::size_t k = table_.first(c); k < table_.last(c); ++k) mean += time_at(k);
    mean /= count;
    lines_[c].anchor = static_cast<std::int64_t>(mean);
    if (table_.size_of(c) < EndLineThresholds::ends_of_rate) return;
    for (std::size_t k = table_.first(c); k < table_.last(c); ++k) {
      const double x = time_at(k) - mean;
      square += x * x;
      product += x * static_cast<double>(table_.residuals()[k]);
    }
    const double prior =
        noise_ * noise_ / (EndLineThresholds::usual_rate * EndLineThresholds::usual_rate);
    lines_[c].rate = (lines_[c].rate * square - product) / (square + prior);
  }

  [[nodiscard]] SimultaneousEnds finish() const {
    SimultaneousEnds result;
    result.spread = spread_;
    DisjointSets connected(lines_.size());
    for (std::size_t i = 0; i + 1 < calls_.first.size(); ++i) {
      for (std::size_t e = calls_.first[i]; e < calls_.first[i + 1]; ++e)
        connected.join(calls_.ends[calls_.first[i]].clock, calls_.ends[e].clock);
    }
    const std::vector<std::uint32_t> component = connected.all();
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      if (table_.size_of(c) == 0) {
        result.lines.push_back({.at = origin_,
                                .events = {origin_, origin_},
                                .component = static_cast<std::uint32_t>(c)});
        continue;
      }
      result.lines.push_back(
          {.offset = static_cast<double>(lines_[c].offset),
           .rate = lines_[c].rate,
           .at = origin_ + static_cast<std::uint64_t>(lines_[c].anchor),
           .events = {table_.time_at(table_.first(c)), table_.time_at(table_.last(c) - 1)},
           .number = table_.size_of(c),
           .component = component[c]});
    }
    return result;
  }

  const constraints::CallEnds& calls_;
  const FitControl& control_;
  EndTable table_;
  std::vector<EndLine> lines_;
  std::uint64_t origin_ = std::numeric_limits<std::uint64_t>::max();  ///< first end of all
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
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// True if the line is within the noise of a clock that needs no correction. Near its ends a line
  /// is twice as uncertain as in its middle.
  [[nodiscard]] bool is_noise(double spread) const {
    const double error = std::max(1.0, EndLineThresholds::sigma_per_mad_of_delays * spread) /
                         std::sqrt(static_cast<double>(line.number));
    const auto within = [&](double value, double errors) {
      return std::abs(value) <= errors * error + spread;
    };
    const std::vector<std::uint64_t> all = stamps();
    return within(at(line.at), EndLineThresholds::significant) &&
           std::ranges::all_of(all, [&](std::uint64_t stamp) {
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

Relative relative_of(const SimultaneousEnds& ends, std::size_t clock, std::size_t still) {
  const auto bends_of = [&](std::size_t c) {
    return ends.bends.empty() || clock == still ? Bends() : Bends(ends.bends[c]);
  };
  return {ends.lines[clock], ends.lines[still], bends_of(clock), bends_of(still)};
}

/// The clock by which most of those that vote stay as they are; of several the one with the most
/// votes, then the one whose offset is nearest to the median.
std::uint32_t still_of(const SimultaneousEnds& ends, std::span<const char> votes) {
  std::vector<std::uint32_t> voters, all;
  for (std::uint32_t c = 0; c < ends.lines.size(); ++c) {
    if (ends.lines[c].number == 0) continue;
    all.push_back(c);
    if (votes.empty() || votes[c] != 0) voters.push_back(c);
  }
  if (voters.empty()) voters = all;
  if (voters.empty()) return 0;
  std::ranges::stable_sort(voters, {}, [&](std::uint32_t c) { return ends.lines[c].offset; });
  const std::size_t middle = (voters.size() - 1) / 2;
  std::uint32_t best = voters[middle];
  std::pair<std::ptrdiff_t, char> most{0, 0};
  for (std::size_t k = 0; k < std::min(voters.size(), EndLineThresholds::most_compared); ++k) {
    // middle, middle + 1, middle - 1, ...
    const std::size_t at = k % 2 == 1 ? middle + (k + 1) / 2 : middle - k / 2;
    if (at >= voters.size()) continue;
    const auto stays = std::ranges::count_if(voters, [&](std::uint32_t c) {
      return relative_of(ends, c, voters[at]).is_noise(static_cast<double>(ends.spread));
    });
    const std::pair value{stays, votes.empty() ? char{1} : votes[voters[at]]};
    if (value <= most) continue;
    most = value;
    best = voters[at];
  }
  return best;
}

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
  TRY(find_bends(calls, *found, control));
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
                                             double most_rate, std::span<const char> votes) {
  const std::uint32_t still = reference ? *reference : still_of(ends, votes);
  if (ends.lines[still].number == 0) return std::nullopt;
  const auto is_apart = [&](const SimultaneousEnds::Line& line) {
    return line.number > 0 && line.component != ends.lines[still].component;
  };
  if (std::ranges::any_of(ends.lines, is_apart)) return std::nullopt;
  std::vector<ClockMap> maps;
  for (std::size_t c = 0; c < ends.lines.size(); ++c) {
    const SimultaneousEnds::Line& line = ends.lines[c];
    const Relative relative = relative_of(ends, c, still);
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
