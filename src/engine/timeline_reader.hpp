// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "engine/timeline.hpp"

namespace entrain::engine {

/// Reads what a timeline is found from: the trace, its sessions, and its edges. Collective.
class TimelineReader {
 public:
  TimelineReader(trace::Workers& workers, const formats::Source& source,
                 const CheckOptions& options, const TimelineUse& use, Progress* progress);

 protected:
  [[nodiscard]] constraints::Context context() const;

  /// Reads the trace. `domains`: per location, or empty; locations with equal numbers get one
  /// process.
  Result<void> read(std::span<const std::uint32_t> domains);

  Result<void> load(std::span<const std::uint32_t> domains);

  /// Makes a trace of the clocks, and the graph of the edges.
  Result<void> take_given();

  /// The graph of the given edges. Returns what it ignores.
  Result<Counters> make_graph();

  /// Builds the graph. Requires mu.
  Result<void> build_graph();

  Result<void> match();

  /// Sets mu of the messages between two machines in the graph of an archive.
  void take_mu();

  trace::Workers& workers_;
  Team& processes_;
  const formats::Source& source_;
  std::optional<formats::GivenEdges> given_;
  CheckOptions options_;
  const TimelineUse& use_;
  Progress* progress_;
  Timeline t_;

 private:
  std::map<LocationIndex, clocks::LocationSamples> exchanges_;  ///< exchanges of given sessions
};

}  // namespace entrain::engine
