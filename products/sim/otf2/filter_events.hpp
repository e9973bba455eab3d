// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <entrain/progress.hpp>

#include "sim/otf2/event_record.hpp"

namespace entrain::otf2 {

/// A MeasurementOnOff record to be written.
struct MeasurementMark {
  std::uint64_t time = 0;  ///< ticks
  bool on = false;
};

/// Decides which records of one event file are kept. One thread uses it.
class EventFilter {
 public:
  virtual ~EventFilter() = default;
  /// True if the record is kept. Asked once per record, in stream order.
  virtual bool keeps(const EventRecord& record) = 0;
  /// True if EventRecord::region is to be filled.
  [[nodiscard]] virtual bool wants_regions() const { return false; }
  /// Records to add, in order of time. Each is written before the first record of the file with its
  /// time or a later one; not at all if there is none.
  [[nodiscard]] virtual std::vector<MeasurementMark> marks() const { return {}; }
};

/// Counts of a file that was written.
struct FilteredEvents {
  std::uint64_t events = 0;  ///< records of the new file, with the marks
  std::uint64_t marks = 0;
};

/// Copies an event file without the records that `filter` does not keep, in chunks of the same
/// size. The bytes of a record that is kept, and of its attribute lists, stay as they are. Stamps
/// are written where time changes and at the begin of chunks, and headers of chunks count the
/// records that are there. A truncated file stays truncated: it gets no end mark. What follows an
/// end mark is left out. `to` must not exist. `progress`, which may be null, counts bytes read and
/// may cancel. Takes memory for two chunks.
///
/// Example: of the records
///
///     05 E8 03 00 00 00 00 00 00 | 0C 01 07 | 05 F2 03 00 00 00 00 00 00 | 0E 08 ... | 0D 01 07
///     stamp 1000                   enter 7    stamp 1010                   mpi_send    leave 7
///
/// the mpi_send is lost; its stamp stays for the Leave:
///
///     05 E8 03 00 00 00 00 00 00 | 0C 01 07 | 05 F2 03 00 00 00 00 00 00 | 0D 01 07
///
/// Errors: ErrorKind::input for a damaged file, ErrorKind::output, ErrorKind::interrupted.
Result<FilteredEvents> filter_events(const EventFile& file, const std::filesystem::path& to,
                                     EventFilter& filter, Progress* progress);

}  // namespace entrain::otf2
