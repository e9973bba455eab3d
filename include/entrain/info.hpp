// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/report.hpp>

namespace entrain {

/// Result of inspect(): the contents of a trace.
struct ArchiveInfo {
  std::string archive;  ///< path of the anchor file, or of the files
  std::string format;   ///< name of the format; empty: OTF2
  std::string machine, creator, description;
  std::uint64_t trace_format = 0;     ///< version of the OTF2 trace format
  std::uint64_t locations = 0;        ///< OTF2 locations, or clocks
  std::uint64_t empty_locations = 0;  ///< those without events
  std::uint64_t processes = 0;
  std::uint64_t nodes = 0;  ///< machine nodes of the system tree
  std::uint64_t events = 0;
  std::uint64_t communication_events = 0;
  Counters communication;                 ///< records per kind, e.g. {"MpiSend", 814}
  Counters collectives;                   ///< ends per operation, e.g. {"MPI_Allreduce", 80}
  Counters groups;                        ///< calls per group of processes; empty for OTF2
  std::uint64_t resolution_hz = 0;        ///< ticks per second
  std::uint64_t global_offset_ticks = 0;  ///< global offset of the definitions: no stamp is below
  std::uint64_t length_ticks = 0;         ///< trace length of the definitions
  std::uint64_t clock_offset_records = 0;
  std::uint64_t locations_with_clock_offsets = 0;
  std::uint64_t first_ticks = 0;                                ///< smallest stored stamp
  std::uint64_t last_ticks = 0;                                 ///< largest stored stamp
  std::uint64_t event_bytes = 0;                                ///< size of all event files
  std::vector<std::pair<std::string, std::string>> properties;  ///< names and values
  Completeness completeness;       ///< completeness that the properties state
  Counters anomalies;              ///< truncated or missing files, unknown records, ...
  std::vector<std::string> notes;  ///< guesses of the reader, one sentence each
};

}  // namespace entrain
