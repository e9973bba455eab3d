// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "clc/forward.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"

namespace entrain::clc {

/// Forward amortization of a whole graph in an order in which every time that a node waits for is
/// known before the node. The first run finds the order and keeps it. Can always make a pass; runs
/// as many at the same time as it has threads.
class OrderedForward final : public Forward {
 public:
  explicit OrderedForward(const ForwardProblem& problem) : problem_(problem) {}

  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) override;

 private:
  /// A pass that finds the order on its way.
  struct First {
    std::optional<ForwardTimes> pass;  ///< unset: there are cycles, or it was cancelled
    Schedule schedule;
  };

  Result<std::vector<ForwardTimes>> first_run(std::span<const Decimal9> gammas);
  [[nodiscard]] First first_pass(Decimal9 gamma) const;

  const ForwardProblem problem_;
  std::optional<Incidence> incidence_;  ///< made by the first run
  std::optional<Schedule> schedule_;    ///< once it is found
};

}  // namespace entrain::clc
