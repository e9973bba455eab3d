// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace entrain::record {

/// An exchange of a clock session, as the child saw it. Times are ticks of 1 ns.
///
/// Example: the child sends at 1,000,000 of its own clock, the parent answers when its clock shows
/// 5,000,300, and the child has the answer at 1,000,800. Then `local` = 1,000,400, `parent` =
/// 5,000,300 and `round_trip` = 800. The answer was given between the two stamps of the child, so
/// the parent's clock is ahead by 5,000,300 - 1,000,400 = 3,999,900 ticks, give or take 400 (half
/// of the round trip), however long each of the two messages took. clock_points adds a tick for the
/// resolution of the clocks: the ClockOffset record says 3,999,900 +- 401.
struct ClockSample {
  std::uint32_t session = 0;
  std::uint64_t local = 0;       ///< child's clock, middle between its send and its receive
  std::uint64_t parent = 0;      ///< parent's clock when it answered
  std::uint64_t round_trip = 0;  ///< child's clock, receive minus send
  bool kept = true;              ///< false: among the slowest of the session, left aside
};

/// The words by which a journal names the limit that ended the recording of its process.
inline constexpr const char *k_limit_size = "size", *k_limit_locations = "locations";

struct JournalRegion {
  std::string name;
  char role = 'm';  ///< m: function of MPI, u: user region, r: region of the recorder
};

struct JournalComm {
  std::string key;               ///< equal in all members, different from every other communicator
  std::string name;              ///< "" if it has none
  char kind = 'x';               ///< x: intra, i: inter, s: MPI_COMM_SELF
  std::string group_a, group_b;  ///< world ranks, as of join_ranks; only one member notes them
  /// Local number of the communicator from which this one was made or, for an inter-communicator,
  /// through which its groups met. Only members that know it note it.
  std::optional<std::uint32_t> parent;
};

struct JournalWindow {
  std::string key;   ///< equal in all members, as for communicators
  std::string name;  ///< "" if it has none
  std::uint32_t comm = 0;
};

struct JournalLocation {
  std::string name;
  std::uint64_t events = 0, first = 0, last = 0;  ///< stamps of its own clock, ticks
  std::uint64_t truth_first = 0, truth_last = 0;  ///< the same stamps in true time
};

/// The content of one process's journal.
struct ProcessRecord {
  std::uint32_t rank = 0, size = 0;
  std::string host, timer, clock_description;
  std::uint64_t granularity = 1;                   ///< ticks between two readings of the clock
  std::uint64_t realtime_ns = 0, realtime_at = 0;  ///< time since 1970 at local time realtime_at
  std::map<std::uint64_t, JournalLocation> locations;  ///< key: id
  std::map<std::uint32_t, JournalRegion> regions;      ///< key: local number
  std::map<std::uint32_t, JournalComm> comms;          ///< key: local number
  std::map<std::uint32_t, JournalWindow> windows;      ///< key: local number
  std::map<std::uint32_t, std::string> groups;         ///< world ranks, by local number
  std::map<std::uint32_t, std::string> partners;       ///< texts in the form of partners_text; key:
                                                       ///< local number
  bool partners_full = false;                          ///< there was no room for more of them
  std::uint32_t parent = 0;           ///< world rank of the process it measures its clock against
  bool shares_parents_clock = false;  ///< reads the same clock as its parent
  bool proved = false;                ///< exchanges have not contradicted that
  bool measured = false;              ///< took part in a session
  bool clocks_only = false;           ///< another tracer records the events
  std::uint64_t ended_at = 0;         ///< local time at the end of the measurements; 0: unknown
  std::uint64_t ticks_per_second = 1'000'000'000;
  std::string limit;  ///< k_limit_*, the limit that ended the recording; "" if none did
  std::uint64_t broken_lines = 0;  ///< complete lines that could not be understood
  std::vector<ClockSample> samples;
};

/// Reads what Journal::text gave into `record`. Skips unknown and broken lines (a killed process
/// leaves its last line unfinished). False if there is no complete process line.
bool parse_journal(const std::string& text, ProcessRecord& record);

}  // namespace entrain::record
