// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

namespace entrain::trace {

/// outer(inner(t)) as one map, for increasing maps and times that inner does not make negative.
///
/// Exact at the knots of `inner`, and within two ticks elsewhere between the first and the last
/// knot of `outer`: the composition of the maps rounds twice, one map only once, and a bend of
/// `outer` may fall between two ticks. Increasing again, as far as one tick of rounding goes: with
/// a rate below 1 two neighbouring ticks may become one, but never change order.
Result<ClockMap> composed(const ClockMap& inner, const ClockMap& outer);

/// The map by which a clock shows the time of a reference: `reference` and `map` are those of both
/// to another time. The map itself, if an offset is out of range.
ClockMap seen_from(const ClockMap& reference, const ClockMap& map);

/// The stamps from `first` to `last` between which all maps are straight: these two, and the knots
/// between them, in order.
std::vector<std::uint64_t> straight_stamps(std::uint64_t first, std::uint64_t last,
                                           std::initializer_list<const ClockMap*> maps);

/// Evaluates a map at the stamps of one stream in about constant time each if they do not decrease.
/// For decreasing stamps of a damaged stream it searches, as a cursor cannot go back.
class StreamTimes {
 public:
  explicit StreamTimes(const ClockMap& map) : map_(&map), cursor_(map) {}

  std::int64_t operator()(std::uint64_t stamp) {
    if (stamp < latest_) return (*map_)(stamp);
    latest_ = stamp;
    return cursor_(stamp);
  }

 private:
  const ClockMap* map_;
  ClockMap::Cursor cursor_;
  std::uint64_t latest_ = 0;
};

}  // namespace entrain::trace
