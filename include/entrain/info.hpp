// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/report.hpp>

namespace entrain {

/// The contents of an archive, as `entrain info` shows them.
struct ArchiveInfo {
  std::string archive;  ///< path of the anchor file
  std::string format;   ///< of a trace that is no OTF2 archive; empty for one
  std::string machine, creator, description;
  std::uint64_t trace_format = 0;
  std::uint64_t locations = 0;
  std::uint64_t empty_locations = 0;
  std::uint64_t processes = 0;
  std::uint64_t nodes = 0;  ///< machine nodes of the system tree
  std::uint64_t events = 0;
  std::uint64_t communication_events = 0;
  Counters communication;  ///< records per kind, e.g. {"MpiSend", 814}
  Counters collectives;    ///< ends per operation, e.g. {"MPI_Allreduce", 80}
  Counters groups;         ///< calls per group of processes; of other formats than OTF2
  std::uint64_t resolution_hz = 0;
  std::uint64_t global_offset_ticks = 0;
  std::uint64_t length_ticks = 0;
  std::uint64_t clock_offset_records = 0;
  std::uint64_t locations_with_clock_offsets = 0;
  std::uint64_t first_ticks = 0;  ///< smallest stored stamp
  std::uint64_t last_ticks = 0;   ///< largest stored stamp
  std::uint64_t event_bytes = 0;  ///< size of all event files
  std::vector<std::pair<std::string, std::string>> properties;
  Completeness completeness;       ///< what the properties say of it
  Counters anomalies;              ///< truncated or missing files, unknown records, ...
  std::vector<std::string> notes;  ///< what the reader had to guess, one sentence each
};

}  // namespace entrain
