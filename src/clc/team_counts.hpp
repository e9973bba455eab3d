// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/team.hpp"
#include "clc/forward.hpp"

namespace entrain::clc {

/// Turns the jumps, errors and overflow of every member's own nodes into those of the team.
/// Collective; the same at every member.
void agree_on_counts(Team& team, ForwardTimes& pass);

}  // namespace entrain::clc
