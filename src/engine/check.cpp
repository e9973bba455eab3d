// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/load.hpp"
#include "verify/check.hpp"

namespace entrain {

Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress) {
  TRY_ASSIGN(const engine::LoadedTrace loaded, engine::load(archive, options.threads, progress));
  TRY_ASSIGN(const engine::Presynchronised presync,
             engine::presynchronise(loaded.trace, options.presync));
  const engine::ChosenMu mu = engine::choose_mu(loaded.trace, presync.maps, options.mu);
  CheckReport report =
      verify::check(loaded.trace, presync.maps, options, mu.ticks, loaded.archive.get());
  report.presync = presync.method;
  report.mu_source = mu.source;
  return report;
}

}  // namespace entrain
