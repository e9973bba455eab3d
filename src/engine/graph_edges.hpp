// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "match/graph.hpp"
#include "verify/named_edges.hpp"

namespace entrain::engine {

/// The edges of a graph that was made of given ones, in its order; its nodes are the events of the
/// trace. The graph must outlive it.
class GraphEdges : public verify::NamedEdges {
 public:
  explicit GraphEdges(const match::Graph& graph) : graph_(graph) {}

  void for_each_edge(const std::function<void(const verify::NamedEdge&)>& use) const override;
  void for_each_instance(
      const std::function<void(const verify::NamedInstance&)>& use) const override;

 private:
  [[nodiscard]] verify::EventRef event_of(NodeIndex node, LocationIndex location) const {
    return {location, node - graph_.first_node[location]};
  }

  const match::Graph& graph_;
};

}  // namespace entrain::engine
