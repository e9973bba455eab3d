// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "clc/control.hpp"
#include "clc/forward.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Of a correction gamma, delta_ticks, measure_delta, max_slope, backward and ramp count.
struct Options : CorrectOptions {
  /// Displacement up to which the loop keeps the gamma of a location, ticks; empty: from a pass
  /// with the smallest gamma.
  std::optional<std::int64_t> epsilon_ticks{};
  bool separate = false;  ///< see ForwardProblem::separate
  MuTicks mu_ticks{};     ///< minimum latency of edges by class
  unsigned threads = 1;   ///< 0: all cores; the result does not depend on it
  /// The maps will be applied to every stamp by itself, not by an OTF2 reader. So they may bend
  /// inside a buffer flush that has events inside.
  bool split_flushes = false;
  bool keep_times = false;  ///< also return the times of the nodes
};

/// The correction of a trace. In a team, times are those of this member's nodes; passes, gamma,
/// jumps and cycles are those of the whole trace.
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
  std::optional<std::int64_t> epsilon_ticks;  ///< largest LC' - C that was aimed at, ticks
  /// Smallest and largest delta, with Options::measure_delta.
  std::optional<std::array<std::int64_t, 2>> measured_delta;
  std::uint64_t jumps = 0;  ///< nodes that a sender (or delta) pushed
  Counters cycles;          ///< "tied_components", "tied_nodes", "dropped_components", ...
  double forward_s = 0;     ///< seconds spent
  double backward_s = 0;
};

/// Computes forward amortization with the control of gamma, backward amortization, and the clock
/// maps of the result (docs/method.md, sections 1, 4, 5).
///
/// `presync` holds one monotone map per location; the trace supplies first and last stamps and
/// flush intervals. In a team both are needed only for this member's locations. Locations without
/// displacement keep their presync map, knot for knot. The graph is consumed: cycles may remove
/// edges. Bit-identical for every team. Errors, the same at every member: ErrorKind::input if a
/// time leaves the range of +-2^61 ticks, or if moves above 2^50 ticks make rounding leave
/// something broken; ErrorKind::interrupted once `progress` (may be null) is cancelled.
///
/// Example with gamma 0.9 and max_slope 0.01: process 0 sends at 10,000, process 1 receives at
/// 9,900 and has a later event at 20,000 and an earlier one at 0. The receive jumps by 100 to
/// 10,000. The jump decays by 1 tick per 10 until 10,900. The ramp before it rises by 1 tick per
/// 100, from 1 at stamp 0. The map of process 1 has the knots (0; 1), (9,900; 100), (10,900; 0),
/// (20,000; 0), (20,001; 0).
Result<Amortization> amortize(const trace::Share& share, match::Graph graph,
                              std::span<const ClockMap> presync, const Options& options,
                              const Progress* progress = nullptr);

/// Forward amortization, with the control loop for gamma unless it is given (docs/method.md,
/// section 4). Where C violates nothing, C is the result, and no pass is made. `epsilon`:
/// Outlook::epsilon.
///
/// Collective; bit-identical for every team and any number of threads. Errors, the same at every
/// member: ErrorKind::input if a time leaves the range of +-2^61 ticks, or if there are more cycles
/// than can be searched; ErrorKind::interrupted when the user wants to stop.
Result<ForwardResult> amortize_forward(const trace::Share& share, const ForwardProblem& problem,
                                       std::optional<Decimal9> gamma = {},
                                       std::optional<std::int64_t> epsilon = {});

}  // namespace entrain::clc
