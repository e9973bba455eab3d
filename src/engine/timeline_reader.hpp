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

  /// Reads the trace, or makes one of given clocks and edges, and finds the maps by sessions alone.
  /// `domains`: per location, or empty; locations with equal numbers get one process.
  Result<void> read(std::span<const std::uint32_t> domains);

  /// Chooses mu; builds the graph if it is estimated from that.
  Result<void> find_mu();

  /// Builds the graph of an archive, if that is not done yet. Requires mu.
  Result<void> build_graph();

  /// Makes the graph of the given edges. Returns what it ignores.
  Result<Counters> make_graph();

  trace::Workers& workers_;
  Team& processes_;
  const formats::Source& source_;
  std::optional<formats::GivenEdges> given_;
  CheckOptions options_;
  const TimelineUse& use_;
  Progress* progress_;
  Timeline t_;

 private:
  Result<void> load(std::span<const std::uint32_t> domains);
  Result<void> take_given();
  Result<void> match();

  std::map<LocationIndex, clocks::LocationSamples> exchanges_;  ///< exchanges of given sessions
};

}  // namespace entrain::engine
