// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <entrain/error.hpp>

#include "net/model/spanning_tree.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// The methods that plan a synchronising schedule.
enum class Method {
  sss,  ///< the building block pattern over all interfaces; for one switch
  hss,  ///< gather and distribute, level by level (Definition 2)
  /// Like hss, but every subtree goes on as soon as it can, steps share slots, and the leader of a
  /// subtree is the interface nearest to its root.
  joined,
  /// Like joined, but every other slot of a step goes home, so that the interface that is held back
  /// is near the contested link. Twice the slots, in trees a far smaller skew bound.
  alternating,
  /// Like joined, but in a step the slowest time travels over 1, 2, 4, ... leaders. Far fewer
  /// slots, a larger skew bound.
  doubling,
};
inline constexpr std::array<Method, 5> k_methods{Method::sss, Method::hss, Method::joined,
                                                 Method::alternating, Method::doubling};
const char* name_of(Method method);

/// Largest number of messages of a schedule.
inline constexpr std::int64_t k_most_messages = 20'000'000;

/// Plans along the tree. Errors: ErrorKind::usage if the schedule would exceed k_most_messages.
Result<Schedule> plan(const Topology& topology, const SpanningTree& tree, Method method);

}  // namespace entrain::net
