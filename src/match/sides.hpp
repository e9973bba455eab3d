// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "match/align.hpp"
#include "match/builder.hpp"
#include "match/in_step.hpp"
#include "match/operations.hpp"

namespace entrain::match {

/// One side of a channel, with all that pairing wants to know of it where records may be missing.
struct ChannelSide {
  std::vector<NodeRef> ends;
  std::vector<Trait> traits;           ///< per end
  std::vector<std::uint32_t> numbers;  ///< per end, as Numbered::numbers; empty without a routine
  std::vector<Pause> pauses;           ///< of the process, at most one per end
  std::uint32_t pauses_seen = 0;       ///< of the process, up to the last end
  std::uint32_t gaps_seen = 0;         ///< of the process, that ended by the last end
  std::uint32_t position = 0;          ///< as Side::position
  std::uint32_t total = 0;             ///< as Numbered::total
  std::uint32_t kinds = 0, evidence = 0;  ///< as in Numbered
  std::uint32_t before_gaps = 0;          ///< leading ends that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const { return {traits, position, ends_in_gap}; }
  [[nodiscard]] bool has_routine() const { return kinds > 0; }
  /// Not to be called without a routine.
  [[nodiscard]] Numbered numbered() const {
    return {side(), numbers, total, pauses, kinds, evidence};
  }
};

struct ChannelOrder {
  bool operator()(const Channel& a, const Channel& b) const {
    return std::tie(a.sender, a.receiver, a.comm, a.tag) <
           std::tie(b.sender, b.receiver, b.comm, b.tag);
  }
};
using Sides = std::map<Channel, ChannelSide, ChannelOrder>;

/// The sides of all channels of a process.
struct ProcessSides {
  Sides sends, receives;
  bool has_routine = false;
  /// Per other process: the stamps, in order, at which messages with it were posted. A message of
  /// which no record tells, but which was posted surely, has that of the next operation.
  std::map<std::uint32_t, std::vector<std::uint64_t>> posted;
  /// The blocking collective calls per communicator, and those per window by name_of_window();
  /// without traits.
  std::map<std::uint32_t, ChannelSide> calls;
  /// The same: stamps of the next operations after calls that are missing, in order.
  std::map<std::uint32_t, std::vector<std::uint64_t>> missing_calls;
};

/// A number for a window that no communicator has.
inline std::uint32_t name_of_window(const trace::Definitions& definitions, std::uint32_t window) {
  return static_cast<std::uint32_t>(definitions.comms.size()) + window;
}

/// The sides of a process's channels (docs/method.md, section 2.1). O(n log n) for n operations.
ProcessSides sides_of(const Builder& builder, std::uint32_t process);

}  // namespace entrain::match
