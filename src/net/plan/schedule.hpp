// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/model/topology.hpp"

namespace entrain::net {

/// s =>ts d: what interface `source` injects in slot `slot`, and the nodes it passes, both ends
/// included.
struct Message {
  std::int64_t slot = 0;
  InterfaceIndex source = 0;
  InterfaceIndex destination = 0;
  std::uint32_t route_begin = 0;
  std::uint32_t route_end = 0;
};

/// A set of messages, ordered by slot and source.
struct Schedule {
  std::int64_t slots = 0;
  std::vector<Message> messages;
  std::vector<NodeIndex> route_nodes;

  [[nodiscard]] std::span<const NodeIndex> route(const Message& message) const {
    return {route_nodes.data() + message.route_begin, message.route_end - message.route_begin};
  }
  /// Routers on the way.
  [[nodiscard]] std::int64_t hops(const Message& message) const {
    return std::int64_t{message.route_end} - message.route_begin - 2;
  }
};

/// Destination of element i of n in slot t of a building block pattern (Definition 1):
/// i + t (t + 1) / 2 modulo n.
constexpr std::int64_t bbp_destination(std::int64_t i, std::int64_t t, std::int64_t n) {
  return (i + t * (t + 1) / 2) % n;
}

}  // namespace entrain::net
