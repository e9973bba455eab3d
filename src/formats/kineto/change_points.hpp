// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "formats/kineto/sequences.hpp"

/// Change points of the offset between two clocks, where one of them was set: calls beyond belong
/// together at another offset.
namespace entrain::kineto {

/// Calls without a partner before the first pair, or after the last one, of both sequences.
struct OpenEnd {
  std::size_t first_a = 0, last_a = 0, first_b = 0, last_b = 0;  ///< positions, from and to before
  bool is_head = false;                                          ///< before the first pair
  /// Calls that both sequences have there, but for those with several plausible partners.
  std::size_t common = 0;
};

/// The open ends of an alignment, if it had not the first and the last pairs, `without` of each;
/// none if no pair is left.
std::vector<OpenEnd> open_ends_of(const Sequence& a, const Sequence& b, const Alignment& alignment,
                                  std::size_t without = 0);

/// Pairs the calls at open ends. Of two ranks that both go on after the last pair, the offset of
/// the clocks has a change point there: one of them was set. Their next calls are the next ones of
/// both, at any offset, if the calls that follow fit that one as well as those of an alignment do.
void align_beyond_change_points(const Sequence& a, const Sequence& b, Alignment& alignment);

/// Copies the pairs of an alignment of two parts, which begin at these positions.
void add_pairs(const Alignment& of_parts, std::size_t first_a, std::size_t first_b,
               Alignment& alignment);

}  // namespace entrain::kineto
