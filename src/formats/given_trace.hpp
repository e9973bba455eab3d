// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include <entrain/align.hpp>

#include "clocks/samples.hpp"
#include "match/graph.hpp"
#include "trace/trace.hpp"

namespace entrain::formats {

/// The definitions of a trace with one location per clock.
trace::Definitions definitions_of(const Clocks& clocks);

/// The skeletons of a trace that has these clocks; its events are the nodes of `graph`.
std::vector<trace::LocationSkeleton> skeletons_of(const Clocks& clocks, const match::Graph& graph);

/// Exchanges of the sessions, for locations that have some.
std::map<LocationIndex, clocks::LocationSamples> exchanges_of(const Clocks& clocks);

/// The locations of a trace as clocks, the inverse of definitions_of() and skeletons_of().
/// `exchanges`: see exchanges_of(); one element per record.
Clocks clocks_of(const trace::Trace& trace,
                 const std::map<LocationIndex, clocks::LocationSamples>& exchanges);

}  // namespace entrain::formats
