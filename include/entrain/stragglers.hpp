// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/report.hpp>

namespace entrain {

/// Knowledge about the member of a collective that the others waited for.
enum class LastArrival : std::uint8_t {
  proven,      ///< no other one can be last within the bounds of the clocks
  tie,         ///< others may be last within these bounds
  nobody,      ///< nobody waited: the root of a broadcast, for example, came first
  unproven,    ///< nothing bounds the clocks of some members, or the times contradict each other
  incomplete,  ///< not all members are known, and one of the others may have been last
};
/// Name used in JSON and CSV, e.g. "tie".
const char* name_of(LastArrival known);

/// A collective by corrected times. Members that take its data wait for the last of those that give
/// them (docs/manual/stragglers.md): in an allreduce all for all, in a broadcast the others for the
/// root, in a reduction the root for the others.
struct CollectiveWait {
  std::uint32_t operation = 0;          ///< position in StragglerReport::operations
  std::uint32_t group = 0;              ///< position in StragglerReport::groups
  std::uint32_t members = 0;            ///< number of members that were recorded
  std::optional<std::uint64_t> step{};  ///< step of the training loop; empty: not known
  LastArrival known = LastArrival::unproven;
  std::uint32_t last = 0;        ///< position in StragglerReport::processes; by times, if unproven
  std::int64_t time_ticks = 0;   ///< time of its arrival
  std::int64_t alone_ticks = 0;  ///< time during which it alone had not arrived
  std::int64_t wait_ticks = 0;   ///< sum of the times that others waited for it
  std::int64_t longest_ticks = 0;  ///< the longest of these
  /// Least time, by the bounds, by which it came after all others that might have been last.
  /// Positive: proven. Empty where nothing bounds the clocks.
  std::optional<std::int64_t> certain_ticks{};
};

/// Waits that a process caused to others.
struct StragglerRow {
  std::uint32_t process = 0;       ///< position in StragglerReport::processes
  std::uint64_t collectives = 0;   ///< collectives in which others may wait for it
  std::uint64_t last = 0;          ///< those in which it was last, proven
  std::int64_t wait_ticks = 0;     ///< sum of the times that others waited for it in these
  std::int64_t alone_ticks = 0;    ///< time for which it alone was missing in these
  std::int64_t longest_ticks = 0;  ///< longest time that somebody waited for it in these
  std::uint64_t ties = 0;          ///< ties in which it may have been last
  std::uint64_t likely = 0;        ///< collectives without a proof in which its time was the last
  std::int64_t likely_ticks = 0;   ///< sum of the times that others waited for it in these
};

/// Waiting in a group of processes, or in a step of the training loop.
struct WaitSum {
  std::uint64_t number = 0;  ///< position in StragglerReport::groups, or the step
  std::uint64_t collectives = 0;
  std::uint64_t proven = 0;     ///< those whose last member is proven
  std::uint64_t ties = 0;       ///< ties among `collectives`
  std::int64_t wait_ticks = 0;  ///< sum of the waits in proven ones
  /// The process that caused most of it: position in StragglerReport::processes; empty: none did.
  std::optional<std::uint32_t> worst{};
  std::int64_t worst_ticks = 0;  ///< waits that it caused
};

/// Result of find_stragglers(): who came late to collectives, and how long others waited.
struct StragglerReport {
  std::string archive;                                     ///< path of the trace
  std::uint64_t resolution_hz = 0;                         ///< ticks per second
  std::vector<std::string> processes, operations, groups;  ///< names
  std::vector<CollectiveWait> collectives;                 ///< sorted by time
  std::vector<StragglerRow> rows;          ///< processes, those that caused most waits first
  std::size_t outstanding = 0;             ///< number of first rows that stand out
  std::vector<WaitSum> by_group, by_step;  ///< the longest waits first; steps in their order
  std::uint64_t proven = 0, ties = 0, nobody = 0, unproven = 0, incomplete = 0;
  std::uint64_t contradicting = 0;  ///< unproven ones that a member left before the last one came
  std::int64_t wait_ticks = 0;      ///< sum of all waits in proven ones
  Counters left_out;                ///< collectives that were not looked at; no zeros
  std::string reason;               ///< why nothing bounds the clocks; "": something does
  std::vector<std::string> notes;   ///< doubts about the trace, a sentence each
};

}  // namespace entrain
