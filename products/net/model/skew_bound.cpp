// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/skew_bound.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/exact.hpp"

namespace entrain::net {

Femtoseconds gap1(const Parameters& parameters, std::int64_t p2) {
  return parameters.cp * (parameters.bl * p2);
}

GapRange gap2(const Parameters& parameters, std::int64_t p1) {
  return {(parameters.ld + parameters.sd) * p1,
          (parameters.ld + parameters.sd * (parameters.ks - 1)) * p1};
}

Femtoseconds gap3(const Parameters& parameters, std::int64_t p2, Reading reading) {
  const std::int64_t mark = reading == Reading::published ? parameters.ks : parameters.kg;
  return parameters.rd + parameters.sd * (p2 * (parameters.bl - mark) - 1) +
         parameters.signal_delay() * p2;
}

GapRange lag_range(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                   Reading reading) {
  const GapRange release = gap2(parameters, p1);
  const Femtoseconds rest = gap3(parameters, p2, reading) - gap1(parameters, p2);
  return {release.least + rest, release.most + rest};
}

Femtoseconds skew_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          Reading reading) {
  const GapRange lag = lag_range(parameters, p1, p2, reading);
  return std::max(std::chrono::abs(lag.least), std::chrono::abs(lag.most));
}

Femtoseconds PairLinks::detour() const {
  return std::accumulate(fast.begin(), fast.end(), Femtoseconds(0)) -
         std::accumulate(slow.begin(), slow.end(), Femtoseconds(0));
}

Femtoseconds lead_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          const PairLinks& links, const BoundOptions& options) {
  Parameters without_links = parameters;
  without_links.ld = Femtoseconds(0);
  const Femtoseconds idle = parameters.cp * options.sending.guard_flits - parameters.rd;
  return links.detour() - lag_range(without_links, p1, p2, options.reading).least +
         std::max(idle, Femtoseconds(0));
}

Femtoseconds lag_of_held(const Parameters& parameters, const PairLinks& links,
                         const Sending& sending) {
  const Parameters& p = parameters;
  const bool physical = sending.model == LinkModel::at_link;
  // First the tail of the slow one passes, then the header of the fast one.
  const auto routers = static_cast<std::int64_t>(links.slow.size());
  Femtoseconds lag =
      (physical ? p.rd : p.sd) * routers - p.cp * sending.guard_flits + p.rd - links.detour();
  for (const Femtoseconds delay : links.fast) {
    const Femtoseconds signals =
        2 * (delay + p.fc);  // STOP or GO to the sender, and its effect back
    const std::int64_t held = std::min(p.ks + signals / p.cp, p.slot_flits);  // in the buffer
    // At one flit per cp the flits that drain make up for those injected, except for the last kg.
    lag +=
        physical ? signals - p.cp * (p.kg + 2) : signals + p.sd * (held - p.kg - 1) - p.cp * held;
    lag = std::min(lag, k_longest_lag);
  }
  return lag;
}

Femtoseconds skew_of_sss(const Parameters& parameters, Reading reading) {
  return skew_of_pair(parameters, 1, 1, reading);
}

Femtoseconds skew_of_step(const Parameters& parameters, std::int64_t level, Reading reading) {
  // The lag is linear in p1 and p2, so its extremes are at the ends of their ranges.
  const std::int64_t far = 2 * level - 1;
  const Femtoseconds least = std::min(lag_range(parameters, 1, 1, reading).least,
                                      lag_range(parameters, 1, far, reading).least);
  const Femtoseconds most = std::max(lag_range(parameters, far, 1, reading).most,
                                     lag_range(parameters, far, far, reading).most);
  return std::max(std::chrono::abs(least), std::chrono::abs(most));
}

Femtoseconds skew_of_hss(const Parameters& parameters, std::int64_t levels, Reading reading) {
  Femtoseconds sum = skew_of_step(parameters, levels - 1, reading);
  for (std::int64_t level = 1; level <= levels - 2; ++level)
    sum += 2 * skew_of_step(parameters, level, reading);
  return sum;
}

std::int64_t interval_slots(const Parameters& parameters, Femtoseconds skew,
                            std::int64_t drift_ppb) {
  const Int128 room = Int128{parameters.slot().count()} - 2 * Int128{skew.count()};
  if (room <= 0) return 0;
  const Int128 drift = 2 * Int128{parameters.slot().count()} * std::max<std::int64_t>(drift_ppb, 1);
  return static_cast<std::int64_t>(room * k_billion / drift);
}

double overhead_share(std::int64_t slots, std::int64_t interval) {
  if (interval <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(slots) / static_cast<double>(interval);
}

}  // namespace entrain::net
