/* SPDX-License-Identifier: BSD-3-Clause */
/* elsewhere FOLDER: goes to another folder in the middle of its work. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc < 2 || chdir(argv[1]) != 0) MPI_Abort(MPI_COMM_WORLD, 8);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("elsewhere\n");
  MPI_Finalize();
  return 0;
}
