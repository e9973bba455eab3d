// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "match/builder.hpp"

namespace entrain::match {

/// Where the records of a process have gaps: times of MeasurementOnOff, and the end of a file that
/// was cut off.
class Gaps {
 public:
  Gaps(const Builder& builder, std::uint32_t process);

  /// Number of gaps that have ended by `time`. Increases with it. O(log gaps).
  [[nodiscard]] std::uint32_t ended_by(std::uint64_t time) const;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }

 private:
  std::vector<std::uint64_t> ends_;  ///< sorted; Gap::k_open: lasts to the end of the trace
};

/// True if some location of this member has a gap.
bool any_gaps(const Builder& builder);

}  // namespace entrain::match
