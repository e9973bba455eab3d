// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/stragglers.hpp>

#include "bounds/prove.hpp"
#include "trace/collectives.hpp"
#include "trace/share.hpp"

/// Who came last to collectives, and how long the others waited, as far as clocks can tell.
namespace entrain::waits {

/// Collectives and the times of their calls. Holds references, which must outlive it.
struct Material {
  const trace::Share& share;
  const trace::Collectives& collectives;  ///< the same at every process
  /// Stamp -> corrected time, one per location; those of other processes mean nothing.
  std::span<const ClockMap> maps;
  const bounds::ProvenIntervals* proven = nullptr;  ///< intervals of the clocks; null: none
};

/// Judges each collective and sums up. Nothing is proved without intervals. O(calls log windows).
/// Collective over the processes; the same result at each.
///
/// The member that the others wait for is, of those that give, the one with the last begin by
/// corrected times. It is proven if its earliest possible begin is later than the latest possible
/// begins of all others that give, and of some member that waits; calls of one clock are compared
/// by their times. Nothing is proved of clocks that nothing ties to the reference.
///
/// Example: in an allreduce ranks 0, 1 and 2 begin at 100, 140 and 150 us. If the bounds are
/// +-2 us, rank 2 is last by 10 us, of which 6 us are certain; the others wait 60 us in sum. If
/// those of rank 1 are +-9 us, ranks 1 and 2 tie.
StragglerReport judge(const Material& material);

}  // namespace entrain::waits
