// SPDX-License-Identifier: BSD-3-Clause
#include "engine/common_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace entrain::engine {
namespace {

constexpr std::size_t k_least_ends = 4;  ///< of a clock
constexpr int k_most_rounds = 200;
constexpr int k_rate_rounds = 8;
constexpr double k_usual_rate = 1e-4;  ///< of wall clocks against each other: 100 ppm
constexpr double k_noise = 1.4826;     ///< standard deviation over median distance
constexpr double k_stands_out = 4;     ///< standard errors

std::int64_t median_of(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct End {
  std::uint32_t clock = 0, instance = 0;
  std::uint64_t stamp = 0;
  std::int64_t time = 0;  ///< relative to the first end of all
  std::int64_t rest = 0;  ///< distance from the middle of its instance
};

struct Line {
  std::int64_t offset = 0;  ///< ticks at `anchor`
  double rate = 0;
  std::uint64_t anchor = 0;
};

class Fit {
 public:
  Fit(const Clocks& clocks, const Edges& edges)
      : clocks_(clocks), lines_(clocks.clocks.size()), of_clock_(clocks.clocks.size()) {
    for (const CollectiveInstance& one : edges.instances) {
      if (!one.ends_coincide || one.ends < 2) continue;
      const auto ends = edges.members.subspan(one.first + one.begins, one.ends);
      for (const InstanceMember& end : ends) {
        of_clock_[end.clock].push_back(ends_.size());
        ends_.push_back({.clock = end.clock, .instance = instances_, .stamp = end.time});
      }
      ++instances_;
    }
  }

  std::optional<CommonEnds> run() {
    for (const auto& own : of_clock_) {
      if (own.size() < k_least_ends) return std::nullopt;
    }
    const std::uint64_t origin =
        std::min_element(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
          return a.stamp < b.stamp;
        })->stamp;
    for (End& end : ends_) end.time = static_cast<std::int64_t>(end.stamp - origin);
    if (!set_offsets()) return std::nullopt;
    // What drifts looks like noise at first.
    for (int round = 0; round < k_rate_rounds; ++round) {
      find_noise();
      for (std::size_t c = 0; c < lines_.size(); ++c) set_rate(c);
      if (!set_offsets()) return std::nullopt;
    }
    find_noise();
    return finish();
  }

 private:
  /// Offsets under which ends are in the middle of their instances; false if it does not settle.
  bool set_offsets() {
    for (int round = 0; round < k_most_rounds; ++round) {
      measure();
      std::int64_t largest = 0;
      for (std::size_t c = 0; c < lines_.size(); ++c) {
        std::vector<std::int64_t> rests;
        for (const std::size_t e : of_clock_[c]) rests.push_back(ends_[e].rest);
        const std::int64_t rest = median_of(rests);
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

  [[nodiscard]] std::int64_t at(const End& end) const {
    const Line& line = lines_[end.clock];
    return end.time + line.offset +
           (line.rate == 0 ? 0
                           : std::llrint(line.rate * static_cast<double>(static_cast<std::int64_t>(
                                                         end.stamp - line.anchor))));
  }

  void measure() {
    std::vector<std::vector<std::int64_t>> times(instances_);
    for (const End& end : ends_) {
      times[end.instance].push_back(at(end));
    }
    std::vector<std::int64_t> middle;
    middle.reserve(times.size());
    for (auto& one : times) middle.push_back(median_of(one));
    for (End& end : ends_) {
      end.rest = at(end) - middle[end.instance];
    }
  }

  void find_noise() {
    std::vector<std::int64_t> sizes;
    for (const End& end : ends_) sizes.push_back(std::abs(end.rest));
    spread_ = median_of(sizes);
    noise_ = std::max(1.0, k_noise * static_cast<double>(spread_));
  }

  /// The slope of the rests over time, drawn to 0 as far as the noise explains it.
  void set_rate(std::size_t c) {
    double mean = 0, square = 0, product = 0;
    for (const std::size_t e : of_clock_[c]) mean += static_cast<double>(ends_[e].time);
    mean /= static_cast<double>(of_clock_[c].size());
    for (const std::size_t e : of_clock_[c]) {
      const double x = static_cast<double>(ends_[e].time) - mean;
      square += x * x;
      product += x * static_cast<double>(ends_[e].rest);
    }
    const double prior = noise_ * noise_ / (k_usual_rate * k_usual_rate);
    lines_[c].rate = (lines_[c].rate * square - product) / (square + prior);
    lines_[c].anchor = ends_[of_clock_[c].front()].stamp -
                       static_cast<std::uint64_t>(ends_[of_clock_[c].front()].time) +
                       static_cast<std::uint64_t>(mean);
  }

  CommonEnds finish() const {
    std::vector<std::int64_t> offsets;
    for (const Line& line : lines_) offsets.push_back(line.offset);
    const std::int64_t middle = median_of(offsets);
    const auto still = std::find_if(lines_.begin(), lines_.end(),
                                    [&](const Line& line) { return line.offset == middle; });
    CommonEnds result;
    result.spread = spread_;
    for (std::size_t c = 0; c < lines_.size(); ++c) {
      const Line line{.offset = lines_[c].offset - middle,
                      .rate = lines_[c].rate - still->rate,
                      .anchor = lines_[c].anchor};
      result.maps.push_back(map_of(c, line));
      result.kept += result.maps.back().is_identity() ? 1 : 0;
    }
    return result;
  }

  [[nodiscard]] ClockMap map_of(std::size_t c, const Line& line) const {
    const StampRange events = clocks_.clocks[c].events.value_or(
        StampRange{ends_[of_clock_[c].front()].stamp, ends_[of_clock_[c].back()].stamp});
    const double error = noise_ / std::sqrt(static_cast<double>(of_clock_[c].size()));
    if (std::abs(static_cast<double>(line.offset)) <=
        k_stands_out * error + static_cast<double>(spread_)) {
      return {};
    }
    std::vector<ClockKnot> knots;
    for (const std::uint64_t stamp : {events.first, std::max(events.last, events.first + 1)}) {
      const auto distance = static_cast<double>(static_cast<std::int64_t>(stamp - line.anchor));
      knots.push_back({stamp, line.offset + std::llrint(line.rate * distance)});
    }
    return ClockMap::from_knots(std::move(knots)).value_or(ClockMap());
  }

  const Clocks& clocks_;
  std::vector<Line> lines_;
  std::vector<std::vector<std::size_t>> of_clock_;  ///< numbers of ends
  std::vector<End> ends_;
  std::uint32_t instances_ = 0;
  std::int64_t spread_ = 0;
  double noise_ = 1;
};

}  // namespace

std::optional<CommonEnds> align_ends(const Clocks& clocks, const Edges& edges) {
  return Fit(clocks, edges).run();
}

}  // namespace entrain::engine
