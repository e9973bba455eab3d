/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for Intel Trace Collector: it knows nothing of the recorder. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int VT_timesync(void);

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, size = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < 5; ++step) {
    int token = rank;
    usleep(2000);
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (VT_timesync() != 0) failed = 1;
  }
  MPI_Finalize();
  return failed;
}
