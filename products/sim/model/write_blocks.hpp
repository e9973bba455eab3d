// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "sim/model/workload.hpp"

namespace entrain::sim {

/// Events of a worker between two looks at progress and errors.
inline constexpr std::uint64_t k_events_between_looks = 100'000;

/// The files of a run: one for each unit, as processes and ranks are.
struct RunFiles {
  std::uint64_t units = 0;
  unsigned threads = 0;  ///< 0: all cores
  Progress* progress = nullptr;
};

/// Result of write_in_blocks().
struct WrittenFiles {
  WorkloadSpan span;        ///< times of the run
  std::uint64_t bytes = 0;  ///< size of all files
};

/// Writes the files of all units: a block of neighbours per thread, each with a run of the program
/// of its own, so that no thread waits for another one.
///
/// `make(unit)` returns a pointer to the File of a unit, which is a Sink and has ok(), close(),
/// size() and events(), the number of events so far. `run(first, sinks, look)` runs the program for
/// the units from `first` on and calls look() now and then; `finish(unit, file)` is called when a
/// file is complete. Errors: those of these functions, and ErrorKind::interrupted.
template <class Sink, class Make, class Run, class Finish>
Result<WrittenFiles> write_in_blocks(const RunFiles& files, Make make, Run run, Finish finish) {
  WrittenFiles written;
  std::mutex mutex;
  const auto write_block = [&](std::uint64_t first, std::uint64_t last) -> Result<void> {
    std::vector<decltype(make(first))> block;
    std::vector<Sink*> sinks;
    for (std::uint64_t unit = first; unit < last; ++unit) {
      block.push_back(make(unit));
      sinks.push_back(block.back().get());
    }
    std::uint64_t reported = 0;
    const auto report = [&](std::uint64_t least) -> Result<void> {
      std::uint64_t events = 0;
      for (const auto& file : block) events += file->events();
      if (events < reported + least) return {};
      if (files.progress != nullptr) files.progress->advance(events - reported);
      reported = events;
      TRY(Cancel(files.progress).check());
      for (const auto& file : block) {
        if (!file->ok()) return file->close();
      }
      return {};
    };
    TRY_ASSIGN(const WorkloadSpan span, run(static_cast<std::uint32_t>(first), sinks,
                                            [&] { return report(k_events_between_looks); }));
    TRY(report(0));
    std::uint64_t bytes = 0;
    for (std::uint64_t unit = first; unit < last; ++unit) {
      auto& file = *block[unit - first];
      TRY(file.close());
      TRY(finish(static_cast<std::uint32_t>(unit), file));
      bytes += file.size();
    }
    const std::lock_guard lock(mutex);
    written.span = span;  // the same for every block
    written.bytes += bytes;
    return {};
  };
  const std::uint64_t blocks = std::min<std::uint64_t>(worker_count(files.threads), files.units);
  TRY(parallel_for(files.threads, blocks, [&](std::size_t block) {
    return write_block(files.units * block / blocks, files.units * (block + 1) / blocks);
  }));
  return written;
}

}  // namespace entrain::sim
