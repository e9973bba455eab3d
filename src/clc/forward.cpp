// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

StepLinks::StepLinks(const match::Graph& graph, const Schedule& schedule)
    : step_of_node(graph.own_count(), k_none) {
  for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    switch (step.kind) {
      case Step::Kind::run:
        for (NodeIndex n = step.begin; n < step.end; ++n) step_of_node[n] = s;
        break;
      case Step::Kind::exchange:
        break;
      case Step::Kind::tied:
        for (const NodeIndex n : schedule.tied[step.index].nodes) step_of_node[n] = s;
        break;
    }
  }
  steps_of_exchange = NodeLists(graph.exchanges.size(), [&](auto body) {
    for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
      if (schedule.steps[s].kind == Step::Kind::exchange) body(schedule.steps[s].index, s);
    }
  });
}

void ForwardPass::start(Decimal9 gamma) {
  gamma_ = gamma;
  links_ = nullptr;
  listener_ = nullptr;
  result_ = {};
  result_.times.assign(graph_.node_count(), match::k_no_demand);
  result_.jump.assign(graph_.own_count(), false);
  decay_.assign(graph_.location_count(), {});
  demand_.assign(graph_.participants.size(), match::k_no_demand);
  prefix_.assign(graph_.exchanges.size(), {});
}

Forward ForwardPass::run(Decimal9 gamma, const Progress* progress) {
  constexpr std::size_t k_poll = 1 << 14;  // steps
  start(gamma);
  const std::size_t count = schedule_.steps.size();
  for (std::size_t s = 0; s < count;) {
    if (progress != nullptr && progress->cancelled()) return {};
    for (const std::size_t end = s + std::min(k_poll, count - s); s < end; ++s) {
      evaluate(schedule_.steps[s]);
    }
  }
  return finish();
}

void ForwardPass::begin(Decimal9 gamma, const StepLinks& links, ForwardListener& listener) {
  start(gamma);
  links_ = &links;
  listener_ = &listener;
  frontier_ = 0;
  decay_before_.assign(schedule_.steps.size(), {});
  const bool any_ordered = std::any_of(graph_.exchanges.begin(), graph_.exchanges.end(),
                                       [](const match::Exchange& x) { return x.ordered; });
  prefix_before_.assign(any_ordered ? schedule_.steps.size() : 0, {});
}

void ForwardPass::evaluate(const Step& step) {
  switch (step.kind) {
    case Step::Kind::run:
      run_nodes(step.index, step.begin, step.end);
      break;
    case Step::Kind::exchange:
      run_exchange(step.index, step.begin, step.end);
      break;
    case Step::Kind::tied:
      run_tied(schedule_.tied[step.index]);
      break;
  }
}

void ForwardPass::evaluate_again(std::uint32_t s) {
  step_ = s;
  evaluate(schedule_.steps[s]);
  frontier_ = std::max(frontier_, s + 1);
}

Forward ForwardPass::finish() {
  for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
    result_.error = std::max(result_.error, result_.times[n] - presync_[n]);
    if (result_.times[n] > k_latest_time) result_.overflow = true;
    if (result_.jump[n]) ++result_.jumps;
  }
  return std::move(result_);
}

void agree_on_counts(Team& team, Forward& pass) {
  std::array<std::int64_t, 2> largest{pass.error, pass.overflow ? 1 : 0};
  team.reduce(Team::Reduction::max, largest);
  pass.error = largest[0];
  pass.overflow = largest[1] != 0;
  pass.jumps = static_cast<std::uint64_t>(
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(pass.jumps)));
}

void ForwardPass::run_nodes(LocationIndex location, NodeIndex begin, NodeIndex end) {
  if (listener_ != nullptr && step_ < frontier_) decay_[location] = decay_before_[step_];
  if (listener_ != nullptr) decay_before_[step_] = decay_[location];
  bool changed = false;
  for (NodeIndex n = begin; n < end; ++n) {
    const std::int64_t own = undisturbed(location, n);
    std::int64_t time = std::max(own, demand_on(n));
    if (delta_ > 0 && n > graph_.first_node[location]) {
      const std::int64_t gap = std::min(delta_, presync_[n] - presync_[n - 1]);
      time = std::max(time, result_.times[n - 1] + gap);
    }
    changed = settle(location, n, time, own);
  }
  if (listener_ != nullptr) pass_on(location, end - 1, changed);
}

void ForwardPass::pass_on(LocationIndex location, NodeIndex node, bool time_changed) {
  if (node + 1 == graph_.first_node[location + 1]) return;
  const std::uint32_t next = links_->step_of_node[node + 1];
  if (next >= frontier_) return;  // not begun yet: it will find the state in decay_
  Decay* before = &decay_before_[next];
  if (schedule_.steps[next].kind == Step::Kind::tied) {
    before = tied_before_.insert(node + 1, decay_[location]).first;
  }
  if (*before == decay_[location] && !(delta_ > 0 && time_changed)) return;
  *before = decay_[location];
  listener_->start_changed(next);
}

std::int64_t ForwardPass::undisturbed(LocationIndex location, NodeIndex node) const {
  return presync_[node] + decay_[location].at(presync_[node], gamma_);
}

bool ForwardPass::settle(LocationIndex location, NodeIndex node, std::int64_t time,
                         std::int64_t undisturbed) {
  time = std::min(time, k_latest_time + 1);
  const bool changed = time != result_.times[node];
  result_.times[node] = time;
  const bool jump = time > undisturbed;
  if (jump) decay_[location] = {time - presync_[node], presync_[node]};
  result_.jump[node] = jump;
  if (changed && listener_ != nullptr) listener_->time_changed(node);
  return changed;
}

std::int64_t ForwardPass::demand_on(NodeIndex node) const {
  std::int64_t demand = listener_ == nullptr ? match::k_no_demand : listener_->remote_demand(node);
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    const auto mu = mu_[static_cast<std::size_t>(edge.latency_class)];
    demand = std::max(demand, result_.times[edge.send] + mu);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) demand = std::max(demand, demand_[m]);
  return demand;
}

std::int64_t ForwardPass::demand_on_ghost(NodeIndex ghost) {
  const std::uint32_t component = schedule_.tied_of.empty() ? k_none : schedule_.tied_of[ghost];
  if (component != k_none) return demand_from_outside(ghost, component);
  std::int64_t demand = match::k_no_demand;
  for (const std::uint32_t m : incidence_.receives.of(ghost)) demand = std::max(demand, demand_[m]);
  return demand;
}

void ForwardPass::demand(std::uint32_t member, std::int64_t demand) {
  if (demand_[member] == demand) return;
  demand_[member] = demand;
  if (listener_ != nullptr) listener_->demand_changed(member);
}

void ForwardPass::run_exchange(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
  const match::Exchange& exchange = graph_.exchanges[index];
  if (exchange.ordered) return run_ordered(index, begin, end);
  extremes_.clear();
  for (const match::Participant& send : graph_.sends(exchange)) {
    extremes_.add(send.location, result_.times[send.node]);
  }
  for (std::uint32_t m = begin; m < end; ++m) {
    demand(m, extremes_.demand(graph_.participants[m].location));
  }
}

// No member precedes itself, so nothing has to be left out. With one mu the maximum goes on where
// the last step ended.
void ForwardPass::run_ordered(std::uint32_t index, std::uint32_t begin, std::uint32_t end) {
  const match::Exchange& exchange = graph_.exchanges[index];
  const auto sends = graph_.sends(exchange);
  const bool uniform = extremes_.uniform();
  if (listener_ != nullptr && step_ < frontier_) prefix_[index] = prefix_before_[step_];
  if (listener_ != nullptr) prefix_before_[step_] = prefix_[index];
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
    demand(m, uniform ? prefix.largest + mu_[0] : extremes_.demand(receive.location));
  }
  if (listener_ != nullptr) pass_on_prefix(index);
}

void ForwardPass::pass_on_prefix(std::uint32_t exchange) {
  const auto steps = links_->steps_of_exchange.of(exchange);
  const auto next = std::upper_bound(steps.begin(), steps.end(), step_);
  if (next == steps.end() || *next >= frontier_ || prefix_before_[*next] == prefix_[exchange])
    return;
  prefix_before_[*next] = prefix_[exchange];
  listener_->start_changed(*next);
}

std::int64_t ForwardPass::demand_from_outside(NodeIndex node, std::uint32_t component) {
  std::int64_t demand = match::k_no_demand;
  const auto outside = [&](NodeIndex n) { return schedule_.tied_of[n] != component; };
  if (listener_ != nullptr && !graph_.is_ghost(node)) demand = listener_->remote_demand(node);
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    if (!outside(edge.send)) continue;
    const auto mu = mu_[static_cast<std::size_t>(edge.latency_class)];
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

void ForwardPass::enter_tied(const TiedNodes& component) {
  const bool again = step_ < frontier_;
  LocationIndex previous = k_none;
  for (const NodeIndex n : component.nodes) {
    const LocationIndex location = graph_.location_of(n);
    if (std::exchange(previous, location) == location) continue;
    Decay* before = tied_before_.insert(n, decay_[location]).first;
    if (again) {
      decay_[location] = *before;
    } else {
      *before = decay_[location];
    }
  }
}

void ForwardPass::run_tied(const TiedNodes& component) {
  if (listener_ != nullptr) enter_tied(component);
  const std::uint32_t number = schedule_.tied_of[component.nodes[0]];
  std::int64_t common = match::k_no_demand;
  for (const NodeIndex n : component.nodes) {
    const LocationIndex location = graph_.location_of(n);
    common = std::max({common, undisturbed(location, n), demand_from_outside(n, number)});
    if (delta_ > 0 && n > graph_.first_node[location] && schedule_.tied_of[n - 1] != number) {
      const std::int64_t gap = std::min(delta_, presync_[n] - presync_[n - 1]);
      common = std::max(common, result_.times[n - 1] + gap);
    }
  }
  if (listener_ != nullptr) common = listener_->common_time(number, common);
  for (std::size_t i = 0; i < component.nodes.size(); ++i) {
    const NodeIndex n = component.nodes[i];
    const LocationIndex location = graph_.location_of(n);
    // The decay goes on from the location's last node of the component: its earlier ones stand
    // still at the common time.
    const Decay before = decay_[location];
    const bool changed = settle(location, n, common, undisturbed(location, n));
    const bool last =
        i + 1 == component.nodes.size() || graph_.location_of(component.nodes[i + 1]) != location;
    if (!last) {
      decay_[location] = before;
    } else if (listener_ != nullptr) {
      pass_on(location, n, changed);
    }
  }
}

}  // namespace entrain::clc
