// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/error.hpp>

namespace entrain {

/// A point of a clock map: at local time `local` the clock is `offset` behind global time.
struct ClockKnot {
  std::uint64_t local = 0;  ///< stored time stamp, ticks of the trace's resolution
  std::int64_t offset = 0;  ///< global minus local, ticks; positive: the clock is behind

  friend bool operator==(const ClockKnot&, const ClockKnot&) = default;
};

/// The correction of one location or clock: a piecewise-linear function from local to global ticks.
///
/// Between two knots (t_k, o_k) and (t_k+1, o_k+1), for t_k < t <= t_k+1,
///
///     corrected(t) = t + o_k + rint(double(o_k+1 - o_k) / double(t_k+1 - t_k) * double(t - t_k))
///
/// where t - t_k is taken as unsigned integers and then converted; the first and the last segment
/// are extended outwards. This is to the bit what an OTF2 reader makes of the ClockOffset records
/// of a location, so a map can be stored in an archive without loss. As there, fewer than two
/// knots mean the identity.
///
/// Example: the knots {1000, 50} and {2000, 60} give a slope of 0.01, and
///     corrected(1000) = 1000 + 50            = 1050
///     corrected(1500) = 1500 + 50 + rint(5)  = 1555
///     corrected(2500) = 2500 + 50 + rint(15) = 2565   (the segment goes on)
///
/// Immutable after construction, so safe to share between threads.
class ClockMap {
 public:
  /// The identity.
  ClockMap() = default;

  /// Makes a map of knots in strictly increasing order of local time. Errors: ErrorKind::input when
  /// local times repeat or decrease, or when an offset exceeds 2^61 ticks in size.
  static Result<ClockMap> from_knots(std::vector<ClockKnot> knots);

  /// Returns the corrected time of stamp `local`, ticks. May be negative. O(log knots).
  [[nodiscard]] std::int64_t operator()(std::uint64_t local) const;

  /// True when every time maps to itself (no knots, one knot, or only zero offsets).
  [[nodiscard]] bool is_identity() const;

  /// True when the function never decreases (no segment falls steeper than -1 tick per tick).
  [[nodiscard]] bool is_monotone() const;

  /// True when the function is monotone and its rounded values never decrease either from stamp
  /// `first` to stamp `last`. Where offsets rise by 2^51 ticks or more between two knots, a double
  /// is too coarse, and the end of one segment may lie above the begin of the next one. O(knots).
  [[nodiscard]] bool keeps_order(std::uint64_t first, std::uint64_t last) const;

  /// The knots in order of local time; fewer than two: the identity.
  [[nodiscard]] std::span<const ClockKnot> knots() const { return knots_; }

  /// Returns the map with `shift` ticks added to every offset (identity: two knots with that
  /// offset).
  [[nodiscard]] ClockMap shifted(std::int64_t shift) const;

  friend bool operator==(const ClockMap&, const ClockMap&) = default;

  /// Evaluates a map at many stamps in stream order; amortised O(1) per stamp. The segment only
  /// ever moves forward, as the cursor of an OTF2 reader does. The map must outlive it. One thread
  /// at a time.
  class Cursor {
   public:
    explicit Cursor(const ClockMap& map) : knots_(map.knots_) {}
    /// Returns the corrected time of stamp `local`, ticks.
    std::int64_t operator()(std::uint64_t local) {
      if (local > end_ || !begun_) move_to(local);
      return at(begin_, slope_, local);
    }

   private:
    void move_to(std::uint64_t local);

    std::span<const ClockKnot> knots_;
    // The present segment:
    std::size_t segment_ = 0;
    ClockKnot begin_;
    std::uint64_t end_ = 0;
    double slope_ = 0;
    bool begun_ = false;
  };

 private:
  static double slope(const ClockKnot& begin, const ClockKnot& end);
  static std::int64_t at(const ClockKnot& begin, double slope, std::uint64_t local);
  static std::int64_t far_away(const ClockKnot& begin, double slope, std::uint64_t local);
  std::vector<ClockKnot> knots_;
};

namespace detail {

/// rint(value) as the bits of a 64-bit integer, for |value| < 2^51: -1.6 yields the bits of -2.
///
/// Near 1.5 * 2^52 neighbouring doubles are neighbouring integers. So adding that number rounds the
/// value as rint() does and leaves it in the lowest bits of the sum. rint() itself would be a call,
/// in the loop over all stamps.
inline std::uint64_t rounded_bits(double value) {
  constexpr double k_round = 6755399441055744.0;  // 1.5 * 2^52
  return std::bit_cast<std::uint64_t>(value + k_round) - std::bit_cast<std::uint64_t>(k_round);
}

}  // namespace detail

inline std::int64_t ClockMap::at(const ClockKnot& begin, double slope, std::uint64_t local) {
  constexpr double k_small = 2251799813685248.0;  // 2^51
  const auto distance = static_cast<std::int64_t>(local - begin.local);
  const double rest = slope * static_cast<double>(distance);
  if ((local < begin.local) != (distance < 0) || !(rest < k_small && rest > -k_small)) {
    return far_away(begin, slope, local);
  }
  return static_cast<std::int64_t>(local + static_cast<std::uint64_t>(begin.offset) +
                                   detail::rounded_bits(rest));
}

}  // namespace entrain
