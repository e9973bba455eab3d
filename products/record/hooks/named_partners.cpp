// SPDX-License-Identifier: BSD-3-Clause
// Collective calls in which each process decides how much it sends to whom: their records name the
// partners, as the totals do not say who exchanged data with whom.
#include <otf2/otf2.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "record/hooks/collectives.hpp"
#include "record/recorder/neighbours.hpp"

namespace entrain::record {

namespace {

/// Adds up the bytes of all `partners`, and sets a bit for each that has some: bytes(i) are those
/// of the i-th one. The bytes of the partner `own` do not count, as they do not move
/// (MPI_IN_PLACE); -1: there is none. Nor do those of a neighbour that does not exist.
template <class Bytes>
std::uint64_t measure_each(const std::vector<int>& partners, std::uint64_t* bits, std::int64_t own,
                           Bytes bytes) {
  const int* const ranks = partners.data();
  const std::size_t size = partners.size();
  std::uint64_t total = 0;
  for (std::size_t begin = 0; begin < size; begin += 64) {
    const std::size_t end = std::min(begin + 64, size);
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t more = ranks[i] < 0 ? 0 : bytes(i);
      word |= std::uint64_t{more > 0} << (i - begin);
      total += more;
    }
    bits[begin / 64] = word;
  }
  return own < 0 ? total : total - bytes(static_cast<std::size_t>(own));
}

/// The data of all partners in one direction.
struct OneType {
  Counts counts;
  MPI_Datatype type;

  std::uint64_t measure(const std::vector<int>& partners, std::uint64_t* bits,
                        std::int64_t own) const {
    const std::uint64_t size = bytes_of(1, type);
    return counts.apply([&](const auto* numbers) {
      return measure_each(partners, bits, own, [=](std::size_t i) {
        return numbers[i] > 0 ? static_cast<std::uint64_t>(numbers[i]) * size : 0;
      });
    });
  }
};

struct ManyTypes {
  Counts counts;
  Types types;

  std::uint64_t measure(const std::vector<int>& partners, std::uint64_t* bits,
                        std::int64_t own) const {
    MPI_Datatype latest = MPI_DATATYPE_NULL;
    std::uint64_t size = 0;  // of the latest type: most calls have one type only
    return measure_each(partners, bits, own, [&](std::size_t i) -> std::uint64_t {
      const Count count = counts[i];
      if (count <= 0) return 0;
      if (types[i] != latest) size = bytes_of(1, latest = types[i]);
      return static_cast<std::uint64_t>(count) * size;
    });
  }
};

/// The same for each partner.
struct SameForAll {
  Count count;
  MPI_Datatype type;

  std::uint64_t measure(const std::vector<int>& partners, std::uint64_t* bits,
                        std::int64_t own) const {
    const std::uint64_t bytes = bytes_of(count, type);
    return measure_each(partners, bits, own, [=](std::size_t) { return bytes; });
  }
};

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
      partners = std::make_unique<Partners>(near ? neighbours_of(handle)
                                                 : Partners::everybody(comm->partners()));
    }
    partners_ = partners.get();
  }

  template <class Sent, class Received>
  Collective with(Sent sent, Received received, bool in_place = false) {
    if (!what_.known) return what_;
    const std::int64_t own = in_place ? rank_ : -1;
    what_.sent = sent.measure(partners_->to(), partners_->to_bits(), own);
    what_.received = received.measure(partners_->from(), partners_->from_bits(), own);
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
  const OneType received{recvcounts, recvtype};
  return call.with(in_place ? received : OneType{sendcounts, sendtype}, received, in_place);
}

Collective alltoallw(const void* sendbuf, Counts sendcounts, Types sendtypes, Counts recvcounts,
                     Types recvtypes, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLW, comm, k_everybody_there);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const ManyTypes received{recvcounts, recvtypes};
  return call.with(in_place ? received : ManyTypes{sendcounts, sendtypes}, received, in_place);
}

Collective neighbor_allgather(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameForAll{sendcount, sendtype}, SameForAll{recvcount, recvtype});
}

Collective neighbor_allgatherv(Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                               MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameForAll{sendcount, sendtype}, OneType{recvcounts, recvtype});
}

Collective neighbor_alltoall(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(SameForAll{sendcount, sendtype}, SameForAll{recvcount, recvtype});
}

Collective neighbor_alltoallv(Counts sendcounts, MPI_Datatype sendtype, Counts recvcounts,
                              MPI_Datatype recvtype, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLV, comm, k_neighbours);
  return call.with(OneType{sendcounts, sendtype}, OneType{recvcounts, recvtype});
}

Collective neighbor_alltoallw(Counts sendcounts, Types sendtypes, Counts recvcounts,
                              Types recvtypes, MPI_Comm comm) {
  NamedCall call(OTF2_COLLECTIVE_OP_ALLTOALLW, comm, k_neighbours);
  return call.with(ManyTypes{sendcounts, sendtypes}, ManyTypes{recvcounts, recvtypes});
}

}  // namespace entrain::record
