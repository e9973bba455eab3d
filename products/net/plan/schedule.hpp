// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/model/topology.hpp"

namespace entrain::net {

/// A packet of a schedule, s =>ts d in the paper: interface `source` injects it in slot `slot` for
/// interface `destination`. Its route is a range of Schedule::route_nodes, both ends included.
struct Message {
  std::int64_t slot = 0;
  InterfaceIndex source = 0;
  InterfaceIndex destination = 0;
  std::uint32_t route_begin = 0;
  std::uint32_t route_end = 0;
};

/// A set of messages, ordered by slot and source.
///
/// Example: SSS for the interfaces n0, n1, n2 of one switch. In slot t, interface i sends to
/// i + t (t + 1) / 2 modulo 3.
///
///             n0    n1    n2
///     slot 0  n0    n1    n2      everybody sends home
///     slot 1  n1    n2    n0      n1 sent to n1 before n0 does: n1 directly precedes n0
///     slot 2  n0    n1    n2      n2 sent to n0 before n0 does: n2 directly precedes n0
///
/// No two messages of a slot take one directed link, and every interface precedes every other one:
/// n1 and n2 precede n0, n2 and n0 precede n1, n0 and n1 precede n2. So all keep the pace of the
/// slowest.
struct Schedule {
  std::int64_t slots = 0;
  std::vector<Message> messages;
  std::vector<NodeIndex> route_nodes;

  [[nodiscard]] std::span<const NodeIndex> route(const Message& message) const {
    return {route_nodes.data() + message.route_begin, message.route_end - message.route_begin};
  }
  /// Number of routers on the way.
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
