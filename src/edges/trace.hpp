// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include <entrain/align.hpp>

#include "clocks/samples.hpp"
#include "match/graph.hpp"
#include "trace/trace.hpp"

namespace entrain::edges {

/// Clocks as the definitions of a trace: a location per clock.
trace::Definitions definitions_of(const Clocks& clocks);

/// The skeletons of a trace that has these clocks and the nodes of `graph`, and no events.
std::vector<trace::LocationSkeleton> skeletons_of(const Clocks& clocks, const match::Graph& graph);

/// The exchanges of the sessions, per location; of clocks without any nothing.
std::map<LocationIndex, clocks::LocationSamples> exchanges_of(const Clocks& clocks);

/// The reverse of the above: the locations of a trace as clocks. `exchanges`: per location that has
/// some, per record.
Clocks clocks_of(const trace::Trace& trace,
                 const std::map<LocationIndex, clocks::LocationSamples>& exchanges);

}  // namespace entrain::edges
