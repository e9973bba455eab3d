// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/load.hpp"
#include "engine/parallel.hpp"
#include "verify/check.hpp"

namespace entrain {

Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress) {
  Solo solo;
  return engine::check(solo, archive, options, progress);
}

Result<CheckReport> engine::check(Team& processes, const std::filesystem::path& archive,
                                  const CheckOptions& options, Progress* progress) {
  const MemoryLimit limit(options.memory_limit_bytes);
  Workers workers(processes, options.threads);
  TRY_ASSIGN(const LoadedTrace loaded, load(workers, archive, progress));
  TRY_ASSIGN(const Presynchronised presync, presynchronise(processes, loaded, options.presync));
  const ChosenMu mu = choose_mu(workers, loaded, presync.maps, options.mu);
  CheckReport report =
      verify::check(loaded.trace, presync.maps, options, mu.ticks, loaded.archive.get());
  report.presync = presync.method;
  report.mu_source = mu.source;
  return report;
}

}  // namespace entrain
