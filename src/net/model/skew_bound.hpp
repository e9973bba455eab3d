// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "net/model/link_model.hpp"
#include "net/model/parameters.hpp"

/// The skew model of H. J. Song, "Synchronization of Network Interfaces in System Area Networks"
/// (2005), section 4. All of it is exact: sums of whole femtoseconds.
namespace entrain::net {

/// What drains before GO is sent. Equation (3) is printed with bl - kg; every number that the paper
/// publishes was computed with bl - ks.
enum class Reading { published, printed };

inline constexpr const char* name_of(Reading reading) {
  return reading == Reading::published ? "published" : "printed";
}

/// Smallest and largest value of a gap.
struct GapRange {
  Femtoseconds least{0};
  Femtoseconds most{0};
};

/// Equation (1): the fast interface injects this long before STOP reaches it; p2 routers between it
/// and the destination.
Femtoseconds gap1(const Parameters& parameters, std::int64_t p2);
/// Equation (2): from the tail's injection until it has left the contested link; p1 routers between
/// the slow interface and the destination.
GapRange gap2(const Parameters& parameters, std::int64_t p1);
/// Equation (3): from the release of the link until GO reaches the fast interface.
Femtoseconds gap3(const Parameters& parameters, std::int64_t p2, Reading reading);

/// gap2 + gap3 - gap1, the fast interface's lag behind the slow one (negative: its lead).
/// Equation (5), GAPmin and GAPmax.
GapRange lag_range(const Parameters& parameters, std::int64_t p1, std::int64_t p2, Reading reading);

/// Equations (4) and (5): bound of the skew after one direct precedence.
Femtoseconds skew_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          Reading reading);

/// Links from the slow and from the fast interface of a direct precedence to the router where their
/// packets meet: the delay of each.
struct PairLinks {
  std::vector<Femtoseconds> slow;
  std::vector<Femtoseconds> fast;

  /// How much longer the way of the fast one is; negative: shorter.
  [[nodiscard]] Femtoseconds detour() const;
};

/// How far the fast interface can be ahead after a direct precedence, where links have delays of
/// their own: -GAPmin without ld, and its detour, as what arrives in step has left by so much
/// earlier. With LinkModel::at_link the idle flits let it get ahead by as much more, less rd.
Femtoseconds lead_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          Reading reading, const PairLinks& links, const Sending& sending);

/// Lags do not count beyond; sums of two of them stay within 64 bits.
inline constexpr Femtoseconds k_longest_lag = std::chrono::seconds(1000);

/// How far the fast interface ends behind the slow one once it was held; negative: ahead. On its
/// way each buffer takes ks flits and those that come while STOP is on its way, and drains to kg.
Femtoseconds lag_of_held(const Parameters& parameters, const PairLinks& links,
                         const Sending& sending);

/// Equation (8).
Femtoseconds skew_of_sss(const Parameters& parameters, Reading reading);

/// Equation (9): bound of a step among leaders at level i >= 1, who are 2 to 2i hops apart.
Femtoseconds skew_of_step(const Parameters& parameters, std::int64_t level, Reading reading);

/// Equation (10), for a tree with `levels` levels of nodes, the interfaces' among them; 2 to 32.
/// With 2 levels it is equation (8).
Femtoseconds skew_of_hss(const Parameters& parameters, std::int64_t levels, Reading reading);

/// Equation (11): whole time slots after which the schedule has to run again. 0 if the skew alone
/// is more than half a slot; a drift of 0 counts as 1 ppb.
std::int64_t interval_slots(const Parameters& parameters, Femtoseconds skew,
                            std::int64_t drift_ppb);

/// Equation (12), from the whole number of slots as the paper's tables are: share of the time that
/// a schedule of `slots` takes; infinity if the interval is 0.
double overhead_share(std::int64_t slots, std::int64_t interval);

/// Slots of HSS in a full tree of k-port switches: 2 (m - 2) (k - 1) + k.
constexpr std::int64_t full_tree_slots(std::int64_t ports, std::int64_t levels) {
  return 2 * (levels - 2) * (ports - 1) + ports;
}

}  // namespace entrain::net
