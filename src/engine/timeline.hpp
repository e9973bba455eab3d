// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "causal/context.hpp"
#include "clocks/presync.hpp"
#include "engine/mu.hpp"
#include "match/graph.hpp"
#include "session/load.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::engine {

/// The times that a check or a correction starts from, and how they were found.
struct Timeline {
  session::LoadedTrace loaded;
  clocks::Presynchronised measured;  ///< what the clock sessions say
  clocks::Presynchronised presync;   ///< the same, or bent by the trace's edges: C
  ChosenMu mu;
  match::Graph graph;  ///< only if asked for
  trace::ClockDomains domains;
  /// Clocks that locations may be believed to share, also where nothing had to be corrected.
  trace::ClockDomains shared_clocks;
  bool violated = false;  ///< something is, by what was measured; known of a correction only
  bool domains_are_guessed = false;  ///< may be split when the trace turns out to contradict them
  TimelineReport report;
  double scan_s = 0, presync_s = 0, match_s = 0;  ///< seconds spent, each without the others
};

/// The trace of a timeline with its graph, as functions of causal/ want it. The timeline must
/// outlive it.
causal::Context causal_context(session::Workers& workers, const Timeline& timeline,
                               const Progress* progress);

/// What a timeline is for.
struct TimelineUse {
  bool graph = false;  ///< build the graph, even if nothing else needs it
  bool correction =
      false;  ///< build the graph, find clock domains, bend clocks if that is called for
  bool every_event = false;  ///< nodes for all communication events (match::Options)
  bool writing = false;      ///< refuse an archive that cannot be written anew, before long work
  bool overlay = false;      ///< the maps are for an OTF2 reader, which needs knots around flushes
};

/// How far presync moves the times of nodes, against what was measured: mean and largest. To be
/// told again if the presync changes. Collective.
void measure_shift(session::Workers& workers, Timeline& timeline);

/// Reads an archive and finds the times of its events. Collective over the processes; the same for
/// any number of them. Errors: as of load(), presynchronise() and match::build_graph().
///
/// Presync::automatic of a correction is Presync::causal where something is violated and the
/// archive was not corrected before. Locations that share a clock get one map, but only where
/// something is violated: nothing changes in a trace that is fine.
Result<Timeline> find_timeline(session::Workers& workers, const std::filesystem::path& archive,
                               const CheckOptions& options, const TimelineUse& use,
                               Progress* progress);

}  // namespace entrain::engine
