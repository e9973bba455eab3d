// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "base/ids.hpp"
#include "trace/pair_mu.hpp"
#include "trace/share.hpp"
#include "trace/witness.hpp"

namespace entrain::match {

/// A happened-before edge between two nodes of different locations: LC(receive) >= LC(send) + mu.
struct Edge {
  NodeIndex send = k_none;
  NodeIndex receive = k_none;
  EdgeKind kind = EdgeKind::p2p;
  LatencyClass latency_class = LatencyClass::other;
  std::uint16_t pair = 0;  ///< pair of machines, position in Graph::extra_mu; 0: none
};

/// A process at one side of a collective instance: its begin (send side) or its end (receive side).
struct Participant {
  NodeIndex node = k_none;
  LocationIndex location = k_none;
  std::uint32_t order = 0;  ///< rank in the communicator; only ordered exchanges (scan) use it
};

/// A collective instance: every sender precedes every receiver of another location; in an ordered
/// exchange, only the receivers of higher rank. It needs O(participants) memory, never O(pairs).
struct Exchange {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;  ///< scan, exscan: participants of a side are sorted by order
  std::uint32_t first_send = 0, send_count = 0;        ///< range of Graph::participants
  std::uint32_t first_receive = 0, receive_count = 0;  ///< range of Graph::participants
};

/// A node of another team member that edges or exchanges of this member touch.
struct Ghost {
  LocationIndex location = k_none;
  NodeIndex node = k_none;  ///< number at its owner
};

/// Links between the parts of a graph at the members of a team. Empty in a team of one.
struct Halo {
  BigVector<Ghost> ghosts;  ///< ghost g has the node number own_count() + g here
  /// Per rank r: numbers of the ghosts here that are nodes of member r. In the order of
  /// `shown_to` at member r.
  std::vector<std::vector<NodeIndex>> ghosts_of;
  /// Per rank r: numbers of nodes of this member that are ghosts at member r.
  std::vector<std::vector<NodeIndex>> shown_to;
};

/// The happened-before relation of a trace, on nodes. Built by match::build_graph.
///
/// A node is a distinct stamp of a location that at least one edge or exchange touches
/// (Options::every_event: or that any communication event carries). The nodes of location l are
/// [first_node[l], first_node[l + 1]), in increasing order of stamp. Immutable after building.
///
/// In a team every member has the part that concerns it: the nodes of its own locations (others
/// have none), all edges that end there, and its share of the exchanges. Nodes of other members
/// in these follow its own nodes as ghosts; they are only numbers and have no stamp.
///
/// Example: location 0 sends to location 1 at stamp 100 and again at 200; location 1 receives at
/// 150 and 250. In a team of one, `stamp` is {100, 200, 150, 250}, `first_node` {0, 2, 4}, and the
/// edges are 0 -> 2 and 1 -> 3. If member 0 has location 0 and member 1 location 1:
///
///     member 0: stamp {100, 200}, first_node {0, 2, 2}, no edge; halo.shown_to[1] = {0, 1}
///     member 1: stamp {150, 250}, first_node {0, 0, 2}, ghosts 2 and 3 = nodes 0 and 1 of
///               location 0; halo.ghosts_of[0] = {2, 3}; edges 2 -> 0 and 3 -> 1
struct Graph {
  std::vector<NodeIndex> first_node;  ///< one per location, plus the end
  BigVector<std::uint64_t> stamp;     ///< one per node: stored stamp, local ticks
  BigVector<Edge> edges;              ///< sorted by receive node
  BigVector<Exchange> exchanges;
  BigVector<Participant> participants;
  std::vector<std::uint32_t> process_of;  ///< one per location, from the definitions
  std::vector<std::uint32_t> node_of;     ///< machine of each location, from the definitions
  std::vector<std::uint64_t> granule;     ///< one per location, from the skeleton

  /// Least latency of a message beyond mu of its class, per pair of machines (Edge::pair), ticks.
  /// Empty if no pair is known.
  std::vector<std::int64_t> extra_mu;

  Halo halo;

  // Operations without an edge, counted at this member: sum them over the team.
  Counters unmatched;
  Counters skipped;

  /// How the records were paired if some are missing; empty otherwise.
  trace::Witness witness;

  /// Number of nodes of this member's locations.
  [[nodiscard]] std::size_t own_count() const { return stamp.size(); }
  /// Number of these and the ghosts.
  [[nodiscard]] std::size_t node_count() const { return stamp.size() + halo.ghosts.size(); }
  [[nodiscard]] bool is_ghost(NodeIndex node) const { return node >= stamp.size(); }
  /// O(log locations).
  [[nodiscard]] LocationIndex location_of(NodeIndex node) const {
    if (is_ghost(node)) return halo.ghosts[node - stamp.size()].location;
    const auto next = std::upper_bound(first_node.begin(), first_node.end(), node);
    return static_cast<LocationIndex>(next - first_node.begin() - 1);
  }
  [[nodiscard]] std::size_t location_count() const { return first_node.size() - 1; }
  [[nodiscard]] std::span<const Participant> sends(const Exchange& exchange) const {
    return {participants.data() + exchange.first_send, exchange.send_count};
  }
  [[nodiscard]] std::span<const Participant> receives(const Exchange& exchange) const {
    return {participants.data() + exchange.first_receive, exchange.receive_count};
  }
  /// mu of an edge, given that of the latency classes, ticks.
  [[nodiscard]] std::int64_t mu_of(const Edge& edge, const MuTicks& mu) const {
    const std::int64_t of_class = mu[static_cast<std::size_t>(edge.latency_class)];
    return edge.pair == 0 ? of_class : of_class + extra_mu[edge.pair];
  }
  [[nodiscard]] LatencyClass latency_class(LocationIndex a, LocationIndex b) const {
    return trace::latency_class(process_of, node_of, a, b);
  }
};

struct Options {
  /// Alltoallv and alltoallw count as all-to-all; false: they give no edges.
  bool dense_alltoallv = false;
  bool init_finalize = false;  ///< edges between MPI_Init / MPI_Finalize calls
  bool every_event = false;    ///< nodes for communication events without edges, too
  unsigned threads = 1;        ///< threads, 0: all cores; the graph does not depend on it
  bool edges = true;           ///< false: only the witness is wanted
};

/// Matches sends with receives and collective calls with each other (docs/method.md, section 2).
///
/// Deterministic. The result counts unmatched and skipped operations; they are never an error.
/// Collective: every member of the team calls it and looks only at the skeletons of its own
/// locations. Sends travel to the member that owns the receiver; calls of collectives to the member
/// that their communicator and number choose. Each family of operations needs one parcel per pair
/// of members.
///
/// Errors, the same at every member: ErrorKind::input if some member needs more numbers than 32
/// bits have (require_countable); ErrorKind::interrupted when `progress` (may be null) says so.
Result<Graph> build_graph(const trace::Share& share, const Options& options,
                          const Progress* progress = nullptr);

/// Finds the witness of that graph alone, for a trace with missing records. `messages_missing`: not
/// only calls of collectives are missing (docs/method.md, section 2.1). Collective, like
/// build_graph(), with its errors.
Result<trace::Witness> find_witness(const trace::Share& share, bool messages_missing,
                                    unsigned threads, const Progress* progress);

/// Sets the latency of messages between two machines to that of the pair where it is above `mu` of
/// their class. Collectives keep that of the class, the smallest: their maxima need a single one.
void set_pair_mu(Graph& graph, const trace::PairMu& pairs, const MuTicks& mu);

/// Builds the whole graph in a team of one; never interrupted. A trace that is too large yields an
/// empty graph.
Graph build_graph(const trace::Trace& trace, const Options& options);

/// Counts of everything that a member of a team numbers with 32 bits.
struct GraphSize {
  std::uint64_t events = 0;  ///< communication events, or operations of messages
  std::uint64_t nodes = 0;   ///< ghosts included
  std::uint64_t edges = 0;
  std::uint64_t exchanges = 0, participants = 0;
};

/// Returns ErrorKind::input if 32 bits do not suffice; `path` names the trace.
Result<void> require_countable(const GraphSize& size, const std::string& path);

}  // namespace entrain::match
