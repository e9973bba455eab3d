// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "net/model/parameters.hpp"
#include "net/model/topology.hpp"

namespace entrain::net {

/// How fast flits leave a router.
enum class LinkModel {
  at_switch,  ///< one per sd, as the paper reads: a router is faster than the interfaces
  at_link,    ///< one per cp, as on a physical link: a slot needs idle flits (the guard) so that
              ///< the buffers can drain the flits that piled up during rd
};
inline constexpr const char* name_of(LinkModel model) {
  return model == LinkModel::at_switch ? "switch" : "link";
}

/// The default for the idle flits at the end of a slot. With LinkModel::at_switch it is 0.
///
/// With LinkModel::at_link it is the larger of two numbers. First, the flits that pile up during
/// rd, and a quarter more. Second, enough that a blocked packet does not end after the one that
/// blocks it; on one switch it ends 2 (rd + longest + fc) - (guard + kg + 2) cp later. `longest` is
/// the delay of the longest link. The result is smaller if packets would not be longer than a
/// buffer.
std::int64_t usual_guard_flits(const Parameters& parameters, LinkModel model, Femtoseconds longest);

/// How interfaces and routers send, as far as a skew bound depends on it.
struct Sending {
  LinkModel model = LinkModel::at_switch;
  std::int64_t guard_flits = 0;  ///< idle flits at the end of a slot
};

/// Shortest and longest delay of the links. A link without a delay of its own has Parameters::ld.
struct DelayRange {
  Femtoseconds least{0};
  Femtoseconds most{0};

  [[nodiscard]] bool are_alike() const { return least == most; }
};
DelayRange link_delays(const Topology& topology, const Parameters& parameters);

}  // namespace entrain::net
