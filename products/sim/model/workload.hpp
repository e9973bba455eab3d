// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/synth.hpp>

#include "sim/model/event_sink.hpp"
#include "sim/model/layout.hpp"
#include "sim/model/timing.hpp"

namespace entrain::sim {

/// Errors: ErrorKind::usage for options out of their range (see SynthOptions).
Result<void> check_options(const SynthOptions& options);
/// The times that options ask for, in ticks.
Timing timing_of(const SynthOptions& options);

/// Numbers of a run of a synthetic program, over all processes.
struct WorkloadCounts {
  std::uint64_t events = 0;
  std::uint64_t communication = 0;  ///< events that a skeleton holds
  std::uint64_t messages = 0;
  std::uint64_t collectives = 0;
  std::uint64_t slots = 0;  ///< times that a process computes
};

/// First and last time of a run, ticks.
struct WorkloadSpan {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// A synthetic program, ready to run. It can be run several times, also at the same time, and does
/// the same each time. A run reports the events of the processes asked for and simulates the
/// others. That costs little: the calls of user functions between two communications are made up
/// for reported processes only. Memory: a hundred bytes per process.
class Workload {
 public:
  /// Decides how many iterations and functions `options` mean. Errors: ErrorKind::usage for options
  /// out of their range (see SynthOptions) or times too long for a trace.
  static Result<Workload> plan(const SynthOptions& options);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t iterations() const { return iterations_; }
  /// Numbers of the whole run.
  [[nodiscard]] const WorkloadCounts& counts() const { return counts_; }

  /// Runs the program; the events of processes `first`, `first` + 1, ... go to `sinks`.
  /// `after_iteration` may end the run with an error, which is returned.
  Result<WorkloadSpan> run(std::uint32_t first, std::span<EventSink* const> sinks,
                           const std::function<Result<void>()>& after_iteration) const;

 private:
  Workload(const SynthOptions& options, Layout layout)
      : options_(options), layout_(std::move(layout)) {}

  SynthOptions options_;
  Layout layout_;
  std::uint64_t iterations_ = 0;
  std::uint64_t pairs_ = 0;  ///< calls of functions of the user
  WorkloadCounts counts_;
};

}  // namespace entrain::sim
