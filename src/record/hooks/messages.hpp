// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "record/hooks/bytes.hpp"
#include "record/hooks/call.hpp"

namespace entrain::record {

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

}  // namespace entrain::record
