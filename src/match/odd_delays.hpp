// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "match/align.hpp"

namespace entrain::match {

/// What can be said of the delays of pairs.
enum class DelayKind {
  have_a_floor,  ///< messages: none is faster than its latency, many are later
  lie_together,  ///< ends of a collective's calls: none is far from the others, on either side
};

/// Takes out pairs that are out of line with their neighbours: the record of one end is missing,
/// that of another one's partner too, and what is left looks like a pair. They become ambiguous.
///
/// A pair is held against the eight before it and the eight after it. It is out of line if its
/// delay is further below the least of theirs than twice their spread (the middle one minus the
/// least), and twice the difference between those before and those after: clocks that run apart
/// move the floor from one to the other, not below both. A message also is if it is as far below
/// the eight least of the 256 on either side. Where delays lie together, also if it is as far above
/// the largest, and if it is off by more than half of the distance to the neighbouring calls: then
/// it could be one of these. The first and the last four pairs are not judged.
///
/// Where delays lie together they do not jump either. If those behind a pair are all further from
/// those before it than both lie apart among themselves, and by more than half of the usual way
/// from call to call, calls were taken for later ones from there on, or up to there, and nothing
/// tells which: then no pair is left.
///
/// Before all that, pairs go that the records of clocks contradict (Trait::doubt), or messages
/// (Trait::heard): an effect before its cause. If they are more than 1 in 16, no pair is left.
///
/// Example: delays of 2, 250, 2, 900 and, behind the pair in question, 40, 3, 2, 2 us; one of -47
/// ms belongs to another message. O(n) for n pairs; integers only.
void take_out_odd(const Side& first, const Side& second, DelayKind kind, Alignment& alignment);

}  // namespace entrain::match
