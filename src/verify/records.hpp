// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verify/pairing.hpp"

// Parts of pair_events; for the files of this folder only.
namespace entrain::verify {

/// The order of a process's events over all of its locations: by stored stamp, then location.
class ProcessOrder {
 public:
  explicit ProcessOrder(const trace::Trace& trace);

  /// Position of an event in its process; only comparable inside one process.
  [[nodiscard]] std::uint32_t operator()(LocationIndex location, std::uint32_t event) const {
    return position_[location].empty() ? event : position_[location][event];
  }

 private:
  /// Per location and event; empty where the process has no other location with events.
  std::vector<std::vector<std::uint32_t>> position_;
};

/// What the request ids of one location link.
struct Requests {
  /// Per event. irecv: the event that posted it (itself if none did); isend: itself, or k_none if
  /// cancelled; nb_complete: its nb_request, or k_none if there is none. Other kinds: itself.
  std::vector<std::uint32_t> origin;
  std::uint64_t cancelled_sends = 0;
  std::uint64_t cancelled_receives = 0;
};

/// Links completions and cancellations with the latest use of their request id.
Requests link_requests(std::span<const trace::Event> events);

/// Where a process sits in a communicator.
struct Seat {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
};

/// The members of one communicator, found by process.
class Membership {
 public:
  Membership(const trace::Definitions& definitions, const trace::Comm& comm);

  [[nodiscard]] bool inter() const { return comm_->inter; }
  [[nodiscard]] bool self() const { return comm_->self; }
  [[nodiscard]] std::optional<Seat> seat_of(std::uint32_t process) const;
  /// Process of a rank of a group; k_none if there is no such member.
  [[nodiscard]] std::uint32_t process_at(std::uint32_t group, std::uint32_t rank) const;

 private:
  struct Entry {
    std::uint32_t process = k_none;
    Seat seat;
  };
  const trace::Definitions* definitions_;
  const trace::Comm* comm_;
  std::vector<Entry> entries_;  ///< sorted by process, one per process
};

/// One end of a message, with everything that decides about its partner.
struct Post {
  std::uint32_t sender = k_none;    ///< process
  std::uint32_t receiver = k_none;  ///< process
  std::uint32_t comm = k_none;
  std::uint32_t tag = 0;
  std::uint32_t order = 0;  ///< where it was posted: ProcessOrder of the acting process
  EventRef event;           ///< the event that is the end of the edge
};

/// A call of a collective operation. Operation, root and sizes stand in the end event.
struct Call {
  std::uint32_t space = k_none;  ///< communicator, or window
  std::uint32_t process = k_none;
  std::uint32_t order = 0;  ///< of its begin, or of its end if it has no begin
  LocationIndex location = k_none;
  std::uint32_t begin = k_none;  ///< event; k_none: not in the trace
  std::uint32_t end = k_none;    ///< event
};

/// Collects the two ends of all messages of a trace and pairs them.
class MessagePairing {
 public:
  explicit MessagePairing(const trace::Trace& trace);
  void collect(LocationIndex location, const Requests& requests, const ProcessOrder& order,
               Pairing& out);
  void pair(Pairing& out);

 private:
  /// Process that `rank` means to process `own`; k_none if it means nobody.
  std::uint32_t peer_process(std::uint32_t comm, std::uint32_t own, std::uint32_t rank);

  const trace::Trace* trace_;
  std::vector<std::optional<Membership>> inter_;  ///< per communicator, on demand
  std::vector<Post> sends_, receives_;
};

/// Calls of collective operations: of MPI on communicators, or one-sided ones on windows.
enum class CallFamily { mpi, rma };

/// Appends the calls of one location.
void collect_calls(const trace::Trace& trace, LocationIndex location, const Requests& requests,
                   const ProcessOrder& order, CallFamily family, std::vector<Call>& calls,
                   Unmatched& unmatched);

/// Forms instances of the calls of all locations.
void pair_calls(const trace::Trace& trace, std::vector<Call> calls, CallFamily family,
                AlltoallvRule alltoallv, Pairing& out);

/// Post-start-complete-wait and notifications on windows.
void pair_rma_syncs(const trace::Trace& trace, const ProcessOrder& order, Pairing& out);

/// Teams, thread creation, locks, and tasks.
void pair_threads(const trace::Trace& trace, const ProcessOrder& order, Pairing& out);

/// How many posts found no partner.
struct Leftover {
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
};

/// The k-th send and the k-th receive of the same key are a pair. Sorts both in place.
Leftover pair_posts(std::vector<Post>& sends, std::vector<Post>& receives, EdgeKind kind,
                    Pairing& out);

}  // namespace entrain::verify
