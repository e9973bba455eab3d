// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

struct Projection {
  std::int64_t moved = 0;            ///< largest move of an event of an edge, ticks; 0: maps stay
  std::uint64_t contradictions = 0;  ///< certificates that no clocks meet all edges; then maps stay
  std::uint32_t rounds = 0;          ///< systems that were solved
};

/// Limits on the rates of clocks, seen from the reference; parts per billion, at most a tenth.
struct AssumedRates {
  std::int64_t rate_ppb = 0;  ///< limit on momentary rates
  std::int64_t mean_ppb = 0;  ///< limit on the mean from the first event of a clock to its last
  /// False: they are defaults. Then the mean rate alone is a claim, and a clock may be as fast as
  /// the estimate makes it where that is impossible.
  bool is_given = false;
};

/// Intervals in which clocks lie, seen from one of them.
struct KnownTimes {
  std::uint32_t reference = 0;  ///< domain of that clock
  /// Stamps of each domain between which intervals are nowhere narrower than straight lines are.
  std::vector<std::vector<std::uint64_t>> stamps;
  /// A clock reads `stamp` between `lower` and `upper` ticks of common time after it.
  struct Offsets {
    std::int64_t lower = 0, upper = 0;
  };
  /// Empty: nothing is known. The same at every process.
  std::function<std::optional<Offsets>(std::uint32_t domain, std::uint64_t stamp)> at;
};

/// Moves the maps of an estimate to clocks that violate no edge: to the middle between the least
/// such clocks above and the greatest ones below (docs/method.md, section 8).
///
/// Sessions with half-widths hold. The reference is the master of the sessions, or that of the
/// context, and stays if the estimate gives it a constant offset; else no clock is held. Maps that
/// violate nothing stay to the bit, and so do all maps if no such clocks exist.
///
/// `maps`: one per location, the same for all locations of a domain. The maps do not depend on the
/// number of threads or processes. Errors: ErrorKind::interrupted. Collective.
Result<Projection> project_onto_edges(const constraints::Context& context,
                                      const trace::ClockDomains& domains, const AssumedRates& limit,
                                      std::span<ClockMap> maps);

/// Moves maps that leave known intervals into these, and so that they still violate no edge: by the
/// same projection, whose moves change as slowly as is possible. Where to the tick no clocks meet
/// both, they lie in the intervals. The map of the reference stays, and so do all if they are
/// inside. The rest is as above.
Result<Projection> project_into_intervals(const constraints::Context& context,
                                          const trace::ClockDomains& domains,
                                          const KnownTimes& known, std::span<ClockMap> maps);

}  // namespace entrain::causal
