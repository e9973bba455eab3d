// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>

#include "edges/list.hpp"
#include "spans/spans.hpp"

namespace entrain::spans {

/// Why an edge says nothing about clocks.
enum class Doubt : std::uint8_t {
  none,
  no_length,     ///< when the client ended is not known
  unresolved,    ///< a clock is too coarse for it
  contradicted,  ///< begins of the same hosts contradict this end
  operation,     ///< they do for most ends of its operation
  given_up,      ///< they do for others, and this one stands alone
};

/// A begin or end of a span that is not before one of a span of another host.
struct Edge {
  std::uint32_t cause = 0, effect = 0;            ///< positions in SpanEdges::clocks
  std::uint64_t cause_time = 0, effect_time = 0;  ///< ns
  bool is_end = false;                            ///< of two ends, not begins
  std::uint32_t child = 0;                        ///< position of the called span
  Doubt doubt = Doubt::none;                      ///< others: it says nothing about clocks
};

/// The edges that nothing speaks against.
edges::EdgeList list_of(std::span<const Edge> edges);

/// Ends of an operation that begins of the same hosts contradict.
struct DroppedEnds {
  std::string operation;  ///< name of the called spans
  std::uint64_t dropped = 0, of = 0;
};

/// What spans tell about the clocks of their hosts.
struct SpanEdges {
  Clocks clocks;                     ///< of the hosts, in order of their first span
  std::vector<std::uint32_t> hosts;  ///< number in Spans::clocks -> position in `clocks`, or k_none
  std::vector<Edge> found;           ///< in order of their later spans
  std::vector<DroppedEnds> dropped;  ///< the most first
  std::uint64_t without_parent = 0;  ///< of spans that another host must have called
  Counters counters;                 ///< what was left out; no zeros
};

/// The happened-before edges between hosts. A child begins after its parent does, and a span after
/// those that it links to. A server's span ends before its client's one does.
///
/// The latter is wrong where the client gave up or the server went on by itself. So an end is
/// dropped where it contradicts the begins of the same two hosts, while their clocks run equally
/// fast to within 100 ppm: it then says nothing about clocks. Where that is so for most ends of an
/// operation, nobody waits for it, and its other ends say nothing either. Where it is so for any,
/// clients give up at times, perhaps just before the answer: a violated end counts only if other
/// edges of these hosts at about that time are violated as well. Without any such end nothing is
/// dropped, however wrong the clocks are. O(n log n).
SpanEdges edges_of(const Spans& spans);

}  // namespace entrain::spans
