// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "verify/pairing.hpp"

namespace entrain::verify {

/// Events that precede themselves (clc.md, section 2: Cycles).
///
/// With a coarse timer, a send and a receive of a location may share a stamp and thus be one
/// instant, a node; edges and local order can then close a cycle. Edges inside a component (a
/// strongly connected one with two nodes or more) carry no latency; those inside a dropped
/// component are a matching error and demand nothing.
struct Cycles {
  std::vector<std::size_t> first;        ///< per location: number of its first event
  std::vector<std::uint32_t> component;  ///< per event number; k_none: in no cycle
  std::vector<bool> dropped;             ///< per component

  /// Component of an event; k_none if it is in no cycle.
  [[nodiscard]] std::uint32_t of(EventRef event) const {
    return component.empty() ? k_none : component[first[event.location] + event.event];
  }
  [[nodiscard]] bool any() const { return !dropped.empty(); }
};

/// Finds the cycles of edges and local order. Instances of EdgeKind::init_finalize take part only
/// if `init_finalize`. A component is dropped if it spans more than two timer granules of any
/// location (an unknown granule is taken as one tick). Linear in events and participants.
Cycles find_cycles(const trace::Trace& trace, const Pairing& pairing, bool init_finalize);

}  // namespace entrain::verify
