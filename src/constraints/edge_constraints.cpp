// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/edge_constraints.hpp"

#include <algorithm>
#include <type_traits>

#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::constraints {

namespace {

TimeWindows windows_of(const ConstraintOptions& options) {
  return {options.begin, options.end, options.windows};
}

/// `Value`: double where errors are known, std::int64_t where corrected times are given.
template <class Value>
class Collector {
 public:
  Collector(const match::Graph& graph, const ConstraintOptions& options)
      : graph_(graph),
        options_(options),
        edges_(options.clocks, windows_of(options)),
        extremes_of_groups_(options.groups),
        extremes_(graph, scaled(options.mu, options.bits)) {}

  void collect(const match::Part& part) {
    for_edges(graph_, part, options_.times,
              [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                if (options_.clock_of[from] == options_.clock_of[to] || group(from) != group(to))
                  return;
                offer(end_of(edge.send, from), end_of(edge.receive, to),
                      graph_.mu_of(edge, options_.mu));
              });
    for (const match::Exchange& exchange : part.exchanges) add(exchange);
  }

  [[nodiscard]] TightestEdges take() && { return std::move(edges_); }

 private:
  /// Participants whose times are prefetched: those of one call are scattered. Chosen, not
  /// measured.
  static constexpr std::size_t k_ahead = 32;

  static constexpr bool k_is_given = std::is_same_v<Value, std::int64_t>;

  /// An end of an edge.
  struct Endpoint {
    std::uint32_t clock = 0;
    std::int64_t time = 0;    ///< presynchronised time
    Value corrected = 0;      ///< estimate of its true time, ticks or parts after the first event
    std::int64_t margin = 0;  ///< ticks
  };

  static MuTicks scaled(MuTicks mu, unsigned bits) {
    for (std::int64_t& one : mu) one <<= bits;
    return mu;
  }

  [[nodiscard]] Endpoint end_of(NodeIndex node, LocationIndex location) const {
    const std::uint32_t clock = options_.clock_of[location];
    const std::int64_t time = options_.times[node];
    const std::int64_t margin = options_.margins.empty() ? 0 : options_.margins[clock];
    if constexpr (k_is_given) return {clock, time, options_.corrected[node], margin};
    const auto since_begin = static_cast<double>(time - options_.begin);
    const double error = options_.errors == nullptr ? 0 : (*options_.errors)(clock, time);
    return {clock, time, static_cast<Value>(since_begin - error), margin};
  }

  /// A begin is early, and an end late, by their margins.
  [[nodiscard]] Value as_begin(const Endpoint& end) const {
    return end.corrected - static_cast<Value>(end.margin << options_.bits);
  }
  [[nodiscard]] Value as_end(const Endpoint& end) const {
    return end.corrected + static_cast<Value>(end.margin << options_.bits);
  }

  /// Slack of an edge given the known errors or the corrected times.
  [[nodiscard]] Value slack(const Endpoint& from, const Endpoint& to, std::int64_t mu) const {
    return as_end(to) - as_begin(from) - static_cast<Value>(mu << options_.bits);
  }

  void offer(const Endpoint& from, const Endpoint& to, std::int64_t mu) {
    const Value tightness = slack(from, to, mu);
    if (k_is_given && tightness >= static_cast<Value>(options_.most_slack)) return;
    edges_.keep({.constraint = {.from = from.clock,
                                .to = to.clock,
                                .from_time = from.time,
                                .to_time = to.time,
                                .slack = to.time - from.time - mu + from.margin + to.margin},
                 .tightness = static_cast<double>(tightness)});
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
      if (ahead < all.size()) __builtin_prefetch(&options_.times[all[ahead].node]);
      members.push_back({end_of(one.node, one.location), one.location, one.order});
    }
  }

  [[nodiscard]] std::uint32_t group(LocationIndex l) const {
    return options_.group_of.empty() ? 0 : options_.group_of[l];
  }

  /// Latest (or earliest) member of a side in a group, and the latest one of another clock.
  struct Extremes {
    std::uint64_t side = 0;  ///< number of the side that they belong to
    const Member* first = nullptr;
    const Member* other = nullptr;

    void take(const Collector& by, const Member& member, bool is_begin) {
      const auto later = [&](const Member* than) {
        if (than == nullptr) return true;
        return is_begin ? by.as_begin(member.end) > by.as_begin(than->end)
                        : by.as_end(member.end) < by.as_end(than->end);
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

  /// Extremes of the side at hand and the group of a member.
  [[nodiscard]] Extremes& extremes_of(const Member& member) {
    Extremes& own = extremes_of_groups_[group(member.location)];
    if (own.side != sides_) own = {.side = sides_};
    return own;
  }

  [[nodiscard]] std::int64_t mu_of(const Member& send, const Member& receive) const {
    const auto c = graph_.latency_class(send.location, receive.location);
    return options_.mu[static_cast<std::size_t>(c)];
  }
  void add(const Member& send, const Member& receive) {
    offer(send.end, receive.end, mu_of(send, receive));
  }

  /// Latencies differ, so an earlier begin than the latest one may be violated: adds the worst pair
  /// of every end that is.
  void add_by_class(const match::Exchange& exchange) {
    extremes_.clear();
    std::size_t added = 0;
    for (const Member& receive : receives_) {
      for (; added < sends_.size() && (!exchange.ordered || sends_[added].order < receive.order);
           ++added) {
        extremes_.add(sends_[added].location,
                      static_cast<std::int64_t>(as_begin(sends_[added].end)));
      }
      const std::int64_t demand = extremes_.demand(receive.location);
      if (static_cast<std::int64_t>(as_end(receive.end)) >= demand) continue;
      const Member* worst = nullptr;
      for (std::size_t i = 0; i < added; ++i) {
        const Member& send = sends_[i];
        if (send.end.clock == receive.end.clock || send.location == receive.location) continue;
        if (group(send.location) != group(receive.location)) continue;
        const auto tightness = [&](const Member& one) {
          return slack(one.end, receive.end, mu_of(one, receive));
        };
        if (worst == nullptr || tightness(send) < tightness(*worst)) worst = &send;
      }
      if (worst != nullptr) add(*worst, receive);
    }
  }

  void add(const match::Exchange& exchange) {
    read(graph_.sends(exchange), sends_);
    read(graph_.receives(exchange), receives_);
    ++sides_;
    std::size_t added = 0;
    for (const Member& receive : receives_) {
      while (added < sends_.size() && (!exchange.ordered || sends_[added].order < receive.order)) {
        extremes_of(sends_[added]).take(*this, sends_[added], true);
        ++added;
      }
      if (const Member* send = extremes_of(receive).of_another_clock(receive)) add(*send, receive);
    }
    ++sides_;
    std::size_t left = receives_.size();
    for (std::size_t i = sends_.size(); i-- > 0;) {
      while (left > 0 && (!exchange.ordered || receives_[left - 1].order > sends_[i].order)) {
        --left;
        extremes_of(receives_[left]).take(*this, receives_[left], false);
      }
      const Member* const receive = extremes_of(sends_[i]).of_another_clock(sends_[i]);
      if (receive != nullptr) add(sends_[i], *receive);
    }
    if (k_is_given && !extremes_.uniform()) add_by_class(exchange);
  }

  const match::Graph& graph_;
  const ConstraintOptions& options_;
  TightestEdges edges_;
  std::vector<Extremes> extremes_of_groups_;
  std::uint64_t sides_ = 0;  ///< sides of exchanges seen so far
  match::Extremes extremes_;
  std::vector<Member> sends_, receives_;  ///< members of the present exchange
};

template <class Value>
std::vector<LimitingEdge> collect(Team& team, const match::Graph& graph,
                                  const ConstraintOptions& options) {
  const std::vector<match::Part> parts = match::parts_of(graph, options.threads);
  std::vector<TightestEdges> of_parts(parts.size(), TightestEdges(0, windows_of(options)));
  match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
    Collector<Value> collector(graph, options);
    collector.collect(part);
    of_parts[i] = std::move(collector).take();
  });
  std::vector<LimitingEdge> found =
      TightestEdges::merge(std::move(of_parts), options.clocks, options.threads);
  if (team.size() == 1) return found;
  // Constraints are few: every member gets all of them, and computes the same fit.
  TightestEdges all(options.clocks, windows_of(options));
  for (const LimitingEdge& edge : gather_everywhere(team, found)) all.keep(edge);
  return TightestEdges::merge({std::move(all)}, options.clocks, options.threads);
}

}  // namespace

std::vector<ClockConstraint> collect_constraints(Team& team, const match::Graph& graph,
                                                 const ConstraintOptions& options) {
  std::vector<ClockConstraint> constraints;
  const std::vector<LimitingEdge> found = collect<double>(team, graph, options);
  constraints.reserve(found.size());
  for (const LimitingEdge& edge : found) constraints.push_back(edge.constraint);
  return constraints;
}

std::vector<LimitingEdge> collect_violated(Team& team, const match::Graph& graph,
                                           const ConstraintOptions& options) {
  return collect<std::int64_t>(team, graph, options);
}

}  // namespace entrain::constraints
