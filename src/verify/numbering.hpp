// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "verify/alignment.hpp"

namespace entrain::verify {

/// Couples ends of equal ordinals (docs/method.md, section 2.1), if both rows have ordinals that
/// can be relied on and do not contradict each other; else nothing. O(n + m).
///
/// Example: sends with the ordinals 0 1 3 4 and receives with 0 2 3 4, of 5 on each side. The
/// couples are (0, 0), (2, 2) and (3, 3) by their indices.
std::optional<Alignment> couple_by_ordinals(const Row& sends, const Row& receives);

/// Whether delays alone would tell the partners, and might deceive: a process does two to four
/// kinds of things, and all symbols are equal.
bool delays_alone(const Row& sends, const Row& receives);

}  // namespace entrain::verify
