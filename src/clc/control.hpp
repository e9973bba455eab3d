// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "clc/amortize.hpp"
#include "clc/forward.hpp"
#include "clc/schedule.hpp"

namespace entrain::clc {

/// What forward amortization needs beside the graph; all must outlive the call.
struct ControlInput {
  Team* team = nullptr;
  const trace::Partition* partition = nullptr;
  const std::string* path = nullptr;  ///< of the trace, for messages
  const Options* options = nullptr;
  const Progress* progress = nullptr;  ///< may be null
};

/// The forward pass that was taken, and how it was found.
struct ForwardResult {
  Forward pass;
  Schedule schedule;  ///< the order of the nodes; empty where none was needed
  std::vector<AmortizationPass> passes;
  Decimal9 gamma;
  Counters cycles;  ///< as Amortization::cycles
};

/// Forward amortization with the control loop for gamma, unless Options::gamma fixes it
/// (docs/method.md, section 4). `presync` has C of all nodes, ghosts too. Cycles may cost the graph
/// edges. Collective; bit-identical for every team and any number of threads. Errors, told to all
/// members: as of amortize().
Result<ForwardResult> amortize_forward(const ControlInput& input, match::Graph& graph,
                                       std::span<const std::int64_t> presync);

}  // namespace entrain::clc
