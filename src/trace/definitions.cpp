// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions.hpp"

#include <set>

namespace entrain::trace {

const std::string& process_name(const Definitions& definitions, LocationIndex l) {
  const Location& location = definitions.locations[l];
  return location.group < definitions.location_groups.size()
             ? definitions.location_groups[location.group].name
             : location.name;
}

std::vector<std::string> clock_names(const Definitions& definitions) {
  std::vector<std::string> names;
  std::set<std::uint32_t> named;  // processes
  for (LocationIndex l = 0; l < definitions.locations.size(); ++l) {
    const std::string& process = process_name(definitions, l);
    const std::string& own = definitions.locations[l].name;
    const bool is_first = named.insert(definitions.process_of[l]).second;
    names.push_back(is_first || own.empty()    ? process
                    : own.starts_with(process) ? own
                                               : process + ", " + own);
  }
  return names;
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
