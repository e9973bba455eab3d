// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

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
    bool disordered = false;  ///< its posts do not stand in posting order, or threads share it
    std::uint32_t count = 0;
    std::uint32_t latest = 0;         ///< `order` of the last post so far
    LocationIndex location = k_none;  ///< of the last post so far
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
    LocationIndex location = k_none;  ///< of the first call
    bool several = false;             ///< threads call
    bool disordered = false;          ///< its calls do not stand in the order of their begins
    std::uint32_t count = 0;
    std::uint32_t latest = 0;
  };
  struct Call {
    std::uint32_t column = 0;
    /// Number of its begin, or of its end without begin. After order_calls(), in a disordered
    /// column: its position there.
    std::uint32_t order = 0;
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
  /// The call of MPI_Init, then that of MPI_Finalize: first enter of its thread, and first leave
  /// after it.
  struct World {
    LocationIndex location = k_none;  ///< of the first record
    bool several = false;             ///< threads have records of such a call
    std::uint32_t enter = k_none;     ///< number of the instant; k_none: not in the trace
    std::uint32_t leave = k_none;

    /// MPI is initialised and finalized by one thread.
    [[nodiscard]] bool complete() const { return !several && leave != k_none; }
  };
  std::array<World, 2> world;
};

/// Walks once through the events of a process. Counts what can have no partner.
Outline outline_process(const trace::Trace& trace, const Places& places, std::uint32_t process,
                        bool messages_only, Memberships& memberships, Unmatched& unmatched,
                        Skipped& skipped);

/// ErrorKind::input if a process has more ends of operations than 32 bits can number: a
/// synchronisation through a window has one for every partner. `path` names the trace.
Result<void> require_countable(std::uint64_t posts, const std::string& path);

/// Puts the calls of a process in the order in which it made them: by begin, of those begun
/// together requests first, then the one that ended first, but every thread's in stream order.
void order_calls(const trace::Trace& trace, const Places& places, Outline& outline);

}  // namespace entrain::verify
