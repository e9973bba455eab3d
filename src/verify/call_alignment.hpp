// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "verify/channels.hpp"
#include "verify/edges.hpp"
#include "verify/gap_table.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"
#include "verify/space_counts.hpp"
#include "verify/traits.hpp"

namespace entrain::verify {

/// What the calls of a trace are aligned with.
struct CallAlignment {
  const GapTable& gaps;
  bool only_gaps = false;     ///< no message is missing but in gaps
  bool only_windows = false;  ///< the calls on communicators are numbered as they are
  SpaceCounts& spaces;
  /// By process of this member, as far as they are known: each is used up.
  std::map<std::uint32_t, Conduct>& conducts;
  Deliveries& deliveries;  ///< of messages; sorted here
};

/// Numbers the calls on communicators and RMA windows where some may be missing (docs/method.md,
/// section 2.1). The process with the most calls on one is the reference: the call of another
/// process takes the number of the reference's call that align_rows() pairs it with, or k_none.
///
/// Where calls are missing in gaps only, those ahead of the gaps are numbered in order.
///
/// Afterwards Outline::Call::order holds these numbers, all such columns count as disordered and as
/// long as the reference's, and `to.spaces` has the limits. Counts the calls that have no number.
/// `outlines`: of this member, without posts. Collective. O(n log n).
///
/// Example: process 0 makes calls A, B, C on the world. The trace of process 1 has only A and C.
/// They get the numbers 0 and 2, and nobody of process 1 is in the instance of B.
void align_calls(const CallAlignment& to, std::span<Outline> outlines, Unmatched& unmatched);

}  // namespace entrain::verify
