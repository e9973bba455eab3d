// SPDX-License-Identifier: BSD-3-Clause
// Communicators get keys that all members derive alike without a message: the key of the one they
// were made from, the number of such calls on it so far, and the first member of the new one.
#include <algorithm>

#include "record/hooks.hpp"

namespace entrain::record {

namespace {

std::vector<int> ranks_in_world(MPI_Group group, MPI_Group world) {
  int size = 0;
  real.MPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), ranks(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  if (size > 0) real.MPI_Group_translate_ranks(group, size, own.data(), world, ranks.data());
  return ranks;
}

bool inside_world(const std::vector<int>& ranks) {
  return std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end();
}

void describe(Comm& comm, MPI_Comm handle) {
  int inter = 0;
  real.MPI_Comm_test_inter(handle, &inter);
  comm.inter = inter != 0;
  real.MPI_Comm_rank(handle, &comm.rank);
  real.MPI_Comm_size(handle, &comm.size);
  if (comm.inter) real.MPI_Comm_remote_size(handle, &comm.remote_size);
}

/// Number of this call among those that all members make with the same key.
std::uint64_t ordinal(const std::string& key) { return recorder().ordinals[key]++; }

}  // namespace

Recorder::Members Recorder::members_of(MPI_Comm handle) const {
  Members members;
  MPI_Group group = MPI_GROUP_NULL;
  real.MPI_Comm_group(handle, &group);
  members.own = ranks_in_world(group, world_group_);
  real.MPI_Group_free(&group);
  int inter = 0;
  real.MPI_Comm_test_inter(handle, &inter);
  if (inter == 0) return members;
  real.MPI_Comm_remote_group(handle, &group);
  members.others = ranks_in_world(group, world_group_);
  real.MPI_Group_free(&group);
  return members;
}

std::string Recorder::members_key(const std::string& prefix, MPI_Comm handle) const {
  const Members members = members_of(handle);
  std::string own = join_ranks(members.own), others = join_ranks(members.others);
  if (!members.others.empty() && members.others.front() < members.own.front()) own.swap(others);
  return prefix + '(' + own + '|' + others + ')';
}

Comm* Recorder::add_comm(MPI_Comm handle, const std::string& key, const Comm* parent,
                         MPI_Comm like) {
  if (like == MPI_COMM_NULL) like = handle;
  auto comm = std::make_unique<Comm>();
  describe(*comm, like);
  const auto [own, others] = members_of(like);
  comm->foreign = !inside_world(own) || !inside_world(others);
  if (comm->foreign) {
    comms_[key_of(handle)] = std::move(comm);
    return nullptr;
  }
  comm->whole = !comm->inter && join_ranks(own) == whole_world_;
  const bool second = comm->inter && others.front() < own.front();
  comm->key = short_key(key + ':' + std::to_string(second ? others.front() : own.front()));
  comm->id = next_comm_++;
  // One member tells who the others are.
  const bool tells = comm->rank == 0 && !second;
  const bool self = comm->key == "self:" + std::to_string(rank_);
  if (self) comm->key = "self";
  journal_.tell({"comm", std::to_string(comm->id),
                 self          ? "s"
                 : comm->inter ? "i"
                               : "x",
                 comm->key,
                 self            ? "MPI_COMM_SELF"
                 : comm->id == 0 ? "MPI_COMM_WORLD"
                                 : "",
                 tells && !self ? join_ranks(own) : "", tells ? join_ranks(others) : "",
                 parent != nullptr ? std::to_string(parent->id) : ""});
  return (comms_[key_of(handle)] = std::move(comm)).get();
}

void Recorder::name_comm(const Comm& comm, const std::string& name) {
  journal_.tell({"name", std::to_string(comm.id), clean_word(name)});
}

Window& Recorder::add_window(std::uint64_t key, Comm& comm) {
  Window& window = windows_[key] = Window();
  window.id = next_window_++;
  window.rank = comm.rank;
  journal_.tell({"window", std::to_string(window.id), std::to_string(comm.id),
                 comm.key + "/window" + std::to_string(comm.created++)});
  return window;
}

void Recorder::name_window(const Window& window, const std::string& name) {
  journal_.tell({"window_name", std::to_string(window.id), clean_word(name)});
}

std::uint32_t Recorder::group(MPI_Group handle) {
  const std::string ranks = join_ranks(ranks_in_world(handle, world_group_));
  const auto [place, is_new] =
      groups_.try_emplace(ranks, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) journal_.tell({"group", std::to_string(place->second), ranks});
  return place->second;
}

Collective new_comm_on(MPI_Comm comm) {
  Collective what;
  what.operation = OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  what.root = OTF2_COLLECTIVE_ROOT_NONE;
  const auto lock = recorder().lock();
  if (const Comm* const known = recorder().comm(comm)) {
    what.known = true;
    what.comm = known->id;
  }
  return what;
}

namespace {

/// Takes the new communicator down as the next one made from `parent`. Null if there is none, or
/// it cannot be recorded.
Comm* add_child(MPI_Comm parent, MPI_Comm child, MPI_Comm like = MPI_COMM_NULL) {
  Comm* const known = recorder().comm(parent);
  if (known == nullptr) return nullptr;
  const std::uint64_t number = known->created++;
  if (child == MPI_COMM_NULL) return nullptr;
  return recorder().add_comm(child, known->key + '/' + std::to_string(number), known, like);
}

void put_created(Call& call, const Comm* comm) {
  if (comm != nullptr) call.at().put(OTF2_EvtWriter_CommCreate, call.time(), comm->id);
}

}  // namespace

void after_new_comm(Call& call, int result, const Collective& what, MPI_Comm comm,
                    const MPI_Comm* newcomm) {
  const auto lock = recorder().lock();
  if (result == MPI_SUCCESS) put_created(call, add_child(comm, *newcomm));
  put_collective_end(call, what);
}

void after_comm_idup(Call& call, int result, std::uint64_t number, const Collective& what,
                     MPI_Comm comm, const MPI_Comm* newcomm, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  const auto lock = recorder().lock();
  // The handle is not usable yet, but its members are those of the original.
  Comm* const created = add_child(comm, *newcomm, comm);
  Pending pending;
  pending.kind = created != nullptr ? Pending::Kind::new_comm : Pending::Kind::nothing;
  pending.silent = !call.recorded();
  pending.number = number;
  pending.comm = created != nullptr ? created->id : 0;
  pending.collective = what;
  recorder().requests.add(key_of(*request), pending);
}

void after_comm_create_group(Call& call, int result, MPI_Comm comm, int tag,
                             const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  const auto lock = recorder().lock();
  const Comm* const parent = recorder().comm(comm);
  if (parent == nullptr) return;
  const std::string key =
      recorder().members_key(parent->key + "/group" + std::to_string(tag), *newcomm);
  put_created(call,
              recorder().add_comm(*newcomm, key + '#' + std::to_string(ordinal(key)), parent));
}

namespace {

/// Takes down an inter-communicator of two groups that came together by calls named `how`, through
/// `bridge`, if this process knows of one.
void add_between(Call& call, const std::string& how, MPI_Comm between, const Comm* bridge) {
  const std::string key = recorder().members_key(how, between);
  put_created(call, recorder().add_comm(between, key + '#' + std::to_string(ordinal(key)), bridge));
}

}  // namespace

void after_intercomm_create(Call& call, int result, int local_leader, MPI_Comm bridge, int tag,
                            const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  int rank = 0;
  real.MPI_Comm_rank(*newcomm, &rank);
  const auto lock = recorder().lock();
  // To all others the bridge means nothing, and may be no communicator at all.
  const Comm* const known = rank == local_leader ? recorder().comm(bridge) : nullptr;
  add_between(call, "inter" + std::to_string(tag), *newcomm, known);
}

void after_foreign_comm(Call& call, int result, const MPI_Comm* newcomm) {
  if (result != MPI_SUCCESS || *newcomm == MPI_COMM_NULL) return;
  const auto lock = recorder().lock();
  if (recorder().comm(*newcomm) == nullptr) add_between(call, "connected", *newcomm, nullptr);
}

Freed on_free_comm(const MPI_Comm* comm) {
  const auto lock = recorder().lock();
  Freed freed;
  if (const Comm* const known = recorder().comm(*comm)) {
    freed.known = true;
    freed.id = known->id;
  }
  // Forgotten before it is freed: another thread may get the same handle at once.
  recorder().forget_comm(*comm);
  return freed;
}

void after_free_comm(Call& call, int result, const Freed& freed) {
  if (result != MPI_SUCCESS) return;
  if (freed.known) call.at().put(OTF2_EvtWriter_CommDestroy, call.time(), freed.id);
}

void after_comm_set_name(int result, MPI_Comm comm, const char* name) {
  if (result != MPI_SUCCESS) return;
  const auto lock = recorder().lock();
  if (const Comm* const known = recorder().comm(comm)) recorder().name_comm(*known, name);
}

}  // namespace entrain::record
