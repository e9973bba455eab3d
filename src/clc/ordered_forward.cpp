// SPDX-License-Identifier: BSD-3-Clause
#include "clc/ordered_forward.hpp"

#include <algorithm>
#include <utility>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "clc/forward_pass.hpp"
#include "clc/scheduler.hpp"

namespace entrain::clc {

namespace {

/// Passes that may find the order at the same time: each needs memory for an order of its own.
constexpr std::size_t k_most_first_passes = 2;

}  // namespace

Result<std::vector<ForwardTimes>> OrderedForward::run(std::span<const Decimal9> gammas) {
  if (!incidence_) incidence_.emplace(problem_.graph);
  gammas = gammas.first(std::min<std::size_t>(worker_count(problem_.threads), gammas.size()));
  if (!schedule_ && gammas.size() <= k_most_first_passes) {
    TRY_ASSIGN(std::vector<ForwardTimes> passes, first_run(gammas));
    if (!passes.empty()) return passes;
  }
  if (!schedule_) {
    TRY_ASSIGN(schedule_,
               make_schedule(problem_.graph, *incidence_, problem_.cycles, problem_.cancel));
  }
  std::vector<ForwardTimes> passes(gammas.size());
  for_each_in_parallel(problem_.threads, gammas.size(), [&](std::size_t i) {
    passes[i] = ForwardPass(problem_, *incidence_).run(*schedule_, gammas[i], problem_.cancel);
  });
  TRY(problem_.cancel.check());
  return passes;
}

/// Empty if the graph has cycles.
Result<std::vector<ForwardTimes>> OrderedForward::first_run(std::span<const Decimal9> gammas) {
  std::vector<First> first(gammas.size());
  for_each_in_parallel(problem_.threads, gammas.size(),
                       [&](std::size_t i) { first[i] = first_pass(gammas[i]); });
  TRY(problem_.cancel.check());
  std::vector<ForwardTimes> passes;
  for (First& f : first) {
    if (f.pass) passes.push_back(*std::move(f.pass));
  }
  if (!passes.empty()) schedule_ = std::move(first[0].schedule);
  return passes;
}

OrderedForward::First OrderedForward::first_pass(Decimal9 gamma) const {
  ForwardPass pass(problem_, *incidence_);
  Scheduler scheduler(problem_.graph, *incidence_, problem_.cycles,
                      [&](const Step& step) { pass.evaluate(step); });
  pass.start(gamma);
  if (!scheduler.run(problem_.cancel)) return {};
  return {pass.finish(), scheduler.take()};
}

}  // namespace entrain::clc
