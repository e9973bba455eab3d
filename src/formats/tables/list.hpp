// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>

#include "base/big_vector.hpp"
#include "match/graph.hpp"

namespace entrain::tables {

/// The arrays of Edges.
struct EdgeList {
  BigVector<std::uint32_t> cause_clock, effect_clock;
  BigVector<std::uint64_t> cause_time, effect_time;
  BigVector<std::int64_t> min_delay;  ///< empty: 0
  BigVector<EdgeKind> kind;
  BigVector<CollectiveInstance> instances;
  BigVector<InstanceMember> members;

  /// Views of the arrays, valid until these change.
  [[nodiscard]] Edges view() const {
    return {.cause_clock = cause_clock,
            .cause_time = cause_time,
            .effect_clock = effect_clock,
            .effect_time = effect_time,
            .min_delay = min_delay,
            .kind = kind,
            .instances = instances,
            .members = members};
  }
};

/// The edges and exchanges of a graph with all nodes in this process, in its order: graph_of() of
/// the list is the same graph. `mu`: minimal latencies of the latency classes.
EdgeList list_of(const match::Graph& graph, const MuTicks& mu);

}  // namespace entrain::tables
