// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <entrain/report.hpp>

#include "base/team.hpp"
#include "verify/places.hpp"

/// The edges of the happened-before relation as the checker counts them: single ones, and those of
/// a whole collective at once.
namespace entrain::verify {

/// Order of an edge among those of its kind, compared number by number; independent of the member
/// that finds it. The report names the first of equally bad edges.
using EdgeOrder = std::array<std::uint64_t, 4>;

/// A single edge: the send happens before the receive.
struct Pair {
  EdgeKind kind{};
  EdgeOrder order{};
  std::int64_t send_time = 0, receive_time = 0;  ///< corrected, ticks
  EventRef send, receive;                        ///< two different locations
  std::int64_t extra_mu = 0;                     ///< see NamedEdge
};

/// End of the edges of an instance, with the data that decide about its pairs.
struct Moment {
  std::int64_t time = 0;  ///< corrected, ticks
  EventRef event;
  std::uint32_t process = 0;
  std::uint32_t machine = 0;         ///< see Definitions::node_of
  std::uint32_t rank = 0;            ///< rank in the communicator; ordered instances only
  std::uint32_t component = k_none;  ///< number of a cycle (Cycles); k_none: in no cycle
};

/// Many edges at once: every send happens before every receive of another location; in an ordered
/// instance only before those of higher rank.
///
/// Example: a barrier that three processes enter at 10, 20, 30 and leave at 31, 32, 25 has three
/// sends, three receives and 3 x 3 - 3 = 6 edges, as no process waits for itself. The third process
/// must not leave before the others have entered, and 25 is after 10 and 20: no edge is violated.
/// If the second one had entered at 27, its edge to 25 would be violated, by 2 ticks.
struct Instance {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;
  EdgeOrder order{};  ///< last number: reserved for the pair
  /// Sorted by rank if ordered, else by location; no location twice.
  std::vector<Moment> sends, receives;
};

/// Puts the sides in the order that Instance demands.
inline void sort_sides(Instance& instance) {
  const auto before = [&](const Moment& a, const Moment& b) {
    return instance.ordered ? a.rank < b.rank : a.event.location < b.event.location;
  };
  for (auto* side : {&instance.sends, &instance.receives}) {
    if (!std::is_sorted(side->begin(), side->end(), before)) {
      std::sort(side->begin(), side->end(), before);
    }
  }
}

struct Unmatched {
  std::int64_t sends = 0;                   ///< messages sent and not received
  std::int64_t receives = 0;                ///< messages received and not sent
  std::int64_t ambiguous = 0;               ///< receives whose sender is not certain
  std::int64_t in_gaps = 0;                 ///< sends and receives: other side has a gap there
  std::int64_t collectives_mismatched = 0;  ///< calls from the first disagreement on
  /// Instances that some caller does not reach; of aligned calls, those in no instance.
  std::int64_t collectives_incomplete = 0;
  std::int64_t ambiguous_calls = 0;  ///< aligned calls whose instance is not certain
  std::int64_t calls_in_gaps = 0;    ///< calls whose partner lies in a gap of another process
  std::int64_t collective_ends_without_begin = 0;
  /// Messages to and from processes without a location, such as spawned ones, and calls on
  /// communicators that have some.
  std::int64_t with_unrecorded = 0;
  std::int64_t thread_barriers_incomplete = 0;  ///< barriers that some thread does not reach
  std::int64_t threads = 0;                     ///< thread creations, begins and waits
  std::int64_t thread_teams = 0;                ///< thread teams that several threads forked
  std::int64_t thread_locks = 0;                ///< holdings of a lock by several threads at once
  std::int64_t thread_tasks = 0;                ///< tasks that were created more than once
  std::int64_t streams = 0;         ///< streams of accelerators whose launches are not known
  std::int64_t init_finalize = 0;   ///< incomplete calls, or calls of several threads
  std::int64_t rma_group_sync = 0;  ///< post, start, complete, wait: per partner
  std::int64_t rma_notify = 0;
};

struct Skipped {
  std::int64_t cancelled_sends = 0;
  std::int64_t cancelled_receives = 0;
  std::int64_t alltoallv_instances = 0;
  std::int64_t neighbourhood_instances = 0;   ///< neighbourhood calls without a record
  std::int64_t partners_contradicting = 0;    ///< pairs of which only one names the other
  std::int64_t rma_without_process_sync = 0;  ///< instances
  std::int64_t rma_group_sync = 0;            ///< records: role unknown, or memory only
  std::int64_t rma_locks = 0;                 ///< records
};

/// Receives and collective calls that concern a process and others, and how many of them are
/// paired.
struct ProcessCoverage {
  /// Its receives and calls, and of each channel of its sends as many ends as both sides have.
  std::uint64_t operations = 0;
  std::uint64_t paired = 0;  ///< of these
};

/// Counts of operations without edges, and of those with some.
struct LeftOut {
  Unmatched unmatched;
  Skipped skipped;
  Coverage coverage;  ///< without what follows from other counts: lost, neighbourhood_skipped
};

/// The counters of a struct that holds nothing but counters of 64 bits.
template <class Counters>
auto counters_of(const Counters& counters) {
  return std::bit_cast<std::array<std::int64_t, sizeof(Counters) / sizeof(std::int64_t)>>(counters);
}

/// Combines such structs counter by counter.
template <class Counters, class Operation>
Counters combined(const Counters& a, const Counters& b, Operation operation) {
  auto values = counters_of(a);
  std::ranges::transform(values, counters_of(b), values.begin(), operation);
  return std::bit_cast<Counters>(values);
}

/// Adds up the counters of all members, as above; every member gets the sums. Collective.
template <class Counters>
void sum_over_members(Team& team, Counters& counters) {
  auto values = counters_of(counters);
  team.reduce(Team::Reduction::sum, values);
  counters = std::bit_cast<Counters>(values);
}

}  // namespace entrain::verify
