// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/exact.hpp"

/// Systems of difference constraints on the errors of clocks, solved exactly.
///
/// Clock i shows the stamp t when the common time is t + u_i(t). All that is known of the clocks
/// limits the difference of two unknowns u:
///
///     edge (i, a) -> (j, b), at least d later:  u_j(b) - u_i(a) >= a + d - b
///     momentary rate of clock i:                |u_i(s) - u_i(t)| <= R_i |s - t|
///     mean rate of clock i:                     |u_i(s) - u_i(t)| <= M_i |s - t| + W_i
///     session at t:                             lower <= u_i(t) <= upper
///     change from s to t:                       lower <= u_i(t) - u_i(s) <= upper
///     reference:                                u = 0
///
/// So it is a graph: a node per stamp that occurs, an arc per constraint. A solution exists exactly
/// if no cycle has a negative length, and shortest paths are the tightest bounds (Cormen,
/// Leiserson, Rivest, Stein: Introduction to Algorithms, "Difference constraints and shortest
/// paths").
namespace entrain::difference {

/// A time difference in billionths of a tick, so that rates in parts per billion never round.
using Exact = Int128;
inline constexpr Exact k_tick = k_billion;
/// Above every sum of the constraints of a system.
inline constexpr Exact k_unbounded = Exact{1} << 125;

/// Largest integer of ticks that is not above `value`; for a lower bound.
constexpr std::int64_t floor_ticks(Exact value) {
  return static_cast<std::int64_t>(floor_div(value, k_tick));
}
/// Smallest integer of ticks that is not below `value`; for an upper bound.
constexpr std::int64_t ceil_ticks(Exact value) {
  return static_cast<std::int64_t>(ceil_div(value, k_tick));
}

/// Limit M on the mean rate of a clock between any two of its stamps, and the distance W that it
/// may stray from its mean line.
struct MeanLimit {
  std::int64_t rate_ppb = 0;     ///< M, 0 to 10^8
  std::int64_t stray_ticks = 0;  ///< W, 0 to 2^60
};

/// Limits on the rates of a clock.
struct ClockLimits {
  std::int64_t rate_ppb = 0;  ///< R, 0 to 10^8: a tenth
  std::optional<MeanLimit> mean{};
};

/// A stamp of a clock.
struct Event {
  std::uint32_t clock = 0;
  std::int64_t stamp = 0;  ///< ticks, 0 to 2^60
  friend auto operator<=>(const Event&, const Event&) = default;
};

/// `effect` happened at least `delay` after `cause`.
struct Edge {
  Event cause, effect;
  std::int64_t delay = 0;  ///< ticks, -2^60 to 2^60
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// At a stamp, u lies from `lower` to `upper`.
struct Session {
  Event at;
  std::int64_t lower = 0, upper = 0;  ///< ticks, -2^60 to 2^60; lower <= upper
};

/// Between two stamps of a clock other than the reference, u changes by `lower` to `upper`.
struct Change {
  std::uint32_t clock = 0;
  std::int64_t from = 0, to = 0;      ///< stamps, ticks
  std::int64_t lower = 0, upper = 0;  ///< of u(to) - u(from), ticks, -2^60 to 2^60; lower <= upper
};

/// An instance of a collective: each begin happened at least `delay` before each end of another
/// clock.
struct Instance {
  std::span<const Event> begins, ends;
  std::int64_t delay = 0;  ///< ticks, -2^60 to 2^60
};

/// All constraints. Spans must outlive the construction of the System only.
struct Constraints {
  std::span<const ClockLimits> clocks;
  std::uint32_t reference = 0;  ///< clock whose u is 0
  std::span<const Edge> edges{};
  std::span<const Session> sessions{};
  std::span<const Instance> instances{};
  std::span<const Change> changes{};
  /// Per clock: about how much later the common time is than its stamps, ticks. Nodes are looked at
  /// in order of the times that follow; the result does not depend on it, only the time to find it.
  /// Empty: 0.
  std::span<const std::int64_t> offsets{};
};

using Node = std::uint32_t;

/// The graph of a system of difference constraints: an arc x -> y of length c says u_y <= u_x + c.
///
/// Node 0 is the reference, at all of its stamps. An instance has an auxiliary node with a time of
/// its own, which all begins precede and which precedes all ends: n arcs in place of n^2 edges, and
/// the same solutions. A clock with a mean limit has a second node v for each stamp, with an arc
/// u -> v of length W, one v -> u of length 0, and arcs of length M |s - t| between neighbours: the
/// path u(s) -> v(s) -> v(t) -> u(t) has the length M |s - t| + W.
///
/// Memory: O(stamps + edges). Construction: O(n log n). Threads may share it while nobody sets a
/// rate.
class System {
 public:
  explicit System(const Constraints& constraints);

  /// Number of nodes.
  [[nodiscard]] Node nodes() const { return static_cast<Node>(stamp_.size()); }
  [[nodiscard]] std::uint32_t clocks() const { return static_cast<std::uint32_t>(limits_.size()); }
  [[nodiscard]] std::uint32_t reference() const { return reference_; }
  /// Node of a stamp of an edge, session or instance; empty for any other stamp.
  [[nodiscard]] std::optional<Node> find(Event event) const;
  /// First node of a clock, and behind its last one; those between are in order of stamps. The
  /// reference has none.
  [[nodiscard]] Node begin(std::uint32_t clock) const { return first_[clock]; }
  [[nodiscard]] Node end(std::uint32_t clock) const { return first_[clock + 1]; }
  /// Number of nodes that are stamps of clocks or the reference; the others follow them.
  [[nodiscard]] Node stamped() const { return first_.back(); }
  /// Stamp of a node, ticks; 0 for the reference.
  [[nodiscard]] std::int64_t stamp(Node node) const { return stamp_[node]; }
  /// Clock of a node that is no instance's.
  [[nodiscard]] std::uint32_t clock(Node node) const {
    return node == 0 ? reference_ : clock_[node];
  }

  [[nodiscard]] const ClockLimits& limits(std::uint32_t clock) const { return limits_[clock]; }
  /// Another limit R for a clock.
  void set_rate(std::uint32_t clock, std::int64_t rate_ppb) { limits_[clock].rate_ppb = rate_ppb; }

  /// Lets constraints limit nothing any longer; by their numbers, increasing. O(arcs).
  void leave_out(std::span<const std::uint32_t> numbers);

  /// An arc of an edge, session, instance or change.
  struct Arc {
    Node other = 0;            ///< node at the other end
    std::uint32_t number = 0;  ///< constraint: edges, sessions, instances, then changes
    std::int64_t length = 0;   ///< ticks
  };
  [[nodiscard]] std::span<const Arc> arcs_from(Node node) const { return from_.of(node); }
  [[nodiscard]] std::span<const Arc> arcs_to(Node node) const { return to_.of(node); }

  /// The arcs that follow from the limits of a node's clock.
  struct Chain {
    std::int64_t rate_ppb = -1;    ///< limit to the neighbours; -1: no neighbours
    Node previous = 0, next = 0;   ///< neighbours; 0: none
    Node mean_of = 0, mean = 0;    ///< u of this v, v of this u; 0: none
    std::int64_t stray_ticks = 0;  ///< length of the arc u -> v
  };
  [[nodiscard]] Chain chain(Node node) const;

  /// Nodes in about the order of time, and where each of them stands in it.
  [[nodiscard]] std::span<const Node> order() const { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> positions() const { return position_; }

  /// A constraint, by its number.
  enum class Kind : std::uint8_t { edge, session, instance, change };
  struct Named {
    Kind kind = Kind::edge;
    std::uint32_t position = 0;  ///< place in Constraints::edges, sessions, ...
  };
  [[nodiscard]] Named name(std::uint32_t number) const;

 private:
  class Builder;
  struct Arcs {
    BigVector<std::uint32_t> first;  ///< first arc of every node, and the end
    BigVector<Arc> arcs;
    [[nodiscard]] std::span<const Arc> of(Node node) const {
      return {arcs.data() + first[node], arcs.data() + first[node + 1]};
    }
  };
  static constexpr std::uint32_t k_no_clock =
      0xFFFFFFFF;  ///< clock of the reference and of instances

  std::uint32_t reference_ = 0;
  std::uint32_t edges_ = 0, sessions_ = 0, instances_ = 0;  ///< numbers of constraints
  std::vector<ClockLimits> limits_;
  std::vector<Node> first_;         ///< first node of every clock, and the end
  std::vector<Node> first_mean_;    ///< first node v of every clock; 0: none
  BigVector<std::int64_t> stamp_;   ///< stamp of every node
  BigVector<std::uint32_t> clock_;  ///< clock of every node
  BigVector<Node> order_;
  BigVector<std::uint32_t> position_;
  Arcs from_, to_;
};

}  // namespace entrain::difference
