// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include <tl/expected.hpp>

#include <entrain/align.hpp>

namespace entrain::explain {

/// Limits on the rates of clocks, seen from one of them.
struct RateLimits {
  std::int64_t mean_ppb = 0;                 ///< limit on mean rates over lives
  std::optional<std::int64_t> wander_ppb{};  ///< limit on how much rates leave these
  /// Position of the clock; that of no clock: common time.
  std::uint32_t reference = 0;
};

/// Why no least limit is named.
enum class NoLimit : std::uint8_t {
  impossible,  ///< no limit up to a tenth suffices
  too_long     ///< the search ended before it was known
};
using LeastLimit = tl::expected<std::int64_t, NoLimit>;  ///< ppb
/// The least limit under which clocks meet all edges (difference/least_limits.hpp): on wander if
/// that is not limited, else on mean rates. Both are seen as bounds see them, so that what is named
/// here suffices there.
LeastLimit find_least_limit(const Clocks& run, const Edges& edges, const RateLimits& limits);

}  // namespace entrain::explain
