// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace entrain::constraints {

/// Difference constraint on the errors e of two clocks (reading minus truth), from an edge or a
/// clock session: e_to(to_time) - e_from(from_time) <= slack. Ticks.
///
/// Example: clock 0 reads 100 when it sends a message, clock 1 reads 95 when it receives it, and mu
/// is 3. The message took at least 3 ticks of true time, so clock 1 is at least 8 ticks behind
/// clock 0: from = 0, to = 1, from_time = 100, to_time = 95, slack = 95 - 100 - 3 = -8. A slack
/// below 0: the presynchronised clocks violate the edge.
struct ClockConstraint {
  std::uint32_t from = 0, to = 0;           ///< clocks, different ones
  std::int64_t from_time = 0, to_time = 0;  ///< presynchronised times of the two events
  std::int64_t slack = 0;                   ///< to_time - from_time - mu for an edge
};

/// Clock session as a soft constraint of a fit: e(time) = 0 +- half_width. Ticks.
struct SessionConstraint {
  std::uint32_t clock = 0;
  std::int64_t time = 0;
  double half_width = 1;  ///< > 0

  friend auto operator<=>(const SessionConstraint&, const SessionConstraint&) = default;
};

/// Ends of calls that may be simultaneous.
struct CallEnds {
  struct End {
    std::uint32_t clock = 0;
    std::uint64_t time = 0;  ///< time by the present map, ticks
    friend auto operator<=>(const End&, const End&) = default;
  };
  std::vector<End> ends;           ///< grouped by call
  std::vector<std::size_t> first;  ///< offset in `ends` of each call, and the number of ends
};

}  // namespace entrain::constraints
