// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

namespace entrain::explain {

/// Aligns clocks by their edges; the first one is the reference. Returns one map for each.
using AlignGroup =
    std::function<Result<std::vector<ClockMap>>(const Clocks& group, const Edges& edges)>;

/// Maps of clocks of which many keep their times.
struct KeptClocks {
  std::vector<ClockMap> maps;  ///< one map for each of Clocks::clocks
  std::size_t kept = 0;        ///< clocks whose map moves nothing
  /// False: of three or more clocks, another set could stay whose votes are as many. Always true
  /// of two clocks: either one may give the time.
  bool are_known = true;
};

/// What is known of clocks that were set.
struct SetClocks {
  /// The clock that each one is a part of, increasing; empty: all are whole.
  std::span<const std::uint32_t> clock_of{};
  std::span<const std::uint32_t> set_back{};  ///< clocks of which some stamps are no evidence
};

/// Which clocks vote on the common time. A clock that was set counts as several clocks, its parts;
/// only its part with the most ends of edges and members of instances votes. Returns 1 for that
/// part, 0 for the others, and 2 for a clock that was not set: these decide where votes are equal.
/// `clock_of`: the clock that each one is a part of, increasing; empty: no parts; all get 1.
std::vector<char> voting_parts(std::size_t count, const Edges& edges, const SetClocks& set);

/// Lets as many clocks stay as can be right together (difference::find_most_at_zero()) if no rate
/// exceeds a limit, parts per billion; the others are aligned to these, which count as one clock.
/// Clocks without violated edges are trusted most. `clock_of`: see voting_parts(); a part without a
/// vote stays only if that keeps no voter from staying.
///
/// Empty if fewer than half of the votes can stay, or if no clocks meet all edges. Edges must be
/// single ones; their delays count. Errors: those of `align_group`.
Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::int64_t rate_ppb, const SetClocks& set,
                                                   const AlignGroup& align_group);

}  // namespace entrain::explain
