// SPDX-License-Identifier: BSD-3-Clause
// Each communicator gets a key that all its members derive alike, without a message: the key of its
// parent, the number of communicators made from the parent before, and the first member. Example:
// "world:0/2:4" is the third one made from MPI_COMM_WORLD, and begins with world rank 4.
#include "record/hooks/communicators.hpp"

#include <otf2/otf2.h>

#include "record/hooks/collectives.hpp"

namespace entrain::record {

Collective new_comm_on(MPI_Comm comm) {
  Collective what;
  what.operation = OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  what.root = OTF2_COLLECTIVE_ROOT_NONE;
  const auto lock = handles().lock();
  if (const Comm* const known = handles().comm(comm)) {
    what.known = true;
    what.comm = known->id;
  }
  return what;
}

namespace {

/// Registers the new communicator as the next one made from `parent`. Null if there is none, or it
/// cannot be recorded.
Comm* add_child(MPI_Comm parent, MPI_Comm child, MPI_Comm like = MPI_COMM_NULL) {
  Comm* const known = handles().comm(parent);
  if (known == nullptr) return nullptr;
  const std::uint64_t number = known->created++;
  if (child == MPI_COMM_NULL) return nullptr;
  return handles().add_comm(child, known->key + '/' + std::to_string(number), known, like);
}

void put_created(Call& call, const Comm* comm) {
  if (comm != nullptr) call.at().put(OTF2_EvtWriter_CommCreate, call.time(), comm->id);
}

}  // namespace

void after_new_comm(Call& call, int result, const Collective& what, MPI_Comm comm,
                    const MPI_Comm* newcomm) {
  const auto lock = handles().lock();
  if (result == MPI_SUCCESS) put_created(call, add_child(comm, *newcomm));
  put_collective_end(call, what);
}

void after_comm_idup(Call& call, int result, std::uint64_t number, const Collective& what,
                     MPI_Comm comm, const MPI_Comm* newcomm, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  // The handle is not usable yet, but its members are those of the original.
  Comm* const created = add_child(comm, *newcomm, comm);
  Pending pending;
  pending.kind = created != nullptr ? Pending::Kind::new_comm : Pending::Kind::nothing;
  pending.silent = !call.recorded();
  pending.number = number;
  pending.comm = created != nullptr ? created->id : 0;
  pending.collective = what;
  handles().requests.add(key_of(*request), pending);
}

void after_comm_create_group(Call& call, int result, MPI_Comm comm, int tag,
                             const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  const auto lock = handles().lock();
  const Comm* const parent = handles().comm(comm);
  if (parent == nullptr) return;
  const std::string key =
      handles().members_key(parent->key + "/group" + std::to_string(tag), *newcomm);
  put_created(call, handles().add_comm(*newcomm, key + '#' + std::to_string(handles().ordinal(key)),
                                       parent));
}

namespace {

/// Registers an inter-communicator between two groups. `how` names the call that made it; `bridge`
/// is null unless this process knows it.
void add_between(Call& call, const std::string& how, MPI_Comm between, const Comm* bridge) {
  const std::string key = handles().members_key(how, between);
  put_created(call, handles().add_comm(between, key + '#' + std::to_string(handles().ordinal(key)),
                                       bridge));
}

}  // namespace

void after_intercomm_create(Call& call, int result, int local_leader, MPI_Comm bridge, int tag,
                            const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  int rank = 0;
  real.MPI_Comm_rank(*newcomm, &rank);
  const auto lock = handles().lock();
  // Only the leader must give a valid bridge.
  const Comm* const known = rank == local_leader ? handles().comm(bridge) : nullptr;
  add_between(call, "inter" + std::to_string(tag), *newcomm, known);
}

void after_foreign_comm(Call& call, int result, const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  const auto lock = handles().lock();
  if (handles().comm(*newcomm) == nullptr) add_between(call, "connected", *newcomm, nullptr);
}

Freed on_free_comm(const MPI_Comm* comm) {
  const auto lock = handles().lock();
  Freed freed;
  if (const Comm* const known = handles().comm(*comm)) {
    freed.known = true;
    freed.id = known->id;
  }
  // It is forgotten before the call: right after it another thread may get the same handle.
  handles().forget_comm(*comm);
  return freed;
}

void after_free_comm(Call& call, int result, const Freed& freed) {
  if (result != MPI_SUCCESS) return;
  if (freed.known) call.at().put(OTF2_EvtWriter_CommDestroy, call.time(), freed.id);
}

void after_comm_set_name(int result, MPI_Comm comm, const char* name) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  if (const Comm* const known = handles().comm(comm)) handles().name_comm(*known, name);
}

}  // namespace entrain::record
