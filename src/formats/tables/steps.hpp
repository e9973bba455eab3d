// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace entrain::tables {

/// The step in which a clock counts, by its stamps, which are seen one by one.
class Step {
 public:
  /// `unit`: ticks per unit of the numbers that stand for stamps, where these may be doubles; else
  /// 0.
  explicit Step(double unit = 0) : unit_(unit) {}
  void add(std::uint64_t time) {
    if (divisor_ != 1 || step_ != 1 || unit_ > 0) learn(time);
    ++count_;
    last_ = time;
  }
  /// True if all distances are multiples of this step.
  [[nodiscard]] bool has(std::uint64_t step) const { return count_ > 0 && step_ % step == 0; }
  /// True if all stamps are multiples of a unit.
  [[nodiscard]] bool has_all_at(std::uint64_t unit) const {
    return count_ > 0 && divisor_ % unit == 0;
  }
  /// The step: the greatest common divisor of all distances, if chance gives such a one in less
  /// than one of 2^31 cases; else 1. Distances that repeat within eight, as those of a sampler do,
  /// say nothing of the clock: eleven others have to show the step, or 32 stamps that keep no
  /// rhythm. The distance of the doubles, if all stamps are the nearest numbers to some of them,
  /// with the same odds.
  [[nodiscard]] std::uint64_t learned() const;
  /// The double nearest to a stamp, in ticks, if all stamps are such ones; else the stamp.
  [[nodiscard]] std::uint64_t nearest(std::uint64_t time) const;
  /// The largest one of 10^9, 10^6 and 10^3 that divides all stamps, at least 8, whose distances do
  /// not repeat; else 1.
  [[nodiscard]] std::uint64_t whole() const;

 private:
  void learn(std::uint64_t time);
  [[nodiscard]] std::uint64_t fewest_changes() const;
  [[nodiscard]] std::uint64_t step_of_doubles() const;

  static constexpr std::size_t k_lags = 8;  ///< longest pattern of distances that counts as regular
  std::uint64_t count_ = 0, last_ = 0, step_ = 0;
  std::uint64_t divisor_ = 0;                      ///< common divisor of all stamps
  double unit_ = 0;                                ///< ticks; 0: stamps are no doubles
  std::uint64_t most_ = 0;                         ///< largest stamp
  std::uint64_t new_ = 0;                          ///< distances that none of the last eight had
  std::uint64_t equal_ = 0;                        ///< stamps that are equal to the one before
  std::array<std::uint64_t, k_lags> distances_{};  ///< the last ones
  std::array<std::uint64_t, k_lags> changes_{};    ///< distances that differ from that `lag` before
};

/// Notes the steps of clocks, which are given by step in ticks.
void note_steps(const std::map<std::uint64_t, std::vector<std::string>>& clocks_of,
                std::uint64_t ticks_per_second, std::vector<std::string>& notes);

}  // namespace entrain::tables
