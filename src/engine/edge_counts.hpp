// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"
#include "verify/observer.hpp"

namespace entrain::engine {

/// Checks a trace whose graph is in this process: edges, violations, worst edges, coverage and
/// judgement by the times that `maps` give. It counts the pairs of collectives with the checker's
/// code, but trusts the graph: where edges are given there are no records that could be matched
/// anew. All edges and members of instances count as checked. Edges inside `domains` are counted
/// apart, if locations share some; event files that are missing or end early, under
/// CheckReport::skipped. `observer`, if not null, sees all edges in order of the graph; nodes stand
/// for events.
CheckReport count_edges(const constraints::Context& context, std::span<const ClockMap> maps,
                        const trace::ClockDomains& domains, const CheckOptions& options,
                        verify::EdgeObserver* observer = nullptr);

}  // namespace entrain::engine
