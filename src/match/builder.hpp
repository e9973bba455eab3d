// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "base/ranked_bits.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// Position of an event: location, and index into its skeleton.
struct EventRef {
  LocationIndex location = k_none;
  std::uint32_t index = k_none;
};

/// A node by its number at the owner of its location, valid for all members of the team. While the
/// graph is built, every distinct stamp of the owner's events has a number.
struct NodeRef {
  LocationIndex location = k_none;
  NodeIndex node = k_none;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

struct CallContext;
using CallContexts = std::map<std::uint32_t, CallContext>;  ///< by process

/// State shared by the matchers: the team, the trace, its nodes, its processes, and this member's
/// part of the graph under construction. One thread at a time, unless a function says otherwise.
class Builder {
 public:
  /// `progress` may be null. The share must outlive the builder.
  Builder(const trace::Share& share, const Options& options, const Progress* progress);

  /// Once cancelled, a matcher may skip work, but no collective call of the team. Matchers poll
  /// about every 100 ms.
  [[nodiscard]] const Cancel& cancel() const { return cancel_; }
  /// Errors of any member so far: interrupted, or too large for 32 bits. Collective.
  Result<void> agree();
  /// False if `operations` cannot be numbered with 32 bits; agree() returns the error.
  bool countable(std::uint64_t operations) {
    most_operations_ = std::max(most_operations_, operations);
    return require_countable({.events = operations}, "").has_value();
  }

  [[nodiscard]] Team& team() const { return share_.team; }
  [[nodiscard]] const trace::Definitions& definitions() const { return share_.trace.definitions; }
  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] const trace::LocationSkeleton& skeleton(LocationIndex location) const {
    return share_.trace.locations[location];
  }
  [[nodiscard]] const trace::Trace& trace() const { return share_.trace; }
  [[nodiscard]] const trace::EventList& events(LocationIndex location) const {
    return share_.trace.locations[location].events;
  }
  [[nodiscard]] trace::Event event(EventRef ref) const {
    return share_.trace.locations[ref.location].events[ref.index];
  }
  /// Node of an event; without Options::edges there are no nodes, and it names the event.
  [[nodiscard]] NodeRef ref(EventRef event) const {
    if (!options_.edges) return {event.location, event.index};
    const std::size_t number = first_event_[event.location] + event.index;
    return {event.location, static_cast<NodeIndex>(instants_.rank(number + 1) - 1)};
  }
  /// A participant for add_exchange(): `node` is the number at its owner.
  [[nodiscard]] static Participant participant(NodeRef ref, std::uint32_t order = 0) {
    return {ref.node, ref.location, order};
  }
  [[nodiscard]] Participant participant(EventRef event) const { return participant(ref(event)); }

  /// Records of messages on a location of this member, and whether it has records of windows, of
  /// MPI_Init and of MPI_Finalize.
  struct EventCounts {
    std::size_t sends = 0, receives = 0;
    bool one_sided = false, initialises = false, finalizes = false;
  };
  [[nodiscard]] const EventCounts& event_counts(LocationIndex location) const {
    return event_counts_[location];
  }

  /// Locations of each process of this member, in order of definition; empty for other processes.
  [[nodiscard]] const std::vector<std::vector<LocationIndex>>& processes() const {
    return processes_;
  }
  /// True if several locations of a process of this member have communication events.
  [[nodiscard]] bool is_threaded(std::uint32_t process) const;
  /// Rank of the member that has the locations of a process.
  [[nodiscard]] std::uint32_t owner_of_process(std::uint32_t process) const {
    return owner_of_process_[process];
  }
  [[nodiscard]] std::uint32_t process_of(LocationIndex location) const {
    return graph_.process_of[location];
  }
  /// Process of rank `rank` in a record of process `self` on `comm`; k_none if undefined.
  [[nodiscard]] std::uint32_t process_of_peer(CommIndex comm, std::uint32_t self,
                                              std::uint32_t rank) const {
    return peers_.process_of(comm, self, rank);
  }

  /// Adds an edge unless both ends are on one location. This member must own the receive. Threads
  /// may add edges to receives of different locations side by side, if this member owns the sends
  /// too.
  void add_edge(EdgeKind kind, NodeRef send, NodeRef receive);
  void add_edge(EdgeKind kind, EventRef send, EventRef receive) {
    add_edge(kind, ref(send), ref(receive));
  }
  void expect_participants(std::size_t count) {
    graph_.participants.reserve(graph_.participants.size() + count);
  }
  /// Adds an exchange if it has a pair of different locations.
  void add_exchange(EdgeKind kind, bool ordered, std::span<const Participant> sends,
                    std::span<const Participant> receives);

  /// True if records of messages are missing at any member; set by match_messages().
  bool incomplete = false;
  /// True if records of messages or of collective calls are missing on any communicator or window
  /// so far. Equal at every member.
  bool calls_incomplete = false;
  /// True if all missing messages lie in gaps of their processes or after them.
  bool only_gaps = false;
  /// Per process: messages contradict its clock records, so that these decide nothing; empty: none
  /// was tested, and none decides anything.
  std::vector<bool> has_wrong_clock_records;
  /// What the operations of this member's processes tell about calls, as far as it was needed: only
  /// where records are missing.
  std::shared_ptr<CallContexts> call_contexts;
  /// Set by find_gaps(), per process.
  std::vector<bool> has_gaps;

  struct Collective {
    trace::CollectiveOperation operation;  ///< `first` counts in `collective_calls`
    std::uint32_t number = 0;              ///< of its calls
  };
  /// Collectives of this member; only with Options::collectives.
  std::vector<Collective> collectives;
  BigVector<trace::CollectiveCall> collective_calls;
  /// Collectives that are in no such list.
  struct LeftOut {
    std::int64_t alltoallv = 0, scans = 0, non_blocking = 0;
  } left_out;

  /// Claims of this member where records are missing.
  [[nodiscard]] trace::Witness& witness() { return graph_.witness; }

  void count_unmatched(std::string_view name, std::uint64_t n = 1) {
    add(graph_.unmatched, name, n);
  }
  void count_skipped(std::string_view name, std::uint64_t n = 1) { add(graph_.skipped, name, n); }

  /// Announces the ghosts to their owners, renumbers the nodes, sorts the edges, and returns the
  /// graph. Collective; the last call.
  Graph finish();

 private:
  static void add(Counters& counters, std::string_view name, std::uint64_t n);
  /// Local number of a node; that of a ghost if another member owns it.
  [[nodiscard]] NodeIndex here(NodeRef ref);
  void number_instants();
  void show_ghosts();
  void number_nodes();
  void sort_edges(LocationIndex location);
  void gather_edges();
  template <class Body>
  void for_own_locations(Body body) const;

  trace::Share share_;
  trace::Peers peers_;
  Options options_;
  Cancel cancel_;
  bool full_ = false;  ///< something was skipped, as 32 bits did not suffice
  std::uint64_t most_operations_ = 0;
  Graph graph_;
  std::vector<EventCounts> event_counts_;  ///< one per location
  std::vector<BigVector<Edge>> edges_;     ///< sorted by location of the receive
  /// Number of the first event per location, and the end; multiples of 64, so that threads may fill
  /// instants_ concurrently. Other members' locations have no events here.
  std::vector<std::size_t> first_event_;
  RankedBits instants_;  ///< set for events whose stamp differs from the one before
  std::vector<std::vector<LocationIndex>> processes_;
  std::vector<std::uint32_t> owner_of_process_;
  /// (location, node) of another member -> number of the ghost here.
  FlatMap<std::uint64_t, NodeIndex, IntegerHash> ghosts_;
};

// The matchers, each for one family of records. They only add to the builder. Collective.
void match_messages(Builder& builder);
void match_collectives(Builder& builder);
void match_init_finalize(Builder& builder);
void match_threads(Builder& builder);
void match_accelerators(Builder& builder);
void match_one_sided(Builder& builder);

}  // namespace entrain::match
