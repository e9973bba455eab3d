// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include <entrain/error.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "clc/cycles.hpp"
#include "clc/incidence.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// A step of a forward pass.
struct Step {
  enum class Kind : std::uint8_t {
    run,       ///< nodes [begin, end) of one location, in order
    exchange,  ///< receive participants [begin, end) (indices into Graph::participants) of exchange
               ///< `index`
    tied,      ///< component `index` of Cycles::tied
  };
  Kind kind = Kind::run;
  std::uint32_t index = 0;  ///< location, exchange or component
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// An order in which every time that a node waits for is known before the node.
///
/// Example: location 0 has nodes 0 (send) and 1 (receive of the answer), location 1 has nodes 2
/// (receive) and 3 (send of the answer). The schedule is: run [0, 1) of location 0, run [2, 4) of
/// location 1, run [1, 2) of location 0.
using Schedule = BigVector<Step>;

/// Orders the nodes of a whole graph, location by location as far as each can go. Deterministic.
///
/// Where edges and local order close a cycle, the cause is equal stamps of a coarse timer as long
/// as the cycle spans at most two granules of the timer on every location: its nodes are tied.
/// Larger cycles are matching errors: their edges are taken out of `graph` (`incidence` follows).
/// `cycles` receives both. Error: ErrorKind::interrupted when `cancel` asks for it.
Result<Schedule> make_schedule(match::Graph& graph, Incidence& incidence, Cycles& cycles,
                               const Cancel& cancel = Cancel(nullptr));

/// Orders the nodes of this member of a team; ghosts count as known. Nothing if there are more
/// cycles than `cycles` has, or if `cancel` asks for it.
std::optional<Schedule> order_nodes(const match::Graph& graph, const Incidence& incidence,
                                    const Cycles& cycles, const Cancel& cancel = Cancel(nullptr));

}  // namespace entrain::clc
