// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions.hpp"

namespace entrain::trace {

const std::string& process_name(const Definitions& definitions, LocationIndex l) {
  const Location& location = definitions.locations[l];
  return location.group < definitions.location_groups.size()
             ? definitions.location_groups[location.group].name
             : location.name;
}

const std::string& node_name(const Definitions& definitions, LocationIndex l) {
  static const std::string k_nameless;
  const std::uint32_t group = definitions.locations[l].group;
  if (group >= definitions.location_groups.size()) return k_nameless;
  const std::vector<SystemTreeNode>& nodes = definitions.tree_nodes;
  const std::uint32_t own = definitions.location_groups[group].tree_node;
  if (own >= nodes.size()) return k_nameless;
  std::uint32_t node = own;
  for (std::size_t steps = 0; steps < nodes.size(); ++steps) {  // a damaged tree may be a circle
    if (nodes[node].shared_memory) return nodes[node].name;
    if (nodes[node].parent >= nodes.size()) break;
    node = nodes[node].parent;
  }
  return nodes[own].name;
}

}  // namespace entrain::trace
