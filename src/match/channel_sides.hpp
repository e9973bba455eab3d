// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "match/align_records.hpp"
#include "match/builder.hpp"
#include "match/numbered_alignment.hpp"
#include "match/operations.hpp"

namespace entrain::match {

/// Side of a channel, with the evidence for its pairing where records may be missing.
struct ChannelSide {
  std::vector<NodeRef> ends;
  std::vector<EndRecord> records;      ///< one per end
  std::vector<std::uint32_t> places;   ///< one per end: its number in order of posting
  std::uint32_t posted = 0;            ///< number of operations, those without an end here too
  std::vector<std::uint32_t> numbers;  ///< one per end, see NumberedSide; empty without a routine
  std::vector<Pause> pauses;           ///< pauses of the process, at most one per end
  std::uint32_t pauses_seen = 0;       ///< number of the process's pauses up to the last end
  std::uint32_t gaps_seen = 0;         ///< number of the process's gaps that ended by the last end
  std::uint32_t position = 0;          ///< see Side
  std::uint32_t total = 0;             ///< see NumberedSide
  std::uint32_t kinds = 0, evidence = 0;  ///< see NumberedSide
  std::uint32_t before_gaps = 0;          ///< leading ends that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const { return {records, position, ends_in_gap}; }
  [[nodiscard]] bool has_routine() const { return kinds > 0; }
  /// Requires a routine.
  [[nodiscard]] NumberedSide numbered() const {
    return {side(), numbers, total, pauses, kinds, evidence};
  }
};

struct ChannelOrder {
  bool operator()(const Channel& a, const Channel& b) const {
    return std::tie(a.sender, a.receiver, a.comm, a.tag) <
           std::tie(b.sender, b.receiver, b.comm, b.tag);
  }
};
using ChannelSides = std::map<Channel, ChannelSide, ChannelOrder>;

struct ProcessSides {
  ChannelSides sends, receives;
  bool has_routine = false;
  /// Per other process: sorted stamps at which messages with it were posted. A missing message that
  /// the routine implies has the stamp of the next operation.
  std::map<std::uint32_t, std::vector<std::uint64_t>> posted;
  /// Blocking collective calls per communicator, and per window by name_of_window(); no records.
  std::map<std::uint32_t, ChannelSide> calls;
  /// Per communicator or window: sorted stamps of the operations after missing calls.
  std::map<std::uint32_t, std::vector<std::uint64_t>> missing_calls;
};

/// Returns a number for a window that no communicator has.
inline std::uint32_t name_of_window(const trace::Definitions& definitions, std::uint32_t window) {
  return static_cast<std::uint32_t>(definitions.comms.size()) + window;
}

/// Returns the sides of a process's channels (docs/method.md, section 2.1). O(n log n) for n
/// operations.
ProcessSides channel_sides(const Builder& builder, std::uint32_t process);

}  // namespace entrain::match
