// SPDX-License-Identifier: BSD-3-Clause
#include "engine/check_times.hpp"

#include "base/try.hpp"
#include "verify/check.hpp"

namespace entrain::engine {

Result<CheckReport> check_times(session::Workers& workers, const session::LoadedTrace& loaded,
                                std::span<const ClockMap> maps, const CheckOptions& options,
                                const ChosenMu& mu, const trace::ClockDomains& domains,
                                const Progress* progress) {
  const std::span<const std::uint32_t> clock_of =
      domains.trivial() ? std::span<const std::uint32_t>() : domains.of;
  const verify::TimesToCheck times{.maps = maps,
                                   .mu = mu.ticks,
                                   .clock_of = clock_of,
                                   .region_at = [&](LocationIndex l, std::uint64_t stamp) {
                                     return loaded.archive->region_at(l, stamp);
                                   }};
  CheckReport report;
  TRY(workers.run(
      loaded.trace, loaded.partition, [&](const trace::Share& share, unsigned) -> Result<void> {
        TRY_ASSIGN(CheckReport own, verify::check(share, times, options, Cancel(progress)));
        if (workers.speaks(share.team)) report = std::move(own);
        return {};
      }));
  report.mu_source = mu.source;
  return report;
}

}  // namespace entrain::engine
