/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_session REPEATS: prints, one line per repeat, how long (seconds, the slowest process) ten
 * serial ping-pongs of rank 0 with every other rank take, and how long entrain_timesync() takes,
 * which is nothing without the recorder. */
#include <entrain/record.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

/* As a tool measures that goes from rank to rank. */
static void serial_ping_pongs(void) {
  for (int other = 1; other < size; ++other) {
    for (int i = 0; i < 10; ++i) {
      double time = MPI_Wtime();
      if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&time, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
      } else if (rank == other) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&time, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void session(void) { entrain_timesync(); }

static double time_of(void (*what)(void)) {
  double own, all;
  MPI_Barrier(MPI_COMM_WORLD);
  own = MPI_Wtime();
  what();
  own = MPI_Wtime() - own;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int repeats = argc > 1 ? atoi(argv[1]) : 5;
  for (int i = 0; i < repeats; ++i) {
    const double serial = time_of(serial_ping_pongs);
    const double tree = time_of(session);
    if (rank == 0) printf("%.9f %.9f\n", serial, tree);
  }
  MPI_Finalize();
  return 0;
}
