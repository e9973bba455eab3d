// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "clc/decay.hpp"
#include "clc/forward.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Equation (3') (see Forward), one step of a schedule at a time: start(), then evaluate() in an
/// order that the graph allows, then finish(). Linear in nodes, edges and participants.
///
/// `Self` is the class that derives from this one. It can hide the functions named "hook" below to
/// hear of changes and to add demands; those that it does not hide cost nothing. It has to befriend
/// this class if its hooks are private.
template <class Self>
class ForwardSteps {
 public:
  /// All references must outlive this.
  ForwardSteps(const ForwardProblem& problem, const Incidence& incidence)
      : problem_(problem),
        graph_(problem.graph),
        cycles_(problem.cycles),
        incidence_(incidence),
        presync_(problem.presync),
        mu_(problem.mu),
        extremes_(problem.graph, problem.mu) {}

  /// Begins a pass. No node has a time yet.
  void start(Decimal9 gamma);
  void evaluate(const Step& step);
  /// Counts jumps and the error over this member's nodes and hands the result over.
  ForwardTimes finish();

 protected:
  /// The largest send of an ordered exchange among those that come before a receive.
  struct Prefix {
    std::int64_t largest = match::k_no_demand;
    std::uint32_t added = 0;  ///< send participants seen
  };

  // Hooks, with the behaviour of a plain pass.
  /// The demand of other members of the team on a node of this one, or k_no_demand.
  [[nodiscard]] std::int64_t remote_demand(NodeIndex /*node*/) const { return match::k_no_demand; }
  /// The common time of a tied component, given what this member's nodes of it ask for.
  std::int64_t common_time(std::uint32_t /*component*/, std::int64_t own) { return own; }

  /// The demand of nodes outside of tied component `component` on a node of it.
  [[nodiscard]] std::int64_t demand_from_outside(NodeIndex node, std::uint32_t component);
  /// The demand of all nodes on a node that is not tied.
  [[nodiscard]] std::int64_t demand_on(NodeIndex node);
  /// The earliest common time that suits all nodes of a component that this member has.
  [[nodiscard]] std::int64_t own_time_of_tied(const TiedNodes& component, std::uint32_t number);

  const ForwardProblem problem_;
  const match::Graph& graph_;
  const Cycles& cycles_;
  const Incidence& incidence_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  match::Extremes extremes_;
  std::vector<Decimal9> gamma_;  ///< each location's gamma
  ForwardTimes result_;
  std::vector<Decay> decay_;        ///< each location's decay
  BigVector<std::int64_t> demand_;  ///< demand of each receive participant, ticks
  BigVector<Prefix> prefix_;        ///< running maximum of each exchange

 private:
  Self& self() { return static_cast<Self&>(*this); }

  void run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end);
  void run_exchange(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_ordered(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_tied(const TiedNodes& component);
  [[nodiscard]] std::int64_t undisturbed(LocationIndex location, NodeIndex node) const {
    return presync_[node] + decay_[location].at(presync_[node], gamma_[location]);
  }
  void settle(LocationIndex location, NodeIndex node, std::int64_t time, std::int64_t undisturbed);
};

template <class Self>
void ForwardSteps<Self>::start(Decimal9 gamma) {
  gamma_.clear();
  for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
    gamma_.push_back(problem_.gamma_of(l, gamma));
  }
  result_ = {};
  result_.times.assign(graph_.node_count(), match::k_no_demand);
  result_.jump.assign(graph_.own_count(), false);
  decay_.assign(graph_.location_count(), {});
  demand_.assign(graph_.participants.size(), match::k_no_demand);
  prefix_.assign(graph_.exchanges.size(), {});
}

template <class Self>
void ForwardSteps<Self>::evaluate(const Step& step) {
  switch (step.kind) {
    case Step::Kind::run:
      run_nodes(step.index, step.begin, step.end);
      break;
    case Step::Kind::exchange:
      run_exchange(step.index, step.begin, step.end);
      break;
    case Step::Kind::tied:
      run_tied(cycles_.tied[step.index]);
      break;
  }
}

template <class Self>
ForwardTimes ForwardSteps<Self>::finish() {
  result_.error_of.assign(graph_.location_count(), 0);
  for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
    std::int64_t& error = result_.error_of[l];
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      error = std::max(error, result_.times[n] - presync_[n]);
      if (result_.times[n] > k_latest_time) result_.overflow = true;
      if (result_.jump[n]) ++result_.jumps;
    }
    result_.error = std::max(result_.error, error);
  }
  return std::move(result_);
}

template <class Self>
void ForwardSteps<Self>::run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end) {
  const std::int64_t delta = problem_.delta_of(location);
  for (NodeIndex n = begin; n < end; ++n) {
    const std::int64_t own = undisturbed(location, n);
    std::int64_t time = std::max(own, problem_.after(n, demand_on(n)));
    if (delta > 0 && n > graph_.first_node[location]) {
      const std::int64_t gap = std::min(delta, presync_[n] - presync_[n - 1]);
      time = std::max(time, result_.times[n - 1] + gap);
    }
    settle(location, n, time, own);
  }
}

template <class Self>
void ForwardSteps<Self>::settle(LocationIndex location, NodeIndex node, std::int64_t time,
                                std::int64_t undisturbed) {
  time = std::min(time, k_latest_time + 1);
  result_.times[node] = time;
  const bool jump = time > undisturbed;
  if (jump) decay_[location] = {time - presync_[node], presync_[node]};
  result_.jump[node] = jump;
}

template <class Self>
std::int64_t ForwardSteps<Self>::demand_on(NodeIndex node) {
  std::int64_t demand = self().remote_demand(node);
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    const std::int64_t mu = graph_.mu_of(edge, mu_);
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) demand = std::max(demand, demand_[m]);
  return demand;
}

template <class Self>
void ForwardSteps<Self>::run_exchange(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
  const match::Exchange& exchange = graph_.exchanges[index];
  if (exchange.ordered) return run_ordered(index, begin, end);
  extremes_.clear();
  for (const match::Participant& send : graph_.sends(exchange)) {
    extremes_.add(send.location, result_.times[send.node]);
  }
  for (std::uint32_t m = begin; m < end; ++m) {
    demand_[m] = extremes_.demand(graph_.participants[m].location);
  }
}

// No participant precedes itself, so nothing has to be left out. With a single mu the maximum goes
// on where the last step of the exchange ended.
template <class Self>
void ForwardSteps<Self>::run_ordered(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
  const match::Exchange& exchange = graph_.exchanges[index];
  const auto sends = graph_.sends(exchange);
  const bool uniform = extremes_.uniform();
  extremes_.clear();
  Prefix start;
  Prefix& prefix = uniform ? prefix_[index] : start;
  for (std::uint32_t m = uniform ? begin : exchange.first_receive; m < end; ++m) {
    const match::Participant& receive = graph_.participants[m];
    for (; prefix.added < sends.size() && sends[prefix.added].order < receive.order;
         ++prefix.added) {
      const match::Participant& send = sends[prefix.added];
      prefix.largest = std::max(prefix.largest, result_.times[send.node]);
      if (!uniform) extremes_.add(send.location, result_.times[send.node]);
    }
    if (m < begin || prefix.added == 0) continue;
    demand_[m] = uniform ? prefix.largest + mu_[0] : extremes_.demand(receive.location);
  }
}

template <class Self>
std::int64_t ForwardSteps<Self>::demand_from_outside(NodeIndex node, std::uint32_t component) {
  std::int64_t demand = match::k_no_demand;
  const auto outside = [&](NodeIndex n) { return cycles_.tied_of[n] != component; };
  if (!graph_.is_ghost(node)) demand = self().remote_demand(node);
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    if (!outside(edge.send)) continue;
    const std::int64_t mu = graph_.mu_of(edge, mu_);
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) {
    const match::Exchange& exchange = graph_.exchanges[incidence_.exchange_of[m]];
    const match::Participant& receive = graph_.participants[m];
    extremes_.clear();
    for (const match::Participant& send : graph_.sends(exchange)) {
      if (exchange.ordered && send.order >= receive.order) break;
      if (outside(send.node)) extremes_.add(send.location, result_.times[send.node]);
    }
    demand = std::max(demand, extremes_.demand(receive.location));
  }
  return demand;
}

template <class Self>
std::int64_t ForwardSteps<Self>::own_time_of_tied(const TiedNodes& component,
                                                  std::uint32_t number) {
  std::int64_t common = match::k_no_demand;
  for (const NodeIndex n : component.nodes) {
    const LocationIndex location = graph_.location_of(n);
    const std::int64_t demanded = problem_.after(n, demand_from_outside(n, number));
    common = std::max({common, undisturbed(location, n), demanded});
    const std::int64_t delta = problem_.delta_of(location);
    if (delta > 0 && n > graph_.first_node[location] && cycles_.tied_of[n - 1] != number) {
      const std::int64_t gap = std::min(delta, presync_[n] - presync_[n - 1]);
      common = std::max(common, result_.times[n - 1] + gap);
    }
  }
  return common;
}

template <class Self>
void ForwardSteps<Self>::run_tied(const TiedNodes& component) {
  const std::uint32_t number = cycles_.tied_of[component.nodes[0]];
  const std::int64_t common = self().common_time(number, own_time_of_tied(component, number));
  for (std::size_t i = 0; i < component.nodes.size(); ++i) {
    const NodeIndex n = component.nodes[i];
    const LocationIndex location = graph_.location_of(n);
    // The decay goes on from the location's last node of the component: its earlier ones stand
    // still at the common time.
    const Decay before = decay_[location];
    settle(location, n, common, undisturbed(location, n));
    const bool last =
        i + 1 == component.nodes.size() || graph_.location_of(component.nodes[i + 1]) != location;
    if (!last) decay_[location] = before;
  }
}

}  // namespace entrain::clc
