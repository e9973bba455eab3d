// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "verify/counts.hpp"
#include "verify/membership.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Kinds of operations whose k-th send belongs to the k-th receive of the same channel.
enum class Stage : std::uint32_t { message, group_sync, notification };

/// What the two ends of such an operation have in common.
struct ChannelKey {
  Stage stage{};
  std::uint32_t sender = k_none;    ///< process
  std::uint32_t receiver = k_none;  ///< process
  std::uint32_t space = k_none;     ///< communicator, or window
  std::uint32_t tag = 0;

  friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
};

/// The spaces in which collective calls are counted: communicators, then windows.
using SpaceIndex = std::uint32_t;

/// What the events of one process amount to: its ends of messages and its collective calls, by
/// channel and space. Small, so that a process can be kept while the others are looked at; times
/// are added when the ends are written to their final places (Parcels).
struct Outline {
  struct Channel {
    ChannelKey key;
    bool send = false;        ///< the process's own part is the sending one
    bool disordered = false;  ///< its posts do not stand in posting order
    std::uint32_t count = 0;
    std::uint32_t latest = 0;  ///< `order` of the last post so far
  };
  struct Post {
    std::uint32_t channel = k_none;  ///< k_none: without a partner
    std::uint32_t order = 0;         ///< number of the event at which it was posted
    std::uint32_t node = 0;          ///< number of the instant that is the end of the edge
  };
  /// The calls of the process in one space.
  struct Column {
    SpaceIndex space = k_none;
    Seat seat;
    bool disordered = false;
    std::uint32_t count = 0;
    std::uint32_t latest = 0;
  };
  struct Call {
    std::uint32_t column = 0;
    std::uint32_t order = 0;       ///< number of its begin, or of its end without begin
    std::uint32_t begin = k_none;  ///< number of the instant; k_none: not in the trace
    std::uint32_t end = 0;         ///< number of the instant
    std::uint32_t event = 0;       ///< number of the end event
  };

  std::uint32_t process = k_none;
  std::vector<Channel> channels;
  std::vector<Post> posts;  ///< by location, in stream order
  std::vector<Column> columns;
  std::vector<Call> calls;   ///< by location, in stream order of their ends
  bool has_threads = false;  ///< there are events for ThreadRelation
  bool decreasing = false;   ///< a stamp is below the one before it
  /// First enter and leave of MPI_Init, then of MPI_Finalize: MPI is initialised and finalized
  /// once.
  struct World {
    std::uint32_t number = k_none;  ///< of the event; k_none: not in the trace
    std::uint32_t node = k_none;    ///< of its instant
  };
  std::array<World, 4> world;
};

/// Order of two events of one process, given by number: by stored stamp, then number. The stream
/// itself where only one location has events.
class ProcessOrder {
 public:
  ProcessOrder(const trace::Trace& trace, const Places& places, std::uint32_t process)
      : trace_(&trace), places_(&places), process_(process), single_(places.is_single(process)) {}

  [[nodiscard]] bool operator()(std::uint32_t a, std::uint32_t b) const {
    if (single_) return a < b;
    const std::uint64_t s = stamp(a), t = stamp(b);
    return s != t ? s < t : a < b;
  }

 private:
  [[nodiscard]] std::uint64_t stamp(std::uint32_t number) const {
    const EventRef ref = places_->event(process_, number);
    return trace_->locations[ref.location].events[ref.event].time;
  }
  const trace::Trace* trace_;
  const Places* places_;
  std::uint32_t process_;
  bool single_;
};

/// Walks once through the events of a process. Counts what can have no partner.
Outline outline_process(const trace::Trace& trace, const Places& places, std::uint32_t process,
                        bool messages_only, Memberships& memberships, Unmatched& unmatched,
                        Skipped& skipped);

}  // namespace entrain::verify
