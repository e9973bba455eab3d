/* SPDX-License-Identifier: BSD-3-Clause */
/* crossing HOW, for two processes: a thread of rank 0 sends what rank 1 needs before it takes part
 * in what the other thread of rank 0 waits for at that time:
 *   sync    entrain_timesync
 *   period  MPI_Bcast, again and again */
#include <entrain/record.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "several_threads.h"

static int rounds;

static void* send(void* unused) {
  int value = 7;
  for (int i = 0; i < rounds; ++i) {
    usleep(22000);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  return unused;
}

int main(int argc, char** argv) {
  const int sync = argc > 1 && strcmp(argv[1], "sync") == 0;
  int rank, value = 0;
  begin_with_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rounds = sync ? 1 : 40;
  pthread_t sender;
  if (rank == 0) pthread_create(&sender, NULL, send, NULL);
  for (int i = 0; i < rounds; ++i) {
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sync) entrain_timesync();
    if (!sync && rank == 0) usleep(20000);
    if (!sync) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) pthread_join(sender, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("crossed\n");
  MPI_Finalize();
  return 0;
}
