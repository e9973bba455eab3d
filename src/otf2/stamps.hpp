// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "otf2/archive.hpp"

namespace entrain::otf2 {

/// Stamps and record types of all events of a location, in stream order.
struct EventStamps {
  std::vector<std::uint64_t> stamps;  ///< as stored
  std::vector<std::uint8_t> types;    ///< OTF2 record types
  /// Per event: 1 for sends, receives and ends of collectives of the application (operation codes
  /// below 17), blocking or not; 0 for all others.
  std::vector<std::uint8_t> communication;
};

/// Reads them. A missing file yields no events. Errors: ErrorKind::input.
Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location);

/// True if the event files of a location hold the same bytes in both archives but for times. Says
/// where they differ otherwise: ErrorKind::output, because `written` is what was written.
Result<void> check_same_records(const Archive& original, const Archive& written,
                                LocationIndex location);

}  // namespace entrain::otf2
