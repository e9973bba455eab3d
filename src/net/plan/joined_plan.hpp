// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "net/model/spanning_tree.hpp"
#include "net/plan/planner.hpp"

namespace entrain::net {

/// How the leaders of a step come to precede each other.
enum class StepKind {
  direct,       ///< each pair directly, n - 1 slots: the building block pattern
  alternating,  ///< each pair directly, 2 (n - 1) slots, every other one home
  doubling,     ///< over leaders 1, 2, 4, ... away, ceil(log2 n) slots
};

/// A step with leaders L_0..L_{n-1} of n subtrees needs a *home slot* in which each sends to a
/// destination D_j of its own, one in each subtree; in the u-th slot after it L_j sends to
/// D_{j + shift(u)}. So one packet leaves and one enters each subtree, and who follows L_j at a
/// destination is L_{j - (shift(u+1) - shift(u))}. As D is free, the last slot of the step before
/// serves as home slot, if the leader sends into its own subtree in it. Steps of disjoint subtrees
/// share no link, so each begins as soon as those below (gather) or above it (distribute) are done.
void plan_joined(const SpanningTree& tree, Planner& planner, StepKind kind);

}  // namespace entrain::net
