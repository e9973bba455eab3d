// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "match/calls.hpp"

namespace entrain::match {

/// True if some of the calls name their partners.
bool any_names_partners(std::span<const Call> calls);

/// Puts the calls of one instance, some of which name their partners, into exchanges. The begin of
/// a precedes the end of b if a names b as a target of its data and b names a as a source. A pair
/// that only one of the two names is no edge; it counts as "partners_contradicting". A call that
/// names no partners has all others as partners if Options::dense_alltoallv is set; else it has
/// none and the instance counts as skipped.
///
/// `members` and `calls` as for add_instance(). O(partners) in regular patterns, that is if
/// processes either have few partners or the same ones as many others.
///
/// Example: ranks 0 to 3 exchange in pairs, each with the next even or odd one: 0 and 1 name {1}
/// and {0}, 2 and 3 name {3} and {2}. There are the edges 0 -> 1, 1 -> 0, 2 -> 3 and 3 -> 2.
void add_named_instance(Builder& builder, std::span<const CommProcess> members,
                        std::span<const Call> calls, const trace::Comm& comm);

}  // namespace entrain::match
