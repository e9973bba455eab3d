// SPDX-License-Identifier: BSD-3-Clause
// Collective calls in which each process decides how much it sends to whom: their records name the
// partners, as the totals do not say who exchanged data with whom.
#include <otf2/otf2.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "record/hooks/collectives.hpp"

namespace entrain::record {

namespace {

/// The data for each partner, or those from each partner, in the order of the counts.
class Amounts {
 public:
  Amounts(Counts counts, MPI_Datatype datatype) : counts_(counts), size_(bytes_of(1, datatype)) {}
  Amounts(Counts counts, Types types) : counts_(counts), types_(types) {}

  /// Bytes of partner i.
  std::uint64_t operator()(std::size_t i) {
    const Count count = counts_[i];
    if (count <= 0) return 0;
    if (types_ != nullptr && (i == 0 || types_[i] != type_)) {
      type_ = types_[i];
      size_ = bytes_of(1, type_);
    }
    return static_cast<std::uint64_t>(count) * size_;
  }

 private:
  Counts counts_;
  Types types_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  ///< the latest one, whose size is size_
  std::uint64_t size_ = 0;
};

/// The same amount for each partner.
class SameAmount {
 public:
  SameAmount(Count count, MPI_Datatype datatype) : bytes_(bytes_of(count, datatype)) {}
  std::uint64_t operator()(std::size_t) const { return bytes_; }

 private:
  std::uint64_t bytes_;
};

/// Adds up the bytes of all `partners` and sets a bit for each that has some. The bytes of the
/// partner `own` do not count, as they do not move (MPI_IN_PLACE); -1: there is none. Nor do those
/// of a neighbour that does not exist.
template <class Amount>
std::uint64_t measure(Amount amount, const std::vector<int>& partners, std::uint64_t* bits,
                      std::int64_t own) {
  std::uint64_t total = 0;
  for (std::size_t begin = 0; begin < partners.size(); begin += 64) {
    const std::size_t end = std::min(begin + 64, partners.size());
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t bytes = partners[i] == MPI_PROC_NULL ? 0 : amount(i);
      word |= std::uint64_t{bytes > 0} << (i - begin);
      total += bytes;
      if (static_cast<std::int64_t>(i) == own) total -= bytes;
    }
    bits[begin / 64] = word;
  }
  return total;
}

/// A call whose partners are looked at. Holds the lock of the handles.
class NamedCall {
 public:
  enum class Among { everybody, neighbours };

  NamedCall(OTF2_CollectiveOp operation, MPI_Comm handle, Among among) : lock_(handles().lock()) {
    what_.operation = static_cast<std::uint8_t>(operation);
    what_.root = OTF2_COLLECTIVE_ROOT_NONE;
    Comm* const comm = handles().comm(handle);
    if (comm == nullptr) return;
    what_.known = true;
    what_.comm = comm->id;
    rank_ = comm->rank;
    const bool near = among == Among::neighbours;
    std::unique_ptr<Partners>& partners = near ? comm->neighbours : comm->everybody;
    if (partners == nullptr) {
      partners = std::make_unique<Partners>(near ? Partners::neighbours(handle)
                                                 : Partners::everybody(comm->partners()));
    }
    partners_ = partners.get();
  }

  template <class Sent, class Received>
  Collective with(Sent sent, Received received, bool in_place = false) {
    if (!what_.known) return what_;
    const std::int64_t own = in_place ? rank_ : -1;
    what_.sent = measure(sent, partners_->to(), partners_->to_bits(), own);
    what_.received = measure(received, partners_->from(), partners_->from_bits(), own);
    what_.partners = partners_->number(handles().partner_lists);
    return what_;
  }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  Collective what_;
  Partners* partners_ = nullptr;
  int rank_ = 0;
};

constexpr NamedCall::Among k_everybody_there = NamedCall::Among::everybody;
constexpr NamedCall::Among k_neighbours = NamedCall::Among::neighbours;

}  // namespace

Collective alltoallv(const void* sendbuf, Counts sendcounts, MPI_Datatype sendtype,
                     Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_everybody_there);
  // In place, a process sends as much to each other one as it gets from it.
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Amounts received(recvcounts, recvtype);
  return call.with(in_place ? received : Amounts(sendcounts, sendtype), received, in_place);
}

Collective alltoallw(const void* sendbuf, Counts sendcounts, Types sendtypes, Counts recvcounts,
                     Types recvtypes, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLW, comm, k_everybody_there);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Amounts received(recvcounts, recvtypes);
  return call.with(in_place ? received : Amounts(sendcounts, sendtypes), received, in_place);
}

Collective neighbor_allgather(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameAmount(sendcount, sendtype), SameAmount(recvcount, recvtype));
}

Collective neighbor_allgatherv(Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                               MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameAmount(sendcount, sendtype), Amounts(recvcounts, recvtype));
}

Collective neighbor_alltoall(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameAmount(sendcount, sendtype), SameAmount(recvcount, recvtype));
}

Collective neighbor_alltoallv(Counts sendcounts, MPI_Datatype sendtype, Counts recvcounts,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(Amounts(sendcounts, sendtype), Amounts(recvcounts, recvtype));
}

Collective neighbor_alltoallw(Counts sendcounts, Types sendtypes, Counts recvcounts,
                              Types recvtypes, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLW, comm, k_neighbours);
  return call.with(Amounts(sendcounts, sendtypes), Amounts(recvcounts, recvtypes));
}

}  // namespace entrain::record
