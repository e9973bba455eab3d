// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "match/graph.hpp"
#include "trace/pair_mu.hpp"
#include "trace/share.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

/// The minimum latency (mu) per class, and its origin.
struct ChosenMu {
  MuTicks ticks{};
  MuProvenance source;
  trace::PairMu pairs = {};  ///< mu of messages between two machines, where more is known
};

/// Chooses mu by `option`. Values above trace::k_largest_mu are cut to it, and such values that an
/// archive carries are not believed. MuSource::delays and round_trip count as MuSource::automatic:
/// they need an archive, or a graph.
ChosenMu choose_mu(const trace::Trace& trace, const MuOption& option);
/// The same for a trace that the processes of a run share; `maps` give the times C. `graph`: its
/// messages, for MuSource::round_trip; null: there are none. Collective. Errors: ErrorKind::input
/// for MuSource::delays as clocks::read_delay_mu(), which reads where the clock sessions come from.
Result<ChosenMu> choose_mu(trace::Workers& workers, const trace::LoadedTrace& loaded,
                           std::span<const ClockMap> maps, const CheckOptions& options,
                           const match::Graph* graph);

}  // namespace entrain::engine
