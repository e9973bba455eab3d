// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/handles.hpp"

#include <algorithm>
#include <utility>

#include "record/base/rank_list.hpp"
#include "record/mpi/real_mpi.hpp"

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

}  // namespace

void Handles::set_up() {
  partner_lists.set_up(static_cast<std::size_t>(world_.size()));
  whole_world_ = world_.size() == 1 ? "0" : "0-" + std::to_string(world_.size() - 1);
  add_comm(MPI_COMM_WORLD, "world");
  add_comm(MPI_COMM_SELF, "self");
}

Handles::Members Handles::members_of(MPI_Comm handle) const {
  Members members;
  MPI_Group group = MPI_GROUP_NULL;
  real.MPI_Comm_group(handle, &group);
  members.own = ranks_in_world(group, world_.group());
  real.MPI_Group_free(&group);
  int inter = 0;
  real.MPI_Comm_test_inter(handle, &inter);
  if (inter == 0) return members;
  real.MPI_Comm_remote_group(handle, &group);
  members.others = ranks_in_world(group, world_.group());
  real.MPI_Group_free(&group);
  return members;
}

std::string Handles::members_key(const std::string& prefix, MPI_Comm handle) const {
  const Members members = members_of(handle);
  std::string own = join_ranks(members.own), others = join_ranks(members.others);
  if (!members.others.empty() && members.others.front() < members.own.front()) own.swap(others);
  return prefix + '(' + own + '|' + others + ')';
}

void Handles::note_comm(const Comm& comm, const Members& members, bool second, const Comm* parent) {
  // A single member notes who the others are.
  const bool notes = comm.rank == 0 && !second;
  const bool self = comm.key == "self";
  const char* const kind = self ? "s" : comm.inter ? "i" : "x";
  const char* const name = self ? "MPI_COMM_SELF" : comm.id == 0 ? "MPI_COMM_WORLD" : "";
  journal_.add({"comm", std::to_string(comm.id), kind, comm.key, name,
                notes && !self ? join_ranks(members.own) : "",
                notes ? join_ranks(members.others) : "",
                parent != nullptr ? std::to_string(parent->id) : ""});
}

Comm* Handles::add_comm(MPI_Comm handle, const std::string& key, const Comm* parent,
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
  if (comm->key == "self:" + std::to_string(world_.rank())) comm->key = "self";
  comm->id = next_comm_++;
  note_comm(*comm, {own, others}, second, parent);
  return (comms_[key_of(handle)] = std::move(comm)).get();
}

void Handles::name_comm(const Comm& comm, const std::string& name) {
  journal_.add({"name", std::to_string(comm.id), clean_word(name)});
}

Window& Handles::add_window(std::uint64_t key, Comm& comm) {
  Window& window = windows_[key] = Window();
  window.id = next_window_++;
  window.rank = comm.rank;
  journal_.add({"window", std::to_string(window.id), std::to_string(comm.id),
                comm.key + "/window" + std::to_string(comm.created++)});
  return window;
}

void Handles::name_window(const Window& window, const std::string& name) {
  journal_.add({"window_name", std::to_string(window.id), clean_word(name)});
}

std::uint32_t Handles::group(MPI_Group handle) {
  const std::string ranks = join_ranks(ranks_in_world(handle, world_.group()));
  const auto [place, is_new] =
      groups_.try_emplace(ranks, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) journal_.add({"group", std::to_string(place->second), ranks});
  return place->second;
}

}  // namespace entrain::record
