// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "clc/forward.hpp"
#include "clc/incidence.hpp"
#include "clc/scheduler.hpp"
#include "match/extremes.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// A pass of flow_forward(): equation (3') (see Forward), one step of the order at a time: start(),
/// then evaluate() in an order that the graph allows, then finish(). Linear in nodes, edges and
/// participants.
class FlowLane {
 public:
  /// All references must outlive this. `demanding`: the nodes of which other members demand
  /// something.
  FlowLane(const ForwardProblem& problem, const Incidence& incidence, const NodeLists& demanding)
      : problem_(problem),
        graph_(problem.graph),
        cycles_(problem.cycles),
        incidence_(incidence),
        demanding_(demanding),
        presync_(problem.presync),
        mu_(problem.mu),
        extremes_(problem.graph, problem.mu) {}

  /// Begins a pass. No node has a time yet.
  void start(Decimal9 gamma) {
    gamma_.clear();
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      gamma_.push_back(problem_.gamma_of(l, gamma));
    }
    result_ = {};
    demanded_.assign(demanding_.count(), match::k_no_demand);
    proposed_.assign(cycles_.tied.size(), match::k_no_demand);
    result_.times.assign(graph_.node_count(), match::k_no_demand);
    result_.jump.assign(graph_.own_count(), false);
    decay_.assign(graph_.location_count(), {});
    demand_.assign(graph_.participants.size(), match::k_no_demand);
    prefix_.assign(graph_.exchanges.size(), {});
  }
  void evaluate(const Step& step) {
    switch (step.kind) {
      case Step::Kind::run:
        run_nodes(step.index, step.begin, step.end);
        break;
      case Step::Kind::exchange:
        run_exchange(step.index, step.begin, step.end);
        break;
      case Step::Kind::tied:
        run_tied(step.index);
        break;
    }
  }
  /// Counts jumps and the error over this member's nodes and hands the result over.
  ForwardTimes finish() {
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

  [[nodiscard]] std::int64_t time_of(NodeIndex node) const { return result_.times[node]; }
  /// Per node, ghosts last.
  [[nodiscard]] std::span<std::int64_t> times() { return result_.times; }
  void set_time(NodeIndex ghost, std::int64_t time) { result_.times[ghost] = time; }
  /// Another member demands `time` of a node of this one, or proposes it for a tied component.
  void hear_demand(NodeIndex node, std::int64_t time) {
    std::int64_t& latest = demanded_[demanding_.rank(node)];
    latest = std::max(latest, time);
  }
  void hear_proposal(std::uint32_t component, std::int64_t time) {
    proposed_[component] = std::max(proposed_[component], time);
  }

  /// Demand of this member's exchanges on a ghost. demand_on_tied(): the same for a tied ghost,
  /// without demands from its own component.
  [[nodiscard]] std::int64_t demand_of_exchanges(NodeIndex ghost) const {
    std::int64_t demand = match::k_no_demand;
    for (const std::uint32_t m : incidence_.receives.of(ghost))
      demand = std::max(demand, demand_[m]);
    return demand;
  }
  [[nodiscard]] std::int64_t demand_on_tied(NodeIndex ghost) {
    return demand_from_outside(ghost, cycles_.tied_of[ghost]);
  }
  /// The time that this member proposes for a tied component: the earliest one that suits all its
  /// nodes.
  [[nodiscard]] std::int64_t proposal(std::uint32_t number) {
    std::int64_t common = match::k_no_demand;
    for (const NodeIndex n : cycles_.tied[number].nodes) {
      const LocationIndex location = graph_.location_of(n);
      const std::int64_t demanded = problem_.after(n, demand_from_outside(n, number));
      common = std::max({common, undisturbed(location, n), demanded});
      if (n > graph_.first_node[location] && cycles_.tied_of[n - 1] != number) {
        common = std::max(common, after_neighbour(location, n));
      }
    }
    return common;
  }

 private:
  /// The largest send of an ordered exchange among those that come before a receive.
  struct Prefix {
    std::int64_t largest = match::k_no_demand;
    std::uint32_t added = 0;  ///< send participants seen
  };

  void run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end) {
    for (NodeIndex n = begin; n < end; ++n) {
      const std::int64_t own = undisturbed(location, n);
      const std::int64_t demanded = problem_.after(n, demand_on(n));
      settle(location, n, std::max({own, demanded, after_neighbour(location, n)}), own);
    }
  }
  /// The earliest time of a node after the one before it.
  [[nodiscard]] std::int64_t after_neighbour(LocationIndex location, NodeIndex node) const {
    const std::int64_t delta = problem_.delta_of(location);
    if (delta <= 0 || node == graph_.first_node[location]) return match::k_no_demand;
    return result_.times[node - 1] + std::min(delta, presync_[node] - presync_[node - 1]);
  }
  void run_exchange(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
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
  // No participant precedes itself, so nothing has to be left out. With a single mu the maximum
  // goes on where the last step of the exchange ended.
  void run_ordered(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
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
  void run_tied(std::uint32_t number) {
    const TiedNodes& component = cycles_.tied[number];
    const std::int64_t common = std::max(proposal(number), proposed_[number]);
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
  /// The demand of nodes outside of tied component `component` on a node of it.
  [[nodiscard]] std::int64_t demand_from_outside(NodeIndex node, std::uint32_t component) {
    std::int64_t demand = match::k_no_demand;
    const auto outside = [&](NodeIndex n) { return cycles_.tied_of[n] != component; };
    if (!graph_.is_ghost(node)) demand = demanded(node);
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
  /// The demand of all nodes on a node that is not tied; demanded(): of other members only.
  [[nodiscard]] std::int64_t demand_on(NodeIndex node) const {
    std::int64_t demand = std::max(demanded(node), demand_of_exchanges(node));
    for (const match::Edge& edge : incidence_.in_edges.of(node)) {
      const std::int64_t mu = graph_.mu_of(edge, mu_);
      demand = std::max(demand, result_.times[edge.send] + mu);
    }
    return demand;
  }
  [[nodiscard]] std::int64_t demanded(NodeIndex node) const {
    return demanding_.has(node) ? demanded_[demanding_.rank(node)] : match::k_no_demand;
  }
  [[nodiscard]] std::int64_t undisturbed(LocationIndex location, NodeIndex node) const {
    return presync_[node] + decay_[location].at(presync_[node], gamma_[location]);
  }
  void settle(LocationIndex location, NodeIndex node, std::int64_t time, std::int64_t undisturbed) {
    time = std::min(time, k_latest_time + 1);
    result_.times[node] = time;
    const bool jump = time > undisturbed;
    if (jump) decay_[location] = {time - presync_[node], presync_[node]};
    result_.jump[node] = jump;
  }

  const ForwardProblem problem_;
  const match::Graph& graph_;
  const Cycles& cycles_;
  const Incidence& incidence_;
  const NodeLists& demanding_;
  std::span<const std::int64_t> presync_;
  MuTicks mu_;
  match::Extremes extremes_;
  std::vector<Decimal9> gamma_;  ///< each location's gamma
  ForwardTimes result_;
  std::vector<Decay> decay_;            ///< each location's decay
  BigVector<std::int64_t> demand_;      ///< demand of each receive participant, ticks
  BigVector<Prefix> prefix_;            ///< running maximum of each exchange
  BigVector<std::int64_t> demanded_;    ///< demands of other members; index: rank of the node in
                                        ///< `demanding_`
  std::vector<std::int64_t> proposed_;  ///< proposals of other members, one for each tied component
};

}  // namespace entrain::clc
