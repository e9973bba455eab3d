/* SPDX-License-Identifier: BSD-3-Clause */
/* stuck, for two processes: rank 0 sends what nobody receives, until rank 1 ends the program. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, value = 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Ssend(&value, 1, MPI_INT, 1, 42, MPI_COMM_WORLD);
  usleep(500000);
  MPI_Abort(MPI_COMM_WORLD, 7);
  return 0;
}
