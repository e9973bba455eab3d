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
  CheckReport report;
  TRY(workers.run(
      loaded.trace, loaded.partition, [&](const trace::Share& share, unsigned) -> Result<void> {
        TRY_ASSIGN(CheckReport own,
                   verify::check(share.team, share.partition, loaded.trace, maps, options, mu.ticks,
                                 loaded.archive.get(), progress, clock_of));
        if (workers.speaks(share.team)) report = std::move(own);
        return {};
      }));
  report.mu_source = mu.source;
  return report;
}

}  // namespace entrain::engine
