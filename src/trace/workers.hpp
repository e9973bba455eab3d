// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <entrain/error.hpp>

#include "base/team.hpp"
#include "trace/share.hpp"

namespace entrain::trace {

/// The processes of this run and the threads of each, which do the work.
///
/// Several processes share out the locations of a trace once: each reads, holds and writes its own
/// ones, with its threads side by side. A single process holds everything, and its threads share
/// the locations out anew for every step that needs a team. Used by one thread per process.
///
/// Example: with mpirun -n 3 and 8 threads, run() has a team of 3 members, and each may use 8
/// threads for its loops. One process with 8 threads and a large trace has a team of 8 members,
/// each with 1 thread for its loops.
class Workers {
 public:
  /// This process alone; `threads` 0: all cores.
  explicit Workers(unsigned threads) : processes_(&solo_), threads_(threads) {}
  /// `processes` must outlive this; `threads` of each.
  Workers(Team& processes, unsigned threads) : processes_(&processes), threads_(threads) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] Team& processes() { return *processes_; }
  /// Threads for loops inside a process; 0: all cores.
  [[nodiscard]] unsigned threads() const { return threads_; }
  [[nodiscard]] bool alone() const { return processes_->size() == 1; }
  /// True in the process that speaks for all.
  [[nodiscard]] bool first() const { return processes_->rank() == 0; }

  /// True for one member per process of the team that works in run(): that one hands the result to
  /// its process.
  [[nodiscard]] bool speaks(const Team& team) const { return !alone() || team.rank() == 0; }

  /// The weight of each location in a division among the processes: the size of its event file.
  /// Collective. `bytes` is asked for some of the locations at each process; nobody is asked where
  /// there is one process only.
  [[nodiscard]] std::vector<std::uint64_t> weigh(
      const Definitions& definitions, const std::function<std::uint64_t(LocationIndex)>& bytes);

  /// The work of one member of a team, on its share; loops of its own may use `threads` threads.
  using Body = std::function<Result<void>(const Share& share, unsigned threads)>;

  /// Runs a team over the scanned locations of a trace: the processes, among which `partition`
  /// divides them, or the threads of a single process. `body` must return the same error at every
  /// member. Collective.
  Result<void> run(const Trace& trace, const Partition& partition, const Body& body);

 private:
  Solo solo_;
  Team* processes_;
  unsigned threads_;
};

/// Limits the anonymous memory of large arrays, and what readers of files keep, while it lives
/// (CheckOptions::memory_limit_bytes; 0: no limit). When it is destroyed, memory that arrays keep
/// for later goes back to the system.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// To be called when files are read: what was taken for them is not left for arrays. Nothing
  /// without a limit.
  static void set_aside_what_is_read();

 private:
  bool active_;
};

}  // namespace entrain::trace
