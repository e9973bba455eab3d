// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace entrain::spans {

namespace likely {
class Search;
}

/// A bound on what has to be added to a clock at a time.
struct Bound {
  std::int64_t time = 0;    ///< ns, by another clock
  std::int64_t offset = 0;  ///< ns
  bool is_upper = false;    ///< the bound is a largest value, else a least one
  std::int32_t price = 0;   ///< bits to tell that it does not hold
  std::uint32_t edge = 0;   ///< the caller's number of what sets it
};

inline bool holds(const Bound& bound, std::int64_t offset) {
  return bound.is_upper ? offset <= bound.offset : offset >= bound.offset;
}

/// Prices of what a clock did, bits; likely_clock_test.cpp, tests/services/situations.py.
struct ClockPrices {
  static constexpr std::int32_t wrong = 12;       ///< it is not right: one clock in 4,096
  static constexpr std::int32_t step = 60;        ///< the same as explain::Prices::step
  static constexpr std::int32_t fast = 40;        ///< the same as explain::Prices::rate
  static constexpr std::int32_t slew = 80;        ///< a step that takes time: two times, one size
  static constexpr std::int32_t rate = 8;         ///< it drifts: one rate of some 200
  static constexpr std::int64_t usual_ppm = 100;  ///< most drift between two clocks
  static constexpr std::int64_t wander_ppm = 5;   ///< most that a rate differs from the drift
  static constexpr std::int64_t fast_ppm = 1000;  ///< clocks without a time service
};

/// A clock as some bounds show it.
struct LikelyClock {
  std::vector<std::int64_t> offsets;  ///< correction at each bound, ns; all 0: the clock is right
  std::int32_t bits = 0;              ///< its price and those of the bounds that do not hold
};

/// Finds the clock that costs least to tell (Viterbi, 1967). It is right, or its offset drifts
/// evenly with a little wander; and it may be set at any bound, or slewed from one to another one:
/// its offset rises, or falls, by up to ClockPrices::fast_ppm. The drift is taken from the cheapest
/// clock of any rates up to the limit; one that drifts is not slewed. O(n), with at most 256 pieces
/// of costs, whose memory serves the next search; where a clock is known, and one that costs less
/// is searched, a few pieces: what all clocks cost from each bound on is learnt first.
///
/// Example: nine bounds of 20 bits each allow offsets of -80 to 80, and then one demands 5,000. The
/// clock is right for 20 bits: a clock that was set would cost 60.
class ClockFinder {
 public:
  ClockFinder();
  /// The cheapest clock, if it costs less than `most` bits. `bounds`: in order of time.
  std::optional<LikelyClock> find(std::span<const Bound> bounds,
                                  std::int32_t most = std::numeric_limits<std::int32_t>::max());

 private:
  std::shared_ptr<likely::Search> search_;
};

}  // namespace entrain::spans
