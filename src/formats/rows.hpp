// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "formats/recording.hpp"
#include "trace/trace.hpp"

namespace entrain::formats {

/// The events of a recording that last, as calls on the locations of a trace, for pictures.
///
/// Where spans of a host overlap, or those of a thread, one is not inside of the other, and no
/// stack of calls can show them. So each row of a clock gets as many locations as it needs: an
/// event goes to the first one where it lies inside of the call that is open, or where none is.
///
/// Example: spans from 0 to 10, 2 to 5 and 4 to 12 of one host make two locations: the first one
/// has a call from 0 to 10 with another one from 2 to 5 inside, the second one that from 4 to 12.
class Rows : public trace::EventReader {
 public:
  /// Reads all events, and keeps those that are wanted. `clocks`: a trace whose locations are the
  /// clocks; those for events follow them. Errors: those of Recording::for_each_work().
  static Result<std::shared_ptr<const Rows>> read(const Recording& recording,
                                                  const trace::Trace& clocks,
                                                  const WorkFilter& is_wanted = {});

  /// The clocks and, behind them, the locations of the events.
  [[nodiscard]] const trace::Trace& trace() const { return trace_; }
  /// Returns the position of the clock of each location behind the clocks.
  [[nodiscard]] std::span<const LocationIndex> clock_of() const { return clock_of_; }
  /// Events that are nowhere: more than 64 others would stand beside them.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  [[nodiscard]] const std::string& path() const override { return trace_.path; }
  [[nodiscard]] const trace::Definitions& definitions() const override {
    return trace_.definitions;
  }
  /// Returns the memory of the calls, bytes.
  [[nodiscard]] std::uint64_t event_bytes(std::span<const LocationIndex> locations) const override;
  /// Nothing is left to scan: trace() has all skeletons.
  [[nodiscard]] Result<std::vector<trace::LocationSkeleton>> scan_all(
      std::span<const LocationIndex> locations, unsigned, Progress*) const override {
    return std::vector<trace::LocationSkeleton>(locations.size());
  }
  [[nodiscard]] Result<std::string> region_at(LocationIndex, std::uint64_t) const override {
    return std::string();
  }
  /// For a clock, the calls of the row in which one begins or ends at this time.
  [[nodiscard]] Result<std::vector<trace::RegionRecord>> regions_around(
      LocationIndex location, std::uint64_t time, std::size_t most) const override;
  [[nodiscard]] Result<void> visit_regions(LocationIndex location, Progress* progress,
                                           const trace::RegionVisitor& visit) const override;

 private:
  struct Call {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t region = 0;
  };
  /// Calls of a location, in order of begin.
  using Lane = std::vector<Call>;

  /// The calls of a location; none of a clock itself.
  [[nodiscard]] std::span<const Call> calls_of(LocationIndex location) const;
  void add_row(LocationIndex clock, const std::string& name, std::vector<Call> calls);

  trace::Trace trace_;
  std::vector<Lane> lanes_;  ///< lanes of the locations behind the clocks
  std::vector<LocationIndex> clock_of_;
  std::uint64_t left_out_ = 0;
  std::uint64_t last_id_ = 0;  ///< the largest of all locations
};

}  // namespace entrain::formats
