/* SPDX-License-Identifier: BSD-3-Clause */
/* leaving HOW: ends while two other threads of every process are inside of MPI:
 *   exit   every process, with exit code 3
 *   abort  rank 0 calls MPI_Abort with code 9, the others wait */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "several_threads.h"

static atomic_int rounds[2];

static void* go_round(void* count) {
  int out = 1, in;
  for (;; ++*(atomic_int*)count) {
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int rank;
  begin_with_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 199; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, go_round, &rounds[i]);
  }
  while (rounds[0] < 200 || rounds[1] < 200) usleep(1000);
  MPI_Barrier(MPI_COMM_WORLD); /* a launcher kills the others when the first one has ended */
  if (argc > 1 && strcmp(argv[1], "exit") == 0) exit(3);
  if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 9);
  sleep(60);
  return 0;
}
