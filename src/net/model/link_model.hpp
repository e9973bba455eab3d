// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "net/model/parameters.hpp"
#include "net/model/topology.hpp"

namespace entrain::net {

/// How fast flits leave a router.
enum class LinkModel {
  at_switch,  ///< one per sd, the paper's reading: a router is faster than the interfaces
  at_link,    ///< one per cp, as a physical link does it: a slot needs idle flits (guard), in which
              ///< the buffers drain what has piled up during rd
};
inline constexpr const char* name_of(LinkModel model) {
  return model == LinkModel::at_switch ? "switch" : "link";
}

/// Idle flits at the end of a slot that are wanted: none with LinkModel::at_switch; else what piles
/// up during rd, and a quarter more, and so many that a blocked packet does not fall behind the one
/// that blocks it: on one switch it ends 2 (rd + longest + fc) - (guard + kg + 2) cp behind it.
/// `longest`: the delay of the longest link. Fewer if packets would not be longer than a buffer.
std::int64_t usual_guard_flits(const Parameters& parameters, LinkModel model, Femtoseconds longest);

/// Links as a bound has to know them.
struct Sending {
  LinkModel model = LinkModel::at_switch;
  std::int64_t guard_flits = 0;  ///< idle at the end of a slot
};

/// Shortest and longest delay of a link; that of the parameters where a link has none of its own.
struct DelayRange {
  Femtoseconds least{0};
  Femtoseconds most{0};

  [[nodiscard]] bool are_alike() const { return least == most; }
};
DelayRange link_delays(const Topology& topology, const Parameters& parameters);

}  // namespace entrain::net
