// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <entrain/progress.hpp>

#include "clc/incidence.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Nodes of different locations that equal stamps tie into a cycle: they get one common time.
/// Nodes of one location are consecutive; sorted.
struct TiedNodes {
  std::vector<NodeIndex> nodes;      ///< in a team: those of this member
  std::vector<std::uint32_t> peers;  ///< ranks of other members that have nodes of it
};

/// One step of a forward pass.
struct Step {
  enum class Kind : std::uint8_t {
    run,       ///< nodes [begin, end) of one location, in order
    exchange,  ///< receive participants [begin, end) (indices into Graph::participants) of exchange
               ///< `index`
    tied,      ///< component `index`
  };
  Kind kind = Kind::run;
  std::uint32_t index = 0;  ///< location, exchange or component
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// An order in which every time that a node waits for is known before the node.
struct Schedule {
  BigVector<Step> steps;
  std::vector<TiedNodes> tied;
  /// Per node of a tied component, ghosts too: its number. Empty if there is none.
  std::vector<std::uint32_t> tied_of;
  std::uint64_t dropped_components = 0;  ///< cycles that equal stamps cannot explain
  std::uint64_t dropped_edges = 0;       ///< edges and exchanges left out to break them
};

/// Orders the nodes, location by location as far as each can go. Where happened-before edges and
/// local order close a cycle, equal stamps of a coarse timer are the reason as long as the cycle
/// spans at most two granules of the timer on every location; larger ones are matching errors,
/// whose edges are taken out of `graph` (`incidence` follows). Deterministic. For a whole graph.
/// Nothing of use when `progress` (may be null) says that the user wants to stop.
Schedule make_schedule(match::Graph& graph, Incidence& incidence,
                       const Progress* progress = nullptr);

/// Orders the nodes of this member of a team; ghosts count as known. `tied` are all components,
/// `tied_of` as in Schedule. Nothing if there are more cycles than these, or if the user wants to
/// stop.
std::optional<Schedule> order_nodes(const match::Graph& graph, const Incidence& incidence,
                                    std::vector<TiedNodes> tied = {},
                                    std::vector<std::uint32_t> tied_of = {},
                                    const Progress* progress = nullptr);

}  // namespace entrain::clc
