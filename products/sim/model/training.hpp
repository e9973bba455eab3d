// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/synth.hpp>

#include "sim/model/random.hpp"
#include "sim/model/workload.hpp"

namespace entrain::sim {

/// Operation that the ranks of a training run do together.
enum class TrainingOperation : std::uint8_t {
  broadcast,
  all_gather,
  all_to_all,
  send,
  receive,
  reduce_scatter,
  all_reduce,
};

/// Which ranks do an operation together.
enum class Grouping : std::uint8_t {
  world,   ///< all
  node,    ///< those of a node
  across,  ///< one of each node
  pair,    ///< two neighbours
};
inline constexpr std::size_t k_groupings = 4;

/// Ranks first, first + stride, ...
struct TrainingGroup {
  Grouping grouping = Grouping::world;
  std::uint32_t number = 0;  ///< position in its grouping
  std::uint32_t first = 0, stride = 1, size = 0;
};

/// A call of one rank: a range on the processor in which a kernel is launched, and the kernel.
struct TrainingCall {
  TrainingOperation operation = TrainingOperation::broadcast;
  TrainingGroup group;
  std::uint64_t sequence = 0;            ///< number in the calls of its group; starts with 1
  std::uint64_t elements = 0;            ///< elements that the rank contributes
  std::uint32_t source = 0, target = 0;  ///< ranks; of send and receive only
  std::uint64_t range_begin = 0, range_end = 0, launch_begin = 0, launch_end = 0;  ///< ns
  std::uint64_t begin = 0, end = 0;                                                ///< ns
};

/// Takes what one rank does, in order of its ends.
class TrainingSink {
 public:
  TrainingSink() = default;
  TrainingSink(const TrainingSink&) = delete;
  TrainingSink& operator=(const TrainingSink&) = delete;
  virtual ~TrainingSink() = default;

  /// The processor computes, by itself.
  virtual void compute(std::uint64_t begin, std::uint64_t end) = 0;
  virtual void call(const TrainingCall& call) = 0;
  /// A step of the training loop; `number` counts from 0 on.
  virtual void step(std::uint64_t begin, std::uint64_t end, std::uint64_t number) = 0;
};

/// Numbers of a run, over all ranks.
struct TrainingCounts {
  std::uint64_t steps = 0;
  std::uint64_t calls = 0;        ///< calls of ranks
  std::uint64_t collectives = 0;  ///< collectives of groups
  std::uint64_t messages = 0;     ///< a send and a receive each
};

/// A training loop in true time, ready to run; as Workload, it can be run several times at once and
/// does the same each time. Nobody ends a collective before all have begun it, nor a broadcast
/// before its root has. Memory: a hundred bytes per rank.
class Training {
 public:
  /// Events of a call: range, launch, kernel, and the two ends of the arrow between them; a launch
  /// and a kernel of each further device.
  static std::uint64_t events_per_call(std::uint64_t devices) { return 5 + 2 * (devices - 1); }
  /// Events of a step beside those of calls: its range; with several devices, a call that waits for
  /// each, and a record of that.
  static std::uint64_t events_per_step(std::uint64_t devices) {
    return devices > 1 ? 1 + 2 * devices : 1;
  }

  /// Errors: ErrorKind::usage for options out of their range, fewer than two ranks, events that are
  /// too few for one step, and times too long for a trace.
  static Result<Training> plan(const SynthOptions& options);

  [[nodiscard]] const TrainingCounts& counts() const { return counts_; }

  /// Runs the loop; what ranks `first`, `first` + 1, ... do goes to `sinks`. `after_step` may end
  /// the run with an error, which is returned.
  Result<WorkloadSpan> run(std::uint32_t first, std::span<TrainingSink* const> sinks,
                           const std::function<Result<void>()>& after_step) const;

 private:
  class Loop;
  explicit Training(const SynthOptions& options);

  [[nodiscard]] TrainingGroup group_of(std::uint32_t rank, Grouping grouping) const;
  [[nodiscard]] std::uint64_t calls_per_step(std::uint32_t rank) const;
  [[nodiscard]] std::uint64_t events_of(std::uint32_t rank) const;

  SynthOptions options_;
  std::uint32_t ranks_, per_node_;
  TrainingCounts counts_;
};

}  // namespace entrain::sim
