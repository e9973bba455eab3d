// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
};

/// Lets as many clocks stay as can be right together (difference::find_most_at_zero()) if no rate
/// exceeds a limit, parts per billion; the others are aligned to these, which count as one clock.
/// Clocks without violated edges are trusted most.
///
/// Empty if no more than `least` clocks can stay, or if no clocks meet all edges. Edges must be
/// single ones; their delays count. Errors: those of `align_group`.
Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::int64_t rate_ppb, std::size_t least,
                                                   const AlignGroup& align_group);

}  // namespace entrain::explain
