// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/big_vector.hpp"
#include "base/ids.hpp"

namespace entrain::trace {

/// The records that take part in happened-before relations (docs/method.md, section 2). The comment
/// names the OTF2 record and which fields of Event it fills.
enum class EventKind : std::uint8_t {
  send,               ///< MpiSend: comm, peer (receiver), tag
  isend,              ///< MpiIsend: the same, id = request
  recv,               ///< MpiRecv: comm, peer (sender), tag, length_code()
  irecv_request,      ///< MpiIrecvRequest: id = request
  irecv,              ///< MpiIrecv (completion): the same, id = request
  request_cancelled,  ///< MpiRequestCancelled: id = request
  collective_begin,   ///< MpiCollectiveBegin
  collective_end,     ///< MpiCollectiveEnd: op, comm, peer (root, or with k_partners the position
                      ///< in Definitions::partners), k_sent, k_received,
                      ///< tag = size_code() of the bytes sent
  nb_request,         ///< NonBlockingCollectiveRequest: id = request
  nb_complete,        ///< NonBlockingCollectiveComplete: as collective_end, id = request
  init_enter,         ///< Enter of MPI_Init or MPI_Init_thread
  init_leave,
  finalize_enter,  ///< Enter of MPI_Finalize
  finalize_leave,
  neighbours_enter,  ///< Enter of a collective call among neighbours, in a trace without k_partners
  neighbours_leave,
  thread_fork,    ///< ThreadFork
  thread_join,    ///< ThreadJoin
  team_begin,     ///< ThreadTeamBegin: comm = team
  team_end,       ///< ThreadTeamEnd: comm = team
  thread_create,  ///< ThreadCreate: comm = contingent, id = sequence count
  thread_begin,   ///< ThreadBegin: the same
  thread_wait,    ///< ThreadWait: the same
  thread_end,     ///< ThreadEnd: the same
  lock_acquire,   ///< Thread/OmpAcquireLock: op = paradigm, peer = lock, tag = order
  lock_release,   ///< Thread/OmpReleaseLock: the same
  barrier_enter,  ///< Enter of a barrier region of OpenMP or Pthreads, in whatever team is open
  barrier_leave,
  task_create,  ///< ThreadTaskCreate: comm = team, peer = creating thread, tag = generation
  task_switch,  ///< ThreadTaskSwitch: the same
  rma_collective_begin,  ///< RmaCollectiveBegin
  rma_collective_end,    ///< RmaCollectiveEnd: op, comm = window, peer = root, tag = sync level,
                         ///< flags
  rma_group_sync,  ///< RmaGroupSync: op = RmaGroupRole, comm = window, peer = group, tag = level;
                   ///< of start and wait at the Leave of the call, of post and complete as stored
  rma_notify,      ///< RmaSync: op = sync type, comm = window, peer = remote rank
  rma_lock,        ///< Rma request/acquire/try/release lock: no order recorded; only counted
};

/// True for the records of RMA windows, which are the last kinds.
constexpr bool is_one_sided(EventKind kind) { return kind >= EventKind::rma_collective_begin; }

/// The call of post-start-complete-wait that wrote an RmaGroupSync, known from the enclosing
/// region.
enum class RmaGroupRole : std::uint8_t { unknown, post, start, complete, wait };

/// Bits of Event::flags.
inline constexpr std::uint8_t k_sent = 1;      ///< contributed more than 0 bytes
inline constexpr std::uint8_t k_received = 2;  ///< received more than 0 bytes
inline constexpr std::uint8_t k_partners = 4;  ///< the partners of the call are known

/// Roots of collectives that are no rank (OTF2_COLLECTIVE_ROOT_*).
inline constexpr std::uint32_t k_root_none = 0xFFFFFFFFu;
inline constexpr std::uint32_t k_root_self = 0xFFFFFFFEu;
inline constexpr std::uint32_t k_root_this_group = 0xFFFFFFFDu;

/// Codes of OTF2_CollectiveOp as stored.
namespace op {
inline constexpr std::uint8_t barrier = 0, bcast = 1, gather = 2, gatherv = 3, scatter = 4,
                              scatterv = 5, allgather = 6, allgatherv = 7, alltoall = 8,
                              alltoallv = 9, alltoallw = 10, allreduce = 11, reduce = 12,
                              reduce_scatter = 13, scan = 14, exscan = 15,
                              reduce_scatter_block = 16, create_handle = 17;
}  // namespace op

/// One communication event. 32 bytes; fields that the kind does not fill are 0 or k_none.
struct Event {
  std::uint64_t time = 0;       ///< stored stamp, ticks
  std::uint64_t id = 0;         ///< request or sequence count
  std::uint32_t comm = k_none;  ///< CommIndex (position, mapped to global), or window position
  std::uint32_t peer = k_none;  ///< rank as stored, or see the kind
  std::uint32_t tag = 0;
  EventKind kind{};
  std::uint8_t op = 0;     ///< of messages: bits of length_code()
  std::uint8_t flags = 0;  ///< the same
  std::uint8_t more = 0;   ///< the same
};
static_assert(sizeof(Event) == 32);

/// 32 bits that stand for a number of bytes; 0 for 0 bytes.
[[nodiscard]] inline std::uint32_t size_code(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes * 0x9E3779B97F4A7C15u) >> 32);
}

/// Notes the length of a message in its event. O(1).
inline void set_length(Event& event, std::uint64_t bytes) {
  const std::uint32_t code = size_code(bytes) >> 8;
  event.op = static_cast<std::uint8_t>(code);
  event.flags = static_cast<std::uint8_t>(code >> 8);
  event.more = static_cast<std::uint8_t>(code >> 16);
}
/// 24 bits that stand for the length of a message: equal for equal lengths, and of two other
/// lengths equal once in 2^24 times.
[[nodiscard]] inline std::uint32_t length_code(const Event& event) {
  return std::uint32_t{event.op} | std::uint32_t{event.flags} << 8 |
         std::uint32_t{event.more} << 16;
}

/// [begin, end]: nothing was recorded between these two stamps, local ticks.
struct Gap {
  std::uint64_t begin = 0;
  std::uint64_t end = k_open;

  /// `end` of a gap that lasts to the end of the trace.
  static constexpr std::uint64_t k_open = ~std::uint64_t{0};
};

/// [begin, end]: stamp and stop time of a BufferFlush, local ticks.
struct FlushInterval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A ClockOffset record of the local definitions.
struct ClockOffset {
  std::uint64_t time = 0;   ///< local ticks
  std::int64_t offset = 0;  ///< ticks to add
  double stddev = 0;        ///< as stored
};

/// True if their times increase from each record to the next, as every reader demands.
[[nodiscard]] inline bool in_order(std::span<const ClockOffset> offsets) {
  return std::adjacent_find(offsets.begin(), offsets.end(), [](const auto& a, const auto& b) {
           return b.time <= a.time;
         }) == offsets.end();
}

/// The communication events of a location and the few other things that a correction needs of its
/// files: the result of one scan.
///
/// Example: a process enters main at 1000, enters MPI_Send at 1200, sends at 1210, leaves it at
/// 1230 and leaves main at 2000. Its five records give one event {time 1210, kind send}, and
/// event_count 5, first 1000, last 2000, granule 10.
struct LocationSkeleton {
  BigVector<Event> events;  ///< in stream order; times do not decrease if `decreasing` is empty
  std::uint64_t event_count = 0;  ///< all records of the stream
  std::uint64_t first = 0;        ///< stamp of the first record; only if event_count > 0
  std::uint64_t last = 0;         ///< stamp of the last record; only if event_count > 0
  std::uint64_t granule = 0;      ///< smallest distance of two different stamps; 0: unknown
  std::vector<FlushInterval> flushes;
  std::vector<Gap> gaps;  ///< from MeasurementOnOff off to on; in order, never overlapping
  std::vector<ClockOffset> clock_offsets;  ///< as stored, in file order

  // Anomalies, counted and not fatal.
  std::uint64_t unknown_records = 0;       ///< record types this version does not know; skipped
  std::uint64_t undefined_references = 0;  ///< events that name an undefined communicator etc.
  bool event_file_missing = false;
  bool definition_file_missing = false;
  bool truncated = false;  ///< the event file ends early; the records before that were read
  /// Position in the stream of the first stamp below its predecessor; empty: none.
  std::string decreasing;
};

/// Number of communication events strictly inside a buffer flush. The times must not decrease.
inline std::size_t events_inside(const LocationSkeleton& location, const FlushInterval& flush) {
  const auto begin =
      std::upper_bound(location.events.begin(), location.events.end(), flush.begin,
                       [](std::uint64_t time, const Event& event) { return time < event.time; });
  const auto end =
      std::lower_bound(begin, location.events.end(), flush.end,
                       [](const Event& event, std::uint64_t time) { return event.time < time; });
  return static_cast<std::size_t>(end - begin);
}

}  // namespace entrain::trace
