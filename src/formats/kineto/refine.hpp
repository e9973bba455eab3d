// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "formats/kineto/sequences.hpp"

namespace entrain::kineto {

/// Removes the pairs of an alignment that its offsets contradict, and adds missed ones. After a
/// lost call a walk may continue with the next one, if that is closer than ends may be late. So an
/// offset counts only along a run of pairs without a jump; two calls become partners if their ends
/// agree with it and no other call is nearly as near. A single late end is kept, unless calls are
/// lost.
///
/// Example: calls at 0, 60, 120 and 3000 us, of which one rank lost the second one. A walk pairs
/// its call at 120 with that at 60, and recovers at 3000. The offset jumps by 60 us and back.
void refine(const Sequence& a, const Sequence& b, Alignment& alignment);

}  // namespace entrain::kineto
