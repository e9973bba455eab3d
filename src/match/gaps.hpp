// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

/// Gaps in the records of a process: MeasurementOnOff, the end of a truncated file, and the end of
/// a process that ends early (find_gaps()).
class Gaps {
 public:
  Gaps(const Builder& builder, std::uint32_t process);

  /// Number of these ends, sorted by stamp, that lie before all gaps: none is missing there if only
  /// gaps lose records.
  template <class Ends>
  [[nodiscard]] std::uint32_t count_before(const Ends& ends) const {
    const auto after =
        std::find_if(ends.begin(), ends.end(), [&](const auto& end) { return end.time > first_; });
    return static_cast<std::uint32_t>(after - ends.begin());
  }

  /// Number of gaps that have ended by `time`. Increases with it. O(log gaps).
  [[nodiscard]] std::uint32_t ended_by(std::uint64_t time) const;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::vector<std::uint64_t> ends_;  ///< sorted; Gap::k_open: lasts to the end of the trace
  /// Last stamp before all gaps and before every receive that was posted and never completed, as it
  /// may have been completed in a gap.
  std::uint64_t first_ = trace::Gap::k_open;
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
