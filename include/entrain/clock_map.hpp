// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/error.hpp>

namespace entrain {

/// A point of a clock map: at local time `local` the clock is `offset` behind global time.
struct ClockKnot {
  std::uint64_t local = 0;  ///< stored time stamp, ticks of the trace's resolution
  std::int64_t offset = 0;  ///< global minus local, ticks; positive: the clock is late

  friend bool operator==(const ClockKnot&, const ClockKnot&) = default;
};

/// The correction of one location: a piecewise-linear function from local to global ticks.
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
/// Immutable after construction, so safe to share between threads.
class ClockMap {
 public:
  /// The identity.
  ClockMap() = default;

  /// Takes knots in strictly increasing order of local time. Errors: ErrorKind::input when local
  /// times repeat or decrease, or when an offset exceeds 2^61 ticks in size.
  static Result<ClockMap> from_knots(std::vector<ClockKnot> knots);

  /// Corrected time of stamp `local`, in ticks. May be negative. O(log knots).
  [[nodiscard]] std::int64_t operator()(std::uint64_t local) const;

  /// True when every time maps to itself (no knots, one knot, or only zero offsets).
  [[nodiscard]] bool is_identity() const;

  /// True when the function never decreases (no segment falls steeper than -1 tick per tick).
  [[nodiscard]] bool is_monotone() const;

  [[nodiscard]] std::span<const ClockKnot> knots() const { return knots_; }

  /// Same map with `shift` ticks added to every offset (identity: two knots with that offset).
  [[nodiscard]] ClockMap shifted(std::int64_t shift) const;

  friend bool operator==(const ClockMap&, const ClockMap&) = default;

  /// Evaluates a map at many stamps in stream order; amortised O(1) per stamp.
  ///
  /// The segment only ever moves forward, as the cursor of an OTF2 reader does.
  class Cursor {
   public:
    explicit Cursor(const ClockMap& map) : knots_(map.knots_) {}
    std::int64_t operator()(std::uint64_t local);

   private:
    static constexpr std::size_t k_unset = ~std::size_t{0};
    std::span<const ClockKnot> knots_;
    std::size_t segment_ = k_unset;
    std::uint64_t segment_end_ = 0;
    double slope_ = 0;
  };

 private:
  static double slope(const ClockKnot& begin, const ClockKnot& end);
  static std::int64_t at(const ClockKnot& begin, double slope, std::uint64_t local);
  std::vector<ClockKnot> knots_;
};

}  // namespace entrain
