// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/align_records.hpp"
#include "match/operations.hpp"

namespace entrain::match {

/// Gaps in the records of a process: MeasurementOnOff, the end of a truncated file, and the end of
/// a process that ends early, with MPI_Init but without MPI_Finalize on its locations.
///
/// Example: of four processes that write traces of fixed size, rank 2 fills its buffer after 10 s.
/// It has MPI_Init and no MPI_Finalize, so a gap begins after its last record.
class Gaps {
 public:
  /// For calls. O(locations + gaps).
  Gaps(const Builder& builder, std::uint32_t process);
  /// For messages: a receive of which half is recorded, in a process without gaps too, may be one
  /// on any channel.
  Gaps(const Builder& builder, const Operations& operations);

  /// Sets the properties of ends and of their side that depend on gaps: EndRecord::after_gap,
  /// SideFacts::before_gaps and ends_in_gap. Times are stamps in order. O(n log gaps).
  void mark(std::span<EndRecord> ends, SideFacts& facts) const;

  /// True if an operation that was posted at this stamp, and all after it, follow all gaps.
  [[nodiscard]] bool all_ended_by(std::uint64_t posted) const { return posted >= last_; }
  [[nodiscard]] bool any() const { return !ends_.empty(); }

 private:
  std::vector<std::uint64_t> ends_;  ///< sorted; Gap::k_open: lasts to the end of the trace
  /// Last stamp before all gaps, and first one after them, and after all receives of which half is
  /// recorded: those that never completed may have done so in a gap.
  std::uint64_t first_ = trace::Gap::k_open, last_ = 0;
};

/// True if some location of this member has a gap that ends, so records between others are missing.
bool any_inner_gaps(const Builder& builder);

/// Finds the processes that have gaps: sets Builder::has_gaps. Collective; does nothing when called
/// again. O(locations + gaps).
void find_gaps(Builder& builder);

}  // namespace entrain::match
