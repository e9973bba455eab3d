// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "net/model/parameters.hpp"
#include "net/model/spanning_tree.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// A schedule and the network that it was planned for. All four must outlive it.
struct PlannedNetwork {
  const Topology& topology;
  const SpanningTree& tree;
  const Schedule& schedule;
  const Parameters& parameters;
};

}  // namespace entrain::net
