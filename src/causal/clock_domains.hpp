// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>

#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

struct DomainChoice {
  trace::ClockDomains domains;
  bool automatic = false;          ///< result of ClockDomain::automatic: may be split later
  bool proved = false;             ///< the tracer proved all domains: nothing splits them
  std::vector<std::string> notes;  ///< contradictions, for people
};

/// Decides which locations share a clock. ClockDomain::automatic assumes one clock per machine or
/// process, and drops that assumption where the trace contradicts it. Two clocks differ
///  * if, taken as one, a message or collective between their locations would arrive before it was
///    sent (mu included), or
///  * if their ClockOffset records differ by more than their half-widths; where half-widths are
///    unknown, by more than the messages between them leave open.
/// Clocks that the tracer proved to be one (trace::proved_clocks) stay one, whatever contradicts
/// it. The other rules are followed even where the trace contradicts them. Collective; the same at
/// every process.
DomainChoice choose_domains(const constraints::Context& context, ClockDomain rule);

/// Domains by the definitions alone. ClockDomain::automatic: every location by itself.
trace::ClockDomains defined_domains(const trace::Definitions& definitions, ClockDomain rule);

/// True if some edge is violated (mu included) by the times of `maps`, by more than `tolerance`
/// ticks. Collective.
bool any_violation(const constraints::Context& context, std::span<const ClockMap> maps,
                   std::int64_t tolerance = 0);

/// Gives all locations of a domain the map of the location whose clock was measured best. Maps of
/// domains without sessions stay. All locations of a domain must have one owner. Moves all maps if
/// a time would be negative. Collective.
void share_maps(const trace::Share& share, const trace::ClockDomains& domains,
                std::span<ClockMap> maps);

}  // namespace entrain::causal
