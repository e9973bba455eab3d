// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

/// A node by the number that the owner of its location gave it, which every member of the team
/// understands. While the graph is built, every distinct stamp of the owner's events has a number.
struct NodeRef {
  LocationIndex location = k_none;
  NodeIndex node = k_none;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

struct ProcessesBeside;

/// Everything that the matchers share: the team, the trace, its nodes, its processes, and this
/// member's part of the graph under construction.
///
/// One thread at a time, except where a function says otherwise.
class Builder {
 public:
  /// `progress` may be null. The share must outlive the builder.
  Builder(const trace::Share& share, const Options& options, const Progress* progress);

  /// Once it is asked, a matcher may leave work undone, but no common call of the team. Matchers
  /// look about every 100 ms.
  [[nodiscard]] const Cancel& cancel() const { return cancel_; }
  /// Errors of any member so far: interrupted, or too much for 32 bits. A common call.
  Result<void> agree();
  /// False if `operations` cannot be numbered; agree() returns the error.
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
  /// The node of an event of this member.
  [[nodiscard]] NodeRef ref(EventRef event) const {
    const std::size_t number = first_event_[event.location] + event.index;
    return {event.location, static_cast<NodeIndex>(instants_.rank(number + 1) - 1)};
  }
  [[nodiscard]] Participant participant(NodeRef ref, std::uint32_t order = 0) {
    return {here(ref), ref.location, order};
  }
  [[nodiscard]] Participant participant(EventRef event) { return participant(ref(event)); }

  /// Records of messages sent and received on a location of this member, and whether there are any
  /// of windows.
  struct EventCounts {
    std::size_t sends = 0, receives = 0;
    bool one_sided = false;
  };
  [[nodiscard]] const EventCounts& event_counts(LocationIndex location) const {
    return event_counts_[location];
  }

  /// Locations of each process of this member, in order of definition; empty for other processes.
  [[nodiscard]] const std::vector<std::vector<LocationIndex>>& processes() const {
    return processes_;
  }
  /// Rank of the member that has the locations of a process.
  [[nodiscard]] std::uint32_t owner_of_process(std::uint32_t process) const {
    return owner_of_process_[process];
  }
  [[nodiscard]] std::uint32_t process_of(LocationIndex location) const {
    return graph_.process_of[location];
  }
  /// Process of rank `rank` as a record of process `self` on `comm` names it; k_none if undefined.
  [[nodiscard]] std::uint32_t process_of_peer(CommIndex comm, std::uint32_t self,
                                              std::uint32_t rank) const;

  /// Orders positions as the process saw them: by stamp, then location, then stream order.
  void sort_as_process(std::vector<EventRef>& refs) const;

  /// Adds an edge unless both ends are on one location. This member must own the receive. Threads
  /// may add edges to receives of different locations side by side, if this member owns the sends
  /// too.
  void add_edge(EdgeKind kind, NodeRef send, NodeRef receive);
  void add_edge(EdgeKind kind, EventRef send, EventRef receive) {
    add_edge(kind, ref(send), ref(receive));
  }
  /// Makes room for so many participants more.
  void expect_participants(std::size_t count) {
    graph_.participants.reserve(graph_.participants.size() + count);
  }
  /// Adds an exchange unless it has no pair of different locations.
  void add_exchange(EdgeKind kind, bool ordered, std::span<const Participant> sends,
                    std::span<const Participant> receives);

  /// True if records of messages are missing, at any member. match_messages() finds it out.
  bool incomplete = false;
  /// True if records of messages or of calls of collectives are missing, on any communicator or
  /// window that was looked at so far. The same at every member.
  bool calls_incomplete = false;
  /// True if gaps explain all messages that are missing: none is before the gaps of its processes.
  bool only_gaps = false;
  /// What was found out of the processes beside their calls, on the way; null: nothing.
  std::shared_ptr<ProcessesBeside> beside;
  /// What find_gaps() found, per process. `ends_early`: of this member's processes.
  std::vector<bool> has_gaps, ends_early;

  void count_unmatched(std::string_view name, std::uint64_t n = 1);
  void count_skipped(std::string_view name, std::uint64_t n = 1);

  /// Announces the ghosts to their owners, gives the nodes their final numbers, sorts the edges,
  /// and returns the graph. Collective; the last call.
  Graph finish();

 private:
  /// Number of a node here: that of a ghost if another member owns it.
  [[nodiscard]] NodeIndex here(NodeRef ref);
  [[nodiscard]] GraphSize size() const;
  void number_instants();
  void show_ghosts();
  void drop_nameless_ghosts();
  void number_nodes();
  void sort_edges(LocationIndex location);
  void gather_edges();
  [[nodiscard]] std::size_t edge_count() const;
  template <class Body>
  void for_own_locations(Body body) const;

  trace::Share share_;
  trace::Peers peers_;
  Options options_;
  Cancel cancel_;
  bool full_ = false;  ///< something was left out, as 32 bits had no number for it
  std::uint64_t most_operations_ = 0;
  Graph graph_;
  std::vector<EventCounts> event_counts_;  ///< per location
  std::vector<BigVector<Edge>> edges_;     ///< by the location of the receive
  /// Number of the first event per location, and the end: multiples of 64, so that threads may fill
  /// instants_ side by side. Other members' locations have no events here.
  std::vector<std::size_t> first_event_;
  RankedBits instants_;  ///< events of this member with another stamp than the one before
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
void match_one_sided(Builder& builder);

}  // namespace entrain::match
