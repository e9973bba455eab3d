// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/edge_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "constraints/tightest_edges.hpp"
#include "match/parts.hpp"

namespace entrain::constraints {

namespace {

/// An end of an edge.
struct Endpoint {
  std::uint32_t clock = 0;
  std::int64_t time = 0;  ///< presynchronised time
  double corrected = 0;   ///< estimate of its true time, ticks after the first event
};

TimeWindows windows_of(const ConstraintOptions& options) {
  return {options.begin, options.end, options.windows};
}

class Collector {
 public:
  Collector(const match::Graph& graph, const ConstraintOptions& options)
      : graph_(graph),
        options_(options),
        times_(options.times),
        edges_(options.clocks, windows_of(options)) {}

  void collect(const match::Part& part) {
    for_edges(graph_, part, times_,
              [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                add(end_of(edge.send, from), end_of(edge.receive, to), edge.latency_class);
              });
    for (const match::Exchange& exchange : part.exchanges) add(exchange);
  }

  void add(const ClockConstraint& constraint) {
    const auto [from, to, from_time, to_time, slack] = constraint;
    offer(end_at(from, from_time), end_at(to, to_time), to_time - from_time - slack);
  }

  [[nodiscard]] TightestEdges take() && { return std::move(edges_); }

 private:
  /// Participants whose times are prefetched: those of one call are scattered. Chosen, not
  /// measured.
  static constexpr std::size_t k_ahead = 32;

  [[nodiscard]] Endpoint end_at(std::uint32_t clock, std::int64_t time) const {
    const auto since_begin = static_cast<double>(time - options_.begin);
    return {
        clock, time,
        options_.errors == nullptr ? since_begin : since_begin - (*options_.errors)(clock, time)};
  }
  [[nodiscard]] Endpoint end_of(NodeIndex node, LocationIndex location) const {
    return end_at(options_.clock_of[location], times_[node]);
  }

  /// Slack of an edge given the known errors, after its ends were moved.
  [[nodiscard]] double tightness(const Endpoint& from, const Endpoint& to, std::int64_t mu) const {
    const double slack = to.corrected - from.corrected - static_cast<double>(mu);
    if (options_.rate == 0) return slack;
    const std::int64_t middle = edges_.middle();
    return slack + options_.rate * (std::abs(static_cast<double>(to.time - middle)) +
                                    std::abs(static_cast<double>(from.time - middle)));
  }

  void add(const Endpoint& from, const Endpoint& to, LatencyClass c) {
    if (from.clock != to.clock) offer(from, to, options_.mu[static_cast<std::size_t>(c)]);
  }

  void offer(const Endpoint& from, const Endpoint& to, std::int64_t mu) {
    edges_.select_window(to.time);
    edges_.keep({.constraint = {.from = from.clock,
                                .to = to.clock,
                                .from_time = from.time,
                                .to_time = to.time,
                                .slack = to.time - from.time - mu},
                 .tightness = tightness(from, to, mu)});
  }

  /// A participant of an exchange.
  struct Member {
    Endpoint end;
    LocationIndex location = k_none;
    std::uint32_t order = 0;
  };

  void read(std::span<const match::Participant> from, std::vector<Member>& members) const {
    const auto& all = graph_.participants;
    members.clear();
    for (const match::Participant& one : from) {
      const std::size_t ahead = static_cast<std::size_t>(&one - all.data()) + k_ahead;
      if (ahead < all.size()) __builtin_prefetch(&times_[all[ahead].node]);
      members.push_back({end_of(one.node, one.location), one.location, one.order});
    }
  }

  /// Latest (or earliest) member of a side, and the latest one of another clock.
  struct Extremes {
    const Member* first = nullptr;
    const Member* other = nullptr;

    void take(const Member& member, double sign) {
      const auto later = [&](const Member* than) {
        return than == nullptr || sign * member.end.corrected > sign * than->end.corrected;
      };
      const bool same = first != nullptr && first->end.clock == member.end.clock;
      if (later(first)) {
        if (!same) other = first;
        first = &member;
      } else if (!same && later(other)) {
        other = &member;
      }
    }
    [[nodiscard]] const Member* of_another_clock(const Member& member) const {
      return first != nullptr && first->end.clock == member.end.clock ? other : first;
    }
  };

  void add(const Member& send, const Member& receive) {
    add(send.end, receive.end, graph_.latency_class(send.location, receive.location));
  }

  void add(const match::Exchange& exchange) {
    read(graph_.sends(exchange), sends_);
    read(graph_.receives(exchange), receives_);
    Extremes latest;
    std::size_t added = 0;
    for (const Member& receive : receives_) {
      while (added < sends_.size() && (!exchange.ordered || sends_[added].order < receive.order)) {
        latest.take(sends_[added++], 1);
      }
      if (const Member* send = latest.of_another_clock(receive)) add(*send, receive);
    }
    Extremes earliest;
    std::size_t left = receives_.size();
    for (std::size_t i = sends_.size(); i-- > 0;) {
      while (left > 0 && (!exchange.ordered || receives_[left - 1].order > sends_[i].order)) {
        earliest.take(receives_[--left], -1);
      }
      if (const Member* receive = earliest.of_another_clock(sends_[i])) add(sends_[i], *receive);
    }
  }

  const match::Graph& graph_;
  const ConstraintOptions& options_;
  std::span<const std::int64_t> times_;
  TightestEdges edges_;
  std::vector<Member> sends_, receives_;  ///< members of the present exchange
};

}  // namespace

std::vector<ClockConstraint> collect_constraints(Team& team, const match::Graph& graph,
                                                 const ConstraintOptions& options) {
  const std::vector<match::Part> parts = match::parts_of(graph, options.threads);
  std::vector<TightestEdges> of_parts(parts.size(), TightestEdges(0, windows_of(options)));
  match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
    Collector collector(graph, options);
    collector.collect(part);
    of_parts[i] = std::move(collector).take();
  });
  std::vector<ClockConstraint> found =
      TightestEdges::merge(std::move(of_parts), options.clocks, options.threads);
  if (team.size() == 1) return found;
  // Constraints are few: every member gets all of them, and computes the same fit.
  std::vector<std::vector<ClockConstraint>> parcels(team.size(), found);
  Collector all(graph, options);
  for (const auto& parcel : exchange(team, std::move(parcels))) {
    for (const ClockConstraint& constraint : parcel) all.add(constraint);
  }
  return TightestEdges::merge({std::move(all).take()}, options.clocks, options.threads);
}

}  // namespace entrain::constraints
