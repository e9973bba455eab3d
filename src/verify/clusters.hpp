// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "verify/instance.hpp"

namespace entrain::verify {

/// A closed interval of corrected times, ticks.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Collects intervals and keeps their union, in bounded memory: where it would need too many
/// pieces, near ones become one.
class IntervalUnion {
 public:
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
  /// Ascending and disjoint.
  std::vector<Interval> take() &&;

 private:
  void shrink();
  std::size_t most_;
  std::vector<Interval> pieces_;
};

/// Where cycles can be (docs/method.md, section 2).
///
/// Call an edge s -> r backward if time(r) <= time(s), and likewise a step from one event of a
/// location to the next whose time decreases (only damaged streams have those). Each spans an
/// interval [time(r), time(s)]. *Every cycle lies in one connected piece of the union of these
/// intervals, and so does every strongly connected component with two nodes or more.* For let C be
/// such a component and x a time between its earliest and its latest node, but of neither side of
/// the cut a node. C has nodes before and after x and a path from the later ones to the earlier
/// ones; one edge of that path crosses x against time, is backward, and its interval holds x. The
/// finitely many other times between are limits of such x, and the union of finitely many closed
/// intervals is closed, so it holds them too. If all nodes of C have one time t, C has an edge
/// that is not local order, which alone is acyclic; its ends are tied and [t, t] is its interval.
///
/// All edges of C lead between its nodes, so to find the components it is enough to look at the
/// nodes and edges inside one piece. Nodes between that take part in no such edge may be left out:
/// local order is transitive, and joining two nodes of a location that a path joins anyway makes no
/// new cycle. Making pieces larger is safe, too. An instance stands for all its edges; taking the
/// own begin of a location for a sender to its own end as well adds nothing that local order does
/// not demand.
class Clusters {
 public:
  /// The pieces of the union of what all members found. A common call of the team.
  static Clusters merge(Team& team, IntervalUnion&& own);
  static std::size_t most_per_member(const Team& team);

  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

  /// Finds the piece of a time; fast for times near the last one asked for.
  class Finder {
   public:
    explicit Finder(const Clusters& clusters) : pieces_(&clusters.pieces_) {}
    /// Number of the piece; k_none: in no piece.
    std::uint32_t operator()(std::int64_t time);

   private:
    const std::vector<Interval>* pieces_;
    std::size_t at_ = 0;  ///< the first piece that does not end before the last time
  };

 private:
  std::vector<Interval> pieces_;
};

/// Adds the intervals of the backward edges of an instance, or a little more.
void add_backward(const Instance& instance, IntervalUnion& to);

}  // namespace entrain::verify
