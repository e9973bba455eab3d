// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions.hpp"

#include <algorithm>
#include <set>

namespace entrain::trace {

Peers::Peers(const Definitions& definitions)
    : definitions_(&definitions), first_groups_(definitions.comms.size()) {
  for (std::size_t c = 0; c < definitions.comms.size(); ++c) {
    const Comm& comm = definitions.comms[c];
    if (!comm.inter) continue;
    for (const LocationIndex member : comm.group_a) {
      if (member != k_none) first_groups_[c].push_back(definitions.process_of[member]);
    }
    std::ranges::sort(first_groups_[c]);
  }
}

std::uint32_t Peers::process_of(CommIndex comm_index, std::uint32_t self,
                                std::uint32_t rank) const {
  if (comm_index == k_none) return k_none;
  const Comm& comm = definitions_->comms[comm_index];
  if (comm.self) return self;
  const std::vector<std::uint32_t>& first = first_groups_[comm_index];
  const bool in_first = std::ranges::binary_search(first, self);
  const auto& group = in_first ? comm.group_b : comm.group_a;
  const LocationIndex location = rank < group.size() ? group[rank] : k_none;
  return location == k_none ? k_none : definitions_->process_of[location];
}

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
