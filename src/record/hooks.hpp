// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the generated wrappers call before and after the library's functions.

#include <cstdint>
#include <limits>
#include <vector>

#include "record/recorder.hpp"

#define ENTRAIN_EXPORT __attribute__((visibility("default")))

namespace entrain::record {

using Count = MPI_Count;

/// Counts of a v-variant, of either width.
class Counts {
 public:
  Counts(const int* counts) : narrow_(counts) {}
  Counts(const MPI_Count* counts) : wide_(counts) {}
  Count operator[](std::size_t i) const { return wide_ != nullptr ? wide_[i] : narrow_[i]; }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

/// Takes the place of a status that the program does not want: the recorder does.
class OwnStatus {
 public:
  explicit OwnStatus(MPI_Status*& status) {
    if (status == MPI_STATUS_IGNORE) status = &own_;
  }

 private:
  MPI_Status own_{};
};

/// The same for arrays.
class OwnStatuses {
 public:
  OwnStatuses(MPI_Status*& statuses, int count) {
    if (statuses != MPI_STATUSES_IGNORE || count <= 0) return;
    if (count > k_few) many_.resize(static_cast<std::size_t>(count));
    statuses = count > k_few ? many_.data() : few_;
  }

 private:
  static constexpr int k_few = 16;
  MPI_Status few_[k_few];
  std::vector<MPI_Status> many_;
};

// --- life of the process (process.cpp) ---

/// MPI_Init and MPI_Init_thread; `library` calls the MPI library's.
template <class Real>
int on_init(Region region, Real library);
/// MPI_Finalize.
template <class Real>
int on_finalize(Real library);
/// MPI_Session_init: the program may never call MPI_Init, and is told at its end what that means.
void on_session_init();
/// MPI_Abort: what was recorded is written out.
void on_abort();

Stamp before_init();
void after_init(Region region, const Stamp& begin, int result);
void before_finalize();

template <class Real>
int on_init(Region region, Real library) {
  ++this_thread.depth;
  const Stamp begin = before_init();
  const int result = library();
  after_init(region, begin, result);
  --this_thread.depth;
  return result;
}

template <class Real>
int on_finalize(Real library) {
  ++this_thread.depth;
  before_finalize();
  const int result = library();
  --this_thread.depth;
  return result;
}

// --- messages (messages.cpp) ---

/// Size of `count` elements; 0 if there are none or they have no type, which is an error of the
/// program that it hears of by its own call.
std::uint64_t bytes_of(Count count, MPI_Datatype datatype);
/// True if `error` says that a message was longer than its receive, which it took all the same.
bool is_too_long(int error);

/// A non-blocking operation between its two hooks. comm < 0: not recorded.
struct Started {
  std::int64_t comm = -1;
  std::uint64_t number = 0;
};

/// True if the send is written down, or need not be. That is done before the call where the program
/// would not outlive an error: one that is killed in a send has said to whom.
bool on_send(Call& call, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
/// Writes a send down as of its `begin`, unless that was done or it failed.
void after_send(Call& call, bool written, const Stamp& begin, int result, Count count,
                MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
/// The program has chosen what errors lead to.
void after_set_errhandler(MPI_Errhandler handler);
Started on_isend(Call& call, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
void after_isend(Call& call, int result, const Started& started, const MPI_Request* request);
void after_recv(Call& call, int result, int source, MPI_Comm comm, const MPI_Status* status);
Started on_irecv(Call& call, int source, MPI_Comm comm);
void after_irecv(Call& call, int result, const Started& started, const MPI_Request* request);
/// Of a call that sends and receives: its two halves, and what it said of the receive.
struct BothWays {
  Started sent, received;
  int source = 0, tag = 0;
  std::uint64_t room = 0;  ///< bytes
};
BothWays both_ways(const Started& sent, const Started& received, Count count, MPI_Datatype datatype,
                   int source, int tag);
void after_isendrecv(Call& call, int result, const BothWays& started, const MPI_Request* request);
void after_send_init(Call& call, int result, Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, const MPI_Request* request);
void after_recv_init(Call& call, int result, int source, MPI_Comm comm, const MPI_Request* request);
void on_start(Call& call, int count, const MPI_Request* requests);

/// A message that a matched probe found.
struct Matched {
  bool known = false;
  Pending receive;
};
void after_mprobe(Call& call, int result, bool found, MPI_Comm comm, const MPI_Message* message);
Matched take_message(const MPI_Message* message);
void after_mrecv(Call& call, int result, const Matched& matched, const MPI_Status* status);
void after_imrecv(Call& call, int result, const Matched& matched, const MPI_Request* request);

/// Writes the receive that `status` describes, as the completion of request `pending`.
void put_receive(Call& call, const Pending& pending, const MPI_Status& status);
/// The same for a call that sends and receives, whose send is complete as well.
void put_both_ways(Call& call, const Pending& pending, const MPI_Status& status);
/// The operation has failed. Its records get an end: nobody will hear of it any more.
void put_failure(Call& call, const Pending& pending);

// --- completion (completion.cpp) ---

/// The requests of one call of the Wait and Test families, as they were before it.
///
/// Where several threads call MPI, the handle of a request that is complete can be that of another
/// thread's new one before this thread comes to speak of it. So they are taken out of the table
/// before the call, and those that are not complete put back after it.
class Completion {
 public:
  Completion(int count, const MPI_Request* requests);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  /// The request at `index` is complete (MPI_UNDEFINED: none was active).
  void finished(Call& call, int result, int index, const MPI_Status* status);
  void all(Call& call, int result, const MPI_Status* statuses);
  void some(Call& call, int result, int count, const int* indices, const MPI_Status* statuses);
  /// None of them is.
  void tested(Call& call, int result);

 private:
  void claim();
  /// The call failed: what the library has let go of is no longer pending. `status`, of the request
  /// that failed, may be null.
  void failed(Call& call, int result, const MPI_Status* status);
  void failed(Call& call, int index, int error, const MPI_Status* status);
  /// The pending operation at `index`, which is no longer pending; kind nothing if unknown.
  Pending take(int index);
  [[nodiscard]] const Pending* look(int index) const;
  void complete(Call& call, int index, const MPI_Status& status);

  static constexpr int k_few = 16;
  const MPI_Request* requests_;   ///< of the program
  std::vector<Pending> claimed_;  ///< inactive: none; empty if there is one thread only
  int count_;
  std::uint64_t few_[k_few];
  std::vector<std::uint64_t> many_;
  std::uint64_t* handles_;
};

void on_request_free(Call& call, const MPI_Request* request);
void on_cancel(const MPI_Request* request);

// --- collective calls (collectives.cpp) ---

using Types = const MPI_Datatype*;
Collective barrier(MPI_Comm comm);
Collective bcast(Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatter(const void* recvbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatterv(const void* recvbuf, Counts sendcounts, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm);
Collective allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                      Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallv(const void* sendbuf, Counts sendcounts, MPI_Datatype sendtype,
                     Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallw(const void* sendbuf, Counts sendcounts, Types sendtypes, Counts recvcounts,
                     Types recvtypes, MPI_Comm comm);
Collective allreduce(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);
Collective reduce(const void* sendbuf, Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective reduce_scatter(const void* sendbuf, Counts recvcounts, MPI_Datatype datatype,
                          MPI_Comm comm);
Collective reduce_scatter_block(const void* sendbuf, Count recvcount, MPI_Datatype datatype,
                                MPI_Comm comm);
Collective scan(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);
Collective exscan(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);

void on_collective(Call& call, const Collective& what);
void after_collective(Call& call, int result, const Collective& what);
/// Number of the request of a non-blocking call.
std::uint64_t on_icollective(Call& call, const Collective& what);
void after_icollective(Call& call, int result, std::uint64_t number, const Collective& what,
                       const MPI_Request* request);
/// Of a persistent call, which each start begins.
void after_collective_init(int result, const Collective& what, const MPI_Request* request);
void put_collective_end(Call& call, const Collective& what);

// --- communicators (communicators.cpp) ---

/// A communicator that is about to be freed.
struct Freed {
  bool known = false;
  std::uint32_t id = 0;
};

Collective new_comm_on(MPI_Comm comm);
void after_new_comm(Call& call, int result, const Collective& what, MPI_Comm comm,
                    const MPI_Comm* newcomm);
void after_comm_idup(Call& call, int result, std::uint64_t number, const Collective& what,
                     MPI_Comm comm, const MPI_Comm* newcomm, const MPI_Request* request);
void after_comm_create_group(Call& call, int result, MPI_Comm comm, int tag,
                             const MPI_Comm* newcomm);
/// `bridge` is what the leaders of the two groups talk through.
void after_intercomm_create(Call& call, int result, int local_leader, MPI_Comm bridge, int tag,
                            const MPI_Comm* newcomm);
/// Of a call that may lead out of the world that is recorded, but need not.
void after_foreign_comm(Call& call, int result, const MPI_Comm* newcomm);
Freed on_free_comm(const MPI_Comm* comm);
void after_free_comm(Call& call, int result, const Freed& freed);
void after_comm_set_name(int result, MPI_Comm comm, const char* name);

// --- one-sided communication (one_sided.cpp) ---

/// Number of the operation in the records, 0 if it is not recorded.
std::uint64_t on_put(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win);
std::uint64_t on_get(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win);
std::uint64_t on_accumulate(Call& call, Count count, MPI_Datatype datatype, int target,
                            MPI_Win win);
/// An atomic operation that fetches what was there.
std::uint64_t on_fetch(Call& call, Count sent, MPI_Datatype sent_type, Count received,
                       MPI_Datatype received_type, MPI_Op op, int target, MPI_Win win);
std::uint64_t on_compare_and_swap(Call& call, MPI_Datatype datatype, int target, MPI_Win win);
/// Of an operation with a request.
void after_request(int result, std::uint64_t number, MPI_Win win, const MPI_Request* request);
/// A request of a call that leads to no record but enter and leave.
void after_other_request(int result, const MPI_Request* request);
/// The request of a one-sided operation is complete.
void put_operation_end(Call& call, const Pending& pending);
void put_operation_test(Call& call, const Pending& pending);

/// `begin`: of the call.
void after_new_window(Call& call, const Stamp& begin, int result, MPI_Comm comm, bool allocated,
                      const MPI_Win* win);
/// A window that is about to be freed.
struct FreedWindow {
  Stamp begin;
  bool known = false, allocated = false;
  std::uint32_t id = 0;
};
FreedWindow on_free_window(Call& call, const MPI_Win* win);
void after_free_window(Call& call, int result, const FreedWindow& freed);
void after_win_set_name(int result, MPI_Win win, const char* name);

void on_fence(Call& call, MPI_Win win);
void after_fence(Call& call, int assertion, MPI_Win win);
void on_post(Call& call, MPI_Group group, int assertion, MPI_Win win);
void after_start(Call& call, int result, MPI_Group group, int assertion, MPI_Win win);
void on_complete(Call& call, MPI_Win win);
void after_complete(Call& call, MPI_Win win);
void after_win_wait(Call& call, int result, bool over, MPI_Win win);
/// `rank` where all processes of the window are meant; no library gives this number a meaning.
inline constexpr int k_everybody = std::numeric_limits<int>::min();
void on_lock(Call& call, bool exclusive, int rank, MPI_Win win);
void after_unlock(Call& call, int result, int rank, MPI_Win win);
void after_flush(Call& call, int result, bool local, int rank, MPI_Win win);
void on_win_sync(Call& call, MPI_Win win);

}  // namespace entrain::record
