// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "clc/forward_steps.hpp"

namespace entrain::clc {

/// A pass over a whole graph, every step once.
class ForwardPass final : public ForwardSteps<ForwardPass> {
 public:
  using ForwardSteps::ForwardSteps;

  /// All steps of `schedule` from the beginning. Ends early, with a result of no use, when `cancel`
  /// asks for it.
  ForwardTimes run(const Schedule& schedule, Decimal9 gamma,
                   const Cancel& cancel = Cancel(nullptr));
};

// Compiled once, in forward_pass.cpp.
extern template class ForwardSteps<ForwardPass>;

}  // namespace entrain::clc
