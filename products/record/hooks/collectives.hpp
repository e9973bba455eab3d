// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "record/hooks/bytes.hpp"
#include "record/hooks/call.hpp"

namespace entrain::record {

using Types = const MPI_Datatype*;
Collective barrier(MPI_Comm comm);
Collective bcast(Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatter(const void* recvbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective scatterv(const void* recvbuf, Counts sendcounts, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
Collective allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm);
Collective allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                      Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallv(const void* sendbuf, Counts sendcounts, MPI_Datatype sendtype,
                     Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
Collective alltoallw(const void* sendbuf, Counts sendcounts, Types sendtypes, Counts recvcounts,
                     Types recvtypes, MPI_Comm comm);
// OTF2 has no codes for collectives among neighbours. In effect they are an MPI_Alltoallv (or
// MPI_Alltoallw) over the communicator in which the counts for all others are 0: they are recorded
// as that. Any other code says that everybody exchanges data with everybody.
Collective neighbor_allgather(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm);
Collective neighbor_allgatherv(Count sendcount, MPI_Datatype sendtype, Counts recvcounts,
                               MPI_Datatype recvtype, MPI_Comm comm);
Collective neighbor_alltoall(Count sendcount, MPI_Datatype sendtype, Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm);
Collective neighbor_alltoallv(Counts sendcounts, MPI_Datatype sendtype, Counts recvcounts,
                              MPI_Datatype recvtype, MPI_Comm comm);
Collective neighbor_alltoallw(Counts sendcounts, Types sendtypes, Counts recvcounts,
                              Types recvtypes, MPI_Comm comm);
Collective allreduce(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);
Collective reduce(const void* sendbuf, Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
Collective reduce_scatter(const void* sendbuf, Counts recvcounts, MPI_Datatype datatype,
                          MPI_Comm comm);
Collective reduce_scatter_block(const void* sendbuf, Count recvcount, MPI_Datatype datatype,
                                MPI_Comm comm);
Collective scan(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);
Collective exscan(const void* sendbuf, Count count, MPI_Datatype datatype, MPI_Comm comm);

void on_collective(Call& call, const Collective& what);
void after_collective(Call& call, int result, const Collective& what);
/// Writes the request of a non-blocking call and returns its number.
std::uint64_t on_icollective(Call& call, const Collective& what);
void after_icollective(Call& call, int result, std::uint64_t number, const Collective& what,
                       const MPI_Request* request);
/// A persistent collective has been created; each start begins it.
void after_collective_init(int result, const Collective& what, const MPI_Request* request);
void put_collective_end(Call& call, const Collective& what);

}  // namespace entrain::record
