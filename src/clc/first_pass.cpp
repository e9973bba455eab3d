// SPDX-License-Identifier: BSD-3-Clause
#include "clc/first_pass.hpp"

namespace entrain::clc {

FirstPass::FirstPass(const match::Graph& graph, const Incidence& incidence,
                     std::span<const std::int64_t> presync, const MuTicks& mu, std::int64_t delta)
    : Scheduler(graph, incidence, {}, {}), pass_(graph, incidence, schedule_, presync, mu, delta) {}

std::optional<Forward> FirstPass::run(Decimal9 gamma, const Progress* progress) {
  pass_.start(gamma);
  if (!Scheduler::run(progress)) return std::nullopt;
  return pass_.finish();
}

void FirstPass::emit(const Step& step) {
  Scheduler::emit(step);
  pass_.evaluate(step);
}

}  // namespace entrain::clc
