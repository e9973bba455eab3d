// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/progress.hpp>

#include "clocks/rate_prior.hpp"
#include "clocks/reference.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::constraints {

/// Arguments that the functions of this folder share: trace, edges and execution. Holds references,
/// which must outlive it. Cheap to copy.
struct Context {
  trace::Share share;                  ///< locations of this process, and the team of all processes
  const match::Graph& graph;           ///< edges between the nodes of this process
  MuTicks mu{};                        ///< least latency of a message per latency class, ticks
  clocks::RatePrior prior{};           ///< assumed limits on clock rates
  clocks::Reference reference{};       ///< choice of the reference for unmeasured clocks
  unsigned threads = 1;                ///< threads of this process; 0: all cores
  const Progress* progress = nullptr;  ///< cancellation; may be null

  [[nodiscard]] Team& team() const { return share.team; }
  [[nodiscard]] const trace::Trace& trace() const { return share.trace; }
};

}  // namespace entrain::constraints
