// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <vector>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "clc/forward.hpp"

namespace entrain::clc {

/// The displacement of a location pushes another one.
struct Influence {
  LocationIndex cause = k_none, effect = k_none;

  friend auto operator<=>(const Influence&, const Influence&) = default;
};

/// The influences in a pass, each once, sorted: a node of the effect has the time that a displaced
/// node of the cause demands. Of an exchange the latest senders of two locations
/// count. O(edges + participants). Collective; the same at every member.
///
/// Example, that of Forward: Q is displaced by 48 ticks when it sends to R, which has to move. So
/// there is the influence (Q, R), and none of P, which is not displaced.
[[nodiscard]] std::vector<Influence> influences(Team& team, const ForwardProblem& problem,
                                                const ForwardTimes& pass);

/// Adds to `marked` (one flag per location) all locations that influence a marked one, directly or
/// by way of others.
void mark_upstream(const std::vector<Influence>& influences, std::vector<bool>& marked);

}  // namespace entrain::clc
