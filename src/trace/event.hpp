// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
  collective_end,     ///< MpiCollectiveEnd: op, comm, peer (root; k_partners: position in
                      ///< Definitions::partners), k_sent, k_received, tag = size_code() of the
                      ///< bytes sent
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
  task_create,    ///< ThreadTaskCreate: comm = team, peer = creating thread, tag = generation
  task_switch,    ///< ThreadTaskSwitch: the same
  kernel_launch,  ///< Enter of a call that launches a kernel: peer = location of the stream, or
                  ///< k_none: not recorded
  kernel_begin,   ///< Enter of a kernel, on the location of its stream
  kernel_end,
  stream_wait,  ///< Leave of a call that waits for a stream (peer), or for its device (k_none)
  edge_end,     ///< end of an edge that the format names itself
  rma_collective_begin,  ///< RmaCollectiveBegin
  rma_collective_end,    ///< RmaCollectiveEnd: op, comm = window, peer = root, tag = sync level,
                         ///< flags
  rma_group_sync,  ///< RmaGroupSync: op = RmaGroupRole, comm = window, peer = group, tag = level;
                   ///< start and wait have the time of the call's Leave, post and complete the
                   ///< stored one
  rma_notify,      ///< RmaSync: op = sync type, comm = window, peer = remote rank
  rma_lock,        ///< locks of RMA windows: no order recorded; op = 1: release, ends an epoch
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

/// Name of a collective operation, for example "Allreduce" for op::allreduce. "unknown operation"
/// for a code that OTF2 does not define.
const char* operation_name(std::uint8_t operation);

/// The code of a name that operation_name() gives, in upper or lower case; nothing for others.
std::optional<std::uint8_t> find_operation(std::string_view name);

/// A communication event. Fields that the kind does not fill are 0 or k_none. An EventList holds
/// many in half the room.
struct Event {
  std::uint64_t time = 0;       ///< stored stamp, ticks
  std::uint64_t id = 0;         ///< request or sequence count
  std::uint32_t comm = k_none;  ///< CommIndex (position, mapped to global), or window position
  std::uint32_t peer = k_none;  ///< rank as stored, or see the kind
  std::uint32_t tag = 0;
  EventKind kind{};
  std::uint8_t op = 0;     ///< operation; messages: bits of length_code()
  std::uint8_t flags = 0;  ///< messages: bits of length_code()
  std::uint8_t more = 0;   ///< messages: bits of length_code()
};
static_assert(sizeof(Event) == 32);

/// 32 bits that stand for a number of bytes; 0 for 0 bytes.
[[nodiscard]] inline std::uint32_t size_code(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes * 0x9E3779B97F4A7C15u) >> 32);
}

/// Notes the length_code() of a message in its event.
inline void set_length_code(Event& event, std::uint32_t code) {
  event.op = static_cast<std::uint8_t>(code);
  event.flags = static_cast<std::uint8_t>(code >> 8);
  event.more = static_cast<std::uint8_t>(code >> 16);
}
/// Notes the length of a message in its event. O(1).
inline void set_length(Event& event, std::uint64_t bytes) {
  set_length_code(event, size_code(bytes) >> 8);
}
/// 24 bits that stand for the length of a message: equal for equal lengths, and of two other
/// lengths equal once in 2^24 times.
[[nodiscard]] inline std::uint32_t length_code(const Event& event) {
  return std::uint32_t{event.op} | std::uint32_t{event.flags} << 8 |
         std::uint32_t{event.more} << 16;
}

/// A message as the process at one end records it.
struct Message {
  std::uint32_t peer = 0;  ///< rank of the other end in the communicator
  std::uint32_t comm = 0;  ///< position of the communicator in the definitions
  std::uint32_t tag = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A collective as one participant records it when it ends.
struct Collective {
  std::uint8_t op = 0;               ///< see trace::op
  std::uint32_t comm = 0;            ///< position of the communicator in the definitions
  std::uint32_t root = k_root_none;  ///< rank in the communicator
  std::uint64_t sent = 0;            ///< bytes that this participant sends
  std::uint64_t received = 0;        ///< bytes
};

}  // namespace entrain::trace
