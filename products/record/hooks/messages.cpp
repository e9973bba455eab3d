// SPDX-License-Identifier: BSD-3-Clause
#include "record/hooks/messages.hpp"

#include <otf2/otf2.h>

namespace entrain::record {

bool is_too_long(int error) {
  int kind = MPI_SUCCESS;
  if (error != MPI_SUCCESS) real.MPI_Error_class(error, &kind);
  return kind == MPI_ERR_TRUNCATE;
}

namespace {

std::uint32_t unsigned_of(int number) { return static_cast<std::uint32_t>(number); }

std::uint64_t bytes_received(const MPI_Status& status) {
  MPI_Count bytes = 0;
  real.MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return static_cast<std::uint64_t>(bytes);
}

/// Keeps a request without records in the table: several requests may share one handle, and they
/// complete in order.
void add_nothing(const MPI_Request* request) {
  if (*request == MPI_REQUEST_NULL) return;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), Pending{});
}

/// The communicator if a message to or from `peer` on it is recorded, or null.
Comm* comm_of_message(MPI_Comm comm, int peer) {
  return peer == MPI_PROC_NULL ? nullptr : handles().comm(comm);
}

/// The same for a send. Null if the library would not accept its arguments: the record may be
/// written before the call.
Comm* comm_of_send(const Send& send) {
  Comm* const known = comm_of_message(send.comm, send.dest);
  const bool sound = known != nullptr && send.count >= 0 && send.datatype != MPI_DATATYPE_NULL &&
                     send.tag >= 0 && send.dest >= 0 &&
                     static_cast<std::uint64_t>(send.dest) < known->partners();
  return sound ? known : nullptr;
}

void put_send(Call& call, const Stamp& time, const Send& send) {
  const auto lock = handles().lock();
  const Comm* const known = comm_of_send(send);
  if (known == nullptr) return;
  call.at().put(OTF2_EvtWriter_MpiSend, time, unsigned_of(send.dest), known->id,
                unsigned_of(send.tag), bytes_of(send.count, send.datatype));
}

/// The call that began the operation failed.
void put_failure(Call& call, const Started& started) {
  Pending pending;
  pending.kind = started.comm < 0 ? Pending::Kind::nothing : Pending::Kind::send;
  pending.number = started.number;
  put_failure(call, pending);
}

/// A persistent operation, for the table of requests; it is not started yet.
Pending persistent(Pending::Kind kind, const Comm* comm) {
  Pending pending;
  pending.kind = comm == nullptr ? Pending::Kind::nothing : kind;
  pending.comm = comm == nullptr ? 0 : comm->id;
  pending.persistent = true;
  pending.active = false;
  return pending;
}

}  // namespace

bool on_send(Call& call, const Send& send) {
  if (!call.recorded()) return true;
  if (errors_return) {
    // An error handler of the program may mark regions.
    call.at().hold();
    return false;
  }
  put_send(call, call.time(), send);
  return true;
}

void after_send(Call& call, bool written, const Stamp& begin, int result, const Send& send) {
  if (written) return;
  call.at().release([&] {
    // A call that sends and receives has sent, even if its receive was too short.
    if (result != MPI_SUCCESS && !is_too_long(result)) return;
    put_send(call, begin, send);
  });
}

void after_set_errhandler(MPI_Errhandler handler) {
  if (handler != MPI_ERRORS_ARE_FATAL) errors_return = true;
}

Started on_isend(Call& call, const Send& send) {
  const auto lock = handles().lock();
  const Comm* const known = comm_of_send(send);
  if (known == nullptr || !call.recorded()) return {};
  const Started started{known->id, handles().next_number()};
  call.at().put(OTF2_EvtWriter_MpiIsend, call.time(), unsigned_of(send.dest), known->id,
                unsigned_of(send.tag), bytes_of(send.count, send.datatype), started.number);
  return started;
}

void after_isend(Call& call, int result, const Started& started, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return put_failure(call, started);
  if (started.comm < 0) return add_nothing(request);
  Pending pending;
  pending.kind = Pending::Kind::send;
  pending.number = started.number;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

void put_failure(Call& call, const Pending& pending) {
  switch (pending.kind) {
    case Pending::Kind::both_ways:
      if (pending.send_number != 0) {
        call.at().put(OTF2_EvtWriter_MpiRequestCancelled, call.time(), pending.send_number);
      }
      [[fallthrough]];
    case Pending::Kind::send:
    case Pending::Kind::receive:
      call.at().put(OTF2_EvtWriter_MpiRequestCancelled, call.time(), pending.number);
      break;
    default:
      break;
  }
}

void put_receive(Call& call, const Pending& pending, const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;
  call.at().put(OTF2_EvtWriter_MpiIrecv, call.time(), unsigned_of(status.MPI_SOURCE), pending.comm,
                unsigned_of(status.MPI_TAG), bytes_received(status), pending.number);
}

void after_recv(Call& call, int result, int source, MPI_Comm comm, const MPI_Status* status) {
  if ((result != MPI_SUCCESS && !is_too_long(result)) || status->MPI_SOURCE == MPI_PROC_NULL)
    return;
  const auto lock = handles().lock();
  const Comm* const known = comm_of_message(comm, source);
  if (known == nullptr) return;
  call.at().put(OTF2_EvtWriter_MpiRecv, call.time(), unsigned_of(status->MPI_SOURCE), known->id,
                unsigned_of(status->MPI_TAG), bytes_received(*status));
}

Started on_irecv(Call& call, int source, MPI_Comm comm) {
  const auto lock = handles().lock();
  const Comm* const known = comm_of_message(comm, source);
  if (known == nullptr || !call.recorded()) return {};
  const Started started{known->id, handles().next_number()};
  call.at().put(OTF2_EvtWriter_MpiIrecvRequest, call.time(), started.number);
  return started;
}

void after_irecv(Call& call, int result, const Started& started, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return put_failure(call, started);
  if (started.comm < 0) return add_nothing(request);
  Pending pending;
  pending.kind = Pending::Kind::receive;
  pending.number = started.number;
  pending.comm = static_cast<std::uint32_t>(started.comm);
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

BothWays both_ways(const Started& sent, const Started& received, Count count, MPI_Datatype datatype,
                   int source, int tag) {
  return {sent, received, source, tag, bytes_of(count, datatype)};
}

void after_isendrecv(Call& call, int result, const BothWays& started, const MPI_Request* request) {
  if (started.received.comm < 0) return after_isend(call, result, started.sent, request);
  if (result != MPI_SUCCESS) {
    put_failure(call, started.sent);
    return put_failure(call, started.received);
  }
  Pending pending;
  pending.kind = Pending::Kind::both_ways;
  pending.number = started.received.number;
  pending.comm = static_cast<std::uint32_t>(started.received.comm);
  pending.send_number = started.sent.number;
  pending.peer = started.source;
  pending.tag = started.tag;
  pending.bytes = started.room;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

void put_both_ways(Call& call, const Pending& pending, const MPI_Status& status) {
  if (pending.send_number != 0) {
    call.at().put(OTF2_EvtWriter_MpiIsendComplete, call.time(), pending.send_number);
  }
  // MPICH 4.0 does not set the status: then the arguments of the call must do.
  const bool told = (pending.peer == MPI_ANY_SOURCE || pending.peer == status.MPI_SOURCE) &&
                    (pending.tag == MPI_ANY_TAG || pending.tag == status.MPI_TAG);
  if (told) return put_receive(call, pending, status);
  call.at().put(OTF2_EvtWriter_MpiIrecv, call.time(), unsigned_of(pending.peer), pending.comm,
                unsigned_of(pending.tag), pending.bytes, pending.number);
}

void after_send_init(int result, const Send& send, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  Pending pending = persistent(Pending::Kind::send, comm_of_message(send.comm, send.dest));
  pending.peer = send.dest;
  pending.tag = send.tag;
  pending.bytes = bytes_of(send.count, send.datatype);
  handles().requests.add(key_of(*request), pending);
}

void after_recv_init(int result, int source, MPI_Comm comm, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request),
                         persistent(Pending::Kind::receive, comm_of_message(comm, source)));
}

void on_start(Call& call, int count, const MPI_Request* requests) {
  const auto lock = handles().lock();
  for (int i = 0; i < count; ++i) {
    Pending* const pending = handles().requests.find(key_of(requests[i]));
    if (pending == nullptr || !pending->persistent) continue;
    pending->active = true;
    pending->cancelled = false;
    pending->number = handles().next_number();
    pending->silent = !call.recorded();
    if (pending->kind == Pending::Kind::collective) {
      call.at().put(OTF2_EvtWriter_NonBlockingCollectiveRequest, call.time(), pending->number);
    } else if (pending->kind == Pending::Kind::send) {
      call.at().put(OTF2_EvtWriter_MpiIsend, call.time(), unsigned_of(pending->peer), pending->comm,
                    unsigned_of(pending->tag), pending->bytes, pending->number);
    } else if (pending->kind == Pending::Kind::receive) {
      call.at().put(OTF2_EvtWriter_MpiIrecvRequest, call.time(), pending->number);
    }
  }
}

// A matched probe takes its message out of the queue, so it fixes the place of the receive in the
// order of messages, whenever the data are fetched. It is recorded as the request of the receive.

void after_mprobe(Call& call, int result, bool found, MPI_Comm comm, const MPI_Message* message) {
  if (result != MPI_SUCCESS || !found || *message == MPI_MESSAGE_NO_PROC) return;
  const auto lock = handles().lock();
  const Comm* const known = handles().comm(comm);
  if (known == nullptr || !call.recorded()) return;
  Pending pending;
  pending.kind = Pending::Kind::receive;
  pending.comm = known->id;
  pending.number = handles().next_number();
  call.at().put(OTF2_EvtWriter_MpiIrecvRequest, call.time(), pending.number);
  handles().messages[key_of(*message)] = pending;
}

Matched take_message(const MPI_Message* message) {
  const auto lock = handles().lock();
  auto& messages = handles().messages;
  const auto found = messages.find(key_of(*message));
  if (found == messages.end()) return {};
  const Matched matched{true, found->second};
  messages.erase(found);
  return matched;
}

void after_mrecv(Call& call, int result, const Matched& matched, const MPI_Status* status) {
  if (!matched.known) return;
  if (result != MPI_SUCCESS && !is_too_long(result)) return put_failure(call, matched.receive);
  put_receive(call, matched.receive, *status);
}

void after_imrecv(Call& call, int result, const Matched& matched, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return put_failure(call, matched.receive);
  if (!matched.known) return add_nothing(request);
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), matched.receive);
}

}  // namespace entrain::record
