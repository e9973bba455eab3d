// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "clc/forward.hpp"
#include "clc/scheduler.hpp"

namespace entrain::clc {

/// The first forward pass over a whole graph: it finds the order of the nodes on the way, which
/// later passes follow.
class FirstPass final : private Scheduler {
 public:
  /// All references must outlive this. The graph has no ghosts.
  FirstPass(const match::Graph& graph, const Incidence& incidence,
            std::span<const std::int64_t> presync, const MuTicks& mu, std::int64_t delta);

  /// As ForwardPass::run(). Nothing if the graph has cycles, or if the user wants
  /// to stop.
  std::optional<Forward> run(Decimal9 gamma, const Progress* progress);
  /// The order, after a run.
  using Scheduler::take;

 private:
  void emit(const Step& step) override;

  ForwardPass pass_;
};

}  // namespace entrain::clc
