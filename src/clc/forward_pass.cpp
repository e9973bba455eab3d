// SPDX-License-Identifier: BSD-3-Clause
#include "clc/forward_pass.hpp"

namespace entrain::clc {

template class ForwardSteps<ForwardPass>;

ForwardTimes ForwardPass::run(const Schedule& schedule, Decimal9 gamma, const Cancel& cancel) {
  constexpr std::size_t k_poll = 1 << 14;  // steps between two looks at `cancel`
  start(gamma);
  for (std::size_t s = 0; s < schedule.size();) {
    if (cancel.asked()) return {};
    for (const std::size_t end = s + std::min(k_poll, schedule.size() - s); s < end; ++s) {
      evaluate(schedule[s]);
    }
  }
  return finish();
}

}  // namespace entrain::clc
