// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "verify/edges.hpp"

namespace entrain::verify {

/// A closed interval of corrected times, ticks.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Collects intervals and keeps their union, in bounded memory: if it has too many pieces, the
/// nearest ones are joined.
class IntervalUnion {
 public:
  /// `most`: the largest number of pieces that stay, at least 1.
  explicit IntervalUnion(std::size_t most) : most_(most) {}

  void add(std::int64_t begin, std::int64_t end) {
    // Neighbours in a stream overlap, as a rule.
    if (!pieces_.empty() && begin <= pieces_.back().end && end >= pieces_.back().begin) {
      Interval& last = pieces_.back();
      last = {begin < last.begin ? begin : last.begin, end > last.end ? end : last.end};
      return;
    }
    pieces_.push_back({begin, end});
    if (pieces_.size() >= 2 * most_) shrink();
  }
  /// The pieces: ascending and disjoint.
  std::vector<Interval> take() &&;

 private:
  void shrink();
  std::size_t most_;
  std::vector<Interval> pieces_;
};

/// Intervals of time that can hold cycles (docs/method.md, section 2): ascending and disjoint.
///
/// Call an edge s -> r backward if time(r) <= time(s), and likewise a step from one event of a
/// location to the next if its time decreases (only damaged streams have such steps). Each spans an
/// interval [time(r), time(s)].
///
/// Example: the edges 100 -> 90, 95 -> 92 and 300 -> 300 are backward, 100 -> 200 is not. The union
/// of their intervals has two pieces, [90, 100] and [300, 300]: a cycle lies in one of these two.
///
/// *Claim: every cycle lies in one connected piece of the union of these intervals, and so does
/// every strongly connected component C of two nodes or more.* A node is an instant of a location.
///
/// 1. Let C have nodes of different times, and let x be a time between its earliest and its latest
///    node that is the time of none of its nodes. C has nodes before and after x, and a path from
///    the later ones to the earlier ones. One edge of that path crosses x against time. It is
///    backward, and its interval contains x.
/// 2. The times of the nodes themselves, finitely many, are limits of such x. A union of finitely
///    many closed intervals is closed, so it contains them too.
/// 3. If all nodes of C have one time t, C has an edge that is not local order, as local order
///    alone is acyclic. Both its ends have the time t, and its interval is [t, t].
///
/// All edges of C lead between nodes of C. So the components can be found from the nodes and edges
/// inside one piece at a time. Nodes between them without such an edge may be skipped: local order
/// is transitive, and an arc between two nodes of a location that a path joins makes no new cycle.
/// Larger pieces are safe, too. An instance stands for all its edges: it may even connect the begin
/// of a location with its own end, which local order demands anyway.
using Clusters = std::vector<Interval>;

/// Number of pieces that a member may keep, so that those of all members fit into memory.
std::size_t most_clusters_per_member(const Team& team);
/// The pieces of the union of the intervals that all members found. Collective.
Clusters merge_clusters(Team& team, IntervalUnion&& own);

/// Finds the piece that contains a time; fast for times near the one before.
class ClusterFinder {
 public:
  explicit ClusterFinder(const Clusters& clusters) : pieces_(&clusters) {}
  /// Number of the piece; k_none: in no piece.
  std::uint32_t operator()(std::int64_t time);

 private:
  const Clusters* pieces_;
  std::size_t at_ = 0;  ///< first piece that does not end before the last queried time
};

/// Adds the intervals of the backward edges of an instance, or larger ones. Linear.
void add_backward(const Instance& instance, IntervalUnion& to);

}  // namespace entrain::verify
