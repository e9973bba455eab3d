// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_lane.hpp"

#include <algorithm>

namespace entrain::clc {

void FlowLane::start(Decimal9 gamma) {
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

void FlowLane::evaluate(const Step& step) {
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

ForwardTimes FlowLane::finish() {
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

void FlowLane::run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end) {
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

void FlowLane::settle(LocationIndex location, NodeIndex node, std::int64_t time,
                      std::int64_t undisturbed) {
  time = std::min(time, k_latest_time + 1);
  result_.times[node] = time;
  const bool jump = time > undisturbed;
  if (jump) decay_[location] = {time - presync_[node], presync_[node]};
  result_.jump[node] = jump;
}

std::int64_t FlowLane::demand_on(NodeIndex node) const {
  std::int64_t demand = demanded(node);
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    const std::int64_t mu = graph_.mu_of(edge, mu_);
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) demand = std::max(demand, demand_[m]);
  return demand;
}

void FlowLane::run_exchange(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
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
void FlowLane::run_ordered(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
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

std::int64_t FlowLane::demand_from_outside(NodeIndex node, std::uint32_t component) {
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

std::int64_t FlowLane::proposal(std::uint32_t number) {
  std::int64_t common = match::k_no_demand;
  for (const NodeIndex n : cycles_.tied[number].nodes) {
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

void FlowLane::run_tied(std::uint32_t number) {
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

void FlowLane::hear_demand(NodeIndex node, std::int64_t time) {
  std::int64_t& latest = demanded_[demanding_.rank(node)];
  latest = std::max(latest, time);
}

void FlowLane::hear_proposal(std::uint32_t component, std::int64_t time) {
  proposed_[component] = std::max(proposed_[component], time);
}

std::int64_t FlowLane::demanded(NodeIndex node) const {
  return demanding_.has(node) ? demanded_[demanding_.rank(node)] : match::k_no_demand;
}

std::int64_t FlowLane::demand_of_exchanges(NodeIndex ghost) const {
  std::int64_t demand = match::k_no_demand;
  for (const std::uint32_t m : incidence_.receives.of(ghost)) demand = std::max(demand, demand_[m]);
  return demand;
}

std::int64_t FlowLane::demand_on_tied(NodeIndex ghost) {
  return demand_from_outside(ghost, cycles_.tied_of[ghost]);
}

}  // namespace entrain::clc
