// SPDX-License-Identifier: BSD-3-Clause
#include "verify/edges.hpp"

#include <algorithm>
#include <bit>

namespace entrain::verify {

void sort_sides(Instance& instance) {
  const auto before = [&](const Moment& a, const Moment& b) {
    return instance.ordered ? a.rank < b.rank : a.event.location < b.event.location;
  };
  for (auto* side : {&instance.sends, &instance.receives}) {
    if (!std::is_sorted(side->begin(), side->end(), before)) {
      std::sort(side->begin(), side->end(), before);
    }
  }
}

void sum_over_members(Team& team, LeftOut& counters) {
  // Both structs hold nothing but counters of 64 bits.
  using Values = std::array<std::int64_t, sizeof(LeftOut) / sizeof(std::int64_t)>;
  auto values = std::bit_cast<Values>(counters);
  team.reduce(Team::Reduction::sum, values);
  counters = std::bit_cast<LeftOut>(values);
}

}  // namespace entrain::verify
