// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "match/align_records.hpp"

namespace entrain::match {

/// Distribution of the delays of pairs.
enum class DelayKind {
  above_latency,  ///< messages: never faster than the latency, often much later
  clustered,      ///< ends of a collective's calls: close together, bounded on both sides
};

/// Removes pairs whose delay is an outlier among their neighbours: the record of one end is
/// missing, and so is that of another end's partner, and the two left look like a pair. They become
/// ambiguous.
///
/// A pair is compared with the eight pairs before it and the eight after it. It is an outlier if
/// its delay is below their minimum by more than twice their spread (median minus minimum) and
/// twice the difference between the minima before and after: clocks that drift move the minimum
/// from one to the other. A message is also an outlier if it is as far below the eight least delays
/// of the 256 on either side. Clustered delays are also outliers above the maximum, and only if
/// they are off by more than half of the distance to the neighbouring calls: then the end could
/// belong to one of these. The first and the last four pairs are not judged.
///
/// Clustered delays do not jump either. If those after a pair differ from those before it by more
/// than the spread of both, and by more than half of the usual distance of calls, calls are shifted
/// on one side of the pair, and which side is unknown: no pair is left.
///
/// Example: delays of 2, 250, 2, 900 and, after the pair in question, 40, 3, 2, 2 us; a delay of
/// -47 ms belongs to another message. O(n) for n pairs; integers only.
void remove_delay_outliers(const Side& first, const Side& second, DelayKind kind,
                           Alignment& alignment);

}  // namespace entrain::match
