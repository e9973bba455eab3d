// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/causal.hpp"
#include "engine/guarantee.hpp"
#include "engine/load.hpp"
#include "engine/parallel.hpp"
#include "engine/presync.hpp"

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
  TRY_ASSIGN(Presynchronised presync, presynchronise(processes, loaded, options));
  TRY_ASSIGN(const ChosenMu mu, choose_mu(workers, loaded, presync.maps, options.mu, progress));
  std::optional<ClockBounds> bounds;
  if (options.presync == Presync::causal || options.bounds.wanted) {
    TRY_ASSIGN(const match::Graph graph, build_graph(workers, loaded, options, false, progress));
    if (options.presync == Presync::causal) {
      TRY(bend_by_edges(processes, loaded, graph, mu.ticks, presync, progress));
    }
    if (options.bounds.wanted) {
      TRY_ASSIGN(const ProvenIntervals proven, prove_intervals(processes, loaded, graph, mu, presync,
                                                               options.bounds, progress));
      bounds = judge(processes, loaded, proven, presync.maps, options.bounds.rows);
    }
  }
  if (progress != nullptr) progress->begin("check", 0);
  TRY_ASSIGN(CheckReport report, check(workers, loaded, presync.maps, options, mu, progress));
  report.presync = presync.method;
  report.clocks = std::move(presync.clocks);
  report.bounds = std::move(bounds);
  return report;
}

}  // namespace entrain
