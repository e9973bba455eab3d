// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/big_vector.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// A position in a list of nodes that two members of a team have in the same order.
struct HaloPlace {
  std::uint32_t rank = 0;   ///< the other member
  std::uint32_t index = 0;  ///< position in Halo::ghosts_of[rank] or Halo::shown_to[rank]
};

/// Where the ghosts of a member stand in Halo::ghosts_of.
///
/// Example: a member has 100 nodes of its own. Ghost 102 is the second one of member 3, so its
/// place is {3, 1}.
class GhostPlaces {
 public:
  explicit GhostPlaces(const match::Graph& graph);

  [[nodiscard]] HaloPlace of(NodeIndex ghost) const { return places_[ghost - own_count_]; }

 private:
  std::size_t own_count_;
  BigVector<HaloPlace> places_;  ///< place of each ghost
};

}  // namespace entrain::clc
