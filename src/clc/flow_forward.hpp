// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "clc/forward.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Passes of flow_forward() that can be made together.
inline constexpr std::size_t k_most_lanes = 5;

/// Forward amortization by a data-flow, in a team of any size: members send each other what they
/// wait for, and wait for nothing else. The result makes passes, up to k_most_lanes together; the
/// gammas must be the same at every member. All references must outlive it.
///
/// Every member evaluates the nodes that it can (see Scheduler). It sends the time of a node to the
/// members that have it as a ghost, and the demand of its exchanges on a ghost to the owner, once
/// all that they depend on is known: each node is evaluated once. What others need leaves in small
/// batches, soon. Edges and local order form no cycle, so somebody can always go on until all times
/// are known, and they are the same, bit by bit, for every number of members.
///
/// Where several members take part in a collective, each combines the times of its own begins, and
/// relays spread them (see Relays). What relays cannot do is left to the home of the collective.
///
/// Passes with several gammas go through the graph together, side by side in lanes: what a node
/// waits for does not depend on gamma, and a chain of corrections that crosses members many times
/// costs waiting, not work. So further lanes cost little.
///
/// Cycles are not known before the first pass. The nodes of a cycle wait for each other, so some
/// nodes are left. Then cycles are tied or cut (see settle_cycles()), and the pass is made again.
///
/// Example: that of Forward, with P, Q and R at one member each. The member of P evaluates its send
/// and sends 1000. That of Q, which waited for it, evaluates both nodes of Q and sends 1208. That
/// of R evaluates three nodes. With a second lane for gamma 1, the first sends 1000 and 1000, the
/// second 1208 and 1210.
[[nodiscard]] Forward flow_forward(const trace::Share& share, const ForwardProblem& problem);

}  // namespace entrain::clc
