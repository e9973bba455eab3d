// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

namespace entrain::lines {

/// Aligns two clocks by their edges; the first one is the reference. Returns one map for each.
using AlignPair =
    std::function<Result<std::vector<ClockMap>>(const Clocks& pair, const Edges& edges)>;

/// Clocks of which many stay as they are.
struct KeptClocks {
  std::vector<ClockMap> maps;  ///< one map for each of Clocks::clocks
  std::uint64_t kept = 0;      ///< clocks whose map moves nothing
};

/// Finds clocks that violate no edge among themselves, and aligns only the others, one by one, to
/// these: where clocks drift, an alignment of all of them moves many a little that nothing speaks
/// against. `aligned` are the maps of such an alignment. Either clocks are taken in order of how
/// far they move by them, from the median on, and each one stays that contradicts none of those
/// taken before; or those that contradict most others are taken away, whichever keeps more. If
/// what hangs together only by clocks that are aligned leaves more than twice the violation, only
/// the largest group of clocks stays. A clock that was set meanwhile (find_steps) is aligned
/// stretch by stretch.
///
/// `aligned` may be empty, where no such alignment is known yet, or move nothing, where none could
/// be made. Then the result is empty unless it keeps half of the clocks, and leaves no edge
/// violated in the first case, by at most half as much in the second one.
///
/// Empty where that keeps no more clocks than `aligned` does, or where it leaves an edge violated
/// by more than `aligned` moves a clock that can stay. Edges must be single ones; their delays
/// count. Errors: those of `align_pair`.
Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::span<const ClockMap> aligned,
                                                   const AlignPair& align_pair);

}  // namespace entrain::lines
