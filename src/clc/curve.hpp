// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "clc/backward.hpp"
#include "clc/forward.hpp"
#include "trace/skeleton.hpp"

namespace entrain::clc {

/// Displacement of one location over local time, as bends in increasing order of stamp: linear
/// between them, constant outside.
using Curve = std::vector<Bend>;

/// Walks along a curve from left to right. The curve must outlive it and have a bend.
class CurveReader {
 public:
  explicit CurveReader(const Curve& curve) : curve_(curve) {}

  /// Displacement at `stamp`, rounded down; stamps must not decrease from call to call.
  std::int64_t operator()(std::uint64_t stamp);

 private:
  const Curve& curve_;
  std::size_t next_ = 0;
};

/// The natural bends of a corrected location: its ramps (as build_ramps returns them) and the
/// decays between them.
Curve curve_of_ramps(const DisplacedLocation& input, std::span<const Ramp> ramps);

/// The same without backward amortization: every jump is a step of one tick's width.
Curve curve_of_jumps(const DisplacedLocation& input);

/// Adds bends, replacing those with the same stamp. `bends` need not be sorted.
void insert_bends(Curve& curve, std::vector<Bend> bends);

/// The clock map presync + curve of a location: knots at the bends and at the presync knots between
/// the first and the last event, at these two, and one tick after the last with the same offset.
/// No knot falls strictly inside a buffer flush: one there is replaced by two at its ends. With
/// `split_flushes` this does not hold for a flush with communication events strictly inside; then
/// only a reader whose segment can go back after the stop time gets these right.
ClockMap make_map(const ClockMap& presync, const Curve& curve,
                  const trace::LocationSkeleton& location, bool split_flushes = false);

}  // namespace entrain::clc
