// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "net/model/units.hpp"

namespace entrain::net {

/// Position in Topology::nodes(). A node is an interface or a switch, as everywhere in this
/// product; it is no machine of a trace.
using NodeIndex = std::uint32_t;
/// Position of an interface among the interfaces, which stand in the order of the nodes.
using InterfaceIndex = std::uint32_t;
/// Direction of a link: 2 * link + (0 from Link::a to Link::b, 1 back). Cables are full duplex.
using ChannelIndex = std::uint32_t;

inline constexpr std::uint32_t k_none = UINT32_MAX;
inline constexpr std::size_t k_most_nodes = 20'000;
inline constexpr std::uint64_t k_most_ports = 1'000'000;

struct Node {
  std::string name;
  bool is_switch = false;
  std::int64_t ports = 0;  ///< number of ports: 1 or more for a switch, 1 for an interface
};

struct Link {
  NodeIndex a = 0;
  NodeIndex b = 0;
  std::optional<Femtoseconds> delay;  ///< replaces Parameters::ld for this link; 0 to 1 ms
};

/// A link as one of its ends sees it.
struct Neighbour {
  NodeIndex node = 0;
  ChannelIndex out = 0;  ///< the direction from here to `node`
};

/// A connected network of switches and at least two interfaces. Every interface has one link, to a
/// switch. No switch has more links than ports. Two nodes share at most one link.
class Topology {
 public:
  /// Errors: ErrorKind::input, one sentence that names a node for which the above does not hold.
  static Result<Topology> make(std::vector<Node> nodes, std::vector<Link> links);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] std::span<const NodeIndex> interfaces() const { return interfaces_; }
  /// The links of `node`, in their order.
  [[nodiscard]] std::span<const Neighbour> neighbours(NodeIndex node) const {
    return neighbours_[node];
  }
  [[nodiscard]] std::size_t channel_count() const { return 2 * links_.size(); }
  [[nodiscard]] NodeIndex sender(ChannelIndex channel) const {
    return channel % 2 == 0 ? links_[channel / 2].a : links_[channel / 2].b;
  }
  [[nodiscard]] NodeIndex receiver(ChannelIndex channel) const { return sender(channel ^ 1); }
  /// The channel from one node to a neighbour; k_none if they share no link.
  [[nodiscard]] ChannelIndex channel(NodeIndex from, NodeIndex to) const;
  /// "n3 -> s0", for messages.
  [[nodiscard]] std::string channel_name(ChannelIndex channel) const;
  [[nodiscard]] const std::string& interface_name(InterfaceIndex i) const {
    return nodes_[interfaces_[i]].name;
  }
  [[nodiscard]] std::size_t switch_count() const { return nodes_.size() - interfaces_.size(); }

 private:
  Topology() = default;
  [[nodiscard]] Result<void> check_links() const;
  [[nodiscard]] Result<void> check_nodes() const;
  [[nodiscard]] Result<void> check_connected() const;

  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<NodeIndex> interfaces_;
  std::vector<std::vector<Neighbour>> neighbours_;
};

}  // namespace entrain::net
