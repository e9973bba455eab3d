// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "record/hooks/bytes.hpp"
#include "record/hooks/call.hpp"

namespace entrain::record {

/// True if `error` says that a message was longer than its receive. The receive took it all the
/// same.
bool is_too_long(int error);

/// A non-blocking operation, handed from the hook before the call to the one after it. comm < 0:
/// not recorded.
struct Started {
  std::int64_t comm = -1;
  std::uint64_t number = 0;
};

/// The arguments of a call that sends.
struct Send {
  Count count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  int dest = MPI_PROC_NULL, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Writes the record of a blocking send before the call, if an error would end the program: so a
/// program that dies in a send has recorded the receiver. True if after_send has nothing to write.
bool on_send(Call& call, const Send& send);
/// Writes the record with the time `begin`, unless that is done (`written`) or the send failed.
void after_send(Call& call, bool written, const Stamp& begin, int result, const Send& send);
/// The program has set an error handler: from now on failing calls may return.
void after_set_errhandler(MPI_Errhandler handler);
Started on_isend(Call& call, const Send& send);
void after_isend(Call& call, int result, const Started& started, const MPI_Request* request);
void after_recv(Call& call, int result, int source, MPI_Comm comm, const MPI_Status* status);
Started on_irecv(Call& call, int source, MPI_Comm comm);
void after_irecv(Call& call, int result, const Started& started, const MPI_Request* request);
/// A call that sends and receives without blocking: its two halves, and the arguments of the
/// receive.
struct BothWays {
  Started sent, received;
  int source = 0, tag = 0;
  std::uint64_t room = 0;  ///< size of the receive buffer, bytes
};
BothWays both_ways(const Started& sent, const Started& received, Count count, MPI_Datatype datatype,
                   int source, int tag);
void after_isendrecv(Call& call, int result, const BothWays& started, const MPI_Request* request);
void after_send_init(int result, const Send& send, const MPI_Request* request);
void after_recv_init(int result, int source, MPI_Comm comm, const MPI_Request* request);
void on_start(Call& call, int count, const MPI_Request* requests);

/// A message that a matched probe has found.
struct Matched {
  bool known = false;
  Pending receive;
};
void after_mprobe(Call& call, int result, bool found, MPI_Comm comm, const MPI_Message* message);
Matched take_message(const MPI_Message* message);
void after_mrecv(Call& call, int result, const Matched& matched, const MPI_Status* status);
void after_imrecv(Call& call, int result, const Matched& matched, const MPI_Request* request);

/// Writes the receive that `status` describes, which completes `pending`.
void put_receive(Call& call, const Pending& pending, const MPI_Status& status);
/// The same for a call that sends and receives: its send is complete too.
void put_both_ways(Call& call, const Pending& pending, const MPI_Status& status);
/// The operation has failed, and no later call will mention it: writes the end of its records.
void put_failure(Call& call, const Pending& pending);

}  // namespace entrain::record
