// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <entrain/clock_map.hpp>

#include "base/team.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"

/// Teams of every size for unit tests.
namespace entrain::trace::testing {

/// Gives processes to members: in a row, or like cards.
inline Partition dealt(const Definitions& definitions, unsigned members, bool in_a_row) {
  const std::vector<std::uint64_t> weight(definitions.locations.size(), 1);
  Partition partition = divide(definitions, weight, members);
  if (!in_a_row) {
    for (LocationIndex l = 0; l < partition.owner.size(); ++l) {
      partition.owner[l] = (definitions.process_of[l] * 5 + 3) % members;
    }
  }
  return partition;
}

/// The part of a trace that a process of the run holds: the skeletons of its own locations.
inline Trace part_of(const Trace& trace, const Partition& partition, unsigned rank) {
  Trace part;
  part.path = trace.path;
  part.definitions = trace.definitions;
  part.locations.resize(trace.locations.size());
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    if (partition.owns(rank, l)) part.locations[l] = trace.locations[l];
  }
  return part;
}
inline std::vector<ClockMap> part_of(std::span<const ClockMap> maps, const Partition& partition,
                                     unsigned rank) {
  std::vector<ClockMap> part(maps.size());
  for (LocationIndex l = 0; l < maps.size(); ++l) {
    if (partition.owns(rank, l)) part[l] = maps[l];
  }
  return part;
}

/// Throws std::logic_error unless teams of every size come to the text `expected` at every member:
/// `body(team, partition)` makes it. Processes are dealt out in a row and like cards.
template <class Body>
void expect_by_teams(const Definitions& definitions, const std::string& expected, Body body) {
  for (const unsigned members : {2U, 3U, 7U}) {
    for (const bool in_a_row : {true, false}) {
      const Partition partition = dealt(definitions, members, in_a_row);
      std::vector<std::string> found(members);
      const auto result = run_team(members, [&](Team& team) -> Result<void> {
        found[team.rank()] = body(team, partition);
        return {};
      });
      if (!result) throw std::logic_error(result.error().message);
      for (const std::string& text : found) {
        if (text == expected) continue;
        throw std::logic_error(
            fmt::format("{} members report\n{}\ninstead of\n{}", members, text, expected));
      }
    }
  }
}

}  // namespace entrain::trace::testing
