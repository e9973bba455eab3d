// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/topology.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/try.hpp"
#include "net/model/parameters.hpp"

namespace entrain::net {
Result<Topology> Topology::make(std::vector<Node> nodes, std::vector<Link> links) {
  Topology topology;
  topology.nodes_ = std::move(nodes);
  topology.links_ = std::move(links);
  if (topology.nodes_.size() > k_most_nodes)
    return fail(ErrorKind::input, fmt::format("the topology has {} nodes, more than {}",
                                              topology.nodes_.size(), k_most_nodes));
  topology.neighbours_.resize(topology.nodes_.size());
  TRY(topology.check_links());
  for (std::size_t i = 0; i < topology.links_.size(); ++i) {
    const Link& link = topology.links_[i];
    const auto channel = static_cast<ChannelIndex>(2 * i);
    topology.neighbours_[link.a].push_back({link.b, channel});
    topology.neighbours_[link.b].push_back({link.a, channel + 1});
  }
  for (NodeIndex i = 0; i < topology.nodes_.size(); ++i) {
    if (!topology.nodes_[i].is_switch) topology.interfaces_.push_back(i);
  }
  TRY(topology.check_nodes());
  TRY(topology.check_connected());
  return topology;
}

Result<void> Topology::check_links() const {
  std::set<std::pair<NodeIndex, NodeIndex>> seen;
  for (const Link& link : links_) {
    const std::string &a = nodes_[link.a].name, &b = nodes_[link.b].name;
    if (link.a == link.b)
      return fail(ErrorKind::input, fmt::format("node '{}' is linked to itself", a));
    if (!seen.insert(std::minmax(link.a, link.b)).second)
      return fail(ErrorKind::input, fmt::format("nodes '{}' and '{}' are linked twice", a, b));
    if (!nodes_[link.a].is_switch && !nodes_[link.b].is_switch)
      return fail(ErrorKind::input,
                  fmt::format("interfaces '{}' and '{}' are linked to each other; put a switch "
                              "between them",
                              a, b));
    if (link.delay && (*link.delay < Femtoseconds(0) || *link.delay > k_most_delay))
      return fail(
          ErrorKind::input,
          fmt::format("the link of '{}' and '{}' has a delay of {} ns, which is not between "
                      "0 and 1 ms",
                      a, b, ns_of(*link.delay)));
  }
  return {};
}

Result<void> Topology::check_nodes() const {
  std::set<std::string_view> names;
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const auto links = static_cast<std::int64_t>(neighbours_[i].size());
    if (!names.insert(node.name).second)
      return fail(ErrorKind::input, fmt::format("two nodes are called '{}'", node.name));
    if (node.is_switch && node.ports < 1)
      return fail(ErrorKind::input, fmt::format("switch '{}' has {} ports; it needs one at least",
                                                node.name, node.ports));
    if (links == 0)
      return fail(ErrorKind::input, fmt::format("node '{}' is connected to nothing", node.name));
    if (!node.is_switch && links > 1)
      return fail(ErrorKind::input, fmt::format("interface '{}' has {} links; an interface has one",
                                                node.name, links));
    if (node.is_switch && links > node.ports)
      return fail(ErrorKind::input, fmt::format("switch '{}' has {} port{} but {} links", node.name,
                                                node.ports, node.ports == 1 ? "" : "s", links));
  }
  if (interfaces_.size() < 2)
    return fail(ErrorKind::input,
                fmt::format("there {}; to synchronise takes two",
                            interfaces_.empty() ? "are no interfaces" : "is one interface"));
  return {};
}

Result<void> Topology::check_connected() const {
  std::vector<bool> reached(nodes_.size(), false);
  std::vector<NodeIndex> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const NodeIndex node = open.back();
    open.pop_back();
    for (const Neighbour& neighbour : neighbours_[node]) {
      if (!reached[neighbour.node]) open.push_back(neighbour.node);
      reached[neighbour.node] = true;
    }
  }
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (!reached[i])
      return fail(ErrorKind::input, fmt::format("node '{}' is not connected with node '{}'",
                                                nodes_[i].name, nodes_[0].name));
  }
  return {};
}

ChannelIndex Topology::channel(NodeIndex from, NodeIndex to) const {
  for (const Neighbour& neighbour : neighbours_[from]) {
    if (neighbour.node == to) return neighbour.out;
  }
  return k_none;
}

std::string Topology::channel_name(ChannelIndex channel) const {
  return fmt::format("{} -> {}", nodes_[sender(channel)].name, nodes_[receiver(channel)].name);
}

}  // namespace entrain::net
