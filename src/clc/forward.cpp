// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <algorithm>

#include "base/exact.hpp"

namespace entrain::clc {

std::int64_t Decay::at(std::int64_t c, Decimal9 gamma) const {
  if (top == 0) return 0;
  const Int128 fallen =
      floor_div(Int128{k_billion - gamma.billionths} * (Int128{c} - since), k_billion);
  return fallen >= top ? 0 : top - static_cast<std::int64_t>(fallen);
}

ForwardPass::ForwardPass(const match::Graph& graph, const Incidence& incidence,
                         const Schedule& schedule, std::span<const std::int64_t> presync,
                         const MuTicks& mu, std::int64_t delta)
    : graph_(graph),
      incidence_(incidence),
      schedule_(schedule),
      presync_(presync),
      mu_(mu),
      delta_(delta),
      extremes_(graph, mu) {}

Forward ForwardPass::run(Decimal9 gamma) {
  gamma_ = gamma;
  result_ = {};
  result_.times.assign(graph_.node_count(), k_no_demand);
  result_.jump.assign(graph_.node_count(), false);
  decay_.assign(graph_.location_count(), {});
  demand_.assign(graph_.members.size(), k_no_demand);
  prefix_.assign(graph_.exchanges.size(), {});
  for (const Step& step : schedule_.steps) {
    switch (step.kind) {
      case Step::Kind::run: run_nodes(step.index, step.begin, step.end); break;
      case Step::Kind::exchange: run_exchange(step.index, step.begin, step.end); break;
      case Step::Kind::tied: run_tied(schedule_.tied[step.index]); break;
    }
  }
  return std::move(result_);
}

void ForwardPass::run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end) {
  for (NodeIndex n = begin; n < end; ++n) {
    const std::int64_t own = undisturbed(location, n);
    std::int64_t time = std::max(own, demand_on(n));
    if (delta_ > 0 && n > graph_.first_node[location]) {
      const std::int64_t gap = std::min(delta_, presync_[n] - presync_[n - 1]);
      time = std::max(time, result_.times[n - 1] + gap);
    }
    settle(location, n, time, own);
  }
}

std::int64_t ForwardPass::undisturbed(LocationIndex location, NodeIndex node) const {
  return presync_[node] + decay_[location].at(presync_[node], gamma_);
}

void ForwardPass::settle(LocationIndex location, NodeIndex node, std::int64_t time,
                         std::int64_t undisturbed) {
  if (time > k_latest_time) {
    time = k_latest_time;
    result_.overflow = true;
  }
  result_.times[node] = time;
  const std::int64_t displacement = time - presync_[node];
  if (time > undisturbed) {
    decay_[location] = {displacement, presync_[node]};
    result_.jump[node] = true;
    ++result_.jumps;
  }
  result_.error = std::max(result_.error, displacement);
}

std::int64_t ForwardPass::demand_on(NodeIndex node) const {
  std::int64_t demand = k_no_demand;
  for (const std::uint32_t e : incidence_.in_edges.of(node)) {
    const match::Edge& edge = graph_.edges[e];
    const auto mu = mu_[static_cast<std::size_t>(edge.latency_class)];
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) demand = std::max(demand, demand_[m]);
  return demand;
}

void ForwardPass::run_exchange(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
  const match::Exchange& exchange = graph_.exchanges[index];
  const auto sends = graph_.sends(exchange);
  extremes_.clear();
  if (!exchange.ordered) {
    for (const match::Member& send : sends) extremes_.add(send.location, result_.times[send.node]);
    for (std::uint32_t m = begin; m < end; ++m) {
      demand_[m] = extremes_.demand(graph_.members[m].location);
    }
    return;
  }
  // No member precedes itself, so nothing has to be left out. With one mu the maximum goes on
  // where the last step ended.
  Prefix start;
  Prefix& prefix = extremes_.uniform() ? prefix_[index] : start;
  for (std::uint32_t m = extremes_.uniform() ? begin : exchange.first_receive; m < end; ++m) {
    const match::Member& receive = graph_.members[m];
    for (; prefix.added < sends.size() && sends[prefix.added].order < receive.order;
         ++prefix.added) {
      const match::Member& send = sends[prefix.added];
      prefix.largest = std::max(prefix.largest, result_.times[send.node]);
      if (!extremes_.uniform()) extremes_.add(send.location, result_.times[send.node]);
    }
    if (m < begin || prefix.added == 0) continue;
    demand_[m] = extremes_.uniform() ? prefix.largest + mu_[0] : extremes_.demand(receive.location);
  }
}

std::int64_t ForwardPass::demand_from_outside(NodeIndex node, std::uint32_t component) {
  std::int64_t demand = k_no_demand;
  const auto outside = [&](NodeIndex n) { return schedule_.tied_of[n] != component; };
  for (const std::uint32_t e : incidence_.in_edges.of(node)) {
    const match::Edge& edge = graph_.edges[e];
    if (!outside(edge.send)) continue;
    const auto mu = mu_[static_cast<std::size_t>(edge.latency_class)];
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) {
    const match::Exchange& exchange = graph_.exchanges[incidence_.exchange_of[m]];
    const match::Member& receive = graph_.members[m];
    extremes_.clear();
    for (const match::Member& send : graph_.sends(exchange)) {
      if (exchange.ordered && send.order >= receive.order) break;
      if (outside(send.node)) extremes_.add(send.location, result_.times[send.node]);
    }
    demand = std::max(demand, extremes_.demand(receive.location));
  }
  return demand;
}

void ForwardPass::run_tied(const TiedNodes& component) {
  const std::uint32_t number = schedule_.tied_of[component.nodes[0]];
  std::int64_t common = k_no_demand;
  for (const NodeIndex n : component.nodes) {
    const LocationIndex location = incidence_.location_of[n];
    common = std::max({common, undisturbed(location, n), demand_from_outside(n, number)});
    if (delta_ > 0 && n > graph_.first_node[location] && schedule_.tied_of[n - 1] != number) {
      const std::int64_t gap = std::min(delta_, presync_[n] - presync_[n - 1]);
      common = std::max(common, result_.times[n - 1] + gap);
    }
  }
  for (std::size_t i = 0; i < component.nodes.size(); ++i) {
    const NodeIndex n = component.nodes[i];
    const LocationIndex location = incidence_.location_of[n];
    // The decay goes on from the location's last node of the component: its earlier ones stand
    // still at the common time.
    const Decay before = decay_[location];
    settle(location, n, common, undisturbed(location, n));
    const bool last = i + 1 == component.nodes.size() ||
                      incidence_.location_of[component.nodes[i + 1]] != location;
    if (!last) decay_[location] = before;
  }
}

}  // namespace entrain::clc
