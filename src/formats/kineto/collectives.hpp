// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "formats/kineto/collective_calls.hpp"
#include "formats/source.hpp"

namespace entrain::kineto {

/// The collectives of a run with those that give and take data; messages are left out. Members of
/// `instances` are positions in `ranks`. A group whose size no call tells has as many members as
/// the largest of its collectives, and one more if `are_ranks_missing`: these are incomplete.
trace::Collectives collectives_of(std::span<const Instance> instances,
                                  std::span<const RankFile> ranks, bool are_ranks_missing);

}  // namespace entrain::kineto
