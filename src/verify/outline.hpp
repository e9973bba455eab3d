// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <entrain/error.hpp>

#include "base/big_vector.hpp"
#include "trace/trace.hpp"
#include "verify/edges.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Kinds of operations whose k-th send belongs to the k-th receive of the same channel.
enum class Stage : std::uint32_t { message, group_sync, notification };

/// Channel: the key that both ends of such an operation share. Its k-th send belongs to its k-th
/// receive.
struct ChannelKey {
  Stage stage{};
  std::uint32_t sender = k_none;    ///< process
  std::uint32_t receiver = k_none;  ///< process
  std::uint32_t space = k_none;     ///< communicator, or window
  std::uint32_t tag = 0;

  friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
};

/// True if a channel begins and ends on one location, as when a process without threads sends to
/// itself: its pairs are no edges.
inline bool is_within_location(const ChannelKey& key, const Places& places) {
  return key.sender == key.receiver && places.is_single(key.sender);
}

/// The spaces in which collective calls are counted: communicators, windows, and one each for
/// MPI_Init and MPI_Finalize.
using SpaceIndex = std::uint32_t;

/// The space of MPI_Init; that of MPI_Finalize, the last one, follows.
inline SpaceIndex first_world_space(const trace::Definitions& definitions) {
  return static_cast<SpaceIndex>(definitions.comms.size() + definitions.windows.size());
}

/// The communicator of a space; of those of MPI_Init and MPI_Finalize, one without members.
inline const trace::Comm& comm_of(const trace::Definitions& definitions, SpaceIndex space) {
  static const trace::Comm all;
  const std::size_t comms = definitions.comms.size();
  if (space >= first_world_space(definitions)) return all;
  return definitions.comms[space < comms ? space : definitions.windows[space - comms].comm];
}

/// Compact form of the events of one process: its ends of messages and synchronisations, by
/// channel, and its collective calls, by space; without times.
///
/// Instants are named by the number (Places) of the first event that shares their stamp.
///
/// Example: process 0 sends to process 1 (event 0), posts a receive (1) and a barrier (2, 3), then
/// completes the receive (4). It has two channels, 0 -> 1 and 1 -> 0, and one column, the world.
/// Its posts are {channel 0, order 0, instant 0} and {channel 1, order 0, instant 4}: a receive is
/// ordered by its request, but its edge ends at its completion. Its only call is {column 0, order
/// 0, begin 2, end 3, event 3}.
struct Outline {
  struct Channel {
    ChannelKey key;
    bool send = false;        ///< the process is the sender
    bool disordered = false;  ///< its posts are not stored in posting order, or threads share it
    std::uint32_t count = 0;
    std::uint32_t latest = 0;         ///< `order` of the last post so far
    LocationIndex location = k_none;  ///< location of the last post so far
    std::uint64_t symbols = 0;        ///< hash of the symbols of its posts in order of posting
  };
  struct Post {
    std::uint32_t channel = k_none;  ///< k_none: no partner
    /// Number of the event at which it was posted; after order_posts(): its position in its
    /// channel.
    std::uint32_t order = 0;
    std::uint32_t instant = 0;  ///< number of the instant that is the end of the edge
    std::uint32_t symbol = 0;   ///< trace::length_code() of a message
  };
  struct Column {
    SpaceIndex space = k_none;
    Seat seat;
    LocationIndex location = k_none;  ///< location of the first call
    bool several = false;             ///< several threads call
    bool disordered = false;          ///< its calls are not stored in the order of their begins
    std::uint32_t count = 0;
    std::uint32_t latest = 0;
    std::uint64_t operations = 0;  ///< hash of the calls in order; set by order_calls()
  };
  struct Call {
    std::uint32_t column = 0;
    /// Number of its begin, or of its end if there is no begin; after order_calls(): its position
    /// in its column.
    std::uint32_t order = 0;
    std::uint32_t begin = k_none;  ///< number of the instant; k_none: not in the trace
    std::uint32_t end = 0;         ///< number of the instant
    std::uint32_t event = 0;       ///< number of the end event
  };

  std::uint32_t process = k_none;
  std::vector<Channel> channels;
  BigVector<Post> posts;  ///< sorted by location, then stream
  std::vector<Column> columns;
  BigVector<Call> calls;     ///< sorted by location, then stream of the ends
  bool has_threads = false;  ///< there are events for ThreadRelation
  bool decreasing = false;   ///< some stamp is below the one before it
  /// Call of MPI_Init or MPI_Finalize: the first enter of its thread, and the first leave after it.
  struct World {
    LocationIndex location = k_none;  ///< location of the first record
    bool several = false;             ///< several threads have records of such a call
    std::uint32_t enter = k_none;     ///< number of the instant; k_none: not in the trace
    std::uint32_t leave = k_none;
    std::uint32_t event = k_none;  ///< number of the leave

    /// MPI is initialised and finalized by one thread.
    [[nodiscard]] bool complete() const { return !several && leave != k_none; }
  };
  std::array<World, 2> world;  ///< MPI_Init, MPI_Finalize
};

/// Makes the outlines of processes, one after the other. Used by one thread.
class Outliner {
 public:
  /// `left_out` counts the operations that can have no partner. All must outlive the Outliner.
  Outliner(const trace::Trace& trace, const Places& places, LeftOut& left_out)
      : trace_(trace), places_(places), left_out_(left_out), memberships_(trace.definitions) {}

  /// Reads the events of a process once.
  Outline outline(std::uint32_t process);

 private:
  class Walk;

  const trace::Trace& trace_;
  const Places& places_;
  LeftOut& left_out_;
  Memberships memberships_;
};

/// ErrorKind::input if a process has more ends of operations than 32 bits can number: a
/// synchronisation through an RMA window has one for every partner. `path` names the trace.
Result<void> require_countable(std::uint64_t posts, const std::string& path);

}  // namespace entrain::verify
