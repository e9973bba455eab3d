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

/// Clocks of which many stay as they are.
struct KeptClocks {
  std::vector<ClockMap> maps;  ///< one map for each of Clocks::clocks
  std::size_t kept = 0;        ///< clocks whose map moves nothing
  /// False: of three or more clocks as many others could stay. Of two, either shows the time.
  bool are_known = true;
};

/// Which clocks vote on the common time: each once, where some were set and their parts count as
/// clocks, by its part with the most ends of edges and members of instances. That is 1, 0 are the
/// other parts, and clocks that were not set are 2: they decide where votes are equal. `clock_of`:
/// the clock that each one is a part of, increasing; empty: all are whole, and 1.
std::vector<char> voting_parts(std::size_t count, const Edges& edges,
                               std::span<const std::uint32_t> clock_of);

/// Lets as many clocks stay as can be right together (difference::find_most_at_zero()) if no rate
/// exceeds a limit, parts per billion; the others are aligned to these, which count as one clock.
/// Clocks without violated edges are trusted most. `clock_of`: see voting_parts(); parts without a
/// vote stay if that takes none.
///
/// Empty if fewer than half of the votes can stay, or if no clocks meet all edges. Edges must be
/// single ones; their delays count. Errors: those of `align_group`.
Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::int64_t rate_ppb,
                                                   std::span<const std::uint32_t> clock_of,
                                                   const AlignGroup& align_group);

}  // namespace entrain::explain
