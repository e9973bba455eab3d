/* SPDX-License-Identifier: BSD-3-Clause */
/* beat SECONDS PERIOD [PAUSE_MS]: passes messages around a ring, again and again with a pause in
 * between, for so many seconds, and measures the clocks every PERIOD seconds. */
#include <entrain/record.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { k_beat, k_measure, k_stop };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const double period = argc > 2 ? atof(argv[2]) : 10;
  const int pause_ms = argc > 3 ? atoi(argv[3]) : 10;
  int rank, size, from = -1, what = k_beat;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double begin = MPI_Wtime();
  double next = period;
  while (what != k_stop) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* One clock decides, or the processes would not agree. */
    const double passed = MPI_Wtime() - begin;
    what = passed >= seconds ? k_stop : passed >= next ? k_measure : k_beat;
    MPI_Bcast(&what, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (what == k_measure) {
      entrain_timesync();
      next += period;
    }
    usleep((useconds_t)pause_ms * 1000);
  }
  MPI_Finalize();
  return 0;
}
