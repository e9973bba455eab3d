// SPDX-License-Identifier: BSD-3-Clause
// A program for bench/start_end_accuracy: steps of work that differs between processes, an exchange
// around a ring, and a sum over all. Argument: number of steps.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 200;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  double own = rank, sum = 0;
  int token = rank;
  for (int step = 0; step < steps; ++step) {
    usleep((useconds_t)(5000 + (rank * 37 + step * 11) % 2000));
    MPI_Sendrecv_replace(&token, 1, MPI_INT, right, 0, left, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
