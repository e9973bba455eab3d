// SPDX-License-Identifier: BSD-3-Clause
#include "clc/influence.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/order.hpp"
#include "match/extremes.hpp"

namespace entrain::clc {

namespace {

/// The latest displaced senders of an exchange, of two locations: those with the smallest numbers
/// among equally late ones, in whatever order they come.
class LatestSenders {
 public:
  void add(LocationIndex location, std::int64_t time) {
    const Sender sender{location, time};
    if (location == first_.location) {
      first_.time = std::max(first_.time, time);
    } else if (sender.is_later(first_)) {
      second_ = std::exchange(first_, sender);
    } else if (sender.is_later(second_)) {
      second_ = sender;
    }
  }
  [[nodiscard]] std::array<LocationIndex, 2> locations() const {
    return {first_.location, second_.location};
  }

 private:
  struct Sender {
    LocationIndex location = k_none;
    std::int64_t time = match::k_no_demand;
    [[nodiscard]] bool is_later(const Sender& other) const {
      return time > other.time || (time == other.time && location < other.location);
    }
  };
  Sender first_, second_;
};

/// Collects the influences that this member sees.
class Collector {
 public:
  Collector(const ForwardProblem& problem, const ForwardTimes& pass)
      : problem_(problem),
        graph_(problem.graph),
        presync_(problem.presync),
        mu_(problem.mu),
        times_(pass.times) {}

  std::vector<Influence> run() {
    for (const match::Edge& edge : graph_.edges) {
      const std::int64_t mu = graph_.mu_of(edge, mu_);
      if (!displaced(edge.send) || !displaced(edge.receive)) continue;
      if (problem_.after(edge.receive, times_[edge.send] + mu) != times_[edge.receive]) continue;
      add(graph_.location_of(edge.send), graph_.location_of(edge.receive));
    }
    match::for_demands(graph_, graph_.exchanges, mu_, times_,
                       [&](const match::Exchange& exchange, const match::Participant& receive,
                           std::int64_t demand) { look_at(exchange, receive, demand); });
    return {found_.begin(), found_.end()};
  }

 private:
  [[nodiscard]] bool displaced(NodeIndex node) const { return times_[node] > presync_[node]; }

  void look_at(const match::Exchange& exchange, const match::Participant& receive,
               std::int64_t demand) {
    if (exchange_ != &exchange) {
      exchange_ = &exchange;
      senders_ = {};
      added_ = 0;
    }
    if (demand == match::k_no_demand || !displaced(receive.node)) return;
    if (problem_.after(receive.node, demand) != times_[receive.node]) return;
    const auto sends = graph_.sends(exchange);
    for (; added_ < sends.size(); ++added_) {  // receives of ordered ones come in their order
      const match::Participant& send = sends[added_];
      if (exchange.ordered && send.order >= receive.order) break;
      if (displaced(send.node)) senders_.add(send.location, times_[send.node]);
    }
    for (const LocationIndex sender : senders_.locations()) {
      if (sender != k_none) add(sender, receive.location);
    }
  }

  void add(LocationIndex from, LocationIndex to) {
    if (from != to) found_.insert({from, to});
  }

  const ForwardProblem& problem_;
  const match::Graph& graph_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  std::span<const std::int64_t> times_;
  std::set<Influence> found_;
  const match::Exchange* exchange_ = nullptr;  ///< the exchange in work
  LatestSenders senders_;                      ///< latest senders of `exchange_` so far
  std::size_t added_ = 0;                      ///< number of sends of `exchange_` added so far
};

}  // namespace

std::vector<Influence> influences(Team& team, const ForwardProblem& problem,
                                  const ForwardTimes& pass) {
  std::vector<Influence> all = gather_everywhere(team, Collector(problem, pass).run());
  sort_unique(all);
  return all;
}

void mark_upstream(const std::vector<Influence>& influences, std::vector<bool>& marked) {
  std::vector<std::vector<LocationIndex>> from(marked.size());
  for (const auto& [cause, effect] : influences) from[effect].push_back(cause);
  std::vector<LocationIndex> open;
  for (LocationIndex l = 0; l < marked.size(); ++l) {
    if (marked[l]) open.push_back(l);
  }
  while (!open.empty()) {
    const LocationIndex effect = open.back();
    open.pop_back();
    for (const LocationIndex cause : from[effect]) {
      if (marked[cause]) continue;
      marked[cause] = true;
      open.push_back(cause);
    }
  }
}

}  // namespace entrain::clc
