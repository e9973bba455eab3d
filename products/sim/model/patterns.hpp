// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include <entrain/synth.hpp>

#include "sim/model/machine.hpp"

namespace entrain::sim {

/// The work of a synthetic program between MPI_Init and MPI_Finalize. The operations of iteration i
/// and of i + period() are the same from i = 1 on, whatever the times are.
class Pattern {
 public:
  virtual ~Pattern() = default;
  [[nodiscard]] virtual std::uint64_t period() const = 0;
  virtual void begin(Machine&) {}
  virtual void iteration(Machine& machine, std::uint64_t i) = 0;
  virtual void end(Machine&) {}
};

std::unique_ptr<Pattern> make_pattern(SynthPattern pattern);

}  // namespace entrain::sim
