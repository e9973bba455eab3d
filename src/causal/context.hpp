// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/progress.hpp>

#include "clocks/rate_prior.hpp"
#include "clocks/reference.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::causal {

/// The trace that the functions of this room work on, its edges, and how to work. Holds references,
/// which must outlive it. Cheap to copy.
struct Context {
  trace::Share share;                  ///< of this process; the team is that of the run's processes
  const match::Graph& graph;           ///< edges of the trace, with the nodes of this process
  MuTicks mu{};                        ///< least latency of a message per latency class, ticks
  clocks::RatePrior prior{};           ///< what is assumed of clocks
  clocks::Reference reference{};       ///< by which unmeasured clocks are set
  unsigned threads = 1;                ///< for loops inside this process; 0: all cores
  const Progress* progress = nullptr;  ///< asked whether to stop; may be null

  [[nodiscard]] Team& team() const { return share.team; }
  [[nodiscard]] const trace::Trace& trace() const { return share.trace; }
};

}  // namespace entrain::causal
