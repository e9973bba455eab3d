/* SPDX-License-Identifier: BSD-3-Clause */
/* The same calls as bindings_mpi_f08.f90 and its kin. */
#include <entrain/record.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, in = 0, sum;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Datatype every_other;
  int from[4] = {1, 2, 3, 4}, to[4] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  entrain_region_begin("solve");
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 5, &in, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Irecv(&in, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  entrain_region_end();
  entrain_timesync();
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Send(from, 1, every_other, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  MPI_Recv(to, 1, every_other, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&every_other);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
