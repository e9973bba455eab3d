// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <entrain/align.hpp>

#include "edges/list.hpp"
#include "spans/spans.hpp"

namespace entrain::spans {

/// Edges of an operation that the clocks contradict.
struct DroppedEnds {
  std::string operation;  ///< of the child, with its host and that of its parent
  std::uint64_t dropped = 0, of = 0;
};

/// What spans tell about the clocks of their hosts.
struct SpanEdges {
  Clocks clocks;                     ///< of the hosts, in order of their first span
  std::vector<std::uint32_t> hosts;  ///< number in Spans::clocks -> position in `clocks`, or k_none
  edges::EdgeList list;
  std::vector<DroppedEnds> dropped;  ///< the most first
  Counters counters;                 ///< what was left out; no zeros
};

/// The happened-before edges between hosts. A child begins after its parent does, and a span after
/// those that it links to. A server's span ends before its client's one does.
///
/// The latter is wrong where the client gave up or the server went on by itself. So an end is
/// dropped where it contradicts the begins of the same two hosts, while their clocks run equally
/// fast to within 100 ppm: it then says nothing about clocks. Without any such end nothing is
/// dropped, however wrong the clocks are. O(n log n).
SpanEdges edges_of(const Spans& spans);

}  // namespace entrain::spans
