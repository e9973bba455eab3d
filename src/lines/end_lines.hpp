// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "base/executor.hpp"
#include "constraints/constraint.hpp"

namespace entrain::lines {

/// Lower median; reorders `values`, which must not be empty.
inline std::int64_t lower_median(std::span<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Mean of the lower and the upper median, rounded down; reorders `values`.
inline std::int64_t middle_median(std::span<std::int64_t> values) {
  const std::int64_t low = lower_median(values);
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  return low + (*upper - low) / 2;
}

/// Ticks from `from` to `to`, which are less than 2^63 apart.
inline double stamp_distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

/// Straight lines through simultaneous ends of collectives: one per clock, to a common time. Where
/// clocks wander, also bends of the lines.
///
/// Example: three clocks end five calls at 100, 200, ..., the third one 30 later each time. Its
/// line is -30, those of the others are 0.
struct SimultaneousEnds {
  struct Line {
    double offset = 0;            ///< ticks, at the stamp `at`
    double rate = 0;              ///< growth of the offset, ticks per tick
    std::uint64_t at = 0;         ///< a stamp near the middle of the clock's ends
    StampRange events{};          ///< stamps that the line is valid for
    std::uint64_t number = 0;     ///< number of ends
    std::uint32_t component = 0;  ///< first clock that calls connect it with
  };
  /// A knot of the wander about a line.
  struct Bend {
    std::uint64_t at = 0;  ///< stamp
    double offset = 0;     ///< ticks to be added to the line
  };
  std::vector<Line> lines;                 ///< one per clock
  std::vector<std::vector<Bend>> bends{};  ///< one list per clock; empty if none bends
  std::int64_t spread = 0;  ///< median distance of an end from the middle of its call, ticks
};

/// Execution of a fit. `check` is called in every round; its errors end the fit.
struct FitControl {
  unsigned threads = 1;        ///< 0: all cores
  std::size_t least_ends = 0;  ///< ends every clock must have, else nothing is found
  std::function<Result<void>()> check;
};

/// Ends in two orders: by call, for the middle of each call, and by clock and time, for what the
/// ends of a clock have in common. A *place* is a number in the second order. Holds the residual of
/// every end: its distance from the middle of its call, ticks.
class EndTable {
 public:
  /// Both must outlive this.
  EndTable(const constraints::CallEnds& calls, std::size_t clocks, const FitControl& control)
      : calls_(calls),
        control_(control),
        first_(clocks + 1),
        order_(calls.ends.size()),
        place_(calls.ends.size()),
        residual_(calls.ends.size()),
        scratch_(calls.ends.size()) {
    for (const constraints::CallEnds::End& end : calls.ends) ++first_[end.clock + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < order_.size(); ++e) order_[next[calls.ends[e].clock]++] = e;
    for_each_clock([&](std::size_t c) {
      std::stable_sort(
          order_.data() + first_[c], order_.data() + first_[c + 1],
          [&](std::size_t a, std::size_t b) { return calls.ends[a].time < calls.ends[b].time; });
      for (std::size_t k = first_[c]; k < first_[c + 1]; ++k) place_[order_[k]] = k;
    });
  }
  EndTable(const EndTable&) = delete;
  EndTable& operator=(const EndTable&) = delete;

  [[nodiscard]] std::size_t clocks() const { return first_.size() - 1; }
  /// First place of a clock, and one past its last.
  [[nodiscard]] std::size_t first(std::size_t c) const { return first_[c]; }
  [[nodiscard]] std::size_t last(std::size_t c) const { return first_[c + 1]; }
  [[nodiscard]] std::size_t size_of(std::size_t c) const { return last(c) - first(c); }
  [[nodiscard]] std::size_t place(std::size_t end) const { return place_[end]; }
  [[nodiscard]] std::uint64_t time_at(std::size_t place) const {
    return calls_.ends[order_[place]].time;
  }
  [[nodiscard]] std::span<const std::int64_t> residuals() const { return residual_; }
  /// Room for a number per place of a clock, for one thread at a time.
  [[nodiscard]] std::span<std::int64_t> scratch(std::size_t c) {
    return std::span(scratch_).subspan(first(c), size_of(c));
  }
  [[nodiscard]] std::span<std::int64_t> scratch() { return scratch_; }
  /// Median distance of an end from the middle of its call, ticks.
  [[nodiscard]] std::int64_t spread() {
    std::ranges::transform(residual_, scratch_.begin(),
                           [](std::int64_t residual) { return std::abs(residual); });
    return lower_median(scratch_);
  }

  /// Calls `body` for every clock, on several threads where that pays.
  template <class Body>
  void for_each_clock(const Body& body) const {
    for_each_in_parallel(threads(), clocks(), body);
  }

  /// Computes all residuals. `times_of()` returns a function from an end to its time, which is
  /// called with increasing ends; `middle`: of the times of a call, in any order.
  template <class TimesOf, class Middle>
  void measure(const TimesOf& times_of, const Middle& middle) {
    constexpr std::size_t k_block = 1024;  // calls per task of a thread
    const std::size_t calls = calls_.first.size() - 1, blocks = (calls + k_block - 1) / k_block;
    for_each_in_parallel(threads(), blocks, [&](std::size_t block) {
      auto time_of = times_of();
      std::vector<std::int64_t> times, copy;
      for (std::size_t i = block * k_block; i < std::min(calls, (block + 1) * k_block); ++i) {
        times.clear();
        for (std::size_t e = calls_.first[i]; e < calls_.first[i + 1]; ++e)
          times.push_back(time_of(e));
        copy = times;
        const std::int64_t centre = middle(copy);
        for (std::size_t k = 0; k < times.size(); ++k)
          residual_[place_[calls_.first[i] + k]] = times[k] - centre;
      }
    });
  }

 private:
  /// Threads worth using for so many ends.
  [[nodiscard]] unsigned threads() const {
    constexpr std::size_t k_ends_that_pay = 20'000;
    return order_.size() < k_ends_that_pay ? 1 : control_.threads;
  }

  const constraints::CallEnds& calls_;
  const FitControl& control_;
  std::vector<std::size_t> first_;                ///< first place of each clock, and the end
  std::vector<std::size_t> order_, place_;        ///< end per place, and the inverse
  std::vector<std::int64_t> residual_, scratch_;  ///< one per place
};

}  // namespace entrain::lines
