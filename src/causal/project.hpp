// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace entrain::causal
