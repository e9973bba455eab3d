// SPDX-License-Identifier: BSD-3-Clause
#include "causal/common_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/cancel.hpp"
#include "base/disjoint_sets.hpp"
#include "base/try.hpp"

namespace entrain::causal {
namespace {

constexpr std::size_t k_least_ends = 4;  ///< of a clock
constexpr int k_most_offset_rounds = 200;
constexpr int k_end_rate_rounds = 8;
constexpr double k_usual_rate = 1e-4;  ///< of wall clocks against each other: 100 ppm
constexpr double k_noise = 1.4826;     ///< standard deviation over median distance
constexpr double k_stands_out = 4;     ///< standard errors

std::int64_t median_of(std::span<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct End {
  std::uint32_t clock = 0;
  std::int64_t time = 0;  ///< since the first end of all
  std::int64_t rest = 0;  ///< distance from the middle of its instance
};

struct EndLine {
  std::int64_t offset = 0;  ///< ticks at `anchor`
  double rate = 0;
  std::int64_t anchor = 0;  ///< since the first end of all

  [[nodiscard]] std::int64_t at(std::int64_t time) const {
    return offset + (rate == 0 ? 0 : std::llrint(rate * static_cast<double>(time - anchor)));
  }
};

class FitEnds {
 public:
  FitEnds(std::size_t clocks, const CallEnds& calls, const std::function<Result<void>()>& check)
      : first_of_instance_(calls.first), check_(check), lines_(clocks) {
    take_ends(calls);
  }

  Result<std::optional<CommonEnds>> run() {
    if (ends_.empty()) return std::nullopt;
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      if (of_clock(c).size() < k_least_ends) return std::nullopt;
    }
    TRY_ASSIGN(bool settled, set_offsets());
    // What drifts looks like noise at first.
    for (int round = 0; settled && round < k_end_rate_rounds; ++round) {
      find_noise();
      for (std::size_t c = 0; c < lines_.size(); ++c) set_rate(c);
      TRY_ASSIGN(settled, set_offsets());
    }
    if (!settled) return std::nullopt;
    find_noise();
    return finish();
  }

 private:
  void take_ends(const CallEnds& calls) {
    const auto by_time = [](const CallEnds::End& a, const CallEnds::End& b) {
      return a.time < b.time;
    };
    if (!calls.ends.empty()) {
      origin_ = std::min_element(calls.ends.begin(), calls.ends.end(), by_time)->time;
    }
    for (const CallEnds::End& end : calls.ends) {
      ends_.push_back({end.clock, static_cast<std::int64_t>(end.time - origin_), 0});
    }
    first_of_clock_.assign(lines_.size() + 1, 0);
    for (const End& end : ends_) ++first_of_clock_[end.clock + 1];
    for (std::size_t c = 0; c < lines_.size(); ++c) first_of_clock_[c + 1] += first_of_clock_[c];
    std::vector<std::size_t> next(first_of_clock_.begin(), first_of_clock_.end() - 1);
    by_clock_.resize(ends_.size());
    for (std::size_t e = 0; e < ends_.size(); ++e) by_clock_[next[ends_[e].clock]++] = e;
    scratch_.resize(ends_.size());
  }

  /// Numbers of a clock's ends.
  [[nodiscard]] std::span<const std::size_t> of_clock(std::size_t c) const {
    return std::span(by_clock_).subspan(first_of_clock_[c],
                                        first_of_clock_[c + 1] - first_of_clock_[c]);
  }

  /// Offsets under which ends are in the middle of their instances; false if it does not settle.
  Result<bool> set_offsets() {
    for (int round = 0; round < k_most_offset_rounds; ++round) {
      TRY(check_());
      measure();
      std::int64_t largest = 0;
      for (std::size_t c = 0; c < lines_.size(); ++c) {
        const std::span<const std::size_t> own = of_clock(c);
        for (std::size_t i = 0; i < own.size(); ++i) scratch_[i] = ends_[own[i]].rest;
        const std::int64_t rest = median_of(std::span(scratch_).first(own.size()));
        lines_[c].offset -= rest;
        largest = std::max(largest, std::abs(rest));
      }
      if (largest <= 1) {
        measure();
        return true;
      }
    }
    return false;
  }

  void measure() {
    for (std::size_t i = 0; i + 1 < first_of_instance_.size(); ++i) {
      const std::size_t first = first_of_instance_[i];
      const std::size_t count = first_of_instance_[i + 1] - first;
      for (std::size_t e = first; e < first + count; ++e) {
        ends_[e].rest = ends_[e].time + lines_[ends_[e].clock].at(ends_[e].time);
        scratch_[e - first] = ends_[e].rest;
      }
      const std::int64_t middle = median_of(std::span(scratch_).first(count));
      for (std::size_t e = first; e < first + count; ++e) ends_[e].rest -= middle;
    }
  }

  void find_noise() {
    for (std::size_t e = 0; e < ends_.size(); ++e) scratch_[e] = std::abs(ends_[e].rest);
    spread_ = median_of(scratch_);
    noise_ = std::max(1.0, k_noise * static_cast<double>(spread_));
  }

  /// The slope of the rests over time, drawn to 0 as far as the noise explains it.
  void set_rate(std::size_t c) {
    const std::span<const std::size_t> own = of_clock(c);
    double mean = 0, square = 0, product = 0;
    for (const std::size_t e : own) mean += static_cast<double>(ends_[e].time);
    mean /= static_cast<double>(own.size());
    for (const std::size_t e : own) {
      const double x = static_cast<double>(ends_[e].time) - mean;
      square += x * x;
      product += x * static_cast<double>(ends_[e].rest);
    }
    const double prior = noise_ * noise_ / (k_usual_rate * k_usual_rate);
    lines_[c].rate = (lines_[c].rate * square - product) / (square + prior);
    lines_[c].anchor = static_cast<std::int64_t>(mean);
  }

  /// Per clock the first of the clocks that calls connect with it.
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

  [[nodiscard]] CommonEnds finish() const {
    CommonEnds result;
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

  const std::vector<std::size_t>& first_of_instance_;  ///< in ends_, and the end
  const std::function<Result<void>()>& check_;
  std::vector<EndLine> lines_;
  std::vector<End> ends_;                    ///< those of an instance stand together
  std::vector<std::size_t> by_clock_;        ///< numbers of ends
  std::vector<std::size_t> first_of_clock_;  ///< in by_clock_, and the end
  std::vector<std::int64_t> scratch_;
  std::uint64_t origin_ = 0;
  std::int64_t spread_ = 0;
  double noise_ = 1;
};

/// Ticks from `from` to `to`, which are less than 2^63 apart.
double distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

/// A clock's line against that of a clock that keeps its time.
struct Relative {
  Relative(const CommonEnds::Line& line_, const CommonEnds::Line& still)
      : line(line_),
        offset((line.offset - still.offset - still.rate * distance(still.at, line.at)) /
               (1 + still.rate)),
        rate((line.rate - still.rate) / (1 + still.rate)) {}

  [[nodiscard]] double at(std::uint64_t stamp) const {
    return offset + rate * distance(line.at, stamp);
  }

  /// True if a clock that needs no correction may have such a line. Toward its ends a line is
  /// twice as uncertain as in its middle.
  [[nodiscard]] bool is_noise(double spread) const {
    const double error =
        std::max(1.0, k_noise * spread) / std::sqrt(static_cast<double>(line.number));
    const auto within = [&](double value, double errors) {
      return std::abs(value) <= errors * error + spread;
    };
    return within(offset, k_stands_out) && within(at(line.events.first), 2 * k_stands_out) &&
           within(at(line.events.last), 2 * k_stands_out);
  }

  const CommonEnds::Line& line;
  double offset = 0;  ///< ticks at line.at
  double rate = 0;
};

}  // namespace

Result<std::optional<CommonEnds>> find_common_ends(const Clocks& clocks, const Edges& edges,
                                                   const Progress* progress) {
  CallEnds calls;
  for (const CollectiveInstance& one : edges.instances) {
    if (!one.ends_coincide || one.ends < 2) continue;
    calls.first.push_back(calls.ends.size());
    for (const InstanceMember& end : edges.members.subspan(one.first + one.begins, one.ends)) {
      calls.ends.push_back({end.clock, end.time});
    }
  }
  calls.first.push_back(calls.ends.size());
  TRY_ASSIGN(std::optional<CommonEnds> found,
             find_common_ends(clocks.clocks.size(), calls,
                              [cancel = Cancel(progress)] { return cancel.check(); }));
  for (std::size_t c = 0; found && c < clocks.clocks.size(); ++c) {
    found->lines[c].events = clocks.clocks[c].events.value_or(found->lines[c].events);
  }
  return found;
}

Result<std::optional<CommonEnds>> find_common_ends(std::size_t clocks, const CallEnds& calls,
                                                   const std::function<Result<void>()>& check) {
  return FitEnds(clocks, calls, check).run();
}

std::int64_t spread_of(const CallEnds& calls) {
  std::vector<std::int64_t> distances, times;
  for (std::size_t i = 0; i + 1 < calls.first.size(); ++i) {
    times.clear();
    for (std::size_t e = calls.first[i]; e < calls.first[i + 1]; ++e) {
      times.push_back(static_cast<std::int64_t>(calls.ends[e].time));
    }
    const std::int64_t low = median_of(times);
    const auto upper = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), upper, times.end());
    const std::int64_t middle = low + (*upper - low) / 2;  // also of two ends
    for (const std::int64_t time : times) distances.push_back(std::abs(time - middle));
  }
  return distances.empty() ? 0 : median_of(distances);
}

std::vector<ClockLine> lines_of(const CommonEnds& ends) {
  std::vector<ClockLine> lines;
  for (const CommonEnds::Line& line : ends.lines) {
    const Relative relative(line, ends.lines[line.component]);
    lines.push_back({.base = static_cast<std::int64_t>(line.at),
                     .offset = std::llround(relative.offset),
                     .rate = relative.rate,
                     .component = line.component});
  }
  return lines;
}

std::optional<std::vector<ClockMap>> maps_of(const CommonEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate) {
  const auto is_apart = [](const CommonEnds::Line& line) { return line.component != 0; };
  if (std::any_of(ends.lines.begin(), ends.lines.end(), is_apart)) return std::nullopt;
  const auto lower = [](const CommonEnds::Line& a, const CommonEnds::Line& b) {
    return a.offset < b.offset;
  };
  std::vector<CommonEnds::Line> sorted = ends.lines;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end(), lower);
  const CommonEnds::Line still = reference ? ends.lines[*reference] : *middle;
  std::vector<ClockMap> maps;
  for (const CommonEnds::Line& line : ends.lines) {
    const Relative relative(line, still);
    if (std::abs(relative.rate) > most_rate) return std::nullopt;
    if (relative.is_noise(static_cast<double>(ends.spread))) {
      maps.emplace_back();
      continue;
    }
    std::vector<ClockKnot> knots;
    for (const std::uint64_t stamp :
         {line.events.first, std::max(line.events.last, line.events.first + 1)}) {
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

}  // namespace entrain::causal
