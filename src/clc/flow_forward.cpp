// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_forward.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clc/team_cycles.hpp"

namespace entrain::clc {

Result<std::vector<ForwardTimes>> FlowForward::run(std::span<const Decimal9> gammas) {
  gammas = gammas.first(std::min(gammas.size(), ForwardFlow::k_most_lanes));
  for (bool settled = false;; settled = true) {
    if (!flow_) flow_.emplace(share_.team, problem_);
    std::optional<std::vector<ForwardTimes>> passes = flow_->run(gammas);
    TRY(problem_.cancel.agree(share_.team));
    if (passes) return *std::move(passes);
    if (settled) break;
    const std::vector<NodeIndex> left(flow_->left().begin(), flow_->left().end());
    flow_.reset();
    TRY_ASSIGN(problem_.cycles, settle_cycles(share_, problem_.graph, problem_.presync, left));
  }
  return fail(ErrorKind::input, fmt::format("{} has events that wait for each other even after "
                                            "all cycles of equal stamps were found",
                                            share_.trace.path));
}

}  // namespace entrain::clc
