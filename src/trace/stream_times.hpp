// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/clock_map.hpp>

namespace entrain::trace {

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
