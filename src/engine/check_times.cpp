// SPDX-License-Identifier: BSD-3-Clause
#include "engine/check_times.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "verify/check.hpp"

namespace entrain::engine {

Result<CheckReport> check_times(const CheckSetting& setting, const session::LoadedTrace& loaded,
                                std::span<const ClockMap> maps) {
  session::Workers& workers = setting.workers;
  const trace::ClockDomains& domains = setting.domains;
  const std::span<const std::uint32_t> clock_of =
      domains.trivial() ? std::span<const std::uint32_t>() : domains.of;
  verify::TimesToCheck times{.maps = maps,
                             .mu = setting.mu.ticks,
                             .pair_mu = &setting.mu.pairs,
                             .clock_of = clock_of,
                             .known_acyclic = setting.known_acyclic};
  std::mutex mutex;
  Result<void> named;  // whether the regions of the worst edges could be looked up
  if (loaded.source != nullptr) {
    times.region_at = [&](LocationIndex l, std::uint64_t stamp) {
      auto region = loaded.source->region_at(l, stamp);
      if (region) return *std::move(region);
      const std::lock_guard lock(mutex);
      if (named) named = tl::unexpected<Error>(region.error());
      return std::string();
    };
  }
  CheckReport report;
  TRY(workers.run(
      loaded.trace, loaded.partition, [&](const trace::Share& share, unsigned) -> Result<void> {
        std::optional<page::Survey> survey;
        verify::TimesToCheck own_times = times;
        if (setting.survey != nullptr) {
          own_times.observer = &survey.emplace(setting.survey->scope());
        }
        TRY_ASSIGN(CheckReport own,
                   verify::check(share, own_times, setting.options, Cancel(setting.progress)));
        if (survey) survey->gather(share.team);
        if (!workers.speaks(share.team)) return {};
        report = std::move(own);
        if (survey) *setting.survey = std::move(*survey);
        return {};
      }));
  TRY(workers.processes().agree(std::move(named)));
  report.mu_source = setting.mu.source;
  return report;
}

}  // namespace entrain::engine
