// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <entrain/error.hpp>

#include "net/model/spanning_tree.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// How to plan a synchronising schedule.
enum class Method {
  sss,          ///< the building block pattern over all interfaces: for one switch
  hss,          ///< gather and distribute, level by level (Definition 2)
  joined,       ///< as hss, but every subtree goes on as soon as it can, steps share slots, and the
                ///< leader of a subtree is the interface nearest to its root
  alternating,  ///< as joined, but every other slot of a step goes home, so that whoever is held
                ///< back is near the contested link: twice the slots, a far smaller bound in trees
  doubling,  ///< as joined, but in a step the slowest time travels over 1, 2, 4, ... leaders: far
             ///< fewer slots, a larger bound
};
inline constexpr std::array<Method, 5> k_methods{Method::sss, Method::hss, Method::joined,
                                                 Method::alternating, Method::doubling};
const char* name_of(Method method);

/// Most messages of a schedule; what would be larger is refused.
inline constexpr std::int64_t k_most_messages = 20'000'000;

/// Plans along the tree. Errors: ErrorKind::usage if the schedule would be too large.
Result<Schedule> plan(const Topology& topology, const SpanningTree& tree, Method method);

}  // namespace entrain::net
