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
#include "trace/collectives.hpp"
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
  std::uint16_t pair = 0;  ///< pair of machines: position in Graph::extra_mu; 0: unknown
};

/// A begin (send side) or an end (receive side) of a call of a collective instance.
struct Participant {
  NodeIndex node = k_none;
  LocationIndex location = k_none;
  std::uint32_t order = 0;  ///< rank in the communicator; only ordered exchanges (scan) use it
};

/// The edges of a collective instance: every sender precedes every receiver of another location; in
/// an ordered exchange, only those of higher rank. Memory: O(participants), not O(pairs).
struct Exchange {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;  ///< scan, exscan: the participants of a side are sorted by `order`
  std::uint32_t first_send = 0, send_count = 0;        ///< range of Graph::participants
  std::uint32_t first_receive = 0, receive_count = 0;  ///< range of Graph::participants
};

/// A node of another team member that edges or exchanges of this member touch.
struct Ghost {
  LocationIndex location = k_none;
  NodeIndex node = k_none;  ///< number at the member that owns it
};

/// Links between the parts of a graph at the members of a team. Empty in a team of one.
struct Halo {
  BigVector<Ghost> ghosts;  ///< ghost g has the node number own_count() + g here
  /// Per rank r: numbers of the ghosts here that member r owns, in the order of its `shown_to` for
  /// this member.
  std::vector<std::vector<NodeIndex>> ghosts_of;
  /// Per rank r: numbers of the nodes of this member that are ghosts at member r.
  std::vector<std::vector<NodeIndex>> shown_to;
};

/// The happened-before relation of a trace, on nodes. Built by match::build_graph.
///
/// A node is a distinct stamp of a location that at least one edge or exchange touches
/// (Options::every_event: or that any communication event carries). The nodes of location l are
/// [first_node[l], first_node[l + 1]), in increasing order of stamp. Immutable after building.
///
/// In a team every member has a part: the nodes of its own locations (no other location has any),
/// all edges that end there, and its share of the exchanges. Nodes of other members that these
/// touch are ghosts: numbers after those of its own nodes, without a stamp.
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

  /// Per pair of machines (Edge::pair): excess of the minimum latency of messages over mu of their
  /// class, ticks. Empty if no pair is known.
  std::vector<std::int64_t> extra_mu;

  Halo halo;

  // Numbers of operations without an edge at this member; the team's are their sums.
  Counters unmatched;
  Counters skipped;

  /// The pairing of the records if some are missing; else empty.
  trace::Witness witness;

  /// Number of nodes of this member's locations.
  [[nodiscard]] std::size_t own_count() const { return stamp.size(); }
  /// Number of nodes, ghosts included.
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
  bool every_event = false;    ///< nodes also for communication events without edges
  unsigned threads = 1;        ///< threads, 0: all cores; the graph does not depend on it
  bool edges = true;           ///< false: only the witness is wanted
  bool collectives = false;    ///< only find_collectives() sets it, without `edges`
};

/// Matches sends with receives and collective calls with each other (docs/method.md, section 2).
///
/// Deterministic. The result counts unmatched and skipped operations; they are never an error.
/// Collective: every member of the team calls it and reads only the skeletons of its own locations.
/// Sends go to the member that owns the receiver, calls of collectives to a member chosen by
/// communicator and number: one parcel per family of operations and pair of members.
///
/// Errors, the same at every member: ErrorKind::input if 32 bits do not suffice to number something
/// at some member (require_countable); ErrorKind::interrupted once `progress` (may be null) is
/// cancelled.
Result<Graph> build_graph(const trace::Share& share, const Options& options,
                          const Progress* progress = nullptr);

/// Finds only the witness of that graph (the pairs that the matcher claims), for a trace with
/// missing records. `messages_missing`: records of messages are missing, too (docs/method.md,
/// section 2.1). Collective and with the errors of build_graph().
Result<trace::Witness> find_witness(const trace::Share& share, bool messages_missing,
                                    unsigned threads, const Progress* progress);

/// Finds the collectives of communicators, as build_graph() pairs their calls. Alltoallv and
/// alltoallw, in which a member waits for its partners only, count if `dense_alltoallv`. Collective
/// and with the errors of build_graph(); each member gets all, in an order that does not depend on
/// the team.
Result<trace::Collectives> find_collectives(const trace::Share& share, bool dense_alltoallv,
                                            unsigned threads, const Progress* progress);

/// Raises the minimum latency of messages between two machines to that of the pair, where it is
/// above `mu` of their class. Collectives keep mu of the class: their maxima need a single value.
void set_pair_mu(Graph& graph, const trace::PairMu& pairs, const MuTicks& mu);

/// Builds the whole graph in a team of one; never interrupted. A trace that is too large yields an
/// empty graph.
Graph build_graph(const trace::Trace& trace, const Options& options);

/// Counts of all that a member of a team numbers with 32 bits.
struct GraphSize {
  std::uint64_t events = 0;  ///< communication events, or operations of messages
  std::uint64_t nodes = 0;   ///< ghosts included
  std::uint64_t edges = 0;
  std::uint64_t exchanges = 0, participants = 0;
};

/// Returns ErrorKind::input if 32 bits do not suffice; `path` names the trace.
Result<void> require_countable(const GraphSize& size, const std::string& path);

}  // namespace entrain::match
