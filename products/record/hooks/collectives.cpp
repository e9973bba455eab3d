// SPDX-License-Identifier: BSD-3-Clause
// Bytes are counted as Score-P counts them: the bytes that a process hands over, times the number
// of processes that get them. Its own copy counts too, unless MPI_IN_PLACE saves it. Example: in an
// allreduce of 8 bytes over 4 processes each one sends 32 bytes, or 24 with MPI_IN_PLACE.
#include "record/hooks/collectives.hpp"

#include <otf2/otf2.h>

namespace entrain::record {

namespace {

/// A collective call on a communicator, before its volume is known.
class Volume {
 public:
  Volume(OTF2_CollectiveOp operation, MPI_Comm handle) {
    what_.operation = static_cast<std::uint8_t>(operation);
    what_.root = OTF2_COLLECTIVE_ROOT_NONE;
    const auto lock = handles().lock();
    comm_ = handles().comm(handle);
    if (comm_ == nullptr) return;
    what_.known = true;
    what_.comm = comm_->id;
  }

  [[nodiscard]] bool known() const { return comm_ != nullptr; }
  [[nodiscard]] const Comm& comm() const { return *comm_; }
  [[nodiscard]] std::uint64_t partners() const { return comm_->partners(); }

  /// Notes the root. True if it is this process.
  bool root(int rank) {
    if (!comm_->inter) {
      what_.root = static_cast<std::uint32_t>(rank);
      return rank == comm_->rank;
    }
    is_root_ = rank == MPI_ROOT;
    is_idle_ = rank == MPI_PROC_NULL;
    what_.root = is_root_   ? OTF2_COLLECTIVE_ROOT_SELF
                 : is_idle_ ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
                            : static_cast<std::uint32_t>(rank);
    return is_root_;
  }
  /// True if this process sends to the root or receives from it. On an intra-communicator the root
  /// does so too.
  [[nodiscard]] bool is_leaf() const { return !comm_->inter || (!is_root_ && !is_idle_); }

  Collective with(std::uint64_t sent, std::uint64_t received) {
    what_.sent = sent;
    what_.received = received;
    return what_;
  }
  [[nodiscard]] const Collective& unknown() const { return what_; }

 private:
  Collective what_;
  const Comm* comm_ = nullptr;
  bool is_root_ = false, is_idle_ = false;
};

/// Bytes of all partners together. `own`: rank whose part does not move (MPI_IN_PLACE), or -1.
std::uint64_t sum(const Volume& volume, Counts counts, MPI_Datatype datatype, int own) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < volume.partners(); ++i) {
    if (static_cast<std::int64_t>(i) != own) total += static_cast<std::uint64_t>(counts[i]);
  }
  return bytes_of(static_cast<Count>(total), datatype);
}

int own_rank_if(bool in_place, const Volume& volume) { return in_place ? volume.comm().rank : -1; }

}  // namespace

Collective barrier(MPI_Comm comm) { return Volume(OTF2_COLLECTIVE_OP_BARRIER, comm).with(0, 0); }

Collective bcast(Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_BCAST, comm);
  if (!volume.known()) return volume.unknown();
  const bool is_root = volume.root(root);
  const std::uint64_t size = bytes_of(count, datatype);
  return volume.with(is_root ? size * volume.partners() : 0, volume.is_leaf() ? size : 0);
}

Collective gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_GATHER, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const bool is_root = volume.root(root);
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  return volume.with(volume.is_leaf() && !in_place ? bytes_of(sendcount, sendtype) : 0,
                     is_root ? others * bytes_of(recvcount, recvtype) : 0);
}

Collective gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_GATHERV, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const bool is_root = volume.root(root);
  return volume.with(
      volume.is_leaf() && !in_place ? bytes_of(sendcount, sendtype) : 0,
      is_root ? sum(volume, recvcounts, recvtype, own_rank_if(in_place, volume)) : 0);
}

Collective scatter(const void* recvbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_SCATTER, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = recvbuf == MPI_IN_PLACE;
  const bool is_root = volume.root(root);
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  return volume.with(is_root ? others * bytes_of(sendcount, sendtype) : 0,
                     volume.is_leaf() && !in_place ? bytes_of(recvcount, recvtype) : 0);
}

Collective scatterv(const void* recvbuf, Counts sendcounts, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_SCATTERV, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = recvbuf == MPI_IN_PLACE;
  const bool is_root = volume.root(root);
  return volume.with(is_root ? sum(volume, sendcounts, sendtype, own_rank_if(in_place, volume)) : 0,
                     volume.is_leaf() && !in_place ? bytes_of(recvcount, recvtype) : 0);
}

Collective allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_ALLGATHER, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  const std::uint64_t received = bytes_of(recvcount, recvtype);
  return volume.with(others * (in_place ? received : bytes_of(sendcount, sendtype)),
                     others * received);
}

Collective allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                      Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_ALLGATHERV, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  const std::uint64_t own =
      in_place ? bytes_of(recvcounts[volume.comm().rank], recvtype) : bytes_of(sendcount, sendtype);
  return volume.with(others * own,
                     sum(volume, recvcounts, recvtype, own_rank_if(in_place, volume)));
}

Collective alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_ALLTOALL, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  const std::uint64_t received = others * bytes_of(recvcount, recvtype);
  return volume.with(in_place ? received : others * bytes_of(sendcount, sendtype), received);
}

Collective allreduce(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_ALLREDUCE, comm);
  if (!volume.known()) return volume.unknown();
  const std::uint64_t others = volume.partners() - (sendbuf == MPI_IN_PLACE ? 1 : 0);
  const std::uint64_t size = others * bytes_of(count, datatype);
  return volume.with(size, size);
}

Collective reduce(const void* sendbuf, Count count, MPI_Datatype datatype, int root,
                  MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_REDUCE, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const bool is_root = volume.root(root);
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  const std::uint64_t size = bytes_of(count, datatype);
  return volume.with(volume.is_leaf() && !in_place ? size : 0, is_root ? others * size : 0);
}

Collective reduce_scatter(const void* sendbuf, Counts recvcounts, MPI_Datatype datatype,
                          MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_REDUCE_SCATTER, comm);
  if (!volume.known()) return volume.unknown();
  const bool in_place = sendbuf == MPI_IN_PLACE;
  // The counts are those of the process' own group, on an inter-communicator too.
  std::uint64_t sent = 0;
  for (int i = 0; i < volume.comm().size; ++i) {
    if (!in_place || i != volume.comm().rank) sent += bytes_of(recvcounts[i], datatype);
  }
  const std::uint64_t others = volume.partners() - (in_place ? 1 : 0);
  return volume.with(sent, others * bytes_of(recvcounts[volume.comm().rank], datatype));
}

Collective reduce_scatter_block(const void* sendbuf, Count recvcount, MPI_Datatype datatype,
                                MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, comm);
  if (!volume.known()) return volume.unknown();
  const std::uint64_t others = volume.partners() - (sendbuf == MPI_IN_PLACE ? 1 : 0);
  const std::uint64_t size = others * bytes_of(recvcount, datatype);
  return volume.with(size, size);
}

Collective scan(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_SCAN, comm);
  if (!volume.known()) return volume.unknown();
  const std::uint64_t size = bytes_of(count, datatype);
  const std::uint64_t own = sendbuf == MPI_IN_PLACE ? 0 : 1;
  const auto before = static_cast<std::uint64_t>(volume.comm().rank);
  return volume.with((volume.partners() - before - 1 + own) * size, (before + own) * size);
}

Collective exscan(const void*, Count count, MPI_Datatype datatype, MPI_Comm comm) {
  Volume volume(OTF2_COLLECTIVE_OP_EXSCAN, comm);
  if (!volume.known()) return volume.unknown();
  const std::uint64_t size = bytes_of(count, datatype);
  const auto before = static_cast<std::uint64_t>(volume.comm().rank);
  return volume.with((volume.partners() - before - 1) * size, before * size);
}

void on_collective(Call& call, const Collective& what) {
  if (what.known) call.at().put(OTF2_EvtWriter_MpiCollectiveBegin, call.time());
}

void put_collective_end(Call& call, const Collective& what) {
  if (!what.known) return;
  call.at().put_with(what.partners, OTF2_EvtWriter_MpiCollectiveEnd, call.time(),
                     static_cast<OTF2_CollectiveOp>(what.operation), what.comm, what.root,
                     what.sent, what.received);
}

void after_collective(Call& call, int, const Collective& what) { put_collective_end(call, what); }

std::uint64_t on_icollective(Call& call, const Collective& what) {
  if (!what.known) return 0;
  const auto lock = handles().lock();
  const std::uint64_t number = handles().next_number();
  call.at().put(OTF2_EvtWriter_NonBlockingCollectiveRequest, call.time(), number);
  return number;
}

void after_icollective(Call& call, int result, std::uint64_t number, const Collective& what,
                       const MPI_Request* request) {
  if (result != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return;
  Pending pending;
  pending.kind = what.known && call.recorded() ? Pending::Kind::collective : Pending::Kind::nothing;
  pending.number = number;
  pending.collective = what;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

void after_collective_init(int result, const Collective& what, const MPI_Request* request) {
  if (result != MPI_SUCCESS) return;
  Pending pending;
  pending.kind = what.known ? Pending::Kind::collective : Pending::Kind::nothing;
  pending.persistent = true;
  pending.active = false;
  pending.collective = what;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

}  // namespace entrain::record
