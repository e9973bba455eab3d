// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_forward.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clc/components.hpp"
#include "clc/incidence.hpp"
#include "clc/team_cycles.hpp"

namespace entrain::clc {

Result<std::vector<ForwardTimes>> FlowForward::run(std::span<const Decimal9> gammas) {
  gammas = gammas.first(std::min(gammas.size(), ForwardFlow::k_most_lanes));
  TRY_ASSIGN(ForwardFlow::Outcome outcome, flow(gammas));
  if (outcome.circles) {
    TRY(settle(std::move(outcome)));
    TRY_ASSIGN(outcome, flow(gammas));
  }
  return std::move(outcome.passes);
}

Result<ForwardFlow::Outcome> FlowForward::flow(std::span<const Decimal9> gammas) {
  TRY_ASSIGN(std::optional<ForwardFlow::Outcome> outcome, try_flow(gammas));
  if (!outcome && flow_->relays_something()) {
    // Members wait in a circle, and relays do not show in which.
    relay_ = false;
    flow_.reset();
    TRY_ASSIGN(outcome, try_flow(gammas));
  }
  if (!outcome) {
    return fail(ErrorKind::input, fmt::format("{} has events that wait for each other even after "
                                              "all cycles of equal stamps were found",
                                              share_.trace.path));
  }
  return *std::move(outcome);
}

/// Nothing if members wait for each other, and it is not known in which circles.
Result<std::optional<ForwardFlow::Outcome>> FlowForward::try_flow(
    std::span<const Decimal9> gammas) {
  if (!flow_) flow_.emplace(share_.team, problem_, relay_);
  std::optional<ForwardFlow::Outcome> outcome = flow_->run(gammas);
  TRY(problem_.cancel.agree(share_.team));
  return outcome;
}

/// Ties or cuts the cycles that a pass has shown. Relays then know what they have to leave out.
Result<void> FlowForward::settle(ForwardFlow::Outcome outcome) {
  flow_.reset();
  relay_ = true;
  if (share_.team.size() == 1) {
    problem_.cycles = treat_cycles(problem_.graph, outcome.left);
    return {};
  }
  const std::vector<bool> suspects =
      cycle_suspects(share_.team, problem_.graph, outcome.passes.front().times, outcome.windows);
  outcome = {};
  const match::GraphSize size = size_between(share_.team, problem_.graph, suspects);
  // The same at every member.
  if (!match::require_countable(size, share_.trace.path)) {
    return fail(ErrorKind::input,
                fmt::format("equal stamps in {} may close cycles of more events than can "
                            "be searched at once",
                            share_.trace.path));
  }
  Incidence incidence(problem_.graph);
  problem_.cycles = settle_cycles(share_, problem_.graph, incidence, suspects);
  return {};
}

}  // namespace entrain::clc
