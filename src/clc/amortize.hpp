// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

struct Options {
  std::optional<Decimal9> gamma;  ///< empty: control loop
  /// Displacement up to which it keeps the gamma of a location, ticks; empty: found by a pass.
  std::optional<std::int64_t> epsilon_ticks;
  std::int64_t delta_ticks = 0;    ///< least distance of neighbouring events, as far as C has it
  bool measure_delta = false;      ///< take the smallest granule of each process instead
  bool separate = false;           ///< see ForwardProblem::separate
  Decimal9 max_slope{10'000'000};  ///< largest slope of a ramp: ticks of correction per tick
  bool backward = true;            ///< build up jumps by ramps
  RampShape ramp = RampShape::taut;
  MuTicks mu_ticks{};    ///< minimum latency of edges by class
  unsigned threads = 1;  ///< 0: all cores; the result does not depend on it
  /// The maps will be applied to events and flushes one by one, not by an OTF2 reader: events that
  /// the trace places inside a buffer flush can be moved by themselves.
  bool split_flushes = false;
  bool keep_times = false;  ///< return the times of the nodes too
};

/// The correction of a trace. In a team, arrays have this member's nodes; passes, gamma, jumps and
/// cycles are those of the whole.
struct Amortization {
  // With Options::keep_times, else empty:
  BigVector<std::int64_t> presync;    ///< C per node, ticks
  BigVector<std::int64_t> forward;    ///< LC' per node
  BigVector<std::int64_t> corrected;  ///< LC'' per node, as the clock maps give it

  std::vector<ClockMap> maps;  ///< one for each location: local ticks -> LC''; locations of other
                               ///< members: presync
  std::vector<AmortizationPass> passes;
  Decimal9 gamma;                             ///< the smallest one of all locations
  std::vector<Decimal9> gamma_of;             ///< each location's gamma; empty: all have `gamma`
  std::vector<std::int64_t> error_of;         ///< each location's largest LC' - C, ticks
  std::optional<std::int64_t> epsilon_ticks;  ///< error bound that chose the gammas, ticks
  /// Smallest and largest delta, with Options::measure_delta.
  std::optional<std::array<std::int64_t, 2>> measured_delta;
  std::uint64_t jumps = 0;  ///< receives that forward amortization had to push
  Counters cycles;          ///< "tied_components", "tied_nodes", "dropped_components", ...
  double forward_s = 0;     ///< seconds spent
  double backward_s = 0;
};

/// Forward amortization with the gamma control loop, backward amortization, and the clock maps
/// that carry the result (docs/method.md, sections 1, 4, 5).
///
/// `presync` holds one map per location, monotone; the trace supplies first and last stamps and
/// flush intervals. In a team both only need to be there for this member's locations. Locations
/// that no jump touches get their presync map back, knot for knot. The graph is taken over (cycles
/// may cost it edges). Bit-identical for every team. Errors, the same at every member:
/// ErrorKind::input if a time leaves the range of +-2^61 ticks, or if clocks are so far apart (more
/// than 2^50 ticks) that rounding leaves violations; ErrorKind::interrupted when `progress` (may be
/// null) asks for it.
///
/// Example with gamma 0.9 and max_slope 0.01: process 0 sends at 10,000, process 1 receives at
/// 9,900 and has a later event at 20,000 and an earlier one at 0. The receive jumps by 100 to
/// 10,000. The jump decays by 1 tick per 10 until 10,900. The ramp before it rises by 1 tick per
/// 100, from 1 at stamp 0. The map of process 1 has the knots (0; 1), (9,900; 100), (10,900; 0),
/// (20,000; 0), (20,001; 0).
Result<Amortization> amortize(const trace::Share& share, match::Graph graph,
                              std::span<const ClockMap> presync, const Options& options,
                              const Progress* progress = nullptr);

/// The same for a whole graph; never interrupted.
Result<Amortization> amortize(match::Graph graph, const trace::Trace& trace,
                              std::span<const ClockMap> presync, const Options& options);

}  // namespace entrain::clc
