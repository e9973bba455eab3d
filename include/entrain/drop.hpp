// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace entrain {

/// The records of messages and collectives that drop() can lose. Each is the OTF2 record of the
/// name that name_of() returns.
enum class RecordKind : std::uint8_t {
  send,
  isend,
  isend_complete,
  recv,
  irecv_request,
  irecv,
  request_test,
  request_cancelled,
  collective_begin,
  collective_end,
  nb_request,
  nb_complete,
};
inline constexpr std::size_t k_record_kinds = 12;

/// Name of the OTF2 record, e.g. "MpiSend" for RecordKind::send. Never null.
const char* name_of(RecordKind kind);

/// A loss in a part of the time of some locations.
struct DropStretch {
  double share = 0;            ///< share of the span of each chosen location, 0 to 1; 0: nothing
  double locations = 1.0 / 3;  ///< share of the locations that communicate, above 0 to 1
};

/// Options of drop(): ways to lose records. They can be combined: a record is lost if any of them
/// loses it.
struct DropOptions {
  std::uint64_t seed = 1;
  double random = 0;    ///< probability with which each record is lost by itself, 0 to 1
  DropStretch windows;  ///< all records of messages and collectives in one window per location
  bool mark_windows = false;  ///< write MeasurementOnOff at the ends of windows
  DropStretch tail;           ///< all records of any kind after a point
  /// Calls of which all records are lost: send, isend, recv, irecv, collective; a collective
  /// operation, for example Allreduce; or the name of a region: all records written in it.
  std::vector<std::string> calls;
  bool force = false;    ///< replace an unchanged earlier result
  unsigned threads = 0;  ///< worker threads; 0: all cores
};

/// Stored ticks from `begin` on, before `end`.
struct DropRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Numbers of records.
struct DropCount {
  std::uint64_t records = 0;  ///< records before the loss
  std::uint64_t lost = 0;     ///< records of these that were lost
};

/// The losses of one location.
struct DropLocation {
  std::uint64_t id = 0;  ///< OTF2 location id
  std::string name;
  std::string process;               ///< name of its process
  DropCount communication;           ///< records of any RecordKind
  std::uint64_t others_lost = 0;     ///< records of other kinds, lost by DropOptions::tail
  std::optional<DropRange> window;   ///< range in which its communication was lost
  std::optional<std::uint64_t> end;  ///< tick from which on all its records were lost
};

/// Result of drop().
struct DropReport {
  std::string input, output;  ///< paths
  std::uint64_t seed = 0;
  std::uint64_t events = 0;                       ///< records of all kinds before the loss
  std::uint64_t lost = 0;                         ///< records of all kinds
  std::uint64_t marks = 0;                        ///< MeasurementOnOff records written
  std::uint64_t resolution_hz = 1;                ///< ticks per second
  std::array<DropCount, k_record_kinds> kinds{};  ///< numbers by RecordKind
  std::vector<DropLocation> locations;            ///< all, in order of definition
  /// Folders that killed runs had left near the output and that were removed.
  std::uint64_t leftovers_removed = 0;
};

}  // namespace entrain
