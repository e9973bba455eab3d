// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the generated wrappers call before and after the library's functions.

#include <cstdint>
#include <vector>

#include "record/recorder.hpp"

#define ENTRAIN_EXPORT __attribute__((visibility("default")))

namespace entrain::record {

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

/// A non-blocking operation between its two hooks. comm < 0: not recorded.
struct Started {
  std::int64_t comm = -1;
  std::uint64_t number = 0;
};

void on_send(Call& call, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
Started on_isend(Call& call, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
void after_isend(Call& call, int result, const Started& started, const MPI_Request* request);
void after_recv(Call& call, int result, int source, MPI_Comm comm, const MPI_Status* status);
Started on_irecv(Call& call, int source, MPI_Comm comm);
void after_irecv(Call& call, int result, const Started& started, const MPI_Request* request);
void after_send_init(Call& call, int result, int count, MPI_Datatype datatype, int dest, int tag,
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
  /// The pending operation at `index`, which is no longer pending; kind nothing if unknown.
  Pending take(int index);
  [[nodiscard]] const Pending* look(int index) const;
  void complete(Call& call, int index, const MPI_Status& status);

  static constexpr int k_few = 16;
  std::vector<Pending> claimed_;  ///< inactive: none; empty if there is one thread only
  int count_;
  std::uint64_t few_[k_few];
  std::vector<std::uint64_t> many_;
  std::uint64_t* handles_;
};

void on_request_free(Call& call, const MPI_Request* request);
void on_cancel(const MPI_Request* request);

// --- collective calls (collectives.cpp) ---

using Counts = const int*;
using Types = const MPI_Datatype*;
Collective barrier(MPI_Comm comm);
Collective bcast(int count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, Counts recvcounts,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatter(const void* recvbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatterv(const void* recvbuf, Counts sendcounts, MPI_Datatype sendtype, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm);
Collective allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, Counts recvcounts,
                      MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallv(const void* sendbuf, Counts sendcounts, MPI_Datatype sendtype,
                     Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallw(const void* sendbuf, Counts sendcounts, Types sendtypes, Counts recvcounts,
                     Types recvtypes, MPI_Comm comm);
Collective allreduce(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Comm comm);
Collective reduce(const void* sendbuf, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective reduce_scatter(const void* sendbuf, Counts recvcounts, MPI_Datatype datatype,
                          MPI_Comm comm);
Collective reduce_scatter_block(const void* sendbuf, int recvcount, MPI_Datatype datatype,
                                MPI_Comm comm);
Collective scan(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Comm comm);
Collective exscan(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Comm comm);

void on_collective(Call& call, const Collective& what);
void after_collective(Call& call, int result, const Collective& what);
/// Number of the request of a non-blocking call.
std::uint64_t on_icollective(Call& call, const Collective& what);
void after_icollective(Call& call, int result, std::uint64_t number, const Collective& what,
                       const MPI_Request* request);
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
void after_intercomm_create(Call& call, int result, int tag, const MPI_Comm* newcomm);
void after_foreign_comm(int result, const MPI_Comm* newcomm);
Freed on_free_comm(const MPI_Comm* comm);
void after_free_comm(Call& call, int result, const Freed& freed);
void after_comm_set_name(int result, MPI_Comm comm, const char* name);

}  // namespace entrain::record
