// SPDX-License-Identifier: BSD-3-Clause
#include "clc/amortize_forward.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clc/flow_forward.hpp"
#include "clc/influence.hpp"
#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

/// Properties of the times C that decide which passes are made.
struct Need {
  /// Smallest receive - send - mu over edges and exchanges, ticks.
  std::int64_t least_slack = std::numeric_limits<std::int64_t>::max();
  std::int64_t latest = 0;  ///< latest time, at least 0

  /// Every pass would return C. There are no cycles either.
  [[nodiscard]] bool nothing_moves() const { return least_slack > 0 && latest <= k_latest_time; }
};

/// Need::least_slack of a part of the graph.
std::int64_t least_slack_of(const match::Part& part, const ForwardProblem& problem) {
  const std::span<const std::int64_t> times = problem.presync;
  std::int64_t least = Need().least_slack;
  for (const match::Edge& edge : part.edges) {
    const std::int64_t mu = problem.graph.mu_of(edge, problem.mu);
    least = std::min(least, times[edge.receive] - times[edge.send] - mu);
  }
  match::for_demands(
      problem.graph, part.exchanges, problem.mu, times,
      [&](const match::Exchange&, const match::Participant& receive, std::int64_t demand) {
        if (demand == match::k_no_demand) return;
        least = std::min(least, times[receive.node] - demand);
      });
  return least;
}

/// Collective.
Need need_of(Team& team, const ForwardProblem& problem) {
  const match::Graph& graph = problem.graph;
  const std::vector<match::Part> parts = match::parts_of(graph, problem.threads);
  std::vector<std::int64_t> slack(parts.size());
  match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
    slack[i] = least_slack_of(part, problem);
  });
  Need need;
  for (const std::int64_t least : slack) need.least_slack = std::min(need.least_slack, least);
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    const NodeIndex end = graph.first_node[l + 1];
    if (end > graph.first_node[l]) need.latest = std::max(need.latest, problem.presync[end - 1]);
  }
  need.least_slack = team.reduce(Team::Reduction::min, need.least_slack);
  need.latest = team.reduce(Team::Reduction::max, need.latest);
  return need;
}

/// The pass where nothing moves: C.
std::vector<ForwardTimes> unmoved(const ForwardProblem& problem) {
  std::vector<ForwardTimes> passes(1);
  passes[0].times.assign(problem.presync.begin(), problem.presync.end());
  passes[0].jump.assign(problem.graph.own_count(), false);
  passes[0].error_of.assign(problem.graph.location_count(), 0);
  return passes;
}

}  // namespace

Result<ForwardResult> amortize_forward(const trace::Share& share, const ForwardProblem& given,
                                       const GammaChoice& choice) {
  std::vector<Decimal9> least_gamma(given.graph.location_count());
  ForwardProblem problem = given;
  problem.least_gamma = least_gamma;
  const Need need = need_of(share.team, problem);
  FlowForward flow(share, problem);
  const Forward forward = [&](std::span<const Decimal9> gammas) {
    return need.nothing_moves() ? Result<std::vector<ForwardTimes>>(unmoved(problem))
                                : flow.run(gammas);
  };
  const std::int64_t violation = std::max<std::int64_t>(-need.least_slack, 0);
  const Outlook outlook{.least_error = violation + (given.separate && violation > 0 ? 1 : 0),
                        .side_by_side = share.team.size() > 1,
                        .epsilon = choice.epsilon};
  const Upstream upstream = [&](const ForwardTimes& pass, std::vector<bool>& marked) {
    mark_upstream(influences(share.team, problem, pass), marked);
  };
  TRY_ASSIGN(ForwardResult result,
             choice.gamma ? fixed_gamma(forward, *choice.gamma)
                          : control_gamma(forward, outlook, problem.cycles, upstream, least_gamma));
  if (result.pass.overflow) {
    return fail(ErrorKind::input,
                fmt::format("the correction of {} runs out of the range of times; its minimum "
                            "delays (mu) cannot be right",
                            share.trace.path));
  }
  return result;
}

}  // namespace entrain::clc
