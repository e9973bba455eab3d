// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "trace/trace.hpp"

namespace entrain::match {

/// A happened-before edge between two nodes of different locations: LC(receive) >= LC(send) + mu.
struct Edge {
  NodeIndex send = k_none;
  NodeIndex receive = k_none;
  EdgeKind kind = EdgeKind::p2p;
  LatencyClass latency_class = LatencyClass::other;
};

/// One begin (send side) or one end (receive side) of a collective instance.
struct Member {
  NodeIndex node = k_none;
  LocationIndex location = k_none;
  std::uint32_t order = 0;  ///< rank; only ordered exchanges (scan) look at it
};

/// A collective instance: every send member precedes every receive member of another location;
/// in an ordered exchange only receive members of higher rank. Costs O(members), never O(pairs).
struct Exchange {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;  ///< scan, exscan: members are sorted by order
  std::uint32_t first_send = 0, send_count = 0;        ///< range of Graph::members
  std::uint32_t first_receive = 0, receive_count = 0;  ///< range of Graph::members
};

/// The happened-before relation of a trace, on nodes. Built by match::build_graph.
///
/// A node is a distinct stamp of a location that at least one edge or exchange touches, or that
/// any communication event carries; nodes of location l are [first_node[l], first_node[l + 1]),
/// in increasing order of stamp. Immutable after building.
struct Graph {
  std::vector<NodeIndex> first_node;      ///< one per location, plus the end
  std::vector<std::uint64_t> stamp;       ///< per node: stored stamp, local ticks
  std::vector<Edge> edges;                ///< sorted by receive node
  std::vector<Exchange> exchanges;
  std::vector<Member> members;
  std::vector<std::uint32_t> process_of;  ///< per location, from the definitions
  std::vector<std::uint32_t> node_of;     ///< per location: machine node, from the definitions
  std::vector<std::uint64_t> granule;     ///< per location, from the skeleton

  Counters unmatched;
  Counters skipped;

  [[nodiscard]] std::size_t node_count() const { return stamp.size(); }
  [[nodiscard]] std::size_t location_count() const { return first_node.size() - 1; }
  [[nodiscard]] std::span<const Member> sends(const Exchange& exchange) const {
    return {members.data() + exchange.first_send, exchange.send_count};
  }
  [[nodiscard]] std::span<const Member> receives(const Exchange& exchange) const {
    return {members.data() + exchange.first_receive, exchange.receive_count};
  }
  /// Class of an edge from location a to location b.
  [[nodiscard]] LatencyClass latency_class(LocationIndex a, LocationIndex b) const {
    return process_of[a] == process_of[b] ? LatencyClass::same_process
           : node_of[a] == node_of[b]     ? LatencyClass::same_node
                                          : LatencyClass::other;
  }
};

struct Options {
  bool dense_alltoallv = false;
  bool init_finalize = false;  ///< edges between MPI_Init / MPI_Finalize calls
};

/// Matches sends with receives and collective calls with each other (clc.md, section 2).
///
/// Deterministic. Unmatched and skipped operations are counted in the result, never an error.
Graph build_graph(const trace::Trace& trace, const Options& options);

}  // namespace entrain::match
