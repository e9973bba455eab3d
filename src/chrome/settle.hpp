// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "chrome/sequences.hpp"

namespace entrain::chrome {

/// Takes back the pairs of a way that calls near them put in doubt, and finds the pairs that a walk
/// slipped past.
///
/// Where a call is lost among calls that are closer to each other than ends may be late, a walk may
/// go on with the next one. So an offset is believed only along calls from each of which to the
/// next it changes as little as is usual; partners are two calls that are as near by it, if nothing
/// else is nearly as near. A single late end is a late end, if nothing says that calls are lost.
///
/// Example: calls at 0, 60, 120 and 3000 us, of which one rank lost the second one. A walk pairs
/// its call at 120 with that at 60, and comes back at 3000. The offset jumps by 60 us and back.
void settle_doubts(const Sequence& a, const Sequence& b, Alignment& way);

}  // namespace entrain::chrome
