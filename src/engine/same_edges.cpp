// SPDX-License-Identifier: BSD-3-Clause
#include "engine/same_edges.hpp"

#include <algorithm>

namespace entrain::engine {

bool same_edges(const Edges& a, const Edges& b) {
  const auto same = [](const InstanceMember& x, const InstanceMember& y) {
    return x.clock == y.clock && x.time == y.time;
  };
  const auto alike = [](const CollectiveInstance& x, const CollectiveInstance& y) {
    return x.kind == y.kind && x.begins == y.begins && x.ends == y.ends;
  };
  return std::ranges::equal(a.cause_clock, b.cause_clock) &&
         std::ranges::equal(a.effect_clock, b.effect_clock) &&
         std::ranges::equal(a.cause_time, b.cause_time) &&
         std::ranges::equal(a.effect_time, b.effect_time) &&
         std::ranges::equal(a.members, b.members, same) &&
         std::ranges::equal(a.instances, b.instances, alike);
}

}  // namespace entrain::engine
