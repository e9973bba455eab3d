// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "clc/decay.hpp"
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
  void start(Decimal9 gamma);
  void evaluate(const Step& step);
  /// Counts jumps and the error over this member's nodes and hands the result over.
  ForwardTimes finish();

  [[nodiscard]] std::int64_t time_of(NodeIndex node) const { return result_.times[node]; }
  /// Per node, ghosts last.
  [[nodiscard]] std::span<std::int64_t> times() { return result_.times; }
  void set_time(NodeIndex ghost, std::int64_t time) { result_.times[ghost] = time; }
  /// Another member demands `time` of a node of this one, or proposes it for a tied component.
  void hear_demand(NodeIndex node, std::int64_t time);
  void hear_proposal(std::uint32_t component, std::int64_t time);

  /// Demand of this member's exchanges on a ghost. demand_on_tied(): the same for a tied ghost,
  /// without demands from its own component.
  [[nodiscard]] std::int64_t demand_of_exchanges(NodeIndex ghost) const;
  [[nodiscard]] std::int64_t demand_on_tied(NodeIndex ghost);
  /// The time that this member proposes for a tied component: the earliest one that suits all its
  /// nodes.
  [[nodiscard]] std::int64_t proposal(std::uint32_t component);

 private:
  /// The largest send of an ordered exchange among those that come before a receive.
  struct Prefix {
    std::int64_t largest = match::k_no_demand;
    std::uint32_t added = 0;  ///< send participants seen
  };

  void run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end);
  void run_exchange(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_ordered(std::uint32_t exchange, std::uint32_t begin, std::uint32_t end);
  void run_tied(std::uint32_t component);
  /// The demand of nodes outside of tied component `component` on a node of it.
  [[nodiscard]] std::int64_t demand_from_outside(NodeIndex node, std::uint32_t component);
  /// The demand of all nodes on a node that is not tied; demanded(): of other members only.
  [[nodiscard]] std::int64_t demand_on(NodeIndex node) const;
  [[nodiscard]] std::int64_t demanded(NodeIndex node) const;
  [[nodiscard]] std::int64_t undisturbed(LocationIndex location, NodeIndex node) const {
    return presync_[node] + decay_[location].at(presync_[node], gamma_[location]);
  }
  void settle(LocationIndex location, NodeIndex node, std::int64_t time, std::int64_t undisturbed);

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
