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

/// A bound on the correction of a clock at a time.
struct Bound {
  std::int64_t time = 0;    ///< ns, by another clock
  std::int64_t offset = 0;  ///< ns
  bool is_upper = false;    ///< it is an upper bound, else a lower one
  std::int32_t price = 0;   ///< bits that its violation costs
  std::uint32_t edge = 0;   ///< the caller's number of the edge that sets it
  bool is_begin = false;    ///< of work that cannot be early: no right clock breaks it
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
  static constexpr std::int32_t slew_begins = 3;  ///< begins that a right clock has to break
  static constexpr std::int32_t rate = 8;         ///< it drifts: one rate of some 200
  static constexpr std::int64_t usual_ppm = 100;  ///< largest usual drift between two clocks
  static constexpr std::int64_t wander_ppm = 5;   ///< largest deviation of a rate from the drift
  static constexpr std::int64_t fast_ppm = 1000;  ///< largest drift without a time service
};

/// A clock that explains some bounds.
struct LikelyClock {
  std::vector<std::int64_t> offsets;  ///< correction at each bound, ns; all 0: the clock is right
  std::int32_t bits = 0;              ///< its price and those of the bounds that do not hold
};

/// Finds the clock of minimum description length (Viterbi, 1967). It is right, or its offset drifts
/// at a constant rate with a little wander. It may be set at any bound, or slewed from one bound to
/// another: its offset rises, or falls, by up to ClockPrices::fast_ppm. The cheapest clock of any
/// rates up to the limit gives the drift; a clock that drifts is not slewed. O(n): a cost function
/// has at most 256 pieces, whose memory serves the next search. With a limit `most`, a few pieces
/// suffice: a backward pass first bounds the costs of the rest from each bound on.
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
