// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/trace.hpp"
#include "verify/pairing.hpp"

namespace entrain::verify {

/// Times of the events of one location as its clock map gives them, ticks.
std::vector<std::int64_t> corrected_times(std::span<const trace::Event> events,
                                          const ClockMap& map);

/// Corrected times of all events of a trace.
class Times {
 public:
  /// `maps`: one per location.
  Times(const trace::Trace& trace, std::span<const ClockMap> maps) {
    for (std::size_t l = 0; l < trace.locations.size(); ++l) {
      of_.push_back(corrected_times(trace.locations[l].events, maps[l]));
    }
  }

  std::int64_t operator()(EventRef ref) const { return of_[ref.location][ref.event]; }

 private:
  std::vector<std::vector<std::int64_t>> of_;
};

}  // namespace entrain::verify
