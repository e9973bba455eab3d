// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/align_records.hpp"
#include "match/builder.hpp"

namespace entrain::match {

/// Gaps in the records of a process: MeasurementOnOff, the end of a truncated file, and the end of
/// a process that ends early (find_gaps()).
class Gaps {
 public:
  /// Operations to be marked. A receive of which half is recorded, in a process without gaps too,
  /// may be one on any channel of messages, and is no call.
  enum class Of { messages, calls };
  /// O(locations + gaps), and O(events) for messages.
  Gaps(const Builder& builder, std::uint32_t process, Of of);

  /// Sets the properties of ends and of their side that depend on gaps: EndRecord::after_gap,
  /// SideFacts::before_gaps and ends_in_gap. Times are stamps in order. O(n log gaps).
  void mark(std::span<EndRecord> ends, SideFacts& facts) const;

  /// True if an operation that was posted at this stamp, and all after it, follow all gaps.
  [[nodiscard]] bool all_ended_by(std::uint64_t posted) const { return posted >= last_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  void find_half_receives(const Builder& builder, std::uint32_t process);

  std::vector<std::uint64_t> ends_;  ///< sorted; Gap::k_open: lasts to the end of the trace
  /// Last stamp before all gaps, and first one after them, and after all receives of which half is
  /// recorded: those that never completed may have done so in a gap.
  std::uint64_t first_ = trace::Gap::k_open, last_ = 0;
};

/// True if some location of this member has a gap that ends, so records between others are missing.
bool any_inner_gaps(const Builder& builder);

/// Finds the processes that have gaps. A process that ends early, with MPI_Init but without
/// MPI_Finalize, has a gap after its last record. Sets Builder::has_gaps and ends_early.
/// Collective; does nothing when called again. O(events).
///
/// Example: of four processes that write traces of fixed size, rank 2 fills its buffer after 10 s.
/// It has MPI_Init and no MPI_Finalize, so a gap begins after its last record.
void find_gaps(Builder& builder);

}  // namespace entrain::match
