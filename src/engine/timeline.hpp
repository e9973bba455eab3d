// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "bounds/prove.hpp"
#include "causal/project.hpp"
#include "clocks/presync.hpp"
#include "constraints/context.hpp"
#include "diagnosis/clock_evidence.hpp"
#include "engine/mu.hpp"
#include "explain/explained.hpp"
#include "formats/source.hpp"
#include "match/graph.hpp"
#include "trace/clock_domains.hpp"
#include "trace/share.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

/// Positions of given edges and instances that an explanation sets aside; increasing.
struct IgnoredEdges {
  std::vector<std::uint32_t> edges, instances;

  [[nodiscard]] bool empty() const { return edges.empty() && instances.empty(); }
};

/// The times from which a check or a correction starts, and their origin.
///
/// Example: two processes, both clocks measured at begin and end of the program. `measured` maps
/// the stamp 1000 of process 1 to 1400. A message received there was sent at 1450, so its edge is
/// violated. `presync` bends the clock and maps the stamp to 1460. Amortization starts from there.
struct Timeline {
  trace::LoadedTrace loaded;
  bool has_given_edges = false;      ///< the edges are those of Source::given()
  std::vector<ClockMap> stored;      ///< Source::stored_times(); empty: no given clock was set back
  bool stored_violated = false;      ///< some edge is violated by the times as stored
  clocks::Presynchronised measured;  ///< maps from the clock sessions alone
  clocks::Presynchronised presync;   ///< the same, or aligned by the trace's edges: C
  ChosenMu mu;
  clocks::RatePrior prior;      ///< assumed rates of the clocks
  clocks::Reference reference;  ///< clock whose time unmeasured clocks get
  /// Empty for Purpose::check, unless edges are given, clocks are bent or mu is estimated.
  match::Graph graph;
  trace::Witness witness;       ///< the matcher's pairing of records where some are missing
  bool is_matched = false;      ///< the witness is known
  trace::ClockDomains domains;  ///< locations that get one map
  /// Clock domains by assumption, also where nothing had to be corrected.
  trace::ClockDomains shared_clocks;
  bool violated = false;  ///< some edge is violated under `measured`; false if not tested
  bool domains_are_guessed = false;  ///< the domains are split if the trace contradicts them
  bool domains_are_proved = false;   ///< the tracer names the domains: no contradiction splits them
  causal::Projection projection;     ///< how the presync was projected onto the edges
  TimelineReport report;
  explain::Told told;                         ///< explanation, if no clocks meet all edges
  std::vector<trace::WrongPair> wrong_pairs;  ///< pairs of records that are no edges; increasing
  IgnoredEdges set_aside;                     ///< the same of given edges
  bool is_unproven = false;                   ///< see formats::Source::is_unproven()
  /// No explanation of given edges was found: mostly since some clocks meet all of them.
  bool has_no_explanation = false;
  Counters left_out;                              ///< see AlignReport::left_out
  double scan_s = 0, presync_s = 0, match_s = 0;  ///< seconds spent, each without the others

  /// Maps of the measured times; `stored` if the times as stored violate edges, since only these
  /// show that a clock was set back.
  [[nodiscard]] std::span<const ClockMap> maps_as_stored() const {
    return stored_violated ? stored : measured.maps;
  }
};

/// Returns the trace and the graph of a timeline for the functions of causal/. The timeline must
/// outlive the result.
constraints::Context causal_context(trace::Workers& workers, const Timeline& timeline,
                                    const Progress* progress);

/// Returns the clocks of a timeline for diagnosis/. The timeline must outlive the result.
diagnosis::ClocksOfTrace diagnosed_clocks(trace::Workers& workers, const Timeline& timeline);

/// The next step after the timeline is found.
enum class Purpose {
  check,      ///< the graph is built only if needed, see Timeline::graph
  bounds,     ///< the graph is built
  correction  ///< the graph is built, clock domains are found, clocks are bent where necessary
};

/// How a timeline is used.
struct TimelineUse {
  Purpose purpose = Purpose::check;
  bool every_event = false;  ///< nodes for all communication events (match::Options)
  bool overlay = false;      ///< the maps are for an OTF2 reader, which needs knots around flushes
  /// An explanation was applied already, so that the edges are feasible; or there is none.
  bool is_explained = false;
  explain::SetClocks set_clocks{};  ///< given clocks that were set
  std::int64_t raised_ppb = 0;      ///< limit on rates that an explanation has raised; 0: none has
  const IgnoredEdges* set_aside = nullptr;  ///< given edges to ignore; null: none
  /// The same trace as an earlier timeline has read it; null: it is read.
  const trace::LoadedTrace* loaded = nullptr;
};

/// Fills `report` with the mean and the largest distance of the nodes' times by `presync` from
/// those by `measured`. Call it again if `presync` changes. Collective.
void measure_shift(trace::Workers& workers, Timeline& timeline);

/// Reads a trace and finds the times of its events. Collective over the processes; their number
/// does not affect the result. Errors: those of Source::load(), presynchronise() and
/// match::build_graph(); for given edges those of formats::check_edges() and formats::graph_of().
///
/// In a correction, Presync::automatic continues as Presync::causal if something is violated, there
/// are at most k_most_bent_clocks clocks, and the archive was not corrected before. Locations that
/// share a clock get one map, but only if something is violated: a trace without violations keeps
/// its times. Given edges are aligned without a fit where that leaves no violation: most clocks
/// stay as they are (GivenEdges::are_kept), or ends of collectives are brought together.
Result<Timeline> find_timeline(trace::Workers& workers, const formats::Source& source,
                               const CheckOptions& options, const TimelineUse& use,
                               Progress* progress);

/// Proves intervals of the clocks of a timeline (bounds::prove_intervals()). Collective.
Result<bounds::ProvenIntervals> prove(trace::Workers& workers, const Timeline& timeline,
                                      const BoundsOption& option, Progress* progress);

/// True if a report of these intervals needs their rows: they are asked for, or few enough for a
/// page to draw.
bool wants_rows(const Timeline& timeline, const bounds::ProvenIntervals& proven,
                const BoundsOption& option, bool page);

/// Compares maps with the intervals (bounds::judge()). Collective.
ClockBounds judge(trace::Workers& workers, const Timeline& timeline,
                  const bounds::ProvenIntervals& proven, std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::engine
