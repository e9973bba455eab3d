// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "clocks/rate_prior.hpp"

namespace entrain::engine {

/// Limits on rates that a user gave, of which some is too small for the edges.
struct GivenRates {
  const Clocks& clocks;
  Edges edges;
  std::uint32_t reference = 0;         ///< clock that rates are seen from; their number: none
  const clocks::RatePrior& prior;      ///< limit on mean rates, given or assumed
  std::optional<double> wander_ppm{};  ///< --max-rate-ppm; empty: it was not given
  std::int64_t wander_ppb = 0;         ///< limit on what rates leave their means by
  std::int64_t rate_ppb = 0;           ///< limit on rates at any moment
  std::string trace, contradiction;    ///< path; records that contradict the limits
};

/// Refuses a given limit, and names the least one that is possible together with the other limit.
/// Without an error only a limit that is assumed is too small. Errors: ErrorKind::input.
Result<void> refuse_given_rates(const GivenRates& given);

}  // namespace entrain::engine
