// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "match/graph.hpp"

namespace entrain::match {

/// Position of an event: location, and index into its skeleton.
struct EventRef {
  LocationIndex location = k_none;
  std::uint32_t index = k_none;
};

/// What the matchers share: the trace, its nodes, its processes, and the graph under construction.
class Builder {
 public:
  Builder(const trace::Trace& trace, const Options& options);

  [[nodiscard]] const trace::Trace& trace() const { return trace_; }
  [[nodiscard]] const trace::Definitions& definitions() const { return trace_.definitions; }
  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::span<const trace::Event> events(LocationIndex location) const {
    return trace_.locations[location].events;
  }
  [[nodiscard]] const trace::Event& event(EventRef ref) const {
    return trace_.locations[ref.location].events[ref.index];
  }
  [[nodiscard]] NodeIndex node(EventRef ref) const {
    return node_of_event_[first_event_[ref.location] + ref.index];
  }
  [[nodiscard]] Member member(EventRef ref, std::uint32_t order = 0) const {
    return {node(ref), ref.location, order};
  }

  /// Locations of each process, in order of definition.
  [[nodiscard]] const std::vector<std::vector<LocationIndex>>& processes() const {
    return processes_;
  }
  [[nodiscard]] std::uint32_t process_of(LocationIndex location) const {
    return graph_.process_of[location];
  }
  /// Process of rank `rank` as a record of process `self` on `comm` names it; k_none if undefined.
  [[nodiscard]] std::uint32_t process_of_peer(CommIndex comm, std::uint32_t self,
                                              std::uint32_t rank) const;
  /// True if `process` is a member of the communicator's first group.
  [[nodiscard]] bool in_first_group(const trace::Comm& comm, std::uint32_t process) const;

  /// Orders positions as the process saw them: by stamp, then location, then stream order.
  void sort_as_process(std::vector<EventRef>& refs) const;

  /// Adds an edge unless both ends are on one location.
  void add_edge(EdgeKind kind, EventRef send, EventRef receive);
  /// Adds an exchange unless it has no pair of different locations.
  void add_exchange(EdgeKind kind, bool ordered, std::span<const Member> sends,
                    std::span<const Member> receives);

  void count_unmatched(std::string_view name, std::uint64_t n = 1);
  void count_skipped(std::string_view name, std::uint64_t n = 1);

  /// Sorts the edges and hands the graph over.
  Graph finish();

 private:
  const trace::Trace& trace_;
  Options options_;
  Graph graph_;
  std::vector<std::size_t> first_event_;
  std::vector<NodeIndex> node_of_event_;
  std::vector<std::vector<LocationIndex>> processes_;
};

// The matchers, each for one family of records. They only add to the builder.
void match_messages(Builder& builder);
void match_collectives(Builder& builder);
void match_init_finalize(Builder& builder);
void match_threads(Builder& builder);
void match_one_sided(Builder& builder);

}  // namespace entrain::match
