// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_forward.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "clc/team_cycles.hpp"

namespace entrain::clc {

namespace {

/// After so many rounds a pass is asked whether it goes in circles.
constexpr std::uint64_t k_patient_rounds = 1000;

}  // namespace

Result<std::vector<ForwardTimes>> TeamForward::run(std::span<const Decimal9> gammas) {
  if (!schedule_) TRY(order());
  std::vector<ForwardTimes> passes;
  if (!cycles_known_) {
    TRY_ASSIGN(std::optional<ForwardTimes> patient, patient_pass(gammas.front()));
    if (patient) passes.push_back(*std::move(patient));
  }
  if (passes.empty()) {
    TRY_ASSIGN(ForwardTimes times, pass(gammas.front()));
    passes.push_back(std::move(times));
  }
  return passes;
}

/// Finds the order of this member's nodes.
Result<void> TeamForward::order() {
  std::optional<Schedule> schedule =
      order_nodes(problem_.graph, incidence_, problem_.cycles, problem_.cancel);
  TRY(problem_.cancel.agree(share_.team));
  if (share_.team.any(!schedule)) {
    TRY(treat_cycles(std::vector<bool>(problem_.graph.node_count(), true)));
  } else {
    schedule_ = std::move(schedule);
  }
  return {};
}

/// Ties or cuts the cycles among `suspects`; true if there are any.
Result<bool> TeamForward::treat_cycles(const std::vector<bool>& suspects) {
  cycles_known_ = true;
  rounds_.reset();
  const match::GraphSize size = size_between(share_.team, problem_.graph, suspects);
  // The same at every member.
  if (!match::require_countable(size, share_.trace.path)) {
    return fail(ErrorKind::input,
                fmt::format("equal stamps in {} may close cycles of more events than can "
                            "be searched at once",
                            share_.trace.path));
  }
  Cycles cycles = settle_cycles(share_, problem_.graph, incidence_, suspects);
  const bool any = !cycles.tied.empty() || cycles.dropped_components > 0;
  if (!any && schedule_) return false;
  problem_.cycles = std::move(cycles);
  schedule_ = order_nodes(problem_.graph, incidence_, problem_.cycles);
  assert(schedule_);
  return any;
}

ForwardRounds& TeamForward::rounds() {
  if (!rounds_) rounds_.emplace(share_.team, problem_, incidence_, *schedule_);
  return *rounds_;
}

/// A pass before it is known whether cycles cross members. They show in that the times never
/// settle, or in a ring of equal times. Nothing if there are some: then they are known afterwards.
Result<std::optional<ForwardTimes>> TeamForward::patient_pass(Decimal9 gamma) {
  std::optional<ForwardTimes> times = rounds().run(gamma, k_patient_rounds);
  TRY(problem_.cancel.agree(share_.team));
  const std::vector<bool> suspects = times
                                         ? cycle_suspects(share_.team, problem_.graph, times->times)
                                         : std::vector<bool>(problem_.graph.node_count(), true);
  const bool any =
      share_.team.any(std::find(suspects.begin(), suspects.end(), true) != suspects.end());
  cycles_known_ = true;
  if (!any) return times;
  TRY_ASSIGN(const bool found, treat_cycles(suspects));
  if (found) times.reset();
  return times;
}

Result<ForwardTimes> TeamForward::pass(Decimal9 gamma) {
  std::optional<ForwardTimes> times = rounds().run(gamma, 0);
  TRY(problem_.cancel.agree(share_.team));
  return *std::move(times);
}

}  // namespace entrain::clc
