// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// What is in an event file.
struct EventSpan {
  std::uint64_t events = 0;
  std::uint64_t first = 0, last = 0;  ///< stamps, ticks
};

/// A complete event file out of chunks as the OTF2 library had them in memory or had written them:
/// in order, with event numbers and end marks, up to the last whole record. Without any, an empty
/// event file.
std::string restored_event_file(const std::string& chunks, std::uint64_t chunk_size,
                                EventSpan& span);

}  // namespace entrain::record
