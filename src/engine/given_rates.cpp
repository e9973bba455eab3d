// SPDX-License-Identifier: BSD-3-Clause
#include "engine/given_rates.hpp"

#include <fmt/format.h>

#include "explain/least_limit.hpp"

namespace entrain::engine {

Result<void> refuse_given_rates(const GivenRates& given) {
  const auto least = [&](std::int64_t mean_ppb, std::optional<std::int64_t> wander_ppb) {
    return explain::find_least_limit(
        given.clocks, given.edges,
        {.mean_ppb = mean_ppb, .wander_ppb = wander_ppb, .reference = given.reference});
  };
  const auto refuse = [&](const char* option, double ppm, const explain::LeastLimit& limit) {
    return fail(ErrorKind::input,
                fmt::format("{} {:.9g} is too small for {}: no clocks within {:.9g} ppm at any "
                            "moment meet all edges, as these show: {}{}",
                            option, ppm, given.trace, static_cast<double>(given.rate_ppb) / 1e3,
                            given.contradiction,
                            limit ? fmt::format("; the edges need at least {} {:.9g}", option,
                                                static_cast<double>(*limit) / 1e3)
                                  : ""));
  };
  const auto is_unknown = [](const explain::LeastLimit& limit) {
    return !limit && limit.error() == explain::NoLimit::too_long;
  };
  const clocks::RatePrior& prior = given.prior;
  if (given.wander_ppm) {
    const auto found =
        least(prior.mean_given ? prior.mean_ppb : clocks::k_any_mean_ppb, std::nullopt);
    if (found && *found > given.wander_ppb) {
      return refuse("--max-rate-ppm", *given.wander_ppm, found);
    }
  }
  if (!prior.mean_given) return {};
  if (!given.wander_ppm) {  // if any is enough beside the means, only the assumed one is raised
    const auto any = least(prior.mean_ppb, std::nullopt);
    if (any || is_unknown(any)) return {};
  }
  const auto found =
      least(prior.mean_ppb, given.wander_ppm ? given.wander_ppb : clocks::k_any_mean_ppb);
  if (is_unknown(found)) return {};
  return refuse("--max-mean-rate-ppm", static_cast<double>(prior.mean_ppb) / 1e3, found);
}

}  // namespace entrain::engine
