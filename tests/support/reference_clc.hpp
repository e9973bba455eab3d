// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "match/graph.hpp"
#include "support/random_trace.hpp"

/// The extended controlled logical clock, slow and literal (docs/method.md, sections 2, 4, 5):
/// collectives as all pairs, every node by itself, every ramp by itself, exact fractions
/// throughout.
namespace entrain::test {

/// One happened-before pair of nodes: LC(receive) >= LC(send) + mu.
struct ReferencePair {
  NodeIndex send = k_none;
  NodeIndex receive = k_none;
  std::int64_t mu = 0;
  EdgeKind kind = EdgeKind::p2p;

  friend auto operator<=>(const ReferencePair&, const ReferencePair&) = default;
};

/// Nodes of location l are [first_node[l], first_node[l + 1]), in increasing order of stamp.
struct ReferenceProblem {
  std::vector<NodeIndex> first_node{0};
  std::vector<std::uint64_t> stamp;    ///< local ticks
  std::vector<std::int64_t> c;         ///< presynchronised time per node
  std::vector<std::uint64_t> granule;  ///< per location
  std::vector<ReferencePair> pairs;    ///< of different locations

  [[nodiscard]] std::size_t locations() const { return first_node.size() - 1; }
  [[nodiscard]] std::size_t nodes() const { return stamp.size(); }
  /// Adds a location whose presynchronised times are its stamps.
  void add_location(const std::vector<std::uint64_t>& stamps, std::uint64_t its_granule = 1);
  /// Number of the node of `location` with that stamp; k_none if there is none.
  [[nodiscard]] NodeIndex node(LocationIndex location, std::uint64_t at) const;
};

/// From the ground truth: nothing of match/ takes part.
ReferenceProblem reference_problem(const RandomTrace& trace, const MuTicks& mu = {});
/// From a graph, its exchanges expanded.
ReferenceProblem reference_problem(const match::Graph& graph, std::span<const ClockMap> presync,
                                   const MuTicks& mu = {});

/// Cycles of edges and local order (docs/method.md, section 2).
struct ReferenceCycles {
  std::vector<std::uint32_t> component;  ///< per node; components in topological order
  std::vector<bool> cyclic;              ///< per component: more than one node, kept
  std::vector<bool> dropped;             ///< per pair: inside a component that was too wide
  std::uint64_t kept_components = 0;
  std::uint64_t dropped_components = 0;
};
ReferenceCycles reference_cycles(const ReferenceProblem& problem);

struct ReferenceForward {
  std::vector<std::int64_t> time;  ///< LC'
  std::vector<bool> jump;
  std::int64_t error = 0;  ///< largest LC' - C
};
/// `gamma_billionths` in (0, 10^9].
ReferenceForward reference_forward(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   std::int64_t gamma_billionths, std::int64_t delta);
/// The same with a gamma per location.
ReferenceForward reference_forward(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   const std::vector<std::int64_t>& gamma_billionths,
                                   std::int64_t delta);

/// The largest of 0.99999, 0.9999, 0.999, 0.99, 0.9 that may be that of all locations: with e
/// <= 1.1 e(0.9).
std::int64_t reference_gamma(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                             std::int64_t delta);

inline constexpr std::int64_t k_unlimited = std::numeric_limits<std::int64_t>::max();

/// limit(s) per node: how large its displacement may become; k_unlimited without receivers.
std::vector<std::int64_t> reference_limits(const ReferenceProblem& problem,
                                           const ReferenceCycles& cycles,
                                           const std::vector<std::int64_t>& forward);

/// One location's part of backward amortization: the final displacement e per node.
std::vector<std::int64_t> reference_ramps(std::span<const std::uint64_t> stamp,
                                          std::span<const std::int64_t> lower,
                                          std::span<const std::int64_t> limit,
                                          const std::vector<bool>& jump,
                                          std::int64_t slope_billionths);

/// LC'' per node, before it is rounded into clock maps.
std::vector<std::int64_t> reference_backward(const ReferenceProblem& problem,
                                             const ReferenceCycles& cycles,
                                             const ReferenceForward& forward,
                                             std::int64_t slope_billionths);

/// Pairs with time(receive) < time(send) + mu. Pairs inside a cycle count without mu; dropped
/// pairs not at all.
std::uint64_t reference_violations(const ReferenceProblem& problem, const ReferenceCycles& cycles,
                                   std::span<const std::int64_t> time);

}  // namespace entrain::test
