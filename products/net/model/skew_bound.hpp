// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "net/model/link_model.hpp"
#include "net/model/parameters.hpp"

/// The skew model of H. J. Song, "Synchronization of Network Interfaces in System Area Networks"
/// (2005), section 4. All values are exact: sums of whole femtoseconds.
///
/// A *skew bound* is the largest skew of two clocks that the paper's equations allow after a
/// schedule ("bounded skew" in the paper, `net bound` in the tool). It follows from a model of the
/// network and not from measurements, unlike the proved bounds of `entrain check --bounds`.
///
/// Example: two interfaces on one switch (p1 = p2 = 1) with the default Parameters. The slow one
/// sends to d in one slot, the fast one to d in the next, so the packet of the fast one must wait.
///
///     gap1 = bl cp = 64 x 6.25 ns                                = 400 ns
///     gap2 = ld + sd to ld + (ks - 1) sd                         = 19 to 121 ns
///     gap3 = rd + (bl - ks - 1) sd + ld + 2 fc                   = 143.52 ns
///     lag  = gap2 + gap3 - gap1                                  = -237.48 to -135.48 ns
///     skew bound = the larger absolute value                     = 237.48 ns
///
/// The fast interface ends at most 237.48 ns ahead. At a drift of 300 ppm the schedule runs again
/// every (12,500 - 2 x 237.48) / (2 x 12,500 x 0.0003) = 1,603 slots of 12,500 ns (equation 11).
namespace entrain::net {

/// Which term drains before GO is sent. Equation (3) is printed with bl - kg, but every number that
/// the paper publishes was computed with bl - ks.
enum class Reading { published, printed };

inline constexpr const char* name_of(Reading reading) {
  return reading == Reading::published ? "published" : "printed";
}

/// Smallest and largest value of a gap.
struct GapRange {
  Femtoseconds least{0};
  Femtoseconds most{0};
};

/// Equation (1): how long the fast interface injects before STOP reaches it. There are p2 routers
/// between it and the destination.
Femtoseconds gap1(const Parameters& parameters, std::int64_t p2);
/// Equation (2): from the injection of the tail until it has left the contested link. There are p1
/// routers between the slow interface and the destination.
GapRange gap2(const Parameters& parameters, std::int64_t p1);
/// Equation (3): from the release of the link until GO reaches the fast interface.
Femtoseconds gap3(const Parameters& parameters, std::int64_t p2, Reading reading);

/// Equation (5), GAPmin and GAPmax: gap2 + gap3 - gap1, how much the fast interface ends after the
/// slow one. Negative: the fast one ends ahead.
GapRange lag_range(const Parameters& parameters, std::int64_t p1, std::int64_t p2, Reading reading);

/// Equations (4) and (5): the skew bound after one direct precedence.
Femtoseconds skew_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          Reading reading);

/// The delays of the links of a direct precedence, from the slow and from the fast interface to the
/// router where their packets meet.
struct PairLinks {
  std::vector<Femtoseconds> slow;
  std::vector<Femtoseconds> fast;

  /// How much longer the way of the fast interface is. Negative: shorter.
  [[nodiscard]] Femtoseconds detour() const;
};

/// Choices that a skew bound depends on beside the parameters.
struct BoundOptions {
  Reading reading = Reading::published;
  Sending sending = {};  ///< counts only where links have different delays
};

/// How far the fast interface can be ahead after a direct precedence, where links have delays of
/// their own: -GAPmin without ld, plus its detour, because flits that arrive together have left
/// that much apart. With LinkModel::at_link the idle flits, less rd, let it get further ahead.
Femtoseconds lead_of_pair(const Parameters& parameters, std::int64_t p1, std::int64_t p2,
                          const PairLinks& links, const BoundOptions& options);

/// Largest lag that counts; sums of two of them stay within 64 bits.
inline constexpr Femtoseconds k_longest_lag = std::chrono::seconds(1000);

/// How much the fast interface ends after the slow one once it was held. Negative: it ends ahead.
/// Each buffer on its way takes ks flits and those that arrive while STOP travels; it drains to kg.
Femtoseconds lag_of_held(const Parameters& parameters, const PairLinks& links,
                         const Sending& sending);

/// Equation (8): the skew bound of SSS, the schedule of one switch.
Femtoseconds skew_of_sss(const Parameters& parameters, Reading reading);

/// Equation (9): the skew bound of one step between leaders at level i >= 1, which are 2 to 2i hops
/// apart.
Femtoseconds skew_of_step(const Parameters& parameters, std::int64_t level, Reading reading);

/// Equation (10): the skew bound of HSS in a tree with `levels` levels of nodes, including that of
/// the interfaces; 2 to 32. With 2 levels it equals equation (8).
Femtoseconds skew_of_hss(const Parameters& parameters, std::int64_t levels, Reading reading);

/// Equation (11): number of whole time slots after which the schedule has to run again. It is 0 if
/// the skew alone exceeds half a slot. A drift of 0 counts as 1 ppb.
std::int64_t interval_slots(const Parameters& parameters, Femtoseconds skew,
                            std::int64_t drift_ppb);

/// Equation (12): share of the time that a schedule of `slots` takes, computed from a whole number
/// of slots as in the paper's tables. Infinity if the interval is 0.
double overhead_share(std::int64_t slots, std::int64_t interval);

/// Slots of HSS in a full tree of k-port switches: 2 (m - 2) (k - 1) + k.
constexpr std::int64_t full_tree_slots(std::int64_t ports, std::int64_t levels) {
  return 2 * (levels - 2) * (ports - 1) + ports;
}

}  // namespace entrain::net
