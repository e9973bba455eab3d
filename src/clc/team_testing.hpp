// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/team.hpp"
#include "base/try.hpp"
#include "clc/testing.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"
#include "trace/share.hpp"

namespace entrain::clc::testing {

/// Calls body(share, problem) at every member of a team, with the member's share of a hand-made
/// trace. `owner` has the member of every location.
inline Result<void> in_team(
    const trace::testing::TraceBuilder& b, const std::vector<std::uint32_t>& owner,
    const std::function<Result<void>(const trace::Share&, Problem&)>& body) {
  unsigned members = 1;
  for (const std::uint32_t rank : owner) members = std::max(members, rank + 1);
  const trace::Partition partition{owner};
  return run_team(members, [&](Team& team) -> Result<void> {
    trace::Trace part{b.trace().path, b.trace().definitions, {}};
    part.locations.resize(owner.size());
    for (LocationIndex l = 0; l < owner.size(); ++l) {
      if (partition.owns(team.rank(), l)) part.locations[l] = b.trace().locations[l];
    }
    const trace::Share share{team, partition, part};
    TRY_ASSIGN(match::Graph graph, match::build_graph(share, {.every_event = true}));
    Problem problem(std::move(graph));
    // The stored stamps of ghosts, which only their owners know.
    problem.presync.resize(problem.graph.node_count());
    match::HaloExchange(team, problem.graph).publish(problem.presync);
    return body(share, problem);
  });
}

}  // namespace entrain::clc::testing
