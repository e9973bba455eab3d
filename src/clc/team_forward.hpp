// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "clc/forward.hpp"
#include "clc/incidence.hpp"
#include "clc/rounds.hpp"
#include "clc/schedule.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Forward amortization in a team of several members, by rounds of news (see ForwardRounds). The
/// first run finds the order of each member's nodes and the cycles, also those that cross members.
/// Can always make a pass, one at a time.
class TeamForward final : public Forward {
 public:
  /// All references must outlive this.
  TeamForward(const trace::Share& share, const ForwardProblem& problem)
      : share_(share), problem_(problem), incidence_(problem.graph) {}

  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) override;

 private:
  Result<void> order();
  Result<bool> treat_cycles(const std::vector<bool>& suspects);
  Result<std::optional<ForwardTimes>> patient_pass(Decimal9 gamma);
  Result<ForwardTimes> pass(Decimal9 gamma);
  ForwardRounds& rounds();

  const trace::Share share_;
  const ForwardProblem problem_;
  Incidence incidence_;
  std::optional<Schedule> schedule_;
  std::optional<ForwardRounds> rounds_;
  bool cycles_known_ = false;  ///< those that cross members too
};

}  // namespace entrain::clc
