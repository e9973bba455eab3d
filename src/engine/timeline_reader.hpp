// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "clocks/measured_apart.hpp"
#include "engine/timeline.hpp"
#include "formats/edge_graph.hpp"
#include "formats/given_trace.hpp"
#include "trace/phase.hpp"

namespace entrain::engine {

/// Reads what a timeline is found from: the trace, its sessions, and its edges. Collective.
class TimelineReader {
 public:
  TimelineReader(trace::Workers& workers, const formats::Source& source,
                 const CheckOptions& options, const TimelineUse& use, Progress* progress)
      : workers_(workers),
        processes_(workers.processes()),
        source_(source),
        given_(source.given()),
        options_(options),
        use_(use),
        progress_(progress) {
    if (!given_) return;
    if (given_->are_kept) options_.clock_domain = ClockDomain::location;
    ClockKind& kind = options_.clock_prior.kind;
    if (kind == ClockKind::automatic) kind = given_->kind;
  }

 protected:
  [[nodiscard]] constraints::Context context() const {
    return causal_context(workers_, t_, progress_);
  }

  /// Reads the trace, or makes one of given clocks and edges, and finds the maps by sessions alone.
  /// `domains`: per location, or empty; locations with equal numbers get one process.
  Result<void> read(std::span<const std::uint32_t> domains) {
    t_.graph = {};
    t_.is_matched = false;
    clocks::PresyncOptions presync(options_);
    TRY(given_ ? take_given() : load(domains));
    if (given_) presync.exchanges = &exchanges_;
    const Stopwatch watch(t_.presync_s);
    TRY_ASSIGN(t_.measured, clocks::presynchronise(t_.loaded.share(processes_), presync));
    t_.prior = clocks::rate_prior(t_.loaded.share(processes_), options_.clock_prior);
    TRY_ASSIGN(t_.reference, clocks::find_reference(t_.loaded.trace.definitions, options_.reference,
                                                    t_.prior.kind));
    return {};
  }

  /// Chooses mu; builds the graph if it is estimated from that.
  Result<void> find_mu() {
    const bool is_estimated = !given_ && options_.mu.source == MuSource::round_trip;
    if (is_estimated) TRY(match());
    TRY_ASSIGN(t_.mu, choose_mu(workers_, t_.loaded, t_.measured.maps, options_,
                                given_ ? nullptr : &t_.graph));
    return is_estimated ? build_graph() : Result<void>();
  }

  /// Builds the graph of an archive, if that is not done yet. Requires mu.
  Result<void> build_graph() {
    if (given_) return {};
    if (!t_.is_matched) TRY(match());
    match::set_pair_mu(t_.graph, t_.mu.pairs, t_.mu.ticks);
    return {};
  }

  /// Makes the graph of the given edges. Returns what it ignores.
  Result<Counters> make_graph() {
    trace::Trace& trace = t_.loaded.trace;
    const MuTicks mu = choose_mu(trace, options_.mu).ticks;
    TRY_ASSIGN(formats::EdgeGraph made, formats::graph_of(trace.definitions, given_->edges, mu,
                                                          options_.threads, progress_));
    trace.locations = formats::skeletons_of(given_->clocks, made.graph);
    for (const trace::LocationSkeleton& location : trace.locations) {
      made.graph.granule.push_back(location.granule);
    }
    t_.graph = std::move(made.graph);
    return std::move(made.left_out);
  }

  trace::Workers& workers_;
  Team& processes_;
  const formats::Source& source_;
  std::optional<formats::GivenEdges> given_;
  CheckOptions options_;
  const TimelineUse& use_;
  Progress* progress_;
  Timeline t_;

 private:
  static Result<void> check_given(const CheckOptions& options) {
    if (options.clock_records == ClockRecords::add) {
      return fail(
          ErrorKind::usage,
          "--clock-records add needs an OTF2 archive and --clock-samples: other traces have no "
          "clock records");
    }
    if (options.mu.source == MuSource::delays || options.mu.source == MuSource::round_trip) {
      return fail(ErrorKind::usage,
                  "edges show no latencies; give mu in seconds, as 1tick or auto, or min_delay for "
                  "each edge");
    }
    if (!options.clock_samples.empty()) {
      return fail(ErrorKind::usage,
                  "edges belong to no ranks of MPI, so --clock-samples does not say whose "
                  "measurements they are; give them as sessions of the clocks");
    }
    return {};
  }
  Result<void> load(std::span<const std::uint32_t> domains) {
    if (use_.loaded != nullptr && domains.empty()) {
      t_.loaded = *use_.loaded;
      return {};
    }
    if (options_.clock_samples.empty() && options_.clock_records == ClockRecords::add) {
      return fail(ErrorKind::usage,
                  "--clock-records add needs --clock-samples: by itself the archive has nothing "
                  "else than its records");
    }
    {
      const Stopwatch watch(t_.scan_s);
      t_.loaded = {};
      TRY_ASSIGN(t_.loaded, source_.load(workers_, domains, progress_));
    }
    if (!options_.clock_samples.empty()) {
      TRY(clocks::use_measurements(options_.clock_samples, options_.clock_records, processes_,
                                   t_.loaded.partition, t_.loaded.trace));
    }
    return {};
  }
  Result<void> take_given() {
    TRY(check_given(options_));
    const Stopwatch watch(t_.match_s);
    trace::begin_phase(progress_, "match");
    const Clocks& clocks = given_->clocks;
    TRY(formats::check_edges(clocks, given_->edges, options_.threads));
    trace::Trace& trace = t_.loaded.trace;
    trace.path = clocks.name;
    trace.definitions = formats::definitions_of(clocks);
    t_.loaded.partition = trace::undivided(trace.definitions);
    t_.has_given_edges = true;
    t_.stored = source_.stored_times();
    if (std::ranges::all_of(t_.stored, &ClockMap::is_identity)) t_.stored.clear();
    exchanges_ = formats::exchanges_of(clocks);
    TRY_ASSIGN(t_.left_out, make_graph());
    return {};
  }
  Result<void> match() {
    const Stopwatch watch(t_.match_s);
    trace::begin_phase(progress_, "match");
    TRY_ASSIGN(t_.graph,
               match::build_graph(t_.loaded.share(processes_),
                                  {.dense_alltoallv = options_.alltoallv == AlltoallvRule::dense,
                                   .init_finalize = options_.init_finalize,
                                   .every_event = use_.every_event,
                                   .threads = workers_.threads()},
                                  progress_));
    t_.witness = std::move(t_.graph.witness);
    t_.is_matched = true;
    return {};
  }

  std::map<LocationIndex, clocks::LocationSamples> exchanges_;  ///< exchanges of given sessions
};

}  // namespace entrain::engine
