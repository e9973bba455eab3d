// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::record {

/// The number of events in an event file, and their first and last time.
struct EventSpan {
  std::uint64_t events = 0;
  std::uint64_t first = 0, last = 0;  ///< stamps, ticks
  /// Bytes that were written and are left out: behind the last complete record, which a stopped
  /// thread leaves, or behind damage.
  std::uint64_t lost_bytes = 0;
};

/// A complete event file from the chunks that the OTF2 library had in memory or had written, in any
/// order: sorted, with event numbers and end marks, up to the last complete record. It ends at a
/// gap, as the records after it cannot be placed, and at the first record that the recorder cannot
/// have written. Behind the last record it says that nothing was recorded from there on. Without
/// chunks, an empty event file.
std::string restored_event_file(const std::string& chunks, std::uint64_t chunk_size,
                                EventSpan& span);

}  // namespace entrain::record
