// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "clc/forward.hpp"
#include "clc/forward_flow.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Forward amortization by a data-flow: members of a team send each other what they wait for (see
/// ForwardFlow). The first run finds the cycles, also those that cross members. Can always make
/// passes, up to ForwardFlow::k_most_lanes together. The gammas must be the same at every member.
class FlowForward final : public Forward {
 public:
  /// All references must outlive this.
  FlowForward(const trace::Share& share, const ForwardProblem& problem)
      : share_(share), problem_(problem) {}

  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) override;

 private:
  const trace::Share share_;
  const ForwardProblem problem_;
  std::optional<ForwardFlow> flow_;  ///< set while the graph stays as it is
};

}  // namespace entrain::clc
