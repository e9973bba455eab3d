// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "net/model/spanning_tree.hpp"
#include "net/plan/planner.hpp"

namespace entrain::net {

/// How the leaders of a step come to precede each other.
enum class StepKind {
  direct,       ///< each pair directly, n - 1 slots: the building block pattern
  alternating,  ///< each pair directly, 2 (n - 1) slots, every other one home
  doubling,     ///< leaders 1, 2, 4, ... away exchange, ceil(log2 n) slots
};

/// Plans Method::joined and its variants.
///
/// A step makes the leaders L_0 .. L_{n-1} of n subtrees precede each other. It begins with a *home
/// slot*, in which each leader sends to a destination D_j of its own, one in each subtree. In the
/// u-th slot after it, L_j sends to D_{j + shift(u)}. So one packet leaves and one enters each
/// subtree, and L_j is followed at a destination by L_{j - (shift(u+1) - shift(u))}.
///
/// D is free. So the last slot of the step before serves as home slot if the leader sends into its
/// own subtree in it. Steps of disjoint subtrees share no link, so each begins as soon as the steps
/// below it (gather) or above it (distribute) are done.
void plan_joined(const SpanningTree& tree, Planner& planner, StepKind kind);

}  // namespace entrain::net
