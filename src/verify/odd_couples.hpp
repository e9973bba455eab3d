// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "verify/alignment.hpp"

namespace entrain::verify {

/// Gives up couples of messages that cannot be what they seem: where two records are missing, of
/// different messages, their partners look like a couple. It shows by a delay that is below those
/// of the eight couples before and behind by more than twice what these differ from each other.
/// The same below the eight lowest of the 256 on either side. And couples that come too early for
/// what records of clocks allow; all, if these are more than 1 in 16. (docs/method.md, section 2.1)
void give_up_odd_messages(const Row& sends, const Row& receives, Alignment& alignment);

/// The same for the calls of two processes, whose ends may be neither too early nor too late; only
/// those that are off by so much that they might be a neighbouring call's. All of them, if their
/// delays jump: from there on, or up to there, calls are taken for later ones.
void give_up_odd_calls(const Row& others, const Row& own, Alignment& alignment);

}  // namespace entrain::verify
