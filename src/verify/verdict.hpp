// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/report.hpp>

namespace entrain::verify {

/// Returns the verdict that the counts of a report support (docs/method.md, section 7). Reads
/// violations, below_latency, checked_edges, coverage, min_coverage, unmatched, skipped and
/// set_aside.
///
/// A violation decides alone. Without one, `clean` needs at least one edge, no dropped edge, no
/// contradicting pair, nothing decisive among `set_aside`, no ranks apart, and a coverage of
/// min_coverage. A trace that records no communication at all has nothing to violate and is clean,
/// unless some of its files could not be read. `strict_latency`: an edge closer than mu is a
/// violation, too.
///
/// Example: 2,400 calls of Alltoallv with unknown partners, and 8 calls of a barrier with
/// its 56 edges. None is violated, but 8 of 2,408 calls are 0.33 %: unproven, low_coverage.
Judgement judge(const CheckReport& report, bool strict_latency);

}  // namespace entrain::verify
