// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/bound.hpp"
#include "net/spanning_tree.hpp"
#include "net/topology.hpp"

namespace entrain::net {

/// How to plan a synchronising schedule.
enum class Method {
  sss,          ///< the building block pattern over all interfaces: for one switch
  hss,          ///< gather and distribute, level by level (Definition 2)
  joined,       ///< as hss, but every subtree goes on as soon as it can, steps share slots, and the
                ///< leader of a subtree is the interface nearest to its root
  alternating,  ///< as joined, but every other slot of a step goes home, so that whoever is held
                ///< back is near the contested link: twice the slots, a far smaller bound in trees
  doubling,  ///< as joined, but in a step the slowest time travels over 1, 2, 4, ... leaders: far
             ///< fewer slots, a larger bound
};
inline constexpr std::array<Method, 5> k_methods{Method::sss, Method::hss, Method::joined,
                                                 Method::alternating, Method::doubling};
const char* name_of(Method method);

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

/// Most messages of a schedule; what would be larger is refused.
inline constexpr std::int64_t k_most_messages = 20'000'000;

/// Plans along the tree. Errors: ErrorKind::usage if the schedule would be too large.
Result<Schedule> plan(const Topology& topology, const SpanningTree& tree, Method method);

/// Equations (6) and (7) with the routes of this schedule: the largest skew of a pair of
/// interfaces, where that of a pair is the smallest sum over the chains of precedences between
/// them. All links have the delay of the parameters. A pair without a chain makes it
/// Femtoseconds::max(). Advances `progress` by the interfaces; once that is cancelled it ends
/// early, and the result means nothing.
Femtoseconds skew_of_schedule(const Schedule& schedule, std::size_t interfaces,
                              const Parameters& parameters, Reading reading,
                              Progress* progress = nullptr);

/// The same with the delays of the links of `topology`. Where all are alike, it is the published
/// value for that delay. Where they are not, each holds those whom it precedes by lead_of_pair(),
/// but at least by what skew_of_pair() says of the shortest link; who is held may fall behind by
/// lag_of_held(). It is the largest sum of leads of a pair, and the largest sum of lags along a
/// chain. Only there `sending` counts.
Femtoseconds skew_of_schedule(const Schedule& schedule, const Topology& topology,
                              const Parameters& parameters, Reading reading, const Sending& sending,
                              Progress* progress = nullptr);

/// Shortest and longest delay of a link; that of the parameters where a link has none of its own.
struct DelayRange {
  Femtoseconds least{0};
  Femtoseconds most{0};

  [[nodiscard]] bool are_alike() const { return least == most; }
};
DelayRange link_delays(const Topology& topology, const Parameters& parameters);

}  // namespace entrain::net
