// SPDX-License-Identifier: BSD-3-Clause
#include "clc/ghost_places.hpp"

#include <vector>

namespace entrain::clc {

GhostPlaces::GhostPlaces(const match::Graph& graph)
    : own_count_(graph.own_count()), places_(graph.halo.ghosts.size()) {
  for (std::uint32_t r = 0; r < graph.halo.ghosts_of.size(); ++r) {
    const std::vector<NodeIndex>& ghosts = graph.halo.ghosts_of[r];
    for (std::uint32_t i = 0; i < ghosts.size(); ++i) places_[ghosts[i] - own_count_] = {r, i};
  }
}

}  // namespace entrain::clc
