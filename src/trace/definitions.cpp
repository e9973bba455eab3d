// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions.hpp"

#include <algorithm>

namespace entrain::trace {

bool in_first_group(const Definitions& definitions, const Comm& comm, std::uint32_t process) {
  return std::any_of(comm.group_a.begin(), comm.group_a.end(), [&](LocationIndex member) {
    return member != k_none && definitions.process_of[member] == process;
  });
}

std::uint32_t process_of_peer(const Definitions& definitions, CommIndex comm_index,
                              std::uint32_t self, std::uint32_t rank) {
  if (comm_index == k_none) return k_none;
  const Comm& comm = definitions.comms[comm_index];
  if (comm.self) return self;
  const bool in_a = comm.inter && in_first_group(definitions, comm, self);
  const auto& group = in_a ? comm.group_b : comm.group_a;
  const LocationIndex location = rank < group.size() ? group[rank] : k_none;
  return location == k_none ? k_none : definitions.process_of[location];
}

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
