// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/align.hpp>

#include "base/big_vector.hpp"
#include "base/edge_list.hpp"
#include "formats/spans/family.hpp"
#include "formats/spans/identity.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Positions of two clocks in Identity::clocks, in order.
using HostPair = std::pair<std::uint32_t, std::uint32_t>;

/// Reason why an edge is no evidence about clocks.
enum class Rejection : std::uint8_t {
  none,
  no_length,     ///< end of the client unknown
  contradicted,  ///< the likely clocks do not explain this end
  operation,     ///< most ends of this operation are contradicted
  shown_twice,   ///< the clock showed the time again after it was set back
  doubtful,      ///< an edge of a DoubtfulPair
};

/// Happened-before edge between begins or ends of spans of two hosts.
struct Edge {
  std::uint32_t cause = 0, effect = 0;            ///< positions in SpanEdges::clocks
  std::uint64_t cause_time = 0, effect_time = 0;  ///< ns
  std::uint64_t step = 0;               ///< ns; by how much `effect_time` is later than shown
  bool is_end = false;                  ///< connects two ends, not begins
  bool is_link = false;                 ///< the edge of a link, no call
  std::uint32_t child = 0, parent = 0;  ///< positions of the called or linking span, and the other
  Rejection rejection = Rejection::none;  ///< others: no evidence
};

/// The edges that are not rejected.
EdgeList list_of(std::span<const Edge> edges);

/// Contradicted ends of an operation.
struct DroppedEnds {
  std::string operation;  ///< name of the called spans
  std::uint64_t dropped = 0, total = 0;
};

/// Two clocks with ends that contradict the likely clocks, though others would explain them: too
/// many for a clean verdict.
struct DoubtfulPair {
  HostPair hosts;
  std::uint64_t ends = 0, total = 0;  ///< these ends; they and those that hold
};

/// A clock that was set back and shows again more of its times than a verdict may leave out.
struct ClockShownTwice {
  std::uint32_t host = 0;
  std::uint64_t edges = 0, total = 0;  ///< edges at such times; all of the clock
};

/// Edges that were rejected.
struct RejectedEnds {
  std::uint64_t contradicted = 0, asynchronous = 0, shown_twice = 0;
  std::vector<DroppedEnds> operations;  ///< contradicted ones, the most first
  std::vector<DoubtfulPair> doubtful;   ///< ordered by hosts
  std::vector<ClockShownTwice> clocks_shown_twice;
  std::vector<Fold> folds;  ///< ordered by host and stamp
};

/// Sets Edge::rejection of the edges that are no evidence about clocks; see edges_of(). `hosts`:
/// number of clocks.
RejectedEnds mark_unreliable_ends(const Spans& spans, std::size_t hosts, BigVector<Edge>& edges);

/// Evidence of spans about their clocks.
struct SpanEdges {
  BigVector<Edge> found;  ///< sorted by their later spans
  RejectedEnds rejected;
  std::uint64_t without_parent = 0;  ///< spans that a missing parent of another host called
  Counters counters;                 ///< ignored spans and edges; no zeros
  Steps steps;                       ///< resolution of each clock
  std::vector<std::string> notes;    ///< what was concluded, a sentence each
};

/// Finds the happened-before edges between clocks. A child begins after its parent. A server's span
/// ends before its client's. A link means only "related": the linked span is the earlier one if the
/// linking one consumes (a consumer or poll linking to no consumer, or a server linking to
/// a client or producer), and if no call connects the same clocks.
///
/// Begins and ends of a clock that counts in coarse steps, as most tracers of Java do with begins,
/// are effects at the ends of their steps; an end follows from a begin and a length, so that it has
/// the step of begins, too. `known`: the steps if they are known; else they are learned.
///
/// A server ends later if its client gave up or never waited. So the clocks that cost
/// least to tell are found from begins and ends together, see ClockFinder. Ends that these do
/// not explain are rejected, and if they are most of an operation, so are its other ends. The more
/// ends of an operation contradict clocks, the less they count: where clients give up, an end
/// that is late by less than a message takes moves no clock unless others say the same. If clocks
/// explain all ends, none is rejected, however wrong the clocks are. Where other clocks, as those
/// of a name that is several clocks, would explain each of more than a few rejected ends, nothing
/// is concluded from the pair of clocks. O(n log n).
SpanEdges edges_of(const Spans& spans, const Family& family, const Identity& identity,
                   const Steps* known = nullptr);

/// Verifies edges from the spans alone (McConnell et al. 2011, "Certifying algorithms"): how
/// parents and clocks were found plays no part in it. Drops the edges that spans contradict;
/// returns their number. An edge holds if
///
/// * the child names the parent, or both have one id; or the child links to the parent;
/// * both times are those of the spans, by the clocks that these have, and the effect's is later by
///   no more than its step;
/// * an end is that of a server whose client waits;
/// * no other edge is of the same ends of the same child, links apart.
///
/// O(n + links log links).
std::uint64_t drop_refuted(BigVector<Edge>& edges, const Spans& spans);

}  // namespace entrain::spans
