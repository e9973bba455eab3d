// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "trace/trace.hpp"

namespace entrain::verify {

/// An event of the skeleton: trace.locations[location].events[event].
struct EventRef {
  LocationIndex location = k_none;
  std::uint32_t event = k_none;

  friend bool operator==(const EventRef&, const EventRef&) = default;
};

/// The stored event.
inline const trace::Event& at(const trace::Trace& trace, EventRef ref) {
  return trace.locations[ref.location].events[ref.event];
}

/// One happened-before edge between two locations.
struct Pair {
  EventRef send;
  EventRef receive;
  EdgeKind kind = EdgeKind::p2p;
};

/// One side of a call of a collective operation.
struct Participant {
  EventRef event;
  std::uint32_t rank = 0;  ///< only ordered instances look at it
};

/// Many edges at once: every send participant precedes every receive participant of another
/// location; in an ordered instance only those of higher rank.
struct Instance {
  EdgeKind kind = EdgeKind::n_to_n;
  bool ordered = false;
  std::uint32_t send_count = 0;
  std::uint32_t receive_count = 0;
  std::size_t first = 0;  ///< in Pairing::participants: first the sends, then the receives
};

/// Operations without a partner.
struct Unmatched {
  std::uint64_t sends = 0;                   ///< messages sent that nobody received
  std::uint64_t receives = 0;                ///< messages received that nobody sent
  std::uint64_t collectives_mismatched = 0;  ///< calls from the first disagreement on
  std::uint64_t collectives_incomplete = 0;  ///< instances that not every caller reaches
  std::uint64_t collective_ends_without_begin = 0;
  std::uint64_t thread_barriers_incomplete = 0;  ///< barriers that not every thread reaches
  std::uint64_t threads = 0;                     ///< thread creations, begins and waits
  std::uint64_t rma_group_sync = 0;              ///< post, start, complete, wait: per partner
  std::uint64_t rma_notify = 0;
};

/// Operations left out on purpose.
struct Skipped {
  std::uint64_t cancelled_sends = 0;
  std::uint64_t cancelled_receives = 0;
  std::uint64_t alltoallv_instances = 0;
  std::uint64_t rma_without_process_sync = 0;  ///< instances
  std::uint64_t rma_group_sync = 0;            ///< records: role unknown, or memory only
  std::uint64_t rma_locks = 0;                 ///< records
};

/// The happened-before relation of a trace as the checker sees it (clc.md, section 2).
struct Pairing {
  std::vector<Pair> pairs;
  std::vector<Instance> instances;
  /// Per instance and side in order of rank if ordered, else of location.
  std::vector<Participant> participants;
  Unmatched unmatched;
  Skipped skipped;

  [[nodiscard]] std::span<const Participant> sends(const Instance& instance) const {
    return {participants.data() + instance.first, instance.send_count};
  }
  [[nodiscard]] std::span<const Participant> receives(const Instance& instance) const {
    return {participants.data() + instance.first + instance.send_count, instance.receive_count};
  }

  /// Appends an edge, unless both ends are on one location: the stream orders those.
  void add_pair(EventRef send, EventRef receive, EdgeKind kind);
  /// Appends an instance, unless a side is empty. Sorts both sides.
  void add_instance(EdgeKind kind, bool ordered, std::vector<Participant>& sends,
                    std::vector<Participant>& receives);
};

/// What is paired.
enum class PairingScope {
  everything,
  messages,  ///< only point-to-point messages
};

/// Finds out which events belong together, by sorting keys.
///
/// Deliberately shares nothing with match/, which the corrector uses. Deterministic. What cannot
/// be paired is counted, never an error. O(n log n) for n communication events.
Pairing pair_events(const trace::Trace& trace, AlltoallvRule alltoallv,
                    PairingScope scope = PairingScope::everything);

}  // namespace entrain::verify
