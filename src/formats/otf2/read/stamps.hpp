// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// Stamps and record types of all events of a location, in stream order.
struct EventStamps {
  std::vector<std::uint64_t> stamps;  ///< stored stamps, ticks
  std::vector<std::uint8_t> types;    ///< OTF2 record types
  /// Per event: 1 for sends, receives, and ends of collectives that move data or synchronise
  /// (operation codes below 17), blocking or not; 0 for all others.
  std::vector<std::uint8_t> communication;
};

/// Reads the event file of a location. A missing file yields no events, a truncated one those
/// before its end. Errors: ErrorKind::input for a damaged file.
Result<EventStamps> read_stamps(const Archive& archive, LocationIndex location);

}  // namespace entrain::otf2
