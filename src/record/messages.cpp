// SPDX-License-Identifier: BSD-3-Clause
#include "record/hooks.hpp"

namespace entrain::record {

namespace {

std::uint64_t bytes_of(Count count, MPI_Datatype datatype) {
  MPI_Count size = 0;
  real.MPI_Type_size_x(datatype, &size);
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

std::uint32_t unsigned_of(int number) { return static_cast<std::uint32_t>(number); }

/// A request that leads to no record: kept so that handles shared by several requests stay in step.
void add_nothing(const MPI_Request* request) {
  if (*request == MPI_REQUEST_NULL) return;
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request), Pending{});
}

/// The communicator if a message to or from `peer` on it is recorded, or null.
Comm* comm_of_message(MPI_Comm comm, int peer) {
  return peer == MPI_PROC_NULL ? nullptr : recorder().comm(comm);
}

/// A receive or a persistent operation that was not started yet, as the table keeps it.
Pending persistent(Pending::Kind kind, const Comm* comm) {
  Pending pending;
  pending.kind = comm == nullptr ? Pending::Kind::nothing : kind;
  pending.comm = comm == nullptr ? 0 : comm->id;
  pending.persistent = true;
  pending.active = false;
  return pending;
}

}  // namespace

void on_send(Call& call, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const auto lock = recorder().lock();
  const Comm* const known = comm_of_message(comm, dest);
  if (known == nullptr) return;
  call.at().put(OTF2_EvtWriter_MpiSend, call.time(), unsigned_of(dest), known->id, unsigned_of(tag),
                bytes_of(count, datatype));
}

Started on_isend(Call& call, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  const auto lock = recorder().lock();
  const Comm* const known = comm_of_message(comm, dest);
  if (known == nullptr || !call.recorded()) return {};
  const Started started{known->id, recorder().next_number()};
  call.at().put(OTF2_EvtWriter_MpiIsend, call.time(), unsigned_of(dest), known->id,
                unsigned_of(tag), bytes_of(count, datatype), started.number);
  return started;
}

void after_isend(Call&, int result, const Started& started, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  if (started.comm < 0) return add_nothing(request);
  Pending pending;
  pending.kind = Pending::Kind::send;
  pending.number = started.number;
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request), pending);
}

void put_receive(Call& call, const Pending& pending, const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;
  MPI_Count bytes = 0;
  real.MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  call.at().put(OTF2_EvtWriter_MpiIrecv, call.time(), unsigned_of(status.MPI_SOURCE), pending.comm,
                unsigned_of(status.MPI_TAG), static_cast<std::uint64_t>(bytes), pending.number);
}

void after_recv(Call& call, int result, int source, MPI_Comm comm, const MPI_Status* status) {
  if (result != MPI_SUCCESS || status->MPI_SOURCE == MPI_PROC_NULL) return;
  const auto lock = recorder().lock();
  const Comm* const known = comm_of_message(comm, source);
  if (known == nullptr) return;
  MPI_Count bytes = 0;
  real.MPI_Get_elements_x(status, MPI_BYTE, &bytes);
  call.at().put(OTF2_EvtWriter_MpiRecv, call.time(), unsigned_of(status->MPI_SOURCE), known->id,
                unsigned_of(status->MPI_TAG), static_cast<std::uint64_t>(bytes));
}

Started on_irecv(Call& call, int source, MPI_Comm comm) {
  const auto lock = recorder().lock();
  const Comm* const known = comm_of_message(comm, source);
  if (known == nullptr || !call.recorded()) return {};
  const Started started{known->id, recorder().next_number()};
  call.at().put(OTF2_EvtWriter_MpiIrecvRequest, call.time(), started.number);
  return started;
}

void after_irecv(Call&, int result, const Started& started, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  if (started.comm < 0) return add_nothing(request);
  Pending pending;
  pending.kind = Pending::Kind::receive;
  pending.number = started.number;
  pending.comm = static_cast<std::uint32_t>(started.comm);
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request), pending);
}

BothWays both_ways(const Started& sent, const Started& received, Count count, MPI_Datatype datatype,
                   int source, int tag) {
  return {sent, received, source, tag, bytes_of(count, datatype)};
}

void after_isendrecv(Call& call, int result, const BothWays& started, const MPI_Request* request) {
  if (started.received.comm < 0) return after_isend(call, result, started.sent, request);
  if (result != MPI_SUCCESS) return;
  Pending pending;
  pending.kind = Pending::Kind::both_ways;
  pending.number = started.received.number;
  pending.comm = static_cast<std::uint32_t>(started.received.comm);
  pending.send_number = started.sent.number;
  pending.peer = started.source;
  pending.tag = started.tag;
  pending.bytes = started.room;
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request), pending);
}

void put_both_ways(Call& call, const Pending& pending, const MPI_Status& status) {
  if (pending.send_number != 0) {
    call.at().put(OTF2_EvtWriter_MpiIsendComplete, call.time(), pending.send_number);
  }
  // MPICH 4.0 leaves the status as it was: then the arguments of the call must do.
  const bool told = (pending.peer == MPI_ANY_SOURCE || pending.peer == status.MPI_SOURCE) &&
                    (pending.tag == MPI_ANY_TAG || pending.tag == status.MPI_TAG);
  if (told) return put_receive(call, pending, status);
  call.at().put(OTF2_EvtWriter_MpiIrecv, call.time(), unsigned_of(pending.peer), pending.comm,
                unsigned_of(pending.tag), pending.bytes, pending.number);
}

void after_send_init(Call&, int result, Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = recorder().lock();
  Pending pending = persistent(Pending::Kind::send, comm_of_message(comm, dest));
  pending.peer = dest;
  pending.tag = tag;
  pending.bytes = bytes_of(count, datatype);
  recorder().requests.add(key_of(*request), pending);
}

void after_recv_init(Call&, int result, int source, MPI_Comm comm, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request),
                          persistent(Pending::Kind::receive, comm_of_message(comm, source)));
}

void on_start(Call& call, int count, const MPI_Request* requests) {
  const auto lock = recorder().lock();
  for (int i = 0; i < count; ++i) {
    Pending* const pending = recorder().requests.find(key_of(requests[i]));
    if (pending == nullptr || !pending->persistent) continue;
    pending->active = true;
    pending->cancelled = false;
    pending->number = recorder().next_number();
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

// A matched probe takes its message out of the queue: it is the receive's place in the order of the
// channel, whenever the data are fetched. So it is recorded as the request of the receive.

void after_mprobe(Call& call, int result, bool found, MPI_Comm comm, const MPI_Message* message) {
  if (result != MPI_SUCCESS || !found || *message == MPI_MESSAGE_NO_PROC) return;
  const auto lock = recorder().lock();
  const Comm* const known = recorder().comm(comm);
  if (known == nullptr || !call.recorded()) return;
  Pending pending;
  pending.kind = Pending::Kind::receive;
  pending.comm = known->id;
  pending.number = recorder().next_number();
  call.at().put(OTF2_EvtWriter_MpiIrecvRequest, call.time(), pending.number);
  recorder().messages[key_of(*message)] = pending;
}

Matched take_message(const MPI_Message* message) {
  const auto lock = recorder().lock();
  auto& messages = recorder().messages;
  const auto found = messages.find(key_of(*message));
  if (found == messages.end()) return {};
  const Matched matched{true, found->second};
  messages.erase(found);
  return matched;
}

void after_mrecv(Call& call, int result, const Matched& matched, const MPI_Status* status) {
  if (result == MPI_SUCCESS && matched.known) put_receive(call, matched.receive, *status);
}

void after_imrecv(Call&, int result, const Matched& matched, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  if (!matched.known) return add_nothing(request);
  const auto lock = recorder().lock();
  recorder().requests.add(key_of(*request), matched.receive);
}

}  // namespace entrain::record
