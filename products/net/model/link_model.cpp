// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/link_model.hpp"

#include <algorithm>

#include "base/exact.hpp"

namespace entrain::net {

std::int64_t usual_guard_flits(const Parameters& parameters, LinkModel model,
                               Femtoseconds longest) {
  if (model == LinkModel::at_switch) return 0;
  const auto flits_of = [&](Femtoseconds time) {
    return static_cast<std::int64_t>(ceil_div(time.count(), parameters.cp.count()));
  };
  const std::int64_t piled_up = flits_of(parameters.rd);
  const std::int64_t behind = flits_of(2 * (parameters.rd + longest + parameters.fc));
  const std::int64_t wanted = std::max(piled_up + static_cast<std::int64_t>(ceil_div(piled_up, 4)),
                                       behind - parameters.kg - 2);
  return std::min(wanted, parameters.slot_flits - parameters.bl - 1);
}

DelayRange link_delays(const Topology& topology, const Parameters& parameters) {
  DelayRange range{Femtoseconds::max(), Femtoseconds(0)};
  for (const Link& link : topology.links()) {
    const Femtoseconds delay = link.delay.value_or(parameters.ld);
    range.least = std::min(range.least, delay);
    range.most = std::max(range.most, delay);
  }
  return range;
}

}  // namespace entrain::net
