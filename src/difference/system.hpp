// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "base/exact.hpp"

/// Systems of difference constraints on the offsets of clocks, solved exactly.
///
/// Clock i shows the stamp t when the common time is t + u_i(t): u_i is its offset. Every fact
/// about the clocks limits the difference of two offsets:
///
///     edge (i, a) -> (j, b), at least d later:  u_j(b) - u_i(a) >= a + d - b
///     rate of clock i at any moment, t after s: lower (t - s) <= u_i(t) - u_i(s) <= upper (t - s)
///     its mean rate:                            the same from its first event to its last one
///     session at t:                             lower <= u_i(t) <= upper
///     reference:                                u = 0
///
/// The system is a graph: a node per stamp that occurs, an arc per constraint. A solution exists
/// exactly if no cycle has a negative length, and shortest paths are the tightest bounds (Cormen,
/// Leiserson, Rivest, Stein: Introduction to Algorithms, "Difference constraints and shortest
/// paths").
namespace entrain::difference {

/// A time difference in billionths of a tick, so that rates in parts per billion never round.
using Exact = Int128;
inline constexpr Exact k_tick = k_billion;
/// Largest stamp, delay and offset of constraints, ticks: 73 years of nanoseconds, as between
/// clocks that count from 1970 and those that count from the start of a machine.
inline constexpr std::int64_t k_longest = std::int64_t{1} << 61;
/// No limit: exceeds every sum of lengths in a system.
inline constexpr Exact k_unbounded = Exact{1} << 125;

/// `value` rounded down to whole ticks; for a lower bound.
constexpr std::int64_t floor_ticks(Exact value) {
  return static_cast<std::int64_t>(floor_div(value, k_tick));
}
/// `value` rounded up to whole ticks; for an upper bound.
constexpr std::int64_t ceil_ticks(Exact value) {
  return static_cast<std::int64_t>(ceil_div(value, k_tick));
}

/// An interval of the rates at which the offset u of a clock may change.
struct RateRange {
  std::int64_t lower_ppb, upper_ppb;  ///< parts per billion; at most 10^8 (a tenth) in size

  constexpr RateRange(std::int64_t lower, std::int64_t upper)
      : lower_ppb(lower), upper_ppb(upper) {}
  static constexpr RateRange within(std::int64_t ppb) { return {-ppb, ppb}; }

  /// Largest change of u from a stamp to one `ticks` later, or earlier if negative.
  [[nodiscard]] constexpr Exact most(std::int64_t ticks) const {
    return Exact{ticks} * (ticks > 0 ? upper_ppb : lower_ppb);
  }
  [[nodiscard]] constexpr std::int64_t width() const { return upper_ppb - lower_ppb; }
  [[nodiscard]] constexpr bool contains(std::int64_t ppb) const {
    return ppb >= lower_ppb && ppb <= upper_ppb;
  }
};

/// Limits on the mean rate of a clock from its first event to its last one.
struct MeanLimit {
  RateRange rates{0, 0};
  std::int64_t first = 0, last = 0;  ///< stamps of its first and last event, ticks
  std::int64_t slack_ticks = 0;      ///< change of u allowed beyond these rates, ticks
};

/// Limits on the rates of a clock.
struct ClockLimits {
  RateRange rate{0, 0};  ///< limit on momentary rates
  std::optional<MeanLimit> mean{};
};

/// A stamp of a clock.
struct Event {
  std::uint32_t clock = 0;
  std::int64_t stamp = 0;  ///< ticks, 0 to k_longest
  friend auto operator<=>(const Event&, const Event&) = default;
};

/// `effect` happened at least `delay` after `cause`.
struct Edge {
  Event cause, effect;
  std::int64_t delay = 0;  ///< ticks, at most k_longest in size
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// A measured offset: u at a stamp, within [lower, upper].
struct Session {
  Event at;
  std::int64_t lower = 0, upper = 0;  ///< ticks, at most k_longest in size; lower <= upper
};

/// An instance of a collective: each begin happened at least `delay` before each end of another
/// clock.
struct Instance {
  std::span<const Event> begins, ends;
  std::int64_t delay = 0;  ///< ticks, at most k_longest in size
};

/// All constraints. Spans must outlive the construction of the System only.
struct Constraints {
  std::span<const ClockLimits> clocks;
  std::uint32_t reference = 0;  ///< clock whose u is 0
  std::span<const Edge> edges{};
  std::span<const Session> sessions{};
  std::span<const Instance> instances{};
  /// Approximate u of each clock, ticks; empty: 0. Orders the nodes by time: this changes the cost
  /// of a search, not its result.
  std::span<const std::int64_t> offsets{};
};

/// Calls use(event) for both ends of all edges, sessions, and all begins and ends of instances.
template <class Use>
void for_each_event(const Constraints& constraints, const Use& use) {
  for (const Edge& edge : constraints.edges) use(edge.cause), use(edge.effect);
  for (const Session& session : constraints.sessions) use(session.at);
  for (const Instance& instance : constraints.instances) {
    for (const Event& event : instance.begins) use(event);
    for (const Event& event : instance.ends) use(event);
  }
}

using Node = std::uint32_t;

/// The graph of a system of difference constraints: an arc x -> y of length c says u_y <= u_x + c.
///
/// Node 0 is the reference, at all of its stamps. An instance becomes auxiliary nodes between its
/// begins and its ends, mostly one: O(n) arcs in place of n^2 edges, with the same solutions.
///
/// Memory: O(stamps + edges). Construction: O(n log n). Threads may share it while nobody changes
/// it.
class System {
 public:
  explicit System(const Constraints& constraints);

  /// Number of nodes.
  [[nodiscard]] Node nodes() const { return static_cast<Node>(stamp_.size()); }
  [[nodiscard]] std::uint32_t clocks() const { return static_cast<std::uint32_t>(limits_.size()); }
  [[nodiscard]] std::uint32_t reference() const { return reference_; }
  /// Node of a stamp of an edge, session, instance or mean limit; empty for any other stamp.
  [[nodiscard]] std::optional<Node> find(Event event) const;
  /// First node of a clock, and one past its last; nodes of a clock are in order of stamps. The
  /// reference has none.
  [[nodiscard]] Node begin(std::uint32_t clock) const { return first_[clock]; }
  [[nodiscard]] Node end(std::uint32_t clock) const { return first_[clock + 1]; }
  /// Number of nodes that are stamps of clocks or the reference; auxiliary nodes follow them.
  [[nodiscard]] Node stamped() const { return first_.back(); }
  /// Stamp of a node, ticks; 0 for the reference.
  [[nodiscard]] std::int64_t stamp(Node node) const { return stamp_[node]; }
  /// Clock of a node that is not auxiliary.
  [[nodiscard]] std::uint32_t clock(Node node) const {
    return node == 0 ? reference_ : clock_[node];
  }

  [[nodiscard]] const ClockLimits& limits(std::uint32_t clock) const { return limits_[clock]; }
  /// Replace the limits on a clock's momentary rate, and on its mean rate if it has some.
  void set_rate(std::uint32_t clock, RateRange rate) { limits_[clock].rate = rate; }
  void set_mean(std::uint32_t clock, RateRange mean) {
    if (limits_[clock].mean) limits_[clock].mean->rates = mean;
  }

  /// Disables constraints, given by their numbers in increasing order. O(arcs).
  void leave_out(std::span<const std::uint32_t> numbers);

  /// An arc of an edge, session or instance.
  struct Arc {
    Node other = 0;            ///< node at the other end
    std::uint32_t number = 0;  ///< constraint: edges, sessions, then instances
    std::int64_t length = 0;   ///< ticks
  };
  [[nodiscard]] std::span<const Arc> arcs_from(Node node) const { return from_.of(node); }
  [[nodiscard]] std::span<const Arc> arcs_to(Node node) const { return to_.of(node); }

  /// Calls use(other, length, is_mean) for every arc between a node and another node of its clock
  /// that limits on rates imply: the arc leaves the node, or enters it if not `leaves`. `length` is
  /// an Exact.
  template <class Use>
  void for_each_limit(Node node, bool leaves, const Use& use) const {
    const std::uint32_t clock = clock_[node];
    if (clock == k_no_clock) return;
    const ClockLimits& limits = limits_[clock];
    const auto ticks = [&](Node other) {
      return leaves ? stamp_[other] - stamp_[node] : stamp_[node] - stamp_[other];
    };
    if (node > first_[clock]) use(node - 1, limits.rate.most(ticks(node - 1)), false);
    if (node + 1 < first_[clock + 1]) use(node + 1, limits.rate.most(ticks(node + 1)), false);
    if (!limits.mean) return;
    const auto& [first, last] = lives_[clock];
    if (first == last || (node != first && node != last)) return;
    const Node other = node == first ? last : first;
    use(other, limits.mean->rates.most(ticks(other)) + Exact{limits.mean->slack_ticks} * k_tick,
        true);
  }

  /// Nodes in approximate order of time, and the position of each node in it.
  [[nodiscard]] std::span<const Node> order() const { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> positions() const { return position_; }

  /// Kinds of constraints: those that have numbers, and limits on rates.
  enum class Kind : std::uint8_t { edge, session, instance, rate, mean };
  /// Kind of the constraint with a number, and its place in Constraints::edges, sessions, ...
  [[nodiscard]] std::pair<Kind, std::uint32_t> name(std::uint32_t number) const;

 private:
  class Builder;
  struct Arcs {
    BigVector<std::uint32_t> first;  ///< first arc of every node, and the end
    BigVector<Arc> arcs;
    [[nodiscard]] std::span<const Arc> of(Node node) const {
      return {arcs.data() + first[node], arcs.data() + first[node + 1]};
    }
  };
  /// Clock of the reference and of auxiliary nodes.
  static constexpr std::uint32_t k_no_clock = 0xFFFFFFFF;

  std::uint32_t reference_ = 0;
  std::uint32_t edges_ = 0, sessions_ = 0;  ///< numbers of constraints
  std::vector<ClockLimits> limits_;
  std::vector<Node> first_;                   ///< first node of every clock, and the end
  std::vector<std::pair<Node, Node>> lives_;  ///< nodes of MeanLimit::first and last, per clock
  BigVector<std::int64_t> stamp_;             ///< stamp of every node
  BigVector<std::uint32_t> clock_;            ///< clock of every node
  BigVector<Node> order_;
  BigVector<std::uint32_t> position_;
  Arcs from_, to_;
};

/// True if all clocks that meet `other` meet `one`, which joins the same two clocks in the same
/// direction: in the time between them, offsets change by no more than their rates allow.
///
/// Example: clocks of at most 100 ppm. A message took 10 us as stamped. One from the same clock to
/// the same clock 1 ms later took 20 us: offsets change by at most 0.2 us in 1 ms, so it is met
/// wherever the first one is.
[[nodiscard]] inline bool is_implied_by(const Edge& one, const Edge& other,
                                        const RateRange& of_cause, const RateRange& of_effect) {
  const Exact more = Exact{one.effect.stamp - other.effect.stamp} -
                     (one.cause.stamp - other.cause.stamp) - (one.delay - other.delay);
  return more * k_tick >= of_effect.most(other.effect.stamp - one.effect.stamp) +
                              of_cause.most(one.cause.stamp - other.cause.stamp);
}

/// Returns the edges that no other edge implies, one of equal edges, in order of clocks and stamps.
/// Under these limits on rates, or tighter ones, they have the same solutions as all edges; where
/// clocks communicate often, they are far fewer. O(n log n).
BigVector<Edge> without_implied(std::span<const Edge> edges, std::span<const ClockLimits> clocks);

}  // namespace entrain::difference
